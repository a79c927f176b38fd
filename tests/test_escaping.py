"""Untrusted text where it is shown: nothing in it acts, on a page, in TeX, in a spreadsheet or in a terminal."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from nbconvert import HTMLExporter
from nbconvert.filters import markdown2html

from helpers import __main__ as command, escaping, figures, tables
from helpers.commands import printing
from helpers.export import export
from helpers.judge import notice
from helpers.macros import MARK
from helpers.run import showing
from helpers.types import Estimate
from tests.case_tables import load_cases
from tests.payloads import LONG, PAYLOADS, alive, alive_in_pdf, alive_in_svg, faults_of_latex, png_chunks, unseen

pytestmark = pytest.mark.filterwarnings("ignore:Glyph .* missing from font")
csv.field_size_limit(2**21)
FORMULAS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
TEXTS = {**PAYLOADS, "long": LONG}
#: Half a character is refused where texts are read; pandas and files could not hold it.
WHOLE = {name: text for name, text in TEXTS.items() if name != "lone surrogate"}
SHORT = [text for text in WHOLE.values() if text != LONG]
EVERY = "\n\n".join(SHORT)


# --- the readers find what is alive ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["script", "handler", "attribute", "svg", "style", "formula", "bidi", "colours"])
def test_the_reader_of_pages_finds_what_is_not_escaped(name: str) -> None:
    assert alive(f'<p title="{PAYLOADS[name]}">{PAYLOADS[name]}</p>')


@pytest.mark.parametrize(
    "name", ["link", "picture", "definition", "other fence", "html block", "formula", "environment"]
)
def test_the_reader_of_pages_finds_what_markdown_makes(name: str) -> None:
    assert alive(markdown2html(PAYLOADS[name])) or "javascript" in PAYLOADS[name]


def test_the_other_readers_find_what_is_not_escaped() -> None:
    assert {r"\input", r"\write", "bare &"} <= set(faults_of_latex(PAYLOADS["latex"]))
    assert faults_of_latex("{") and faults_of_latex("a & b") and faults_of_latex("x" * 200_000)
    assert alive_in_svg(b"<svg><script/></svg>") and alive_in_svg(b'<svg onload="x"/>')
    assert alive_in_pdf(b"1 0 obj << /OpenAction 2 0 R >> endobj")


# --- single texts -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_on_a_page_is_words(name: str) -> None:
    told = escaping.html(TEXTS[name])
    page = f'<p class="mathjax_ignore" title="{told}" id=\'{told}\'>{told}</p>'
    assert alive(page) == [] and page.count("<") == 2


@pytest.mark.parametrize("name", PAYLOADS)
@pytest.mark.parametrize(
    "frame", ["{}", "a {} b", "- {}", "> {}", "**{}**: `x` {}", "| {} |", "x\n\n{}\n\ny", "{0}\n{0}"]
)
def test_a_text_in_markdown_acts_nowhere(name: str, frame: str) -> None:
    told = frame.replace("{0}", "{}").replace("{}", PAYLOADS[name])
    assert alive(markdown2html(escaping.markdown(told))) == []
    assert alive(markdown2html(escaping.markdown(told, greater=True))) == []
    assert alive(markdown2html(escaping.slanted(told))) == []
    both = f"{told}\n\n{escaping.fenced(told)}\n\n{told}"
    assert alive(markdown2html(escaping.markdown(both))) == []


PIECES = [*PAYLOADS.values(), *load_cases("payloads")["pieces"]]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=12).map("".join))
def test_no_text_in_markdown_acts(text: str) -> None:
    assert alive(markdown2html(escaping.markdown(text))) == []
    assert alive(markdown2html(escaping.slanted(text))) == []
    assert alive(markdown2html(escaping.markdown(escaping.fenced(text)))) == []
    assert alive(markdown2html(escaping.fenced(text))) == []


@pytest.mark.parametrize(
    "words",
    [
        "**Primacy** 35.0 % [30.2, 40.0], n = 400; A>B, `sim_gpt`",
        "for $0.10",
        "- a\n- b\n\n| x |\n|---|\n| 1 |",
        "5 < 6",
    ],
)
def test_plain_sentences_keep_their_markup(words: str) -> None:
    assert escaping.markdown(words) == words.replace("<", "&lt;")


@settings(max_examples=100, deadline=None)
@given(st.text())
def test_what_people_can_see_is_kept(text: str) -> None:
    told = escaping.visible(text)
    assert unseen(told.replace("\u200c", "").replace("\u200d", "")) == [] and escaping.visible(told) == told
    told.encode()
    if text.isprintable():
        assert told == text


@settings(max_examples=100, deadline=None)
@given(st.text() | st.lists(st.sampled_from([*PAYLOADS.values()]), max_size=3).map("".join))
def test_any_text_is_words_to_latex(text: str) -> None:
    assert faults_of_latex(escaping.latex(text)) == []


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(max_size=8) | st.sampled_from(SHORT), min_size=1, max_size=3))
def test_no_cell_of_a_spreadsheet_begins_a_formula(cells: list[str]) -> None:
    text = tables.csv_text(pd.DataFrame([cells], columns=[f"c{at}" for at in range(len(cells))]))
    assert unseen(text.replace("\u200c", "").replace("\u200d", "")) == []
    for delimiter in ",;\t":
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        begun = [re.sub(r"^[\s\ufffd\u200c\u200d]+", "", each) for row in rows for each in row]
        assert not [each for each in begun if each.startswith(FORMULAS)]
    assert len(list(csv.reader(io.StringIO(text, newline="")))) == 2


@pytest.mark.parametrize("name", TEXTS)
def test_a_terminal_is_told_nothing_to_obey(name: str, capsys: pytest.CaptureFixture) -> None:
    printing.echo(TEXTS[name])
    printing.echo(TEXTS[name], err=True)
    said = capsys.readouterr()
    assert unseen(said.out.replace("\u200d", "")) == unseen(said.err.replace("\u200d", "")) == []


def test_errors_of_commands_and_notices_obey_nothing(tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    hostile = tmp_path / "\x1b[31mred\u202e.csv"
    hostile.write_text("judge,\x1b]0;owned\x07,candidates,verdict\n", encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["recuse", "analyze", str(hostile)])
    with pytest.raises(SystemExit):
        command.entry()
    said = capsys.readouterr().err
    assert "red" in said and unseen(said) == []
    monkeypatch.setattr(sys, "__stderr__", sys.stderr)
    notice(f"held by {PAYLOADS['title']}")
    assert "owned" in (said := capsys.readouterr().err) and unseen(said) == []


# --- tables -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def table() -> tables.Table:
    column = pd.DataFrame({PAYLOADS["handler"]: SHORT, "value": np.arange(len(SHORT)) / 7})
    whole = pd.concat([pd.DataFrame({text: [text] for text in SHORT}), column], ignore_index=True).assign(data="folder")
    return tables.Table("hostile", whole, EVERY)


def test_a_table_on_a_page_is_cells_and_its_caption() -> None:
    frame = pd.DataFrame({"judge": ["sim_gpt"], "n": pd.array([3], dtype="Int64"), "data": ["asked"]})
    left, right = ' style="text-align: left;"', ' style="text-align: right;"'
    assert tables.Table("t", frame, "First.")._repr_html_() == (
        '<table class="tex2jax_ignore mathjax_ignore">\n'
        f"<thead><tr><th{left}>judge</th><th{right}>n</th><th{left}>data</th></tr></thead>\n<tbody>\n"
        f"<tr><td{left}>sim_gpt</td><td{right}>3</td><td{left}>asked</td></tr>\n</tbody>\n</table>\n"
        '<p class="tex2jax_ignore mathjax_ignore">First.</p>'
    )


def test_a_table_of_hostile_cells_is_words_to_latex(table: tables.Table) -> None:
    assert faults_of_latex(tables.latex_text(table.frame, table.words, "tab:x")) == []
    assert faults_of_latex(tables.latex_text(pd.DataFrame({"x": [LONG], "data": ["x"]}), LONG, "tab:x")) == []


DOCUMENT = r"""\documentclass{article}
\usepackage{booktabs}
\begin{document}
\batchmode
%s
\end{document}
"""


@pytest.mark.parametrize("engine", ["pdflatex", "lualatex", "xelatex", "tectonic"])
def test_latex_compiles(tmp_path: Path, engine: str) -> None:
    if shutil.which(engine) is None:
        pytest.skip(f"no {engine} here: test_a_table_of_hostile_cells_is_words_to_latex reads it token by token")
    frame = pd.DataFrame({"x": [*WHOLE.values()], "data": "folder"})
    body = tables.latex_text(frame, "All of them.", "tab:x")
    (tmp_path / "x.tex").write_text(DOCUMENT % body, encoding="utf-8")
    options = [] if engine == "tectonic" else ["-no-shell-escape", "-halt-on-error", "-interaction=batchmode"]
    done = subprocess.run([engine, *options, "x.tex"], cwd=tmp_path, capture_output=True, check=False, timeout=300)
    log = tmp_path / "x.log"
    assert done.returncode == 0, log.read_text(errors="replace")[-2000:] if log.is_file() else done.stderr[-2000:]
    assert (tmp_path / "x.pdf").stat().st_size > 1000


# --- a whole export ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What an experiment writes whose judges, candidates and categories are hostile."""
    names = [*WHOLE.values()]
    found = [
        Estimate("candidate_win_rate", {"judge": name, "candidate": f"{name}", "category": name}, 0.5, 0.4, 0.6,
                 n=90, clusters=30, data="folder", method="clustered") for name in names
    ]  # fmt: skip
    drawn = [replace(each, where={"candidate": each.where["candidate"]}) for each in found]
    figure = figures.show_sorted(drawn[:40], "candidate_win_rate", 0.5, drawn)
    figure = replace(figure, caption=f"{figure.caption} {EVERY}", alt=f"{figure.alt} {EVERY}")
    hostile = tables.table("names", EVERY, found, ["judge", "category"], ["id"])
    folder = tmp_path_factory.mktemp("hostile") / "out"
    claims = pd.DataFrame({"id": names, "quantity": names, "published": 1.0})
    export(folder, [figure], [hostile], drawn, {"experiment": EVERY}, claims)
    return folder


def test_no_exported_file_acts(exported: Path) -> None:
    data = {path.name: path.read_bytes() for path in exported.iterdir()}
    (name,) = {name.partition(".")[0] for name in data if name.endswith(".png")}
    assert alive_in_svg(data[f"{name}.svg"]) == [] and alive_in_pdf(data[f"{name}.pdf"]) == []
    assert png_chunks(data[f"{name}.png"]) <= {"IHDR", "pHYs", "IDAT", "IEND"}
    assert alive(markdown2html(data["captions.md"].decode())
                 .replace(f'src="{name}.png"', "")) == []  # fmt: skip
    macros = frozenset(re.findall(r"\\newcommand\{\\([A-Za-z]+)\}", data["numbers.tex"].decode()))
    numbers = data["numbers.tex"].decode().replace(MARK, "")  # a definition of ours, which needs a bare sign
    assert len(macros) == len(WHOLE) and faults_of_latex(numbers, macros) == []
    assert faults_of_latex(data["names.tex"].decode()) == []
    kept = {each["where"]["candidate"] for each in json.loads(data["numbers.json"])["numbers"]}
    assert kept == {*WHOLE.values()}, "data keep every byte"
    for csv_file in ("names.csv", "claims.csv"):
        rows = list(csv.reader(io.StringIO(data[csv_file].decode(), newline="")))
        assert len(rows) == 1 + len(WHOLE) and {len(row) for row in rows} == {len(rows[0])}
        assert not [cell for row in rows for cell in row if cell[:1] in ("=", "+", "-", "@", "\t", "\r", "\n")]
        assert unseen(data[csv_file].decode().replace("\u200d", "")) == []


# --- a notebook and its page ------------------------------------------------------------------------------------------


def bundle(thing: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a kernel sends of a thing that is displayed, with its metadata."""
    ways = {"text/markdown": "_repr_markdown_", "text/html": "_repr_html_", "image/png": "_repr_png_"}
    told, about = {"text/plain": repr(thing)}, {}
    for kind, way in ways.items():
        made = getattr(thing, way, lambda: None)()
        if isinstance(made, tuple):
            made, about[kind] = made
        if made is not None:
            told[kind] = made
    return told, about


def page(monkeypatch: pytest.MonkeyPatch, *steps: Any) -> str:
    """The page of a notebook whose cells did these steps."""
    outputs: list[Any] = []

    def display(*things: Any, **_: Any) -> None:
        for data, metadata in map(bundle, things):
            outputs.append(nbformat.v4.new_output("display_data", data=data, metadata=metadata))

    monkeypatch.setattr("IPython.display.display", display)
    for step in steps:
        step()
    assert outputs
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1", outputs=outputs)])
    return HTMLExporter(template_name="basic").from_notebook_node(book)[0]


def test_no_output_of_a_notebook_acts_on_its_page(monkeypatch: pytest.MonkeyPatch, table: tables.Table) -> None:
    drawn = figures.show_sorted(
        [Estimate("gold_accuracy", {"judge": name}, 0.5, 0.4, 0.6, n=9, clusters=30, data="folder")
         for name in ("a", PAYLOADS["handler"])], "gold_accuracy", 0.5)  # fmt: skip
    drawn = replace(drawn, caption=f"{drawn.caption} {EVERY}", alt=f'{EVERY} " onerror="alert(1)')
    frame = table.frame
    made = page(
        monkeypatch,
        lambda: showing.say(EVERY, *PAYLOADS.values()),
        lambda: showing.say(escaping.fenced(EVERY)),
        lambda: showing.show(frame, frame.set_index(PAYLOADS["handler"]), table, drawn),
    )
    assert alive(made.replace("&para;", "")) == []
    assert made.count("onerror=alert(1)") > 5, "the words are there"
