"""What holds for the figures of all experiments: readable in print, marked when simulated, the same bytes each time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from types import ModuleType

import pytest

from helpers.figures import Figure, style as styles
from helpers.types import Estimate
from tests import (
    test_audit_card as audit_card,
    test_figures as rankings,
    test_figures_accuracy as accuracy,
    test_figures_cognitive as cognitive,
    test_figures_hinting as hinting,
    test_figures_judge_card as card,
    test_figures_pairs as pairs,
    test_figures_position as position,
    test_figures_published_biases as published_biases,
)
from tests.test_figures import EACH_STYLE, assert_readable, narrow, rate, texts
from tests.test_figures_hinting import HOSTILE

NAN = float("nan")

#: Modules with `all_figures`, and of which of these the judges are simulated.
SHAPES: dict[ModuleType, Callable[[str], bool]] = {
    audit_card: lambda name: False,
    accuracy: lambda name: name.startswith("simulated"),
    card: lambda name: True,
    cognitive: lambda name: not name.endswith(("_one", "_many", "grid")),
    hinting: lambda name: name in ("slopes", "effects", "categories", "metrics"),
    pairs: lambda name: not name.endswith(("_hub", "_one", "_many")),
    position: lambda name: not name.endswith(("_one", "_many")),
    published_biases: lambda name: False,
    rankings: lambda name: name in ("heatmaps", "preferences", "categories", "position", "positions", "tiers"),
}
EXPERIMENTS = (cognitive, hinting, pairs, position)


def every(modules: Sequence[ModuleType]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("module", modules, ids=lambda module: module.__name__.rpartition(".")[2])


@every([*SHAPES])
@pytest.mark.parametrize("style", EACH_STYLE)
def test_figures_are_readable_at_print_size_and_marked_when_simulated(module: ModuleType, style: str) -> None:
    """Each is as wide as a column or the text, nothing overlaps, and SIMULATED stands where it must and only there."""
    look = styles.style(style)
    for figure in narrow(module.all_figures) if style == "acl" else module.all_figures(style):
        assert figure.figure.get_figwidth() in (look.column, look.text), figure.name
        assert figure.figure.get_figheight() <= styles.HIGHEST, figure.name
        faces = assert_readable(figure, look, strict=module is rankings)
        told, simulated = sum("SIMULATED" in face for face in faces), SHAPES[module](figure.name)
        assert told == simulated or (told > 1 and simulated and module in (card, cognitive)), figure.name
        assert ("SIMULATED" in figure.caption or module is card) == ("SIMULATED" in figure.alt) == simulated
        if figure.name.endswith("_both") and module in (cognitive, position):
            assert any("asked judges" in face for face in faces), figure.name


@pytest.mark.slow
@every(EXPERIMENTS)
@pytest.mark.parametrize("bad", HOSTILE)
def test_hostile_names_are_names(module: ModuleType, bad: str) -> None:
    for figure in module.hostile_figures(bad, "acl"):
        assert_readable(figure, styles.style("acl"))
        assert figure.render("svg")
        named = [each for each in texts(figure) if bad[:4] in each.get_text().replace("\n", "")]
        assert named or "more in the table" in figure.caption, figure.name
        assert not any(each.get_parse_math() for each in named), figure.name


QUICK = pytest.param(hinting, "paper")
SLOW = [pytest.param(m, s, marks=pytest.mark.slow) for m in EXPERIMENTS for s in ("neurips", "acl")]


@pytest.mark.parametrize(("module", "style"), [QUICK, *SLOW])
@pytest.mark.parametrize("without", [("low", "high", "p"), ("low", "high", "p", "value")], ids=["bounds", "numbers"])
def test_a_run_too_small_for_intervals_or_numbers_is_still_shown(
    module: ModuleType, style: str, without: tuple[str, ...]
) -> None:
    why = "no interval below 10 questions"

    def bare(found: Sequence[Estimate]) -> list[Estimate]:
        return [replace(each, **dict.fromkeys(without, NAN), method=why) for each in found]

    for figure in module.small_figures(bare, style):
        assert_readable(figure, styles.style(style))
        assert why in figure.caption, figure.name
        assert ("not estimable" in figure.alt) == ("value" in without), figure.name


SHOWN = [(show, given, needed) for module in EXPERIMENTS for show, given, needed in module.SHOWS]
SHOWN += [
    (rankings.figures.show_judge_vendor_heatmap, rankings.top1, r"top1_rate\[judge, vendor\]"),
    (rankings.figures.show_positions, rankings.positions, r"position_effect\[slot\]"),
    (rankings.figures.show_tiers, rankings.tiers, r"tier_preference\[vendor\]"),
    (rankings.figures.show_categories, rankings.categories, r"category_self_bias\[vendor, category\]"),
    (accuracy.figures.show_accuracy, accuracy.right, r"gold_accuracy\[judge\]"),
]


@pytest.mark.parametrize(("show", "given", "needed"), SHOWN)
def test_wrong_estimates_are_named_and_others_may_stand_beside(
    show: Callable[..., Figure], given: Callable[[str], list[Estimate]], needed: str
) -> None:
    other = rate("losses_of_another", {"judge": "a", "vendor": "gpt"}, 1, 2, "asked")
    for wrong, named in (([other], "losses_of_another"), ([], "none")):
        with pytest.raises(ValueError, match=f"no estimates of {needed}.*given: {named}"):
            show(wrong)
    with pytest.raises(ValueError, match="more than one estimate"):
        show(given("asked") * 2)
    mine = {each.id for each in given("asked")}
    beside = [each for _, others, _ in SHOWN for each in others("asked") if each.id not in mine]
    assert show([other, *beside, *given("asked")]).alt == show(given("asked")).alt


@pytest.mark.slow
@every([*SHAPES])
def test_files_embed_fonts_and_are_the_same_bytes_twice(module: ModuleType) -> None:
    for figure, again in zip(narrow(module.all_figures), module.all_figures("acl"), strict=True):
        pdf = figure.render("pdf")
        assert b"/FontFile2" in pdf and b"/Type3" not in pdf
        assert figure.render("png") == again.render("png"), figure.name
