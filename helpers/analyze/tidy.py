"""A tidy file of verdicts: read, checked, and put into the frame of its style."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from helpers import datasets, frames
from helpers.analyze import columns, tidy_lists, tidy_pairs
from helpers.analyze.cells import cells, combined
from helpers.analyze.held import Held
from helpers.analyze.reading import Raw, read, texts
from helpers.datasets.reading import short_name
from helpers.verdicts.forms import NUMBER

SHAPES = {"label": tidy_pairs.pairwise, "ranking": tidy_lists.rankings, "scores": tidy_lists.scores}


def load_tidy(
    path: Path, ignore_extra: bool = False, names: Mapping[str, str] | None = None, positive: str = ""
) -> Held:
    """The verdicts of a tidy file (columns: `columns.ALL`, or `names` in their place), in the frame of their style.

    `positive`: verdicts are grades around 0, and those above it are for the answer shown "first" (or "second").
    Two scores a row on one pair in both orders are verdicts on the pair: the higher one wins. Everything is checked
    before anything is computed: columns, names, verdicts, one style a file, no asking twice. A ValueError names file,
    line and field, what was found and what is valid.
    """
    raw = read(path, ignore_extra, names)
    for name in ("judge", "question"):
        empty = raw.table[name].isna().to_numpy()
        if empty.any():
            raise ValueError(f"{raw.place(int(empty.argmax()))}: {name} is empty")
    raw, notes = _questions(_graded(raw, positive))
    found = cells(raw)
    told = frozenset(name for name in columns.ALL if name in raw.table and raw.table[name].notna().any())
    shape = tidy_pairs.scored if found.style == "scores" and tidy_pairs.both_orders(found) else SHAPES[found.style]
    held = shape(found, path.name.removesuffix(".gz").rpartition(".")[0], told)
    clusters, words = _clusters(raw)
    frame = frames.with_clusters(held.frame, clusters)
    most = frames.dominance_words(frame["cluster"])
    return replace(
        held, frame=frame, notes=(*held.notes, *notes, *_ties(raw, found.style), *words, *filter(None, [most]))
    )


def _graded(raw: Raw, positive: str) -> Raw:
    """The file with labels in place of grades, where they are some: more than 1 from 0 is a strong verdict."""
    if not positive:
        return raw

    def label(text: str) -> str:
        if not NUMBER.fullmatch(text):
            return text
        grade = float(text) if positive == "first" else -float(text)
        sign = ">>" if abs(grade) > 1 else ">"
        return f"A{sign}B" if grade > 0 else f"B{sign}A" if grade < 0 else "A=B"

    verdicts = raw.table["verdict"].astype(object).map(label, na_action="ignore")
    return replace(raw, table=raw.table.assign(verdict=texts(verdicts)))


def _questions(raw: Raw) -> tuple[Raw, list[str]]:
    """The file with names for its questions, and what is said of them.

    A text in a name's place gets its first words and a hash; an item of a question is a question in its cluster.
    """
    table, notes = raw.table, []
    question = table["question"].cat
    long = [each for each in question.categories if len(each) > columns.LONGEST_NAME or {*each} & {*"\n\r\t"}]
    if long:
        rows = int(table["question"].isin(long).sum())
        table = table.assign(question=question.rename_categories({text: short_name(text) for text in long}))
        notes.append(f"{rows:,} rows name their question by its text; its first words and a hash stand for it.")
    if "item" in table:
        keys, at = combined([table[name].cat.codes.to_numpy(dtype=np.int64) for name in ("question", "item")])
        names = [
            table["question"].cat.categories[one] + (f", {table['item'].cat.categories[two]}" if two >= 0 else "")
            for one, two in keys
        ]
        cluster = table["cluster"] if "cluster" in table else table["question"]
        table = table.assign(question=pd.Categorical(np.array(names, dtype=object)[at]), cluster=cluster)
        notes.append("Items of a question (column item) are compared one by one; the question is what varies.")
    return replace(raw, table=table), notes


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
