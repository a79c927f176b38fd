"""Names that come from files: vendors, judges, tiers, categories. They are shown as they are and break nothing."""

from __future__ import annotations

import re
import shutil
import subprocess
import warnings
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from helpers import export, figures, tables
from helpers.biases import top_choice
from helpers.figures import style as styles
from helpers.types import Estimate
from helpers.words import display_name, plain

from .test_figures import texts

HOSTILE = (
    "$",
    "$x^2$",
    "$\\frac{",
    "a_b%c#d",
    "\\input{secret}",
    "<script>alert(1)</script>",
    "gpt\u202etsaf\u202c",
    "\u2066gpt\u2069\u200f",
    "line\nbreak\ttab\r",
    "nul\x00bell\x07",
    "half\ud800",
    "&amp; ~^{}",
    "x" * 200,
    " ",
    "[link](javascript:alert(1))",
)
#: Letters that the fonts of figures or of TeX lack.
FOREIGN = "\u4e2d\u6587 \u2265 \u00ab\u00fc\u0142\u00bb \u2014 \u0430\u03b1\u03c9 \U0001f600"
UNSEEN = re.compile("[\x00-\x1f\x7f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def rate(id: str, data: str = "asked", value: float = 0.4, **where: str) -> Estimate:
    return Estimate(id, where, value, value - 0.1, value + 0.1, n=80, clusters=80, method="Wilson", data=data)


def pp(id: str, **where: str) -> Estimate:
    return Estimate(id, where, 0.1, 0.05, 0.15, n=80, clusters=80, unit="pp", method="t", data="asked")


def drawn_with(bad: str) -> list[figures.Figure]:
    """Every figure of experiment 1 with the bad name wherever a name from a file can stand."""
    vendors = (bad, "claude", "gpt")
    judges = [f"{bad}{i}" for i in range(14)]
    cells = [rate("top1_rate", judge=judge, vendor=vendor) for judge in judges[:3] for vendor in vendors]
    many = [rate("top1_rate", judge=judge, vendor=vendor) for judge in judges for vendor in vendors]
    return [
        figures.show_judge_vendor_heatmap(cells, name="heatmap"),
        figures.show_judge_vendor_heatmap(many, name="forest"),
        figures.show_self_preference(
            [pp("naive_self_preference", vendor=vendor) for vendor in vendors],
            [pp("excess_self_preference", vendor=vendor) for vendor in vendors],
            [],
            name="preference",
        ),
        figures.show_categories(
            [rate("category_self_bias", vendor=v, category=c) for v in vendors for c in (bad, "math")], name="category"
        ),
        figures.show_tiers([rate("tier_preference", vendor=vendor, tier=bad) for vendor in vendors], bad, name="tier"),
        figures.show_tiers(
            [rate("tier_preference", vendor=v, judge=j, tier=bad) for v in vendors for j in judges[:2]],
            bad,
            name="pair",
        ),
    ]


@pytest.mark.parametrize("bad", HOSTILE, ids=ascii)
def test_figures_show_any_name_and_files_of_all_kinds_are_written(bad: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for figure in drawn_with(bad):
            ElementTree.fromstring(figure.render("svg"))
            assert figure.render("png").startswith(b"\x89PNG") and figure.render("pdf").startswith(b"%PDF")
            for words in (figure.caption, figure.alt, *(each.get_text() for each in texts(figure))):
                assert not UNSEEN.search(words.replace("\n", " ")), words
    box = figure.figure.bbox
    for each in texts(figure):
        extent = each.get_window_extent()
        assert extent.x1 <= box.x1 + 1 and extent.x0 >= box.x0 - 1, each.get_text()


@pytest.mark.filterwarnings("ignore:Glyph .* missing from font")
@pytest.mark.parametrize("bad", [*HOSTILE, FOREIGN], ids=ascii)
def test_a_hostile_name_goes_through_the_whole_export(tmp_path: Path, bad: str) -> None:
    found = [rate("top1_rate", judge=bad, vendor=vendor) for vendor in (bad + "2", "gpt")]
    # Half a character can stand in no file; the readers of questions, answers and judgments refuse it.
    if "\ud800" in bad:
        found = [rate("top1_rate", judge=plain(bad), vendor="gpt")]
    table = tables.table("rates", f"Rates of {bad}.".replace("\ud800", ""), found, ["judge"], ["vendor"])
    figure = figures.show_judge_vendor_heatmap(found, name="heatmap")
    export.export(tmp_path / "odd", [figure], [table], found, {"data": "asked"})
    written = (tmp_path / "odd" / "rates.tex").read_text(encoding="utf-8")
    assert not UNSEEN.search(written.replace("\n", " "))
    body = written.split("\\toprule")[1].split("\\bottomrule")[0]
    assert not re.search(r"(?<!\\)[$#%_]", body) and "\\input{secret}" not in body and "<" not in body
    macros = (tmp_path / "odd" / "numbers.tex").read_text(encoding="utf-8")
    names = re.findall(r"\\newcommand\{\\([^}]*)\}", macros)
    assert len(names) == len(set(names)) == len(found) and all(re.fullmatch("[A-Za-z]+", name) for name in names)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no LaTeX on this machine")
def test_latex_compiles_hostile_tables(tmp_path: Path) -> None:
    found = [rate("top1_rate", judge=f"{plain(bad)} {i}", vendor="gpt") for i, bad in enumerate((*HOSTILE, FOREIGN))]
    table = tables.table("rates", "Rates.", found, ["judge"], ["vendor"])
    export.export(tmp_path / "odd", [], [table], found, {"data": "asked"})
    (tmp_path / "odd" / "paper.tex").write_text(
        "\\documentclass{article}\\usepackage{booktabs}\\input{numbers}\\begin{document}\\input{rates}\\end{document}"
    )
    ran = subprocess.run(
        ["pdflatex", "-halt-on-error", "paper"], cwd=tmp_path / "odd", capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout[-2000:]


def test_vendors_have_one_written_form_in_figures_tables_and_sentences() -> None:
    found = [rate("top1_rate", judge="gpt_fast", vendor=vendor) for vendor in ("claude", "gpt", "gemini", "acme")]
    table = tables.table("rates", "Rates.", found, ["judge"], ["vendor"])
    assert list(table.frame.columns) == ["judge", "data", "Claude", "GPT", "Gemini", "acme"]
    assert {"claude", "claude_value", "gpt_n"} <= set(table.csv.columns), "data keep the ids"
    drawn = figures.show_judge_vendor_heatmap(found)
    assert {"Claude", "GPT", "Gemini", "acme"} <= {each.get_text() for each in texts(drawn)}
    assert "vendor Claude" in drawn.alt and "vendor claude" not in drawn.alt
    own = [Estimate("self_bias", {"vendor": v}, 0.5, 0.4, 0.6, data="asked") for v in ("claude", "gpt")]
    said = top_choice.naive_against_defended(own)
    assert "- Claude: " in said and "- GPT: " in said
    for vendor in ("claude", "gpt", "gemini", "llama", "qwen", "deepseek", "mistral"):
        assert display_name(vendor).lower() == vendor and display_name(vendor) != vendor
    assert set(styles.VENDORS) <= {"claude", "gpt", "gemini", "llama", "qwen", "deepseek", "mistral"}
    assert display_name("acme") == "acme"


def words(figure: figures.Figure) -> list[str]:
    return [each.get_text() for each in texts(figure)]


def test_what_was_never_asked_is_not_called_not_estimable() -> None:
    both = [
        *(pp("naive_self_preference", vendor=vendor) for vendor in ("claude", "gpt")),
        Estimate("naive_self_preference", {"vendor": "acme"}, 0.1, 0.0, 0.2, unit="pp", data="published"),
    ]
    shown = figures.show_self_preference(both, [], [])
    # Two estimators of acme are not estimable from what is published; of the judges asked none is acme's, and so on.
    assert words(shown).count("not asked") == 3 + 2 * 3 and words(shown).count("not estimable") == 2 + 2 * 2
    cells = [
        rate("category_self_bias", vendor="gpt", category="math"),
        rate("category_self_bias", "published", vendor="gpt", category="law"),
    ]
    assert words(figures.show_categories(cells)).count("not asked") == 2
    lost = Estimate(
        "category_self_bias", {"vendor": "gpt", "category": "math"}, float("nan"), method="no valid ranking"
    )
    drawn = figures.show_categories([lost, rate("category_self_bias", "", vendor="gpt", category="law")])
    assert words(drawn).count("not estimable") == 1 and "not asked" not in words(drawn)
    assert "Not estimable" in drawn.caption and "no valid ranking" in drawn.caption


def test_a_vendor_that_was_no_candidate_leaves_its_heatmap_cells_empty() -> None:
    found = [rate("top1_rate", judge="a", vendor="gpt"), rate("top1_rate", "published", judge="b", vendor="claude")]
    assert "\N{EN DASH}" not in words(figures.show_judge_vendor_heatmap(found))
    found.append(Estimate("top1_rate", {"judge": "a", "vendor": "claude"}, float("nan"), data="asked"))
    assert words(figures.show_judge_vendor_heatmap(found)).count("\N{EN DASH}") == 1


def test_the_tier_figure_says_whose_verdicts_it_compares() -> None:
    one = rate("tier_preference", "published", judge="gemini_thinking", vendor="gpt", tier="thinking")
    six = rate("tier_preference", vendor="gpt", tier="thinking")
    lost = [rate("unreadable_share", value=0.1, judge=f"j{i}") for i in range(6)]
    told = figures.show_tiers([one, six, *lost]).caption
    assert "Not the same judges (published counts: gemini_thinking alone; asked judges: all 6 judges pooled)" in told
    assert "so the panels cannot be compared number by number." in told
    assert "Not the same judges" not in figures.show_tiers([six, *lost]).caption
