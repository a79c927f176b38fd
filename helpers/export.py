"""Results as files: figures, tables and numbers in one folder, the same bytes on every run, written all or none."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from platform import python_version
from typing import Any, Literal

import pandas as pd

from . import paths
from .escaping import markdown
from .figures.style import METADATA, Figure
from .json_text import document
from .macros import macros, ordered, place
from .providers.keys import redact
from .services import SERVICES
from .tables import Table, cells, csv_text, latex_text
from .types import Estimate

#: Results of these protocols can be read; 1.1 adds `p` and `effective` to each number.
Protocol = Literal["1.0", "1.1"]
PROTOCOL: Protocol = "1.1"
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
#: A file that is half-written, beside its place.
PART = re.compile(r"\..+\.part")
VERSIONS = ("datasets", "matplotlib", "numpy", "pandas", "recuse", "scipy", "statsmodels")


def export(
    folder: Path,
    figures: Sequence[Figure],
    tables: Sequence[Table],
    estimates: Iterable[Estimate],
    provenance: Mapping[str, Any],
    claims: pd.DataFrame | None = None,
    run: Mapping[str, Any] | None = None,
    summary: Mapping[str, Any] | None = None,
) -> None:
    """Write everything that an experiment found into `folder`, and nothing outside it.

    Files: <figure>.png .pdf .svg, <table>.csv .tex, numbers.json, numbers.tex, claims.csv (if `claims`, the
    frame of `claims.check`), summary.json (if `summary`, which the overview collects), captions.md, and run.json with
    commit, time, versions and `run`, the only file that differs between runs. All bytes are made before the first is
    written: an export that fails leaves the former files as they were. Unsafe or double names, infinite numbers and two
    estimates for one place are a ValueError.
    """
    # The experiment's name, so that two experiments have different macros wherever they are written to.
    name = str(provenance.get("experiment") or folder.resolve().name.split("-")[0])
    experiment = re.sub(r"[^A-Za-z0-9]+", "_", name)
    files = contents(experiment, figures, tables, list(estimates), provenance, claims)
    if summary is not None:
        files["summary.json"] = as_json({"protocol": PROTOCOL, **summary})
    files["run.json"] = as_json({**this_run(), **(run or {})})
    write(files, folder)


def list_contents(folder: Path, option: str) -> list[str]:
    """What a folder holds that results are to be written into: names, sorted; none where it is new or empty.

    What a write that was cut off left half-written does not count. A file in its place and a folder into which nothing
    can be written are a ValueError, which tells the `option` that names another one: before anything is computed.
    """
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder}: a file, expected a folder to write into")
    there = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    if not os.access(there, os.W_OK | os.X_OK):
        raise ValueError(f"{folder}: nothing can be written into {there}; {option} names another folder")
    # Of folders their files count.
    inside = (each for each in folder.rglob("*") if each.is_symlink() or not each.is_dir())
    return sorted({each.relative_to(folder).parts[0] for each in inside if not PART.fullmatch(each.name)})


def recorded(folder: Path, record: str, facts: Mapping[str, str]) -> dict[str, str] | None:
    """The sha256 of the files that `renew` wrote into a folder, by place; None where it holds no record with `facts`.

    What somebody added to the record counts only within the folder: no name leads out of it, not by a link either.
    """
    try:
        content = document((folder / record).read_text(encoding="utf-8"))
        digests = dict(content["files"]) if facts.items() <= content.items() else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    root = folder.resolve()
    inside = {name for name in digests or () if (folder / name).parent.resolve().is_relative_to(root)}
    return digests if digests is None else {name: digests[name] for name in inside}


def renew(files: Mapping[str, bytes], folder: Path, record: str, facts: Mapping[str, str]) -> None:
    """Write files with a record of them, and remove what an earlier call left that is not among them now.

    What somebody changed since is not removed.
    """
    former = recorded(folder, record, facts) or {}
    texts = {name: cleaned(name, content) for name, content in files.items()}
    hashes = {name: hashlib.sha256(texts[name]).hexdigest() for name in sorted(texts)}
    # The record comes first: by it the rest of a folder that was cut off is known as one of ours.
    _put({record: f"{json.dumps({**facts, 'files': hashes}, indent=1)}\n".encode(), **texts}, folder)
    for name in former.keys() - files.keys():
        if sha256_of(folder / name) == former[name]:
            (folder / name).unlink()


def sha256_of(path: Path) -> str:
    """The sha256 of a file, "" where there is none."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def write(files: Mapping[str, bytes], folder: Path) -> None:
    """Put files into a folder, all beside their places first: one that cannot be written leaves the former ones.

    A name may say a folder within (`figures/one.pdf`); where that is a link, nothing is written (ValueError). Texts are
    written without the keys of this environment.
    """
    _put({name: cleaned(name, content) for name, content in files.items()}, folder)


def _put(files: Mapping[str, bytes], folder: Path) -> None:
    places = {name: folder / name for name in files}
    for inner in sorted({path.parent for path in places.values()} - {folder}):
        _refuse_links(folder, inner)
    parts = {name: path.with_name(f".{path.name}.part") for name, path in places.items()}
    try:
        for name, part in parts.items():
            part.parent.mkdir(parents=True, exist_ok=True)
            # A link of that name would lead the write out of the folder.
            part.unlink(missing_ok=True)
            part.write_bytes(files[name])
        for name, part in parts.items():
            os.replace(part, places[name])
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)


def _refuse_links(folder: Path, inner: Path) -> None:
    at = folder
    for step in inner.relative_to(folder).parts:
        at = at / step
        if at.is_symlink() or step == "..":
            raise ValueError(f"{at}: a link, expected a folder; delete it")


def cleaned(name: str, content: bytes) -> bytes:
    """The bytes of a file as they are written: a text without keys; one that is not UTF-8 is a ValueError."""
    if name.endswith((".png", ".pdf")):
        return content
    try:
        return redact(content.decode()).encode()
    except UnicodeDecodeError as error:
        raise ValueError(f"{name}: no UTF-8 text ({error.reason} at byte {error.start})") from None


def contents(
    experiment: str,
    figures: Sequence[Figure],
    tables: Sequence[Table],
    estimates: Sequence[Estimate],
    provenance: Mapping[str, Any],
    claims: pd.DataFrame | None = None,
) -> dict[str, bytes]:
    """The bytes of every file but run.json, by file name; the same for the same input."""
    files: dict[str, bytes] = {}

    def add(name: str, content: bytes | str) -> None:
        stem = name.rpartition(".")[0]
        if not NAME.fullmatch(stem):
            raise ValueError(f"'{stem}' cannot be a file name: lower case letters, digits, _ and - only, at most 64")
        if name in files:
            raise ValueError(f"two results want to be written to {name}; rename one")
        files[name] = content if isinstance(content, bytes) else content.encode()

    add("numbers.json", as_json({"protocol": PROTOCOL, "provenance": provenance, "numbers": numbers(estimates)}))
    add("numbers.tex", macros(experiment, estimates))
    add("exhibits.json", as_json({"protocol": PROTOCOL, **exhibits(figures, tables)}))
    add("captions.md", captions(experiment, figures, tables))
    if claims is not None:
        add("claims.csv", csv_text(claims))
    for table in tables:
        add(f"{table.name}.csv", csv_text(table.csv))
        label = f"tab:{experiment}-{table.name}"
        add(f"{table.name}.tex", latex_text(table.frame, table.words, label))
    for figure in figures:
        for kind in METADATA:
            add(f"{figure.name}.{kind}", figure.render(kind))
    return files


def _plain(value: Any, where: str) -> Any:
    """A value as JSON holds it: 6 significant digits, NaN as null; what JSON cannot hold is an error."""
    if isinstance(value, Mapping):
        return {str(key): _plain(each, f"{where}.{key}") for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each, where) for each in value]
    if isinstance(value, float):
        if math.isinf(value):
            raise ValueError(f"{where} is infinite: report why it cannot be estimated instead (NaN and a method)")
        return None if math.isnan(value) else float(f"{value:.6g}")
    return value


def as_json(content: Mapping[str, Any]) -> bytes:
    """Facts as a file: numbers with 6 significant digits, NaN as null; an infinite one is a ValueError."""
    text = json.dumps(_plain(content, "export"), indent=1, ensure_ascii=False, allow_nan=False)
    return f"{text}\n".encode()


def numbers(estimates: Iterable[Estimate]) -> list[dict[str, Any]]:
    """The estimates as the records of numbers.json, sorted by id, place and data source."""
    records = []
    for each in ordered(estimates):
        where = {key: str(value) for key, value in sorted(each.where.items())}
        bounds = {"value": float(each.value), "low": float(each.low), "high": float(each.high)}
        facts = {"n": int(each.n), "clusters": int(each.clusters), "unit": each.unit, "method": each.method}
        facts |= {"p": float(each.p), "effective": float(each.effective)}
        records.append(_plain({"id": each.id, "where": where, **bounds, **facts, "data": each.data}, str(place(each))))
    return records


def captions(experiment: str, figures: Sequence[Figure], tables: Sequence[Table]) -> str:
    """captions.md: every figure with its alt text and caption, every table with its caption."""
    parts = [f"# {experiment}: figures and tables"]
    for figure in figures:
        alt = markdown(figure.alt.replace("[", "(").replace("]", ")"), greater=True)
        words = markdown(figure.caption, greater=True)
        parts.append(f"## Figure {figure.name}\n\n![{alt}]({figure.name}.png)\n\n{words}")
    for table in tables:
        words = markdown(table.words, greater=True)
        parts.append(f"## Table {table.name}\n\n{words} ({table.name}.csv, .tex)")
    return "\n\n".join(parts) + "\n"


def exhibits(figures: Sequence[Figure], tables: Sequence[Table]) -> dict[str, list[dict[str, Any]]]:
    """The content of exhibits.json, from which a paper is made: figures (sizes in inches and points), tables by cell.

    A cell is text, a number, or null where there is none.
    """
    return {
        "figures": [
            {
                **{"name": each.name, "caption": each.caption, "alt": each.alt},
                **dict(zip(("width", "height"), map(float, each.figure.get_size_inches()), strict=True)),
                "size": float(each.rc["font.size"]),
                "style": each.style,
            }
            for each in figures
        ],
        "tables": [{"name": each.name, "caption": each.words, **cells(each)} for each in tables],
    }


def this_run() -> dict[str, Any]:
    """Commit (with -dirty where files differ from it; null outside a checkout), time in UTC, and versions."""
    command = ["git", "-C", str(paths.DEFINITIONS), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        git = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        commit = git.stdout.strip() if git.returncode == 0 and not paths.BUNDLE.is_dir() else None
    except FileNotFoundError:
        commit = None
    versions: dict[str, str | None] = {"python": python_version()}
    for package in sorted((*VERSIONS, *(service.sdk for service in SERVICES.values()))):
        versions[package] = next((each.version for each in metadata.distributions(name=package)), None)
    return {"commit": commit, "time": datetime.now(UTC).isoformat(timespec="seconds"), "versions": versions}
