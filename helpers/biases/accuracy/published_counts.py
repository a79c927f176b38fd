"""What published counts say of accuracy and of agreement with people: every source for itself, counts and sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from ...stats.intervals import clustered, estimate
from ...stats.tests import holm
from ...types import Estimate
from ...words import LEVEL
from ...words.sentences import lines
from ..protocol import conclusions
from .agreement import SAID, VERDICTS, Counted, Tables, accuracy, of_counted

#: What became of a verdict on an instance with a known better answer, in the order of the counts.
RIGHT, WRONG, UNREADABLE = "right", "wrong", "unreadable"
KINDS = (RIGHT, WRONG, UNREADABLE)


def counted_of(block: Mapping[str, Any]) -> Counted:
    """The tables of `counted` from the cells of published/counts.yaml; a wrong length or cell is a ValueError.

    A cell is a list with a number a question, one that never occurs is left out: of people "first tie", of a judge
    "said vote". Where every vote stands beside the same number of other people's, that number, `others`, stands in
    place of `shared`.
    """
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


def _table(cells: Mapping[str, Sequence[int]], size: int, rows: Sequence[str]) -> np.ndarray:
    table = np.zeros((size, len(rows), len(VERDICTS)))
    for cell, counts in cells.items():
        row, _, column = cell.partition(" ")
        if row not in rows or column not in VERDICTS or len(counts) != size:
            raise ValueError(f"cell {cell!r} has {len(counts)} counts; expected {size}, and one of {', '.join(rows)}")
        table[:, rows.index(row), VERDICTS.index(column)] = counts
    return table


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


def finding(estimates: Sequence[Estimate]) -> str:
    """The bottom line of `accuracy` and `agreement`: the numbers of each judge, then who is right more often than whom.

    Holm's correction runs over all differences, and over all gaps between judges and people.
    """
    ids = ("gold_accuracy", "gold_accuracy_of_all", "gold_unreadable_share", "human_agreement", "human_alpha")
    ids += ("agreement_gap", "human_human_agreement", "people_rate", "people_rate_judge", "people_rate_labels")
    found = [e for e in conclusions("accuracy", estimates, *ids) if e.estimate.where.get("votes", "all") == "all"]
    differences = conclusions("accuracy", estimates, "gold_accuracy_difference")
    shown = [each for each in differences if each.verdict == "bias"]
    none = f"- No difference between judges is shown, of {len(differences)} asked for."
    parts = [lines([*found, *shown], "{judge} {source} {condition}"), none if differences and not shown else ""]
    return "\n".join(filter(None, parts)) or "No gold labels and no votes of people: nothing can be said."


def published_finding(estimates: Sequence[Estimate]) -> str:
    """What published verdicts say: how judges fare where the better answer is known, and beside people.

    `estimates` is what `published` makes of published/counts.yaml.
    """
    by = {name: [each for each in estimates if each.where["source"] == name] for name in ("LLMBar", "PandaLM")}
    prompts = conclusions("accuracy", by["LLMBar"], "gold_accuracy_difference")
    stand = lines([each for each in prompts if each.verdict == "bias"]) or "- none"
    ids = ("gold_accuracy", "gold_unreadable_share", "gold_accuracy_as_printed", "gold_accuracy_difference")
    majority = lines(conclusions("accuracy", by["PandaLM"], *ids))
    votes = [each for each in estimates if each.where.get("condition") in ("all", "none")]
    ids = ("human_agreement", "human_human_agreement", "agreement_gap")
    kept = ("all", "decisive")
    people = [e for e in conclusions("accuracy", votes, *ids) if e.estimate.where["votes"] in kept]
    parts = {
        _adversarial(by["LLMBar"]): "",
        f"Of {len(prompts)} differences that a prompt makes for the same evaluator (reasons first, or both orders "
        "reconciled, against the plain one) those that stand after Holm": stand if prompts else "",
        "**PandaLM** (what most of three people say, ties a verdict)": majority,
        "**People.** How often a judge says what a person says of the same pair; where nobody said tie these are "
        "other votes for a judge than for people": lines(people, "{judge} {source}"),
        _labels(estimates): "",
    }
    return "\n\n".join(
        f"{head}:\n\n{body}" if body else head for head, body in parts.items() if body or head[-1:] == "."
    )


def _adversarial(estimates: Sequence[Estimate]) -> str:
    """Judges on easy instances and on those made to mislead."""
    by = [each for each in estimates if each.id == "gold_accuracy_by_category"]
    easy, hard = ([each for each in by if each.where["category"] == name] for name in ("Natural", POOLED))
    if not hard:
        return ""
    sure = [each for each, p in zip(hard, holm([each.p for each in hard]), strict=True) if p < LEVEL]
    below = [each for each in sure if each.value < CHANCE]
    worst = Counter(each.where["judge"].partition("/")[0] for each in below)
    whose = f" ({', '.join(f'{name} {count}' for name, count in worst.items())})" if below else ""
    best = max(hard, key=lambda each: each.value)
    return (
        f"**LLMBar** (the better of two outputs is known; {len(hard)} evaluators with their prompts). On "
        f"{max(each.clusters for each in easy)} natural instances they are right in {_range(easy)}. On "
        f"{max(each.clusters for each in hard)} instances whose worse output is the more seductive one, in "
        f"{_range(hard)}: **{len(below)} of {len(hard)} are right less often than a coin**{whose}, "
        f"{len(sure) - len(below)} more often, {len(hard) - len(sure)} cannot be told from one (Holm over "
        f"{len(hard)}). The best there is {best.where['judge']} with {best}."
    )


def _range(group: Sequence[Estimate]) -> str:
    values = [100 * each.value for each in group]
    return f"{min(values):.1f} to {max(values):.1f} %"


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
