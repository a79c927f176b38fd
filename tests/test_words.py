"""Sentences say what their numbers say: sign, value and standing are read back from those of every declared number."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest

from helpers.stats.standing import conclude
from helpers.stats.tests import FLOOR
from helpers.types import Estimand, Estimate
from helpers.words import Conclusion, card_line, clause, filled, headline, lines, say
from helpers.words.numbers import declared_by, number_files

SAID = [each for module in number_files() for each in declared_by(module).values() if each.above or each.describe]
#: Standing: how far the interval reaches from a value of 0.3 beside the null, and the p of the number.
CASES = {"bias": (0.1, 1e-6), "hint": (0.2, 0.2), "not shown": (0.5, 0.6), "untold": (math.nan, math.nan)}


def concluded(about: Estimand, half: float, p: float, sign: int = 1) -> Conclusion:
    """One number 0.3 above or below its null, alone in its family, with an interval of this half width."""
    family = about.family
    keys = family.over if family else ["judge", *re.findall(r"{(\w+)}", about.above + about.describe)]
    where = {key: family.only.get(key, ["name"])[0] if family else "name" for key in keys if key != "value"}
    value = about.null + sign * 0.3
    each = Estimate(about.id, where, value, value - half, value + half, 60, 60, about.unit, half / 2, "t", "asked", p)
    return conclude([each], {about.id: about})[0]


@pytest.mark.parametrize("about", SAID, ids=lambda each: each.id)
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("case", CASES)
def test_sign_value_and_standing_are_read_back(about: Estimand, case: str, sign: int) -> None:
    found = concluded(about, *CASES[case], sign)
    text = say(found)
    starts = {"leans": "hint", "no sign": "not shown", "cannot tell": "untold", "**": "bias"}
    read = next((standing for start, standing in starts.items() if text.startswith(start)), "described")
    assert str(found.estimate) in text and "{" not in text
    if about.describe:
        assert read == "described"
        return
    expected = "hint" if case == "bias" and not about.family else case
    expected = "not shown" if sign < 0 and not about.below and expected in ("bias", "hint") else expected
    which = about.below if sign < 0 and expected in ("bias", "hint") else about.above
    told = filled(which, [found])
    assert read == expected and told in text and found.test in text
    assert ("Holm" in text) == (bool(about.family) and case != "untold")
    enough = expected in ("hint", "not shown") and found.p > 0.05
    assert ("would be found in 80 % of such runs" in text) == enough
    # The card line, the list and the headline say the same.
    line, head = card_line("mine", "m", [found]), headline([found], "mine").sentence
    assert line.verdict == expected and line.words.startswith(clause([found])) and line.estimate is found.estimate
    assert text in lines([found], "x")
    alone = head.lower().removesuffix(".").removesuffix("; largest: mine")
    assert alone in (f"the only test: {clause([found])}".lower(), f"no test was possible; {clause([found])}".lower())


@pytest.mark.parametrize("about", [each for each in SAID if each.above and each.below], ids=lambda each: each.id)
@pytest.mark.parametrize("times", [(3, 2, 1, 4, 2), (1, 0, 0, 1, 0), (0, 0, 2, 1, 1), (0, 1, 0, 5, 0)])
def test_a_headline_counts_each_side_and_each_standing(about: Estimand, times: tuple[int, ...]) -> None:
    verdicts = ["bias", "bias", "hint", "not shown", "untold"]
    base = {sign: concluded(about, 0.1, 0.001, sign) for sign in (1, -1)}
    found = [
        replace(base[-1 if place == 1 else 1], verdict=verdict, p=0.01)
        for place, verdict in enumerate(verdicts)
        for _ in range(times[place])
    ]
    said = headline(found).sentence
    above, below, leans, signs, untold = times
    shown = [f"{n} of {len(found)} tests" for n in (above, below) if n] or [f"None of {len(found)} tests shows"]
    assert said.startswith(shown[0])
    for n, clause_of in ((above, about.above), (below, about.below)):
        assert (filled(clause_of, found[:1]) in said) == (n > 0 or (clause_of == about.above and not above + below))
    assert not (above and below) or f" and {below} that it " in said
    for n, one, several in ((leans, "leans", "lean"), (signs, "shows", "show"), (untold, "cannot tell", "cannot tell")):
        rest = {"lean": " without being established", "show": " no sign", "cannot tell": ""}[several]
        assert (f"; {n} {several if n > 1 else one}{rest}" in said) == (n > 0)


def test_simulated_numbers_and_p_at_a_floor_are_marked() -> None:
    about = declared_by("verbosity")["style_effect"]
    where = {"judge": "a\nb", "bias": "padded"}
    each = Estimate("style_effect", where, 0.3, 0.2, 0.4, 60, 60, "pp", 0.05, FLOOR, "simulated", 1e-3)
    text = lines(conclude([each], {each.id: about}))
    assert text.startswith("- SIMULATED: a b: **prefers padded wordings of equal content**: +30.0 pp")
    assert "Holm p \u2264" in text
