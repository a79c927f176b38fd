"""What the metrics of `seed_metrics` accept: columns of numbers, one row a test; all else is named and refused."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike


def columns(**named: ArrayLike) -> list[np.ndarray]:
    """The named arguments as float arrays (n, 1) of one length; the row of an error counts from 0."""
    read = {name: _finite(name, values) for name, values in named.items()}
    for name, values in read.items():
        if values.ndim != 2 or values.shape[1] != 1:
            raise ValueError(f"{name} has the shape {values.shape}; it must be (n, 1), one row a test")
    _same_length(read)
    return list(read.values())


def chosen(options: ArrayLike, **answers: ArrayLike) -> list[np.ndarray]:
    """The options (n, k), k at least 2, and then the answers (n, 1), each of which is one of its row's options."""
    given = _finite("options", options)
    if given.ndim != 2 or given.shape[1] < 2:
        raise ValueError(f"options has the shape {given.shape}; it must be (n, k), one row a test, k at least 2")
    read = columns(**answers)
    _same_length({"options": given} | dict(zip(answers, read, strict=True)))
    for name, values in zip(answers, read, strict=True):
        found = (values == given).any(axis=1)
        if not found.all():
            row = int(np.argmin(found))
            valid = ", ".join(f"{option:g}" for option in given[row])
            raise ValueError(f"{name}, row {row}: {values[row, 0]:g} is not among its options {valid}")
    return [given, *read]


def anchored(control: ArrayLike, treatment: ArrayLike, options: ArrayLike, anchor: ArrayLike) -> list[np.ndarray]:
    """Options, control, treatment and anchor; the anchor may lie anywhere."""
    given, a1, a2 = chosen(options, control=control, treatment=treatment)
    return [given, a1, a2, columns(control=a1, anchor=anchor)[1]]


def gambles(answer: ArrayLike, lambdas: ArrayLike) -> list[np.ndarray]:
    """Answers, 0 or 1, and lambdas, above 0."""
    a, ratio = columns(answer=answer, lambdas=lambdas)
    _yes_no(a)
    _all(ratio > 0, "lambdas", ratio, "it must be above 0")
    return [a, ratio]


def selected(answer: ArrayLike, pro: ArrayLike, con: ArrayLike, n_args: ArrayLike) -> list[np.ndarray]:
    """Answers, 0 or 1, and whole numbers of arguments, no more selected than the n_args listed."""
    read = columns(answer=answer, pro=pro, con=con, n_args=n_args)
    a, p, c, listed = read
    _yes_no(a)
    for name, values in (("pro", p), ("con", c), ("n_args", listed)):
        _all((values >= 0) & (values == np.floor(values)), name, values, "a count is a whole number from 0 up")
    _all(listed > 0, "n_args", listed, "at least one argument must be listed")
    _all(p + c <= listed, "pro + con", p + c, "more than the n_args listed")
    return read


def cluster_codes(clusters: Sequence[object] | None, rows: int) -> np.ndarray:
    """The cluster of each row as a number from 0 up; without labels each row is its own."""
    if clusters is None:
        return np.arange(rows)
    labels = np.asarray(clusters, dtype=object)
    if labels.shape not in ((rows,), (rows, 1)):
        raise ValueError(f"clusters has the shape {labels.shape}; it must hold one label for each of the {rows} rows")
    codes, _ = pd.factorize(labels.ravel())
    if (codes < 0).any():
        raise ValueError(f"clusters, row {int(np.argmin(codes))}: no label")
    return codes


def _finite(name: str, values: ArrayLike) -> np.ndarray:
    try:
        read = np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must hold numbers: {error}") from None
    broken = np.argwhere(~np.isfinite(read))
    if len(broken):
        at = tuple(broken[0])
        where = f"{name}, row {at[0]}" if at else name
        raise ValueError(f"{where}: {read[at]} is not a finite number; leave rows without a readable answer out")
    return read


def _yes_no(answer: np.ndarray) -> None:
    _all((answer == 0) | (answer == 1), "answer", answer, "an answer is 0 or 1")


def _same_length(read: dict[str, np.ndarray]) -> None:
    lengths = {name: len(values) for name, values in read.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError("all need the same rows, found " + ", ".join(f"{n} of {name}" for name, n in lengths.items()))


def _all(valid: np.ndarray, name: str, values: np.ndarray, rule: str) -> None:
    if not valid.all():
        row = int(np.argmin(valid.ravel()))
        raise ValueError(f"{name}, row {row}: {values[row, 0]:g}; {rule}")
