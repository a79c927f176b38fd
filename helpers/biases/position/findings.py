"""What may be concluded of each judge of pairs, so that noise is never called a preference for a place."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from ...stats.standing import together
from ...types import Estimate, Model
from ...words import CardLine, Conclusion, Headline, sentence
from ...words.sentences import card_line, counted, gravest, lines, say
from ...words.sentences import headline as headline_of
from .. import protocol
from ..planted import Planted, mean_by, pair_traits, planted_table, win_chance
from .both_orders import LEVEL, comparisons, grid, pairs
from .measured import place

if TYPE_CHECKING:
    from ...run import Asked

#: What is said of flips where no order was asked twice.
NOISE = "; how often they differ by noise alone is not known (the same order was not asked twice)"
#: The comparison that a sentence is about.
COMPARISON = "{judge} on {candidate}"


conclusions = partial(protocol.conclusions, "position")


def contrasts(estimates: Sequence[Estimate]) -> list[Conclusion]:
    """What may be said of the confirmatory contrasts, one a judge and candidate."""
    found = conclusions(estimates, "first_position_effect")
    return [each for each in found if "category" not in each.estimate.where]


def finding(estimates: Sequence[Estimate]) -> str:
    """The bottom line, a sentence a judge and candidate: which place it favours, and what its other flips may be."""
    estimates = titled(estimates)
    found = contrasts(estimates)
    if not found:
        return "No candidate was judged against a baseline in both orders: nothing can be concluded."
    effects = conclusions(estimates, "first_position_effect")
    split = [each for each in effects if "category" in each.estimate.where and each.p < LEVEL]
    others = ("invalid_share", "primacy_share", "recency_share", "position_consistency", "excess_flip")
    beside = {(each.estimate.id, place(each.estimate.where)): each for each in conclusions(estimates, *others)
              if "category" not in each.estimate.where and not math.isnan(each.estimate.value)}  # fmt: skip
    choices = {(place(e.where), e.where["choice"]): e for e in estimates if e.id == "first_position_sensitivity"}
    points = []
    for each in found:
        at = place(each.estimate.where)
        mine = {id: beside[id, at] for id in others if (id, at) in beside}
        clauses = [say(mine[id]) for id in ("primacy_share", "recency_share") if id in mine and _sign(each)]
        clauses += [*_lost(each, mine, choices), *_ties(each, choices), *_categories(each, split)]
        if "position_consistency" in mine:
            noise = f"; {say(mine['excess_flip'])}" if "excess_flip" in mine else NOISE
            clauses.append(f"{say(mine['position_consistency'])}{noise}")
        points.append("; ".join([lines([each], COMPARISON)[:-1], *clauses]) + ".")
    tested = [each for each in found if each.test]
    # Where there are few to read a summary says nothing new.
    summary = [sentence(counted(tested), tested[0].estimate.data), ""] if len(tested) > 3 else []
    return "\n".join([*summary, *points])


def _sign(each: Conclusion) -> int:
    """The side that an effect is shown on: 1 the first place, -1 the second, 0 where nothing is shown."""
    return 0 if each.verdict != "bias" else 1 if each.estimate.value > 0 else -1


def _side(each: Estimate | None) -> int:
    """The side on which a number lies with its interval; 0 where that includes 0, and where there is no number."""
    ends = (math.nan,) if each is None else (each.value,) if math.isnan(each.low) else (each.low, each.high)
    return all(end > 0 for end in ends) - all(end < 0 for end in ends)


def _lost(each: Conclusion, mine: Mapping[str, Conclusion], choices: Mapping[tuple, Estimate]) -> list[str]:
    """What the verdicts that could not be read might do to the conclusion, if they were lost for what they said."""
    bounds = [choices.get((place(each.estimate.where), f"lost to {side}")) for side in ("first", "second")]
    sign, unread = _sign(each), mine.get("invalid_share")
    if unread is None or not unread.estimate.value:
        return []
    if sign and (against := bounds[sign > 0]) is not None and _side(against) != sign:
        return [f"{say(unread)}, which could undo that if they were lost for their verdicts"]
    if not sign and None not in bounds and any(map(_side, bounds)):
        ends = " to ".join(f"{100 * bound.value:+.1f}" for bound in reversed(bounds))
        return [f"{say(unread)}; were they lost for their verdicts, the effect could be anything from {ends} pp"]
    return []


def _ties(each: Conclusion, choices: Mapping[tuple, Estimate]) -> list[str]:
    """Whether pairs with a tie in one game lean to a place: a judge whose ties depend on the order shows it there."""
    full = choices.get((place(each.estimate.where), "one tie: full"))
    if not _side(full) or math.isnan(full.low) or _side(full) == _sign(each):
        return []
    side = "first" if full.value > 0 else "second"
    return [f"pairs with a tie in one game lean to the {side}: with these counted {full} (exploratory, uncorrected)"]


def _categories(each: Conclusion, split: Sequence[Conclusion]) -> list[str]:
    """The categories that lean to a place where all questions together do not, or favour the other one."""
    at, sign = place(each.estimate.where), _sign(each)
    return [
        f"but on {one.estimate.where['category']} questions: {say(one)}"
        for one in split
        if place(one.estimate.where) == at and not sign * one.estimate.value > 0
    ]


def identical_words(estimates: Sequence[Estimate]) -> str:
    """What each judge does with the same text in both slots, beside a good answer against a bad one."""
    found = conclusions(titled(estimates), "identical_pair_effect", "quality_gap_accuracy")
    shown = {place(each.estimate.where) for each in found if each.estimate.id == "identical_pair_effect"}
    return (
        lines((each for each in found if place(each.estimate.where) in shown), COMPARISON, inline=True)
        or "No judge was shown the same text twice."
    )


PLACE = "first position"
#: What is said of a judge over all its comparisons: id of the shares, measure.
SHARES = {"position_consistency": "both orders agree", "invalid_share": "unreadable"}


def card(estimates: Sequence[Estimate], vendors: Mapping[str, str] | None = None) -> list[CardLine]:
    """Of each judge which place it favours, how often both orders agree, and what could not be read.

    The place is that of the comparison with the gravest verdict by Holm's p over all comparisons of its source of data,
    of several the largest effect; the words say of how many it is one. Published evaluators that are one model under
    several prompts are one judge. `vendors` is not needed.
    """
    del vendors
    found = []
    for data in dict.fromkeys(each.data for each in estimates):
        mine = [each for each in estimates if each.data == data]
        judges: dict[str, list[Conclusion]] = {}
        for each in contrasts(mine):
            judges.setdefault(_judge(each.estimate.where), []).append(each)
        found += [_place_line(judge, several) for judge, several in sorted(judges.items())]
        # Controls and categories are other comparisons, or part of these.
        compared = {place(each.estimate.where) for several in judges.values() for each in several}
        parts = [each for each in mine if place(each.where) in compared and len(each.where) == len(place(each.where))]
        for id, measure in SHARES.items():
            found += protocol.share_lines("position", parts, id, measure, "comparisons", _judge)
    return found


def _judge(where: Mapping[str, str]) -> str:
    """Whose comparison it is: LLMBar's evaluators are named model/prompt."""
    return where["judge"].partition("/")[0] if where.get("source") == "LLMBar" else where["judge"]


def _place_line(judge: str, several: Sequence[Conclusion]) -> CardLine:
    line, at = card_line(judge, PLACE, several), gravest(several)[0].estimate.where
    here = f"on {at['candidate']}" if at["judge"] == judge else at["judge"]
    words = f"{line.words} ({'largest: ' * (len(several) > 1)}{here})"
    if len(several) > 1:
        first, second = (sum(_sign(each) == sign for each in several) for sign in (1, -1))
        words += f"; of {len(several)} comparisons {first} favour the first place, {second} the second"
    return replace(line, words=words)


def headline(estimates: Sequence[Estimate]) -> Headline | None:
    """How many comparisons favour a place, of estimates from one source of data.

    The largest effect that stands carries it, else the largest one. None where nothing was compared in both orders.
    """
    found = contrasts(estimates)
    at = [each.estimate.where for each in found]
    lost = [each for each in estimates if each.id == "invalid_share" and each.where in at]
    return headline_of(found, COMPARISON, unreadable=together(lost, "invalid_share", "", "comparisons").value)


#: What the place of an effect over all questions is called where categories are shown.
ALL = "all questions"


def titled(estimates: Sequence[Estimate]) -> list[Estimate]:
    """The estimates with the source in the candidate's name where it tells two comparisons apart, as figures need."""
    found = []
    for each in estimates:
        where = {key: value for key, value in each.where.items() if key != "source"}
        if "source" in each.where:
            each = replace(each, where=where | {"candidate": f"{where['candidate']} ({each.where['source']})"})
        found.append(each)
    return found


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
    """Of each comparison: how often the two orders do not mirror each other, and how much of that favours a place.

    What favours neither is a tie in one order alone.
    """
    ids = ("significant_bias", "significant_bias_published", "invalid_share", "primacy_share", "recency_share")
    read = [each for each in titled(estimates) if each.id in ids and "category" not in each.where]
    by = {id: {place(each.where) for each in read if each.id == id and each.value == each.value} for id in ids}
    kept = [each for each in read if all(place(each.where) in several for several in by.values())]
    return lines(conclusions(kept, *ids), COMPARISON, inline=True) or "No comparison has a readable pair."


def win_rows(estimates: Sequence[Estimate]) -> list[Estimate]:
    """The win rates over all categories, with the shares of unreadable pairs."""
    return [each for each in estimates if each.id in ("win_rate", "invalid_share") and "category" not in each.where]


def win_words(estimates: Sequence[Estimate]) -> str:
    """What style control changes, and where it could not be made."""
    rows = [each for each in win_rows(titled(estimates)) if each.where.get("weight") == "1"]
    if all(each.where["style"] == "raw" for each in rows):
        return "No style control: the texts of the answers are not known here (`answers` can name them)."
    shared = "Intervals of both share their verdicts: whether they differ cannot be read off them."
    return f"{lines(conclusions(rows, 'win_rate'), COMPARISON, inline=True)}\n\n{shared}"


READ = (
    "In the simulator are utilities: what the first place is worth more than the second. On different answers the "
    "place competes with their quality, and a sharp judge shows less of the same habit than on two identical texts."
)


def planted(asked: Asked, estimates: Sequence[Estimate]) -> str:
    """Which place simulated judges were made to favour and what was found, as Markdown: see `planted_table`.

    A row a judge and candidate of identical texts (`identical_pair_effect`), then of different answers
    (`first_position_effect`).
    """
    families = protocol.confirmatory("position", estimates)
    return planted_table(asked, lambda: _rows(asked, estimates), families, READ)


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
            lead, (_, *known) = one - two, pair_traits(trial.judge)
            pair = (trial.judge.name, trial.where["candidate"], trial.question_id)
            chances = (win_chance(lead, *known), win_chance(-lead, *known))
            wins.setdefault(pair, {})[trial.where["first"]] = chances
    both = ((pair[:2], [*each.values()]) for pair, each in wins.items() if len(each) == 2)
    return dict(mean_by((pair, one[0] * two[0] - one[1] * two[1]) for pair, (one, two) in both))


def implied(judge: Model) -> tuple[float, float, float]:
    """What the first place is worth to a simulated judge, and how often first and second win of two identical texts.

    >>> judge = Model("sim", "simulated", "sim-1", "gpt", traits={"primacy": [1.5, 0.5], "tie": 1.0})
    >>> [round(each, 4) for each in implied(judge)]
    [1.0, 0.5, 0.1192]
    """
    worth, *known = pair_traits(judge)
    return worth, win_chance(worth, *known), win_chance(-worth, *known)
