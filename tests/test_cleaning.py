"""Executed notebooks are cleaned of keys before they get their name, failing ones too; parameters hold none."""

from __future__ import annotations

import base64
import os
import sys
import zlib
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from helpers import paths
from helpers.__main__ import entry
from helpers.config import ConfigError, load_models
from helpers.run import notebooks
from helpers.run.notebooks import clean
from tests.leaks import PLANTED, leaks

OPENAI = PLANTED["OPENAI_API_KEY"]
FAILING = f"""import os, sys
print(os.environ)
print("and on stderr", os.environ["ANTHROPIC_API_KEY"], file=sys.stderr)
key = os.environ["OPENAI_API_KEY"]
for part in (key[:7], key[7:11], key[11:]):
    print(part, end="", flush=True)
{{"Authorization": "Bearer " + os.environ["GEMINI_API_KEY"], "literal": "{OPENAI}"}}
"""


@pytest.fixture(autouse=True)
def planted(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in PLANTED.items():
        monkeypatch.setenv(name, value)


def book(*cells: Any) -> Any:
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    return new_notebook(cells=list(cells), metadata=kernel)


def written(folder: Path, *cells: Any) -> Path:
    path = folder / "draft.ipynb"
    nbformat.write(book(*cells), path)
    return path


def test_a_failing_cell_that_prints_the_environment_leaves_no_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "10_bad.ipynb"
    cells = (new_code_cell(FAILING), new_code_cell("raise ValueError(f'the key {key} was refused')"))
    nbformat.write(book(*cells), source)
    report, failed = tmp_path / "out" / "report.ipynb", tmp_path / "out" / "report.failed.ipynb"
    with monkeypatch.context() as patch:
        patch.setattr(notebooks, "clean", lambda *_: None)
        notebooks.execute(source, report, {})
        assert set(leaks(failed.read_bytes())) == set(PLANTED), "without cleaning they are there"
    as_it_came = failed.read_bytes()
    clean(failed, failed)
    told = nbformat.read(failed, as_version=4)
    assert not leaks(failed.read_bytes()) and not leaks("".join(capfd.readouterr()))
    assert OPENAI[11:] not in failed.read_text(), "nor in pieces that came one after the other"
    outputs = [output for cell in told.cells for output in cell.get("outputs", [])]
    assert [o.evalue for o in outputs if o.output_type == "error"] == ["the key [OPENAI_API_KEY] was refused"]
    (shown,) = (output.data["text/plain"] for output in outputs if output.output_type == "execute_result")
    assert "'Authorization': 'Bearer [GEMINI_API_KEY]'" in shown

    def as_before(_: str, draft: str, *__: Any, **___: Any) -> None:
        Path(draft).write_bytes(as_it_came)
        raise RuntimeError(f"the kernel died with {OPENAI}")

    monkeypatch.setattr("papermill.execute_notebook", as_before)
    result = notebooks.execute(source, report, {})
    assert result.error == f"RuntimeError: the kernel died with [OPENAI_API_KEY] (see {failed})"
    assert not leaks(failed.read_bytes())
    said = capfd.readouterr().err
    assert "warning: report.failed.ipynb showed keys, which were struck out: cell [1] (" in said and not leaks(said)
    assert "ANTHROPIC_API_KEY, GEMINI_API_KEY, OPENAI_API_KEY); " in said and "cell [2] (OPENAI_API_KEY)" in said


def test_a_good_report_is_cleaned_before_it_gets_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cell = new_code_cell("1", outputs=[new_output("stream", text=f"key {OPENAI}\n")])

    def succeed(_: str, draft: str, *__: Any, **___: Any) -> None:
        nbformat.write(book(cell), draft)

    def looked(draft: Path, report: Path) -> None:
        assert leaks(draft.read_bytes()) and not report.exists()
        clean(draft, report)
        assert not leaks(draft.read_bytes()) and not report.exists()

    monkeypatch.setattr("papermill.execute_notebook", succeed)
    monkeypatch.setattr(notebooks, "clean", looked)
    result = notebooks.execute(tmp_path / "x.ipynb", tmp_path / "report.ipynb", {})
    assert result.error is None and "key [OPENAI_API_KEY]" in (tmp_path / "report.ipynb").read_text()


def chunk(kind: bytes, body: bytes) -> bytes:
    return len(body).to_bytes(4) + kind + body + zlib.crc32(kind + body).to_bytes(4)


def picture(*chunks: bytes) -> bytes:
    """A picture of one white pixel with chunks of text."""
    head = chunk(b"IHDR", (1).to_bytes(4) * 2 + bytes([8, 0, 0, 0, 0]))
    pixel = chunk(b"IDAT", zlib.compress(b"\0\xff"))
    return b"\x89PNG\r\n\x1a\n" + head + b"".join(chunks) + pixel + chunk(b"IEND", b"")


def test_outputs_of_every_kind_are_cleaned(tmp_path: Path) -> None:
    packed = picture(chunk(b"zTXt", b"Comment\0\0" + zlib.compress(f"made with {OPENAI}".encode())))
    coloured = f"\x1b[31mValueError\x1b[0m: {OPENAI[:9]}\x1b[0m{OPENAI[9:]}"
    data = {
        "text/html": f"<b>{OPENAI}</b>",
        "application/json": {"headers": [{"key": OPENAI}], OPENAI: 1},
        "image/svg+xml": f"<svg><text>{OPENAI}</text></svg>",
    }
    cells = [
        new_markdown_cell(f"Set `{OPENAI}`."),
        new_code_cell(
            f"import os; os.environ['X'] = '{OPENAI}'",
            metadata={"papermill": {"exception": OPENAI}},
            outputs=[
                new_output("display_data", data=data, metadata={"image/png": {"alt": OPENAI}}),
                new_output("display_data", data={"image/png": base64.b64encode(packed).decode(), "text/plain": "<F>"}),
                new_output("error", ename="ValueError", evalue=OPENAI, traceback=[coloured]),
            ],
        ),
    ]
    path = written(tmp_path, *cells)
    clean(path, path)
    told = nbformat.read(path, as_version=4)
    nbformat.validate(told)
    assert not leaks(path.read_bytes()) and OPENAI[9:] not in path.read_text()
    _, shown, error = told.cells[1].outputs
    assert dict(shown.data) == {"text/plain": "[a picture that held OPENAI_API_KEY was left out]"}
    assert error.traceback == ["ValueError: [OPENAI_API_KEY]"]


def test_a_notebook_without_keys_keeps_its_bytes(tmp_path: Path) -> None:
    for report in sorted(paths.EXPERIMENTS.glob("*/report.ipynb")):
        copy = tmp_path / report.parent.name
        copy.write_bytes(report.read_bytes())
        clean(copy, report)
        assert copy.read_bytes() == report.read_bytes(), report


def test_what_is_no_notebook_is_cleaned_as_text(tmp_path: Path) -> None:
    path = tmp_path / "draft.ipynb"
    path.write_bytes(f'{{"cells": [{{"source": "{OPENAI}'.encode() + b"\xff")
    clean(path, path)
    assert path.read_bytes() == b'{"cells": [{"source": "[OPENAI_API_KEY]\xff'


# --- parameters, configuration, the command line ----------------------------------------------------------------------

NAME = "01_mt_bench_blind"
WRONG = {
    "a value": ("run", NAME, "-p", "questions", OPENAI),
    "in a list": ("plan", NAME, "-p", "judges", f"[gpt_fast, {OPENAI}]"),
    "an unknown name": ("run", NAME, "-p", "openai_api_key", OPENAI),
    "no YAML": ("run", NAME, "-p", "judges", f"[{OPENAI}"),
    "as a notebook": ("run", OPENAI),
    "as a command": (OPENAI,),
    "as an option": ("run", f"--{OPENAI}"),
    "as a file": ("analyze", f"{OPENAI}.csv"),
    "power": ("power", "mt_bench_blind", "-p", "questions", OPENAI),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_key_on_the_command_line_is_refused_and_not_repeated(
    case: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["recuse", *WRONG[case]])
    monkeypatch.setattr(notebooks, "execute", lambda *_: pytest.fail("something was run"))
    with pytest.raises(SystemExit) as end:
        entry()
    said = "".join(capfd.readouterr())
    assert end.value.code == 2 and not leaks(said)
    assert "-p" not in WRONG[case] or "keys are read from environment variables only, see .env.example" in said


def test_the_runner_itself_refuses_a_key_as_a_parameter() -> None:
    notebook = notebooks.available()[NAME]
    with pytest.raises(ValueError, match=r"parameter questions holds the value of OPENAI_API_KEY") as error:
        notebooks.run_all([notebook], {"questions": OPENAI})
    assert not leaks(str(error.value))


def test_an_error_of_ours_is_a_traceback_without_keys(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError(f"a defect that tells {os.environ['OPENAI_API_KEY']}")

    monkeypatch.setattr(sys, "argv", ["recuse", "run", NAME])
    monkeypatch.setattr("helpers.run.notebooks.run_all", broken)
    with pytest.raises(SystemExit) as end:
        entry()
    said = capfd.readouterr().err
    assert end.value.code == 1 and "Traceback" in said and "tells [OPENAI_API_KEY]" in said and not leaks(said)


@pytest.mark.parametrize(
    "address",
    [
        "http://me:hunter2-of-old@127.0.0.1/v1",
        "http://hunter2-of-old@x/v1",
        "https://x/v1?key=hunter2-of-old",
        "https://x/v1#hunter2-of-old",
    ],
)
def test_an_address_that_holds_a_password_is_refused_and_not_shown(tmp_path: Path, address: str) -> None:
    path = tmp_path / "models.yaml"
    entry_ = f'{{provider: openai, model_id: m, vendor: v, revision: {{weights: w}}, base_url: "{address}"}}'
    path.write_text(f"mine: {entry_}\n", encoding="utf-8")
    with pytest.raises(
        ConfigError, match=r"models.yaml, model 'mine': line 1: base_url = \(not shown\): must be an address"
    ) as error:
        load_models(path)
    assert "hunter2" not in str(error.value) and "api_key_env" in str(error.value)
    path.write_text(f"mine: {entry_}\n".replace(address, "http://127.0.0.1:8000/v1"), encoding="utf-8")
    assert load_models(path)["mine"].base_url == "http://127.0.0.1:8000/v1"


@pytest.mark.parametrize("address", ["127.0.0.1:8000/v1", "localhost:8000/v1", "http:/localhost/v1", "ftp://x/v1", ""])
def test_an_address_that_nobody_could_be_asked_at_is_refused_where_it_stands(tmp_path: Path, address: str) -> None:
    path = tmp_path / "models.yaml"
    path.write_text(
        f'mine: {{provider: openai, model_id: m, vendor: v, revision: {{weights: w}}, base_url: "{address}"}}\n',
        encoding="utf-8",
    )
    with pytest.raises(ConfigError, match=r"model 'mine': line 1: base_url = .*: must begin with http:// or https://"):
        load_models(path)


def test_results_are_written_without_keys(tmp_path: Path) -> None:
    from helpers.export import write

    held = {
        "a.csv": f"x\n{OPENAI}\n".encode(),
        "b.svg": f"<svg>{OPENAI}</svg>".encode(),
        "c.json": b'{"a": "b\xc3\xa9"}',
    }
    write({**held, "d.png": b"\x89PNG\xff"}, tmp_path)
    assert (tmp_path / "a.csv").read_bytes() == b"x\n[OPENAI_API_KEY]\n"
    assert (tmp_path / "b.svg").read_bytes() == b"<svg>[OPENAI_API_KEY]</svg>"
    assert (tmp_path / "c.json").read_bytes() == held["c.json"] and (tmp_path / "d.png").read_bytes() == b"\x89PNG\xff"
