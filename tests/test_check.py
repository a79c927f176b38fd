"""`recuse check` finds keys in every kind of file that runs leave behind, tells where, and never what."""

from __future__ import annotations

import gzip
import json
import zlib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from helpers import paths
from helpers.__main__ import main
from helpers.check import reading, usual, variables
from tests.leaks import PLANTED, leaks, spelled
from tests.test_cleaning import chunk, picture

OPENAI, GEMINI = PLANTED["OPENAI_API_KEY"], PLANTED["GEMINI_API_KEY"]


@pytest.fixture(autouse=True)
def planted(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in PLANTED.items():
        monkeypatch.setenv(name, value)


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
    monkeypatch.setattr(reading, "PART", 1000)
    monkeypatch.setattr(reading, "OVERLAP", 100)
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
