"""What comes back: attempts, replies, verdicts, judgments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from helpers.types.asked import Trial

#: Everything that can become of a finished reply; only `ok` carries a verdict.
OUTCOMES = (
    *("ok", "unparsed", "conflict", "invalid_ranking", "no_option", "two_options"),
    *("refused", "filtered", "truncated", "empty"),
)

#: The field of a structured reply that holds the verdict, for each form of verdict.
VERDICT_FIELDS = {
    "listwise": "ranking",
    "pairwise": "verdict",
    "choice": "choice",
    "several": "choices",
    "number": "number",
}

#: The five pairwise verdicts; A is shown first.
PAIRWISE = ("A>>B", "A>B", "A=B", "B>A", "B>>A")

#: How a provider's own word for the end of a reply is stored.
FINISHES = ("stop", "length", "refusal", "filter")


@dataclass(frozen=True)
class Usage:
    """Tokens as the provider counted them; `output` includes `reasoning`, `input` includes `cached` and `written`.

    `cached` were read from the provider's cache, `written` were put there.
    """

    input: int | None = None
    output: int | None = None
    reasoning: int | None = None
    cached: int | None = None
    written: int | None = None


@dataclass(frozen=True)
class Completion:
    """One attempt to get a reply. Only `status == "ok"` is a reply; anything else is a paid or unpaid failure.

    `status` is "ok" or the failure ("rate_limited", "provider_error", "connect", "maybe_billed", "bad_envelope",
    "too_large", "empty", "quota", "auth", "redirect", "forbidden", "not_found", "bad_request"). `finish` is one of
    FINISHES, `latency` in seconds.
    """

    key: str
    status: str
    text: str = ""
    finish: str | None = None
    usage: Usage = Usage()
    model: str | None = None
    request_id: str | None = None
    latency: float | None = None
    raw: str = ""
    attempt: int = 0
    at: str = ""
    error: str | None = None
    maybe_billed: bool = False


@dataclass(frozen=True)
class Verdict:
    """What a judge decided. Listwise: `ranking` holds labels, best first, and `scores` a number per label.

    Other forms use `choice` (a label), `choices` (labels, maybe none) or `number`. `contradicts` is True where a
    lower-ranked label has a higher score. `probabilities` holds that of each label, where the provider told the
    log-probabilities of the verdict's token. Equal verdicts can be one object: `scores` and `probabilities` are for
    reading.
    """

    ranking: tuple[str, ...] = ()
    scores: Mapping[str, float] = field(default_factory=dict)
    choice: str | None = None
    choices: tuple[str, ...] = ()
    number: float | None = None
    justification: str = ""
    contradicts: bool = False
    probabilities: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Judgment:
    """A trial with its reply and what was read from it; `verdict` is None unless `outcome` is "ok".

    `outcome` is one of OUTCOMES, or "missing" where there is no reply yet.
    """

    trial: Trial
    outcome: str
    verdict: Verdict | None = None
    completion: Completion | None = None


def check_form(form: str, labels: Sequence[str]) -> None:
    """Refuse (ValueError) a form or labels with which a verdict could not be asked for or read safely."""
    if form not in VERDICT_FIELDS:
        raise ValueError(f"unknown form of verdict {form!r}; valid: {', '.join(VERDICT_FIELDS)}")
    if form in ("listwise", "choice", "several") and (not labels or not all(labels) or len(set(labels)) < len(labels)):
        raise ValueError(f"labels {tuple(labels)!r}: a {form} verdict needs the labels shown, each once")
