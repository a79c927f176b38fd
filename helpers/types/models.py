"""Who is asked: models, and what their tokens cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from helpers.types.tests import Pull

if TYPE_CHECKING:
    from helpers.types.asked import Question


@dataclass(frozen=True)
class Price:
    """US dollars for a million tokens."""

    input: float
    output: float


@dataclass(frozen=True)
class Model:
    """One entry of `models.yaml`: who is asked, how, and who made it.

    `params` are sent with each request and enter the key, `max_tokens` under the name `token_parameter`. `traits` are
    the biases of a simulated model; they are its parameters and enter the key too. `knowledge` maps a built-in
    question's text to the question with its answer points: what a simulated model knows about the world, as weights
    are to a real one; it is never sent and never in a key. `pulls` are what it knows of bias tests, by their text.
    Where several servers hold the same weights, `servers` are all their addresses and `base_url` is the first of them.
    """

    name: str
    provider: str
    model_id: str
    vendor: str
    tier: str = ""
    lineage: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    traits: Mapping[str, Any] = field(default_factory=dict)
    max_tokens: int = 2048
    token_parameter: str = "max_tokens"
    structured: bool = True
    base_url: str | None = None
    servers: tuple[str, ...] = ()
    revision: Mapping[str, str] | None = None
    api_key_env: str | None = None
    price: Price | None = None
    retires: str | None = None
    knowledge: Mapping[str, Question] = field(default_factory=dict, repr=False, compare=False, hash=False)
    pulls: Mapping[str, Pull] = field(default_factory=dict, repr=False, compare=False, hash=False)

    @cached_property
    def addresses(self) -> tuple[tuple[str, str | None], ...]:
        """Where it is asked: provider and `base_url` of each of its servers."""
        return tuple((self.provider, url) for url in self.servers or (self.base_url,))

    @property
    def simulated(self) -> bool:
        """Whether replies of this model are made up by our own simulator."""
        return self.provider == "simulated"
