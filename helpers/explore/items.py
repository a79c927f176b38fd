"""The judgments of a run with what they are marked as: to be filtered, found by key, and set beside each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from helpers.judge import NoPrice, actual
from helpers.report.marking import KINDS, marked, picks
from helpers.run.asking import Asked, bias_of
from helpers.types import Judgment, Trial
from helpers.words import plain

if TYPE_CHECKING:
    import pandas as pd

#: Filters by name, with what each of them tells apart.
FILTERS = ("judge", "category", "condition", "outcome", "mark")
#: A judgment without a mark.
UNMARKED = "no mark"
#: The first digits of a key that tables show, and the fewest by which one is found.
DIGITS, FEWEST = 12, 6
#: So many answers are told by name in a table.
FEW = 2


@dataclass(frozen=True)
class Item:
    """One judgment: its marks (`marking.KINDS`), what its verdict says in words, and what its reply cost in US dollars.

    `usd` is None where no price is known or no reply is there; `control` says whether it is of the condition that
    others are compared with.
    """

    judgment: Judgment
    kinds: tuple[str, ...]
    verdict: str
    usd: float | None
    control: bool = False

    @property
    def key(self) -> str:
        """The key of the reply in the store."""
        return self.judgment.trial.request.key

    @property
    def short(self) -> str:
        """The verdict in few words: of a ranking who comes first; the outcome where there is no verdict."""
        ranked = self.judgment.verdict is not None and self.judgment.verdict.ranking
        return f"{picks(self.judgment)} first" if ranked else self.verdict or self.judgment.outcome

    @property
    def place(self) -> tuple[object, ...]:
        """What judgments share that are worth a look side by side: judge, question, and what is shown in any order."""
        trial = self.judgment.trial
        shown = tuple(sorted(trial.shown))
        # Of wordings made by rules each condition shows other texts under the same names.
        made = (trial.condition, trial.where["wording"]) if "wording" in trial.where else ()
        return (trial.judge.name, trial.question_id, shown, trial.wording.name if trial.wording else "", *made)


def items(asked: Asked) -> list[Item]:
    """The judgments of a run in their order; none of published judgments, whose prompts and replies are not here."""
    control = getattr(bias_of(asked.experiment), "CONTROL", None)
    marks = {id(each.judgment): each.kinds for each in marked(asked.judgments, asked.answers, control, asked.controls)}
    return [
        Item(each, marks.get(id(each), ()), _verdict(each), _usd(each), each.trial.condition == control)
        for each in asked.judgments
    ]


def by_label(trial: Trial) -> dict[str, str]:
    """What stood under each label: a candidate, or the text of an option."""
    options = trial.wording.versions[trial.where["version"]].options if trial.wording else ()
    shown = zip(trial.labels, trial.shown, strict=True)
    return {label: options[int(name)] if options else name for label, name in shown}


def _verdict(judgment: Judgment) -> str:
    """A verdict in words: a ranking by candidates, the choice and whom it is for; "" where there is none."""
    trial, verdict = judgment.trial, judgment.verdict
    if verdict is None:
        return ""
    named = by_label(trial)
    if verdict.ranking:
        return " > ".join(named.get(label, label) for label in verdict.ranking)
    if verdict.choices:
        return "; ".join(named.get(label, label) for label in verdict.choices)
    if verdict.choice:
        picked = picks(judgment)
        known = named.get(verdict.choice, picked)
        return verdict.choice if known is None else f"{verdict.choice} ({known})"
    return f"{verdict.number:g}" if verdict.number is not None else "none of them"


def _usd(judgment: Judgment) -> float | None:
    if judgment.completion is None:
        return None
    try:
        return actual(judgment.trial.request, judgment.completion)
    except NoPrice:
        return None


def _told(item: Item) -> dict[str, tuple[str, ...]]:
    """What an item is under each filter; it can have several marks."""
    trial = item.judgment.trial
    single = {"judge": trial.judge.name, "category": trial.category, "condition": trial.condition}
    single["outcome"] = item.judgment.outcome
    return {**{name: (value,) for name, value in single.items()}, "mark": item.kinds or (UNMARKED,)}


def choices(every: Sequence[Item]) -> dict[str, list[str]]:
    """What each filter offers, by its name; marks in the order of KINDS, all else sorted."""
    found: dict[str, set[str]] = {name: set() for name in FILTERS}
    for item in every:
        for name, values in _told(item).items():
            found[name].update(values)
    order = [*KINDS, UNMARKED]
    return {name: sorted(values, key=order.index if name == "mark" else None) for name, values in found.items()}


def chosen(every: Sequence[Item], **wanted: str | None) -> list[Item]:
    """The items that pass all filters that are given (names of FILTERS; None: any).

    An unknown filter is a ValueError that names the valid ones; a value that nothing has leaves nothing.
    """
    if strange := sorted(set(wanted) - set(FILTERS)):
        raise ValueError(f"no filter {', '.join(strange)}; there are: {', '.join(FILTERS)}")
    given = {name: value for name, value in wanted.items() if value is not None}
    return [item for item in every if all(value in _told(item)[name] for name, value in given.items())]


def named(every: Sequence[Item], key: str) -> Item:
    """The judgment whose reply has this key, or a key that begins so; ValueError where none or several have."""
    if len(key) < FEWEST:
        raise ValueError(f"key {key!r}: give at least {FEWEST} of its digits, as tables show them")
    found = {item.key: item for item in reversed(every) if item.key.startswith(key.lower())}
    if len(found) != 1:
        why = f"{len(found)} keys begin so, give more digits" if found else "no judgment of this run has it"
        raise ValueError(f"key {key!r}: {why}")
    return next(iter(found.values()))


def siblings(every: Sequence[Item], item: Item) -> list[Item]:
    """The other judgments of the same judge on the same answers to the same question: orders, conditions, repeats.

    What differs in least comes first: the other order and the control, by which verdicts are marked, before other
    conditions and repeats.
    """
    place = item.place
    found = [other for other in every if other is not item and other.place == place]
    return sorted(found, key=lambda other: _distance(item.judgment.trial, other))


def _distance(trial: Trial, other: Item) -> tuple[int, bool, bool]:
    """How far a judgment is from a trial: in how many respects; then repeats, then not controls."""
    beside = other.judgment.trial
    turned, again = beside.shown != trial.shown, beside.request.repeat != trial.request.repeat
    changed = beside.condition != trial.condition
    return turned + again + changed, again, changed and not other.control


def counted(every: Sequence[Item]) -> dict[str, int]:
    """How many judgments have each mark that any has, in the order of KINDS."""
    return {kind: n for kind in KINDS if (n := sum(kind in item.kinds for item in every))}


def table(every: Sequence[Item], most: int = 10) -> pd.DataFrame:
    """Some marked judgments, in turn one of each mark; empty where none is marked.

    Columns, after the index `question`: judge, condition, mark, shown, verdict, key (its first digits).
    """
    import pandas as pd

    queues = [[item for item in every if kind in item.kinds] for kind in KINDS]
    turns = [item for turn in range(most) for queue in queues for item in queue[turn : turn + 1]]
    taken = list({id(item): item for item in turns}.values())[:most]
    columns = ("question", "judge", "condition", "mark", "shown", "verdict", "key")
    return pd.DataFrame([_row(item) for item in taken], columns=list(columns)).set_index("question")


def _row(item: Item) -> Mapping[str, str]:
    trial = item.judgment.trial
    return {
        "question": trial.question_id,
        "judge": trial.judge.name,
        "condition": trial.condition,
        "mark": ", ".join(item.kinds),
        "shown": plain(in_order(trial)),
        "verdict": plain(item.short),
        "key": item.key[:DIGITS],
    }


def in_order(trial: Trial, few: int = FEW) -> str:
    """What was shown, in its order; of options, and of more answers than `few`, only how many."""
    if not trial.wording and len(trial.shown) <= few:
        return ", ".join(trial.shown)
    return f"{len(trial.shown)} {'options' if trial.wording else 'answers'}"
