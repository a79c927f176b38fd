"""The report: its pages are whole, lead somewhere, load nothing, and are the same for the same results."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import mistune
import nbformat
import pandas as pd
import pytest
from bs4 import BeautifulSoup

from helpers import paths
from helpers.claims import COLUMNS, count_claims, load_claims
from helpers.config import experiment_names
from helpers.explain import sections
from helpers.figures.points import SOURCES
from helpers.report import pages, shown, verdicts
from helpers.report.pages import write
from helpers.report.runs import Run, find_runs
from helpers.run.control import KINDS
from helpers.run.notebooks import available
from helpers.types import OUTCOMES as EVERY_OUTCOME
from helpers.words.numbers import UNITS
from tests.kernels import recuse
from tests.report_pages import addresses, png, report_files, results, small_verdicts, soup, write_results

BOOKS = {path.parent.name: path for path in sorted(paths.EXPERIMENTS.glob("*/report.ipynb"))}
FIXED = ("index", "judges", "verdicts", "numbers", "glossary")
PAGES = [*(f"{name}.html" for name in (*FIXED, *BOOKS))]
every_page = pytest.mark.parametrize("name", PAGES)
every_book = pytest.mark.parametrize("name", BOOKS)


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    return report_files()


TREES: dict[str, BeautifulSoup] = {}


def page(files: dict[str, bytes], name: str) -> BeautifulSoup:
    """A page of the report of all default results, parsed once."""
    if name not in TREES:
        TREES[name] = soup(files[name])
    return TREES[name]


def plain_book(*cells: object) -> nbformat.NotebookNode:
    """A small executed notebook that harms nobody."""
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# Is it?"), *cells])


# --- each page --------------------------------------------------------------------------------------------------------


def test_there_is_a_page_for_each_notebook_and_each_thing_to_look_up(files: dict[str, bytes]) -> None:
    assert {name for name in files if name.endswith(".html")} == set(PAGES)
    assert sorted(BOOKS) == sorted({path.stem.partition("_")[2] for path in available().values()})


@every_page
def test_a_page_has_a_language_a_title_one_heading_and_a_way_past_the_links(files: dict[str, bytes], name: str) -> None:
    assert files[name].startswith(b"<!doctype html>\n")
    tree = page(files, name)
    assert tree.html["lang"] == "en" and tree.title.get_text().endswith(" - Recuse")
    (h1,) = tree.find_all("h1")
    assert h1.get_text().strip() and tree.find("main", id="main").find("h1") is h1
    first = tree.find(["a", "button", "input", "select", "summary"])
    assert first["href"] == "#main" and "skip" in first["class"]
    levels = [int(each.name[1]) for each in tree.find("main").find_all(re.compile("^h[1-6]$"))]
    assert all(after <= before + 1 for before, after in pairwise(levels))
    (current,) = tree.find("nav").find_all("a", attrs={"aria-current": "page"})
    assert current["href"] == name
    assert tree.find("meta", attrs={"name": "viewport"})["content"] == "width=device-width, initial-scale=1"


@every_page
def test_the_policy_of_a_page_lets_in_its_own_script_and_style_only(files: dict[str, bytes], name: str) -> None:
    tree = page(files, name)
    (script,), (style,) = tree.find_all("script"), tree.find_all("style")
    assert not script.attrs and not style.attrs

    def hashed(element: BeautifulSoup) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(element.string.encode()).digest()).decode()}'"

    (policy,) = tree.find_all("meta", attrs={"http-equiv": True})
    assert policy["http-equiv"] == "Content-Security-Policy"
    told = dict(part.strip().split(" ", 1) for part in policy["content"].split(";"))
    assert told == {
        "default-src": "'none'",
        "script-src": hashed(script),
        "style-src": hashed(style),
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    # A policy holds only for what comes after it.
    assert files[name].index(b"http-equiv") < files[name].index(b"<style>") < files[name].index(b"<script>")
    source = (paths.ROOT / "helpers/report/assets/report.js").read_text(encoding="utf-8")
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacent|document\.write|eval|Function\(|fetch|import|http", source
    )


@every_page
def test_nothing_on_a_page_acts_or_loads_from_elsewhere(files: dict[str, bytes], name: str) -> None:
    acting, loaded = [], []
    for element in page(files, name).find_all(True):
        acting += [
            f"{element.name} {key}" for key in element.attrs if key.startswith("on") or key in ("style", "srcdoc")
        ]
        loaded += [str(element[key]) for key in ("src", "srcset", "poster", "data", "action") if key in element.attrs]
        loaded += [element["href"]] if element.name == "link" else []
    assert acting == []
    assert [each for each in loaded if not each.startswith("data:image/png;base64,") and each != "data:,"] == []
    style = files[name].partition(b"</style>")[0]
    assert b"@import" not in files[name] and not re.search(rb"url\((?![\"']?data:)", style)
    elements = {element.name for element in page(files, name).find_all(True)}
    assert not elements & {"iframe", "object", "embed", "svg", "base", "template", "noscript", "audio", "video"}


@every_page
def test_every_link_leads_somewhere(files: dict[str, bytes], name: str) -> None:
    for link in page(files, name).find_all("a", href=True):
        href = link["href"]
        if re.match("https?:", href):
            assert link["rel"] == ["noopener", "noreferrer"]
            continue
        place, _, fragment = href.partition("#")
        place = place.partition("?")[0] or name
        assert place in files, f"{name}: {href}"
        if fragment:
            assert fragment in addresses(files[place]), f"{name}: {href}"
        assert link.get_text().strip(), f"{name}: {href} has no words"


@every_page
def test_no_two_elements_of_a_page_have_one_address(files: dict[str, bytes], name: str) -> None:
    ids = [element["id"] for element in page(files, name).find_all(id=True)]
    assert len(ids) == len(set(ids))
    for element in page(files, name).find_all(attrs={"aria-labelledby": True}):
        assert element["aria-labelledby"] in ids


@every_page
def test_every_table_has_a_caption_heads_and_a_box_that_scrolls(files: dict[str, bytes], name: str) -> None:
    tables = page(files, name).find_all("table")
    captions = [table.find("caption").get_text().strip() for table in tables]
    assert all(captions) and len(set(captions)) == len(captions)
    for table in tables:
        assert table.parent["class"][0] == "scroll" and table.parent["tabindex"] == "0"
        heads = table.find("thead").find_all("th")
        assert heads and {head["scope"] for head in heads} == {"col"} and all(h.get_text().strip() for h in heads)
        assert {head["scope"] for head in table.find("tbody").find_all("th")} <= {"row"}


@every_page
def test_words_of_ours_name_nothing_of_this_machine(files: dict[str, bytes], name: str) -> None:
    assert str(paths.ROOT).encode() not in files[name] and str(Path.home()).encode() + b"/" not in files[name]


# --- pages of notebooks -----------------------------------------------------------------------------------------------


def outputs(name: str, kind: str, part: str = "data") -> list[Any]:
    book = nbformat.read(BOOKS[name], as_version=4)
    return [out[part][kind] for cell in book.cells for out in cell.get("outputs", []) if kind in out.get("data", {})]


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


@every_book
def test_every_figure_is_there_with_words_and_files(files: dict[str, bytes], name: str) -> None:
    tree = page(files, f"{name}.html")
    shown = [base64.b64decode(picture) for picture in outputs(name, "image/png")]
    images = tree.find_all("img")
    assert [base64.b64decode(image["src"].partition(",")[2]) for image in images] == shown
    for image, picture in zip(images, shown, strict=True):
        assert image["alt"].strip() and int(image["width"]) > 0 and int(image["height"]) > 0
        figure = image.find_parent("figure")
        assert figure.find("figcaption").get_text().strip()
        beside = [files[link["href"]] for link in tree.find_all("a", href=re.compile(r"^files/.*\.png$"))]
        assert picture in beside, "the file of a figure is the figure"
    for image, about in zip(images, outputs(name, "image/png", "metadata"), strict=True):
        assert words(about["alt"]) == words(image["alt"])


@every_book
def test_nothing_that_a_notebook_says_is_lost(files: dict[str, bytes], name: str) -> None:
    book = nbformat.read(BOOKS[name], as_version=4)
    shown = " ".join(words(page(files, f"{name}.html").find("body").get_text(" ")))
    to_html = mistune.create_markdown(escape=False, plugins=["table", "math"])
    said = [cell.source for cell in book.cells if cell.cell_type == "markdown"] + outputs(name, "text/markdown")
    for text in said:
        # Formulas are set anew, and are looked at elsewhere.
        text = re.sub(r"(?<![`\w])\$[^$\n`]+\$", "FORMULA", text)
        for element in BeautifulSoup(to_html(text), "html.parser").find_all(["p", "li", "td", "th", "h1", "h2", "pre"]):
            for part in element.find_all(string=True, recursive=False):
                assert all(" ".join(words(piece)) in shown for piece in str(part).split("FORMULA")), part
    for table in outputs(name, "text/html"):
        for cell in BeautifulSoup(table, "html.parser").find_all(["td", "th"]):
            assert " ".join(words(cell.get_text(" "))) in shown
    for cell in book.cells:
        if cell.cell_type == "code":
            assert " ".join(words(cell.source)) in shown


@every_book
def test_headings_of_a_notebook_can_be_gone_to(files: dict[str, bytes], name: str) -> None:
    tree = page(files, f"{name}.html")
    contents = tree.find("details", class_="contents")
    headings = [each.get_text().strip() for each in tree.find("main").find_all("h2")]
    assert [link.get_text() for link in contents.find_all("a")] == headings


def test_pages_with_simulated_judges_say_so_at_their_top(files: dict[str, bytes]) -> None:
    simulated = {f"{each.page}.html" for each in results() if each.simulated}
    simulated |= {"index.html", "judges.html", "verdicts.html"}
    for name in PAGES:
        tree = page(files, name)
        banner = tree.find("p", class_="simulated")
        assert (banner is not None) == (name in simulated)
        assert tree.title.get_text().startswith("SIMULATED: ") == (name in simulated)
        assert banner is None or banner.find_next_sibling().name == "h1"


def test_results_without_simulated_judges_do_not_say_so(tmp_path: Path) -> None:
    book = plain_book(nbformat.v4.new_code_cell("1", execution_count=1))
    made = pages.files(results([write_results(tmp_path / "own", book, data="asked")]), [])
    tree = soup(made["mt_bench_blind-own.html"])
    assert tree.find("p", class_="simulated") is None and tree.title.get_text() == "Is it? - Recuse"


# --- what can be looked up --------------------------------------------------------------------------------------------


COUNTED = re.compile(r"of ([\d,]+) that can fail ([\d,]+) come out, ([\d,]+) differ")


def test_all_pages_give_one_count_of_the_published_numbers(files: dict[str, bytes]) -> None:
    told = {name: COUNTED.findall(" ".join(page(files, name).find("main").get_text(" ").split())) for name in PAGES}
    told = {name: [tuple(int(n.replace(",", "")) for n in each) for each in found] for name, found in told.items()}
    every, out, differ = count_claims(pd.read_csv(paths.FIGURES / "overview" / "claims.csv"))
    assert told == {name: [(every, out, differ)] * (name in ("index.html", "overview.html")) for name in PAGES}
    words = " ".join(page(files, "overview.html").get_text(" ").split())
    assert f"Of {every} published numbers that can fail {out} come out, {differ} differ." in words
    said = [load_claims(paths.EXPERIMENTS / name / "claims.yaml") for name in (*experiment_names(), "overview")]
    assert every == sum(claim.kind == "printed" for each in said for claim in each)


def test_a_report_without_the_overview_counts_the_claims_of_its_experiments(tmp_path: Path) -> None:
    folder = write_results(tmp_path / "own", plain_book(nbformat.v4.new_code_cell("1", execution_count=1)))
    claims = pd.DataFrame({"status": ["reproduced", "within interval", "differs", "not derivable"]})
    claims.reindex(columns=list(COLUMNS)).assign(status=claims["status"], kind="printed").to_csv(
        folder / "claims.csv", index=False
    )
    assert (
        "of 4 that can fail 2 come out, 1 differ" in soup(pages.files(results([folder]), [])["index.html"]).get_text()
    )


def test_every_declared_number_has_a_place_on_the_page_of_numbers(files: dict[str, bytes]) -> None:
    entries = dict(
        re.findall(r'<a id="numbers-([\w-]+)"(.*?)(?=<a id="numbers-|\Z)', files["numbers.html"].decode(), re.S)
    )
    for section in sections():
        for id, each in section.estimands.items():
            told = " ".join(words(soup(entries[f"{section.module}-{id}"].encode()).get_text(" ")))
            for text in (each.words, each.formula, each.interval, each.fails, each.source):
                assert " ".join(words(text)) in told


def test_a_command_in_a_heading_is_code_in_the_list_of_headings_too(files: dict[str, bytes]) -> None:
    links = page(files, "numbers.html").select("details.contents a")
    assert any(link.find("code") for link in links) and not any("`" in link.get_text() for link in links)


def test_the_glossary_is_that_of_the_documentation_and_has_every_word_of_the_code(files: dict[str, bytes]) -> None:
    rows = page(files, "glossary.html").find_all("tr")
    told = {row.find("td").get_text(): row.find_all("td")[1].get_text() for row in rows if row.find("td")}
    assert {*EVERY_OUTCOME, "missing"} <= told.keys() and len(told) > 60
    assert all(told[kind] == meaning for kind, meaning in {**KINDS, **UNITS}.items())
    assert {f"{name}: {words}" for name, words in SOURCES.items() if name != "published"} <= told.keys()


def test_all_files_of_results_can_be_downloaded_and_nothing_else(files: dict[str, bytes]) -> None:
    for name in (*experiment_names(), "overview"):
        # Drawings in SVG, which some runs make, could act when they are opened: none is handed on.
        made = (path for path in (paths.FIGURES / name).iterdir() if path.suffix != ".svg")
        there = {path.name for path in made if path.name != "run.json"}
        assert {Path(place).name for place in files if place.startswith(f"files/{name}/")} == there
        for file in there:
            assert files[f"files/{name}/{file}"] == (paths.FIGURES / name / file).read_bytes()
    linked = {link["href"] for name in BOOKS for link in page(files, f"{name}.html").find_all("a", href=True)}
    assert {place for place in files if place.startswith("files/")} <= linked
    assert not [place for place in files if Path(place).suffix in (".js", ".svg", ".ipynb", ".yaml", ".py")]


# --- formulas ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tex", "letters"),
    [("N_j(v) / N_j", "Nj(v)/Nj"), (r"\max(d_1, d_2)", "max(d1,d2)"), ("|a_2 - a_1|", "|a2\N{MINUS SIGN}a1|")],
)
def test_a_formula_is_set_with_all_its_signs(tex: str, letters: str) -> None:
    formula = soup(shown.clean(shown.Words("x").render(f"It is ${tex}$.")).encode()).find("math")
    assert formula.get_text() == letters


@pytest.mark.parametrize("text", ["for $0.10", "`$x$ and $y$`", "$5 and $10", r"\$a\$"])
def test_dollars_that_are_no_formula_stay(text: str) -> None:
    assert "$" in text and "<math" not in shown.Words("x").render(text)


def test_no_formula_of_a_notebook_is_left_as_code(files: dict[str, bytes]) -> None:
    found = 0
    for name, path in BOOKS.items():
        sources = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "markdown"]
        told = sum(len(re.findall(r"(?<![`\w])\$[^$\n`]+\$", source)) for source in sources)
        assert len(page(files, f"{name}.html").find_all("math")) == told
        found += told
    assert found > 5


# --- what was not executed --------------------------------------------------------------------------------------------


def test_what_was_not_executed_is_named_with_what_to_run(tmp_path: Path) -> None:
    error = nbformat.v4.new_output("error", ename="ValueError", evalue="no", traceback=[])
    wrong = {
        "unrun": (nbformat.v4.new_code_cell("1"), "cell 2 was not executed"),
        "broken": (nbformat.v4.new_code_cell("1", execution_count=3, outputs=[error]), "cell 2 failed with ValueError"),
    }
    for name, (cell, told) in wrong.items():
        folder = write_results(tmp_path / name, plain_book(cell))
        with pytest.raises(ValueError, match=f"{folder}/report.ipynb: {told}.*recuse run 01_mt_bench_blind"):
            results([folder])


def test_a_notebook_that_is_not_there_or_failed_or_has_no_numbers_is_named(tmp_path: Path) -> None:
    folder = write_results(tmp_path / "own", plain_book())
    (folder / "report.failed.ipynb").write_text("{}", encoding="utf-8")
    with pytest.raises(
        ValueError, match=r"report\.failed\.ipynb: the last run .* failed.*recuse run 01_mt_bench_blind"
    ):
        results([tmp_path])
    (folder / "report.failed.ipynb").unlink()
    (folder / "report.ipynb").write_text("no notebook", encoding="utf-8")
    with pytest.raises(ValueError, match="no notebook"):
        results([folder])
    (folder / "report.ipynb").unlink()
    with pytest.raises(ValueError, match="mt_bench_blind was not executed"):
        results([folder])
    nbformat.write(plain_book(), folder / "report.ipynb")
    (folder / "numbers.json").unlink()
    with pytest.raises(ValueError, match=r"numbers\.json: not there"):
        results([folder])
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=r"holds a report\.ipynb: `recuse run` makes one"):
        results([tmp_path / "empty"])
    with pytest.raises(ValueError, match="no such folder"):
        results([tmp_path / "nowhere"])


def test_a_run_that_failed_or_is_missing_is_skipped_with_the_command_that_makes_it_again(tmp_path: Path) -> None:
    good = write_results(tmp_path / "good", plain_book())
    tags = {"tags": ["injected-parameters"]}
    given = nbformat.v4.new_code_cell("question_limit = 16\njudges = ['a b', 'c']\nseed = 7", metadata=tags)
    failed = write_results(tmp_path / "bad", plain_book(), name="hinting_groups")
    nbformat.write(plain_book(given), failed / "report.failed.ipynb")
    gone = write_results(tmp_path / "gone", plain_book(), name="cognitive_biases")
    (gone / "report.ipynb").unlink()
    damaged = write_results(tmp_path / "verbosity_style-0a", plain_book(), name="verbosity_style")
    (damaged / "numbers.json").write_text("{", encoding="utf-8")
    runs, skipped = find_runs([tmp_path])
    assert [run.folder for run in runs] == [good]
    told = dict(zip(("bad", "gone", "damaged"), skipped, strict=True))
    assert "bad/report.failed.ipynb: the last run of this notebook failed" in told["bad"]
    command = """recuse run 02_hinting_groups -p question_limit 16 -p judges '["a b", "c"]' -p seed 7"""
    assert told["bad"].endswith(f"This runs it: {command}")
    assert "gone/report.ipynb: not there" in told["gone"] and told["gone"].endswith("recuse run 05_cognitive_biases")
    assert "numbers.json: no JSON" in told["damaged"] and told["damaged"].endswith("recuse run 06_verbosity_style")
    items = [item.get_text() for item in soup(pages.files(runs, [], skipped)["index.html"]).find_all("li")]
    assert set(skipped) <= set(items)


def test_a_finding_stands_with_its_figure_on_the_first_page(files: dict[str, bytes]) -> None:
    tree, runs = page(files, "index.html"), results()
    figures = [image["src"] for image in tree.find_all("img")]
    firsts = [page(files, f"{run.page}.html").find("img")["src"] for run in runs]
    assert figures == firsts, "the first of each notebook"
    text = " ".join(words(tree.get_text(" ")))
    assert all(" ".join(words(row.sentence)) in text for run in runs if run.found for row in run.found.rows)


def test_a_number_of_a_judge_leads_to_its_verdicts(files: dict[str, bytes]) -> None:
    rows = verdicts.of_page(pd.concat([rows for rows, _ in small_verdicts()]))
    links = page(files, "judges.html").find_all("a", href=re.compile(r"^verdicts\.html\?"))
    asked = {tuple(dict(parse_qsl(urlsplit(link["href"]).query)).values()) for link in links}
    assert asked == {*rows[["experiment", "judge"]].itertuples(index=False, name=None)}
    assert all(re.match(r"[-+]?\d", link.get_text()) for link in links)


def test_one_file_holds_all_pages_and_leads_nowhere_else(files: dict[str, bytes]) -> None:
    made = pages.files(results(), small_verdicts(), one_file=True)
    assert [*made] == ["index.html"]
    tree = soup(made["index.html"])
    assert [f"{each['id']}.html" for each in tree.find_all("article")] == [n for n in files if n.endswith(".html")]
    ids = [each["id"] for each in tree.find_all(id=True)]
    assert len(ids) == len(set(ids))
    inside = [link["href"] for link in tree.find_all("a", href=True) if not link["href"].startswith("http")]
    assert inside and all(href.partition("#")[2] in set(ids) | {"main"} for href in inside)
    assert tree.find("a", href=re.compile(r"^\?experiment=\w+&judge=\w+#verdicts$"))
    assert not tree.find_all("a", download=True)


@pytest.mark.parametrize(
    ("file", "place", "value", "told"),
    [
        ("report.ipynb", ("cells", 1, "outputs", 0, "output_type"), None, r"report\.ipynb: no notebook"),
        ("report.ipynb", ("cells", 1, "outputs", 0, "data", "image/png"), "AAAA", r"report\.ipynb: a figure .* no PNG"),
        ("report.ipynb", ("metadata",), [], r"report\.ipynb: no notebook"),
        ("numbers.json", ("provenance",), "x", r"numbers\.json: provenance: expected"),
        ("summary.json", ("rows", 0, "where"), [[]], r"summary\.json: "),
        ("summary.json", ("card", 0, "estimate", "data"), ["folder"], r"summary\.json: card.*data = .*a valid string"),
        ("summary.json", ("card", 0, "estimate", "data"), "", r"summary\.json: .*data is empty"),
        ("summary.json", ("models",), [{"model": "m"}], r"summary\.json: key 'models\.0\.calls' is missing"),
    ],
)
def test_a_file_of_results_that_is_not_as_we_write_it_is_named(
    tmp_path: Path, file: str, place: tuple[Any, ...], value: Any, told: str
) -> None:
    picture = nbformat.v4.new_output("display_data", data={"image/png": base64.b64encode(png()).decode()})
    cell = nbformat.v4.new_code_cell("1", execution_count=1, outputs=[picture])
    folder = write_results(tmp_path / "own", plain_book(cell))
    content = json.loads((folder / file).read_text(encoding="utf-8"))
    at = content
    for step in place[:-1]:
        at = at[step]
    at[place[-1]] = value
    (folder / file).write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(ValueError, match=told):
        pages.files(results([folder]), [])


@pytest.mark.parametrize("about", ["x", {"width": "wide"}, {"width": -3}, {"width": 10**9}, {"alt": [1]}])
def test_odd_metadata_of_a_picture_leave_its_own_size(tmp_path: Path, about: Any) -> None:
    book = plain_book(nbformat.v4.new_code_cell("1", execution_count=1))
    picture = {"image/png": base64.b64encode(png(40, 20)).decode()}
    output = nbformat.v4.new_output("display_data", data=picture, metadata={"image/png": about})
    book.cells[-1].outputs = [output]
    made = pages.files(results([write_results(tmp_path / "own", book)]), [])
    assert b'width="40" height="20"' in made["mt_bench_blind-own.html"]


def test_without_notebooks_there_is_no_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "NOTEBOOKS", tmp_path)
    with pytest.raises(ValueError, match="no notebooks here"):
        results()


def test_several_runs_of_one_experiment_have_a_page_each(tmp_path: Path) -> None:
    for name in ("mt_bench_blind-0a", "mt_bench_blind-0b", "cells/x/mt_bench_blind"):
        write_results(tmp_path / name, plain_book())
    found = results([tmp_path])
    assert [each.page for each in found] == ["mt_bench_blind-0a", "mt_bench_blind-0b", "mt_bench_blind-x"]
    made = pages.files(found, [])
    assert {"mt_bench_blind-0a.html", "mt_bench_blind-x.html"} <= set(made)


# --- the folder -------------------------------------------------------------------------------------------------------


def written(folder: Path, found: list[Run]) -> None:
    """A report of these results without verdicts."""
    write(folder, pages.files(found, []))


def made_in(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def small(tmp_path: Path) -> Path:
    code = nbformat.v4.new_code_cell("1", execution_count=1)
    return write_results(tmp_path / "figures" / "own", plain_book(code), data="folder")


@pytest.mark.slow
def test_the_same_results_give_the_same_bytes_in_every_process(small: Path, tmp_path: Path) -> None:
    written = []
    for seed in ("1", "2"):
        target = tmp_path / seed
        command = [sys.executable, "-m", "helpers", "report", "--to", str(target), "--results", str(small)]
        env = {"PYTHONHASHSEED": seed, "PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "PYTHONPATH": ":".join(sys.path)}
        subprocess.run(command, cwd=paths.ROOT, env=env, check=True, capture_output=True)
        written.append(made_in(target))
    assert written[0] == written[1] and len(written[0]) > 10


def test_another_report_takes_the_place_of_an_earlier_one_and_leaves_nothing_of_it(small: Path, tmp_path: Path) -> None:
    target, other = tmp_path / "report", write_results(tmp_path / "other", plain_book(), name="hinting_groups")
    written(target, results([small]))
    (target / "notes.txt").write_text("mine", encoding="utf-8")
    written(target, results([other]))
    there = made_in(target)
    assert "hinting_groups-other.html" in there and "mt_bench_blind-own.html" not in there
    assert there["notes.txt"] == b"mine", "what the report did not write is not its to delete"


def test_a_folder_that_is_no_report_is_left_alone(small: Path, tmp_path: Path) -> None:
    target = tmp_path / "thesis"
    target.mkdir()
    (target / "index.html").write_text("mine", encoding="utf-8")
    with pytest.raises(ValueError, match=r"thesis: not empty \(index.html\) and no earlier report"):
        written(target, results([small]))
    assert made_in(target) == {"index.html": b"mine"}
    with pytest.raises(ValueError, match="a file, expected a folder"):
        written(target / "index.html", results([small]))


def test_a_key_in_the_results_reaches_no_page(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = "Zq7-secret-94x-of-nobody"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    (small / "table.csv").write_text(f"a\n{key}\n", encoding="utf-8")
    out = nbformat.v4.new_output("stream", name="stdout", text=f"it is {key}")
    nbformat.write(plain_book(nbformat.v4.new_code_cell("1", execution_count=1, outputs=[out])), small / "report.ipynb")
    written(tmp_path / "report", results([small]))
    there = made_in(tmp_path / "report")
    assert not [name for name, content in there.items() if key.encode() in content]
    assert b"[OPENAI_API_KEY]" in there["mt_bench_blind-own.html"]


def test_pictures_survive_the_search_for_keys(files: dict[str, bytes], tmp_path: Path, small: Path) -> None:
    picture = nbformat.v4.new_output(
        "display_data",
        data={"image/png": base64.b64encode(png(300, 200)).decode()},
        metadata={"image/png": {"alt": "White."}},
    )
    code = nbformat.v4.new_code_cell("1", execution_count=1, outputs=[picture])
    nbformat.write(plain_book(code), small / "report.ipynb")
    written(tmp_path / "report", results([small]))
    tree = soup((tmp_path / "report" / "mt_bench_blind-own.html").read_bytes())
    assert base64.b64decode(tree.find("img")["src"].partition(",")[2]) == png(300, 200)


def test_the_command_makes_a_report_and_says_where(small: Path, tmp_path: Path, monkeypatch, capsys) -> None:
    target = tmp_path / "report"
    code, told, _ = recuse(monkeypatch, capsys, "report", "--to", str(target), "--results", str(small))
    assert code == 0 and f"open {target / 'index.html'}" in told and "6 pages of 1 notebooks" in told
    code, _, told = recuse(monkeypatch, capsys, "report", "--to", str(tmp_path), "--results", str(small))
    assert code == 2 and "no earlier report" in told
    nbformat.write(plain_book(nbformat.v4.new_code_cell("1")), small / "report.ipynb")
    code, _, told = recuse(monkeypatch, capsys, "report", "--to", str(target), "--results", str(small))
    assert code == 2 and "was not executed. This runs it: recuse run 01_mt_bench_blind" in told
