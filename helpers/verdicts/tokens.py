"""How sure a judge was of its verdict: the log-probabilities of the token that holds it."""

from __future__ import annotations

import math
import string
from collections.abc import Mapping, Sequence

#: What may stand in one token with a label, in text and in JSON.
TOKEN_MARGIN = string.whitespace + "\"':,}"

#: One token of a reply and the log-probability of each alternative.
Token = tuple[str, Mapping[str, float]]


def probabilities(tokens: Sequence[Token], choice: str, labels: Sequence[str]) -> dict[str, float]:
    """How probable each label was at the last token that holds the choice; they sum to 1.

    Quotes and blanks around a label belong to its token. A label that is not among the alternatives which the provider
    told counts 0. Empty where no token is a label (one that was written in pieces, say).

    >>> import math
    >>> told = [("VERDICT", {}), (" 1", {" 1": math.log(0.6), " 2": math.log(0.2), "\\n": math.log(0.2)})]
    >>> {label: round(p, 6) for label, p in probabilities(told, "1", "12").items()}
    {'1': 0.75, '2': 0.25}
    """
    for token, alternatives in reversed(tokens):
        if token.strip(TOKEN_MARGIN) == choice:
            mass = dict.fromkeys(labels, 0.0)
            for other, logprob in alternatives.items():
                label = other.strip(TOKEN_MARGIN)
                if label in mass:
                    mass[label] += math.exp(min(0.0, logprob))
            total = sum(mass.values())
            return {label: p / total for label, p in mass.items()} if total else {}
    return {}
