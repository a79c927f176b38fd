"""Files of other tools as held verdicts, by the loaders of published data; each adapter a function of a path."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from helpers import datasets
from helpers.analyze import every, tidy, tidy_pairs
from helpers.analyze.cells import cells
from helpers.analyze.columns import REQUIRED
from helpers.analyze.held import Held
from helpers.analyze.raw import Raw, texts
from helpers.biases import hinting
from helpers.biases.position.pairs import SIGNS
from helpers.datasets.games import LLMBAR_LABELS, instructions, maker, records_of
from helpers.datasets.questions import UNKNOWN
from helpers.datasets.reading import id_of, number_or_nan, text_field

if TYPE_CHECKING:
    from collections.abc import Iterable

BY_NAMES = "Vendors are those that the names of models tell."
NO_ORDER = "The file does not tell in which order answers were shown: no number about places is made."
#: FastChat writes this for a score that it could not read.
NO_SCORE = -1.0
#: Columns of the games frame that are texts of few values.
_CODED = ("source", "question_id", "category", "judge", "judge_vendor", "candidate", "candidate_vendor", "baseline",
          "baseline_vendor", "condition", "first", "outcome")  # fmt: skip


def games(
    frame: pd.DataFrame, format: str, name: str, gold: np.ndarray | None = None, notes: Iterable[str] = ()
) -> Held:
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
    told = {*REQUIRED, "judge_vendor", "candidate_vendors"}
    told |= {"category"} if (frame["category"] != UNKNOWN).any() else set()
    told |= {"gold"} if gold is not None else set()
    told |= {"repeat"} if frame["repeat"].any() else set()
    told |= {"order"} if ordered.all() else set()
    counts = tidy_pairs.counts(frame)
    frame = frame.astype(dict.fromkeys(_CODED, "category"))
    single = format == "arena-hard" or frame["baseline"].nunique() == 1
    said = [BY_NAMES, *([] if ordered.all() else [NO_ORDER]), *notes]
    return Held("pairwise", format, name, frame, frozenset(told), counts, single, tuple(said))


def arena_hard(path: Path) -> Held:
    """Arena-Hard's judgments: a file, a judge's folder, or a tree of judges; what is broken is told and left out."""
    found = datasets.load_arena(path)
    notes = [f"Not read as it stands: {problem}" for problem in found.problems[:5]]
    more = len(found.problems) - len(notes)
    return games(found.frame, "arena-hard", path.stem, notes=[*notes, *([f"... and {more} more."] if more > 0 else [])])


def arena_battles(path: Path) -> Held:
    """Arena-Hard's battles."""
    return games(datasets.load_battles(path), "arena-battles", path.stem)


def votes(path: Path) -> Held:
    """Votes of people or of judges on two models; of verdicts of both orders together, how often the two disagreed."""
    held = games(datasets.load_vote_games(path), "votes", path.stem)
    if not (held.frame["score"] == "tie (inconsistent)").any():
        return held
    disagreed = (held.frame["score"] == "tie (inconsistent)").to_numpy(dtype=float)
    turns = held.frame["source"].astype(str).str.rpartition(", turn ")[2]
    rows = held.frame.assign(turn=turns.astype("category"))
    extra = [*every.by("both_order_inconsistent", rows, disagreed, ["turn"], "folder")]
    whole = every.by("both_order_inconsistent", rows.assign(turn="all"), disagreed, ["turn"], "folder")
    return replace(held, extra=(*extra, *whole))


def fastchat_pair(path: Path) -> Held:
    """FastChat's pair judgments."""
    return games(datasets.load_fastchat_pairs(path), "fastchat-pair", path.stem)


def analyzer(path: Path) -> Held:
    """Position-Bias-Analyzer's verdicts."""
    return games(datasets.load_letter_pairs(path), "analyzer", path.stem)


def judgebench(path: Path) -> Held:
    """JudgeBench's outputs, with what is right."""
    frame = datasets.load_judgebench(path)
    return games(frame, "judgebench", path.stem, frame["gold"].to_numpy())


def llmbar(path: Path) -> Held:
    """LLMBar's verdicts; with an instances.jsonl beside them also what is right."""
    labels = path.with_name(LLMBAR_LABELS)
    if not labels.is_file():
        return games(datasets.load_llmbar(path), "llmbar", path.stem, notes=[f"No {LLMBAR_LABELS} beside it: no gold."])
    frame = datasets.load_llmbar(path, labels)
    return games(frame, "llmbar", path.stem, np.ones(len(frame)))


def pandalm(path: Path) -> Held:
    """PandaLM's verdicts with what most annotators say as gold; items of one instruction are one question."""
    frame, gold = datasets.load_pandalm(path), datasets.pandalm_gold(path)
    right = frame["question_id"].map(gold).to_numpy(dtype=float)
    items = frame.drop_duplicates("question_id")
    items = items.assign(item=items["question_id"].astype(int)).sort_values("item")
    pair = items["baseline"].astype(str) + "_" + items["candidate"].astype(str)
    of = dict(zip(items["question_id"], map(str, instructions(list(pair))), strict=True))
    told = "Items of one instruction, told by where their pairs of models begin anew, are one question."
    return games(frame.assign(question_id=frame["question_id"].map(of)), "pandalm", path.stem, right, notes=[told])


def alpaca_eval(path: Path) -> Held:
    """AlpacaEval's annotations."""
    return games(datasets.load_alpaca(path), "alpaca-eval", path.stem)


def fastchat_single(path: Path) -> Held:
    """FastChat's scores of single answers; -1 and null could not be read. Turns of a question are one cluster."""
    records, stem = records_of(path, "fastchat-single")

    def read(record: dict[str, Any]) -> dict[str, Any]:
        judge = record.get("judge") or UNKNOWN
        score = number_or_nan(record["score"], "field 'score'")
        return {
            "judge": judge[0] if isinstance(judge, list) and judge else judge,
            "question": id_of(record, "question_id"),
            "candidates": [text_field(record, "model")],
            "verdict": None if score == NO_SCORE else score,
            "repeat": int(record.get("turn") or 1) - 1,
        }

    rows = records.map(read, "question_id")
    return _tidy(path, stem, "fastchat-single", rows, tuple(records.line(at) for at in range(len(rows))))


def inspect(path: Path) -> Held:
    """Logs of Inspect: scores by graders, or verdicts of a judging task."""
    rows, notes = datasets.load_inspect(path)
    return _tidy(path, path.stem, "inspect", rows, None, notes)


def llm_eval(path: Path) -> Held:
    """LLM-Eval's rankings: a file, or the folder of all groups; first places also as their source counts them."""
    frame, top = datasets.load_judgments(path), datasets.load_top1(path)
    frame = frame.assign(gold=np.nan)
    top = top.assign(verdict=top["pick"].fillna("no winner known"))
    counts = top.groupby(["judge", "condition", "verdict"]).size().rename("n").reset_index()
    told = {*REQUIRED, "condition", "category", "judge_vendor", "candidate_vendors"}
    extra = tuple(hinting.published_picks(top, "folder"))
    notes = (BY_NAMES, *frame.attrs.get("notes", ()))
    return Held("ranking", "llm-eval", path.stem, frame, frozenset(told), counts, notes=notes, extra=extra)


def _tidy(
    path: Path,
    name: str,
    format: str,
    rows: list[dict[str, Any]],
    lines: tuple[int, ...] | None,
    notes: Iterable[str] = (),
) -> Held:
    """Rows in tidy columns, checked and put into a frame as a tidy file is; vendors are told by names."""
    columns = [*REQUIRED, *(key for key in ("repeat", "gold", "category") if any(row.get(key) for row in rows))]
    table = {key: texts(row.get(key) for row in rows) for key in columns}
    table["judge_vendor"] = texts(maker(str(row["judge"])) for row in rows)
    table["candidate_vendors"] = texts(_makers(row["candidates"]) for row in rows)
    found = cells(Raw(path, pd.DataFrame(table), lines))
    held = tidy.SHAPES[found.style](found, name, frozenset(table))
    return replace(held, format=format, notes=(BY_NAMES, *notes))


def _makers(candidates: Any) -> Any:
    names = candidates if isinstance(candidates, list) else str(candidates).split("|")
    return [maker(str(name).strip()) for name in names]


#: What loads each format, by its name in `datasets/formats.toml`.
LOADERS = {
    "fastchat-pair": fastchat_pair,
    "analyzer": analyzer,
    "llmbar": llmbar,
    "pandalm": pandalm,
    "judgebench": judgebench,
    "alpaca-eval": alpaca_eval,
    "llm-eval": llm_eval,
    "inspect": inspect,
    "arena-hard": arena_hard,
    "votes": votes,
    "arena-battles": arena_battles,
    "fastchat-single": fastchat_single,
}
