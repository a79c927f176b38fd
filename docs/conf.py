"""Settings of Sphinx for `make docs`: the pages of this repository as one site that needs no network.

The folder of sources is the repository itself, so that the links between its pages hold here as they do on a code host.
Only how a page is read changes here: tables of contents, links to folders, and what notebooks show.
"""

from __future__ import annotations

import json
import os
import re
from functools import partial
from pathlib import Path
from typing import Any

from docutils.nodes import SkipNode
from latex2mathml.converter import convert
from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = (path.stem.partition("_")[2] for path in sorted(ROOT.glob("notebooks/0*.ipynb")))
NAMES = [name for name in NOTEBOOKS if (ROOT / "experiments" / name / "report.ipynb").is_file()]

project = html_title = "Recuse"
author = "The Recuse authors"
root_doc = "README"
extensions = ["myst_nb"]
include_patterns = [
    *("README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/*.md", "data/README.md", "benchmarks/results.md"),
    *("experiments/*/report.ipynb", "figures/*/captions.md", "figures/overview/estimands.md"),
]
exclude_patterns = ["**/.*", ".*", "docs/_build", "figures/runs", "**/replies", "**/downloads", "**/environments"]

#: The navigation: a page, and those beneath it.
CONTENTS = {
    "README": [
        *("Choose </docs/choose>", "Notebooks </docs/notebooks>", "Run </docs/run>", "Figures </docs/gallery>"),
        *("Findings </docs/findings>", "Numbers </figures/overview/estimands>", "Glossary </docs/glossary>"),
        *("Extend </CONTRIBUTING>", "Security </SECURITY>"),
    ],
    "docs/notebooks": [f"/experiments/{name}/report" for name in NAMES],
    "docs/gallery": [f"/figures/{name}/captions" for name in NAMES],
    "docs/run": [f"/docs/{name}" for name in ("models", "analyze", "audit", "compare", "power", "results", "paper")],
    "docs/findings": ["/docs/trust", "/docs/others"],
    "CONTRIBUTING": ["Data and formats </data/README>", "Benchmarks </benchmarks/results>"],
}

myst_enable_extensions = ["dollarmath", "attrs_block"]
myst_heading_anchors = 4
nb_execution_mode = "off"
nb_ipywidgets_js: dict[str, Any] = {}  # they would come from elsewhere
html_math_renderer = "mathml"

html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_css_files = ["recuse.css"]
html_show_sourcelink = html_copy_source = False
html_context = {"default_mode": "auto"}
html_theme_options = {
    "header_links_before_dropdown": 9,
    "navbar_persistent": ["search-button"],
    **{"navigation_with_keys": False, "show_prev_next": False, "footer_start": [], "footer_end": []},
    "secondary_sidebar_items": ["page-toc"],
}

LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s#:]+)\)")
TITLE = re.compile(r"^# .+$", re.MULTILINE)
IMAGE = re.compile(r"^## Figure (\S+)\n\n!\[.+?\]\((\S+\.png)\)$", re.MULTILINE | re.DOTALL)
#: Markdown that a notebook computed: it may quote texts of models, which must neither be markup nor a directive.
OUTPUT = MarkdownIt("commonmark", {"html": False}).enable("table")


def mend_links(text: str, folder: Path) -> str:
    """A link to a folder leads to its page of figures or its README; without such a page it is plain text."""

    def mend(found: re.Match[str]) -> str:
        target = folder / found[2]
        pages = [name for name in ("captions.md", "README.md") if (target / name).is_file()]
        if target.suffix == ".ipynb" and target.name != "report.ipynb":
            return f"[{found[1]}](path:{found[2]})"  # to download: the site shows executed notebooks
        if not target.is_dir():
            return found[0]
        return f"[{found[1]}]({found[2].rstrip('/')}/{pages[0]})" if pages else found[1]

    return LINK.sub(mend, text)


def thumbnails(folder: Path) -> str:
    """All figures of the default runs, small, each a link to itself with its caption and its text alternative."""
    parts = []
    for name in NAMES:
        to = os.path.relpath(ROOT / "figures" / name, folder)
        parts += [f"## {name}", "{.thumbnails}"]
        for figure, file in IMAGE.findall((ROOT / "figures" / name / "captions.md").read_text(encoding="utf-8")):
            parts.append(f"[![{figure}]({to}/{file})]({to}/captions.md#figure-{figure})")
    return "\n".join(parts)


def mend_notebook(text: str, folder: Path) -> str:
    """A notebook with its code folded, its figures described, and computed text as nothing but text."""
    notebook, cells = json.loads(text), []
    for cell in notebook["cells"]:
        cells.append(cell)
        if cell["cell_type"] == "markdown":
            cell["source"] = mend_links("".join(cell["source"]), folder)
            continue
        outputs, cell["outputs"], cell["metadata"] = cell["outputs"], [], {"tags": ["hide-input"]}
        for number, output in enumerate(outputs):  # each in a cell of its own: MyST-NB has one text alternative a cell
            if "text/markdown" in (data := output.get("data", {})):
                output["data"] = {"text/html": OUTPUT.render("".join(data["text/markdown"]))}
            alt = output.get("metadata", {}).get("image/png", {}).get("alt", "")
            about = {"tags": ["remove-input"], "mystnb": {"image": {"alt": alt}}}
            cells.append(cell | {"id": f"{cell['id']}-{number}", "outputs": [output], "metadata": about})
    return json.dumps(notebook | {"cells": cells})


def read_source(app: Any, page: str, source: list[str]) -> None:
    """What Sphinx reads of a page instead of what stands in the repository."""
    folder = (ROOT / page).parent
    if page.endswith("/report"):
        source[0] = mend_notebook(source[0], folder)
        return
    text = re.sub(r'^<a id="(.+)"></a>$', r"(\1)=", mend_links(source[0], folder), flags=re.MULTILINE)
    if page == "docs/gallery":
        text += "\n" + thumbnails(folder)
    if page in CONTENTS:
        contents = "\n".join(["```{toctree}", ":hidden:", "", *CONTENTS[page], "```"])
        text = TITLE.sub(lambda found: f"{found[0]}\n\n{contents}\n", text, count=1)
    source[0] = text


def write_math(display: str, writer: Any, node: Any) -> None:
    """A formula as MathML, which browsers draw without a script."""
    writer.body.append(convert(node.astext(), display=display))
    raise SkipNode


def write_index(app: Any, error: Exception | None) -> None:
    """The address of the folder leads to the first page."""
    if error is None:
        head = '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=README.html">'
        (Path(app.outdir) / "index.html").write_text(f"{head}<title>Recuse</title>\n", encoding="utf-8")


def setup(app: Any) -> None:
    """What Sphinx calls."""
    app.add_html_math_renderer("mathml", *((partial(write_math, display), None) for display in ("inline", "block")))
    app.connect("source-read", read_source)
    app.connect("build-finished", write_index)
