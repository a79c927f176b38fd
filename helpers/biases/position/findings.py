"""What may be concluded of each judge of pairs, so that noise is never called a preference for a place."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd

from helpers.biases.planted import Planted, mean_by, planted_table, trait, win_chance
from helpers.biases.position.both_orders import LEVEL, comparisons, grid, pairs
from helpers.biases.position.measured import (
    Place,
    confirmatory,
    corrected,
    detectable_beside,
    exploratory,
    family,
    of,
    place,
    smallest_detectable,
)
from helpers.stats.standing import clash, leans, size, standing, together, worst
from helpers.stats.tests import FLOOR, benjamini_hochberg
from helpers.types import Estimate, Model
from helpers.words import CardLine, Headline, p_text, sentence

if TYPE_CHECKING:
    from helpers.run import Asked

#: What is said of flips where no order was asked twice.
NOISE = "; how much of that is noise is not known (the same order was not asked twice)"


def told_p(corrected: float) -> str:
    """An exploratory p as sentences have it."""
    return f"p {p_text(corrected)} by Benjamini and Hochberg, exploratory"


def percent(share: float) -> str:
    """A share as sentences have it."""
    return f"{100 * share:.1f} %"


def lost(estimates: Sequence[Estimate], at: Place, each: Estimate, found: bool) -> str:
    """What the verdicts that could not be read might do to the conclusion, if they were lost for what they said."""
    share = of(estimates, "invalid_share", at)
    bounds = [of(estimates, "first_position_sensitivity", at, choice=f"lost to {side}") for side in ("first", "second")]
    if share is None or not share.value:
        return ""
    told = f"{percent(share.value)} of pairs could not be read"
    if not found:
        if None in bounds or not any(_apart(bound) for bound in bounds):
            return ""
        ends = " to ".join(f"{100 * bound.value:+.1f}" for bound in reversed(bounds))
        return f" {told}; were they lost for their verdicts, the effect could be anything from {ends} pp."
    worst, sign = (bounds[1], 1) if each.value > 0 else (bounds[0], -1)
    if worst is None:
        return ""
    nearest = worst.value if math.isnan(worst.low) else min(sign * worst.low, sign * worst.high) * sign
    return f" {told}, and could undo that if they were lost for their verdicts." if sign * nearest <= 0 else ""


def _apart(each: Estimate) -> bool:
    """Whether 0 lies outside the interval (or, where there is none, is not the value)."""
    return each.low > 0 or each.high < 0 if not math.isnan(each.low) else bool(each.value)


def ties(estimates: Sequence[Estimate], at: Place, each: Estimate, found: bool) -> str:
    """Whether pairs with a tie in one game lean to a place: a judge whose ties depend on the order shows it there."""
    full = of(estimates, "first_position_sensitivity", at, choice="one tie: full")
    if full is None or math.isnan(full.low) or not _apart(full) or (found and full.value * each.value > 0):
        return ""
    where = "first" if full.value > 0 else "second"
    return f" Pairs with a tie in one game lean to the {where}: with these counted {full} (exploratory, uncorrected)."


def categories(estimates: Sequence[Estimate], at: Place, each: Estimate, found: bool) -> str:
    """The categories that lean to a place where the whole does not, or favours the other one."""
    every = [e for e in estimates if e.id == "first_position_effect" and "category" in e.where]
    adjusted = benjamini_hochberg([e.p for e in every])
    hits = [
        (e, p)
        for e, p in zip(every, adjusted, strict=True)
        if place(e.where) == at and p < LEVEL and not (found and e.value * each.value > 0)
    ]
    if not hits:
        return ""
    named = ", ".join(f"{e.where['category']} {e}" for e, _ in hits)
    largest = max(p for _, p in hits)
    return f" But categories that lean: {named} ({told_p(largest)} at most, over all categories)."


def flips(estimates: Sequence[Estimate], at: Place, found: bool) -> str:
    """How often the verdict changes, and how much of that asking again does as well."""
    agreed = of(estimates, "position_consistency", at)
    if agreed is None or math.isnan(agreed.value):
        return ""
    told = f" The two orders disagree on the outcome in {percent(1 - agreed.value)} of pairs"
    more = of(estimates, "excess_flip", at)
    if more is None or math.isnan(more.value):
        return f"{told}{NOISE}."
    if math.isnan(more.p):
        return f"{told}; {more} more than when asked again in the same order ({more.method})."
    p = exploratory(estimates, "excess_flip")[at]
    if p < LEVEL and more.value > 0:
        return f"{told}: it seems more often than when asked again in the same order, by {more} ({told_p(p)})."
    least = detectable_beside(estimates, more)
    weaker = "; the direction needs fewer questions than this does" if found else ""
    return (
        f"{told}: not measurably more often than when asked again in the same order ({more}, {told_p(p)}; "
        f"{100 * least:.1f} pp more would be found in 80 % of such runs){weaker}."
    )


def finding(estimates: Sequence[Estimate]) -> str:
    """The bottom line, a sentence a judge and candidate: which place it favours, and what its other flips may be."""
    p, least = corrected(estimates), smallest_detectable(estimates)
    tests = sum(not math.isnan(each) for each in p.values())
    lines = [f"- {_sentence(estimates, at, each, p[at], least[at], tests)}" for at, each in family(estimates).items()]
    if not lines:
        return "No candidate was judged against a baseline in both orders: nothing can be concluded."
    return "\n".join([*_summary(family(estimates), p), *lines])


def _summary(each: Mapping[Place, Estimate], p: Mapping[Place, float]) -> list[str]:
    """How many comparisons favour a place, and whose they are; nothing where there are few to read."""
    tested = [at for at in each if not math.isnan(p[at])]
    if len(tested) < 4:
        return []
    simulated = "SIMULATED: " if any(e.data == "simulated" for e in each.values()) else ""
    told = []
    for word, sign in (("first", 1), ("second", -1)):
        found = [at for at in tested if p[at] < LEVEL and sign * each[at].value > 0]
        judges = ", ".join(f"{judge} {n}" for judge, n in Counter(at[0] for at in found).items())
        several = len({at[0] for at in found}) < len(found)
        told.append(f"{len(found)} favour the **{word}** place{f' ({judges})' if several else ''}")
    unsure = sum(not p[at] < LEVEL and leans(each[at]) for at in tested)
    none = sum(not p[at] < LEVEL for at in tested) - unsure
    if unsure:
        told.append(f"{unsure} lean{'s' * (unsure == 1)} to a place without standing after correction")
    counted = f"{simulated}{'of' if simulated else 'Of'} {len(tested)} comparisons tested {', '.join(told)}"
    return [f"{counted}, and {none} show{'s' * (none == 1)} no measurable preference.", ""]


def _who(at: Place, each: Estimate) -> str:
    judge, candidate, *source = at
    told = f"{judge} on {candidate}" + (f" ({source[0]})" if source else "")
    return f"SIMULATED: {told}" if each.data == "simulated" else told


def _sentence(estimates: Sequence[Estimate], at: Place, each: Estimate, p: float, least: float, tests: int) -> str:
    who, found = _who(at, each), p < LEVEL
    beside = "".join(clause(estimates, at, each, found) for clause in (lost, ties, categories))
    beside += flips(estimates, at, found)
    if math.isnan(p):
        shown = f" ({each})" if each.value == each.value else ""
        told = "nothing can be concluded" if math.isnan(each.low) else "no test"
        why = each.method.rpartition("; ")[2]
        return f"{who}: **{told}** on a preference for a place{shown}: {why}.{beside}"
    told = f"{each} of pairs, Holm p {p_text(p, FLOOR in each.method)}" + (f" of {tests} tests" if tests > 1 else "")
    told += clash(each, p)
    if not found:
        enough = f"a true effect of {100 * least:.1f} pp would be found in 80 % of such runs"
        seen = enough if least == least else "no effect would be found in 80 % of such runs"
        if leans(each):
            side = "first" if each.value > 0 else "second"
            said = f"**leans to the {side} place, not established** after correction ({told})"
        else:
            said = f"**no measurable preference for a place** ({told})"
        return f"{who}: {said}; {seen}.{beside}"
    which, other = ("first", "second") if each.value > 0 else ("second", "first")
    share = "primacy_share", "recency_share"
    one, two = (of(estimates, id, at) for id in (share if which == "first" else reversed(share)))
    wins = (
        f": it wins both orders in {percent(one.value)} of pairs, the {other} in {percent(two.value)}"
        if one and two
        else ""
    )
    return f"{who} **favours the answer shown {which}**{wins} ({told}).{beside}"


def identical_words(estimates: Sequence[Estimate]) -> str:
    """What each judge does with the same text in both slots, beside a good answer against a bad one."""
    lines, adjusted = [], exploratory(estimates, "identical_pair_effect")
    for each in estimates:
        if each.id != "identical_pair_effect":
            continue
        at = place(each.where)
        told = f"- {_who(at, each)}: on two identical texts {each}"
        if each.p == each.p:
            least = detectable_beside(estimates, each)
            said = "it leans to the " + ("first" if each.value > 0 else "second") + " place or its letter"
            null = "no measurable preference for a place"
            null += f"; {100 * least:.1f} pp would be found in 80 % of such runs" if least == least else ""
            told += f" ({told_p(adjusted[at])}): {said if adjusted[at] < LEVEL else null}"
        else:
            told += f" ({each.method})"
        right = of(estimates, "quality_gap_accuracy", at)
        if right is not None and right.value == right.value:
            why = f" ({right.method})" if right.low != right.low else ""
            told += f"; it prefers the good answer to a grossly bad one in {right}{why}"
        lines.append(f"{told}.")
    return "\n".join(lines) or "No judge was shown the same text twice."


PLACE, AGREEMENT, UNREADABLE = "first position", "both orders agree", "unreadable"
#: What is told of a judge over all its comparisons: id of the shares, measure, words.
SHARES = (
    ("position_consistency", AGREEMENT, "names the same winner in both orders in this share of pairs"),
    ("invalid_share", UNREADABLE, "leaves this share of pairs without two readable verdicts"),
)


def card(estimates: Sequence[Estimate], vendors: Mapping[str, str] | None = None) -> list[CardLine]:
    """Of each judge which place it favours, how often both orders agree, and what could not be read.

    The place is that of the comparison with the gravest verdict by Holm's p over all comparisons of its source of data,
    of several the largest effect; the words say of how many it is one. Published evaluators that are one model under
    several prompts are one judge. `vendors` is not needed.
    """
    del vendors
    lines = []
    for data in dict.fromkeys(each.data for each in estimates):
        mine = [each for each in estimates if each.data == data]
        known, p, least = family(mine), corrected(mine), smallest_detectable(mine)
        for judge in sorted({_judge(at) for at in known}):
            lines.append(_place(judge, {at: e for at, e in known.items() if _judge(at) == judge}, p, least))
        for id, measure, words in SHARES:
            shares: dict[str, list[Estimate]] = {}
            for each in mine:
                # Controls and categories are other comparisons, or part of these.
                if each.id == id and place(each.where) in known and len(each.where) == len(place(each.where)):
                    shares.setdefault(_judge(place(each.where)), []).append(each)
            for judge, several in sorted(shares.items()):
                share = together(several, id, judge, "comparisons")
                lines.append(CardLine(judge, measure, share, "described", words))
    return lines


def _judge(at: Place) -> str:
    """Whose comparison it is: LLMBar's evaluators are named model/prompt."""
    return at[0].partition("/")[0] if at[2:] == ("LLMBar",) else at[0]


def _place(
    judge: str, mine: Mapping[Place, Estimate], p: Mapping[Place, float], least: Mapping[Place, float]
) -> CardLine:
    verdicts = {at: standing(each, p[at]) for at, each in mine.items()}
    gravest = worst(verdicts.values())
    at = max((at for at in mine if verdicts[at] == gravest), key=lambda at: size(mine[at]))
    each, side = mine[at], "first" if mine[at].value > 0 else "second"
    words = {
        "bias": f"favours the answer shown {side}",
        "hint": f"leans to the answer shown {side}",
        "not shown": "shows no measurable preference for a place",
        "untold": f"was not tested for a preference for a place ({each.method.rpartition('; ')[2]})",
    }[gravest]
    sides = {word: _favouring(mine, verdicts, sign) for word, sign in (("first", 1), ("second", -1))}
    if len(mine) > 1:
        words += f"; of {len(mine)} comparisons {sides['first']} favour the first place, {sides['second']} the second"
    here = f"on {at[1]}" if at[0] == judge else at[0]
    return CardLine(judge, PLACE, each, gravest, f"{words} (here: {here})", p[at], least[at])


def _favouring(mine: Mapping[Place, Estimate], verdicts: Mapping[Place, str], sign: int) -> int:
    return sum(verdicts[at] == "bias" and sign * each.value > 0 for at, each in mine.items())


def headline(estimates: Sequence[Estimate]) -> Headline | None:
    """How many comparisons favour a place, of estimates from one source of data.

    The largest effect that stands carries it, else the largest one. None where nothing was compared in both orders.
    """
    known, p = family(estimates), corrected(estimates)
    if not known:
        return None
    verdicts = {at: standing(each, p[at]) for at, each in known.items()}
    gravest = worst(verdicts.values())
    each = max((e for at, e in known.items() if verdicts[at] == gravest), key=size)
    tested = sum(not math.isnan(p[at]) for at in known)
    first, second = (_favouring(known, verdicts, sign) for sign in (1, -1))
    leans = sum(verdict == "hint" and not math.isnan(p[at]) for at, verdict in verdicts.items())
    said = f"of {tested} comparison{'s' * (tested != 1)} tested {first} favour{'s' * (first == 1)} the answer shown "
    said += f"first, {second} the one shown second"
    if leans:
        said += f", {leans} lean{'s' * (leans == 1)} to one without standing"
    if not tested:
        said = "a preference for a place was tested in no comparison"
    largest = f"; largest: {each.where['judge']} on {each.where['candidate']}"
    lost = [e for e in estimates if e.id == "invalid_share" and place(e.where) in known and "category" not in e.where]
    unreadable = together(lost, "invalid_share", "", "comparisons").value
    return Headline(sentence(said + largest * (tested > 0), each.data), each, unreadable)


#: What the place of an effect over all questions is called where categories are shown.
ALL = "all questions"


def titled(estimates: Sequence[Estimate]) -> list[Estimate]:
    """The estimates with the source in the candidate's name where it tells two comparisons apart, as figures need."""
    return [
        replace(each, where={k: v for k, v in each.where.items() if k != "source"} | {"candidate": _titled(each.where)})
        if "source" in each.where
        else each
        for each in estimates
    ]


def _titled(where: dict[str, str]) -> str:
    return f"{where['candidate']} ({where['source']})"


def outcome_cells(frame: pd.DataFrame, data: str) -> pd.DataFrame:
    """How often each verdict of game 1 met each of game 2 in each comparison, condition none; games frame.

    Columns: source, judge, candidate, game_1, game_2 (labels or "invalid"), count, data.
    """
    table = pairs(frame)
    found = []
    for where, rows in comparisons(table[table["condition"] == "none"]):
        counts = grid(rows).rename_axis(index="game_1", columns="game_2").stack().rename("count").reset_index()
        known = {"source": rows["source"].iloc[0], "judge": where["judge"], "candidate": where["candidate"]}
        found.append(counts.assign(**known, data=data))
    return pd.concat(found, ignore_index=True)


def by_category(estimates: Sequence[Estimate]) -> list[Estimate]:
    """The first-position effects by category, with the shares of unreadable pairs.

    Of a run on one category, those over all its questions.
    """
    effects = [each for each in estimates if each.id == "first_position_effect"]
    if not any("category" in each.where for each in effects):
        effects = [replace(each, where={**each.where, "category": ALL}) for each in effects]
    return [*effects, *(each for each in estimates if each.id == "invalid_share")]


def class_words(estimates: Sequence[Estimate]) -> str:
    """Of each comparison: how often the two orders do not mirror each other, and how much of that favours a place."""
    lines = []
    for each in estimates:
        if each.id != "significant_bias_published" or "category" in each.where:
            continue
        at = place(each.where)
        own, lost = of(estimates, "significant_bias", at), of(estimates, "invalid_share", at)
        one, two = of(estimates, "primacy_share", at), of(estimates, "recency_share", at)
        if own is None or one is None or two is None or lost is None or own.value != own.value:
            continue
        who = f"SIMULATED: {' on '.join(at[:2])}" if each.data == "simulated" else " on ".join(at[:2])
        rest = own.value - one.value - two.value
        ties = f"; {100 * rest:.1f} % name a tie in one order alone" if rest > 1e-9 else ""
        lines.append(
            f"- {who}{f' ({at[2]})' if at[2:] else ''}: not mirrored in {own} of readable pairs ({each} of lines by "
            f"the published rule); unreadable {100 * lost.value:.1f} %. The first place wins both orders in "
            f"{100 * one.value:.1f} %, the second in {100 * two.value:.1f} %{ties}."
        )
    return "\n".join(lines) or "No comparison has a readable pair."


def win_rows(estimates: Sequence[Estimate]) -> list[Estimate]:
    """The win rates over all categories, with the shares of unreadable pairs."""
    return [each for each in estimates if each.id in ("win_rate", "invalid_share") and "category" not in each.where]


def win_words(estimates: Sequence[Estimate]) -> str:
    """What style control changes, and where it could not be made."""
    rows = {(place(e.where), e.where["style"]): e for e in win_rows(estimates) if e.where.get("weight") == "1"}
    moved, missing = {}, {}
    for (at, style), each in rows.items():
        if style != "controlled":
            continue
        if each.value == each.value:
            moved[at] = each.value - rows[at, "raw"].value
        else:
            missing.setdefault(each.method.rpartition("; ")[2], []).append(at)
    if not moved and not missing:
        return "No style control: the texts of the answers are not known here (`answers` can name them)."
    simulated = "SIMULATED: " if any(each.data == "simulated" for each in rows.values()) else ""
    told = []
    if moved:
        at = max(moved, key=lambda at: abs(moved[at]))
        told.append(
            f"{simulated}at equal style the win rate of {len(moved)} comparisons is another one by "
            f"{100 * min(moved.values()):+.1f} to {100 * max(moved.values()):+.1f} pp, most for {' on '.join(at[:2])} "
            f"({rows[at, 'raw']} as judged, {rows[at, 'controlled']} at equal style). Intervals of both share their "
            "verdicts: whether they differ cannot be read off them."
        )
    for why, some in missing.items():
        told.append(f"{simulated}{len(some)} comparisons: {why}.")
    return " ".join(told)


def paper_tables(estimates: Sequence[Estimate]) -> list[tuple[str, str, list[Estimate], list[str], list[str]]]:
    """What goes into tables: name, caption, estimates, row keys and column keys."""
    whole = titled([each for each in estimates if "category" not in each.where])

    def some(*ids: str) -> list[Estimate]:
        return [each for each in whole if each.id in ids]

    at = ["judge", "candidate"]
    ours = ("no_bias", "weak_bias", "significant_bias", "acceptable_rate", "invalid_share")
    theirs = tuple(f"{id}_published" for id in ours[:4])
    signed = ("first_position_effect", "first_win_rate", "position_consistency", "primacy_share", "recency_share")
    beside = ("excess_flip", "identical_pair_effect", "quality_gap_accuracy")
    told = {
        "classes": ("Classes of pairs of verdicts, of readable pairs.", ours, ["id"]),
        "classes_published": ("Classes as published: of all lines, stored strings untouched.", theirs, ["id"]),
        "place": ("Which place each judge favours.", signed, ["id"]),
        "beyond_noise": ("Flips beyond noise, identical and far apart answers.", beside, ["id"]),
        "win_rate": ("Win rates, by style control and weight of strong verdicts.", ("win_rate",), ["style", "weight"]),
        "sensitivity": ("The effect of the place under each choice.", ("first_position_sensitivity",), ["choice"]),
    }
    tables = [(name, words, some(*ids), at, columns) for name, (words, ids, columns) in told.items()]
    return [table for table in tables if table[2]]


#: What a simulated judge has that is not told otherwise.
DEFAULTS = {"noise": 1.0, "tie": 0.4}
READ = (
    "In the simulator are utilities: what the first place is worth more than the second. On different answers the "
    "place competes with their quality, and a sharp judge shows less of the same habit than on two identical texts."
)


def planted(asked: Asked, estimates: Sequence[Estimate]) -> str:
    """Which place simulated judges were made to favour and what was found, as Markdown: see `planted_table`.

    A row a judge and candidate of identical texts (`identical_pair_effect`), then of different answers
    (`first_position_effect`).
    """
    return planted_table(asked, lambda: _rows(asked, estimates), confirmatory(estimates), READ)


def _rows(asked: Asked, estimates: Sequence[Estimate]) -> Iterator[Planted]:
    lasting = _lasting(asked)
    judges = {judge.name: judge for judge in asked.experiment.judges}
    for each in estimates:
        if "category" in each.where or each.where.get("judge") not in judges:
            continue
        judge, candidate = judges[each.where["judge"]], each.where.get("candidate", "")
        worth, first, second = implied(judge)
        row = (f"{judge.name}, {candidate}".removesuffix(", "), f"first place {worth:+g}" if worth else "0")
        if each.id == "identical_pair_effect":
            yield Planted("identical texts", *row, first - second, each)
        elif each.id == "first_position_effect" and (judge.name, candidate) in lasting:
            yield Planted("different answers", *row, lasting[judge.name, candidate], each)


def _lasting(asked: Asked) -> dict[tuple, float]:
    """By judge and candidate, how much more often the first wins in both orders than the second does."""
    wins: dict[tuple, dict[str, tuple[float, float]]] = {}
    for judgment in asked.judgments:
        trial = judgment.trial
        if trial.condition == "none" and not trial.request.repeat:
            one, two = asked.simulator.before_noise(trial.request)[0]
            known = (trait(judgment, "tie", DEFAULTS["tie"]), trait(judgment, "noise", DEFAULTS["noise"]))
            pair = (trial.judge.name, trial.where["candidate"], trial.question_id)
            wins.setdefault(pair, {})[trial.where["first"]] = (
                win_chance(one - two, *known),
                win_chance(two - one, *known),
            )
    both = ((pair[:2], [*each.values()]) for pair, each in wins.items() if len(each) == 2)
    return dict(mean_by((pair, one[0] * two[0] - one[1] * two[1]) for pair, (one, two) in both))


def implied(judge: Model) -> tuple[float, float, float]:
    """What the first place is worth to a simulated judge, and how often first and second win of two identical texts.

    >>> judge = Model("sim", "simulated", "sim-1", "gpt", traits={"primacy": [1.5, 0.5], "tie": 1.0})
    >>> [round(each, 4) for each in implied(judge)]
    [1.0, 0.5, 0.1192]
    """
    traits = {**DEFAULTS, **judge.traits}
    one, two = [*traits.get("primacy", ()), 0.0, 0.0][:2]
    tie, noise = max(0.0, traits["tie"]), traits["noise"]
    return one - two, win_chance(one - two, tie, noise), win_chance(two - one, tie, noise)
