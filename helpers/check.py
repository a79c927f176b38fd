"""Whether keys stand in what a run produced: every file line by line, and what is packed inside files."""

from __future__ import annotations

import base64
import gzip
import html
import os
import re
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from . import paths
from .config import load_models
from .providers import keys
from .services import SERVICES

#: Folders that hold no results, wherever they lie.
PASSED = {".git", ".venv", "__pycache__", ".hypothesis", ".pytest_cache", ".ruff_cache"}


class Hit(NamedTuple):
    """One place that holds a key: the line of a file (or what its format calls the place) and the variable's name."""

    path: Path
    place: str
    what: str


class Checked(NamedTuple):
    """What was looked through: files and bytes, the hits, and the files into which nobody could look, with why."""

    files: int
    size: int
    hits: tuple[Hit, ...]
    closed: tuple[tuple[Path, str], ...]


def variables() -> list[str]:
    """Every variable that holds a key: those of the providers, and each `api_key_env` of models.yaml."""
    named = {model.api_key_env for model in load_models().values() if model.api_key_env}
    return sorted(named.union(*(service.keys for service in SERVICES.values())))


def usual() -> list[Path]:
    """What runs leave behind, and files beside the README; not the `.env` file, which is where keys belong."""
    folders = [paths.FIGURES, paths.EXPERIMENTS, paths.NOTEBOOKS, paths.REPLIES, paths.ROOT / "logs"]
    beside = [path for path in sorted(paths.ROOT.iterdir()) if path.is_file() and not path.name.startswith(".env")]
    return [place for place in folders if place.exists()] + beside


def check(places: Iterable[Path]) -> Checked:
    """Look for secrets of this environment and what looks like a key; a place that does not exist is a ValueError."""
    from pyarrow import ArrowException

    keys.declare(variables())
    secrets = keys.secrets()
    files, size, hits, closed = 0, 0, [], []
    for path in _files(places):
        if path.suffix.lower() in UNOPENED:
            closed.append((path, "an archive; unpack it"))
            continue
        files += 1
        try:
            size += path.stat().st_size
            for place, text in pieces(path):  # what was found before a damaged place stays found
                hits += [Hit(path, place, name) for name in keys.found(text, secrets)]
        except (OSError, EOFError, ValueError, zlib.error, ArrowException) as error:
            closed.append((path, f"cannot be read as what it says it is ({type(error).__name__})"))
    return Checked(files, size, tuple(dict.fromkeys(hits)), tuple(closed))


def list_variables() -> tuple[list[str], list[str]]:
    """The variables whose secrets are looked for, and those of `variables` that are not set here or hold none."""
    names = {name for _, name in keys.secrets()}
    return sorted(names), [name for name in variables() if name not in names]


def _files(places: Iterable[Path]) -> Iterator[Path]:
    for place in places:
        if place.is_file():
            yield place
        elif not place.is_dir():
            raise ValueError(f"{place}: no such file or folder")
        for folder, inside, names in os.walk(place):
            inside[:] = sorted(set(inside) - PASSED)
            every = (Path(folder) / name for name in sorted(names) if not name.startswith(".env"))
            yield from (path for path in every if path.is_file())


#: Archives that are not searched, which is reported.
UNOPENED = {".zip", ".7z", ".xz", ".bz2", ".zst", ".rar"}
#: A longer line is read in parts that overlap by more than any key is long, in bytes.
PART, OVERLAP = 1 << 24, 1 << 14
#: A packed text in a picture or a PDF is unpacked up to so many bytes.
UNPACKED = 1 << 26
PNG = b"\x89PNG\r\n\x1a\n"
PNG_IN_TEXT = re.compile(r"iVBORw0KGgo[A-Za-z0-9+/]+={0,2}")
ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})")
PDF_STREAM = re.compile(rb"stream\r?\n(.*?)endstream", re.DOTALL)

Pieces = Iterator[tuple[str, str]]


def pieces(path: Path) -> Pieces:
    """Each text in a file with its place: the number of its line, or what the format calls it."""
    packed = path.suffix.lower() == ".gz"
    with gzip.open(path) if packed else path.open("rb") as file:
        head = file.peek(8192)[:8192]
        if head.startswith(b"PAR1") and not packed:
            yield from _parquet(path)
        elif head.startswith((b"\xff\xfe", b"\xfe\xff")):
            yield from ((str(n), line) for n, line in enumerate(file.read().decode("utf-16", "replace").split("\n"), 1))
        elif b"\0" in head or head.startswith((PNG, b"%PDF")):
            yield from binary(file.read())
        else:
            yield from _lines(file)


def binary(data: bytes) -> Pieces:
    """The texts in a picture, a PDF or anything else that is no text."""
    yield "bytes", data.decode("latin-1")
    if data.startswith(PNG):
        yield from _png(data)
    elif data.startswith(b"%PDF"):
        for number, stream in enumerate(PDF_STREAM.finditer(data), 1):
            yield f"stream {number}", _unpacked(stream[1]).decode("latin-1")


def _lines(file: Any) -> Pieces:
    number, before = 1, b""
    while part := file.readline(PART):
        text = (before + part).decode("utf-8", "replace")
        texts = [text, ESCAPED.sub(lambda code: chr(int(code[1], 16)), text), html.unescape(text)]
        yield from ((str(number), each) for each in dict.fromkeys(texts))
        for picture in PNG_IN_TEXT.finditer(text):
            coded = picture[0].rstrip("=")
            data = base64.b64decode(coded[: len(coded) // 4 * 4])
            yield from ((str(number), inside) for _, inside in binary(data))
        ended = part.endswith(b"\n")
        number, before = (number + 1, b"") if ended else (number, part[-OVERLAP:])


def _png(data: bytes) -> Pieces:
    """The texts of a picture: tEXt as it stands, zTXt and iTXt unpacked."""
    at = len(PNG)
    while at + 8 <= len(data):
        length, kind = int.from_bytes(data[at : at + 4]), data[at + 4 : at + 8]
        body = data[at + 8 : at + 8 + length]
        at += 12 + length
        if kind in (b"zTXt", b"iTXt"):
            keyword, _, rest = body.partition(b"\0")
            packed = kind == b"zTXt" or rest[:1] == b"\1"
            if kind == b"iTXt":  # two flags, a language and a translated keyword stand before its text
                rest = rest[:1] + rest[2:].split(b"\0", 2)[-1]
            text = _unpacked(rest[1:]) if packed else rest[1:]
            yield f"text '{keyword.decode('latin-1')}'", text.decode("utf-8", "replace")


def _unpacked(data: bytes) -> bytes:
    try:
        return zlib.decompressobj().decompress(data, UNPACKED)
    except zlib.error:
        return b""  # not packed in this way: its bytes were looked through as they stand


def _parquet(path: Path) -> Pieces:
    from pyarrow import types
    from pyarrow.parquet import ParquetFile

    file = ParquetFile(path)
    metadata = (file.metadata.metadata or {}).items()
    yield "metadata", " ".join(f"{_text(key)} {_text(value)}" for key, value in metadata)
    yield "columns", " ".join(file.schema_arrow.names)
    first = 1
    for batch in file.iter_batches():
        for field, column in zip(batch.schema, batch.columns, strict=True):
            if not (types.is_primitive(field.type) or types.is_null(field.type)):
                yield from ((f"row {n}", _text(value)) for n, value in enumerate(column.to_pylist(), first) if value)
        first += batch.num_rows


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
