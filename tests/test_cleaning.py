"""Executed notebooks are cleaned of keys before they get their name; `recuse check` finds keys in all that is left."""

from __future__ import annotations

import base64
import gzip
import json
import os
import sys
import zlib
from pathlib import Path
from typing import Any

import nbformat
import pytest
from click.testing import CliRunner, Result
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from helpers import check, paths
from helpers.__main__ import entry, main
from helpers.check import usual, variables
from helpers.config import ConfigError, load_models
from helpers.run import notebooks
from helpers.run.notebooks import clean
from tests.leaks import PLANTED, leaks, spelled

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

    def as_before(_: Any, draft: str, *__: Any, **___: Any) -> None:
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

    def succeed(_: Any, draft: str, *__: Any, **___: Any) -> None:
        nbformat.write(book(cell), draft)

    def looked(draft: Path, report: Path) -> None:
        assert leaks(draft.read_bytes()) and not report.exists()
        clean(draft, report)
        assert not leaks(draft.read_bytes()) and not report.exists()

    nbformat.write(new_notebook(), tmp_path / "x.ipynb")
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


# --- recuse check -----------------------------------------------------------------------------------------------------

GEMINI = PLANTED["GEMINI_API_KEY"]


def checked(*places: Path) -> Result:
    return CliRunner().invoke(main, ["check", *map(str, places)])


def parquet(folder: Path) -> Path:
    import pyarrow as pa
    from pyarrow import parquet as pq

    columns = {"n": [1, 2, 3], "said": [["a"], None, ["b", f"key {OPENAI}"]]}
    table = pa.table(columns).replace_schema_metadata({"made by": f"me with {GEMINI}"})
    pq.write_table(table, folder / "rows.parquet", compression="zstd")
    return folder / "rows.parquet"


def test_parquet_is_looked_into_by_row_and_metadata(tmp_path: Path) -> None:
    path = parquet(tmp_path)
    told = checked(path)
    assert told.exit_code == 1
    assert f"{path}:row 3: the value of OPENAI_API_KEY" in told.output
    assert f"{path}:metadata: the value of GEMINI_API_KEY" in told.output


NOTEBOOK = json.dumps(
    {"cells": [{"cell_type": "code", "outputs": [{"text": ["a\n", f"environ({{'KEY': '{OPENAI}'}})\n"]}]}]}, indent=1
)
PACKED = zlib.compress(f"made with {OPENAI}".encode())
FILES: dict[str, tuple[bytes, str]] = {
    "report.ipynb": (NOTEBOOK.encode(), "9"),
    "replies.jsonl": (b'{"a": 1}\n' + json.dumps({"raw": json.dumps({"error": OPENAI})}).encode() + b"\n", "2"),
    "escaped.json": (b'\n\n"' + spelled(OPENAI)["JSON, ASCII escapes"].replace(b"\\u0073", b"s") + b'"\n', "3"),
    "page.html": ("".join(f"&#{ord(sign)};" for sign in OPENAI).encode(), "1"),
    "table.csv": (b"judge,said\r\nx," + OPENAI.encode() + b"\r\n", "2"),
    "run.log": (f"first\nGET /?key={OPENAI}\n".encode(), "2"),
    "windows.log": (f"first\r\nkey {OPENAI}\r\n".encode("utf-16"), "2"),
    "packed.jsonl.gz": (gzip.compress(f"\n\n{OPENAI}".encode()), "3"),
    "plain.png": (picture(chunk(b"tEXt", f"Software\0{OPENAI}".encode())), "bytes"),
    "packed.png": (picture(chunk(b"zTXt", b"Comment\0\0" + PACKED)), "text 'Comment'"),
    "words.png": (picture(chunk(b"iTXt", b"Title\0\1\0en\0title\0" + PACKED)), "text 'Title'"),
    "figure.pdf": (b"%PDF-1.4\n1 0 obj\nstream\n" + PACKED + b"\nendstream\n", "stream 1"),
    "anything": (b"\0\1\2" + OPENAI.encode() + b"\0", "bytes"),
    "masked.txt": (f"Incorrect API key provided: {OPENAI[:8]}{'*' * 20}{OPENAI[-4:]}".encode(), "1"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_key_is_found_in_every_kind_of_file(tmp_path: Path, name: str) -> None:
    content, place = FILES[name]
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / name).write_bytes(content)
    told = checked(tmp_path)
    assert told.exit_code == 1
    assert f"{tmp_path / 'deep' / 'er' / name}:{place}: the value of OPENAI_API_KEY\n" in told.output
    assert told.output.count("the value of") == 1 and "1 files" in told.output and "1 places hold a key" in told.output
    assert not leaks(told.output) and OPENAI[-4:] not in told.output


def test_a_picture_within_a_notebook_is_looked_into(tmp_path: Path) -> None:
    import base64

    data = base64.b64encode(picture(chunk(b"zTXt", b"Comment\0\0" + PACKED))).decode()
    (tmp_path / "r.ipynb").write_text(json.dumps({"a": 1, "image/png": data}, indent=1), encoding="utf-8")
    assert f"{tmp_path / 'r.ipynb'}:3: the value of OPENAI_API_KEY" in checked(tmp_path).output


def test_a_key_across_the_parts_of_a_long_line_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "PART", 1000)
    monkeypatch.setattr(check, "OVERLAP", 100)
    for before in range(960, 1001, 8):
        (tmp_path / "x.txt").write_text("\n" + "a" * before + OPENAI + "b" * 2000 + "\nlast\n", encoding="utf-8")
        assert "x.txt:2: the value of OPENAI_API_KEY" in checked(tmp_path).output


def test_what_looks_like_a_key_is_told_as_such(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("one\nexport KEY=sk-0123456789abcdef0123456789\n", encoding="utf-8")
    told = checked(tmp_path)
    assert told.exit_code == 1 and f"{tmp_path / 'a.md'}:2: what looks like a key\n" in told.output
    assert "0123456789" not in told.output


def test_files_without_keys_pass_and_what_was_looked_for_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    (tmp_path / "a.md").write_text("export OPENAI_API_KEY=sk-... and nothing else\n", encoding="utf-8")
    (tmp_path / ".env").write_text(f"OPENAI_API_KEY={OPENAI}\n", encoding="utf-8")
    told = checked(tmp_path)
    assert (
        told.exit_code == 0
        and "1 files (0.0 MB): no key found. Looked for: GEMINI_API_KEY, OPENAI_API_KEY" in told.output
    )
    assert "could not be looked for: ANTHROPIC_API_KEY, GOOGLE_API_KEY, TOGETHER_API_KEY." in told.output
    assert checked(tmp_path / ".env").exit_code == 1, "named, it is looked into"


def test_what_cannot_be_looked_into_is_no_pass(tmp_path: Path) -> None:
    (tmp_path / "cut.jsonl.gz").write_bytes(gzip.compress(b"x" * 9999)[:-12])
    (tmp_path / "no.parquet").write_bytes(b"PAR1 but nothing else")
    (tmp_path / "old.zip").write_bytes(b"PK")
    told = checked(tmp_path)
    assert told.exit_code == 1 and "no key found" in told.output
    for name in ("cut.jsonl.gz", "no.parquet", "old.zip"):
        assert f"{tmp_path / name}: not looked into: " in told.output
    missing = checked(tmp_path / "nowhere")
    assert missing.exit_code != 0 and "no such file or folder" in str(missing.exception)


def test_the_usual_places_are_those_that_runs_write_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, folder in (
        ("FIGURES", "figures"),
        ("EXPERIMENTS", "experiments"),
        ("NOTEBOOKS", "notebooks"),
        ("REPLIES", "data/replies"),
    ):
        monkeypatch.setattr(paths, name, tmp_path / folder)
        (tmp_path / folder).mkdir(parents=True)
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    written = {
        "figures/runs/x-1/report.failed.ipynb",
        "experiments/x/.report-12.ipynb",
        "notebooks/01_x.ipynb",
        "data/replies/gpt.jsonl",
        "logs/today.log",
        "out.ipynb",
    }
    for name in (*written, ".env", ".venv/lib.py", "data/downloads/x.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(OPENAI, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    lines = checked().output.splitlines()
    assert {line.partition(":")[0] for line in lines if "the value of" in line} == written
    assert usual()


def test_every_variable_that_models_name_is_looked_for() -> None:
    assert {"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY", "TOGETHER_API_KEY"} <= set(
        variables()
    )


def test_no_key_lies_in_what_this_project_publishes(monkeypatch: pytest.MonkeyPatch) -> None:
    told = checked(paths.FIGURES, paths.EXPERIMENTS, paths.NOTEBOOKS)
    assert told.exit_code == 0, told.output


def test_a_file_that_vanishes_meanwhile_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.txt").write_text("a", encoding="utf-8")

    def gone(_: Any) -> Any:
        raise FileNotFoundError("gone")

    monkeypatch.setattr("helpers.check.pieces", gone)
    assert "not looked into: cannot be read as what it says it is (FileNotFoundError)" in checked(tmp_path).output
