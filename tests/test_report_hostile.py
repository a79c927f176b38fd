"""Hostile results on pages of the report, and names that come from files: shown as they are, and they break nothing."""

from __future__ import annotations

import re
import warnings
import xml.etree.ElementTree as ElementTree
from collections.abc import Collection
from pathlib import Path

import pandas as pd
import pytest
from bs4 import BeautifulSoup
from hypothesis import example, given, settings, strategies as st

from helpers import figures, tables
from helpers.biases import top_choice
from helpers.figures import style as styles
from helpers.report import pages, shown
from helpers.report.pages import leads
from helpers.report.verdicts import of_rows
from helpers.run.control import KINDS
from helpers.types import Estimate
from helpers.words import display_name
from tests.payloads import PAYLOADS, alive, unseen
from tests.report_pages import ATTACKS, hostile_book, html_pages, results, write_results

from .test_figures import texts

#: What a page may be made of, with the attributes that each element may have besides COMMON.
PLAIN = """html head body title style script nav figure p br hr strong em b i del sub sup code pre article
blockquote ul ol li thead tbody details summary h1 h2 h3 h4 figcaption table caption td tr"""
SET = frozenset(("display", "stretchy", "width"))
KNOWN: dict[str, Collection[str]] = {
    **{name: set() for name in PLAIN.split()},
    **dict.fromkeys(shown.FORMULA, SET),
    "meta": {"charset", "content", "http-equiv", "name"},
    "link": {"rel", "href"},
    "a": {"href", "rel", "download", "aria-current"},
    "img": {"src", "alt", "width", "height"},
    "main": {"tabindex"},
    "div": {"role", "tabindex", "data-mime-type", "data-type"},
    "span": {"role", "tabindex"},
    "th": {"scope"},
}
COMMON = {"id", "class", "lang", "aria-label"}


def hostile_rows() -> tuple[pd.DataFrame, str]:
    """Rows of which every field is an attack, and so is what is said of them."""
    fields = of_rows([]).columns
    marks = {"marks": " ".join(KINDS), "data": "simulated"}
    rows = [{**dict.fromkeys(fields, text), "key": f"{at:064x}", **marks} for at, text in enumerate(ATTACKS.values())]
    return of_rows(rows), PAYLOADS["handler"]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("hostile") / "mt_bench_blind-<img src=x onerror=alert(1)>"
    return pages.files(results([write_results(folder, hostile_book())]), [hostile_rows()])


def test_a_page_of_hostile_results_is_made_of_known_elements_only(files: dict[str, bytes]) -> None:
    for name, tree in html_pages(files).items():
        for element in tree.find_all(True):
            assert element.name in KNOWN, f"{name}: {element.name}"
            assert set(element.attrs) <= {*KNOWN[element.name], *COMMON}, f"{name}: {str(element)[:200]}"
        assert len(tree.find_all("script")) == len(tree.find_all("style")) == len(tree.find_all("h1")) == 1
        assert len(tree.find_all("meta", attrs={"http-equiv": True})) == 1


def test_a_page_of_hostile_results_leads_and_loads_nowhere_else(files: dict[str, bytes]) -> None:
    for name, tree in html_pages(files).items():
        for link in tree.find_all("a", href=True):
            outside = re.match(r"[a-zA-Z+.-]+:|//", link["href"])
            # Our own words in a notebook may link; so the Markdown cell of the hostile one does, and leads over http.
            assert not outside or link["href"].startswith(("http://", "https://")), f"{name}: {link}"
            assert not outside or link["rel"] == ["noopener", "noreferrer"]
        for image in tree.find_all("img"):
            assert re.fullmatch("data:image/png;base64,[A-Za-z0-9+/=]+", image["src"])


def test_links_of_outputs_lead_nowhere(files: dict[str, bytes]) -> None:
    for text in ATTACKS.values():
        for made in (shown.in_markdown(text), shown.closed(text)):
            tree = BeautifulSoup(made, "html.parser")
            assert tree.find_all(["a", "img", "h1", "h2", "form"]) == []


def test_all_the_words_of_an_attack_are_shown(files: dict[str, bytes]) -> None:
    tree = html_pages(files)["verdicts.html"]
    rows = tree.find("table").find("tbody").find_all("tr")
    assert len(rows) == len(ATTACKS)
    for row, text in zip(rows, ATTACKS.values(), strict=True):
        seen = row.find("pre").get_text()
        assert re.findall(r"\w+", seen) == re.findall(r"\w+", text.replace("\x1b", " ")) or unseen(text)
        assert row.find("a")["id"] and all(cell.get_text() for cell in row.find_all("td", recursive=False)[:5])


def test_no_sign_that_nobody_sees_is_on_a_page(files: dict[str, bytes]) -> None:
    for name, content in files.items():
        if name.endswith(".html"):
            assert [sign for sign in unseen(content.decode()) if sign not in ("U+200D", "U+200C")] == [], name


def test_only_results_are_handed_on(files: dict[str, bytes]) -> None:
    given_ = {name for name in files if name.startswith("files/")}
    assert {name.rpartition("/")[2] for name in given_} == {"numbers.json", "picture.png", "summary.json"}
    assert all(re.fullmatch(r"[A-Za-z0-9_./-]+", name) and ".." not in name for name in files)


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_in_an_output_does_not_act(name: str) -> None:
    for made in (shown.in_markdown(ATTACKS[name]), shown.closed(ATTACKS[name])):
        # Formulas are looked for on no page of the report: there is no script that would.
        found = [each for each in alive(shown.clean(made)) if not each.startswith("formula")]
        assert [each for each in found if each not in ("U+200D", "U+200C")] == []


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_in_a_text_of_a_notebook_does_not_act(name: str) -> None:
    """What stands in a cell of text is ours: it may link to the web and hold a formula, and no more."""
    found = alive(shown.clean(shown.Words("x").render(ATTACKS[name])))
    assert [each for each in found if not re.match("formula|math$|a href=https?://", each)] == []


PIECES = [*ATTACKS.values(), "<", ">", "&", '"', "'", "<!--", "-->", "<table>", "<td", "</p>", "=", "/", "\n", "`", "$"]


@settings(max_examples=150, deadline=None)
@example("<p title=a lang=b>$<script>alert(1)</script><script>alert(1)</script>$")
@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=6), max_size=10).map("".join))
def test_no_text_becomes_markup_of_another_kind(text: str) -> None:
    text = text.encode(errors="replace").decode()
    for make in (shown.in_markdown, shown.closed, shown.Words("x").render):
        for element in BeautifulSoup(shown.clean(make(text)), "html.parser").find_all(True):
            assert element.name in KNOWN and element.name not in ("style", "script", "form", "img", "link", "meta")
            assert set(element.attrs) <= {*KNOWN[element.name], *COMMON}
            assert {*element.get("class", ["scroll"])} <= {"scroll", "highlight", "number", "long"}
            assert re.match(r"https?://|#|[A-Za-z0-9_./-]+$", element.get("href", "#"))


def test_links_of_a_notebook_lead_to_pages_of_the_report_only(files: dict[str, bytes], tmp_path: Path) -> None:
    runs = results([write_results(tmp_path / "own", hostile_book())])
    for href in (
        "../../../../etc/passwd",
        "/etc/passwd",
        "../../.env",
        "../../data/replies/sim_gpt_fast.jsonl",
        "../../experiments/mt_bench_blind/config.yaml",
        "../hinting_groups/report.ipynb",
        "file:///etc/passwd",
        "javascript:alert(1)",
    ):
        assert leads(href, runs) is None, href
    assert leads("../mt_bench_blind/report.ipynb", runs) == "mt_bench_blind-own.html"
    assert leads("../../notebooks/01_mt_bench_blind.ipynb", runs) == "mt_bench_blind-own.html"
    assert leads("../../figures/overview/estimands.md", runs) == "numbers.html"


# --- names ------------------------------------------------------------------------------------------------------------

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


@pytest.mark.slow
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
    assert "- Claude as a judge: " in said and "- GPT as a judge: " in said
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
    assert "Not the same judges (asked judges: all 6 judges pooled; published counts: gemini_thinking alone)" in told
    assert "so the sources cannot be compared number by number." in told
    assert "Not the same judges" not in figures.show_tiers([six, *lost]).caption
