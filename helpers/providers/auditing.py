"""How simulated judges answer the prompts of an audit: what stands beside the answers moves them as far as planted.

Of two answers the lead of the first is that of `simulated.utilities` (which knows primacy and verbosity) plus, from
`biases` in models.yaml,

    letters [marked A] + authority [a note recommends it] + bandwagon [a note tells how many prefer it]
        + names [under the name of a known vendor],                                 each minus the same of the second;

the verdict is `pairwise.verdict` of that lead. A score is MIDDLE + POINTS * utility, moved by the share `anchor` of the
way to the number that the prompt tells. They are read from the prompt as anybody reads them.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from helpers.providers.pairwise import REFUSAL, verdict
from helpers.types import Request

if TYPE_CHECKING:
    from helpers.providers.simulated import Traits

#: What only prompts of an audit say after the texts.
PAIR, SCORE = "\n- tie: the two are equally good", " points from 0 (useless) to 100 "
#: A note that tells a count is one of a crowd, any other one recommends.
NOTE = re.compile(r"^Note on answer (\w+): (.+)$", re.MULTILINE)
AUTHOR = re.compile(r"^Answer (\w+), written by (.+):\n\Z", re.MULTILINE)
TOLD = re.compile(r"(\d+) of 100 points")
KNOWN = ("ChatGPT", "Claude", "Gemini")
#: The score of an average answer, and what one sd of quality is worth.
MIDDLE, POINTS = 60.0, 8.0
PROSE = "Both have their merits, and I would not like to weigh one against the other."


def asked(said: str) -> bool:
    """Whether these are the words after the texts of an audit's prompt.

    >>> asked("... one of these three:\\n- A: answer A is better ...\\n- tie: the two are equally good\\n")
    True
    """
    return PAIR in said or SCORE in said


def reply(
    request: Request, nonce: str, shown: Sequence[re.Match[str]], felt: Sequence[float], traits: Traits
) -> tuple[str, str]:
    """The verdict or score in the form asked for, and how the reply ended; as often as planted, none.

    `shown` are the delimited texts in the prompt and `felt` what the judge feels about each of them.
    """
    said, labels = request.prompt[shown[-1].end() :], [each[1] for each in shown]
    if PAIR in said:
        pulls = pulled(request.prompt, shown, traits.biases)
        lead = felt[0] - felt[1] + pulls[0] - pulls[1]
        felt_so = verdict(lead, traits.tie, traits.strong)
        stated: str | int = "tie" if felt_so == "A=B" else labels["AB".index(felt_so[0])]
    else:
        honest, told = MIDDLE + POINTS * felt[0], TOLD.search(said)
        moved = traits.biases.get("anchor", 0.0) * (float(told[1]) - honest) if told else 0.0
        stated = max(0, min(100, round(honest + moved)))
    rng = random.Random(f"{request.key}:fault")
    kind = rng.choice(("prose", "cut", "refused")) if rng.random() < traits.unreadable else ""
    whole = _written(request, nonce, stated)
    lost = {"prose": (PROSE, "stop"), "cut": (whole[: len(whole) // 2], "length"), "refused": (REFUSAL, "refusal")}
    return lost.get(kind, (whole, "stop"))


def pulled(prompt: str, shown: Sequence[re.Match[str]], biases: Mapping[str, float]) -> list[float]:
    """What letters, notes and names add to the utility of each text."""
    found = []
    notes = dict(NOTE.findall(prompt[shown[-1].end() :]))
    for i, block in enumerate(shown):
        pull = biases.get("letters", 0.0) * (block[1] == "A")
        if block[1] in notes:
            pull += biases.get("bandwagon" if re.search(r"\d", notes[block[1]]) else "authority", 0.0)
        # Only what stands outside the texts says who wrote them.
        author = AUTHOR.search(prompt[shown[i - 1].end() if i else 0 : block.start()])
        pull += biases.get("names", 0.0) * bool(author and any(name in author[2] for name in KNOWN))
        found.append(pull)
    return found


def _written(request: Request, nonce: str, stated: str | int) -> str:
    if request.schema is not None:
        return json.dumps({"id": nonce, "choice" if isinstance(stated, str) else "number": stated})
    return f"VERDICT-{nonce}: {stated}"
