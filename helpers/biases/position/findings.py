"""What may be concluded of judges of pairs, asked or published, so that noise is no preference for a place."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd

from ...stats.intervals import MIN_CLUSTERS
from ...stats.standing import together
from ...types import Estimate, Model
from ...words import (
    CardLine,
    Conclusion,
    Headline,
    card_line,
    clause,
    counted,
    gravest,
    headline as headline_of,
    lines,
    say,
    sentence,
)
from ...words.numbers import text_of
from .. import protocol
from ..planted import Asked, Planted, mean_by, pair_traits, planted_table, win_chance
from .both_orders import LEVEL, cell_rows, comparisons, grid, pairs
from .measured import Place, place
from .published import ANALYZER, ARENA, LLMBAR, NOTEBOOK, Source, sources

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
    under = protocol.pick(estimates, "first_position_sensitivity")
    choices = {(place(each.where), each.where["choice"]): each for each in under}
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

    The place is that of the comparison with the gravest verdict, of several the largest effect. Published evaluators
    that are one model under several prompts are one judge.
    """
    judges = protocol.by_judge(contrasts(estimates), _judge)
    found = [_place_line(judge, several) for judge, several in judges.items()]
    # Controls and categories are other comparisons, or part of these.
    compared = {place(each.estimate.where) for several in judges.values() for each in several}
    parts = [each for each in estimates if place(each.where) in compared and len(each.where) == len(place(each.where))]
    recent = protocol.by_judge(conclusions(estimates, "released_position_effect"))
    found += [card_line(judge, PLACE, several, "{source}") for judge, several in recent.items()]
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
    """How many comparisons favour a place, of estimates from one source of data; None where nothing was compared."""
    found = contrasts(estimates)
    at = [each.estimate.where for each in found]
    lost = [each for each in protocol.pick(estimates, "invalid_share") if each.where in at]
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
    """The `cell_rows` of each comparison (source, judge, candidate), condition none; from a games frame."""
    table = pairs(frame)
    found = []
    for where, rows in comparisons(table[table["condition"] == "none"]):
        place = {"source": rows["source"].iloc[0], "judge": where["judge"], "candidate": where["candidate"]}
        found.append(cell_rows(grid(rows), data, **place))
    return pd.concat(found, ignore_index=True)


def by_category(estimates: Sequence[Estimate]) -> list[Estimate]:
    """The effects by category (of a run on one category: over all), with the shares of unreadable pairs."""
    effects = protocol.pick(estimates, "first_position_effect")
    if not any("category" in each.where for each in effects):
        effects = [replace(each, where={**each.where, "category": ALL}) for each in effects]
    return [*effects, *protocol.pick(estimates, "invalid_share")]


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
    return [each for each in protocol.pick(estimates, "win_rate", "invalid_share") if "category" not in each.where]


def win_words(estimates: Sequence[Estimate]) -> str:
    """What style control changes, and where it could not be made."""
    rows = protocol.pick(win_rows(titled(estimates)), weight="1")
    if all(each.where["style"] == "raw" for each in rows):
        return "No style control: the texts of the answers are not known here (`answers` can name them)."
    shared = "Intervals of both share their verdicts: whether they differ cannot be read off them."
    return f"{lines(conclusions(rows, 'win_rate'), COMPARISON, inline=True)}\n\n{shared}"


def _rows(asked: Asked, estimates: Sequence[Estimate]) -> Iterator[Planted]:
    """A row a judge and candidate, of identical texts or of different answers."""
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


planted = partial(planted_table, "position", rows=_rows)


def _lasting(asked: Asked) -> dict[tuple, float]:
    """By judge and candidate, how much more often the first wins in both orders than the second does."""
    wins: dict[tuple, dict[str, tuple[float, float]]] = {}
    for judgment in asked.judgments:
        trial = judgment.trial
        if trial.condition == "none" and not trial.request.repeat:
            one, two = asked.simulator.before_noise(trial.request)[0]
            lead, (_, *traits) = one - two, pair_traits(trial.judge)
            pair = (trial.judge.name, trial.where["candidate"], trial.question_id)
            chances = (win_chance(lead, *traits), win_chance(-lead, *traits))
            wins.setdefault(pair, {})[trial.where["first"]] = chances
    both = ((pair[:2], [*each.values()]) for pair, each in wins.items() if len(each) == 2)
    return dict(mean_by((pair, one[0] * two[0] - one[1] * two[1]) for pair, (one, two) in both))


def implied(judge: Model) -> tuple[float, float, float]:
    """What the first place is worth to a simulated judge, and how often first and second win of two identical texts.

    >>> judge = Model("sim", "simulated", "sim-1", "gpt", traits={"primacy": [1.5, 0.5], "tie": 1.0})
    >>> [round(each, 4) for each in implied(judge)]
    [1.0, 0.5, 0.1192]
    """
    worth, *traits = pair_traits(judge)
    return worth, win_chance(worth, *traits), win_chance(-worth, *traits)


# --- published comparisons --------------------------------------------------------------------------------------------


def published_finding(published: Mapping[str, Any], estimates: Sequence[Estimate]) -> str:
    """How often published verdicts change with the order, which place that favours, and what counts leave open.

    `published` is published/counts.yaml, `estimates` what `from_published` makes of it. Every comparison stands for
    itself; Holm's correction runs over all of them that could be tested, and over nothing that was asked here.
    """
    every = sources(published)
    arena, analyzer, llmbar = ([each for each in every if each.block == name] for name in (ARENA, ANALYZER, LLMBAR))
    means = [each for each in arena if each.mean_of > 1]
    single = [each for each in arena if each.mean_of == 1 and each.condition == "none"]
    of_means = " or ".join(map(str, sorted({each.mean_of for each in means}))) or "several"
    found = conclusions(estimates, *_SINGLE, "identical_pair_effect", "both_order_inconsistent")
    by_place = {(each.estimate.id, place(each.estimate.where)): each for each in found}
    tests = sum(bool(each.test) for (id, _), each in by_place.items() if id == "first_position_effect")
    counts = [each for each in every if each.block in (NOTEBOOK, ANALYZER)]
    same = [each for each in arena if ("identical_pair_effect", place(each.where)) in by_place]
    turned = [each for each in found if each.estimate.where.get("turn") == "all"]
    points = [
        _group(f"Arena-Hard, {len(single)} files of a single judge", single, by_place),
        _group(f"Arena-Hard, {len(means)} files that hold the mean of {of_means} judges", means, by_place),
        *(_line(_name(place(each.where)), each, by_place, *_SINGLE) for each in counts),
        _group("LLMBar, where no tie is allowed", llmbar, by_place),
        *(_line(f"{each.judge} on the same text twice", each, by_place, "identical_pair_effect") for each in same),
        *_flips(estimates),
        *(lines([each], f"**{{judge}}** ({{source}}, n = {each.estimate.n})") for each in turned),
    ]
    head = (
        f"{len(arena)} files of Arena-Hard verdicts ({sum(each.lines for each in arena)} lines), a notebook's counts, "
        f"{len(analyzer)} judges of Position-Bias-Analyzer and {len(llmbar)} evaluators with their prompts of LLMBar, "
        f"each a comparison of its own. p are Holm's over the {tests} that could be tested."
    )
    readings = f"{_readings(arena, estimates)} {_read_again(published['texts_read_again'])}"
    shared = {"LLMBar": llmbar, "the means of several judges": means, "the analyzer": analyzer}
    open_ = text_of("position", "unsettled").format(
        means=len(means),
        short=sum(each.lines < each.questions for each in arena),
        files=len(arena),
        shared=", ".join(f"{name}: {len(several)}" for name, several in shared.items()),
    )
    return "\n\n".join([head, "\n".join(points), readings, open_])


#: What is said of a comparison that stands for itself.
_SINGLE = ("first_position_effect", "primacy_share", "recency_share", "position_consistency", "consistent_answer_rate")
Conclusions = Mapping[tuple, Conclusion]


def _flips(estimates: Sequence[Estimate]) -> list[str]:
    """How flips and directions go together over comparisons."""
    at = {each.id: each for each in estimates}
    if "flip_correlation" not in at:
        return []
    ranks, side = at["flip_correlation"], at["one_sided_share"]
    return [
        f"- **Flips and directions** go together over {ranks.n} comparisons with a flip (Spearman {ranks}), as a flip "
        f"rate bounds how far a place can be favoured; but of the flips of the median comparison only {side} are "
        "one-sided: the rest go both ways, or are noise. Intervals take comparisons as independent."
    ]


def _group(title: str, group: Sequence[Source], by_place: Conclusions) -> str:
    """Flips and directions of comparisons of one kind, those with the largest effects by name."""
    effects = {at: by_place.get(("first_position_effect", at)) for at in (place(each.where) for each in group)}
    enough = {at: each for at, each in effects.items() if each and each.estimate.n >= MIN_CLUSTERS}
    if not enough:
        return f"- **{title}**: none with {MIN_CLUSTERS} readable pairs."
    flips = [1 - by_place["position_consistency", at].estimate.value for at in enough]
    middle, tested = statistics.median(flips), [each for each in enough.values() if each.test]
    least = [each.smallest for each in tested if each.verdict != "bias"]
    power = f" (found in 80 % of such runs: {protocol.span(least, 'pp')})" if least else ""
    ends = [pick(enough, key=lambda at: enough[at].estimate.value) for pick in (min, max)]
    shown = " to ".join(f"{enough[at].estimate} ({_name(at)})" for at in dict.fromkeys(ends))
    return (
        f"- **{title}**: the two orders disagree on the outcome in {protocol.span(flips)} of readable pairs (median "
        f"{protocol.percent(middle)}; {len(enough)} with at least {MIN_CLUSTERS} of them); {counted(tested)}"
        f"{power}. First twice minus second twice: {shown}."
    )


def _name(at: Place) -> str:
    judge, candidate, source = at
    return judge if source == "LLMBar" else f"{judge} on {candidate}"


def _line(name: str, each: Source, by_place: Conclusions, *ids: str) -> str:
    """A comparison with all that is said of it."""
    title = {NOTEBOOK: "the notebook", ANALYZER: "Position-Bias-Analyzer"}.get(each.block, f"{each.lines} lines")
    found = [by_place[id, at] for id in ids for at in (place(each.where),) if (id, at) in by_place]
    return f"- **{name}** ({title}, n = {found[0].estimate.n}): {'; '.join(map(say, found))}."


def _readings(arena: Sequence[Source], estimates: Sequence[Estimate]) -> str:
    """Where the published rule and the labels tell different stories, by how much they do."""
    by_place, apart = {(each.id, place(each.where)): each for each in estimates}, []
    for each in arena:
        at = place(each.where)
        stored, read = (by_place[f"significant_bias{end}", at] for end in ("_published", ""))
        lost = round(by_place["invalid_share", at].value * each.lines)
        other = sum(each.other_strings.values())
        if lost or other:
            why = [f"{lost} of {each.lines} lines unreadable"] * bool(lost)
            why += [f"{other} with strings that are no labels as stored"] * bool(other)
            readable = f"{protocol.percent(read.value)} of {read.n} readable pairs" if read.n else "no readable pair"
            clause = f"{_name(at)}: {protocol.percent(stored.value)} against {readable} ({', '.join(why)})"
            apart.append((-abs(stored.value - read.value) if read.n else -1.0, clause))
    others = f"; in the others that class holds {'; '.join(clause for _, clause in sorted(apart))}" if apart else ""
    return (
        "**Two readings.** The published rule reads the strings as stored and calls *significant bias* whatever it "
        f"cannot read. In {len(arena) - len(apart)} of {len(arena)} files that changes nothing{others}."
    )


def _read_again(block: Mapping[str, Any]) -> str:
    """Whether the judges' own texts say what was stored of them, every disagreement by name."""
    other = [
        f"{row['judge']}: {row['texts']} stored as {row['stored']}, written {row['text']}" for row in block["other"]
    ]
    others = f"; the others are {'; '.join(other)}" if other else ""
    return f"Of {block['texts']} texts of judges read again {block['as_stored']} give the label as stored{others}."


# --- judges by the month of their release -----------------------------------------------------------------------------

#: Judges of this year on are recent.
SINCE = "2025"


def released_title(estimates: Sequence[Estimate]) -> str:
    """What the comparisons of recent judges show, as a title: how many favour which place."""
    found = conclusions(estimates, "released_position_effect")
    recent = [c for c in found if c.estimate.where["released"] >= SINCE and not math.isnan(c.estimate.value)]
    first, second = (sum(_sign(each) == sign for each in recent) for sign in (1, -1))
    return (
        f"Of {len(recent)} comparisons by judges released since {SINCE}, {first} favour{'s' * (first == 1)} the first "
        f"place and {second} the second"
    )


def released_finding(block: Mapping[str, Any], estimates: Sequence[Estimate]) -> str:
    """Which place each judge of the block favours, source by source, with what was asked there and when."""
    found = conclusions(estimates, "released_position_effect")
    points = [f"**{released_title(estimates)}.** {text_of('position', 'released')}", ""]
    for name, source in block["counts"].items():
        judged: dict[str, list[str]] = {}
        for each in found:
            where, number = each.estimate.where, each.estimate
            if where["source"] == name:
                about = "" if math.isnan(number.value) else f" {number}"
                judged.setdefault(clause([each]), []).append(f"{where['judge']} ({where['released']}){about}")
        changed = [each.value for each in protocol.pick(estimates, "released_flip_rate", source=name)]
        clauses = [f"*{words}*: {', '.join(names)}" for words, names in judged.items()]
        clauses += [f"verdicts change with the order in {protocol.span(changed)} of pairs"] if changed else []
        clauses += [source["beside"]] if "beside" in source else []
        asked = f"{source['month']}; {source['asked']}; {source['compared']}"
        points.append(f"- **{name}** ({asked}): {'; '.join(clauses)}.")
    return "\n".join(points)
