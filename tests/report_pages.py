"""Reports for tests: small results of hostile names and texts, and what stands in a page."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
import pandas as pd
from bs4 import BeautifulSoup

from helpers.report import pages
from helpers.report.runs import Run, find_runs
from helpers.report.verdicts import of_run
from tests.case_tables import load_cases
from tests.payloads import PAYLOADS
from tests.runs import asked

#: Half a character is refused where texts are read; no file could hold it.
WHOLE = {name: text for name, text in PAYLOADS.items() if name != "lone surrogate"}
EVERY = "\n\n".join(WHOLE.values())
#: More that is aimed at a page which is put together of other pages.
AIMED = load_cases("payloads")["aimed"]
ATTACKS = {**WHOLE, **AIMED}
TABLE = "<table><thead><tr><th>{}</th></tr></thead><tr><td>{}</td></tr></table>\n<p>{}</p>"
#: Drawings that would act when somebody opens them from a report.
DRAWINGS = load_cases("payloads")["drawings"]
FORMULAS = r"$\href{javascript:alert(1)}{x}$ $\text{<img src=x onerror=alert(1)>}$ $a_1$"


def png(width: int = 40, height: int = 20) -> bytes:
    """A white picture."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress(b"".join(b"\x00" + b"\xff" * width for _ in range(height)))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def output(kind: str, text: str, about: dict[str, Any] | None = None) -> Any:
    """A thing that a cell displayed."""
    return nbformat.v4.new_output("display_data", data={kind: text}, metadata={kind: about or {}})


def hostile_book() -> Any:
    """A notebook whose cells displayed every attack as it stands, as careless code would."""
    outputs = [output("text/markdown", text) for text in ATTACKS.values()]
    outputs += [output("text/html", text) for text in ATTACKS.values()]
    outputs += [output("text/html", TABLE.replace("{}", text)) for text in ATTACKS.values()]
    outputs += [output("text/plain", text) for text in ATTACKS.values()]
    outputs += [nbformat.v4.new_output("stream", name="stdout", text=EVERY)]
    picture = base64.b64encode(png()).decode()
    for text in ATTACKS.values():
        outputs += [output("image/png", picture, {"alt": text, "width": 40})]
        outputs += [output("text/markdown", f"*{' '.join(text.split())}*")]
    cells = [
        nbformat.v4.new_markdown_cell("# Do hostile texts stay texts?"),
        nbformat.v4.new_code_cell("seed = 42  # draws", metadata={"tags": ["parameters"]}, execution_count=1),
        nbformat.v4.new_markdown_cell("## Words\n\n" + "\n\n".join(ATTACKS.values())),
        nbformat.v4.new_markdown_cell(f"Formulas: {FORMULAS}"),
        nbformat.v4.new_code_cell(f"show({EVERY!r})\n# </script><img onerror=x>", outputs=outputs, execution_count=2),
    ]
    return nbformat.v4.new_notebook(cells=cells)


def write_results(folder: Path, book: Any, name: str = "mt_bench_blind", data: str = "simulated") -> Path:
    """A folder of results with this executed notebook, and a summary of which every text is an attack."""
    folder.mkdir(parents=True)
    nbformat.write(book, folder / "report.ipynb")
    estimate = {"id": "x", "where": {}, "value": 0.1, "low": None, "high": None, "n": 9, "clusters": 9, "unit": "pp",
                "method": "", "data": data}  # fmt: skip
    rows = [{"sentence": text, **estimate, "unreadable": 0.0} for text in ATTACKS.values()]
    card = [
        {"judge": text, "measure": text, "estimate": estimate, "verdict": "bias", "words": text, "p": 0.01,
         "smallest": None}
        for text in ATTACKS.values()
    ]  # fmt: skip
    summary = {"protocol": "1.0", "title": name, "question": EVERY, "rows": rows, "card": card, "models": []}
    provenance = {"experiment": name, "data": data, "judges": {text: [text] for text in ATTACKS.values()}}
    numbers = {"protocol": "1.0", "provenance": provenance, "numbers": []}
    (folder / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
    (folder / "numbers.json").write_text(json.dumps(numbers), encoding="utf-8")
    (folder / "picture.png").write_bytes(png())
    for at, drawing in enumerate(DRAWINGS):
        (folder / f"drawing{at}.svg").write_text(drawing, encoding="utf-8")
    (folder / "page.html").write_text("<script>alert(1)</script>", encoding="utf-8")
    return folder


def results(folders: list[Path] | None = None) -> list[Run]:
    """The runs of a report, of which none is skipped."""
    runs, skipped = find_runs(folders)
    assert skipped == []
    return runs


@cache
def small_verdicts() -> tuple[tuple[pd.DataFrame, str], ...]:
    """The marked verdicts of small runs on simulated judges, each of another form or on other texts."""
    names = ("mt_bench_blind", "arena_hard_position_bias", "cognitive_biases", "verbosity_style")
    return tuple(of_run(asked(name, question_limit=12), name) for name in names)


@cache
def report_files() -> dict[str, bytes]:
    """The report of the results in git, with the verdicts of small runs."""
    return pages.files(results(), small_verdicts())


@cache
def soup(content: bytes) -> BeautifulSoup:
    """A page to look into."""
    return BeautifulSoup(content, "html.parser")


@cache
def addresses(content: bytes) -> frozenset[str]:
    """The addresses within a page."""
    return frozenset(element["id"] for element in soup(content).find_all(id=True))


def html_pages(files: dict[str, bytes]) -> dict[str, BeautifulSoup]:
    """The pages of a report by file."""
    return {name: soup(content) for name, content in files.items() if name.endswith(".html")}
