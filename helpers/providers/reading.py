"""How simulated models answer questions on a passage, judge two such answers and edit one, from the prompt's text.

A model holds one belief about each question: the option that it answers itself, and takes for right when it judges.
Between two answers it feels

    U = CONVICTION * sharpness * [its own belief] + self_preference * [own words] - fluency * [mixed words]
        + primacy[slot] + taste + Gumbel

and asked which one it wrote, recognition * [own words] + primacy[slot] + Gumbel. Own words are the share of words with
synonyms that are those of its vendor's style; mixed words are those that are not of the text's own prevailing style.
"""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Sequence
from functools import lru_cache

from helpers.providers.drawing import NORMAL, draw
from helpers.providers.synonyms import STYLE, SYNONYMS, style_share, styled
from helpers.types import Model, Question, Request

QUESTION = re.compile(r"<<<QUESTION (?P<nonce>[0-9a-f]{8})>>>\n(.*?)\n<<<END QUESTION (?P=nonce)>>>", re.DOTALL)
CONVICTION = 1.2
#: One vendor of each style; nobody's own style is that of plain words.
STYLES = tuple({column: vendor for vendor, column in {**STYLE, "": 0}.items()}.values())
#: How much questions differ in difficulty, on the scale of skill, and how often a wrong reader falls for the same trap.
DIFFICULTY, TRAPPED = 0.7, 0.6
WORD = re.compile(r"[A-Za-z]+")
#: What a model writes that knows nothing about a passage; words with synonyms give its style away all the same.
GENERIC = (
    "The passage describes this clearly, and a careful reader will notice it early.",
    "One short remark near the beginning shows the main idea.",
    "The final part confirms it and gives a strong hint.",
    "Several small details support this choice and reject the others.",
    "It seems likely from the way the writer chooses words.",
    "The important sentence suggests it, although the writer often hides the whole answer.",
    "Other options look simple at first, but they ignore a large part of the text.",
)


def reply(request: Request) -> str | None:
    """The reply to a prompt about a passage; None where the prompt is none of this kind."""
    if not (request.prompt.startswith("Passage:\n") or "<<<REASON " in request.prompt):
        return None
    head = QUESTION.search(request.prompt)
    if head is None:
        return None
    nonce, asked = head["nonce"], head[2]
    reason = re.search(rf"<<<REASON {nonce}>>>\n(.*?)\n<<<END REASON {nonce}>>>", request.prompt, re.DOTALL)
    if reason:
        return _edit(request, nonce, reason[1], asked, request.prompt[reason.end() :])
    _, texts, wrote = compared(request.prompt)
    if not texts:
        return _answer(request, nonce, asked)
    noise, rng = request.model.traits.get("noise", 1.0), random.Random(f"{request.key}:judge")
    felt = [
        utility - noise * math.log(-math.log(rng.random() or 0.5))
        for utility in before_noise(request.model, asked, texts, wrote)
    ]
    choice = "1" if felt[0] > felt[1] else "2"
    return json.dumps({"id": nonce, "choice": choice}) if request.schema is not None else f"VERDICT-{nonce}: {choice}"


def known(model: Model, asked: str) -> Question | None:
    """What a model knows of a question with its options, as prompts show it."""
    return model.knowledge.get(asked)


def belief(model: Model, asked: str, skill: float) -> int:
    """The option that a model takes for right: the gold one the more often the greater its skill (in probits)."""
    options = re.findall(r"^[A-Z]\) ", asked, re.MULTILINE)
    question = known(model, asked)
    lot = NORMAL.cdf(draw("belief", model.model_id, asked))
    if question is None or question.gold is None:
        return int(lot * len(options))
    gold = "ABCDEFGHIJ".index(question.gold)
    right = NORMAL.cdf(skill - DIFFICULTY * draw("difficulty", asked))
    if lot < right:
        return gold
    wrong = sorted((i for i in range(len(options)) if i != gold), key=lambda i: draw("trap", asked, str(i)))
    rest = (lot - right) / (1 - right)
    if rest < TRAPPED:
        return wrong[0]
    return wrong[1 + int((rest - TRAPPED) / (1 - TRAPPED) * (len(wrong) - 1) * 0.999999)]


def _answer(request: Request, nonce: str, asked: str) -> str:
    model = request.model
    index, question = belief(model, asked, model.traits.get("skill", 0.0)), known(model, asked)
    rng = random.Random(f"{request.key}:reason")
    reason = question.points[index] if question and question.points else " ".join(rng.sample(GENERIC, 4))
    reason, letter = styled(reason, model.vendor), "ABCDEFGHIJ"[index]
    if request.schema is not None:
        return json.dumps({"id": nonce, "choice": letter, "justification": reason})
    return f"{reason}\n\nVERDICT-{nonce}: {letter}"


def compared(prompt: str) -> tuple[str, list[str], bool]:
    """The question of a judge's prompt, the answers that it shows, and whether it asks which of them the judge wrote.

    Without answers where the prompt shows none.
    """
    head = QUESTION.search(prompt)
    if head is None:
        return "", [], False
    block = re.compile(rf"<<<ANSWER (\d) {head[1]}>>>\n(.*?)\n<<<END \1 {head[1]}>>>", re.DOTALL)
    shown = list(block.finditer(prompt, head.end()))
    return head[2], [each[2] for each in shown], bool(shown) and "did you write" in prompt[shown[-1].end() :]


def before_noise(model: Model, asked: str, texts: Sequence[str], wrote: bool) -> list[float]:
    """What a judge feels before noise about each of two answers in shown order; `wrote`: asked which one it wrote."""
    traits = model.traits
    believed = "ABCDEFGHIJ"[belief(model, asked, traits.get("skill", 0.0))]
    primacy, felt = traits.get("primacy", ()), []
    for slot, text in enumerate(texts):
        own = style_share(text, model.vendor)
        utility = primacy[slot] if slot < len(primacy) else 0.0
        if wrote:
            utility += traits.get("recognition", 0.0) * own
        else:
            utility += CONVICTION * traits.get("sharpness", 1.0) * text.startswith(f"{believed}. ")
            utility += traits.get("self_preference", 0.0) * own - traits.get("fluency", 0.0) * mixed(text)
            utility += traits.get("taste", 0.0) * draw("taste", model.model_id, text)
        felt.append(utility)
    return felt


@lru_cache(maxsize=4096)
def mixed(text: str) -> float:
    """The share of a text's words with synonyms that are not of its own prevailing style; 0 where it has none."""
    known = any(word in SYNONYMS for word in words(text))
    return 1 - max(style_share(text, vendor) for vendor in STYLES) if known else 0.0


def words(text: str) -> list[str]:
    """The words of a text in lower case."""
    return [word.casefold() for word in WORD.findall(text)]


def _edit(request: Request, nonce: str, reason: str, asked: str, task: str) -> str:
    """Rule-based: words that have a synonym and stand neither in question nor options, in an order drawn by the key."""
    rng, taken = random.Random(f"{request.key}:edit"), set(words(asked))
    wanted = re.search(r"(\d+) words", task)
    usable = [word for word in dict.fromkeys(words(reason)) if word in SYNONYMS and word not in taken]
    rng.shuffle(usable)
    pairs = []
    for word in usable:
        others = [other for other in SYNONYMS[word] if other not in taken]
        if others:
            pairs.append((word, rng.choice(others)))
    if wanted is None:
        table = dict(pairs)
        text = WORD.sub(lambda match: _cased(match[0], table.get(match[0].casefold(), match[0])), reason)
        return json.dumps({"id": nonce, "paraphrase": text})
    pairs = pairs[: int(wanted[1])]
    chosen, new = [old for old, _ in pairs], [other for _, other in pairs]
    return json.dumps({"id": nonce, "selected_words": chosen, "replacements": new})


def _cased(like: str, word: str) -> str:
    return word.capitalize() if like[:1].isupper() and word.islower() else word
