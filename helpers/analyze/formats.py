"""Which format a file of verdicts has: told by its fields, its name, or whoever calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from helpers.analyze import adapters, columns
from helpers.analyze.held import Held
from helpers.analyze.reading import end_of, header
from helpers.analyze.tidy import load_tidy
from helpers.datasets.games import FORMATS as PUBLISHED
from helpers.datasets.hub import ERROR_FILES, JUDGMENT_FILES
from helpers.datasets.reading import first_record


@dataclass(frozen=True)
class Format:
    """How a format is known, by sets of fields of its first record, and what loads it."""

    fields: tuple[frozenset[str], ...]
    load: Callable[[Path], Held]
    words: str


#: Formats in the order in which they are tried: whose fields hold another's comes first.
FORMATS = {
    name: Format(tuple(frozenset(fields.split()) for fields in form["known_by"]), adapters.LOADERS[name], form["words"])
    for name, form in PUBLISHED.items()
    if form["known_by"]
}
TIDY = "tidy"
NAMES = (TIDY, *FORMATS)
#: How many files of a folder are looked into before it is read as what it seems to be.
MOST_TRIED = 50


def load(
    source: str | Path,
    format: str | None = None,
    ignore_extra: bool = False,
    names: Mapping[str, str] | None = None,
    positive: str = "",
) -> Held:
    """The verdicts of a file or folder in a known format; which one, its fields tell unless `format` does.

    Tables are tidy, or pairs of models with a winner; JSON is known by the fields of its first record, a folder by
    what lies in it. `names` makes a file tidy: its own names by our columns; so does `positive` (see `load_tidy`). What
    is of no known format is a ValueError with what was found and what is valid, a path that is not there a
    FileNotFoundError.
    """
    path = Path(source).expanduser()
    if format is not None and format not in NAMES:
        raise ValueError(f"format {format!r}; valid: {', '.join(NAMES)}")
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such file or folder")
    unknown = [name for name in names or {} if name not in columns.ALL]
    if unknown:
        raise ValueError(f"--map {unknown[0]}: no such column. {columns.valid()}")
    if positive not in ("", "first", "second"):
        raise ValueError(f"positive {positive!r}; valid: first, second (for which answer a grade above 0 is)")
    chosen = TIDY if names or positive else format or (_of_folder(path) if path.is_dir() else _of_file(path))
    if chosen == TIDY:
        if path.is_dir():
            raise ValueError(f"{path}: tidy verdicts are one file, this is a folder")
        held = load_tidy(path, ignore_extra, {theirs: ours for ours, theirs in (names or {}).items()}, positive)
    else:
        held = FORMATS[chosen].load(path)
        held = replace(held, name=path.name) if path.is_dir() else held
    return replace(held, notes=(*held.notes, *_alike(held)))


def _alike(held: Held) -> list[str]:
    """What is said of names that differ in nothing but capitals: they are different judges or candidates."""
    names: dict[str, set[str]] = {}
    for column in {"judge", "candidate", "baseline"} & {*held.frame}:
        for name in held.frame[column].dropna().unique():
            names.setdefault(str(name).casefold(), set()).add(str(name))
    twins = [" and ".join(sorted(found)) for found in names.values() if len(found) > 1]
    return (
        [f"Names that differ in capitals alone are taken as different ones: {'; '.join(twins[:5])}."] if twins else []
    )


def _of_folder(path: Path) -> str:
    names = {each.name for each in path.iterdir()}
    if names & {*JUDGMENT_FILES, *ERROR_FILES}:
        return "llm-eval"
    if any(path.rglob("*.eval")):
        return "inspect"
    if found := sorted(path.rglob("*.jsonl")):
        formats = {each: _format_in(each) for each in found[:MOST_TRIED]}
        others = [f"{each.relative_to(path)} ({format})" for each, format in formats.items() if format]
        if "arena-hard" not in formats.values() and others:
            told = f"name one file, such as {', '.join(others[:8])}"
            raise ValueError(f"{path}: not Arena-Hard's judgments (<judge>/<model>.jsonl); {told}")
        return "arena-hard"
    if any(path.rglob("*.json")):
        return "inspect"
    told = ", ".join(sorted(names)[:20]) or "nothing"
    expected = "Arena-Hard's judgments (<judge>/<model>.jsonl), logs of Inspect (.eval, .json), or LLM-Eval's groups"
    raise ValueError(f"{path}: found {told}; expected {expected}; a tidy file is named itself")


def _format_in(path: Path) -> str:
    """The format that the first record of a file tells; "" where it tells none."""
    try:
        return _of_file(path)
    except (ValueError, OSError):
        return ""


def _of_file(path: Path) -> str:
    if path.suffix.lower() == ".eval":
        return "inspect"
    end = end_of(path)
    if end not in (".json", ".jsonl"):
        wide = end != ".parquet" and {"model_a", "model_b", "winner"} <= {*header(path)[1]}
        return "wide-pairs" if wide else TIDY
    record = first_record(path)
    for name, format in FORMATS.items():
        if any(fields <= record.keys() for fields in format.fields):
            return name
    # With two of its columns a file means to be tidy: what is wrong with it is told column by column.
    if len(record.keys() & {*columns.REQUIRED}) >= 2 or not record:
        return TIDY
    if shape := columns.shape_of(record):
        raise ValueError(f"{path}: {shape}")
    fields = {TIDY: (frozenset(columns.REQUIRED),)} | {name: format.fields for name, format in FORMATS.items()}
    nearest = sorted(fields, key=lambda name: -max(len(each & record.keys()) / len(each) for each in fields[name]))
    told = (f"{name} ({' or '.join(', '.join(sorted(each)) for each in fields[name])})" for name in nearest)
    raise ValueError(
        f"{path}: fields {', '.join(sorted(record)[:30])} are of no known format: {'; '.join(told)}; "
        "--map judge=... names the columns of a tidy file as this one has them"
    )
