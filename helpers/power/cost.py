"""What a run of so many questions would ask and cost at most, before any key is needed."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from helpers import run
from helpers.config import load_experiment
from helpers.run.sources import questions_of
from helpers.types import Question


@dataclass(frozen=True)
class Cost:
    """The calls, tokens and dollars (upper bounds) of `questions` questions, of which `known` are at hand.

    What more would cost is taken from these, question by question.
    """

    questions: float
    known: int
    calls: float
    tokens: float
    usd: float

    def of(self, questions: float) -> Cost:
        """The same for another number of questions, in proportion."""
        share = questions / self.questions
        # Simulated models cost nothing, however often they are asked.
        usd = self.usd * share if self.usd else 0.0
        return Cost(questions, self.known, self.calls * share, self.tokens * share, usd)

    @property
    def brief(self) -> str:
        """Calls and dollars alone."""
        return f"{self.calls:,.0f} calls, ${self.usd:,.2f}" if math.isfinite(self.questions) else "no sum would do"

    def __str__(self) -> str:
        """In one line: calls, tokens and dollars at most."""
        if not math.isfinite(self.questions):
            return "more than anybody has"
        beyond = f" ({self.known} questions are at hand)" if self.questions > self.known else ""
        return f"{self.calls:,.0f} calls, {self.tokens:,.0f} tokens, at most ${self.usd:,.2f}{beyond}"


def units(questions: Sequence[Question]) -> int:
    """The clusters that these questions are of each number: articles of passages, scenarios of a bias, else all."""
    if any(each.wordings for each in questions):
        biases = [each.category for each in questions]
        return min(biases.count(bias) for bias in set(biases))
    return len({each.article or each.id for each in questions})


async def cost(name: str, questions: int | None = None, **parameters: Any) -> Cost:
    """What experiment `name` would cost with these notebook parameters; `questions` None: with all that are at hand.

    Questions are counted as its numbers count them: articles in experiment 3, scenarios of each bias in experiment 5.
    Every call counts, also one whose reply is stored. A model without a price is the plan's error; no key is asked for,
    and nothing is sent.
    """
    every = questions_of(load_experiment(name, **parameters))
    known = units(every)
    wanted = known if questions is None else questions
    # The first places are balanced over categories, and enough for a price.
    some = min(len(every), math.ceil(len(every) * wanted / known))
    # The limit counts the whole dataset, also what a filter leaves out.
    limit = max(each.place for each in every[:some]) + 1
    with tempfile.TemporaryDirectory() as empty:
        planned = await run.plan(load_experiment(name, **parameters | {"store": empty, "question_limit": limit}))
    tokens = sum(row.input_tokens + row.output_tokens for row in planned.rows)
    calls = sum(row.calls for row in planned.rows)
    return Cost(some * known / len(every), known, calls, tokens, planned.usd).of(wanted)
