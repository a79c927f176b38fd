"""A paper as TeX sets it: the example compiles and fits in each style, fonts are embedded; hostile texts print."""

from __future__ import annotations

import re
import shutil
import subprocess
import zlib
from collections import Counter
from pathlib import Path

import pytest

from helpers import paper
from helpers.figures.style import style as style_of
from helpers.macros import MARK
from helpers.paper import facts, layout
from helpers.paper.writing import PREAMBLE
from tests.paper_results import HOSTILE, blind, hostile
from tests.payloads import faults_of_latex

STYLES = ("acl", "icml", "neurips")
#: What sticks out by less is not seen.
OVERFULL_PT = 2.0
#: How high a small letter is, as a share of the size: Times, in which the styles are set, by Adobe's font metrics.
TIMES_X_HEIGHT = 0.450
TEX = pytest.mark.skipif(
    shutil.which("pdflatex") is None or shutil.which("bibtex") is None,
    reason="no pdflatex and bibtex on this machine (Debian: texlive-latex-recommended)",
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A paper of experiment 1 in each style, by style."""
    found = {}
    for name in STYLES:
        results = blind(tmp_path_factory.mktemp(name) / "mt_bench_blind", name)
        paper.write(name, found.setdefault(name, results.parent / "recuse"), [str(results)])
    return found


def compiled(folder: Path, name: str = "example") -> str:
    """The log of pdflatex, after bibtex and as often as references need."""
    # Plain objects, so that the test can read which fonts there are.
    given = ["-no-shell-escape", "-interaction=nonstopmode", "-halt-on-error", rf"-jobname={name}"]
    told = rf"\pdfobjcompresslevel=0 \input{{{name}}}"
    for at in range(3):
        done = subprocess.run(["pdflatex", *given, told], cwd=folder, capture_output=True, check=False, timeout=300)
        log = (folder / f"{name}.log").read_text(errors="replace")
        assert done.returncode == 0, log[-3000:]
        if at == 0 and (folder / "references.bib").is_file():
            done = subprocess.run(["bibtex", name], cwd=folder, capture_output=True, text=True, check=False, timeout=60)
            assert done.returncode == 0, done.stdout
            warned = [
                line for line in done.stdout.splitlines() if line.startswith("Warning") and "empty year" not in line
            ]
            assert not warned
    return log.replace("\n", "")


def fonts_of(pdf: bytes) -> Counter[str]:
    """The kinds of fonts in a PDF whose objects are plain, and how many programs of fonts it holds."""
    plain = re.sub(rb"stream\r?\n.*?endstream", b"", pdf, flags=re.DOTALL)
    kinds = Counter(
        kind.decode() for kind in re.findall(rb"/Subtype\s*/(Type\d|TrueType|CIDFontType\d|MMType1)", plain)
    )
    kinds["programs"] = len(set(re.findall(rb"/FontFile\d?\s+(\d+) ", plain)))
    kinds["descriptors"] = len(re.findall(rb"/Type\s*/FontDescriptor", plain))
    return kinds


def sizes_in(pdf: bytes) -> Counter[float]:
    """How often text of each size is begun in a figure."""
    found: Counter[float] = Counter()
    for stream in re.findall(rb"stream\r?\n(.*?)endstream", pdf, re.DOTALL):
        try:
            text = zlib.decompress(stream)
        except zlib.error:
            continue
        found.update(float(size) for size in re.findall(rb"/F\d+ ([\d.]+) Tf", text))
    return found


# --- the example ------------------------------------------------------------------------------------------------------


@TEX
@pytest.mark.parametrize("name", STYLES)
def test_the_example_compiles_and_fits_its_columns(made: dict[str, Path], name: str) -> None:
    log = compiled(made[name])
    wide = [float(points) for points in re.findall(r"Overfull \\hbox \(([\d.]+)pt too wide", log)]
    assert not [points for points in wide if points > OVERFULL_PT]
    for words in ("Float too large", "is shrunk to", "undefined on input", "multiply defined", "Missing character"):
        assert words not in log, re.findall(rf".{{80}}{words}.{{80}}", log)
    pages = int(re.search(r"Output written on example\.pdf \((\d+) pages", log)[1])
    assert 3 <= pages <= 15
    fonts = fonts_of((made[name] / "example.pdf").read_bytes())
    assert fonts["Type3"] == 0 and fonts["descriptors"] == fonts["programs"] > 5


@pytest.mark.parametrize("name", STYLES)
def test_figures_have_the_width_of_a_column_and_their_own_size(made: dict[str, Path], name: str) -> None:
    page, look = paper.PAGES[name], style_of(name)
    files = sorted((made[name] / "figures").glob("*.pdf"))
    assert len(files) == 3
    for file in files:
        box = re.search(rb"/MediaBox\s*\[\s*0 0 ([\d.]+) ([\d.]+)", file.read_bytes())
        width = float(box[1]) / 72
        assert width == pytest.approx(look.column, abs=0.01) or width == pytest.approx(look.text, abs=0.01)
        told = file.with_suffix(".tex").read_text(encoding="utf-8")
        # Without options LaTeX sets a picture in its own size.
        assert re.search(r"\\includegraphics\{", told)
        assert ("figure*" in told) == (page.columns == 2 and width > page.column + 0.01)
        fonts = fonts_of(file.read_bytes())
        assert fonts["Type3"] == 0 and fonts["programs"] > 0


@pytest.mark.parametrize("name", STYLES)
def test_letters_in_figures_are_as_high_as_those_of_the_caption(made: dict[str, Path], name: str) -> None:
    from fontTools.pens.boundsPen import BoundsPen
    from fontTools.ttLib import TTFont
    from matplotlib.font_manager import findfont

    font = TTFont(findfont("DejaVu Sans"))
    glyphs = font.getGlyphSet()
    pen = BoundsPen(glyphs)
    glyphs["x"].draw(pen)
    share = pen.bounds[3] / font["head"].unitsPerEm
    size, caption = style_of(name).size, paper.PAGES[name].caption
    assert size * share == pytest.approx(caption * TIMES_X_HEIGHT, rel=0.1)
    for file in (made[name] / "figures").glob("*.pdf"):
        sizes = sizes_in(file.read_bytes())
        assert sizes.most_common(1)[0][0] == pytest.approx(size, abs=0.01)
        # The small print of a figure (a scale, an interval in a cell) is never below a footnote's.
        assert min(sizes) * share > 7 * TIMES_X_HEIGHT


# --- tables -----------------------------------------------------------------------------------------------------------

CELL = "+12.3 pp [-45.6, +78.9]"
WIDE = layout.Sheet(
    name="wide",
    caption="All of it.",
    columns=("judge", "data", *(f"first_position_effect_{i}" for i in range(14))),
    rows=[(f"sim_judge_number_{row}", "asked", *([CELL] * 14)) for row in range(70)],
)
WORDS = "a finding in many words, of which each says little " * 6
PROSE = WIDE.model_copy(update={"name": "prose", "columns": ("judge", "words", "n")})
PROSE = PROSE.model_copy(update={"rows": tuple((f"judge_{row}", WORDS, row) for row in range(160))})
NARROW = layout.Sheet(name="narrow", caption="", columns=("judge", "rate"), rows=[("a", "50.0 % [40.0, 60.0]")])
ROOT = r"""\documentclass[%s]{article}
\usepackage[textwidth=%gin,textheight=%gin,columnsep=%gin]{geometry}
%s
\begin{document}
\sloppy
%s
\end{document}
"""


def written(name: str, folder: Path, text: str) -> None:
    page = paper.PAGES[name]
    options = f"{page.base:g}pt,{page.paper}" + (",twocolumn" if page.columns == 2 else "")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "numbers.tex").write_text("", encoding="utf-8")
    preamble = PREAMBLE.replace("MARK", MARK)
    root = ROOT % (options, page.text, page.height, page.gap, preamble, text)
    (folder / "example.tex").write_text(root, encoding="utf-8")


@TEX
@pytest.mark.parametrize("name", STYLES)
def test_a_table_too_wide_or_too_long_is_set_in_parts_that_fit(tmp_path: Path, name: str) -> None:
    page = paper.PAGES[name]
    results = layout.Results("x", "x", tmp_path, {}, (), None, {}, (), ())
    texts = {sheet.name: layout.table_tex(results, sheet, page) for sheet in (WIDE, PROSE, NARROW)}
    written(name, tmp_path, "\\clearpage\n".join(texts.values()))
    log = compiled(tmp_path)
    assert "is shrunk to" not in log and "Float too large" not in log
    assert not [p for p in re.findall(r"Overfull \\hbox \(([\d.]+)pt", log) if float(p) > OVERFULL_PT]
    assert texts["wide"].count(r"\begin{table") > 1 and texts["narrow"].count(r"\begin{table") == 1
    # Every part names its rows, every number stands somewhere, and letters are never smaller than eight points.
    bodies = texts["wide"].split(r"\midrule")[1:]
    assert all("sim\\_judge\\_number\\_" in body for body in bodies)
    assert texts["wide"].count("78.9]") == 70 * 14
    assert "Small" in texts["wide"] and layout.SIZES == (9.0, 8.0)
    cut = re.search(r"The first (\d+) of 160 rows; prose\.csv holds all\.", texts["prose"])
    kept = len(re.findall(r"^judge\\_\d+ &", texts["prose"], re.MULTILINE))
    assert int(cut[1]) == kept > 20


def test_a_table_that_fits_stays_as_it_is() -> None:
    for page in paper.PAGES.values():
        (found,) = layout.layouts(NARROW, page)
        assert (found.wide, found.size, found.stacked, found.prose) == (False, 9.0, False, {})


# --- hostile results --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def evil(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("evil")
    results = hostile(folder / "out", "icml")
    paper.write("icml", folder / "recuse", [f"evil={results}"])
    return folder / "recuse"


#: What our own files are made of besides what is read from results.
OURS = {
    "RecuseNumber",
    "RecuseSimulatedNumber",
    "RecuseFolder",
    "RecuseSmall",
    "RecuseMedium",
    "RecuseFit",
    "RecuseItem",
}
OURS |= {
    "RecuseAllSimulated",
    "paragraph",
    "citep",
    "texttt",
    "emph",
    "setlength",
    "setcounter",
    "tabcolsep",
    "textwidth",
}
OURS |= {"raggedright", "arraybackslash", "linewidth", "hsize", "RecuseLevel", "RecuseLeastClusters", "RecusePower"}


def test_no_file_of_a_paper_of_hostile_results_commands_tex(evil: Path) -> None:
    numbers = (evil / "numbers.tex").read_text(encoding="utf-8")
    pairs = re.findall(r"Number\{(\w+)\}|\\newcommand\{\\(\w+)\}", numbers)
    own = OURS | {name for pair in pairs for name in pair if name}
    own = frozenset(own | {name + end for name in own for end in ("Full", "Interval", "N")})
    for file in evil.rglob("*.tex"):
        if file.name in ("recuse.tex", "example.tex", "appendix.tex"):
            continue  # ours from beginning to end but for labels and file names, which hold no text
        text = file.read_text(encoding="utf-8").replace(facts.HEAD, "").replace(MARK, "")
        text = re.sub(r"(?m)^% .*$|\\includegraphics(\[height=[0-9.]+in\])?\{\\RecuseFolder [a-z0-9_/-]+\}", "", text)
        assert faults_of_latex(text, own) == [], file


def test_labels_and_file_names_of_hostile_results_are_plain(evil: Path) -> None:
    plain = r"\\input\{\\RecuseFolder (figures|tables)/[A-Za-z0-9_-]+\}|\\clearpage|% .*|"
    lines = (evil / "appendix.tex").read_text(encoding="utf-8").splitlines()
    assert any("input" in line for line in lines) and not [line for line in lines if not re.fullmatch(plain, line)]


def test_comments_of_hostile_results_end_where_their_line_ends(evil: Path) -> None:
    for file in evil.rglob("*.tex"):
        text = file.read_text(encoding="utf-8")
        assert not re.search("[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029\x00]", text), file


@TEX
def test_hostile_results_compile_and_print_what_was_written(evil: Path) -> None:
    log = compiled(evil)
    assert "Output written on example.pdf" in log and "root:" not in log and len(HOSTILE) > 50
