"""What published verdicts say of judges' accuracy and of their agreement with people, clause by clause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from helpers.biases.accuracy.gold import corrected
from helpers.biases.accuracy.published import CHANCE, POOLED
from helpers.biases.accuracy.saying import LEVEL, estimate_of, which
from helpers.types import Estimate


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
