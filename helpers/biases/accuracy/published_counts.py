"""What published counts say of accuracy and of agreement with people: every source for itself, counts and sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from helpers.biases.accuracy.agreement import SAID, VERDICTS, Counted, Tables, accuracy, corrected, counted, of_counted
from helpers.stats.intervals import clustered, estimate
from helpers.stats.standing import clash
from helpers.types import Estimate
from helpers.words import p_text

#: What became of a verdict on an instance with a known better answer, in the order of the counts.
RIGHT, WRONG, UNREADABLE = "right", "wrong", "unreadable"
KINDS = (RIGHT, WRONG, UNREADABLE)
ORDERS = ("better first", "better second")


def both_orders(frame: pd.DataFrame) -> dict[str, dict[str, list[list[int]]]]:
    """How often each judge was right, wrong or unreadable in both orders, by category: 3 x 3 counts of instances.

    `frame` as `datasets.gold_of_games` makes it: a verdict for each order of each instance. Rows: the better
    answer first, columns: second, both in the order of KINDS. An instance without two orders is a ValueError.
    """
    found: dict[str, dict[str, list[list[int]]]] = {}
    for (judge, category), rows in _kinds(frame).groupby(["judge", "category"], sort=True):
        counts = Counter(zip(rows[ORDERS[0]], rows[ORDERS[1]], strict=True))
        found.setdefault(judge, {})[category] = [[counts[one, two] for two in KINDS] for one in KINDS]
    return found


def joint(frame: pd.DataFrame, pairs: Sequence[tuple[str, str]]) -> dict[str, dict[str, Any]]:
    """How often two judges were right on the same instance: "right/readable" of the one, then of the other.

    Both orders of an instance are one cell, "2/2 1/2" say; by category, for the pairs named. `frame` as `both_orders`.
    """
    table = _kinds(frame)
    right = sum((table[order] == RIGHT).astype(int) for order in ORDERS)
    read = sum((table[order] != UNREADABLE).astype(int) for order in ORDERS)
    cells = right.astype(str) + "/" + read.astype(str)
    wide = cells.groupby([table["category"], table["question_id"], table["judge"]]).first().unstack("judge")
    found: dict[str, dict[str, Any]] = {}
    for one, other in pairs:
        both = (wide[one] + " " + wide[other]).groupby(level="category").value_counts()
        by_category = found[f"{one} {other}"] = {}
        for (category, cell), count in sorted(both.items()):
            by_category.setdefault(category, {})[cell] = int(count)
    return found


def _kinds(frame: pd.DataFrame) -> pd.DataFrame:
    """A row a judge and instance: its category, and what became of the verdict in each order."""
    keys = ["judge", "category", "question_id"]
    kind = frame["correct"].map({1.0: RIGHT, 0.0: WRONG}).fillna(UNREADABLE)
    wide = frame.assign(kind=kind).set_index([*keys, "condition"])["kind"].unstack("condition")
    if set(wide.columns) != set(ORDERS) or wide.isna().any(axis=None):
        raise ValueError(f"every instance needs a verdict in both orders ({', '.join(ORDERS)})")
    return wide.reset_index()


def by_question(frame: pd.DataFrame) -> dict[str, Any]:
    """How many verdicts of each judge were right, and readable, question by question; all had the same items.

    `frame` as `accuracy` takes it. Keys: items (a number a question), and for each judge right and read.
    """
    groups = frame.groupby(["judge", "question_id"], sort=True)["correct"]
    sizes = groups.size().unstack("judge", fill_value=0)
    if sizes.nunique(axis=1).ne(1).any():
        raise ValueError("the judges were not asked about the same items")
    sums = {"right": groups.sum().unstack("judge"), "read": groups.count().unstack("judge")}
    judges = {judge: {name: _whole(table[judge]) for name, table in sums.items()} for judge in sizes.columns}
    return {"items": _whole(sizes.iloc[:, 0]), "judges": judges}


def votes_of(votes: pd.DataFrame) -> dict[str, Any]:
    """The tables of `counted`, cells that never occur left out: a list with a number a question for every other.

    Keys: questions, people (cells "first tie"), and for each judge judged, lost, votes and shared (cells "said vote");
    where every vote stands beside the same number of other people's, that number, `others`, in place of shared.
    """
    tables = counted(votes)
    judges = {}
    for judge, each in tables.judges.items():
        others = {int(k) for k in np.unique(each.shared[each.votes > 0] / each.votes[each.votes > 0])}
        even = len(others) == 1 and (each.shared == each.votes * min(others)).all()
        shared = {"others": min(others)} if even else {"shared": _cells(each.shared, SAID)}
        known = {"judged": tables.judged[judge], "lost": tables.lost[judge]}
        judges[judge] = {**known, "votes": _cells(each.votes, SAID), **shared}
    return {"questions": len(tables.questions), "people": _cells(tables.people, VERDICTS), "judges": judges}


def counted_of(block: Mapping[str, Any]) -> Counted:
    """The tables again from what `votes_of` made of them; a wrong length or cell is a ValueError."""
    size = block["questions"]
    people = _table(block["people"], size, VERDICTS)
    judges, judged, lost = {}, {}, {}
    for judge, cells in block["judges"].items():
        given = _table(cells["votes"], size, SAID)
        shared = given * cells["others"] if "others" in cells else _table(cells["shared"], size, SAID)
        judges[judge] = Tables(given, shared, people)
        judged[judge], lost[judge] = cells["judged"], cells["lost"]
    return Counted(tuple(map(str, range(size))), judges, people, judged, lost)


def together(parts: Sequence[Counted]) -> Counted:
    """All conditions of the same questions and judges as one; others are a ValueError."""
    first = parts[0]
    if any(each.questions != first.questions or set(each.judges) != set(first.judges) for each in parts):
        raise ValueError("conditions that are to be counted together need the same questions and judges")
    tables = {
        judge: Tables(
            sum(each.judges[judge].votes for each in parts),
            sum(each.judges[judge].shared for each in parts),
            sum(each.people for each in parts),
        )
        for judge in first.judges
    }
    totals = (
        {judge: sum(getattr(each, name)[judge] for each in parts) for judge in tables} for name in ("judged", "lost")
    )
    return Counted(first.questions, tables, sum(each.people for each in parts), *totals)


def _cells(table: np.ndarray, rows: Sequence[str]) -> dict[str, list[int]]:
    return {
        f"{row} {column}": _whole(table[:, i, j])
        for i, row in enumerate(rows)
        for j, column in enumerate(VERDICTS)
        if table[:, i, j].any()
    }


def _table(cells: Mapping[str, Sequence[int]], size: int, rows: Sequence[str]) -> np.ndarray:
    table = np.zeros((size, len(rows), len(VERDICTS)))
    for cell, counts in cells.items():
        row, _, column = cell.partition(" ")
        if row not in rows or column not in VERDICTS or len(counts) != size:
            raise ValueError(f"cell {cell!r} has {len(counts)} counts; expected {size}, and one of {', '.join(rows)}")
        table[:, rows.index(row), VERDICTS.index(column)] = counts
    return table


def _whole(values: Any) -> list[int]:
    return [int(value) for value in values]


def labelled(votes: pd.DataFrame) -> dict[str, list[int]]:
    """How many of a judge's comparisons people voted on: [voted on, all] for each two models compared.

    `votes` as `datasets.load_votes` makes them, with one judge's verdict on every comparison.
    """
    judged = votes[votes["kind"] == "judge"]
    seen = judged["pair"].isin(set(votes.loc[votes["kind"] == "person", "pair"]))
    groups = seen.groupby(judged["pair"].str.partition(": ")[2], sort=True)
    return {models: [int(each.sum()), len(each)] for models, each in groups}


BOTH_ORDERS, ITEMS, VOTES = "both_orders", "items", "votes"
#: The part of a category's name before the slash, all of its parts together.
POOLED = "Adversarial"
#: One of two outputs must be named.
CHANCE = 0.5


def published(counts: Mapping[str, Any]) -> list[Estimate]:
    """All numbers that the counts in published/counts.yaml determine; no two sources are pooled.

    `where` has source. Of instances judged in both orders: `gold_accuracy` and its companions for each evaluator and
    prompt, tested against chance, by subset and for all adversarial ones together, and `gold_accuracy_difference` for
    the pairs whose joint counts are kept. Of items with a majority of three people: the same without chance, and as
    the source printed it. Of votes: what `agreement` gives, by condition; `labelled_share` of each pair of models.
    """
    found: list[Estimate] = []
    for name, block in counts.items():
        source = {"source": block["name"]}
        if BOTH_ORDERS in block:
            found += _of_both_orders(block, source)
        if ITEMS in block:
            found += _of_items(block[ITEMS], source)
        if VOTES in block:
            tables = {condition: counted_of(each) for condition, each in block[VOTES].items()}
            every = {"all": together(list(tables.values()))} if len(tables) > 1 else {}
            for condition, each in (every | tables).items():
                found += of_counted(each, {**source, "condition": condition}, "published")
        if not {BOTH_ORDERS, ITEMS, VOTES} & set(block):
            raise ValueError(f"{name}: holds {', '.join(block)}; expected {BOTH_ORDERS}, {ITEMS} or {VOTES}")
        for pair, (seen, total) in block.get("labelled", {}).items():
            place = {**source, "pair": pair}
            share = Estimate("labelled_share", place, seen / total, n=total, method="counted", data="published")
            found.append(share)
    return found


def _of_both_orders(block: Mapping[str, Any], source: Mapping[str, str]) -> Iterator[Estimate]:
    frame = pd.concat([_verdicts(judge, grids, source) for judge, grids in block[BOTH_ORDERS].items()])
    # Counts do not tell which instance is which: every judge has its own, and no two are compared.
    yield from accuracy(frame, "published", CHANCE, pairs=())
    pooled = frame[frame["category"].str.startswith(POOLED)]
    whole = accuracy(pooled.drop(columns="category"), "published", CHANCE, pairs=())
    for each in whole:
        if each.id == "gold_accuracy":
            yield replace(each, id="gold_accuracy_by_category", where={**each.where, "category": POOLED})
    for names, cells in block.get("joint", {}).items():
        one, other = names.split()
        x, d, strata = _joint(cells)
        gap = clustered(x, d, [1.0, -1.0], strata)
        yield estimate("gold_accuracy_difference", {**source, "judge": one, "other": other}, gap, "published", "pp")


def _verdicts(judge: str, grids: Mapping[str, Any], source: Mapping[str, str]) -> pd.DataFrame:
    """A row a verdict; the instances of each judge and category are numbered."""
    values = {RIGHT: 1.0, UNREADABLE: float("nan")}
    rows = []
    for category, grid in grids.items():
        cells = [(i, j) for i, row in enumerate(grid) for j, count in enumerate(row) for _ in range(count)]
        for at, cell in enumerate(cells):
            rows += [(f"{judge} {category} {at}", category, values.get(KINDS[kind], 0.0)) for kind in cell]
    return pd.DataFrame(rows, columns=["question_id", "category", "correct"]).assign(judge=judge, **source)


def _joint(cells: Mapping[str, Mapping[str, int]]) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """(C, 2) right and readable verdicts of two judges, an instance a row, and the category of each."""
    right, read, strata = [], [], []
    for category, counts in cells.items():
        for cell, count in counts.items():
            parts = np.array([part.split("/") for part in cell.split()], dtype=float)
            # As for verdicts themselves: an instance that one of them lost altogether is no comparison.
            if (parts[:, 1] > 0).all():
                right += [parts[:, 0]] * count
                read += [parts[:, 1]] * count
                strata += [category] * count
    return np.array(right), np.array(read), strata


def _of_items(block: Mapping[str, Any], source: Mapping[str, str]) -> Iterator[Estimate]:
    rows = [
        (str(question), judge, value)
        for judge, sums in block["judges"].items()
        for question, (items, right, read) in enumerate(zip(block["items"], sums["right"], sums["read"], strict=True))
        for value in [1.0] * right + [0.0] * (read - right) + [float("nan")] * (items - read)
    ]
    frame = pd.DataFrame(rows, columns=["question_id", "judge", "correct"]).assign(**source)
    yield from accuracy(frame, "published")
    items = np.array(block["items"])
    for judge, right in block.get("right_as_printed", {}).items():
        interval = clustered(np.array(right), items, null=None)
        yield estimate("gold_accuracy_as_printed", {**source, "judge": judge}, interval, "published")


LEVEL = 0.05
_PLACE = ("source", "condition")


def finding(estimates: Sequence[Estimate]) -> str:
    """The bottom line of `accuracy` and `agreement`: a sentence a judge, then who is right more often than whom.

    Holm's correction runs over all differences, and over all gaps between judges and people.
    """
    lines = [_right(estimates, each) for each in estimates if each.id == "gold_accuracy"]
    lines += [_voted(estimates, each) for each in estimates if each.id == "agreement_gap" and which(each) == "all"]
    lines += _differences(estimates)
    lines += [_people_would(estimates, each) for each in estimates if each.id == "people_rate"]
    return "\n".join(f"- {line}" for line in lines) or "No gold labels and no votes of people: nothing can be said."


def which(each: Estimate) -> str:
    """Which votes an estimate is of: all, consistent, decisive; empty for numbers that are of none."""
    return each.where.get("votes", "")


def estimate_of(estimates: Sequence[Estimate], id: str, **where: str) -> Estimate | None:
    """The estimate of exactly this place, if there is one."""
    return next((each for each in estimates if each.id == id and dict(each.where) == where), None)


def _place(each: Estimate) -> str:
    told = ", ".join(each.where[key] for key in _PLACE if each.where.get(key, "none") not in ("none", "all"))
    return f" ({told})" if told else ""


def _named(each: Estimate) -> str:
    simulated = "SIMULATED: " if each.data == "simulated" else ""
    return f"{simulated}{each.where['judge']}{_place(each)}"


def _shown(each: Estimate) -> str:
    return f"{each}" if each.low == each.low or each.value != each.value else f"{each} ({each.method})"


def _right(estimates: Sequence[Estimate], each: Estimate) -> str:
    said = f"{_named(each)} is **right in {_shown(each)}** of {each.n} verdicts"
    lost = estimate_of(estimates, "gold_unreadable_share", **each.where)
    least = estimate_of(estimates, "gold_accuracy_of_all", **each.where)
    if lost and least and lost.value > 0:
        said += f" that can be read; {100 * lost.value:.1f} % cannot, and if those are wrong {_shown(least)}"
    return f"{said}."


def _voted(estimates: Sequence[Estimate], gap: Estimate) -> str:
    at = {key: value for key, value in gap.where.items() if key != "judge"}
    agreed = estimate_of(estimates, "human_agreement", **gap.where)
    people = estimate_of(estimates, "human_human_agreement", **at)
    beyond = estimate_of(estimates, "human_alpha", **{key: value for key, value in gap.where.items() if key != "votes"})
    said = f"{_named(gap)} says what a person says in **{_shown(agreed)}** of {agreed.n} votes"
    said += f" (alpha {beyond})" if beyond and beyond.value == beyond.value else ""
    if people and people.value == people.value:
        said += f", another person in {_shown(people)}"
    p = corrected(estimates, "agreement_gap")[tuple(sorted(gap.where.items()))]
    if p != p:
        return f"{said}; {gap.method}."
    same = f"on the same votes {gap}, Holm p {p_text(p)}{clash(gap, p)}"
    if p < LEVEL:
        return f"{said}: it agrees with people **{'more' if gap.value > 0 else 'less'}** than they do ({same})."
    return f"{said}: no measurable difference from people ({same}), which is no proof of none."


def _differences(estimates: Sequence[Estimate]) -> list[str]:
    p = corrected(estimates, "gold_accuracy_difference")
    every = [each for each in estimates if each.id == "gold_accuracy_difference"]
    found = []
    for each in every:
        chance = p[tuple(sorted(each.where.items()))]
        if chance < LEVEL:
            one, other = (each.where[key] for key in (("judge", "other") if each.value > 0 else ("other", "judge")))
            found.append(f"{one} is right more often than {other}{_place(each)}: {each}, Holm p {p_text(chance)}.")
    if every and not found:
        shown = f" ({every[0]})" if len(every) == 1 else ""
        found.append(f"No measurable difference between judges{shown}, of {len(every)} asked for.")
    return found


def _people_would(estimates: Sequence[Estimate], each: Estimate) -> str:
    """The corrected share beside what the judge alone and the labels alone say, or why there is none."""
    alone = " and ".join(
        f"{words} {_shown(other)}"
        for words, id in (("the judge alone", "people_rate_judge"), ("the labels alone", "people_rate_labels"))
        if (other := estimate_of(estimates, id, **each.where))
    )
    if each.value != each.value:
        return f"{_named(each)}: no correction by people's labels ({each.method}); {alone}."
    return f"{_named(each)}: people would say yes in **{_shown(each)}** of all items; {alone}."


def published_finding(estimates: Sequence[Estimate]) -> str:
    """What published verdicts say: how judges fare where the better answer is known, and beside people.

    `estimates` is what `published` makes of published/counts.yaml.
    """
    parts = [_adversarial(estimates), _prompts(estimates), _majority(estimates), _people(estimates), _labels(estimates)]
    return "\n\n".join(part for part in parts if part)


def _adversarial(estimates: Sequence[Estimate]) -> str:
    """Judges on easy instances and on those made to mislead."""
    by = [each for each in estimates if each.id == "gold_accuracy_by_category" and each.where["source"] == "LLMBar"]
    easy, hard = ([each for each in by if each.where["category"] == name] for name in ("Natural", POOLED))
    if not hard:
        return ""
    p = corrected(hard, "gold_accuracy_by_category")
    below, above = ([each for each in hard if _sure(each, p) and (each.value < CHANCE) == low] for low in (True, False))
    worst = Counter(each.where["judge"].partition("/")[0] for each in below)
    whose = f" ({', '.join(f'{name} {count}' for name, count in worst.items())})" if below else ""
    sizes = [max(each.clusters for each in group) for group in (easy, hard)]
    return (
        f"**LLMBar** (the better of two outputs is known; {len(hard)} evaluators with their prompts). On {sizes[0]} "
        f"natural instances they are right in {_range(easy)}. On {sizes[1]} instances whose worse output is the more "
        f"seductive one, in {_range(hard)}: **{len(below)} of {len(hard)} are right less often than a coin**{whose}, "
        f"{len(above)} more often, {len(hard) - len(below) - len(above)} cannot be told from one (Holm over "
        f"{len(hard)}). The best there is {_best(hard)}."
    )


def _sure(each: Estimate, p: Mapping) -> bool:
    return p[tuple(sorted(each.where.items()))] < LEVEL


def _range(group: Sequence[Estimate]) -> str:
    values = [100 * each.value for each in group]
    return f"{min(values):.1f} to {max(values):.1f} %"


def _best(group: Sequence[Estimate]) -> str:
    best = max(group, key=lambda each: each.value)
    return f"{best.where['judge']} with {best}"


def _prompts(estimates: Sequence[Estimate]) -> str:
    """What asking for reasons first, or for both orders, does to the same evaluator."""
    every = [each for each in estimates if each.id == "gold_accuracy_difference" and each.where["source"] == "LLMBar"]
    if not every:
        return ""
    p, told = corrected(every, "gold_accuracy_difference"), []
    for each in every:
        if _sure(each, p):
            told.append(f"{each.where['judge']} against {each.where['other']} {each}")
    found = "; ".join(told) or "none"
    return (
        f"Of {len(every)} differences that a prompt makes for the same evaluator (reasons first, or both orders "
        f"reconciled, against the plain one) those that stand after Holm: {found}."
    )


def _majority(estimates: Sequence[Estimate]) -> str:
    right = [each for each in estimates if each.id == "gold_accuracy" and each.where["source"] == "PandaLM"]
    if not right:
        return ""
    told, clusters = [], max(each.clusters for each in right)
    for each in right:
        lost = estimate_of(estimates, "gold_unreadable_share", **each.where)
        printed = estimate_of(estimates, "gold_accuracy_as_printed", **each.where)
        said = f"{each.where['judge']} {each} of the verdicts that can be read"
        if lost and lost.value > 0 and printed:
            said += (
                f" ({100 * lost.value:.1f} % cannot; counted as ties, as its authors do, {100 * printed.value:.1f} %)"
            )
        told.append(said)
    gap = next(
        each for each in estimates if each.id == "gold_accuracy_difference" and each.where["source"] == "PandaLM"
    )
    verdict = f"no measurable difference ({gap})" if not gap.p < LEVEL else f"a difference of {gap}"
    return (
        f"**PandaLM** (what most of three people say, ties a verdict; {clusters} questions): {'; '.join(told)}; "
        f"{verdict}."
    )


def _people(estimates: Sequence[Estimate]) -> str:
    gaps = [each for each in estimates if each.id == "agreement_gap" and each.where["condition"] in ("all", "none")]
    if not gaps:
        return ""
    p, lines = corrected(gaps, "agreement_gap"), []
    for each in gaps:
        if which(each) != "all":
            continue
        decisive = {**each.where, "votes": "decisive"}
        other = estimate_of(gaps, "agreement_gap", **decisive)
        agreed = [estimate_of(estimates, "human_agreement", **where) for where in (each.where, decisive)]
        at = {key: value for key, value in each.where.items() if key not in ("judge", "votes")}
        people = [estimate_of(estimates, "human_human_agreement", **at, votes=kind) for kind in ("all", "decisive")]
        said = _side(each, other, p)
        lines.append(
            f"- {each.where['judge']} on {each.where['source']}: {agreed[0]} of votes, {agreed[1]} where nobody said "
            f"tie; two people {people[0]} and {people[1]}. {said} ({each} on the same votes; "
            f"{other} where nobody said tie, which are other votes for a judge than for people)."
        )
    return "**People.** How often a judge says what a person says of the same pair:\n\n" + "\n".join(lines)


def _side(one: Estimate, other: Estimate, p: Mapping) -> str:
    sure = [each for each in (one, other) if _sure(each, p)]
    if len({each.value > 0 for each in sure}) == 1:
        more = "more" if sure[0].value > 0 else "less"
        return f"It agrees with people {more} than they agree with each other"
    return "No measurable difference from people, which is no proof of none"


def _labels(estimates: Sequence[Estimate]) -> str:
    """Why verdicts are not corrected by these votes, and what agreement does not show."""
    shares = [each for each in estimates if each.id == "labelled_share"]
    spread = ""
    if shares:
        spread = (
            f"{shares[0].where['source']}'s votes cover {_range(shares)} of the comparisons of two models, and their "
            "file does not tell how these were chosen: no random sample to correct the judge's other verdicts by "
            "(prediction-powered inference), so none is corrected. "
        )
    return (
        f"**Limits.** {spread}PandaLM's authors dropped the items on which its people fell out, so that its people "
        "agree more than people do. Agreement with people is no absence of bias: both may share it."
    )
