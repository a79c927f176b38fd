"""Sentences say what their numbers say: sign, value and standing are read back from those of every declared number."""

from __future__ import annotations

import math
import re

import pytest

from helpers.config.numbers import declared_by, number_files
from helpers.stats.standing import conclude
from helpers.types import Estimand, Estimate
from helpers.words import Conclusion
from helpers.words.sentences import card_line, clause, filled, headline, lines, say

SAID = [each for module in number_files() for each in declared_by(module).values() if each.above or each.describe]
#: Standing: how far the interval reaches from a value of 0.3 beside the null, and the p of the number.
CASES = {"bias": (0.1, 1e-6), "hint": (0.2, 0.2), "not shown": (0.5, 0.6), "untold": (math.nan, math.nan)}


def concluded(about: Estimand, half: float, p: float, sign: int) -> Conclusion:
    """One number 0.3 above or below its null, alone in its family, with an interval of this half width."""
    keys = about.family.over if about.family else re.findall(r"{(\w+)}", about.above + about.describe)
    only = about.family.only if about.family else {}
    where = {key: only.get(key, ["name"])[0] for key in keys if key != "value"} | {"judge": "mine"}
    value = about.null + sign * 0.3
    if about.family and "judge" not in about.family.over:
        del where["judge"]
    each = Estimate(about.id, where, value, value - half, value + half, 60, 60, about.unit, half / 2, "t", "asked", p)
    (found,) = conclude([each], {about.id: about})
    return found


def standing_read(text: str) -> str:
    """The standing that a sentence gives its number."""
    starts = {"leans": "hint", "no sign": "not shown", "cannot tell": "untold", "**": "bias"}
    return next((standing for start, standing in starts.items() if text.startswith(start)), "described")


@pytest.mark.parametrize("about", SAID, ids=lambda each: each.id)
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("case", CASES)
def test_sign_value_and_standing_are_read_back(about: Estimand, case: str, sign: int) -> None:
    found = concluded(about, *CASES[case], sign)
    text = say(found)
    assert str(found.estimate) in text and "{" not in text
    assert standing_read(text) == found.verdict
    if not about.above:
        assert found.verdict == "described"
        return
    one_sided = sign < 0 and not about.below
    expected = "hint" if case == "bias" and not about.family else case
    expected = "not shown" if one_sided and expected in ("bias", "hint") else expected
    assert found.verdict == expected
    which = about.below if sign < 0 and expected in ("bias", "hint") else about.above
    told = filled(which, [found])
    assert told in text
    assert (found.test in text) and ("Holm" in text) == (bool(about.family) and case != "untold")
    enough = "would be found in 80 % of such runs" in text
    assert enough == (expected in ("hint", "not shown") and found.p > 0.05)
    # The card line, the list and the headline say the same.
    line = card_line("mine", "m", [found])
    assert line.verdict == expected and line.words.startswith(clause([found])) and line.estimate is found.estimate
    assert text in lines([found], "x")
    head = headline([found], "mine").sentence
    assert (f"shown in 1: {told}" in head) == (expected == "bias")
    assert ("leans, not established: 1" in head) == (expected == "hint")
    assert ("no sign: 1" in head) == (expected == "not shown")


def test_only_a_member_of_a_confirmatory_family_can_be_shown() -> None:
    for about in SAID:
        if about.above and not about.family:
            assert concluded(about, 0.01, 1e-9, 1).verdict == "hint", about.id


def test_simulated_numbers_are_marked_and_names_are_made_harmless() -> None:
    about = declared_by("verbosity")["style_effect"]
    where = {"judge": "a\nb", "bias": "padded"}
    each = Estimate("style_effect", where, 0.3, 0.2, 0.4, 60, 60, "pp", 0.05, "t", "simulated", 1e-6)
    text = lines(conclude([each], {each.id: about}))
    assert text.startswith("- SIMULATED: a b: **prefers padded wordings of equal content**: +30.0 pp")
