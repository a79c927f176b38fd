"""The bottom line of an analysis in sentences: what was found, how sure it is, and what could not be computed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from helpers import frames
from helpers.analyze import own_vendor
from helpers.analyze.analysis import CONTROLS, Analysis, analyze
from helpers.analyze.held import STYLES
from helpers.analyze.needs import COMPUTED, MISSING, TESTS
from helpers.analyze.placing import EVERYBODY
from helpers.biases import hinting, position, top_choice
from helpers.biases.position.clauses import NOISE
from helpers.types import Estimate
from helpers.words import display_name, plain

#: So many names of numbers that are not computed.
MOST_NAMES = 5
#: Numbers of a condition that stand elsewhere.
BESIDE = ("unreadable_share", "change_rate_repeat", "loss_change")
#: Keys without which a place says nothing.
KEYED = ("turn", "hint")
COUNTED = "self_bias_as_counted"
#: What no column of a file could mend.
NEVER = tuple(TESTS[name][1] for name in ("published", "people", "asked", "model"))
#: Numbers that are told one a line, with the words before them.
TOLD = {
    "first_place_share": "the answer shown first wins, of verdicts that name a winner (place and quality together "
    "unless orders were drawn by lot or both were asked)",
    "longer_win_rate": "the longer answer wins (length and quality together)",
    "first_place_score_effect": "points more for the answer shown first, over both orders",
    "gold_accuracy": "right, by the gold labels",
    "score_error": "above the gold score on average",
    "agreement_winners": "agreement of judges on winners, Krippendorff's alpha",
    "raw_agreement_winners": "agreement of judges on winners, chance included",
    "agreement_scores": "agreement of judges on scores, Krippendorff's alpha",
    "both_order_inconsistent": "verdicts whose two orders disagreed",
    COUNTED: "own first places as their source counts them, judgments taken as independent",
}
RANKED = {
    "candidate_win_rate": "win rates, over all opponents",
    "candidate_score_mean": "mean scores",
    "candidate_top1_rate": "first places",
}


def summary(analysis: Analysis) -> str:
    """The whole of it as Markdown: data, findings with intervals, and which numbers are missing for want of what."""
    mute = frames.unreadable_words(analysis.losses)
    notes = [*([mute] if mute else []), *conditions(analysis), *analysis.notes]
    parts = [head(analysis), *(f"- {note}" for note in notes), "", "## Found", "", *findings(analysis)]
    return "\n".join([*parts, "", "## Not computed", "", *absent(analysis)])


def told(source: str | None) -> str:
    """The summary of a file or folder of verdicts, for a notebook; how to have one where none is named."""
    if source is None:
        return "No verdicts of your own were given (`verdicts = None`)."
    return summary(analyze(source)).replace("\n## ", "\n### ")


def head(analysis: Analysis) -> str:
    """What the file holds, in one line."""
    held, losses = analysis.held, analysis.losses
    lost = int((losses["unreadable"] * losses["judgments"]).round().sum())
    frame = held.frame
    share = lost / max(1, analysis.judgments)
    return (
        f"**{plain(held.name)}** ({held.format}): {_count(analysis.judgments, 'judgment')} "
        f"({STYLES[held.style]}) by {_count(frame['judge'].nunique(), 'judge')} on "
        f"{_count(frame['question_id'].nunique(), 'question')}; {lost:,} ({share:.1%}) could not be read."
    )


def conditions(analysis: Analysis) -> list[str]:
    """Of which condition the numbers are that name none, where it is not the plain one."""
    found = analysis.held.frame["condition"].astype(str).value_counts()
    names = [name for name in found.index[found > 0] if name not in CONTROLS]
    if not names or "none" in names:
        return []
    if len(names) > 1:
        return [f"No condition is called none: numbers without a condition are of {plain(names[0])}."]
    return [f"All verdicts are of the condition {plain(names[0])}, and so is every number here."]


def findings(analysis: Analysis) -> list[str]:
    """The sentences: of the main condition, then of each other one under its name."""
    lines = list(_of(analysis, [each for each in analysis.estimates if "condition" not in each.where]))
    several = len({each.where.get("condition") for each in analysis.estimates if each.id == "first_position_effect"})
    if several > 1:
        lines += ["", f"{several} conditions: each p is corrected for its own condition alone, not for all of them."]
    for name in dict.fromkeys(each.where["condition"] for each in analysis.estimates if "condition" in each.where):
        here = [
            replace(each, where={k: v for k, v in each.where.items() if k != "condition"})
            for each in analysis.estimates
            if each.where.get("condition") == name and each.id not in BESIDE
        ]
        if here:
            lines += ["", f"### Condition {plain(name)}", "", *_of(analysis, here)]
    return lines or ["Nothing could be measured."]


def _of(analysis: Analysis, estimates: Sequence[Estimate]) -> Iterator[str]:
    yield from places(estimates)
    if analysis.held.style == "ranking":
        yield from _ranked(analysis, estimates)
    yield from own_vendor.sentences(estimates)
    for id, words in TOLD.items():
        some = farthest_first([each for each in estimates if each.id == id and "category" not in each.where])
        if len(some) == 1:
            yield f"- {_who(some[0])}{words}: {_sure(some[0])}."
        elif some:
            yield f"- {words}:"
            yield from limited([f"  - {_who(each)}{_sure(each)}." for each in some], "  ")
    for id, words in RANKED.items():
        yield from _table(estimates, id, words)


def _ranked(analysis: Analysis, estimates: Sequence[Estimate]) -> Iterator[str]:
    blind = [each for each in estimates if "hint" not in each.where]
    if any(each.id == "self_preference_logit" for each in blind):
        yield top_choice.finding(blind)
        yield top_choice.naive_against_defended(blind)
    if any(each.id == "position_effect" for each in blind):
        yield f"- {top_choice.positions(blind)}"
    if {"raw_agreement", "agreement_top1", "agreement_ranks"} <= {each.id for each in blind}:
        yield f"- {top_choice.agreement_words(blind)}"
    if any(each.id == "hint_effect" for each in estimates):
        yield hinting.finding(estimates, analysis.margin_pp)


def _table(estimates: Sequence[Estimate], id: str, words: str) -> Iterator[str]:
    """Candidates from best to worst, by all judges where that is told, else judge by judge."""
    some = [each for each in estimates if each.id == id and each.value == each.value]
    whole = [each for each in some if "judge" not in each.where]
    for judge in [None] if whole else list(dict.fromkeys(each.where["judge"] for each in some))[:3]:
        here = whole or [each for each in some if each.where["judge"] == judge]
        here = sorted(here, key=lambda each: -each.value)
        told = ", ".join(f"{plain(each.where['candidate'])} {each}" for each in here[:MOST_LINES])
        more = f" and {len(here) - MOST_LINES} more" if len(here) > MOST_LINES else ""
        yield f"- {f'{plain(judge)}: ' if judge else ''}{words}: {told}{more}."


def _who(each: Estimate) -> str:
    names = {key: display_name(value) if key == "vendor" else plain(value) for key, value in each.where.items()}
    told = ", ".join(f"{key} {value}" if key in KEYED and value != "all" else value for key, value in names.items())
    return f"{told}: " if told else ""


def _sure(each: Estimate) -> str:
    why = "" if each.low == each.low else f", {each.method}"
    # Counts of a source are of judgments; on how many questions they are it does not say.
    questions = "" if each.id == COUNTED else f" on {_count(each.clusters, 'question')}"
    return f"{each} (n = {each.n:,}{questions}{why})"


def absent(analysis: Analysis) -> list[str]:
    """Which declared numbers could not be computed, by what is missing; each reason once."""
    status = analysis.status
    there = set(status.loc[status["status"] == COMPUTED, "id"])
    missing = status[(status["status"] == MISSING) & ~status["id"].isin(there)]
    never = missing["why"].isin(NEVER)
    lines = [
        f"{int((status['status'] == COMPUTED).sum())} of {len(status)} declared numbers are computed; estimands.csv "
        f"lists all. {int(never.sum())} are of no file of verdicts (but of published counts, people's votes or a whole "
        "experiment). The others, by what they miss:",
        "",
    ]
    # What a column would mend comes first.
    groups = sorted(missing[~never].groupby("why", sort=False), key=lambda each: not each[0].startswith("column"))
    for why, rows in groups:
        names = list(dict.fromkeys(rows["id"]))
        more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES + 1 else ""
        lines.append(f"- {why}: {', '.join(names[: MOST_NAMES if more else None])}{more}")
    return lines


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


#: More lines of one kind are counted and left to the tables; of single comparisons, where a judge's whole is told,
#: fewer.
MOST_LINES, MOST_SINGLE = 12, 5
#: What these are where there is nothing; those farthest from it stand first, should there be too many to tell.
NOTHING = {"first_place_share": 0.5, "longer_win_rate": 0.5, "score_error": 0.0, "first_position_effect": 0.0}
#: Numbers that no sentence about places needs, and of which there may be thousands.
UNSAID = ("win_rate", "first_position_sensitivity", "flip_by_gap", "candidate_win_rate")


def places(estimates: Sequence[Estimate]) -> Iterator[str]:
    """Which place each judge favours: over all its pairs, then by candidate while those can be read."""
    estimates = [each for each in estimates if each.id not in UNSAID]
    whole = [each for each in estimates if set(each.where) - {"category"} == {"judge"}]
    whole = [replace(each, where={**each.where, "candidate": EVERYBODY}) for each in whole]
    single = [each for each in estimates if {"judge", "candidate"} <= set(each.where)]
    told = [
        position.finding(farthest_first(some)).split("\n")
        if any(each.id == "first_position_effect" for each in some)
        else []
        for some in (whole, single)
    ]
    # What is true of every line is said once.
    often = sum(NOISE in line for lines in told for line in lines) > 1
    most = MOST_LINES
    for lines in told:
        if lines:
            yield from loudest([line.replace(NOISE, "") if often else line for line in lines], most)
            yield ""
            most = MOST_SINGLE
    if often:
        yield f"How often the two orders differ is no bias by itself{NOISE}."
        yield ""
    if any(each.id == "identical_pair_effect" for each in single):
        yield from limited(position.identical_words(single).split("\n"))


def farthest_first(estimates: Sequence[Estimate]) -> list[Estimate]:
    """Those of NOTHING by how far they are from it, before all others, which keep their order."""

    def near(each: Estimate) -> float:
        away = abs(each.value - NOTHING[each.id]) if each.id in NOTHING else math.nan
        return -away if away == away else math.inf

    return sorted(estimates, key=near)


def limited(lines: Sequence[str], indent: str = "") -> list[str]:
    """The lines, or where they are too many the first, with the number of the others."""
    if len(lines) <= MOST_LINES + 2:
        return list(lines)
    return [*lines[:MOST_LINES], f"{indent}- ... and {len(lines) - MOST_LINES} more: the tables hold them."]


def loudest(lines: Sequence[str], most: int) -> list[str]:
    """The lines, or where they are too many those that conclude something, with the number of the others."""
    items = [line for line in lines if line.startswith("- ")]
    if len(items) <= most + 2:
        return list(lines)
    loud = [line for line in items if "**favours" in line or "**leans" in line]
    shown = loud[:most]
    which = "more" if len(loud) > most else "more without a conclusion"
    rest = f"- ... and {len(items) - len(shown)} {which}: the tables hold them."
    return [*(line for line in lines if not line.startswith("- ")), *shown, rest]
