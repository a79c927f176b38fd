"""The bottom line of an analysis in sentences: what was found, how sure it is, and what could not be computed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from helpers import frames
from helpers.analyze import own_vendor
from helpers.analyze.analysis import Analysis, analyze
from helpers.analyze.held import STYLES
from helpers.analyze.measuring import CONTROLS
from helpers.analyze.needs import TESTS
from helpers.analyze.saying_places import MOST_LINES, farthest_first, limited, places
from helpers.analyze.supported import COMPUTED, MISSING
from helpers.biases import hinting, top_choice
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
