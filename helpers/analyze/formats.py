"""Which format a file of verdicts has, and files of other tools as held verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .. import datasets
from ..biases import hinting
from ..biases.position.both_orders import SIGNS
from ..datasets.answers import maker
from ..datasets.games import FORMATS as PUBLISHED, LLMBAR_LABELS, format_of, instructions, records_of
from ..datasets.hub import ERROR_FILES, JUDGMENT_FILES
from ..datasets.questions import UNKNOWN
from ..datasets.reading import Record, first_record
from . import numbers, reading, tidy
from .cells import cells
from .reading import REQUIRED, Raw, end_of, header, texts
from .tidy import Verdicts, load_tidy

if TYPE_CHECKING:
    from collections.abc import Iterable

BY_NAMES = "Vendors are those that the names of models tell."
NO_ORDER = "The file does not tell in which order answers were shown: no number about places is made."
#: FastChat's scale, and more turns than its questions have.
LEAST, MOST, TURNS = 1, 10, 1000
#: Columns of the games frame that are texts of few values.
_CODED = ("source", "question_id", "category", "judge", "judge_vendor", "candidate", "candidate_vendor", "baseline",
          "baseline_vendor", "condition", "first", "outcome")  # fmt: skip


def games(
    frame: pd.DataFrame, format: str, name: str, gold: np.ndarray | None = None, notes: Iterable[str] = ()
) -> Verdicts:
    """A games frame of a loader as held verdicts: what is won and what should be, whether the order is known."""
    ordered = (frame["condition"] != datasets.NO_ORDER).to_numpy()
    sign = frame["verdict"].map(SIGNS).astype(float).to_numpy()
    won = (np.where(frame["first"] == "candidate", sign, -sign) + 1) / 2
    frame = frame.assign(
        baseline_vendor=frame["baseline"].map(maker),
        condition=frame["condition"].replace(datasets.NO_ORDER, "none"),
        ordered=ordered,
        won=frame.get("won", won),
        gold=np.nan if gold is None else gold,
    )
    columns = {*REQUIRED, "judge_vendor", "candidate_vendors"}
    columns |= {"category"} if (frame["category"] != UNKNOWN).any() else set()
    columns |= {"gold"} if gold is not None else set()
    columns |= {"repeat"} if frame["repeat"].any() else set()
    columns |= {"order"} if ordered.all() else set()
    columns |= {"length"} if "length_candidate" in frame else set()
    counts = tidy.counts(frame)
    frame = frame.astype(dict.fromkeys(_CODED, "category"))
    single = format == "arena-hard" or frame["baseline"].nunique() == 1
    partly = (
        f"The shown order is known of {ordered.sum():,} of {len(frame):,} verdicts: numbers about places are of these."
    )
    remarks = [BY_NAMES, *([] if ordered.all() else [partly if ordered.any() else NO_ORDER]), *notes]
    return Verdicts("pairwise", format, name, frame, frozenset(columns), counts, single, tuple(remarks))


def arena_hard(path: Path) -> Verdicts:
    """Arena-Hard's judgments: a file, a judge's folder, or a tree of judges; broken lines are reported and left out."""
    found = datasets.load_arena(path)
    # A second game that no line holds was never asked: there is nothing in it that could not be read.
    asked = found.frame[(found.frame["outcome"] != "missing") | (found.frame["games"] > 1)]
    frame = found.frame if asked.empty else asked.reset_index(drop=True)
    notes = [f"Not read as it stands: {problem}" for problem in found.problems[:5]]
    more = len(found.problems) - len(notes)
    return games(frame, "arena-hard", path.stem, notes=[*notes, *([f"... and {more} more."] if more > 0 else [])])


def votes(path: Path) -> Verdicts:
    """Votes of people or of judges on two models; of verdicts of both orders together, how often the two disagreed."""
    file = games(datasets.load_pairwise(path, "votes"), "votes", path.stem)
    if not (file.frame["score"] == "tie (inconsistent)").any():
        return file
    disagreed = (file.frame["score"] == "tie (inconsistent)").to_numpy(dtype=float)
    turns = file.frame["source"].astype(str).str.rpartition(", turn ")[2]
    rows = file.frame.assign(turn=turns.astype("category"))
    extra = [*numbers.by("both_order_inconsistent", rows, disagreed, ["turn"], "folder")]
    pooled = numbers.by("both_order_inconsistent", rows.assign(turn="all"), disagreed, ["turn"], "folder")
    return replace(file, extra=(*extra, *pooled))


def llmbar(path: Path) -> Verdicts:
    """LLMBar's verdicts; with an instances.jsonl beside them also what is right."""
    labels = path.with_name(LLMBAR_LABELS)
    if not labels.is_file():
        note = f"No {LLMBAR_LABELS} beside it: no gold."
        return games(datasets.load_pairwise(path, "llmbar"), "llmbar", path.stem, notes=[note])
    frame = datasets.load_pairwise(path, "llmbar", labels=labels)
    return games(frame, "llmbar", path.stem, np.ones(len(frame)))


def pandalm(path: Path) -> Verdicts:
    """PandaLM's verdicts with what most annotators say as gold; items of one instruction are one question."""
    frame = datasets.load_pairwise(path, "pandalm")
    right = frame["gold"].to_numpy() if "gold" in frame else None
    items = frame.drop_duplicates("question_id")
    items = items.assign(item=items["question_id"].astype(int)).sort_values("item")
    pair = items["baseline"].astype(str) + "_" + items["candidate"].astype(str)
    asked = dict(zip(items["question_id"], map(str, instructions(list(pair))), strict=True))
    note = "Items of one instruction, told by where their pairs of models begin anew, are one question."
    return games(frame.assign(question_id=frame["question_id"].map(asked)), "pandalm", path.stem, right, notes=[note])


def fastchat_single(path: Path) -> Verdicts:
    """FastChat's scores of single answers; null and what is no score of its scale, as -1, could not be read.

    Turns are repeats of a question, and lines on the same answer with later time stamps further ones.
    """
    records = records_of(path, "fastchat-single")
    seen: Counter[tuple[str, ...]] = Counter()
    off: list[float] = []

    def read(record: Record) -> dict[str, Any]:
        judge, score = record.get("judge") or UNKNOWN, record.number("score")
        turn = Record(turn=record.get("turn") or 1).whole("turn", 1) - 1
        judge = judge[0] if isinstance(judge, list) and judge else judge
        about = {"judge": judge, "question": record.id("question_id"), "candidates": [record.text("model")]}
        key = (str(judge), about["question"], *about["candidates"], str(turn))
        again = TURNS * seen[key]
        seen[key] += isinstance(record.get("tstamp"), int | float)
        off.extend([score] if score != -1 and (score < LEAST or score > MOST) else [])
        return about | {"verdict": score if LEAST <= score <= MOST else None, "repeat": turn + again}

    rows = records.map(read, "question_id")
    note = f"{len(off):,} scores such as {off[0]:g} lie outside {LEAST} to {MOST} and are unreadable." if off else ""
    return _tidy(path, path.stem, "fastchat-single", rows, records.lines, [note] if off else [])


def inspect(path: Path) -> Verdicts:
    """Logs of Inspect: scores by graders, or verdicts of a judging task."""
    rows, notes = datasets.load_inspect(path)
    return _tidy(path, path.stem, "inspect", rows, None, notes)


def llm_eval(path: Path) -> Verdicts:
    """LLM-Eval's rankings: a file, or the folder of all groups; first places also as their source counts them."""
    frame, top = datasets.load_judgments(path), datasets.load_top1(path)
    frame = frame.assign(gold=np.nan)
    top = top.assign(verdict=top["pick"].fillna("no winner known"))
    counts = top.groupby(["judge", "condition", "verdict"]).size().rename("n").reset_index()
    columns = {*REQUIRED, "condition", "category", "judge_vendor", "candidate_vendors"}
    extra = tuple(hinting.published_picks(top, "folder"))
    notes = (BY_NAMES, *frame.attrs.get("notes", ()))
    return Verdicts("ranking", "llm-eval", path.stem, frame, frozenset(columns), counts, notes=notes, extra=extra)


def _tidy(
    path: Path,
    name: str,
    format: str,
    rows: list[dict[str, Any]],
    lines: tuple[int, ...] | None,
    notes: Iterable[str] = (),
) -> Verdicts:
    """Rows in tidy columns, checked and put into a frame as a tidy file is; vendors follow from the names."""
    columns = [*REQUIRED, *(key for key in ("repeat", "gold", "category") if any(row.get(key) for row in rows))]
    table = {key: texts(row.get(key) for row in rows) for key in columns}
    table["judge_vendor"] = texts(maker(str(row["judge"])) for row in rows)
    table["candidate_vendors"] = texts(_makers(row["candidates"]) for row in rows)
    found = cells(Raw(path, pd.DataFrame(table), lines))
    file = tidy.SHAPES[found.style](found, name, frozenset(table))
    return replace(file, format=format, notes=(BY_NAMES, *notes))


def _makers(candidates: Any) -> Any:
    names = candidates if isinstance(candidates, list) else str(candidates).split("|")
    return [maker(str(name).strip()) for name in names]


def pairs(path: Path, format: str) -> Verdicts:
    """The held verdicts of a format's games frame; its column `gold`, if it has one, says what is right."""
    frame = datasets.load_pairwise(path, format)
    return games(frame, format, path.stem, frame["gold"].to_numpy() if "gold" in frame else None)


#: What loads each format that needs more than `pairs`, by its name in `datasets/formats.toml`.
LOADERS: dict[str, Callable[[Path], Verdicts]] = {
    "llmbar": llmbar,
    "pandalm": pandalm,
    "llm-eval": llm_eval,
    "inspect": inspect,
    "arena-hard": arena_hard,
    "votes": votes,
    "wide-pairs": votes,
    "fastchat-single": fastchat_single,
}


#: Formats of files of verdicts, in the order in which they are tried.
FORMATS = {name: form for name, form in PUBLISHED.items() if form["known_by"]}
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
) -> Verdicts:
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
    unknown = [name for name in names or {} if name not in reading.ALL]
    if unknown:
        raise ValueError(f"--map {unknown[0]}: no such column. {reading.valid()}")
    if positive not in ("", "first", "second"):
        raise ValueError(f"positive {positive!r}; valid: first, second (for which answer a grade above 0 is)")
    chosen = TIDY if names or positive else format or (_of_folder(path) if path.is_dir() else _of_file(path))
    if chosen == TIDY:
        if path.is_dir():
            raise ValueError(f"{path}: tidy verdicts are one file, this is a folder")
        file = load_tidy(path, ignore_extra, {theirs: ours for ours, theirs in (names or {}).items()}, positive)
    else:
        file = LOADERS[chosen](path) if chosen in LOADERS else pairs(path, chosen)
        file = replace(file, name=path.name) if path.is_dir() else file
    return replace(file, notes=(*file.notes, *_alike(file)))


def _alike(file: Verdicts) -> list[str]:
    """What is said of names that differ in nothing but capitals: they are different judges or candidates."""
    names: dict[str, set[str]] = {}
    for column in {"judge", "candidate", "baseline"} & {*file.frame}:
        for name in file.frame[column].dropna().unique():
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
            advice = f"name one file, such as {', '.join(others[:8])}"
            raise ValueError(f"{path}: not Arena-Hard's judgments (<judge>/<model>.jsonl); {advice}")
        return "arena-hard"
    if any(path.rglob("*.json")):
        return "inspect"
    advice = ", ".join(sorted(names)[:20]) or "nothing"
    expected = "Arena-Hard's judgments (<judge>/<model>.jsonl), logs of Inspect (.eval, .json), or LLM-Eval's groups"
    raise ValueError(f"{path}: found {advice}; expected {expected}; a tidy file is named itself")


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
    if name := format_of(record):
        return name
    # With two of its columns a file means to be tidy: faults are reported by column.
    if len(record.keys() & {*reading.REQUIRED}) >= 2 or not record:
        return TIDY
    if shape := reading.shape_of(record):
        raise ValueError(f"{path}: {shape}")
    fields = {TIDY: [{*reading.REQUIRED}]}
    fields |= {name: [{*each.split()} for each in form["known_by"]] for name, form in FORMATS.items()}
    nearest = sorted(fields, key=lambda name: -max(len(each & record.keys()) / len(each) for each in fields[name]))
    needed = (f"{name} ({' or '.join(', '.join(sorted(each)) for each in fields[name])})" for name in nearest)
    raise ValueError(
        f"{path}: fields {', '.join(sorted(record)[:30])} are of no known format: {'; '.join(needed)}; "
        "--map judge=... names the columns of a tidy file as this one has them"
    )
