"""Every notebook in JupyterLab in Chromium: it opens, runs all its cells, and looks as it should."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pytest

from helpers import paths
from helpers.explore import DOT
from helpers.run.notebooks import available, collects
from tests.browser.conftest import PATIENCE, listen, until

NOTEBOOKS = available()
EVERY = (*NOTEBOOKS, "your_verdicts")
#: Of the simplest experiment that asks, with an explorer: the notebook that `make test` runs.
QUICK = ("06_verbosity_style",)
TOKEN = "of-this-test"
#: Seconds that a server may take to answer, and without anybody's request to end by itself.
STARTING, IDLE = 180, 900
#: Questions that a notebook is run on: quick, and some have intervals; where not, it says so and must look right too.
LIMIT = 12

#: The list of cells is windowed: cells are counted in the model, never in the page.
RUN = """async () => {
  const app = window.jupyterapp;
  await app.restored;
  if (!app.hasPlugin('@jupyter-widgets/jupyterlab-manager:plugin'))
    throw new Error('no ipywidgets in the pages of this JupyterLab: both have to be installed in the same environment');
  const panel = app.shell.currentWidget;
  await panel.context.ready;
  await panel.revealed;
  await panel.sessionContext.ready;
  await app.commands.execute('notebook:run-all-cells');
  return panel.context.model.toJSON();
}"""
#: The place of the cell that shows the explorer of judgments, as it is seen.
EXPLORER = """async () => {
  const panel = window.jupyterapp.shell.currentWidget;
  const index = panel.content.widgets.findIndex((cell) => cell.model.sharedModel.source === 'explore.show(asked)');
  await panel.content.scrollToItem(index, 'start');
  return index;
}"""
INSIDE = """(cell) => {
  const right = (node) => Math.floor(node.getBoundingClientRect().right);
  return [...cell.querySelectorAll('section')].every((part) =>
    [...part.querySelectorAll('*')].every((node) => right(node) <= right(part)) && right(part) <= right(cell));
}"""
#: Goes through the whole notebook, so that each output is drawn, and takes down what is wrong with what is seen.
LOOK = """async () => {
  const panel = window.jupyterapp.shell.currentWidget;
  const found = {images: 0, broken: 0, loading: 0, stderr: 0, formulas: 0, wrong: 0, dialogs: 0, wide: []};
  const seen = new Set();
  for (let index = 0; index < panel.content.widgets.length; index += 1) {
    await panel.content.scrollToItem(index, 'start');
    const { node, model } = panel.content.widgets[index];
    const outputs = model.sharedModel.getOutputs ? model.sharedModel.getOutputs() : [];
    const images = outputs.filter((each) => each.data && 'image/png' in each.data).length;
    for (let look = 0; look < 400; look += 1) {  // at least once, and as long as something is still being drawn
      await new Promise((resolve) => setTimeout(resolve, 150));
      const shown = node.querySelectorAll('.jp-RenderedImage img').length;
      if (shown >= images && !/Loading widget/.test(node.textContent)) break;
    }
    for (const image of node.querySelectorAll('.jp-RenderedImage img')) {
      if (seen.has(image)) continue;
      seen.add(image);
      await image.decode().catch(() => { found.broken += 1; });
      found.images += 1;
      const wide = image.getBoundingClientRect().width > node.getBoundingClientRect().width;
      if (wide) found.wide.push(image.alt.slice(0, 60));
    }
    found.stderr += node.querySelectorAll('[data-mime-type="application/vnd.jupyter.stderr"]').length;
    found.formulas += node.querySelectorAll('mjx-container').length;
    found.wrong += node.querySelectorAll('mjx-merror').length;
    found.loading += /Loading widget|Error displaying widget/.test(node.textContent) ? 1 : 0;
  }
  found.dialogs = document.querySelectorAll('.jp-Dialog').length;
  await panel.content.scrollToItem(0, 'start');
  return found;
}"""
#: Runs before the first cell: files for papers are not drawn, which takes a third of a run and is seen on no page.
STARTUP = """from helpers.figures.style import Figure as _Figure
_Figure.render = lambda self, kind, _drawn=_Figure.render: _drawn(self, kind) if kind == 'png' else b''
del _Figure
"""


@dataclass(frozen=True)
class Lab:
    """A JupyterLab on a copy of this repository."""

    address: str
    root: Path


def free_port() -> int:
    with socket.socket() as tried:
        tried.bind(("127.0.0.1", 0))
        return tried.getsockname()[1]


def copied(root: Path) -> Path:
    """This repository without replies and runs of anybody; notebooks run on some questions only."""
    ignored = shutil.ignore_patterns("replies", "downloads", "runs", "__pycache__", ".*", "*.pdf", "*.svg")
    for part in ("helpers", "experiments", "notebooks", "data", "figures"):
        shutil.copytree(paths.ROOT / part, root / part, ignore=ignored)
    for path in (root / "notebooks").glob("*.ipynb"):
        book = nbformat.read(path, as_version=4)
        for cell in book.cells:
            if "parameters" in cell.metadata.get("tags", ()):
                cell.source = re.sub(r"(?m)^question_limit = None", f"question_limit = {LIMIT}", cell.source)
        nbformat.write(book, path)
    return root


@pytest.fixture(scope="module")
def lab(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A server that nobody else can reach, with settings of its own: no news, no look for updates."""
    folder = tmp_path_factory.mktemp("lab")
    root = copied(folder / "recuse")
    startup = folder / "IPYTHONDIR" / "profile_default" / "startup"
    startup.mkdir(parents=True)
    (startup / "figures.py").write_text(STARTUP, encoding="utf-8")
    settings = folder / "settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    quiet = {"fetchNews": "false", "checkForUpdates": False}
    (settings / "notification.jupyterlab-settings").write_text(json.dumps(quiet), encoding="utf-8")
    keys = ("_API_KEY", "_BASE_URL")
    env = {name: value for name, value in os.environ.items() if not name.endswith(keys)}
    env |= {name: str(folder / name) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")}
    env |= {"JUPYTERLAB_SETTINGS_DIR": str(folder / "settings"), "JUPYTERLAB_WORKSPACES_DIR": str(folder / "spaces")}
    env |= {"JUPYTER_TOKEN": TOKEN, "PYTHONPATH": os.pathsep.join([str(root), *filter(None, sys.path)])}
    port = free_port()
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--ip=127.0.0.1", f"--port={port}"]
    command += ["--ServerApp.port_retries=0", f"--ServerApp.root_dir={root}", "--LabApp.expose_app_in_browser=True"]
    command += [f"--ServerApp.shutdown_no_activity_timeout={IDLE}", f"--MappingKernelManager.cull_idle_timeout={IDLE}"]
    command += ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    log = (folder / "log").open("wb")
    server = subprocess.Popen(command, cwd=root, env=env, stdout=log, stderr=subprocess.STDOUT)
    try:
        address = f"http://127.0.0.1:{port}"
        _wait(server, f"{address}/api/status?token={TOKEN}", folder / "log")
        yield Lab(address, root)
    finally:
        server.terminate()  # it ends its kernels itself
        try:
            server.wait(60)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
        log.close()


def _wait(server: subprocess.Popen, address: str, log: Path) -> None:
    end = time.monotonic() + STARTING
    while time.monotonic() < end:
        assert server.poll() is None, log.read_text(errors="replace")[-2000:]
        try:
            urllib.request.urlopen(address, timeout=10).close()
            return
        except OSError:
            time.sleep(0.5)
    pytest.fail(f"no JupyterLab after {STARTING} seconds: {log.read_text(errors='replace')[-2000:]}")


@pytest.mark.parametrize("name", [pytest.param(n, marks=() if n in QUICK else pytest.mark.slow) for n in EVERY])
def test_a_notebook_runs_in_jupyterlab_and_looks_right(lab: Lab, chromium: Any, name: str, tmp_path: Path) -> None:
    context = chromium.new_context(viewport={"width": 1440, "height": 900})
    context.set_default_timeout(4 * PATIENCE)
    try:
        page = context.new_page()
        # JupyterLab warns of its own slowness (plugins that took long, cells drawn late): no fault of a notebook.
        heard = listen(page, (lab.address, "data:", "blob:", "about:"), ("error",))
        page.goto(f"{lab.address}/lab/tree/notebooks/{name}.ipynb?token={TOKEN}&reset")
        page.wait_for_function("window.jupyterapp?.shell?.currentWidget?.context")
        book = page.evaluate(RUN)
        code = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
        assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
        outputs = [each for cell in code for each in cell["outputs"]]
        assert [each for each in outputs if each["output_type"] == "error"] == []
        assert [each["text"] for each in outputs if each.get("name") == "stderr"] == []
        assert book["metadata"]["kernelspec"]["name"] == "python3"
        pictures = [each for each in outputs if "image/png" in each.get("data", {})]
        assert len(pictures) >= 3 and all(each["metadata"]["image/png"]["alt"] for each in pictures)
        seen = page.evaluate(LOOK)
        page.screenshot(path=tmp_path / f"{name}.png")
        asks = name in NOTEBOOKS and not collects(NOTEBOOKS[name])
        if asks:
            _explored(page)
            page.screenshot(path=tmp_path / f"{name}-explorer.png")
        formulas = re.findall(r"\$[^$\n]+\$", "\n".join(_source(cell) for cell in book["cells"] if cell not in code))
        assert seen["images"] == len(pictures) and seen["formulas"] >= (1 if formulas else 0)
        bad = {key: seen[key] for key in ("broken", "loading", "stderr", "wrong", "dialogs", "wide") if seen[key]}
        assert bad == {}
        assert (heard.errors, heard.dialogs, heard.requests) == ([], [], [])
        if asks or name not in NOTEBOOKS:
            assert "SIMULATED" in json.dumps(outputs)
    finally:
        context.close()


def _explored(page: Any) -> None:
    """In the explorer of judgments filters, the list and a key each bring what they name, and all of it fits."""
    place = page.locator(f".jp-Cell[data-windowed-list-index='{page.evaluate(EXPLORER)}']")
    mark, judge, listed, key = (place.get_by_label(each, exact=True) for each in ("mark", "judge", "judgments", "key"))
    mark.wait_for()
    assert "SIMULATED" in place.inner_text()
    assert {box.evaluate("(box) => box.selectedOptions[0]?.text") for box in (mark, judge)} == {"any"}
    a_mark = _offered(mark)[1]
    mark.select_option(a_mark)
    until(page, lambda: all(a_mark in line for line in _offered(listed)))
    ((a_judge, _),) = Counter(line.split(DOT)[1] for line in _offered(listed)).most_common(1)
    judge.select_option(a_judge)
    until(page, lambda: all(a_judge in line for line in _offered(listed)))
    questions = [line.split(DOT)[0] for line in _offered(listed)]
    other = next(place for place, question in enumerate(questions) if question != questions[0])
    listed.select_option(index=other)
    first = place.locator("section").first
    until(page, lambda: questions[other] in first.locator("strong").first.inner_text())
    digits = first.locator("li", has_text="key:").locator("code").inner_text()
    assert first.locator("summary").all_inner_texts()[-2:] == ["Prompt", "Reply"]
    assert all(map(str.strip, first.locator("pre").all_inner_texts()[-2:]))
    key.fill(digits[:12])
    key.press("Enter")
    # Judgments on prompts of the same bytes share a reply, and so its key.
    until(page, lambda: 0 < len(_offered(listed)) < len(questions) and digits in first.inner_text())
    assert place.evaluate(INSIDE), "nothing stands out at the side of its column"


def _offered(box: Any) -> list[str]:
    """The options of a field; the widgets write spaces that break no line."""
    return [option.replace("\N{NO-BREAK SPACE}", " ") for option in box.locator("option").all_inner_texts()]


def _source(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])
