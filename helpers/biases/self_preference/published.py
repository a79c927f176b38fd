"""The published replication from its counts: each rate under its own definition, and its limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from ...stats.tests import discordance
from ...types import Estimate
from ..protocol import published_rate, published_value
from .findings import RATE
from .measured import of

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
_COUNTED = ["records", "own_right", "own_selected", "own_wrong_selected"]
#: What a run's pairs are, in the words of the blocks.
BEFORE, AGAIN = "filtered before", "filtered before and after"


def runs(published: Mapping[str, Any]) -> pd.DataFrame:
    """All published counts: one row a run, phase, judge and opponent.

    Columns: run, records_are, phase ("before" or "after" the edit), judge, opponent; records, own_right, own_selected,
    own_wrong_selected, and what follows: own_wrong, right (picks of the right answer). Counts that contradict each
    other are a ValueError that names the row.
    """
    rows = [
        {"run": block["run"], "records_are": block["records"], "phase": phase, **row}
        for block in published.values()
        if isinstance(block["counts"], Mapping) and "before" in block["counts"]
        for phase, counted in block["counts"].items()
        for row in counted
    ]
    return _followed(pd.DataFrame(rows))


def _followed(table: pd.DataFrame) -> pd.DataFrame:
    own_wrong = table["records"] - table["own_right"]
    right = table["own_selected"] - table["own_wrong_selected"] + own_wrong - table["own_wrong_selected"]
    selected_right = table["own_selected"] - table["own_wrong_selected"]
    bad = ~selected_right.between(0, table["own_right"]) | ~table["own_wrong_selected"].between(0, own_wrong)
    if bad.any():
        raise ValueError(f"published counts contradict each other: {table[bad].iloc[0].to_dict()}")
    return table.assign(own_wrong=own_wrong, right=right)


def pooled(table: pd.DataFrame) -> pd.DataFrame:
    """`runs` summed over judges and opponents: one row a run, kind of records and phase, in the order of the file."""
    sums = table.groupby(["run", "records_are", "phase"], sort=False)[_COUNTED].sum().reset_index()
    return _followed(sums)


def from_published(published: Mapping[str, Any]) -> list[Estimate]:
    """All numbers that the counts in published/counts.yaml determine: of each run, of its pairs, and in total."""
    table = runs(published)
    found = [each for row in table.to_dict("records") for each in _rates(row, ("judge", "opponent"))]
    total = pooled(table)
    found += [each for row in total.to_dict("records") for each in _rates(row)]
    found += [*_changes(total), *_falls(table, total), *_retention(published)]
    return [*found, *_generators(published), *_code_pairs(published)]


def _rates(row: Mapping[str, Any], extra: Sequence[str] = ()) -> list[Estimate]:
    where = {"run": row["run"], "records": row["records_are"], "phase": row["phase"], **{k: row[k] for k in extra}}
    counted = published_value("published_records", where, row["records"], row["records"], "count", "counted")
    return [counted, *(published_rate(id, where, row[k], row[n]) for id, k, n in RATES)]


def _phases(table: pd.DataFrame, *more: str) -> Iterator[tuple[tuple[str, ...], pd.Series, pd.Series]]:
    """Each run and kind of records, and what `more` tells apart, with its row before and after the edit."""
    for key, rows in table.groupby(["run", "records_are", *more], sort=False):
        before, after = (rows[rows["phase"] == phase].iloc[0] for phase in ("before", "after"))
        yield key, before, after


def _changes(total: pd.DataFrame) -> list[Estimate]:
    found = []
    for (run, records), before, after in _phases(total):
        for id, k, n in RATES:
            where = {"rate": id, "run": run, "records": records}
            change = after[k] / after[n] - before[k] / before[n]
            why = NO_PAIRS if before["records"] == after["records"] else OTHERS
            found.append(published_value("published_change", where, change, int(before[n] + after[n]), "pp", why))
    return found


def _falls(table: pd.DataFrame, total: pd.DataFrame) -> list[Estimate]:
    """In how many pairs of judge and opponent the accuracy fell, where the same pairs of answers were judged twice."""
    fell: dict[tuple[str, ...], list[bool]] = {}
    for key, before, after in _phases(table, "judge", "opponent"):
        fell.setdefault(key[:2], []).append(after["right"] < before["right"])
    twice = [key for key, before, after in _phases(total) if before["records"] == after["records"]]
    return [
        published_value("accuracy_falls", {"run": run, "records": records}, sum(each), len(each), "count", "counted")
        for run, records in twice
        for each in (fell[run, records],)
    ]


def _retention(published: Mapping[str, Any]) -> list[Estimate]:
    block = published["retention"]
    return [
        published_rate("published_retention", {"run": block["run"], **pair}, row["kept"], row["pairs"])
        for row in block["counts"]
        for pair in ({name: row[name] for name in ("judge", "opponent")},)
    ]


def _generators(published: Mapping[str, Any]) -> list[Estimate]:
    block, found = published["generators"], []
    for model, row in block["counts"].items():
        where = {"model": model}
        found += [
            published_rate("generator_accuracy", where, row["correct"], row["evaluated"]),
            published_rate("generator_accuracy_all", where, row["correct"], block["questions"]),
            published_value("generator_skipped", where, row["skipped"], block["questions"], "count", "counted"),
        ]
    return found


def _code_pairs(published: Mapping[str, Any]) -> list[Estimate]:
    block = published["code_pairs"]
    counts = {**block["counts"], "any": sum(block["counts"].values()), "own_wrong_edited": block["own_wrong_edited"]}
    n = counts["any"]
    return [published_value("code_pairs", {"right": k}, v, n, "count", "counted") for k, v in counts.items()]


#: The report of this run does not say that the pairs it kept are among the others, as the other run's does.
ASSUMED = ("greedy",)


def published_finding(published: Mapping[str, Any], estimates: Sequence[Estimate]) -> str:
    """Which way the published edit of two words went, by what was compared, and what the counts leave open.

    `published` is published/counts.yaml, `estimates` what `from_published` makes of it.
    """
    table = runs(published)
    total = pooled(table)
    head = "Two words of the judge's answer were replaced by synonyms. How often it then picked its own *wrong* one:"
    parts = [head, "\n".join(_lines(total)), _place(total), UNSETTLED + _beyond_chance(table), _definitions(estimates)]
    return "\n\n".join([*parts, _rest(table, estimates)])


def _percent(share: float, digits: int = 1) -> str:
    return f"{100 * share:.{digits}f} %"


def _counts(before: pd.Series, after: pd.Series) -> tuple[int, int, int]:
    """Picks of the own wrong answer before and after the edit, of how many pairs."""
    return int(before["own_wrong_selected"]), int(after["own_wrong_selected"]), int(before["own_wrong"])


def _lines(total: pd.DataFrame) -> Iterator[str]:
    for (run, records), before, after in _phases(total):
        first, last = (row["own_wrong_selected"] / row["own_wrong"] for row in (before, after))
        rates = f"- *{run}*, {records}: {_percent(first, 2)} to {_percent(last, 2)} ({100 * (last - first):+.2f} pp)"
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
    head = (
        "**Place.** The pairs of *greedy* and *raw* were chosen since both orders agreed before the edit; compared "
        "with that is one order afterwards, the own answer first. Both orders were asked, so the other one follows:"
    )
    return "\n".join([head, "", *lines]) if lines else "No run asked both orders of the same pairs after the edit."


#: What no number of these counts can settle.
UNSETTLED = (
    "**What is missing.** No run asked the unedited pairs again, and none showed the edits to another judge. So "
    "these counts do not settle whether a change is the edit's, the place's, the repetition's or a damaged text's. "
    "How many pairs changed sides is not published; all p here take pairs as independent, which questions on one "
    "article are not, and are corrected for nothing."
)


def _beyond_chance(table: pd.DataFrame) -> str:
    """The pairs whose counts changed by more than any pairing allows."""
    more = []
    for (run, records, judge, other), before, after in _phases(table, "judge", "opponent"):
        one, two, n = _counts(before, after)
        possible = discordance(one, two, n) if before["records"] == after["records"] else ()
        if len(possible) and possible["p"].max() < LEVEL:
            more.append(f"{judge} against {other} in *{run}*, {records} ({one} to {two} of {n})")
    return f" Changed by more than chance allows, whichever pairs changed: {'; '.join(more)}." if more else ""


def _definitions(estimates: Sequence[Estimate]) -> str:
    """The first report's core number under both definitions."""
    parts = []
    for id, words in (("wrong_of_self_selected", "P(own wrong | own picked)"), (RATE, "P(own picked | own wrong)")):
        reports = [
            " to ".join(
                _percent(of(estimates, id, run="greedy", records=kind, phase=phase).value, 2)
                for phase in ("before", "after")
            )
            for kind in (AGAIN, BEFORE)
        ]
        parts.append(f"{words} goes from {reports[0]} in the first report, from {reports[1]} in the second")
    return (
        "**Definitions.** The source changed its definition of the harmful rate between the reports, so they cannot be "
        "compared as printed. Of *greedy* (whose first report also holds an earlier state of the data), "
        f"{'; '.join(parts)}. The first definition mixes how often a judge is wrong with how often it picks itself; "
        "the second is the one used everywhere else here."
    )


def _rest(table: pd.DataFrame, estimates: Sequence[Estimate]) -> str:
    """Where the change of the nine pairs comes from, what the filter keeps, and what was skipped."""
    nine = _phases(table[table["run"] == "nine pairs"], "judge", "opponent")
    changes = {f"{key[2]} against {key[3]}": after["own_wrong_selected"] - before["own_wrong_selected"]
               for key, before, after in nine}  # fmt: skip
    net = sum(changes.values())
    top = sorted(changes, key=lambda name: changes[name], reverse=bool(net >= 0))[:2]
    where = " and ".join(f"{name} ({changes[name]:+d})" for name in top)
    share = f", {sum(changes[name] for name in top):+d} of it in {where}" if net else ""
    kept = [e.value for e in estimates if e.id == "published_retention"]
    model = max((e for e in estimates if e.id == "generator_skipped"), key=lambda e: e.value).where["model"]
    rate, every = (of(estimates, id, model=model) for id in ("generator_accuracy", "generator_accuracy_all"))
    return (
        f"The nine pairs changed by {net:+d} in all{share}. The filter for consistent orders kept between "
        f"{_percent(min(kept), 0)} and {_percent(max(kept), 0)} of a pair's records. Answers without a letter were "
        f"skipped: {model} is right in {_percent(rate.value)} of those it answered, in {_percent(every.value)} of all."
    )
