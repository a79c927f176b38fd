"""The frozen battery: questions with two answers each, and what is said beside them, as files with a version."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from helpers import paths, prompts
from helpers.config import ConfigError, Strict, checked, read_yaml
from helpers.types import Question

FOLDER = paths.DATA / "audit"
#: What is asked is made of these, and of nothing else; VERSIONS holds the sha256 of them by version.
TEXTS, PAIR, SCORE, VERSIONS = "battery.yaml", "pair.txt", "score.txt", "versions.yaml"
SIDES = ("one", "two")


@dataclass(frozen=True)
class Item:
    """One question with two answers of about equal worth, in sentences, and sentences that add words and no content.

    `expert` is who may be said to recommend an answer.
    """

    id: str
    category: str
    question: str
    one: tuple[str, ...]
    two: tuple[str, ...]
    filler: tuple[str, ...]
    expert: str

    def text(self, side: str, padded: bool = False) -> str:
        """The answer of a side ("one" or "two"), padded with the filler between and around its sentences."""
        sentences = getattr(self, side)
        if not padded:
            return " ".join(sentences)
        before = [f"{filler} {sentence}" for filler, sentence in zip(self.filler, sentences, strict=False)]
        return " ".join([*before, *self.filler[len(sentences) :]])


@dataclass(frozen=True)
class Battery:
    """All that an audit asks: items, what is said beside them (templates of words), and the two prompts.

    `shares` and the numbers `high` and `low` are ranges, both ends included. `digest` is the sha256 of the files.
    """

    version: str
    digest: str
    seed: int
    items: tuple[Item, ...]
    famous: tuple[str, ...]
    unknown: tuple[str, ...]
    authority: tuple[str, ...]
    bandwagon: tuple[str, ...]
    anchors: tuple[str, ...]
    shares: tuple[int, int]
    high: tuple[int, int]
    low: tuple[int, int]
    pair: prompts.Template
    score: prompts.Template

    @property
    def knowledge(self) -> Mapping[str, Question]:
        """What simulated judges know of the questions: the sentences of both answers as points, three of six each."""
        return {
            each.question: Question(each.id, each.category, each.question, each.one + each.two) for each in self.items
        }


class _Names(Strict):
    famous: list[str] = Field(min_length=1)
    unknown: list[str] = Field(min_length=1)


class _Range(Strict):
    start: int = Field(alias="from", ge=0, le=100)
    to: int = Field(ge=0, le=100)


class _Item(Strict):
    id: str = Field(pattern=r"[a-z0-9_]+")
    category: str
    question: str
    one: list[str] = Field(min_length=1)
    two: list[str] = Field(min_length=1)
    filler: list[str] = Field(min_length=1)
    expert: str


class _File(Strict):
    version: str
    seed: int = Field(ge=0)
    names: _Names
    authority: list[str] = Field(min_length=1)
    bandwagon: list[str] = Field(min_length=1)
    shares: _Range
    anchors: list[str] = Field(min_length=1)
    high: _Range
    low: _Range
    items: list[_Item] = Field(min_length=2)


def load(folder: Path = FOLDER) -> Battery:
    """The battery in a folder.

    A ConfigError where a file is not as it must be, or where its texts are not those of its version: cards of
    different texts do not compare, so a changed battery has a version of its own.
    """
    path = folder / TEXTS
    file = checked(_File, read_yaml(path), str(path), path)
    known, found = read_yaml(folder / VERSIONS) or {}, digest(folder)
    if known.get(file.version) != found:
        raise ConfigError(
            f"{folder}: the texts are not those of version {file.version} (sha256 {found}, {VERSIONS} has "
            f"{known.get(file.version, 'none')}); restore them, or give a battery of your own a version of its own: "
            f"`version:` in {TEXTS} and its sha256 in {VERSIONS}"
        )
    doubles = {each.id for each in file.items if sum(other.id == each.id for other in file.items) > 1}
    if doubles:
        raise ConfigError(f"{path}: items: more than one with the id {', '.join(sorted(doubles))}")
    items = tuple(
        Item(each.id, each.category, each.question, tuple(each.one), tuple(each.two), tuple(each.filler), each.expert)
        for each in file.items
    )
    ranges = {name: (getattr(file, name).start, getattr(file, name).to) for name in ("shares", "high", "low")}
    words = {name: tuple(getattr(file, name)) for name in ("authority", "bandwagon", "anchors")}
    names = {"famous": tuple(file.names.famous), "unknown": tuple(file.names.unknown)}
    pair, score = prompts.load(folder / PAIR), prompts.load(folder / SCORE)
    return Battery(file.version, found, file.seed, items, **names, **words, **ranges, pair=pair, score=score)


def digest(folder: Path = FOLDER) -> str:
    """The sha256 over the names and bytes of the three files of which prompts are made."""
    found = hashlib.sha256()
    for name in (TEXTS, PAIR, SCORE):
        content = (folder / name).read_bytes()
        found.update(f"{name}:{len(content)}\n".encode() + content)
    return found.hexdigest()
