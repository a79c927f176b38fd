"""Whatever a model, a data set or a file of results holds: on a page of the report it is text."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from hypothesis import example, given, settings
from hypothesis import strategies as st

from helpers import paths
from helpers.report import fragments, layout, pages
from helpers.report.fragments import Place
from helpers.report.verdicts import KINDS, Row, Shelf, Verdicts, leads
from tests.payloads import PAYLOADS, alive, unseen
from tests.report_pages import ATTACKS, DRAWINGS, hostile_book, html_pages, write_results

#: What a page may be made of, with the attributes that each element may have besides COMMON.
PLAIN = """html head body title style script header main nav figure p br hr strong em b i del sub sup code pre dl dt dd
blockquote span ul ol li thead tbody details summary h1 h2 h3 h4 figcaption table caption td tr label form"""
SET = frozenset(("display", "stretchy", "width"))
KNOWN: dict[str, Collection[str]] = {
    **{name: set() for name in PLAIN.split()},
    **dict.fromkeys(fragments.FORMULAS_PARTS, SET),
    "meta": {"charset", "content", "http-equiv", "name"},
    "link": {"rel", "href"},
    "a": {"href", "rel", "download", "aria-current"},
    "img": {"src", "alt", "width", "height"},
    "button": {"type", "aria-pressed"},
    "div": {"role", "tabindex", "aria-labelledby", "aria-label"},
    "th": {"scope"},
    "select": {"name"},
    "option": {"value"},
    "input": {"name", "type", "autocomplete"},
}
COMMON = {"id", "class", "hidden", "lang", "aria-label", "open", "tabindex", "role", "for"}


def hostile_rows() -> Verdicts:
    """Rows of which every field is an attack."""
    rows = tuple(
        Row(f"{at:064x}", text, text, text, text, text, text, tuple(KINDS), (text, text), text, text, "simulated")
        for at, text in enumerate(ATTACKS.values())
    )
    return Verdicts(PAYLOADS["handler"], rows, rows, len(rows), len(rows))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("hostile") / "mt_bench_blind-<img src=x onerror=alert(1)>"
    return pages.files(layout([write_results(folder, hostile_book())]), [hostile_rows()])


def test_a_page_of_hostile_results_is_made_of_known_elements_only(files: dict[str, bytes]) -> None:
    for name, tree in html_pages(files).items():
        for element in tree.find_all(True):
            assert element.name in KNOWN, f"{name}: {element.name}"
            data = {key for key in element.attrs if key.startswith("data-")}
            assert set(element.attrs) - data <= {*KNOWN[element.name], *COMMON}, f"{name}: {str(element)[:200]}"
            assert not data or element.name == "tr"
        assert len(tree.find_all("script")) == len(tree.find_all("style")) == len(tree.find_all("h1")) == 1
        assert len(tree.find_all("meta", attrs={"http-equiv": True})) == 1


def test_a_page_of_hostile_results_leads_and_loads_nowhere_else(files: dict[str, bytes]) -> None:
    for name, tree in html_pages(files).items():
        for link in tree.find_all("a"):
            outside = re.match(r"[a-zA-Z+.-]+:|//", link["href"])
            # Our own words in a notebook may link; so the Markdown cell of the hostile one does, and leads over http.
            assert not outside or link["href"].startswith(("http://", "https://")), f"{name}: {link}"
            assert not outside or link["rel"] == ["noopener", "noreferrer"]
        for image in tree.find_all("img"):
            assert re.fullmatch("data:image/png;base64,[A-Za-z0-9+/=]+", image["src"])


def test_links_of_outputs_lead_nowhere(files: dict[str, bytes]) -> None:
    place = Place()
    for text in ATTACKS.values():
        for made in (fragments.said(text, place), fragments.shown(text, place)):
            tree = BeautifulSoup(made, "html.parser")
            assert tree.find_all(["a", "img", "h1", "h2", "form"]) == []


def test_all_the_words_of_an_attack_are_shown(files: dict[str, bytes]) -> None:
    tree = html_pages(files)["verdicts.html"]
    rows = tree.find("table", id="verdicts").find("tbody").find_all("tr")
    assert len(rows) == len(ATTACKS)
    for row, text in zip(rows, ATTACKS.values(), strict=True):
        seen = row.find("pre").get_text()
        assert re.findall(r"\w+", seen) == re.findall(r"\w+", text.replace("\x1b", " ")) or unseen(text)
        assert row["data-judge"] and row.find("td").get_text()


def test_no_sign_that_nobody_sees_is_on_a_page(files: dict[str, bytes]) -> None:
    for name, content in files.items():
        if name.endswith(".html"):
            assert [sign for sign in unseen(content.decode()) if sign not in ("U+200D", "U+200C")] == [], name


def test_drawings_of_ours_only_draw_and_the_heads_of_others_are_not_enough(tmp_path: Path) -> None:
    from helpers import figures
    from helpers.types import Estimate

    found = [Estimate("position_effect", {"slot": str(at)}, 0.1, 0.0, 0.2, n=80, clusters=40, unit="pp", data="asked")
             for at in (1, 2, 3)]  # fmt: skip
    ours = figures.show_positions(found).render("svg")
    assert fragments.only_draws(ours)
    assert not fragments.only_draws(ours.replace(b"</svg>", b"<script>alert(1)</script></svg>"))
    assert not fragments.only_draws(
        ours.replace(b"<metadata>", b"<?xml-stylesheet href='http://127.0.0.1/'?><metadata>")
    )
    assert not fragments.only_draws(ours.replace(b"utf-8", b"utf-16", 1))
    assert [text for text in DRAWINGS if fragments.only_draws(text.encode())] == []


def test_only_results_are_handed_on(files: dict[str, bytes]) -> None:
    given_ = {name for name in files if name.startswith("files/")}
    assert {name.rpartition("/")[2] for name in given_} == {"numbers.json", "picture.png", "summary.json"}
    assert all(re.fullmatch(r"[A-Za-z0-9_./-]+", name) and ".." not in name for name in files)


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_in_an_output_does_not_act(name: str) -> None:
    place = Place()
    for made in (fragments.said(ATTACKS[name], place), fragments.shown(ATTACKS[name], place)):
        # Formulas are looked for on no page of the report: there is no script that would.
        found = [each for each in alive(str(made)) if not each.startswith("formula")]
        assert [each for each in found if each not in ("U+200D", "U+200C")] == []


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_in_a_text_of_a_notebook_does_not_act(name: str) -> None:
    """What stands in a cell of text is ours: it may link to the web and hold a formula, and no more."""
    found = alive(str(fragments.words_of(ATTACKS[name], Place())))
    assert [each for each in found if not re.match("formula|math$|a href=https?://", each)] == []


PIECES = [*ATTACKS.values(), "<", ">", "&", '"', "'", "<!--", "-->", "<table>", "<td", "</p>", "=", "/", "\n", "`", "$"]


@settings(max_examples=150, deadline=None)
@example("$<script>alert(1)</script><script>alert(1)</script>$")
@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=6), max_size=10).map("".join))
def test_no_text_becomes_markup_of_another_kind(text: str) -> None:
    text = text.encode(errors="replace").decode()
    for made in (fragments.said(text, Place()), fragments.shown(text, Place()), fragments.words_of(text, Place())):
        for element in BeautifulSoup(made, "html.parser").find_all(True):
            assert element.name in KNOWN and element.name not in ("style", "script", "form", "img", "link", "meta")
            boxed = element.name == "span" and element.get("class") == ["formula"]  # a long formula scrolls
            of_box = {"role", "tabindex", "aria-label"} if boxed else set()
            assert set(element.attrs) <= {*KNOWN[element.name], *of_box, "id", "class"}
            assert boxed or element.get("class", ["scroll"]) == ["scroll"]
            assert re.match(r"https?://|#|[A-Za-z0-9_./-]+$", element.get("href", "#"))


def test_links_of_a_notebook_lead_to_files_of_this_repository_only(tmp_path: Path) -> None:
    (tmp_path / "private.txt").write_text("mine", encoding="utf-8")
    home, shelf = paths.EXPERIMENTS / "mt_bench_blind", Shelf()
    for href in (
        "../../../../etc/passwd",
        "/etc/passwd",
        str(tmp_path / "private.txt"),
        "../../.env",
        "../../.git/config",
        "../../data/replies/sim_gpt_fast.jsonl",
        "../../data/downloads/source.json",
        "../../pyproject.toml",
        "file:///etc/passwd",
        "javascript:alert(1)",
    ):
        assert leads(href, home, [], shelf) is None, href
    assert shelf.files == {}
    assert leads("../../experiments/mt_bench_blind/config.yaml", home, [], shelf) is not None
    assert set(shelf.files) == {"sources/experiments/mt_bench_blind/config.yaml.txt"}
