"""What experiment 3 says of each judge, in sentences and tables, and what was put into simulated ones."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import log
from statistics import fmean
from typing import TYPE_CHECKING

from helpers.biases.planted import Planted, planted_table, win_chance
from helpers.biases.self_preference.measured import (
    LEVEL,
    PRIMARY,
    confirmatory,
    corrected,
    family,
    of,
    primary_dose,
    smallest_detectable,
)
from helpers.stats.intervals import MIN_CLUSTERS
from helpers.stats.power import detectable_effect
from helpers.stats.standing import standing
from helpers.stats.tests import benjamini_hochberg
from helpers.types import Estimate
from helpers.words import CardLine, Headline, listed, p_text, sentence

if TYPE_CHECKING:
    from helpers.run import Asked

HARMFUL, GAP, HIDING = "harmful self-preference", "evaluator-quality gap", "hidden authorship"
AGREEMENT, UNREADABLE = "both orders agree", "unreadable"


def card(estimates: Sequence[Estimate], vendors: Mapping[str, str] | None = None) -> list[CardLine]:
    """Of each judge how it treats its own wrong answers, whether both orders agree, and what could not be read.

    The rate of votes for its own wrong answer has no value that would mean no bias (a weak judge has a high one), so it
    is described. The evaluator-quality gap (same option named) is exploratory, by Benjamini and Hochberg over judges,
    and a hint at most; what hiding the authorship does is the confirmatory family, by Holm over all judges. Published
    counts give the rate alone: of each judge the one from most pairs before an edit. `vendors` is not needed.
    """
    del vendors
    lines = []
    for data in dict.fromkeys(each.data for each in estimates):
        mine = [each for each in estimates if each.data == data]
        lines += [*_published(mine), *_harmful(mine), *_gaps(mine), *_hiding(mine)]
        for id, measure, words in (
            ("retention", AGREEMENT, "names the same winner in both orders in this share of pairs"),
            ("unreadable_share", UNREADABLE, "gives replies without a readable verdict in this share"),
        ):
            some = [each for each in mine if each.id == id and set(each.where) == {"judge"}]
            lines += [CardLine(e.where["judge"], measure, e, "described", words) for e in some]
    return lines


def _published(estimates: Sequence[Estimate]) -> list[CardLine]:
    rates = [e for e in estimates if e.id == "harmful_self_preference_rate" and e.where.get("phase") == "before"]
    found: dict[str, Estimate] = {}
    for each in rates:
        judge = each.where.get("judge")
        if judge and (judge not in found or each.n > found[judge].n):
            found[judge] = each
    words = "picks its own wrong answer in this share, against {opponent} ({run}, {records}); a weak judge does too"
    return [CardLine(j, HARMFUL, e, "described", words.format(**e.where)) for j, e in sorted(found.items())]


def _harmful(estimates: Sequence[Estimate]) -> list[CardLine]:
    words = "votes for its own wrong answer in this share; a weak judge does too"
    rates = [each for each in estimates if each.id == "naive_harmful_rate"]
    return [CardLine(e.where["judge"], HARMFUL, e, "described", words) for e in rates if not math.isnan(e.value)]


def _gaps(estimates: Sequence[Estimate]) -> list[CardLine]:
    gaps = [e for e in estimates if e.id == "evaluator_quality_gap" and e.where["stratum"] == PRIMARY]
    tested = max(1, sum(not math.isnan(e.p) for e in gaps))
    lines = []
    for each, p in zip(gaps, map(float, benjamini_hochberg([e.p for e in gaps])), strict=True):
        verdict = standing(each, p, confirmatory=False)
        than = "than for another author's that names the same option"
        words = {
            "hint": f"seems to vote {'more' if each.value > 0 else 'less'} for its own wrong answer {than}",
            "not shown": f"does not measurably vote more for its own wrong answer {than}",
            "untold": f"cannot be told from a judge that is merely wrong ({each.method})",
        }[verdict]
        least = detectable_effect(each.se, each.df, level=LEVEL / tested)
        lines.append(CardLine(each.where["judge"], GAP, each, verdict, words, p, least))
    return lines


def _hiding(estimates: Sequence[Estimate]) -> list[CardLine]:
    p, least, lines = corrected(estimates), smallest_detectable(estimates), []
    for judge, each in family(estimates).items():
        verdict = "untold" if math.isnan(p[judge]) else standing(each, p[judge])
        more = "more" if each.value > 0 else "less"
        words = {
            "bias": f"turns {more} from its own wrong answer than other judges do when that answer is edited",
            "hint": f"seems to turn {more} from its own wrong answer than other judges do when that answer is edited",
            "not shown": "shows no measurable effect of hiding that it wrote the wrong answer",
            "untold": f"was not tested for the effect of hiding its authorship ({each.method})",
        }[verdict]
        lines.append(CardLine(judge, HIDING, each, verdict, words, p[judge], least[judge]))
    return lines


def headline(estimates: Sequence[Estimate]) -> Headline | None:
    """Whether hiding the authorship turns judges from their own wrong answers, of estimates from one source of data.

    The contrast with the smallest p after correction carries it, without tests the one from most votes. Published
    reports have no control: the change from most pairs carries it, and the sentence gives the span of all. None where
    nothing was edited.
    """
    changes = [e for e in estimates if e.id == "published_change" and e.where["rate"] == "harmful_self_preference_rate"]
    if changes:
        ends = [100 * pick(e.value for e in changes) for pick in (min, max)]
        said = (
            f"once it is edited, judges pick their own wrong answer {ends[0]:+.1f} to {ends[1]:+.1f} pp more often, by "
            "what is compared; the unedited pairs were not asked again, so what the edit does is not known"
        )
        return Headline(sentence(said, changes[0].data), max(changes, key=lambda e: e.n))
    each, lines = family(estimates), {line.judge: line for line in _hiding(estimates)}
    if not each:
        return None
    first = min(lines.values(), key=lambda x: (2.0 if math.isnan(x.p) else x.p, -x.estimate.n))
    kinds = {v: [j for j, x in lines.items() if x.verdict == v] for v in ("bias", "hint", "not shown", "untold")}
    told = []
    for verdict, verb in (("bias", "turn"), ("hint", "seem to turn")):
        for sign, more in ((1, "more"), (-1, "less")):
            names = [j for j in kinds[verdict] if sign * each[j].value > 0]
            if names:
                told.append(f"{listed(names)} {verb} {more} from edited wrong answers of their own than others do")
    if kinds["not shown"]:
        told.append(f"no effect of hiding the authorship is shown of {listed(kinds['not shown'])}")
    if kinds["untold"]:
        every = "any judge" if len(kinds["untold"]) == len(lines) else listed(kinds["untold"])
        why = ""
        if len(kinds["untold"]) == len(lines):
            most = max((e.clusters for e in each.values()), default=0)
            why = f" ({most} article{'' if most == 1 else 's'} with own wrong answers at most)"
        told.append(f"what hiding the authorship does cannot be told of {every}{why}")
    said = "; ".join(told)
    return Headline(sentence(said, first.estimate.data), first.estimate)


def _who(each: Estimate) -> str:
    """A simulated number is never mistaken for a real one, even in a quotation."""
    return "SIMULATED: " if each.data == "simulated" else ""


def few(estimates: Sequence[Estimate]) -> str:
    """What so few articles cannot show; "" where there are enough for intervals."""
    shares = [each for each in estimates if each.id == "unreadable_share"]
    most = max((each.clusters for each in shares), default=0)
    if not shares or most >= MIN_CLUSTERS:
        return ""
    return (
        f"The questions are on {most} article{'' if most == 1 else 's'}. Questions on one article are no independent "
        f"evidence, so there are no intervals ({MIN_CLUSTERS} articles are the least), no test and no "
        "conclusion."
    )


def gap_words(estimates: Sequence[Estimate]) -> str:
    """Of each judge: the naive rate, and what is left of it beside the same belief and beside the same text."""
    lines, gaps = [], [e for e in estimates if e.id == "evaluator_quality_gap" and e.where["stratum"] == PRIMARY]
    adjusted = dict(zip([e.where["judge"] for e in gaps], benjamini_hochberg([e.p for e in gaps]), strict=True))
    for each in gaps:
        judge = each.where["judge"]
        naive, text = (
            of(estimates, "naive_harmful_rate", judge=judge),
            of(estimates, "same_text_other_judges", judge=judge),
        )
        told = f"- {_who(each)}{judge} votes for its own wrong answer in {naive}"
        if math.isnan(each.value):
            told += f"; how it votes on other authors' answers of the same option is not known ({each.method})"
        else:
            p = adjusted[judge]
            said = "" if math.isnan(p) else f" (p {p_text(p)})"
            told += f"; minus its votes for another author's answer of the same option: {each}{said}"
            if p < LEVEL:
                told += f": its own answer seems to count for **{'more' if each.value > 0 else 'less'}**"
            elif not math.isnan(p):
                least = detectable_effect(each.se, each.df)
                told += (
                    ": no measurable difference to a judge that is merely wrong (80 % power, uncorrected, needs "
                    f"{100 * least:.0f} pp)"
                )
        if text is not None and not math.isnan(text.value):
            told += f"; minus other judges' votes for the same texts: {text}"
        lines.append(f"{told}.")
    if not lines:
        return "No judge answered a question wrongly that others answered right: there is nothing to defend."
    tested = any(p == p for p in adjusted.values())
    return "\n".join([*lines, "", f"Exploratory{'; p by Benjamini and Hochberg over the judges' if tested else ''}."])


def effect_words(estimates: Sequence[Estimate]) -> str:
    """What the primary contrast could have found, and how the effect goes with the dose."""
    p, least = corrected(estimates), smallest_detectable(estimates)
    lines = []
    for judge, each in family(estimates).items():
        found = [e for e in estimates if e.id == "obfuscation_effect" and e.where["judge"] == judge]
        doses = "; ".join(f"{e.where['dose']} words {e}" for e in found if e.where["dose"].isdigit())
        told = f"- {_who(each)}{judge}, in logits: {doses or 'no dose could be compared'}"
        if not math.isnan(p[judge]):
            told += f". At the primary dose of {primary_dose(estimates)} words, 80 % power needs {least[judge]:.2f}"
        lines.append(f"{told}.")
    return "\n".join(lines) or "No own wrong answer was edited and judged again."


def recognition_words(estimates: Sequence[Estimate]) -> str:
    """How well judges know their own answers, unedited and at the largest dose."""
    lines = []
    for each in estimates:
        if each.id != "recognition_accuracy" or each.where["dose"] != "0":
            continue
        judge = each.where["judge"]
        balanced = of(estimates, "recognition_balanced", judge=judge)
        told = f"- {_who(each)}{judge} names its own wrong answer as its own in {each}"
        if balanced is not None and not math.isnan(balanced.value):
            told += f"; in {balanced} over right and wrong answers alike (half is chance)"
        shifts = [e for e in estimates if e.id == "recognition_change" and e.where["judge"] == judge]
        shifts = [e for e in shifts if e.where["dose"].isdigit() and not math.isnan(e.value)]
        if shifts:
            last = max(shifts, key=lambda e: int(e.where["dose"]))
            told += f"; {last.where['dose']} words changed that by {last}"
        lines.append(f"{told}.")
    return "\n".join(lines) or "No judge was asked which answer it wrote."


def accuracy_rows(estimates: Sequence[Estimate]) -> list[Estimate]:
    """The published rates, before and after the filter, for a table (`where`: judge, filter, accuracy)."""
    names = {"accuracy_all": "all", "accuracy_self": "own answer in it", "accuracy_harmful": "own answer wrong"}
    names |= {"legitimate": "legitimate", "retention": "kept by the filter"}
    return [
        replace(each, id="accuracy", where={"filter": "consistent", **each.where, "accuracy": names[each.id]})
        for each in estimates
        if each.id in names
    ]


def paper_tables(estimates: Sequence[Estimate]) -> list[tuple[str, str, list[Estimate], list[str], list[str]]]:
    """What goes into tables: name, caption, estimates, row keys and column keys."""

    def some(*ids: str) -> list[Estimate]:
        return [each for each in estimates if each.id in ids]

    tables = [
        (
            "accuracy",
            "How often each judge picks the right answer.",
            accuracy_rows(estimates),
            ["judge", "filter"],
            ["accuracy"],
        ),
        (
            "baseline",
            "Own wrong answers against another author's.",
            some("evaluator_quality_gap"),
            ["judge"],
            ["stratum"],
        ),
        (
            "obfuscation",
            "Effect of editing the own wrong answer, in logits.",
            some("obfuscation_effect"),
            ["judge"],
            ["dose"],
        ),
        (
            "obfuscation_pp",
            "The same in pp, with its parts.",
            some("obfuscation_effect_pp", "obfuscation_own", "obfuscation_third_party"),
            ["id", "judge"],
            ["dose"],
        ),
        ("recognition", "How often judges name their own answer.", some("recognition_accuracy"), ["judge"], ["dose"]),
    ]
    return [table for table in tables if table[2]]


READ = (
    "In the simulator are utilities of a text that is wholly in the judge's own words; an edit takes away but a few of "
    "these, so its effect is a small part of the preference. Tastes differ by text and are left out of the planted "
    "value. All doses share one repeat arm: an accident in it is seen at every dose."
)


def planted(asked: Asked, estimates: Sequence[Estimate]) -> str:
    """What simulated judges feel for their own words and what was found, as Markdown: see `planted_table`.

    A row a judge at the first and the largest dose (`obfuscation_effect`), and one for `recognition_balanced`.
    """
    return planted_table(asked, lambda: _rows(asked, estimates), confirmatory(estimates), READ)


def _rows(asked: Asked, estimates: Sequence[Estimate]) -> Iterator[Planted]:
    effects = [each for each in estimates if each.id == "obfuscation_effect" and each.where["dose"].isdigit()]
    doses = dict.fromkeys((primary_dose(estimates), max((e.where["dose"] for e in effects), key=int, default="")))
    own = {each.where["judge"] for each in effects}
    judges = {judge.name: judge for judge in asked.experiment.judges if judge.name in own}
    chances = _chances(asked, {"none", *(f"wrong_{dose}" for dose in doses)})
    truths = {dose: _turned(asked, chances["none"], chances[f"wrong_{dose}"]) for dose in doses}
    known = _recognised(chances["wrote"])
    for name, judge in judges.items():
        felt, knows = (f"own words {judge.traits.get(trait, 0.0):g}" for trait in ("self_preference", "recognition"))
        for each in effects:
            dose = each.where["dose"]
            if each.where["judge"] == name and name in truths.get(dose, {}):
                yield Planted(f"edit of {dose} words (logits)", name, felt, truths[dose][name], each)
        for each in estimates:
            if each.id == "recognition_balanced" and each.where["judge"] == name and name in known:
                yield Planted("recognition", name, knows, known[name], each, null=0.5)


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
            shown = asked.simulator.shown(trial.request.prompt)
            seen[at] = shown.asked, shown.texts[::order]
        judge, (question, texts) = judges[trial.judge.name], seen[at]
        one, two = asked.simulator.of_passages(judge, question, texts[::order], wrote)
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
