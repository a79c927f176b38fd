"""Models that we make up: candidates of chosen skill and style, judges of chosen bias. They see the Request only.

Everything is read from the prompt, and noise is drawn from the request's key: repeats differ, reruns do not. Words,
knobs (`traits`), constants and what they do are data: simulated.toml.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from statistics import NormalDist, fmean, pstdev
from types import SimpleNamespace
from typing import Any, NamedTuple

from ..paths import load_table
from ..types import SITUATION, Completion, Model, Pull, Question, Request, Usage
from .transport import Sent

NORMAL = NormalDist()
WORDS = load_table("providers/simulated.toml")
#: The constants of the formulas, in capitals there.
FIXED = SimpleNamespace(**WORDS["constants"])
NEUTRAL, UNDECIDED, REFUSALS, MANNERS = (WORDS[name] for name in ("neutral", "undecided", "refusals", "manners"))
WORDINGS = {name: re.compile(pattern) for name, pattern in WORDS["wordings"].items()}
STYLE: dict[str, int] = WORDS["styles"]
GROUPS = tuple(tuple(group.split()) for line in WORDS["synonyms"].splitlines() for group in line.split(";"))
#: Each word with the other words of its group, and the column in which it stands there.
SYNONYMS = {word: tuple(other for other in group if other != word) for group in GROUPS for word in group}
COLUMN = {word: column for group in GROUPS for column, word in enumerate(group)}

#: How prompts show questions and options, and words with and without what joins two into one.
QUESTION, OPTION, WORD, JOINED_WORD = map(re.compile, WORDS["patterns"].values())
LETTERS = "ABCDEFGHIJ"
#: What only prompts of an audit say after the texts.
AUDIT_PAIR, AUDIT_SCORE = "\n- tie: the two are equally good", " points from 0 (useless) to 100 "


def client(model: Model, key: str | None) -> None:
    """Nothing to open; refuse unknown traits by name before anything is asked."""
    traits_of(model)


async def send(client: None, request: Request) -> Sent:
    """The reply as a provider would send it: one JSON text."""
    text, finish = reply(request)
    usage = {"input": len(request.system + request.prompt) // 4, "output": len(text) // 4}
    return Sent(json.dumps({"text": text, "finish": finish, "usage": usage, "model": request.model.model_id}))


def read(raw: str) -> Completion:
    """The reply in `raw`, without its key."""
    body = json.loads(raw)
    return Completion("", "ok", body["text"], body["finish"], Usage(**body["usage"]), body["model"], raw=raw)


def reply(request: Request) -> tuple[str, str]:
    """What the model says, and how its reply ended."""
    shown = read_prompt(request.prompt)
    if SITUATION.match(request.prompt):
        return _decide(request)
    if shown.labels == ["REASON"] or (shown.nonce and request.prompt.startswith("Passage:\n")):
        return _read_passage(request, shown)
    if not shown.texts:
        return answer_reply(request), "stop"
    felt = add_noise(request, before_noise(request)[0])
    if AUDIT_SCORE in shown.task:
        return _score(request, shown, felt[0])
    if AUDIT_PAIR in shown.task or "A>>B" in (json.dumps(request.schema) if request.schema else shown.task):
        return _compare(request, shown, felt)
    return _rank(request, shown, felt)


def traits_of(model: Model) -> SimpleNamespace:
    """The model's traits; an unknown one or one of a wrong type is an error that names it and the valid ones."""
    defaults, kinds = WORDS["traits"], WORDS["kinds_of_traits"]
    if unknown := sorted(set(model.traits) - set(defaults)):
        raise ValueError(f"model '{model.name}': unknown traits {', '.join(unknown)}; valid: {', '.join(defaults)}")
    for name, value in model.traits.items():
        numbers: Iterable[Any] = [value]
        if isinstance(defaults[name], list):
            numbers = value if isinstance(value, list | tuple) else [None]
        elif isinstance(defaults[name], dict):
            named = isinstance(value, Mapping) and (name != "wordings" or set(value) <= set(WORDINGS))
            numbers = value.values() if named else [None]
        if any(type(number) not in (int, float) or not math.isfinite(number) for number in numbers):
            raise ValueError(f"model '{model.name}': trait {name} = {value!r}: must be {kinds.get(name, 'a number')}")
    return SimpleNamespace(**{**defaults, **model.traits})


class Shown(NamedTuple):
    """What a prompt shows: code, question, the label of each text ("REASON": one to edit), its author, and the rest."""

    nonce: str = ""
    asked: str = ""
    labels: Sequence[str] = ()
    authors: Sequence[str] = ()
    texts: Sequence[str] = ()
    task: str = ""


def read_prompt(prompt: str) -> Shown:
    """What a prompt shows between delimiters with its own code; nothing where it does not begin with a question."""
    head = QUESTION.match(prompt)
    if head is None:
        return Shown()
    # Only what stands outside the texts says who wrote them.
    author, start, end = r"(?:^Answer \w+, written by ([^\n]+):\n)?", r"<<<(?:ANSWER )?(\w+)", r"<<<END \2"
    block = re.compile(rf"{author}{start} {head[1]}>>>\n(.*?)\n{end} {head[1]}>>>", re.DOTALL | re.MULTILINE)
    found = list(block.finditer(prompt, head.end()))
    authors, labels, texts = ([each[part] or "" for each in found] for part in (1, 2, 3))
    return Shown(head[1], head[2], labels, authors, texts, prompt[[head, *found][-1].end() :])


def draw(*parts: str) -> float:
    """A standard normal number drawn from these texts: the same in every process."""
    digest = hashlib.sha256("\x1f".join(parts).encode()).digest()
    return NORMAL.inv_cdf((int.from_bytes(digest[:8], "big") + 0.5) / 2**64)


def add_noise(request: Request, felt: Iterable[float]) -> list[float]:
    """Utilities with the judge's Gumbel noise, which the request's key draws."""
    noise, rng = traits_of(request.model).noise, random.Random(f"{request.key}:judge")
    return [utility - noise * math.log(-math.log(rng.random() or 0.5)) for utility in felt]


def write_verdict(request: Request, nonce: str, stated: Any, reason: str = "", **fields: Any) -> str:
    """A verdict in the form of the prompt: an object of `fields` under a schema, else its line after the reason."""
    if request.schema is not None:
        return json.dumps({"id": nonce, **fields})
    return f"{reason}\n\nVERDICT-{nonce}: {stated}" if reason else f"VERDICT-{nonce}: {stated}"


def end_reply(
    request: Request, full: str, undecided: str, refusal: str, others: Sequence[Callable[..., str]] = (), cut: str = ""
) -> tuple[str, str]:
    """A reply and how it ended; as often as `unreadable` says one without a verdict, of each kind equally often."""
    rng = random.Random(f"{request.key}:fault")
    if rng.random() >= traits_of(request.model).unreadable:
        return full, "stop"
    ends = [(lambda _: cut or full[: len(full) // 2], "length"), (lambda _: refusal, "refusal")]
    write, finish = rng.choice([*((each, "stop") for each in (lambda _: undecided, *others)), *ends])
    return write(rng), finish


def answer_reply(request: Request) -> str:
    """What a simulated candidate writes: some of the question's points, or neutral text, in its vendor's manner."""
    traits, rng = traits_of(request.model), random.Random(f"{request.key}:answer")
    question = request.model.knowledge.get(request.prompt.strip())
    padding = rng.sample(NEUTRAL, rng.randint(0, 6))
    if question is None:
        return write_answer(request.model.vendor, rng.sample(NEUTRAL, rng.randint(4, 9)), rng)
    skill, points = traits.skill + traits.category_skill.get(question.category, 0.0), question.points
    quality = skill + traits.spread * rng.gauss(0, 1)
    count = min(len(points), 1 + int(NORMAL.cdf(quality / FIXED.QUALITY_SCALE) * len(points)))
    chosen = sorted(rng.sample(range(len(points)), count))
    return write_answer(request.model.vendor, [points[index] for index in chosen] + padding, rng)


def write_answer(vendor: str, sentences: Sequence[str], rng: random.Random) -> str:
    """The sentences as a text in the manner of a vendor."""
    manner = MANNERS.get(vendor, WORDS["plain"])
    lines = [manner["bullet"].format(number=n) + sentence for n, sentence in enumerate(sentences, 1)]
    body = ("\n" if manner["bullet"] else " ").join(lines)
    return "\n\n".join(filter(None, (rng.choice(manner["openings"]), body, rng.choice(manner["closings"]))))


def vendor_of(text: str) -> str | None:
    """Whose manner a text is written in, opening and closing: a real text may share a phrase; None for all others."""
    ends = {vendor: (tuple(manner["openings"]), tuple(manner["closings"])) for vendor, manner in MANNERS.items()}
    return next((vendor for vendor, (a, z) in ends.items() if text.startswith(a) and text.endswith(z)), None)


def quality_of(text: str, question: Question | None, others: Iterable[Question] = ()) -> float:
    """How good a text is: by the points of its question, OFF_TOPIC where it has but another's of `others`, or hash."""
    points = question.points if question else ()
    if found := sum(point in text for point in points):
        return FIXED.QUALITY_SCALE * NORMAL.inv_cdf((found - 0.5) / len(points))
    if points and any(point in text for other in others for point in other.points):
        return FIXED.OFF_TOPIC
    return draw("quality", text)


def own_by_name(task: str, labels: Sequence[str], vendor: str, deduces: bool = False) -> list[bool]:
    """Which labels the words after the answers, a list of authors or a sentence, name as those of a judge's vendor."""
    listed = dict(re.findall(r"^(\w+): (.+)$", task, re.MULTILINE))
    if not set(labels) <= set(listed):
        sentence = re.search(r"answers? (.+?) came from your own vendor", task)
        return [label in (re.findall(r"\b[A-Z]\b", sentence[1]) if sentence else ()) for label in labels]
    authors = [listed[label] for label in labels]
    mine = [vendor in author.casefold() for author in authors]
    hidden = ["not disclosed" in author for author in authors]
    # Who deduces takes undisclosed answers for its own where it is not named and they are as many as each other's.
    sizes = {authors.count(author) for author in authors if "not disclosed" not in author}
    return hidden if deduces and not any(mine) and sizes == {sum(hidden)} else mine


def before_noise(request: Request) -> tuple[list[float], list[bool]]:
    """What a judge feels before noise about each text that its prompt shows, and which it takes for its own by name."""
    model, shown, traits = request.model, read_prompt(request.prompt), traits_of(request.model)
    question, lengths = model.knowledge.get(shown.asked), [math.log(len(text) + 1) for text in shown.texts]
    named_own = own_by_name(shown.task, shown.labels, model.vendor, bool(traits.deduces))
    places, spread = [*traits.primacy, *[0.0] * len(lengths)], pstdev(lengths) or 1.0
    return [
        traits.sharpness * quality_of(text, question, model.knowledge.values())
        + traits.taste * draw("taste", model.model_id, text)
        + traits.self_preference * (vendor_of(text) == model.vendor)
        + traits.hint_effect * named_own[slot]
        + places[slot]
        + traits.verbosity * (lengths[slot] - fmean(lengths)) / spread
        + sum(worth for wording, worth in traits.wordings.items() if WORDINGS[wording].search(text))
        for slot, text in enumerate(shown.texts)
    ], named_own


def _rank(request: Request, shown: Shown, felt: Sequence[float]) -> tuple[str, str]:
    def written(ranking: Sequence[str], scores: Mapping[str, int]) -> str:
        if request.schema is not None:
            return json.dumps({"id": shown.nonce, "ranking": ranking, "scores": scores, "justification": reason})
        marks = " ".join(f"{label}={score}" for label, score in sorted(scores.items()))
        return f"{reason}\n\nSCORES-{shown.nonce}: {marks}\nRANKING-{shown.nonce}: {' > '.join(ranking)}"

    # Equal utilities fall either way, or the later slot would always win them.
    lots = random.Random(f"{request.key}:lots").sample(range(len(felt)), len(felt))
    ranking = [label for _, _, label in sorted(zip(felt, lots, shown.labels, strict=True), reverse=True)]
    scores = {label: max(0, min(10, round(6 + 1.2 * u))) for label, u in zip(shown.labels, felt, strict=True)}
    reason = f"Answer {ranking[0]} covers most of what was asked; answer {ranking[-1]} leaves the most out."
    short, cut = [lambda _: written(ranking[:-1], {})], written(ranking, {})
    return end_reply(request, written(ranking, scores), reason, REFUSALS["answers"], short, cut[: len(cut) // 2])


def verdict(lead: float, tie: float, strong: float) -> str:
    """What a judge says who feels that the first text leads by so much."""
    if abs(lead) < tie or lead == 0:
        return "A=B"
    better, worse = "AB" if lead > 0 else "BA"
    return f"{better}{'>>' if abs(lead) >= strong else '>'}{worse}"


def _compare(request: Request, shown: Shown, felt: Sequence[float]) -> tuple[str, str]:
    """A verdict on two answers in the form of an audit, or with a reason, after the judge's solution if asked for."""
    traits, question = traits_of(request.model), request.model.knowledge.get(shown.asked)
    if AUDIT_PAIR in shown.task:
        first, second = pulls_of_marks(shown, traits.biases)
        better = verdict(felt[0] - felt[1] + first - second, traits.tie, traits.strong)
        stated = "tie" if better == "A=B" else shown.labels["AB".index(better[0])]
        full = write_verdict(request, shown.nonce, stated, choice=stated)
        return end_reply(request, full, UNDECIDED["audit"], REFUSALS["pair"])
    stated = verdict(felt[0] - felt[1], traits.tie, traits.strong)
    reason = WORDS["reasons"][stated]
    if "own solution" in shown.task:
        points = question.points if question else ()
        solution = " ".join(points or random.Random(f"{request.key}:solution").sample(NEUTRAL, 4))
        reason = f"My own solution: {solution}\n\n{reason}"

    def written(stated: str) -> str:
        return write_verdict(request, shown.nonce, stated, reason, justification=reason, verdict=stated)

    others = [lambda rng: written(rng.choice(WORDS["junk"]))]
    return end_reply(request, written(stated), reason, REFUSALS["pair"], others)


def _score(request: Request, shown: Shown, felt: float) -> tuple[str, str]:
    """How many points an answer deserves in an audit."""
    honest, anchor = FIXED.MIDDLE + FIXED.POINTS * felt, re.search(r"(\d+) of 100 points", shown.task)
    pull = traits_of(request.model).biases.get("anchor", 0.0)
    moved = pull * (float(anchor[1]) - honest) if anchor else 0.0
    score = max(0, min(100, round(honest + moved)))
    full = write_verdict(request, shown.nonce, score, number=score)
    return end_reply(request, full, UNDECIDED["audit"], REFUSALS["pair"])


def pulls_of_marks(shown: Shown, biases: Mapping[str, float]) -> list[float]:
    """What letters, notes and names add to the utility of each text of an audit's prompt."""
    notes, found = dict(re.findall(r"^Note on answer (\w+): (.+)$", shown.task, re.MULTILINE)), []
    for label, author in zip(shown.labels, shown.authors, strict=True):
        pull = biases.get("letters", 0.0) * (label == "A")
        if label in notes:
            # A note with a number is one of a crowd, any other recommends.
            pull += biases.get("bandwagon" if re.search(r"\d", notes[label]) else "authority", 0.0)
        found.append(pull + biases.get("names", 0.0) * bool(re.search("ChatGPT|Claude|Gemini", author)))
    return found


def _decide(request: Request) -> tuple[str, str]:
    """An option of a bias test, or the arguments that are taken."""
    head, traits = SITUATION.match(request.prompt), traits_of(request.model)
    nonce, options = head[1], dict(OPTION.findall(request.prompt, head.end()))
    rng = random.Random(f"{request.key}:decide")
    several = "choices" in request.schema["properties"] if request.schema else "<letters>" in request.prompt
    places = {text: float(place) for place, text in enumerate(sorted(options.values()))}
    pull = request.pull or Pull("", head[2], "selection" if several else "scale", False, places)
    values = {label: pull.values.get(text, 0.0) for label, text in options.items()}

    def written(stated: str) -> str:
        return write_verdict(request, nonce, stated, choice=stated)

    if several:
        taken = [label for label, side in values.items() if leaning(request, pull, side=side) + _logistic(rng) > 0]
        full = write_verdict(request, nonce, ", ".join(taken) or "none", choices=taken)
        others = [lambda _: UNDECIDED["test"]] * 2
    else:
        low, high = min(values.values()), max(values.values())
        first, aim = rng.random() < traits.first_option, leaning(request, pull, low, high)
        drawn = FIXED.SPREAD * _logistic(rng) if pull.kind == "acceptance" else rng.gauss(0, 1)
        aim += traits.answer_noise * (high - low if pull.kind == "scale" else 1) * drawn
        if pull.kind != "scale":
            aim = high if aim > 0 else low
        full = written(next(iter(values)) if first else min(values, key=lambda label: abs(values[label] - aim)))
        others = [lambda _: written("none"), lambda rng: written(" and ".join(rng.sample(list(options), 2)))]
    return end_reply(request, full, UNDECIDED["test"], REFUSALS["test"], others, f"VERDICT-{nonce[:4]}")


def leaning(request: Request, pull: Pull, low: float = 0.0, high: float = 0.0, side: float = 0.0) -> float:
    """What a model feels before noise: its place on a scale, else how far above 0 it leans to what is asked."""
    who = request.model.model_id, pull.scenario
    strength = traits_of(request.model).biases.get(pull.bias, 0.0) if pull.treated else 0.0
    if pull.kind == "decision":
        return draw("merit", *who)
    if pull.kind == "selection":
        return FIXED.LEAN * draw("merit", *who) * side + (strength if side == pull.side else 0.0)
    if pull.kind == "acceptance":
        return math.log(pull.ratio) - (FIXED.RISK + FIXED.LIKING * draw("liking", *who) + strength)
    first, last = FIXED.HONEST
    honest = low + (high - low) * (first + (last - first) * NORMAL.cdf(draw("honest", *who)))
    return honest + strength * ((honest if pull.target is None else pull.target) - honest)


def _logistic(rng: random.Random) -> float:
    u = rng.random() or 0.5
    return math.log(u / (1 - u))


def _read_passage(request: Request, shown: Shown) -> tuple[str, str]:
    """An edit of a reason, which of two answers to a question on a passage is right or the own, or an answer to it."""
    model = request.model
    if shown.labels == ["REASON"]:
        full = json.dumps({"id": shown.nonce, **_edit(request, shown)})
    elif shown.texts:
        wrote = "did you write" in shown.task
        first, second = add_noise(request, felt_on_passage(model, shown.asked, shown.texts, wrote))
        choice = "1" if first > second else "2"
        full = write_verdict(request, shown.nonce, choice, choice=choice)
    else:
        index, question = belief(model, shown.asked, traits_of(model).skill), model.knowledge.get(shown.asked)
        rng, letter = random.Random(f"{request.key}:reason"), LETTERS[index]
        reason = question.points[index] if question and question.points else " ".join(rng.sample(WORDS["generic"], 4))
        reason = styled(reason, model.vendor)
        full = write_verdict(request, shown.nonce, letter, reason, choice=letter, justification=reason)
    return end_reply(request, full, UNDECIDED["passage"], REFUSALS["answers"])


def belief(model: Model, asked: str, skill: float) -> int:
    """The option that a model takes for right: the gold one the more often the greater its skill (in probits)."""
    options, question = OPTION.findall(asked), model.knowledge.get(asked)
    lot = NORMAL.cdf(draw("belief", model.model_id, asked))
    if question is None or question.gold is None:
        return int(lot * len(options))
    gold = LETTERS.index(question.gold)
    right = NORMAL.cdf(skill - FIXED.DIFFICULTY * draw("difficulty", asked))
    if lot < right:
        return gold
    wrong = sorted((i for i in range(len(options)) if i != gold), key=lambda i: draw("trap", asked, str(i)))
    rest, trapped = (lot - right) / (1 - right), FIXED.TRAPPED
    return wrong[0 if rest < trapped else 1 + int((rest - trapped) / (1 - trapped) * (len(wrong) - 1) * 0.999999)]


def felt_on_passage(model: Model, asked: str, texts: Sequence[str], wrote: bool) -> list[float]:
    """What a judge feels before noise about each of two answers in shown order; `wrote`: asked which one it wrote."""
    traits, felt = traits_of(model), []
    believed = LETTERS[belief(model, asked, traits.skill)]
    for text, place in zip(texts, [*traits.primacy, *[0.0] * len(texts)], strict=False):
        shares = style_shares(text)
        mine, mixed = shares[STYLE.get(model.vendor, 0)], 1 - (max(shares) or 1.0)
        utility = place + FIXED.CONVICTION * traits.sharpness * text.startswith(f"{believed}. ")
        utility += traits.self_preference * mine - traits.fluency * mixed
        utility += traits.taste * draw("taste", model.model_id, text)
        felt.append(place + traits.recognition * mine if wrote else utility)
    return felt


@lru_cache(maxsize=4096)
def style_shares(text: str) -> tuple[float, ...]:
    """How a text's words from the table are shared among the four columns; zeros where it has none of them."""
    columns = [COLUMN[word] for word in JOINED_WORD.findall(text.lower()) if word in COLUMN]
    return tuple(columns.count(column) / max(1, len(columns)) for column in range(4))


def styled(text: str, vendor: str) -> str:
    """The text with its plain words of the table in the vendor's column, all else unchanged."""
    return _replace(text, JOINED_WORD, {group[0]: group[STYLE.get(vendor, 0)] for group in GROUPS})


def _replace(text: str, word: re.Pattern[str], table: Mapping[str, str]) -> str:
    """The text with these words replaced, in the case in which each stood."""

    def reword(match: re.Match[str]) -> str:
        old, new = match[0], table.get(match[0].lower(), match[0])
        capital = new.capitalize() if old[0].isupper() and new.islower() else new
        return new.upper() if len(old) > 1 and old.isupper() else capital

    return word.sub(reword, text)


def _edit(request: Request, shown: Shown) -> dict[str, Any]:
    """By rule: words that have a synonym and stand neither in question nor options, in an order drawn by the key."""
    (reason,), rng, taken = shown.texts, random.Random(f"{request.key}:edit"), WORD.findall(shown.asked.lower())
    usable = [word for word in dict.fromkeys(WORD.findall(reason.lower())) if word in SYNONYMS and word not in taken]
    rng.shuffle(usable)
    others = {word: [other for other in SYNONYMS[word] if other not in taken] for word in usable}
    new = {word: rng.choice(choices) for word, choices in others.items() if choices}
    wanted = re.search(r"(\d+) words", shown.task)
    if wanted is None:
        return {"paraphrase": _replace(reason, WORD, new)}
    chosen = list(new)[: int(wanted[1])]
    return {"selected_words": chosen, "replacements": [new[word] for word in chosen]}
