"""What published means of thirty biases show, and what means cannot show: computed, clause by clause."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from helpers.biases.cognitive.published import BIASES_WORD, NEARLY, WITHOUT
from helpers.biases.cognitive.published_biases import BIASES
from helpers.types import Estimate

#: Names that a sentence tells before it only counts them.
NAMED = 6


def published_finding(published: Mapping[str, Any], estimates: Sequence[Estimate]) -> str:
    """Whether published mean |B| tells bias from noise, how much of it has a direction, and what means leave open.

    `published` is published/counts.yaml, `estimates` what `from_published` makes of it.
    """
    at = {(each.id, *sorted(each.where.items())): each for each in estimates}
    lines = [
        _random(published, at),
        _below(published, at),
        _direction(published, at),
        _unsettled(published),
    ]
    return "\n".join(f"- {line}" for line in lines)


def _of(at: Mapping[tuple[Any, ...], Estimate], id: str, **where: str) -> Estimate:
    return at[(id, *sorted(where.items()))]


def _title(bias: str) -> str:
    return BIASES[bias].title


def _listed(names: Iterable[str]) -> str:
    """The names in a row, the first NAMED of many."""
    names = list(names)
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def _random(published: Mapping[str, Any], at: Mapping[tuple[Any, ...], Estimate]) -> str:
    """Whether anybody has a larger mean |B| than the model that answers at random."""
    block = published["by_model"]
    models = dict(block["counts"])
    random = models.pop(block["random"])
    expected = _of(at, "ratio_scale_random", over=BIASES_WORD).value
    above = [model for model, value in models.items() if value >= random]
    span = f"{min(models.values()):.2f} to {max(models.values()):.2f}"
    told = f"{random:.2f}; answers at random are expected to have {expected:.3f}; the other {len(models)}: {span}"
    if above:
        return (
            f"**{len(above)} of {len(models)} models have at least the mean |B| of the one that answers at random** "
            f"({told}): {_listed(above)}."
        )
    without = _of(at, "ratio_scale_absolute", over=WITHOUT).value
    overall = published["heatmap"]["overall"]["mean_absolute"]
    return (
        f"**Of all {len(models) + 1} models the one that answers at random has the largest published mean |B|** "
        f"({told}). A model without any bias gets a large one by noise alone, so that mean |B| measures noise as well "
        f"as bias; and that model is in the printed average of {overall:.2f}, which is {without:.3f} without it."
    )


def _below(published: Mapping[str, Any], at: Mapping[tuple[Any, ...], Estimate]) -> str:
    """On how many biases mean |B| exceeds what answers at random give."""
    grid = published["heatmap"]["counts"]
    expected = {bias: _of(at, "ratio_scale_random", bias=bias).value for bias in grid}
    above = [bias for bias, row in grid.items() if row["mean_absolute"] >= expected[bias]]
    below = round(_of(at, "below_random").value)
    told = f"**On {below} of {len(grid)} biases mean |B| is below what answers at random give** on the same options"
    told += f" ({min(expected.values()):.2f} to {max(expected.values()):.2f})"
    if above:
        named = _listed(
            f"{_title(b)} ({grid[b]['mean_absolute']:.2f} against {expected[b]:.2f})"
            for b in sorted(above, key=lambda b: expected[b] - grid[b]["mean_absolute"])
        )
        told += f"; not below are {named}"
    return f"{told}."


def _direction(published: Mapping[str, Any], at: Mapping[tuple[Any, ...], Estimate]) -> str:
    """How much of mean |B| goes one way, on which biases hardly any, and on which the other way."""
    grid = published["heatmap"]["counts"]
    shares = {bias: _of(at, "direction_share", bias=bias) for bias in grid}
    overall = _of(at, "direction_share", over=BIASES_WORD)
    ends = [pick(shares, key=lambda bias: shares[bias].value) for pick in (min, max)]
    span = " to ".join(f"{shares[bias]} ({_title(bias)})" for bias in ends)
    nearly = sorted((b for b in grid if shares[b].value < NEARLY), key=lambda b: shares[b].value)
    against = sorted((b for b in grid if grid[b]["mean"] < 0), key=lambda b: grid[b]["mean"])
    told = (
        f"**{overall} of mean |B| has one direction** (|mean B| / mean |B| of the {len(grid)} biases; {span}); "
        "the rest goes both ways, from test to test, from model to model, or by noise."
    )
    if nearly:
        told += f" Nearly directionless, below {100 * NEARLY:.0f} %: {_listed(map(_title, nearly))}."
    if against:
        named = _listed(f"{_title(b)} ({grid[b]['mean']:+.2f})" for b in against)
        told += f" Against the direction that people are said to have: {named}."
    return told


def _unsettled(published: Mapping[str, Any]) -> str:
    """What no number of these means can settle."""
    block = published["heatmap"]
    told = "**What these means leave open.** Without the decisions no mean has an interval, and none has a test"
    told += f": {block['tests_per_bias']} tests a bias are no {block['tests_per_bias']} independent ones, and nobody "
    told += "asked a control twice, so that how much of |B| is noise is not known."
    if block["invalid"]:
        named = _listed(map(_title, block["invalid"]))
        told += f" The metric of {named} was corrected after these numbers were printed, which no longer hold for it."
    if block["missing_models"]:
        told += f" {_listed(block['missing_models'])} was evaluated but is not in these averages."
    return told
