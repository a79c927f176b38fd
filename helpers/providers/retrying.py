"""The retry table: what a failed attempt means for the next one, for the model and for the address."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from helpers.providers.failures import Failure

#: How often a failed attempt is repeated, each kind counted for itself (a rate limit never uses up the others); what
#: is not named here is not repeated.
RETRIES = {
    "provider_error": 6,
    "connect": 6,
    "maybe_billed": 2,
    "forbidden": 2,
    "not_found": 2,
    "bad_envelope": 1,
    "too_large": 1,
    "empty": 1,
}
#: A rate limit is waited for however often it comes, until a call has met it for so long; then it is left to the next
#: run. Seconds.
PATIENCE = 1800.0
#: What may have been billed (by some services also a prompt refused for its content): it is repeated no more often than
#: that, at however many servers.
BILLED = ("bad_envelope", "maybe_billed", "too_large", "filtered")
#: Failures after which nobody asks with this key at this address again in this run; other stops concern the one model.
STOPS_ACCOUNT = ("quota", "auth", "redirect")
#: Refusals that end one call if the model has answered before: a gateway then objects to this prompt. If it has never
#: answered, or refuses so many different calls without a reply between them, they stop the model (`forbidden`: all
#: models with this key at this address). A bad request never stops one that has answered: it takes our parameters.
OBJECTIONS = ("forbidden", "not_found")
REFUSALS = (*OBJECTIONS, "bad_request")
REFUSED_IN_A_ROW = 3
#: Waits without a word from the service: a drawn share of 1, 2, 4, ... seconds, at most 60.
LONGEST_BACKOFF = 60.0


@dataclass
class Tries:
    """One call so far: attempts, failures by kind, servers that refused it, and when it first met a rate limit."""

    attempts: int = 0
    refused: set[str | None] = field(default_factory=set)
    counts: Counter[str] = field(default_factory=Counter)
    limited_since: float | None = None

    def again(self, failure: Failure, now: float) -> bool:
        """Count a failure, and tell whether the call is repeated after it."""
        self.counts[failure.status] += 1
        if failure.status == "rate_limited":
            self.limited_since = now if self.limited_since is None else self.limited_since
            return now - self.limited_since < PATIENCE
        return self.counts[failure.status] <= RETRIES.get(failure.status, 0)

    def backoff(self, failure: Failure, jitter: float) -> float:
        """Seconds that this call waits for itself before it is repeated; `jitter` is drawn from 0 to 1.

        None of it where the address is paused for all, or where the reply came and could not be used.
        """
        if failure.retry_after is not None or failure.status in ("empty", "bad_envelope"):
            return 0.0
        return jitter * min(LONGEST_BACKOFF, 2.0 ** min(self.counts[failure.status] - 1, 6))
