"""What a polite judge says: its decision is drawn from sha256(model, prompt), its form is read from the request."""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.servers.behaviours import Call

QUOTES = ("before", "inside", "after", "none")
PAIRWISE = ("A>>B", "A>B", "A=B", "B>A", "B>>A")
MARK = re.compile(r"(RANKING|VERDICT)-(\w+)")
OPENING = re.compile(r"\n<<<ANSWER (\w+) (\w+)>>>\n")
#: How a prompt tells the judge what the field `id` must hold, and the delimiters, which hold the same.
TOLD = re.compile(r'"id": the text "(\w+)"')
CLOSING = re.compile(r"\n<<<END \w+ (\w+)>>>(?=\n|$)")
REASON = "The first one answers what was asked and the others leave more of it out."

SENTENCES = """A clear account of this begins with what is known and only then turns to what is guessed.
The usual way to look at it is to separate the parts and to weigh each alone.
Many people find that a small example says more here than a long general rule could.
There are cases in which the opposite holds, and they deserve to be named as well.
Much of the difficulty comes from words that are used in two ways at once.
It helps to write down the numbers first and to argue about their meaning later.
The most common mistake is to stop as soon as the first answer looks good enough.
Whoever has little time may keep the main point and come back for the details.
None of these steps needs special tools, though some patience makes all of them easier.
In the end the choice depends on costs that differ from one household to the next.
A second reading often shows that the question was narrower than it seemed at first.
Old habits explain part of the picture, and plain chance explains a good deal of it.
One could measure this directly, but the measurement itself would change what is being measured.
The same pattern turns up in gardens, in kitchens and in the planning of large bridges.
What matters most is that each claim can be checked by somebody who doubts it.""".splitlines()


def verdict(call: Call, quote: str = "") -> str:
    """The verdict that the call asks for, in its form, or "" where it asks for none.

    Structured: any schema with a `ranking`, or with an `id` and a verdict, choice or number. Text: the form of the last
    mark in the prompt, with the labels of its delimiters; a ranking of nothing is not asked for.
    `quote` is one of QUOTES: where the candidate texts are quoted; with "none" the quotation is all there is.
    """
    properties = (call.schema or {}).get("properties", {})
    if not call.schema:
        said = _marked(call)
    elif "ranking" in properties or ("id" in properties and set(properties) & {"verdict", "choice", "number"}):
        said = _filled(call, quoted(call) if quote == "inside" else "")
    else:
        return ""
    if not said or not quote or (quote == "inside" and call.schema):
        return said
    before, _, last = said.rpartition("\n")
    parts = {"before": (quoted(call), said), "after": (said, quoted(call)), "none": (quoted(call),)}
    return "\n".join(parts.get(quote, (before, quoted(call), last)))


def filled(call: Call) -> str:
    """JSON that fits the call's schema, or "" where there is none."""
    return _filled(call) if call.schema else ""


def essay(call: Call) -> str:
    """60 to 120 words about nothing: what a candidate answers."""
    rng = _rng(call)
    return " ".join(rng.sample(SENTENCES, rng.randint(5, 7)))


def ranking_of(call: Call, labels: Sequence[str]) -> list[str]:
    """The judge's own ranking of the labels, best first; the same in every form of reply."""
    return _rng(call).sample(sorted(labels), len(labels))


def nonce_of(call: Call) -> str | None:
    """The nonce of the form asked for, or None where there is none.

    Structured: the only value that the schema allows for `id`, else what the prompt tells, else that of the last
    delimiter. Text: that of the prompt's mark.
    """
    if call.schema:
        allowed = call.schema.get("properties", {}).get("id", {}).get("enum")
        found = allowed or TOLD.findall(call.prompt) or CLOSING.findall(call.prompt)
        # The instructions, like the last delimiter, come after whatever a candidate wrote.
        return found[-1] if found else None
    mark = _mark(call.prompt)
    return mark[2] if mark else None


def texts_of(call: Call) -> dict[str, str]:
    """The candidate texts by label, read between the delimiters that carry the call's nonce."""
    prompt, nonce, texts = f"\n{call.prompt}", nonce_of(call), {}
    for opening in OPENING.finditer(prompt):
        end = prompt.find(f"\n<<<END {opening[1]} {nonce}>>>", opening.end() - 1)
        if opening[2] == nonce and end >= 0:
            texts[opening[1]] = prompt[opening.end() : end]
    return texts


def quoted(call: Call) -> str:
    """All candidate texts, one after the other."""
    return "\n".join(texts_of(call).values())


def _mark(prompt: str) -> re.Match[str] | None:
    # The form is asked for after the texts: the last mark is ours, the ones before may be planted.
    return MARK.match(prompt, max(prompt.rfind("RANKING-"), prompt.rfind("VERDICT-"), 0))


@lru_cache(maxsize=256)
def digest(model: str, prompt: str) -> bytes:
    """sha256 of model and prompt: all the chance that a polite judge knows."""
    return hashlib.sha256(f"{model}\n{prompt}".encode("utf-8", "replace")).digest()


def _rng(call: Call) -> random.Random:
    return random.Random(digest(call.model, call.prompt))


def _scores(ranking: Sequence[str]) -> dict[str, int]:
    return {label: max(0, 9 - place) for place, label in enumerate(ranking)}


def _marked(call: Call) -> str:
    mark = _mark(call.prompt)
    if not mark:
        return ""
    (word, nonce), labels, rng = mark.groups(), list(texts_of(call)), _rng(call)
    if word == "RANKING" and not labels:
        return ""
    if word == "RANKING":
        ranking = ranking_of(call, labels)
        scores = " ".join(f"{label}={score}" for label, score in sorted(_scores(ranking).items()))
        return f"{REASON}\nSCORES-{nonce}: {scores}\nRANKING-{nonce}: {' > '.join(ranking)}"
    values = PAIRWISE if "A>>B" in call.prompt else sorted(labels) or [str(rng.randint(0, 100))]
    return f"{REASON}\nVERDICT-{nonce}: {rng.choice(values)}"


def _filled(call: Call, quotation: str = "") -> str:
    rng, properties = _rng(call), call.schema.get("properties", {})
    values = {name: _value(part, rng) for name, part in properties.items()}
    if "id" in properties and (nonce := nonce_of(call)):
        values["id"] = nonce
    if "ranking" in properties:
        values["ranking"] = ranking_of(call, properties["ranking"]["items"]["enum"])
    if "ranking" in properties and "scores" in properties:
        values["scores"] = _scores(values["ranking"])
    if quotation:
        values["justification"] = f"{REASON}\n{quotation}"
    return json.dumps(values, ensure_ascii=False)


def _value(schema: Mapping[str, Any], rng: random.Random) -> Any:
    if "enum" in schema:
        return rng.choice(schema["enum"])
    kind = str(schema.get("type")).lower()  # the Google SDK writes OBJECT, STRING, ...
    if kind == "object":
        return {name: _value(part, rng) for name, part in schema.get("properties", {}).items()}
    if kind == "array":
        return [_value(schema["items"], rng) for _ in range(max(2, schema.get("minItems", 0)))]
    numbers = {"integer": rng.randint(0, 10), "number": rng.randint(0, 100), "boolean": rng.random() < 0.5}
    return numbers.get(kind, REASON)
