"""What rankings cannot tell apart: flat directions and effects that run off, in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from helpers.stats.rank_design import Design

#: A utility or a log scale beyond these means that the data never contradict it: it runs off.
MOST_UTILITY = 15.0
MOST_LOG_SCALE = 5.0
FLAT = 1e-9
#: A judge of a smaller share of the others' sharpness is held at 0 where there is no maximum with it.
DULL = 0.1


def flat_names(design: Design, information: np.ndarray, active: np.ndarray) -> tuple[str, ...]:
    """The parameters that can move together without changing any probability; empty where there are none.

    `information` is (P, P) over free parameters, of which only the `active` may move.
    """
    box = information[np.ix_(active, active)]
    size = np.sqrt(np.clip(np.diag(box), 0.0, None))
    # A parameter without any information is flat by itself; a scale of 1 keeps its eigenvalue 0.
    size = np.where(size > 1e-12 * max(1.0, size.max(initial=0.0)), size, 1.0)
    values, vectors = np.linalg.eigh(box / np.outer(size, size))
    names: set[str] = set()
    for vector in vectors.T[values < FLAT]:
        move = np.zeros(len(active))
        move[active] = vector / size
        full = np.abs(design.expand @ move)
        names.update(name for name, much in zip(design.names, full, strict=True) if much > 0.05 * full.max())
    return tuple(name for name in design.names if name in names)


def explain(design: Design, names: Sequence[str]) -> str:
    """Why these parameters are not estimated, as a sentence for the reader."""
    kinds = {name.split("[")[0] for name in names}
    reasons = []
    if "log_scale" in kinds:
        reasons.append("too few answers a judge, or answers too equal, to tell how sharply it discriminates")
    elif "own_vendor" in kinds or "own_model" in kinds:
        if len({*design.panel.judge_vendors}) == 1:
            reasons.append("no judge of another vendor saw these answers, so nobody says how good they are")
        elif "quality" in kinds:
            reasons.append(
                "only the sum is identified (what one vendor's judges add to their own answers and what the others add "
                "to theirs cannot be told apart without an answer that has no judge of its vendor, or a third vendor)"
            )
        else:
            reasons.append("a judge's own answers cannot be told from all that it saw")
    if "slot" in kinds and "quality" in kinds:
        reasons.append("place and answer cannot be told apart in these orders (fit with position=False)")
    return f"not identified: {'; '.join(reasons) or 'no probability depends on it'}: {', '.join(names)}"


def dull_judges(design: Design, free: np.ndarray) -> tuple[str, ...]:
    """The judges whose scale falls without end, or else the dullest where its scale is below DULL of the mean."""
    scales = {
        name: value for name, value in zip(design.names, design.expand @ free, strict=True) if "log_scale[" in name
    }
    gone = [name for name, value in scales.items() if value < -MOST_LOG_SCALE]
    lowest = min(scales, key=scales.__getitem__)
    found = gone or ([lowest] if scales[lowest] < np.log(DULL) else [])
    return tuple(name.removeprefix("log_scale[").removesuffix("]") for name in found)


def runaways(design: Design, free: np.ndarray) -> list[str]:
    """The effects that grow without end because the rankings never contradict them, as words."""
    found = []
    for name, value in zip(design.names, design.expand @ free, strict=True):
        if name.startswith("log_scale"):
            if abs(value) > MOST_LOG_SCALE:
                found.append(
                    f"{name} runs off (its rankings {'do not ' if value < 0 else ''}follow the common quality)"
                )
        elif abs(value) > MOST_UTILITY:
            always = "always" if value > 0 else "never"
            found.append(
                f"{name} runs off ({always} preferred)" if "[" in name or name == "own_model" else f"{name} runs off"
            )
    return found
