"""A tidy file of verdicts: read, checked, and put into the frame of its style."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from helpers import datasets, frames
from helpers.analyze import columns, tidy_lists, tidy_pairs
from helpers.analyze.cells import cells
from helpers.analyze.held import Held
from helpers.analyze.raw import Raw
from helpers.analyze.reading import read

SHAPES = {"label": tidy_pairs.pairwise, "ranking": tidy_lists.rankings, "scores": tidy_lists.scores}


def load_tidy(path: Path, ignore_extra: bool = False) -> Held:
    """The verdicts of a tidy file (columns: `columns.ALL`), in the frame of their style.

    Everything is checked before anything is computed: columns, names, verdicts, one style a file, no asking twice. A
    ValueError names file, line and field, what was found and what is valid.
    """
    raw = read(path, ignore_extra)
    for name in ("judge", "question"):
        empty = raw.table[name].isna().to_numpy()
        if empty.any():
            raise ValueError(f"{raw.place(int(empty.argmax()))}: {name} is empty")
    found = cells(raw)
    told = frozenset(name for name in columns.ALL if name in raw.table and raw.table[name].notna().any())
    held = SHAPES[found.style](found, path.name.removesuffix(".gz").rpartition(".")[0], told)
    clusters, words = _clusters(raw)
    frame = frames.with_clusters(held.frame, clusters)
    most = frames.dominance_words(frame["cluster"])
    return replace(held, frame=frame, notes=(*held.notes, *_ties(raw, found.style), *words, *filter(None, [most])))


def _clusters(raw: Raw) -> tuple[dict[str, str], list[str]]:
    """The cluster of each question, by the column `cluster` or by texts, and what is said of it."""
    name = next((name for name in ("cluster", "question_text") if name in raw.table), None)
    if name is None:
        return {}, []
    rows = raw.table[["question", name]].dropna().drop_duplicates()
    twice = rows["question"].duplicated()
    if name == "question_text":
        rows = rows[~twice].astype(str)
        clusters = datasets.merge_near_duplicates(dict(zip(rows["question"], rows[name], strict=True)))
        return clusters, [words] if (words := datasets.near_duplicates_told(clusters)) else []
    if twice.any():
        row = int(rows.index[twice][0])
        question = raw.table["question"].iloc[row]
        first = rows.loc[rows["question"] == question, name].iloc[0]
        found = f"question {question!r} is of the cluster {raw.table[name].iloc[row]!r}, and of {first!r} before"
        raise ValueError(f"{raw.place(row)}: {found}")
    clusters = {
        question: columns.name_of(each, name) for question, each in zip(rows["question"], rows[name], strict=True)
    }
    many = len(set(clusters.values()))
    return clusters, [
        f"{len(clusters):,} questions are of {many:,} clusters (column cluster), which intervals take as units."
    ]


def _ties(raw: Raw, style: str) -> list[str]:
    """That a C counts as a tie, where there is one: elsewhere it may mean that both answers are bad."""
    if style != "label":
        return []
    column = raw.table["verdict"].cat
    letters = [code for code, text in enumerate(column.categories) if text.strip("[]").strip().lower() == "c"]
    count = int(np.isin(column.codes, letters).sum())
    return [f"{count:,} of {len(raw.table):,} verdicts are C, a tie as FastChat writes it."] if count else []
