"""Judgments as tidy tables, with everything that an estimator may ask for; and what became of judgments, counted.

Words are categories in sorted order; what a row does not have is missing. No judgments give an empty frame with all
columns.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache, partial
from typing import Any

import numpy as np
import pandas as pd

from .types import Answer, Judgment, RatioScale, Trial, Verdict

#: The columns of the frame of each form of verdict.
LISTWISE = (
    *("experiment", "question_id", "category", "judge", "judge_vendor", "judge_tier", "judge_model"),
    *("candidate", "candidate_vendor", "candidate_tier", "candidate_model", "condition", "repeat", "slot", "label"),
    *("rank", "score", "top", "outcome", "contradicts", "own_vendor", "own_model", "length", "lists", "bold"),
    *("named", "partner"),
)
PAIRWISE = (
    *("experiment", "question_id", "article", "category", "judge", "judge_vendor", "judge_model", "condition"),
    *("edit", "target", "dose", "repeat", "task", "right", "wrong", "right_vendor", "wrong_vendor", "right_label"),
    *("wrong_label", "first", "own", "picked", "p_right", "outcome", "partner"),
)
GAMES = (
    *("experiment", "source", "question_id", "category", "judge", "judge_vendor", "judge_model"),
    *("candidate", "candidate_vendor", "baseline", "condition", "first", "repeat", "games", "score", "verdict"),
    "outcome",
)
DECISIONS = (
    *("experiment", "source", "question_id", "category", "wording", "kind", "judge", "judge_vendor", "judge_model"),
    *("condition", "repeat", "partner", "order", "choice", "value", "pro", "con", "options", "low", "high", "target"),
    *("ratio", "anchor", "k", "x1", "x2", "flip_control", "flip_treatment", "values", "score", "places", "letters"),
    "outcome",
)
#: Columns that count or tell yes from no, in any of them.
COUNTS = (
    *("repeat", "slot", "contradicts", "own_vendor", "own_model", "length", "lists", "bold", "partner", "dose"),
    *("games", "flip_control", "flip_treatment"),
)
#: Columns of numbers that a decision may lack.
LACKING = (
    *("choice", "value", "pro", "con", "options", "low", "high", "target", "ratio", "anchor", "k", "x1", "x2", "score"),
    "partner",
)
#: Columns that are there where log-probabilities of one label were asked for or came: how many were asked for, the
#: probability of all labels, whether one counts the most it can (it was not listed), log-odds of pairs (A or a tie over
#: B, A over a tie or B), and of decisions the mean value of options by their shares and the log-odds of the target.
WEIGHED = ("top_logprobs", "label_mass", "at_bound", "not_second", "first_over_rest", "expected", "target_logit")
#: A question of a larger share of the rows is named.
DOMINANT = 0.2
#: Columns of frames that have a row a judgment already.
ROW_EACH = {"task", "games", "wording"}
LIST_ITEM, BOLD = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s", re.MULTILINE), re.compile(r"\*\*[^*\n]+\*\*|__[^_\n]+__")
NAN = math.nan

# --- judgments into rows ----------------------------------------------------------------------------------------------


def written(
    trials: Iterable[Trial], judgments: Mapping[str, Judgment], asking: bool = True
) -> dict[tuple[str, str], Answer]:
    """The answers to questions without options, by question and candidate; `judgments` holds replies by key.

    Answers not written yet have no text and count their token limit; where nobody is asked they have the outcome
    "missing". A cut, empty or refused answer has that outcome: judging it would measure the token limit, not the model.
    """
    found = {}
    for trial in trials:
        model, judgment = trial.judge, judgments.get(trial.request.key)
        reply = judgment.completion if judgment else None
        text, outcome = (None, "ok") if asking else ("", "missing")
        if judgment and reply:
            text, outcome = reply.text, judgment.outcome
        returned = reply.model if reply else None
        found[trial.question_id, model.name] = Answer(
            *(trial.question_id, model.name, model.vendor, model.tier, text, returned, outcome, model.max_tokens)
        )
    return found


def coded(rows: Iterable[Any], columns: Sequence[str], numbers: Sequence[str] = ()) -> pd.DataFrame:
    """A frame of these rows, in which `numbers` are floats and all columns but COUNTS categories in sorted order.

    Columns of WEIGHED are added where a row has them.
    """
    rows = [*rows]
    more = [name for name in WEIGHED if any(name in row for row in rows)]
    columns, numbers = (*columns, *more), (*numbers, *more)
    words = [name for name in columns if name not in (*numbers, *COUNTS)]
    table = pd.DataFrame(rows, columns=list(columns))
    return table.astype(dict.fromkeys(words, "category") | dict.fromkeys(numbers, float))


def recoded(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with its texts as categories in sorted order, as `coded` has them."""
    return frame.astype(dict.fromkeys(frame.select_dtypes("str"), "category"))


def about(role: str, name: object, **facts: object) -> dict[str, Any]:
    """The columns of a model in its role: its name, and its vendor, tier, model, label as far as they are named.

    >>> about("judge", "sim_a", vendor="gpt")
    {'judge': 'sim_a', 'judge_vendor': 'gpt'}
    """
    return {role: name} | {f"{role}_{fact}": value for fact, value in facts.items()}


def _row(judgment: Judgment) -> dict[str, Any]:
    """What frames of every form say of a judgment."""
    trial, judge = judgment.trial, judgment.trial.judge
    returned = judgment.completion.model if judgment.completion else None
    return {
        "experiment": trial.experiment,
        "source": "asked",
        "question_id": trial.question_id,
        "category": trial.category,
        **about("judge", judge.name, vendor=judge.vendor, tier=judge.tier, model=returned),
        "condition": trial.condition,
        "repeat": trial.request.repeat,
        "partner": trial.request.repeat if trial.partner is None else trial.partner,
        "outcome": judgment.outcome,
    }


def _weighed(judgment: Judgment, of_labels: Callable[[Verdict], dict[str, float]]) -> dict[str, float]:
    """What log-probabilities say of the label of a verdict; nothing where they neither came nor were asked for."""
    verdict, asked = judgment.verdict, judgment.trial.judge.logprobs
    found = {"top_logprobs": float(asked or NAN), "label_mass": NAN}
    if verdict is None or verdict.label_mass is None:
        return found if asked and judgment.trial.form != "several" else {}
    return {**found, "label_mass": verdict.label_mass, **of_labels(verdict)}


def _of_pair(verdict: Verdict) -> dict[str, float]:
    """What is only known to begin with A may be a tie or not, and then nothing says how the two share it."""
    mass = dict.fromkeys("A=B", 0.0)
    for label, share in verdict.probabilities.items():
        mass["=" if "=" in label else label[0]] += share
    unknown = "A" in verdict.probabilities
    upper, one = _log_odds(mass["A"] + mass["="], mass["B"], verdict.unlisted)
    lower, two = _log_odds(mass["A"], mass["="] + mass["B"], verdict.unlisted)
    return {"not_second": upper, "first_over_rest": NAN if unknown else lower, "at_bound": one or (two and not unknown)}


def _of_options(of_label: Mapping[str, float], target: float, verdict: Verdict) -> dict[str, float]:
    weighed = [(of_label[label], share) for label, share in verdict.probabilities.items() if label in of_label]
    on_target = sum(share for value, share in weighed if value == target)
    found = {"expected": sum(value * share for value, share in weighed)}
    if target in of_label.values():
        logit, bound = _log_odds(on_target, sum(share for value, share in weighed if value != target), verdict.unlisted)
        found |= {"target_logit": logit, "at_bound": bound}
    return found


def _log_odds(one: float, other: float, unlisted: float) -> tuple[float, float]:
    """The log-odds of two chances, and 1.0 where one is 0 and counts the most that it can be."""
    return math.log(max(one, unlisted * (one <= 0)) / max(other, unlisted * (other <= 0))), float(min(one, other) <= 0)


def listwise(judgments: Iterable[Judgment], answers: Mapping[tuple[str, str], Answer]) -> pd.DataFrame:
    """One row a judgment and candidate, in shown order (columns: LISTWISE).

    `slot` counts from 0; `rank` is 1 for the best and, like `top` (1.0 for the first choice), NaN where the judgment
    has no valid ranking: such judgments stay in the frame. `own_model` compares the model ids that the providers
    returned; `length` is in characters, `lists` and `bold` count list items and bold passages; `named` is the vendor
    under whose name the answer was shown, missing where no name was; `partner` is the repeat of the control condition
    that the judgment is compared with. `answers` are by question and candidate.
    """
    rows = [row for each in judgments for row in _ranked(each, answers)]
    return coded(rows, LISTWISE, ("rank", "score", "top"))


def _ranked(judgment: Judgment, answers: Mapping[tuple[str, str], Answer]) -> Iterable[dict[str, object]]:
    trial, verdict, common = judgment.trial, judgment.verdict, _row(judgment)
    ranks = {label: place for place, label in enumerate(verdict.ranking if verdict else (), 1)}
    for slot, (label, candidate) in enumerate(zip(trial.labels, trial.shown, strict=True)):
        answer = answers[trial.question_id, candidate]
        text, rank = answer.text or "", ranks.get(label, NAN)
        lists, bold = _marks(text)
        yield {
            **common,
            **about("candidate", candidate, vendor=answer.vendor, tier=answer.tier, model=answer.model),
            "slot": slot,
            "label": label,
            "rank": rank,
            "score": verdict.scores.get(label, NAN) if verdict else NAN,
            "top": float(rank == 1) if label in ranks else NAN,
            "contradicts": bool(verdict and verdict.contradicts),
            "own_vendor": trial.judge.vendor == answer.vendor,
            "own_model": common["judge_model"] is not None and common["judge_model"] == answer.model,
            "length": len(text),
            "lists": lists,
            "bold": bold,
            "named": trial.named[slot] if trial.named else None,
        }


@lru_cache(maxsize=4096)
def _marks(text: str) -> tuple[int, int]:
    """How many list items and bold passages a text in Markdown has."""
    return len(LIST_ITEM.findall(text)), len(BOLD.findall(text))


def pairwise(judgments: Iterable[Judgment], answers: Mapping[tuple[str, str], Answer]) -> pd.DataFrame:
    """One row a judgment on a pair of answers of which exactly one is right (columns: PAIRWISE).

    `right` and `wrong` are candidates, `first` and `own` one of these two words: which stands first, which the judge
    wrote itself ("": neither). `task` is "correct" (which one is correct?) or "wrote" (which one did you write?).
    `picked` is "right" or "wrong", missing where there is no verdict; `p_right` the probability of the right one, NaN
    where the provider gave none; `partner` is the repeat of the control condition that the judgment is compared with.
    """
    rows = []
    for each in judgments:
        trial, at, verdict = each.trial, each.trial.where, each.verdict
        role = {"1": at["first"], "2": "wrong" if at["first"] == "right" else "right"}
        row = _row(each) | {name: at[name] for name in ("article", "edit", "target", "task", "first", "own")}
        for side in ("right", "wrong"):
            answer = answers[trial.question_id, at[side]]
            row |= about(side, answer.candidate, vendor=answer.vendor, label=answer.label)
        odds = {role[label]: p for label, p in verdict.probabilities.items()} if verdict else {}
        picked = role[verdict.choice] if verdict else None
        rows.append(row | {"dose": int(at["dose"]), "picked": picked, "p_right": odds.get("right", NAN)})
    return coded(rows, PAIRWISE, ["p_right"])


def games(judgments: Iterable[Judgment], answers: Mapping[tuple[str, str], Answer]) -> pd.DataFrame:
    """One row a verdict on a candidate against a baseline, in one order (columns: GAMES).

    `first` says which of the two stands first, as A: "baseline" (game 1) or "candidate" (game 2). `condition` is
    "none", "identical" (the candidate's text in both slots) or "quality_gap" (its answer against one to another
    question). `verdict` and `score` are the label in shown terms, missing where there is none; then `outcome` says why.
    """
    rows = []
    for each in judgments:
        at, label = each.trial.where, each.verdict.choice if each.verdict else None
        answer = answers[each.trial.question_id, at["candidate"]]
        row = _row(each) | about("candidate", at["candidate"], vendor=answer.vendor)
        row |= {"baseline": at["baseline"], "first": at["first"], "games": 2, "score": label, "verdict": label}
        rows.append(row | _weighed(each, _of_pair))
    return coded(rows, GAMES)


def decisions(judgments: Iterable[Judgment], answers: Mapping[tuple[str, str], Answer] | None = None) -> pd.DataFrame:
    """One row a reply to one version of a bias test (columns: DECISIONS).

    `condition` is "control", "treatment" or, of tests in which arguments are selected, "decision". `choice` counts the
    options in their natural order from 0, whatever the shown `order`; `value` is what the option counts, of selected
    arguments (pro - con) / (pro + con), NaN where none was selected. `target` is the value that the bias pulls to, of
    selections the side decided for, `anchor` the number shown to which it pulls. `partner` is the repeat of the control
    that a treatment is compared with; `values` are those of all options. `places` are those picked, from 0 as shown,
    `letters` theirs, with a blank between several; "" where none was. A reply that could not be read has NaN and its
    `outcome`. `answers` are not used: nobody's answers are judged here.
    """
    return coded([_decided(each) for each in judgments], DECISIONS, LACKING)


def _decided(judgment: Judgment) -> dict[str, object]:
    trial, wording = judgment.trial, judgment.trial.wording
    values = wording.versions[trial.where["version"]].values
    side = {"for": 1.0, "against": -1.0}.get(trial.where.get("decided", ""), NAN)
    row = {
        **_row(judgment),
        **asdict(wording.scale or RatioScale(NAN, NAN, NAN)),
        "wording": wording.name,
        "kind": wording.kind,
        "order": " ".join(trial.shown),
        "options": len(values),
        "low": min(values, default=NAN),
        "high": max(values, default=NAN),
        "target": side if wording.target is None else wording.target,
        "ratio": wording.facts.get("ratio", NAN) if wording.kind == "acceptance" else NAN,
        "anchor": NAN if wording.anchor is None else wording.anchor,
        "values": " ".join(f"{value:g}" for value in values),
    }
    natural = dict(zip(trial.labels, map(int, trial.shown), strict=True))
    of_label = {label: values[at] for label, at in natural.items()}
    row |= _read(judgment, natural, of_label) | _weighed(judgment, partial(_of_options, of_label, row["target"]))
    return row if trial.condition == "treatment" else row | {"partner": NAN}


def _read(judgment: Judgment, natural: Mapping[str, int], of_label: Mapping[str, float]) -> dict[str, float | str]:
    """What a readable reply counts: the option chosen, or how many arguments of each side."""
    trial, verdict = judgment.trial, judgment.verdict
    if verdict is None:
        return {}
    labels = [verdict.choice] if trial.form == "choice" else verdict.choices
    places = sorted(map(trial.labels.index, labels))
    shown = {"places": " ".join(map(str, places)), "letters": " ".join(sorted(trial.labels[at] for at in places))}
    picked = [of_label[label] for label in labels]
    if trial.form == "choice":
        return shown | {"choice": natural[verdict.choice], "value": picked[0]}
    pro, con = sum(value > 0 for value in picked), sum(value < 0 for value in picked)
    return shown | {"pro": pro, "con": con, "value": (pro - con) / (pro + con) if picked else NAN}


# --- rows counted -----------------------------------------------------------------------------------------------------


def dominance_words(units: pd.Series, what: str = "question") -> str:
    """The sentence that one question (article, scenario) holds more than a fifth of the rows; "" where none does."""
    shares = units.value_counts(normalize=True)
    if len(shares) < 2 or shares.iloc[0] <= DOMINANT:
        return ""
    return (
        f"{what.capitalize()} {shares.index[0]} holds {100 * shares.iloc[0]:.0f} % of the {len(units):,} rows: numbers "
        "over all rows mostly say how it went there, and their intervals count few effective questions."
    )


def with_clusters(frame: pd.DataFrame, clusters: Mapping[str, str]) -> pd.DataFrame:
    """The frame with `cluster`, the unit that varies: what `clusters` says of its article or question, else the id."""
    unit = frame["article" if "article" in frame else "question_id"].astype("category")
    names = [clusters.get(str(id), id) for id in unit.cat.categories]
    if names == [*unit.cat.categories]:
        return frame.assign(cluster=unit)
    codes, labels = pd.factorize(np.array(names, dtype=object), sort=True)
    return frame.assign(cluster=pd.Categorical.from_codes(np.append(codes, -1)[unit.cat.codes], labels))


def picks(frame: pd.DataFrame) -> pd.DataFrame:
    """One row a valid ranking: that of its first choice, with `cluster` (the question, where the frame has none)."""
    found = frame[frame["top"] == 1.0].reset_index(drop=True)
    return found if "cluster" in found else found.assign(cluster=found["question_id"])


def one_row_each(frame: pd.DataFrame) -> pd.DataFrame:
    """One row a judgment, valid or not: for counting judgments and outcomes, not for anything about a candidate."""
    if ROW_EACH & {*frame}:
        return frame
    return frame.drop_duplicates(["experiment", "question_id", "judge", "condition", "repeat"])


def outcome_words(frame: pd.DataFrame) -> str:
    """What became of the judgments, in words, the most frequent outcome first; "" where there are none."""
    counts = one_row_each(frame)["outcome"].astype("str").value_counts()
    return ", ".join(f"{count} {outcome}" for outcome, count in counts.items())


def losses(frame: pd.DataFrame, by: Iterable[str] = ("judge", "condition")) -> pd.DataFrame:
    """Judgments and what became of them: one row a cell of `by`, one column an outcome, and the unreadable share.

    Losses that depend on what would have been picked bias every rate, so they have a table of their own.
    """
    by = list(by)
    rows = one_row_each(frame)
    rows = rows.astype({name: "str" for name in (*by, "outcome") if rows[name].dtype == "category"})
    table = rows.groupby([*by, "outcome"], sort=True).size().unstack(fill_value=0)
    table.columns.name = None
    total = table.sum(axis=1)
    readable = table.get("ok", 0)
    table.insert(0, "judgments", total)
    table["unreadable"] = 1 - readable / total
    return table.reset_index()


def unreadable_words(table: pd.DataFrame) -> str:
    """Judges and conditions without a single readable verdict, in words; takes `losses`."""
    counts = {"replies": table["judgments"] - table.get("missing", 0), "ok": table.get("ok", 0)}
    cells = table[["judge", "condition"]].assign(**counts)
    cells = cells[cells["replies"] > 0]
    groups = {"": [], " of {}": ["judge"], " under {}": ["condition"], " of {} under {}": ["judge", "condition"]}
    mute: dict[str, int] = {}
    for who, by in groups.items():
        for names, rows in cells.groupby(by) if by else [((), cells)]:
            if len(rows) and not rows["ok"].any():
                mute[who.format(*names)] = int(rows["replies"].sum())
                cells = cells.drop(rows.index)  # what is said of a whole is not said of its parts
    clauses = [f"none of the {n:,} replies{who} had a readable verdict" for who, n in mute.items()]
    return f"**Cannot tell**: {'; '.join(clauses)}." if clauses else ""


def require_result(frame: pd.DataFrame, measurable: bool, lacking: str) -> None:
    """Refuse (ValueError) a frame without a number, unless that is a result: replies without one readable verdict."""
    outcomes = {*frame["outcome"].dropna().astype(str)} - {"missing"}
    if measurable or (outcomes and "ok" not in outcomes):
        return
    counts = outcome_words(frame) or "no judgments"
    more = "; judgments='ask' asks for what is missing" if (frame["outcome"] == "missing").any() else ""
    raise ValueError(f"{lacking}, so there is nothing to measure: {counts}{more}")
