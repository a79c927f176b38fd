"""Two orders make one item: what each judge did with one pair of answers, and what was lost."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd

from ...stats.intervals import Interval, clustered, clusters_of, no_interval
from ...types import Answer, Experiment, Judgment, Question
from ..protocol import Numbers, bare, estimator, fit, mean_by_place, mean_interval
from .asked import Arm, Edited, arms, edits

#: What tells one item from another, and what is known of it; the two orders of an item agree in all of these.
PAIR = ["question_id", "right", "wrong"]
KNOWN = [
    *("question_id", "article", "category", "judge", "judge_vendor", "right", "wrong", "right_vendor", "wrong_vendor"),
    *("right_label", "wrong_label", "own", "condition", "edit", "target", "dose", "repeat", "task"),
]
KEY = [*PAIR, "judge", "condition", "repeat", "task"]
ORDERS = ("right", "wrong")


def items(frame: pd.DataFrame) -> pd.DataFrame:
    """What a judge made of each pair when it saw it both ways round: one row an item; from the pair frame.

    Columns: those of KNOWN (`article` is the `cluster` where the frame has one); `right_first` and `wrong_first`, 1.0
    where the right answer was picked in that order, 0.0 where the wrong one, NaN without a verdict; `score`, their
    mean; `consistent`, both orders picked the same answer; `probability` of the right answer, the mean over both
    orders; those of `beside_control`. One item judged twice in one order is a ValueError that names it.
    """
    if (twice := frame.duplicated([*KEY, "first"])).any():
        row = frame[twice].iloc[0]
        raise ValueError(
            f"judge {row['judge']} judged question {row['question_id']} ({row['right']} against {row['wrong']}, "
            f"condition {row['condition']}, repeat {row['repeat']}, task {row['task']}) more than once with the "
            f"{row['first']} answer first; each order needs its own repeat number"
        )
    # As in a run that nothing was added to later: verdicts beside the repeat arm, recognition beside its asking.
    partner = frame["partner"] if "partner" in frame else np.where(frame["task"] == "correct", 1, 0)
    picked = frame["picked"].astype(object).map({"right": 1.0, "wrong": 0.0}).where(frame["outcome"] == "ok")
    verdicts = frame[KEY].assign(first=picked.astype(float), p=frame["p_right"].astype(float), partner=partner)
    table = frame.drop_duplicates(KEY).assign(article=lambda rows: clusters_of(rows, "article"))[KNOWN]
    for first in ORDERS:
        names = {name: f"{first}_{name}" for name in ("first", "p", "partner")}
        table = table.merge(verdicts[frame["first"] == first].rename(columns=names), on=KEY, how="left")
    table = beside_control(scored(table))
    return table.assign(probability=(table.pop("right_p") + table.pop("wrong_p")) / 2)


def scored(table: pd.DataFrame) -> pd.DataFrame:
    """Items with `score` and `consistent`, from what was picked in each order."""
    score = (table["right_first"] + table["wrong_first"]) / 2
    return table.assign(score=score, consistent=score.isin([0.0, 1.0]))


def beside_control(table: pd.DataFrame) -> pd.DataFrame:
    """Items with the verdicts of the unedited items that they are compared with, order by order.

    `right_partner` and `wrong_partner` say which repeat of the unedited item that is; they become
    `right_first_control`, `wrong_first_control` and `score_control`, their mean. The first asking is no control: naive
    comparisons select on it.
    """
    unedited = table[(table["condition"] == "none") & ((table["repeat"] >= 1) | (table["task"] != "correct"))]
    key = [*PAIR, "judge", "task"]
    for first in ORDERS:
        names = {"repeat": f"{first}_partner", f"{first}_first": f"{first}_first_control"}
        controls = unedited[[*key, *names]].rename(columns=names).astype({f"{first}_partner": float})
        table = table.astype({f"{first}_partner": float}).merge(controls, on=[*key, f"{first}_partner"], how="left")
    table = table.drop(columns=[f"{first}_partner" for first in ORDERS])
    return table.assign(score_control=(table["right_first_control"] + table["wrong_first_control"]) / 2)


def before(table: pd.DataFrame) -> pd.DataFrame:
    """The items as first judged, unedited: what the published analyses start from."""
    return table[(table["condition"] == "none") & (table["repeat"] == 0) & (table["task"] == "correct")]


def complete(table: pd.DataFrame) -> pd.DataFrame:
    """The items with a verdict in both orders; the others are counted (`funnel`), never scored."""
    return table[table["score"].notna()]


def split_arms(table: pd.DataFrame, target: str) -> list[tuple[str, pd.DataFrame]]:
    """The items judged with an edited text, an arm each: its dose as a word ("2", ..., "paraphrase") and its rows."""
    edited = table[(table["target"] == target) & (table["condition"] != "none")]
    names = edited["dose"].astype(str).mask(edited["edit"] == "paraphrase", "paraphrase")
    found = [(str(name), rows) for name, rows in edited.groupby(names)]
    return sorted(found, key=lambda arm: (not arm[0].isdigit(), arm[0].zfill(9)))


def averaged(table: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """One row a pair and judge: these columns averaged over repeats, beside the columns that describe the pair."""
    key = [*PAIR, "judge"]
    means = table.groupby(key, observed=True, sort=False)[columns].mean().reset_index()
    return table.drop(columns=columns).drop_duplicates(key).merge(means, on=key)


def third_parties(table: pd.DataFrame) -> pd.DataFrame:
    """The rows whose judge is of neither vendor of the pair."""
    judge = table["judge_vendor"]
    return table[differ(judge, table["right_vendor"]) & differ(judge, table["wrong_vendor"])]


def differ(one: pd.Series, two: pd.Series) -> np.ndarray:
    """Where two columns of names differ; categories or texts."""
    return (one.astype(object) != two.astype(object)).to_numpy()


def lost_by_pick(frame: pd.DataFrame) -> pd.DataFrame:
    """Whether verdicts are lost at random: the share lost by what the judge picked in the other order; pair frame.

    One row a judge; columns: judge, then lost of asked and the share where the other order picked the right answer, and
    where it picked the wrong one. Shares that differ bias rates.
    """
    table, parts = items(frame), []
    for first, second in (ORDERS, ORDERS[::-1]):
        other = table[f"{second}_first"].map({1.0: "right", 0.0: "wrong"})
        parts.append(table[["judge"]].assign(other=other, lost=table[f"{first}_first"].isna()).dropna(subset="other"))
    counts = pd.concat(parts, ignore_index=True).groupby(["judge", "other"], observed=True, sort=True)["lost"]
    cells = counts.agg(["sum", "size"]).reset_index()
    shares = [f"{row.sum} of {row.size} ({row.sum / row.size:.1%})" for row in cells.itertuples()]
    wide = cells.assign(shares=shares).pivot(index="judge", columns="other", values="shares").fillna("none asked")
    names = {other: f"lost where the other order picked the {other} one" for other in wide}
    return wide.rename(columns=names).rename_axis(columns=None)


#: What varies in this experiment is the article.
by_article = estimator("self_preference", cluster="article")
#: Why a mean over items has no value.
NO_ITEM = "no such item has a verdict in both orders"
#: The mean of values over items.
share = partial(mean_interval, cluster="article", reason=NO_ITEM)


def _with_own(rows: pd.DataFrame, *roles: str) -> pd.DataFrame:
    """The items in which the judge's own answer is the right or the wrong one, or the one of these `roles`."""
    return rows[rows["own"].isin(roles or ORDERS)]


def _legitimate(rows: pd.DataFrame) -> Interval:
    """Of the votes for the own answer, the share that was right: a ratio of two sums over articles."""
    own = _with_own(rows)
    if own.empty:
        return no_interval(math.nan, 0, 0, NO_ITEM)
    right = (own["own"] == "right").to_numpy()
    vote = np.where(right, own["score"], 1 - own["score"])
    table = pd.DataFrame({"article": own["article"], "votes": vote, "right": vote * right})
    sums = table.groupby("article", observed=True)[["right", "votes"]].sum().to_numpy()
    interval = clustered(sums[:, 0], sums[:, 1], null=None)
    if math.isnan(interval.value):
        return no_interval(math.nan, len(own), 0, "never voted for its own answer")
    return replace(interval, n=len(own))


#: The rates of a judge's items by id, in their order.
RATES: dict[str, Callable[[pd.DataFrame], Interval]] = {
    "accuracy_all": lambda rows: share(rows, rows["score"]),
    "accuracy_self": lambda rows: share(own := _with_own(rows), own["score"]),
    "accuracy_harmful": lambda rows: share(own := _with_own(rows, "wrong"), own["score"]),
    "naive_harmful_rate": lambda rows: share(own := _with_own(rows, "wrong"), 1 - own["score"]),
    "legitimate": _legitimate,
}


@by_article
def accuracies(table: pd.DataFrame, ids: Sequence[str] = (*RATES, "retention")) -> Numbers:
    """How often each judge picks the right answer, at first asking, before and after the filter for consistency.

    `where`: judge and, but for `naive_harmful_rate` and `retention`, filter ("all": an item whose orders disagree
    counts 1/2; "consistent": it is left out). Those of `ids`. Takes `items`.
    """
    for name, rows in complete(before(table)).groupby("judge", observed=True, sort=True):
        judge = {"judge": str(name)}
        for kept, each in (("all", rows), ("consistent", rows[rows["consistent"]])):
            for id in (id for id in RATES if id in ids):
                if id != "naive_harmful_rate":
                    yield id, judge | {"filter": kept}, RATES[id](each)
                elif kept == "all":
                    yield id, judge, RATES[id](each)
        if "retention" in ids:
            yield "retention", judge, share(rows, rows["consistent"] * 1.0)


@by_article
def own_probability(table: pd.DataFrame) -> Numbers:
    """The mean probability that a judge gives its own wrong answer, where the provider tells probabilities; no filter.

    Nothing for judges without probabilities. First asking, both orders.
    """
    rows = _with_own(before(table), "wrong").dropna(subset="probability")
    return mean_by_place("own_wrong_probability", rows, 1 - rows["probability"], cluster="article")


@by_article
def counts(table: pd.DataFrame) -> Numbers:
    """How many pairs each judge was shown unedited, of how many it gave a verdict both ways, and on how many it held.

    `funnel_pairs`, `funnel_items` (a verdict in both orders), `funnel_consistent` (the same answer both times), at
    first asking. `where`: judge, own ("right", "wrong" or "other": pairs of other authors).
    """
    for (judge, own), rows in before(table).groupby(["judge", "own"], observed=True, sort=True):
        steps = {"pairs": len(rows), "items": rows["score"].notna().sum(), "consistent": rows["consistent"].sum()}
        where = {"judge": str(judge), "own": str(own) or "other"}
        yield from ((f"funnel_{step}", where, bare(count, len(rows))) for step, count in steps.items())


@by_article
def unreadable_share(frame: pd.DataFrame) -> Numbers:
    """The share of a judge's judgments, all conditions and tasks, without a readable verdict; from the pair frame."""
    return mean_by_place("unreadable_share", frame, (frame["outcome"] != "ok") * 1.0, cluster="article")


def steps(
    answers: Mapping[tuple[str, str], Answer],
    gold: Mapping[str, str | None],
    edited: Mapping[tuple[str, str], Edited],
    arms: Sequence[Arm],
    frame: pd.DataFrame,
) -> pd.DataFrame:
    """How many answers, pairs and items are left after each step, and why the others are not.

    `gold` is the right letter by question. Columns: step, count, lost, why. Each of the `arms` with an edit is a step
    of its own: what one of them loses, the next one may still have. The last steps count judge x pair.
    """
    unfit = Counter(answer.outcome for answer in answers.values() if answer.outcome != "ok")
    alike, pairs = Counter[str](), []
    for question_id, written in fit(answers).items():
        for two in combinations(written, 2):
            right = [answer for answer in two if answer.label == gold.get(question_id)]
            if len(right) == 1:
                (wrong,) = (answer for answer in two if answer is not right[0])
                roles = (("wrong", wrong), ("right", right[0]))
                pairs.append({role: edited.get((each.question_id, each.candidate)) for role, each in roles})
            else:
                alike["both right" if right else "both wrong"] += 1
    seen = before(items(frame))
    scored = seen[seen["score"].notna()]
    split = Counter({"the same place twice": int((~scored["consistent"].astype(bool)).sum())})
    found = [
        ("answers", len(answers), Counter()),
        ("answers with a letter and a reason", len(answers) - unfit.total(), unfit),
        ("pairs of these", len(pairs) + alike.total(), Counter()),
        ("pairs with exactly one right", len(pairs), alike),
        *(_edits(arm, pairs) for arm in arms if arm.edit != "none"),
        ("judge x pair, asked both ways", len(seen), Counter()),
        ("with a verdict both ways", len(scored), Counter({"no verdict": len(seen) - len(scored)})),
        ("the same answer both ways", int(scored["consistent"].sum()), split),
    ]
    whys = (", ".join(f"{n} {reason}" for reason, n in lost.most_common() if n) for _, _, lost in found)
    rows = [(step, count, lost.total(), why) for (step, count, lost), why in zip(found, whys, strict=True)]
    return pd.DataFrame(rows, columns=["step", "count", "lost", "why"])


def _edits(arm: Arm, pairs: Sequence[Mapping[str, Edited | None]]) -> tuple[str, int, Counter[str]]:
    """The step of one arm: how many of the pairs, given as the edits by role, have what it shows."""
    lost = Counter[str]()
    for pair in pairs:
        whys = [_why(edit, arm) for role, edit in pair.items() if arm.edits(role)]
        lost.update([why for why in whys if why][:1])
    whose = "whose two answers" if arm.target == "both" else f"whose {arm.target} answer"
    how = "paraphrased" if arm.edit == "paraphrase" else f"edited ({arm.dose} word{'' if arm.dose == 1 else 's'})"
    return f"{whose} could be {how}", len(pairs) - lost.total(), lost


def _why(edit: Edited | None, arm: Arm) -> str:
    """Why an answer has no text to be shown in this arm; "" where it has one."""
    if edit is None:
        return "not edited"
    if arm.edit == "paraphrase":
        refused = (why.removeprefix("paraphrase: ") for why in edit.refused if why.startswith("paraphrase: "))
        return "" if edit.paraphrase is not None else next(refused, "no paraphrase")
    replies = (why for why in edit.refused if why.startswith(("reply", "published edit")))
    return "" if edit.words.get(arm.dose) is not None else next(replies, "too few words that may change")


def funnel_of(
    experiment: Experiment,
    questions: Sequence[Question],
    answers: Mapping[tuple[str, str], Answer],
    replies: Mapping[str, Judgment],
    frame: pd.DataFrame,
) -> pd.DataFrame:
    """`steps` of a run; of published judgments, which tell nothing of their answers, the last three steps alone."""
    if not questions:
        return steps({}, {}, {}, (), frame).iloc[-3:].reset_index(drop=True)
    gold, made = {question.id: question.gold for question in questions}, edits(experiment, questions, answers, replies)
    return steps(answers, gold, made, arms(experiment), frame)


def outcomes(frame: pd.DataFrame) -> pd.DataFrame:
    """What each judge made of the pairs with an answer of its own, unedited and at first asking.

    Columns: judge, judge_vendor, kind ("harmful": its own answer is the wrong one, "beneficial": the right one),
    outcome ("right both ways", "split", "wrong both ways", "unreadable"), count.
    """
    seen = _with_own(before(items(frame)))
    names = seen["score"].map({1.0: "right both ways", 0.5: "split", 0.0: "wrong both ways"}).fillna("unreadable")
    rows = seen.assign(kind=seen["own"].map({"wrong": "harmful", "right": "beneficial"}), outcome=names)
    return rows.groupby(["judge", "judge_vendor", "kind", "outcome"], observed=True).size().reset_index(name="count")
