"""What experiment 5 says of each model, and of all of them in one sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from helpers.biases.cognitive.averages import LEVEL
from helpers.biases.cognitive.families import Place, by_judge, corrected, family, first_level, habitual, stands
from helpers.biases.cognitive.published import BIASES_WORD, WITHOUT
from helpers.stats.power import detectable_effect
from helpers.stats.standing import size, standing, together, worst
from helpers.types import Estimate
from helpers.words import CardLine, Headline, listed, sentence

PROFILE, ABSOLUTE, UNREADABLE = "cognitive profile", "mean |B|", "unreadable"


def card(estimates: Sequence[Estimate], vendors: Mapping[str, str] | None = None) -> list[CardLine]:
    """Of each model by which biases it is moved, and how many replies held no decision.

    The profile shows the bias with the gravest verdict, of several the largest effect; the words name all that move it.
    A bias is one that stands (`families.stands`), by Holm over all biases and models. Published means of |B| have
    neither an interval nor a direction: they are described, not judged. `vendors` is not needed.
    """
    del vendors
    lines = []
    for data in dict.fromkeys(each.data for each in estimates):
        mine = [each for each in estimates if each.data == data]
        grid, p, standing_ = by_judge(mine), corrected(mine), stands(mine)
        verdicts = {at: _verdict(at, each, p[at], standing_) for at, each in grid.items()}
        for judge in sorted({each.where["judge"] for each in grid.values()}):
            own = {at: each for at, each in grid.items() if each.where["judge"] == judge}
            lines.append(_profile(judge, own, verdicts, p, first_level(mine)))
        lines += [
            _absolute(each) for each in mine if each.id == "ratio_scale_absolute" and set(each.where) == {"judge"}
        ]
        odd: dict[str, list[Estimate]] = {}
        for each in mine:
            if each.id == "odd_share":
                odd.setdefault(each.where["judge"], []).append(each)
        words = "gives replies without a readable decision in this share"
        for judge, several in odd.items():
            share = together(several, "odd_share", judge, "biases and conditions")
            lines.append(CardLine(judge, UNREADABLE, share, "described", words))
    return lines


def _verdict(at: Place, each: Estimate, p: float, standing_: Mapping[Place, int]) -> str:
    """As everywhere, but a bias must stand: an effect that scatter alone could make is a hint."""
    return standing(each, p, confirmatory=at in standing_)


def _profile(
    judge: str, own: Mapping[Place, Estimate], verdicts: Mapping[Place, str], p: Mapping[Place, float], level: float
) -> CardLine:
    gravest = worst(verdicts[at] for at in own)
    top = max((at for at in own if verdicts[at] == gravest), key=lambda at: size(own[at]))
    each = own[top]
    moved = {
        word: [_name(at) for at in own if verdicts[at] == "bias" and sign * own[at].value > 0]
        for word, sign in (("by", 1), ("against the pull of", -1))
    }
    told = [f"{word} {listed(names)}" for word, names in moved.items() if names]
    noise = " (cannot tell apart from noise)" if p[top] < LEVEL else ""
    words = {
        "bias": f"is moved {' and '.join(told)} (of {len(own)} biases)",
        "hint": f"may be moved by {_name(top)}, not established{noise}; by none of {len(own)} biases for certain",
        "not shown": f"is not measurably moved by any of {len(own)} biases",
        "untold": f"was asked too little to tell whether any of {len(own)} biases moves it",
    }[gravest]
    for (_, how), names in habitual([*own.values()]).items():
        words = how if len(names) == len(own) else f"{words}; of {listed(_name([name]) for name in names)} {how}"
    least = detectable_effect(each.se, each.df, level=level)
    return CardLine(judge, PROFILE, each, gravest, f"{words}; here: {_name(top)}", p[top], least)


def _name(at: Place) -> str:
    return at[0].replace("_", " ")


def _absolute(each: Estimate) -> CardLine:
    words = "has this mean |B| over the published biases; noise raises it as well as bias, and it has no direction"
    return CardLine(each.where["judge"], ABSOLUTE, each, "described", words)


def headline(estimates: Sequence[Estimate]) -> Headline | None:
    """Which biases move the models on average, of estimates from one source of data.

    The largest effect that stands carries it, else the largest one. Of published means, which have no test, the mean
    |B| of all models but the random one does. None where nothing was measured.
    """
    known, p, shown = family(estimates), corrected(estimates), stands(estimates)
    if not known:
        return _published(estimates)
    order = sorted(known, key=lambda at: (at not in shown, -size(known[at])))
    each = known[order[0]]
    told = []
    for sign, way in ((1, "toward"), (-1, "away from")):
        names = [_name(at) for at in known if shown.get(at) == sign]
        if names:
            told.append(f"{listed(names)} move{'s' * (len(names) == 1)} answers {way} the bias")
    rest = {
        "cannot be told apart from noise": [at for at in known if p[at] < LEVEL and at not in shown],
        "cannot be told": [at for at in known if math.isnan(p[at])],
    }
    rest["is not shown"] = [
        at for at in known if at not in (*shown, *rest["cannot be told apart from noise"], *rest["cannot be told"])
    ]
    told += [f"an effect of {listed(map(_name, found))} {words}" for words, found in rest.items() if found]
    told += [f"{who}: {how}" for who, how in habitual(estimates)]
    judges = {each.where["judge"] for each in by_judge(estimates).values()}
    said = f"{'; '.join(told)} (mean of {len(judges)} model{'s' * (len(judges) != 1)})"
    return Headline(sentence(said, each.data), each)


def _published(estimates: Sequence[Estimate]) -> Headline | None:
    at = {(e.id, e.where.get("over", "")): e for e in estimates if set(e.where) <= {"over"}}
    each, random = at.get(("ratio_scale_absolute", WITHOUT)), at.get(("ratio_scale_random", BIASES_WORD))
    below = at.get(("below_random", ""))
    if each is None or random is None or below is None:
        return None
    said = (
        f"on {below.value:.0f} of {below.n} biases the models' mean |B| is below what answers at random give (all "
        f"biases: {random.value:.2f}), so that it does not tell bias from noise"
    )
    return Headline(sentence(said, each.data), each)
