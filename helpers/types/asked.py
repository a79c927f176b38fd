"""What is asked: questions, answers, trials, and the run that they belong to."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from helpers.types.models import Model
from helpers.types.requests import Request
from helpers.types.tests import Wording


def short_hash(*parts: object, digits: int = 8) -> str:
    """The first hex digits of the sha256 of the parts joined by colons; the same in every process."""
    return hashlib.sha256(":".join(map(str, parts)).encode()).hexdigest()[:digits]


@dataclass(frozen=True)
class Experiment:
    """A run, fully settled: who is asked what, how often, with which money, and where the results go.

    `parameters` are the notebook parameters as given; `default` is True when all have their defaults; `own` holds the
    experiment's own parameters. `folder` is the experiment's own, `shared` that of the experiment which it extends and
    whose questions and prompts it uses (its own where it extends none). `editor` rewrites texts where the experiment
    hides their authorship, None where edits are published. `baselines` are what candidates are compared with, by
    category ("other": every category that is not named).
    """

    name: str
    title: str
    bias: str
    judges: tuple[Model, ...]
    candidates: tuple[Model, ...]
    questions: str
    judgments: str
    question_limit: int | None
    repeats: int
    budget_usd: float
    seed: int
    figure_style: str
    out: Path
    store: Path
    default: bool
    own: Mapping[str, Any]
    options: Mapping[str, Any]
    concurrency: int
    max_age_days: int
    folder: Path
    shared: Path
    builtin: Path
    hub: Mapping[str, Any] | None
    after: tuple[str, ...]
    parameters: Mapping[str, Any]
    editor: Model | None = None
    baselines: Mapping[str, Model] = field(default_factory=dict)


@dataclass(frozen=True)
class Question:
    """One question of a benchmark; `points` are what a full answer says (built-in questions only).

    `place` is the question's place in the ranked order of its whole dataset, before any limit or filter; -1 before it
    has been ranked. A question about a passage also has the passage, the id of its `article` (questions on one article
    are no independent evidence), its options in the order of the letters A, B, ..., the letter of the `gold` one and,
    where the dataset says so, whether it is `hard`; its `points` are then a reason for each option. `subcategory` is a
    finer grouping within the category, "" where the dataset has none. A scenario of a bias test has its `wordings`.
    """

    id: str
    category: str
    text: str
    points: tuple[str, ...] = ()
    reference: str | None = None
    place: int = -1
    article: str = ""
    passage: str = ""
    options: tuple[str, ...] = ()
    gold: str | None = None
    hard: bool | None = None
    subcategory: str = ""
    wordings: tuple[Wording, ...] = ()


@dataclass(frozen=True)
class Answer:
    """What a candidate wrote to a question, or why there is no text.

    `outcome` is "ok", or the reason why the text must not be judged ("truncated", "empty", "error", ...).
    `text` is None where the answer is still to be written; it then counts `max_tokens` in a plan. To a question with
    options the answer is the letter `label`, and `text` the reason that was given for it; `edited` is that reason with
    a few words replaced, where an edit of it was published.
    """

    question_id: str
    candidate: str
    vendor: str
    tier: str
    text: str | None
    model: str | None = None
    outcome: str = "ok"
    max_tokens: int = 0
    label: str | None = None
    edited: str | None = None


@dataclass(frozen=True)
class Trial:
    """One question put to one judge under one condition: all experiments are made of these.

    `shown` are the candidates in shown order (slot 0 first) and `labels` the letter of each slot. `form` names the
    kind of verdict asked for ("listwise", "pairwise", "choice", "several", "number"); `nonce` marks the form of a text
    verdict. `named` holds the vendor under whose name each slot was shown (None: not disclosed); empty where no name
    was shown. `where` holds what else places the trial in its experiment's design (the article of a question, say).
    `partner` is the repeat of the control that it is compared with (None: its own repeat number). Of a bias test
    `wording` is the one that is shown and `shown` are the numbers of its options.
    """

    experiment: str
    question_id: str
    category: str
    judge: Model
    request: Request
    condition: str = "none"
    form: str = "listwise"
    shown: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    nonce: str = ""
    named: tuple[str | None, ...] = ()
    where: Mapping[str, str] = field(default_factory=dict)
    partner: int | None = None
    wording: Wording | None = None


@dataclass(frozen=True)
class Collection:
    """A notebook that asks nothing, fully settled: which folders of results it reads and where its own go.

    `experiments` are all that ask judges, `failed` those of them that failed in the run that is collected.
    """

    name: str
    title: str
    experiments: tuple[str, ...]
    results: tuple[Path, ...]
    failed: tuple[str, ...]
    figure_style: str
    out: Path
    default: bool
