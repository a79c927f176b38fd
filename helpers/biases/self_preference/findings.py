"""What experiment 3 says of each judge, in sentences, what was put into simulated ones, and what was published."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import log
from statistics import fmean
from typing import Any

import pandas as pd

from ...stats.standing import conclude
from ...stats.tests import discordance
from ...types import Estimate
from ...words import CardLine, Conclusion, Headline, card_line, clause, counted, lines, p_text, say, sentence
from ...words.numbers import declared_by, text_of
from ..planted import Asked, Planted, planted_table, win_chance
from ..protocol import Numbers, bare, counted_share, estimator, find, percent, pick
from .measured import PRIMARY, confirmatory, primary_dose

RATE = "harmful_self_preference_rate"
HARMFUL, GAP, HIDING = "harmful self-preference", "evaluator-quality gap", "hidden authorship"
SHARES = {"retention": "both orders agree", "unreadable_share": "unreadable"}


def concluded(estimates: Iterable[Estimate | None]) -> list[Conclusion]:
    """What may be said of these numbers, as far as there are any; those with the same keys are a family of tests."""
    return conclude([each for each in estimates if each is not None], declared_by("self_preference"))


def contrasts(estimates: Sequence[Estimate]) -> dict[str, Conclusion]:
    """What may be said of the confirmatory contrasts, by judge: nothing of one that could not be tested."""
    found = concluded(confirmatory(estimates)[0][0])
    return {each.estimate.where["judge"]: each if each.test else replace(each, verdict="untold") for each in found}


def finding(estimates: Sequence[Estimate]) -> str:
    """The bottom line, a sentence a judge: what hiding the authorship did, beside what the controls did.

    No sentence says that recognition is the cause: it is named only where the contrast with other judges and the one
    with other authors' texts both stand, and measured recognition fell.
    """
    points = [f"{lines([each])[:-1]}{_beside(estimates, each)}." for each in contrasts(estimates).values()]
    return "\n".join(points) or "No own wrong answer was edited and judged again: nothing can be concluded."


def _beside(estimates: Sequence[Estimate], each: Conclusion) -> str:
    """What the controls and the filtered comparison say of a judge whose contrast was tested."""
    if not each.test:
        return ""
    at, judge = dict(each.estimate.where), each.estimate.where["judge"]
    pp = find(estimates, "obfuscation_effect_pp", **at)
    flips = f", p {p_text(pp.p)} by sign flips" if pp and pp.p == pp.p else ""
    clauses = f"; {say(concluded([pp])[0])}{flips}" if pp and pp.value == pp.value else ""
    if each.verdict == "bias":
        other, shift = (find(estimates, id, **at) for id in ("obfuscation_against_other_author", "recognition_change"))
        clauses += OPPOSITE if each.estimate.value < 0 else _control(other, shift)
    naive = find(estimates, "naive_filtered_change", **at), find(estimates, "regression_to_the_mean", judge=judge)
    if None in naive or math.isnan(sum(one.value for one in naive)):
        return clauses
    return f"{clauses}; {'; '.join(map(say, concluded(naive)))}"


OPPOSITE = "; the opposite of what hiding a self-preference would do: a judge that feels any edit less shows it too"


def _control(other: Estimate | None, shift: Estimate | None) -> str:
    """What the control within the judge says of an effect that stands against other judges, and its recognition."""
    if other is None or math.isnan(other.low):
        why = other.method if other else "not measured"
        return f", but the control within the judge is missing ({why}): it may only feel any edit more than they do"
    more = f"more than from another author's edited wrong answer ({other})"
    if other.low <= 0:
        return f", but not measurably {more}: a control moves as much, so this does not show that authorship matters"
    if shift is None or math.isnan(shift.high):
        return f", and {more}; recognition was not measured"
    if shift.high >= 0:
        return f", and {more}, but its recognition of that answer did not measurably fall ({shift})"
    return (
        f", and {more}, and it recognises that answer less ({shift}): as a preference for what it recognises would, "
        "though another cause is not ruled out"
    )


def card(estimates: Sequence[Estimate], vendors: Mapping[str, str] | None = None) -> list[CardLine]:
    """Of each judge how it treats its own wrong answers, whether both orders agree, and what could not be read.

    Published counts give the rate alone: of each judge the one from most pairs before an edit.
    """
    rates = [each for each in estimates if each.id == "naive_harmful_rate" and not math.isnan(each.value)]
    parts = {HARMFUL: [*_published(estimates), *concluded(rates)], GAP: gaps(estimates)}
    parts[HIDING] = [*contrasts(estimates).values()]
    parts |= {measure: concluded(pick(estimates, id)) for id, measure in SHARES.items()}
    return [card_line(e.estimate.where["judge"], measure, [e]) for measure, several in parts.items() for e in several]


def _published(estimates: Sequence[Estimate]) -> list[Conclusion]:
    """The published rate of each judge from most pairs."""
    rates = [each for each in pick(estimates, RATE, phase="before") if "judge" in each.where]
    judges = sorted({each.where["judge"] for each in rates})
    return concluded(max((e for e in rates if e.where["judge"] == judge), key=lambda e: e.n) for judge in judges)


def gaps(estimates: Sequence[Estimate]) -> list[Conclusion]:
    """What may be said of the evaluator-quality gap of each judge, where the other answer names the same option."""
    return concluded(pick(estimates, "evaluator_quality_gap", stratum=PRIMARY))


def headline(estimates: Sequence[Estimate]) -> Headline | None:
    """Whether hiding the authorship turns judges from their own wrong answers, of estimates from one source of data.

    The contrast with the smallest p after correction carries it, without tests the one from most votes. Published
    reports have no control: the change from most pairs carries it, and the sentence gives the span of all. None where
    nothing was edited.
    """
    if changes := pick(estimates, "published_change", rate=RATE):
        ends = [100 * end(each.value for each in changes) for end in (min, max)]
        text = (
            f"once it is edited, judges pick their own wrong answer {ends[0]:+.1f} to {ends[1]:+.1f} pp more often, by "
            "what is compared; the unedited pairs were not asked again, so what the edit does is not known"
        )
        return Headline(sentence(text, changes[0].data), max(changes, key=lambda e: e.n))
    found = [*contrasts(estimates).values()]
    if not found:
        return None
    first = min(found, key=lambda each: (2.0 if math.isnan(each.p) else each.p, -each.estimate.n))
    if first.test:
        text = f"{counted(found)}; smallest p: {first.estimate.where['judge']}"
    else:
        most = max(each.estimate.clusters for each in found)
        articles = f"{most} article{'s' * (most != 1)} with own wrong answers at most"
        text = f"no test was possible; {clause([first])} ({articles})"
    return Headline(sentence(text, first.estimate.data), first.estimate)


def gap_words(estimates: Sequence[Estimate]) -> str:
    """Of each judge: the naive rate, and what is left of it beside the same belief and beside the same text."""
    found: list[Conclusion] = []
    for each in gaps(estimates):
        at = {"judge": each.estimate.where["judge"]}
        naive, text = (find(estimates, id, **at) for id in ("naive_harmful_rate", "same_text_other_judges"))
        found += [*concluded([naive]), each, *concluded([text])]
    kept = [each for each in found if each.verdict != "described" or not math.isnan(each.estimate.value)]
    return lines(kept) or "No judge answered a question wrongly that others answered right: there is nothing to defend."


def effect_words(estimates: Sequence[Estimate]) -> str:
    """What the primary contrast could have found, and how the effect goes with the dose."""
    points = []
    for judge, each in contrasts(estimates).items():
        found = pick(estimates, "obfuscation_effect", judge=judge)
        doses = "; ".join(f"{e.where['dose']} words {e}" for e in found if e.where["dose"].isdigit())
        power = f". At the primary dose of {primary_dose(estimates)} words, 80 % power needs {each.smallest:.2f}"
        clauses = f"{doses or 'no dose could be compared'}{power * bool(each.test)}"
        points.append(f"- {'SIMULATED: ' * (each.estimate.data == 'simulated')}{judge}, in logits: {clauses}.")
    return "\n".join(points) or "No own wrong answer was edited and judged again."


def recognition_words(estimates: Sequence[Estimate]) -> str:
    """How well judges know their own answers, unedited and at the largest dose."""
    found: list[Estimate | None] = []
    for each in pick(estimates, "recognition_accuracy", dose="0"):
        judge = each.where["judge"]
        shifts = pick(estimates, "recognition_change", judge=judge)
        doses = [e for e in shifts if e.where["dose"].isdigit() and not math.isnan(e.value)]
        last = max(doses, key=lambda e: int(e.where["dose"]), default=None)
        found += [each, find(estimates, "recognition_balanced", judge=judge), last]
    return lines(concluded(found)) or "No judge was asked which answer it wrote."


def _rows(asked: Asked, estimates: Sequence[Estimate]) -> Iterator[Planted]:
    """A row a judge at the first and the largest dose, and one for `recognition_balanced`."""
    effects = [each for each in pick(estimates, "obfuscation_effect") if each.where["dose"].isdigit()]
    doses = dict.fromkeys((primary_dose(estimates), max((e.where["dose"] for e in effects), key=int, default="")))
    own = {each.where["judge"] for each in effects}
    judges = {judge.name: judge for judge in asked.experiment.judges if judge.name in own}
    chances = _chances(asked, {"none", *(f"wrong_{dose}" for dose in doses)})
    truths = {dose: _turned(asked, chances["none"], chances[f"wrong_{dose}"]) for dose in doses}
    recognised = _recognised(chances["wrote"])
    for name, judge in judges.items():
        felt, knows = (f"own words {judge.traits.get(trait, 0.0):g}" for trait in ("self_preference", "recognition"))
        for each in pick(effects, judge=name):
            dose = each.where["dose"]
            if name in truths.get(dose, {}):
                yield Planted(f"edit of {dose} words (logits)", name, felt, truths[dose][name], each)
        for each in pick(estimates, "recognition_balanced", judge=name) if name in recognised else ():
            yield Planted("recognition", name, knows, recognised[name], each, null=0.5)


planted = partial(planted_table, "self_preference", rows=_rows, families=confirmatory)


def _chances(asked: Asked, arms: set[str]) -> dict[str, dict[tuple, float]]:
    """By arm ("wrote": which answer is its own, unedited): the chance of the right answer (of "wrote" the own one).

    Keys: question, right and wrong author, judge, first ("right" or "wrong") and, of "wrote", which one is the own.
    """
    judges = {j.name: replace(j, traits={**j.traits, "taste": 0.0}) for j in asked.experiment.judges}
    seen: dict[tuple, tuple[str, list[str]]] = {}
    found: dict[str, dict[tuple, float]] = defaultdict(dict)
    for judgment in asked.judgments:
        trial, where = judgment.trial, judgment.trial.where
        wrote, order = where["task"] == "wrote", 1 if where["first"] == "right" else -1
        if trial.condition not in arms or trial.request.repeat or (wrote and trial.condition != "none"):
            continue
        pair = (trial.question_id, where["right"], where["wrong"])
        # All judges read the same texts, whatever they are asked.
        if (at := (*pair, trial.condition)) not in seen:
            shown = asked.simulator.read_prompt(trial.request.prompt)
            seen[at] = shown.asked, shown.texts[::order]
        judge, (question, texts) = judges[trial.judge.name], seen[at]
        one, two = asked.simulator.felt_on_passage(judge, question, texts[::order], wrote)
        first = win_chance(one - two, 0.0, judge.traits.get("noise", 1.0))
        arm, wanted = ("wrote", where["own"]) if wrote else (trial.condition, "right")
        key = (*pair, judge.name, where["first"], *([where["own"]] if wrote else []))
        found[arm][key] = first if where["first"] == wanted else 1 - first
    return found


def _turned(asked: Asked, before: Mapping[tuple, float], after: Mapping[tuple, float]) -> dict[str, float]:
    """By judge the log-odds by which an edit of its own wrong answer turns it, minus those of third-party judges."""
    vendors = {model.name: model.vendor for model in (*asked.experiment.candidates, *asked.experiment.judges)}
    moves: dict[tuple, dict[str, list[tuple[float, float]]]] = defaultdict(lambda: defaultdict(list))
    for (question, right, wrong, judge, first), p in after.items():
        if (q := before.get((question, right, wrong, judge, first))) is not None:
            moves[question, right, wrong][judge].append((p * (1 - q), q * (1 - p)))
    sums: dict[str, list[list[float]]] = defaultdict(list)
    for (_, right, wrong), by in moves.items():
        third = [each for judge, each in by.items() if vendors[judge] not in (vendors[right], vendors[wrong])]
        if wrong in by and third:
            sides = [[sum(each[side] for each in by[wrong]) for side in (0, 1)]]
            sides.append([fmean(sum(each[side] for each in one) for one in third) for side in (0, 1)])
            sums[wrong].append([*sides[0], *sides[1]])
    totals = {judge: [sum(column) for column in zip(*each, strict=True)] for judge, each in sums.items()}
    return {judge: log(one[0] / one[1]) - log(one[2] / one[3]) for judge, one in totals.items()}


def _recognised(chances: Mapping[tuple, float]) -> dict[str, float]:
    """By judge how often it names its own answer as its own: the mean over harmful and over beneficial pairs."""
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for (*_, judge, _, own), p in chances.items():
        found[judge][own].append(p)
    return {judge: fmean(map(fmean, kinds.values())) for judge, kinds in found.items() if len(kinds) == 2}


# --- the published replication from its counts: each rate under its own definition, and its limits --------------------

NO_PAIRS = "no interval: which pair before is which after is not published"
OTHERS = "no interval: other pairs before than after"
LEVEL = 0.05
#: The rates of a run: id, numerator, denominator. The source gave one name to the last two, and changed it midway.
RATES = (
    ("judge_accuracy", "right", "records"),
    ("model_accuracy", "own_right", "records"),
    ("self_selected_rate", "own_selected", "records"),
    ("harmful_self_preference_rate", "own_wrong_selected", "own_wrong"),
    ("wrong_of_self_selected", "own_wrong_selected", "own_selected"),
)
_COUNTED = ["records", "own_right", "own_selected", "own_wrong_selected", "own_wrong", "right"]
#: What a run's pairs are, in the words of the blocks.
BEFORE, AGAIN = "filtered before", "filtered before and after"


def runs(published: Mapping[str, Any]) -> pd.DataFrame:
    """All published counts: one row a run, phase, judge and opponent.

    Columns: run, records_are, phase ("before" or "after" the edit), judge, opponent; records, own_right, own_selected,
    own_wrong_selected, and what follows: own_wrong, right (picks of the right answer).
    """
    rows = [
        {"run": block["run"], "records_are": block["records"], "phase": phase, **row}
        for block in published.values()
        if isinstance(block["counts"], Mapping) and "before" in block["counts"]
        for phase, counted in block["counts"].items()
        for row in counted
    ]
    table = pd.DataFrame(rows)
    own_wrong = table["records"] - table["own_right"]
    right = table["own_selected"] - table["own_wrong_selected"] + own_wrong - table["own_wrong_selected"]
    return table.assign(own_wrong=own_wrong, right=right)


def pooled(table: pd.DataFrame) -> pd.DataFrame:
    """`runs` summed over judges and opponents: one row a run, kind of records and phase, in the order of the file."""
    return table.groupby(["run", "records_are", "phase"], sort=False)[_COUNTED].sum().reset_index()


@estimator("self_preference", "published")
def from_published(published: Mapping[str, Any]) -> Numbers:
    """All numbers that the counts in published/counts.yaml determine: of each run, of its pairs, and in total."""
    table = runs(published)
    total, keys = pooled(table), {"run": "run", "records_are": "records", "phase": "phase"}
    for rows, extra in ((table, {"judge": "judge", "opponent": "opponent"}), (total, {})):
        for row in rows.to_dict("records"):
            where = {name: row[column] for column, name in (keys | extra).items()}
            yield "published_records", where, bare(row["records"], row["records"])
            yield from ((id, where, counted_share(row[k], row[n])) for id, k, n in RATES)
    for (run, records), before, after in _phases(total):
        why = NO_PAIRS if before["records"] == after["records"] else OTHERS
        for id, k, n in RATES:
            change = bare(after[k] / after[n] - before[k] / before[n], before[n] + after[n], why)
            yield "published_change", {"rate": id, "run": run, "records": records}, change
    # In how many pairs of judge and opponent the accuracy fell, where the same pairs of answers were judged twice.
    for (run, records), before, after in _phases(total):
        if before["records"] == after["records"]:
            both = _phases(table, "judge", "opponent")
            fell = [then["right"] < first["right"] for key, first, then in both if key[:2] == (run, records)]
            yield "accuracy_falls", {"run": run, "records": records}, bare(sum(fell), len(fell))
    block = published["retention"]
    for row in block["counts"]:
        where = {"run": block["run"], "judge": row["judge"], "opponent": row["opponent"]}
        yield "published_retention", where, counted_share(row["kept"], row["pairs"])
    block = published["generators"]
    for model, row in block["counts"].items():
        yield "generator_accuracy", {"model": model}, counted_share(row["correct"], row["evaluated"])
        yield "generator_accuracy_all", {"model": model}, counted_share(row["correct"], block["questions"])
        yield "generator_skipped", {"model": model}, bare(row["skipped"], block["questions"])
    block = published["code_pairs"]
    counts = {**block["counts"], "any": sum(block["counts"].values()), "own_wrong_edited": block["own_wrong_edited"]}
    yield from (("code_pairs", {"right": right}, bare(each, counts["any"])) for right, each in counts.items())


def _phases(table: pd.DataFrame, *more: str) -> Iterator[tuple[tuple[str, ...], pd.Series, pd.Series]]:
    """Each run and kind of records, and what `more` tells apart, with its row before and after the edit."""
    for key, rows in table.groupby(["run", "records_are", *more], sort=False):
        before, after = (rows[rows["phase"] == phase].iloc[0] for phase in ("before", "after"))
        yield key, before, after


#: The report of this run does not say that the pairs it kept are among the others, as the other run's does.
ASSUMED = ("greedy",)


def published_finding(published: Mapping[str, Any], estimates: Sequence[Estimate]) -> str:
    """Which way the published edit of two words went, by what was compared, and what the counts leave open.

    `published` is published/counts.yaml, `estimates` what `from_published` makes of it.
    """
    table = runs(published)
    total = pooled(table)
    head = "Two words of the judge's answer were replaced by synonyms. How often it then picked its own *wrong* one:"
    parts = [head, "\n".join(_lines(total)), _place(total), _beyond_chance(table), _definitions(estimates)]
    return "\n\n".join([*parts, _rest(table, estimates)])


def _counts(before: pd.Series, after: pd.Series) -> tuple[int, int, int]:
    """Picks of the own wrong answer before and after the edit, of how many pairs."""
    return int(before["own_wrong_selected"]), int(after["own_wrong_selected"]), int(before["own_wrong"])


def _lines(total: pd.DataFrame) -> Iterator[str]:
    for (run, records), before, after in _phases(total):
        first, last = (row["own_wrong_selected"] / row["own_wrong"] for row in (before, after))
        rates = f"- *{run}*, {records}: {percent(first, 2)} to {percent(last, 2)} ({100 * (last - first):+.2f} pp)"
        if before["records"] != after["records"]:
            yield f"{rates}, of {before['own_wrong']} and of {after['own_wrong']} pairs."
            continue
        counts = _counts(before, after)
        below = (possible := discordance(*counts))[possible["p"] < LEVEL]["changed"]
        found = f"only if at most {below.max()} of them changed sides" if len(below) else "for no number of changes"
        yield f"{rates}, of the same {counts[2]} pairs: {counts[1] - counts[0]:+d}; p < {LEVEL} {found}."


def _place(total: pd.DataFrame) -> str:
    """How much of a change comes with the place of the own answer, where both orders were asked after the edit.

    A pair that was left out the second time had the same place picked twice: where the own answer stood first and was
    picked, the other one was picked when it stood last, and the other way round.
    """
    rows = {(run, records): each for (run, records), *each in _phases(total)}
    lines = []
    for run in dict.fromkeys(total["run"]):
        if (run, BEFORE) not in rows or (run, AGAIN) not in rows:
            continue
        before, first = rows[run, BEFORE]
        again = rows[run, AGAIN][1]
        n, left = first["own_wrong"], first["own_wrong"] - again["own_wrong"]
        dropped = first["own_wrong_selected"] - again["own_wrong_selected"]
        last = again["own_wrong_selected"] + left - dropped
        if left < 0 or not 0 <= dropped <= left:
            continue
        lines.append(
            f"- *{run}*, of {n} pairs: {before['own_wrong_selected']} before (both orders), after the edit "
            f"{first['own_wrong_selected']} with the own answer first, {last} with it last; {left} pairs on which "
            f"these disagree had left the first report, and of the others it is {again['own_wrong_selected']} of "
            f"{again['own_wrong']}{', if these are among the former' if run in ASSUMED else ''}."
        )
    if not lines:
        return "No run asked both orders of the same pairs after the edit."
    return "\n".join([text_of("self_preference", "place"), "", *lines])


def _beyond_chance(table: pd.DataFrame) -> str:
    """What no number of these counts can settle, and the pairs whose counts changed by more than any pairing allows."""
    more = []
    for (run, records, judge, other), before, after in _phases(table, "judge", "opponent"):
        one, two, n = _counts(before, after)
        same = before["records"] == after["records"]
        if same and len(possible := discordance(one, two, n)) and possible["p"].max() < LEVEL:
            more.append(f"{judge} against {other} in *{run}*, {records} ({one} to {two} of {n})")
    found = f" Changed by more than chance allows, whichever pairs changed: {'; '.join(more)}." if more else ""
    return text_of("self_preference", "unsettled") + found


def _definitions(estimates: Sequence[Estimate]) -> str:
    """The first report's core number under both definitions."""
    parts = []
    for id, words in (("wrong_of_self_selected", "P(own wrong | own picked)"), (RATE, "P(own picked | own wrong)")):
        reports = [
            " to ".join(
                percent(find(estimates, id, run="greedy", records=kind, phase=phase).value, 2)
                for phase in ("before", "after")
            )
            for kind in (AGAIN, BEFORE)
        ]
        parts.append(f"{words} goes from {reports[0]} in the first report, from {reports[1]} in the second")
    return text_of("self_preference", "definitions").format(reports="; ".join(parts))


def _rest(table: pd.DataFrame, estimates: Sequence[Estimate]) -> str:
    """Where the change of the nine pairs comes from, what the filter keeps, and what was skipped."""
    nine = _phases(table[table["run"] == "nine pairs"], "judge", "opponent")
    changes = {f"{key[2]} against {key[3]}": after["own_wrong_selected"] - before["own_wrong_selected"]
               for key, before, after in nine}  # fmt: skip
    net = sum(changes.values())
    top = sorted(changes, key=lambda name: changes[name], reverse=bool(net >= 0))[:2]
    where = " and ".join(f"{name} ({changes[name]:+d})" for name in top)
    share = f", {sum(changes[name] for name in top):+d} of it in {where}" if net else ""
    kept = [each.value for each in pick(estimates, "published_retention")]
    model = max(pick(estimates, "generator_skipped"), key=lambda each: each.value).where["model"]
    rate, every = (find(estimates, id, model=model) for id in ("generator_accuracy", "generator_accuracy_all"))
    return (
        f"The nine pairs changed by {net:+d} in all{share}. The filter for consistent orders kept between "
        f"{percent(min(kept), 0)} and {percent(max(kept), 0)} of a pair's records. Answers without a letter were "
        f"skipped: {model} is right in {percent(rate.value)} of those it answered, in {percent(every.value)} of all."
    )
