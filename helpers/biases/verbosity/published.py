"""What published verdicts say on length: instances whose longer output is known to be the worse one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...stats.intervals import Interval, clustered, estimate
from ...stats.tests import mcnemar_exact
from ...types import Estimate
from .. import protocol
from .measured import index, place, signed

UNREADABLE = "unreadable_share"
#: The strata of instances in published/counts.yaml: what is known of the longer output.
WORSE, BETTER, SAME = "worse", "better", "same"
METHOD = "counts by instance"


def from_published(published: Mapping[str, Any]) -> list[Estimate]:
    """All numbers that published/counts.yaml determines.

    Of each evaluator of LLMBar: `longer_when_worse` and `longer_when_better`, how often the longer output was chosen
    where it is the worse and the better one (both orders), with t intervals over instances and McNemar's exact p
    against a coin, and `longer_over_better`, how much more often than the better one;
    `known_pairs_right_twice`, on how many instances both orders chose the better output; `unreadable_share`.
    Of AlpacaEval the printed shares `longer_preferred`, whose counts nobody published.
    """
    found = []
    for judge, strata in published["llmbar"]["counts"].items():
        found += _evaluator(judge, strata, published["llmbar"]["instances"])
    for name, share in published["alpaca_eval"]["longer_preferred"].items():
        told = "as printed; no interval: its counts are not published"
        found.append(Estimate("longer_preferred", {"judge": name}, share, method=told, data="published"))
    return found


def _evaluator(judge: str, strata: Mapping[str, Sequence[int]], instances: Mapping[str, int]) -> Iterator[Estimate]:
    """`strata`: instances of which neither order, one, both chose the better output, and those not read in both."""
    for stratum, counts in strata.items():
        if sum(counts) != instances[stratum]:
            told = f"{judge}, longer output {stratum}: {sum(counts)} instances counted, there are {instances[stratum]}"
            raise ValueError(f"published counts of LLMBar: {told}")
    where = {"judge": judge}
    worse = _share(strata[WORSE], longer_is_better=False)
    yield estimate("longer_when_worse", where, worse, "published")
    yield estimate("longer_over_better", where, signed(worse), "published", "pp")
    yield estimate("longer_when_better", where, _share(strata[BETTER], longer_is_better=True), "published")
    twice, total = sum(counts[2] for counts in strata.values()), sum(map(sum, strata.values()))
    known = {"n": total, "clusters": total, "data": "published"}
    yield Estimate("known_pairs_right_twice", where, float(twice), unit="count", method="counted", **known)
    lost = sum(counts[3] for counts in strata.values()) / total
    yield Estimate(UNREADABLE, where, lost, method="counted; no interval", **known)


def _share(counts: Sequence[int], longer_is_better: bool) -> Interval:
    """How often the longer output was chosen, over the instances that were read in both orders.

    The p is that of sign flips over instances, as where judges are asked: of one value an instance McNemar's exact one.
    """
    right = np.repeat([0.0, 0.5, 1.0], counts[:3])
    chosen = right if longer_is_better else 1 - right
    interval = clustered(chosen, np.ones(len(chosen)), null=None)
    method = f"{METHOD}: {interval.method}"
    if math.isnan(interval.low):
        return replace(interval, method=method)
    return replace(interval, p=mcnemar_exact(counts[2], counts[0]), method=f"{method}; {protocol.EXACT}")


def model_of(judge: str) -> str:
    """Whose verdicts they are: LLMBar's evaluators are named model/prompt.

    >>> model_of("GPT-4/Swap_CoT"), model_of("mine")
    ('GPT-4', 'mine')
    """
    return judge.partition("/")[0]


def published_finding(estimates: Sequence[Estimate], level: float = 0.05) -> str:
    """What the published numbers say of length, in sentences."""
    known = index(estimates, "longer_when_worse")
    found = protocol.conclusions("verbosity", estimates, "longer_when_worse")
    p = {place(each.estimate.where): each.p for each in found}
    other = index(estimates, "longer_when_better")
    tested = [at for at in known if not math.isnan(p[at])]
    above = [at for at in tested if p[at] < level and known[at].value > 0.5]
    below = [at for at in tested if p[at] < level and known[at].value < 0.5]
    most, least = max(known, key=lambda at: known[at].value), min(known, key=lambda at: known[at].value)
    read = [each.n for each in known.values()]
    lines = [
        f"- On {max(read)} instances of LLMBar whose longer output is the worse one ({min(read)} to {max(read)} "
        f"read in both orders), {len(above)} of {len(tested)} evaluators chose it more often than a coin would, "
        f"{len(below)} less often (Holm over {len(tested)}): from "
        f"{known[least]} ({least[0]}) to {known[most]} ({most[0]}). Where the longer output is the better one, "
        f"{most[0]} chose it in {other[most]} and {least[0]} in {other[least]}"
        f"{_few(other[most])}.",
        "- These instances were written to mislead: the worse output is not only longer, it also looks better. They "
        "say how judges can be led astray, and not by length alone.",
    ]
    shares = index(estimates, "longer_preferred")
    if shares:
        told = " and ".join(f"{at[0]} in {100 * each.value:.0f} %" for at, each in shares.items())
        lines.append(
            f"- On AlpacaEval's cross-annotated set the longer output is preferred by {told} of comparisons (as "
            "printed): people prefer it too, because a longer answer often says more. A preference for length is a "
            "bias only where the content is the same, which is what this experiment holds equal."
        )
    return "\n".join(lines)


def _few(each: Estimate) -> str:
    return f" ({each.method.partition(': ')[2]}; there are {each.n})" if math.isnan(each.low) else ""
