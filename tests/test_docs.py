"""The site of `make docs`: it builds without a warning, loads nothing from elsewhere, and no link in it is dead."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from helpers import paths

REPORTS = sorted(path.parent.name for path in paths.EXPERIMENTS.glob("*/report.ipynb"))
OUTSIDE = re.compile(r"^\s*(https?:)?//", re.IGNORECASE)
#: What a style sheet loads, once its comments are gone.
LOADED = re.compile(r"""(?:url\(|@import)\s*["']?\s*((?:https?:)?//[^"')\s]+)""", re.IGNORECASE)


class Page(HTMLParser):
    """What a page loads, where it links to, its ids, and the text alternatives of its images."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.alts: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.ids |= {found[name] for name in ("id", "name") if name in found}
        self.loads += [
            found[name] for name in ("src", "data", "poster") if name in found and not name.startswith("data-")
        ]
        self.loads += [each.split()[0] for each in found.get("srcset", "").split(",") if each.strip()]
        if tag == "link" and found.get("rel") not in ("canonical", "author"):
            self.loads.append(found.get("href", ""))
        elif tag == "a" and "href" in found:
            self.links.append(found["href"])
        if tag == "img":
            self.alts.append(found.get("alt", ""))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built site."""
    if find_spec("sphinx") is None or find_spec("myst_nb") is None or find_spec("pydata_sphinx_theme") is None:
        pytest.skip("the extra `docs` is not installed: `make docs` installs it")
    to = tmp_path_factory.mktemp("site") / "html"
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-n", "-c", "docs", ".", str(to)]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=paths.ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return to


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    paths_of_pages = (path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts)
    return {path: Page(path) for path in paths_of_pages}


def test_each_notebook_and_page_has_a_page(site: Path) -> None:
    wanted = [f"experiments/{name}/report.html" for name in REPORTS] + [
        f"figures/{name}/captions.html" for name in REPORTS
    ]
    wanted += [f"docs/{path.stem}.html" for path in (paths.ROOT / "docs").glob("*.md")]
    wanted += ["index.html", "README.html", "CONTRIBUTING.html", "SECURITY.html", "figures/overview/estimands.html"]
    assert len(REPORTS) == 7 and [name for name in wanted if not (site / name).is_file()] == []


def test_nothing_is_loaded_from_outside(site: Path, pages: dict[Path, Page]) -> None:
    found = [(path.name, each) for path, page in pages.items() for each in page.loads if OUTSIDE.match(each)]
    for path in site.rglob("*.css"):
        styles = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        found += [(path.name, each) for each in LOADED.findall(styles)]
    found += [(path.name, "style") for path in pages for _ in LOADED.findall(path.read_text(encoding="utf-8"))]
    assert found == []
    assert any(site.rglob("*.woff2")), "fonts of icons are ours"


def dead(pages: dict[Path, Page]) -> Iterator[str]:
    """The links and files of pages that lead to no file, or to no place in a page."""
    for path, page in pages.items():
        for link in {*page.links, *page.loads}:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            place = unquote(parts.fragment)
            if not target.is_file() or (target in pages and place and place not in pages[target].ids):
                yield f"{path.name}: {link}"


def test_every_link_leads_to_a_file_and_a_place(pages: dict[Path, Page]) -> None:
    assert sum(len(page.links) for page in pages.values()) > 1000
    assert list(dead(pages)) == []


def test_links_that_lead_nowhere_would_be_found(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    path.write_text('<p id="b"><a href="#b">x</a><a href="#c">x</a><img src="d.png"><a href="https://e">x</a>')
    assert sorted(dead({path: Page(path)})) == ["a.html: #c", "a.html: d.png"]


@pytest.mark.parametrize("name", REPORTS)
def test_each_figure_of_a_notebook_has_its_own_text(name: str, site: Path, pages: dict[Path, Page]) -> None:
    cells = json.loads((paths.EXPERIMENTS / name / "report.ipynb").read_text(encoding="utf-8"))["cells"]
    outputs = [output for cell in cells for output in cell.get("outputs", []) if "image/png" in output.get("data", {})]
    texts = [" ".join(output["metadata"]["image/png"]["alt"].split()) for output in outputs]
    assert [" ".join(alt.split()) for alt in pages[site / "experiments" / name / "report.html"].alts] == texts != []


def test_the_gallery_has_every_figure(site: Path, pages: dict[Path, Page]) -> None:
    captions = [(paths.FIGURES / name / "captions.md").read_text(encoding="utf-8") for name in REPORTS]
    figures = [name for text in captions for name in re.findall(r"^## Figure (\S+)$", text, re.MULTILINE)]
    assert sorted(pages[site / "docs" / "gallery.html"].alts) == sorted(figures) and len(figures) > 40


def test_the_search_knows_self_preference(site: Path) -> None:
    text = (site / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(text[text.index("(") + 1 : text.rindex(")")])
    found = [
        index[kind]["prefer"] for kind in ("terms", "titleterms")
    ]  # a word of a heading stands in the second alone
    names = {index["docnames"][each] for where in found for each in (where if isinstance(where, list) else [where])}
    assert {"docs/glossary", "experiments/mt_bench_blind/report", "figures/overview/estimands"} <= names
    assert "self" in index["terms"], "both words of self-preference are searched for"
