"""Commands on the store of replies: what it holds, whether it is whole, and how replies leave it and come in."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import click

from ..judge import dollars
from ..words import many, plain
from .printing import cost_of, echo, replies

_path, _models = click.Path(path_type=Path), click.argument("models", nargs=-1)
#: What lines that are not as they should be are called.
_ODD = {"damaged": "damaged", "unknown": "written by another version", "torn": "cut off at the end"}
_ODD["unended"] = "without its line end"
_FURTHER = "further replies to the same (the first counts)"
#: What becomes of a last line that was not finished.
_NO_DAMAGE = {"torn": "; the next run that asks cuts it away", "unended": "; the next run that asks adds it"}


@click.group()
def store() -> None:
    """Look at the replies that were paid for, check them, share them."""


@store.command()
@_models
@replies
@click.option("--json", "as_json", is_flag=True, help="For programs: one JSON object.")
def info(models: tuple[str, ...], store: Path, as_json: bool) -> None:
    """Say what is stored: replies, failures, tokens, dollars, dates and experiments of all models, or of MODELS."""
    from ..config import load_models
    from ..store import contents, files

    found = [contents(path, cost_of(load_models())) for path in files(store, models)]
    if as_json:
        echo(json.dumps({"folder": str(store), "files": [vars(each) for each in found]}, indent=1))
        return
    lines, replies, size = (sum(getattr(each, name) for each in found) for name in ("lines", "replies", "bytes"))
    total = f"{store}: {many(len(found), 'file')}, {lines:,} lines, {replies:,} replies, {_size(size)}"
    echo("\n".join([total, *map(_render_contents, found)]))


def _render_contents(found: Any) -> str:
    """The contents of one file in a few lines."""
    if not found.lines:
        return f"\n{found.model}: empty: nothing was ever stored here"
    failed = sum(found.failures.values()), f"failed attempts ({_counts(found.failures)})"
    damaged, further = (found.damaged, "DAMAGED (recuse store verify)"), (found.further, _FURTHER)
    counted = [f"{found.lines:,} lines", f"{found.replies:,} replies", *_there(further, failed, damaged)]
    counted += ["a torn last line"] if found.torn else []
    tokens = f"{found.tokens['input']:,} tokens in, {found.tokens['output']:,} out"
    spent = f"no dollars: {plain(found.no_price)}"
    if found.usd_measured is not None:
        more = found.usd_at_most - found.usd_measured > 1e-9
        spent = f"{dollars(found.usd_measured)} measured" + (f", {dollars(found.usd_at_most)} at most" if more else "")
    days = " to ".join(dict.fromkeys(plain(time[:10]) for time in (found.first, found.last))) or "no dates"
    return (
        f"\n{found.model}{' (SIMULATED)' if found.simulated else ''}: {', '.join(counted)}\n  {tokens}; {spent}\n"
        f"  {days}; {_counts(found.experiments, 'no experiment') or 'nothing'}; {_size(found.bytes)}\n"
        f"  answered by: {_counts(found.returned) or 'nobody says'}"
    )


def _there(*counts: tuple[int, str]) -> list[str]:
    """Counts with what they count, but for those that are 0."""
    return [f"{count:,} {words}" for count, words in counts if count]


def _counts(counts: dict[str, int], nameless: str = "no name") -> str:
    return ", ".join(f"{plain(name) or nameless} {count:,}" for name, count in sorted(counts.items()))


def _size(size: int) -> str:
    return f"{size / 1e6:,.1f} MB" if size >= 1e6 else f"{size / 1e3:,.1f} kB"


@store.command()
@_models
@replies
@click.option("--repair", is_flag=True, help="Move bad lines to <file>.damaged beside the file; nothing is deleted.")
def verify(models: tuple[str, ...], store: Path, repair: bool) -> None:
    """Check every line of all files, or those of MODELS; exit code 1 where a line is damaged."""
    from .. import store as room

    left = mendable = 0
    for path in room.files(store, models):
        found = room.verify(path)
        kinds = Counter(line.kind for line in found.odd)
        for line in found.odd:
            echo(f"{path}, line {line.number}: {plain(line.wrong)}{'' if repair else _NO_DAMAGE.get(line.kind, '')}")
        echo(f"{path.name}: {_state(found)}")
        mendable, bad = mendable + kinds["damaged"], kinds["damaged"] + kinds["unknown"]
        if repair and found.odd:
            echo(f"{path.name}: {_mended(done := room.repair(path), found)}")
            bad = done.left
        left += bad
        if index := room.left_index(path):
            echo(index)
    if mendable and not repair:
        echo("The same with --repair moves damaged lines to <file>.damaged beside the file; nothing is deleted.")
    sys.exit(1 if left else 0)


def _state(found: Any) -> str:
    """What a look at every line of a file found, in a few words."""
    if not found.lines:
        return "empty: no line yet"
    lines = [many(found.lines, "line"), *_there((found.same, "copies of lines"), (found.further, _FURTHER))]
    odd = Counter(line.kind for line in found.odd)
    if not odd:
        return f"{', '.join(lines)}, whole"
    parts = [f"{found.lines - odd.total():,} whole", *(f"{count:,} {_ODD[kind]}" for kind, count in odd.items())]
    return f"{', '.join(lines)}: {', '.join(parts)}"


def _mended(done: Any, found: Any) -> str:
    """What a repair did, and only that."""
    back = f", {done.rescued:,} whole within put back" if done.rescued else ""
    again = "what is missing now is asked again by the next run"
    parts = [f"{many(done.moved, 'line')} moved to {done.side.name}{back}; {again}"] if done.moved else []
    if any(line.kind == "unended" for line in found.odd):
        parts.append("the line end that was missing is added")
    if done.left:
        parts.append(f"{many(done.left, 'line')} of another version left in place")
    return "; ".join(parts)


@store.command()
@click.option("--to", "target", type=_path, required=True, help=".jsonl, .parquet or .csv.")
@click.option("--model", "models", multiple=True, help="Only this model's replies; may be given again.")
@click.option("--experiment", "experiments", multiple=True, help="Only what this experiment asked first; again, too.")
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@replies
def export(target: Path, models: tuple[str, ...], experiments: tuple[str, ...], force: bool, store: Path) -> None:
    """Write replies into one file: all that is stored as .jsonl (`import` reads it), or a table (.parquet, .csv)."""
    from ..store import export as write

    counts = write(store, target, models, experiments, force)
    echo(f"{target}: {sum(counts.values()):,} lines ({_counts(counts) or 'of no model'})")


@store.command("import")
@click.argument("file", type=_path)
@click.option("--model", help="Whose lines these are, where the file is one of another store (not an export).")
@replies
def take(file: Path, model: str | None, store: Path) -> None:
    """Take the replies of FILE (.jsonl) into the store: all or none, each line checked before any is written."""
    from ..config import ConfigError, load_models, perhaps
    from ..store import import_file

    if model is not None and model not in (models := load_models()):
        near = perhaps([model], models)
        raise ConfigError(f"--model {model}: no such model in models.yaml{near}; there are: {', '.join(models)}")
    if file.suffix.lower() in (".csv", ".parquet"):
        raise click.BadParameter(f"{file}: tables are for reading; export to .jsonl to import it again")
    _say(import_file(file, store, model))


@store.command()
@click.argument("other", type=_path)
@replies
def merge(other: Path, store: Path) -> None:
    """Take in another folder of replies, file by file: all or none. The first reply of a key counts, all are kept."""
    from ..store import merge as join

    _say(join(other, store))


def _say(joined: list[Any]) -> None:
    from ..config import load_models

    models = load_models()
    for each in joined:
        parts = [(each.further, "more to what has a reply already (kept; the first counts)")]
        parts += [(each.failures, "failed attempts"), (each.same, "were here already")]
        torn = ["a torn last line left out"] if each.torn else []
        echo(f"{each.model}: {', '.join([f'{each.new:,} replies added', *_there(*parts), *torn])}")
        if each.model not in models:
            echo(f"note: models.yaml has no model '{each.model}': an entry of that name will find these replies")
    if not joined:
        echo("nothing to take in")
