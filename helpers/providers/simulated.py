"""Models that we make up: candidates of chosen skill and style, judges of chosen bias. They see the Request only.

Everything is read from the prompt as anybody reads it, and noise is drawn from the request's key: repeats differ,
reruns do not. What each model feels:

**Answers.** A candidate knows the built-in questions' answer points and writes down some of them in its vendor's
manner. A judge counts the points in each text, recognizes manners, and ranks by

    U = sharpness * quality + taste + self_preference [own manner] + hint_effect [own by name] + primacy[slot]
        + verbosity * z(length) + wordings [a list, a confident tone] + Gumbel

**Pairs.** With the lead of the first before noise (the noise in a difference of two utilities is logistic),

    P(first wins) = 1 / (1 + exp(-(lead - tie) / noise)),    P(second wins) = 1 / (1 + exp(-(-lead - tie) / noise));

of two identical texts only primacy[0] - primacy[1] is left of it. In an audit the lead also has, from `biases`,

    letters [marked A] + authority [a note recommends it] + bandwagon [a note tells how many prefer it]
        + names [under the name of a well-known vendor],                            each minus the same of the second;

a score is MIDDLE + POINTS * utility, moved by the share `anchor` of the way to the number in the prompt.

**Bias tests.** What a test measures they know as people do who have read of it (`Request.pull`): the bias that a
version is made for and where that pulls; an unknown version pulls nowhere. With strength s (`biases` in models.yaml):

    scale        honest + s (target - honest) + answer_noise * (high - low) * N(0, 1), then the nearest option
    acceptance   accepts if ln(ratio) > RISK + liking + s [a loss is possible] + SPREAD * answer_noise * logistic
    selection    takes an argument if EAGER + LEAN * merit * its side + s [of the side decided for] + logistic > 0
    decision     for, if merit + answer_noise * N(0, 1) > 0

`honest` (uniform over the middle HONEST of the scale), `liking` and `merit` (normal) are the model's own for each
scenario and the same in all its wordings, in control and treatment. A model whose decision and selection both follow
the merit of a scenario is not biased by that.

**Passages.** A model holds one belief about each question: the option that it answers itself, and takes for right when
it judges. Between two answers it feels

    U = CONVICTION * sharpness * [its own belief] + self_preference * [own words] - fluency * [mixed words]
        + primacy[slot] + taste + Gumbel

and asked which one it wrote, recognition * [own words] + primacy[slot] + Gumbel. Own words are the share of words with
synonyms that are those of its vendor's style; mixed words are those that are not of the text's prevailing style.
"""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import pairwise
from statistics import fmean, pstdev

from helpers.providers.simulated_texts import (
    GENERIC,
    NEUTRAL,
    NORMAL,
    QUESTION,
    SYNONYMS,
    WORD,
    WORDINGS,
    compared_answers,
    draw,
    draw_fault,
    mixed_share,
    own_by_name,
    spoil,
    style_share,
    styled,
    texts_shown,
    vendor_of,
    words_of,
    write_answer,
    write_verdict,
)
from helpers.providers.transport import Sent
from helpers.types import SITUATION, Completion, Model, Pull, Question, Request, Usage

#: One point more or less of a question's points is about this much quality (in sd of answers to a question).
QUALITY_SCALE = 1.5
#: The quality of an answer to another question: well below the least of an answer to this one, about -2.
OFF_TOPIC = -4.0
REFUSAL = "I would rather not compare these answers."
#: Traits that are several numbers by name, and what the names are of.
NAMED = {"category_skill": "category", "biases": "bias", "wordings": "wording"}

#: What a judge says of two answers in the place of a verdict, and its reason for each verdict.
JUNK = ("A", "B", "tie", "A<B")
REASONS = {
    "A>>B": "A does much more of this than B.",
    "A>B": "A does somewhat more of this than B.",
    "A=B": "A and B do about equally much of this.",
    "B>A": "B does somewhat more of this than A.",
    "B>>A": "B does much more of this than A.",
}
REFUSED_PAIR = "I would rather not say which of the two is better."

#: What only prompts of an audit say after the texts; a note with a number is one of a crowd, any other recommends.
AUDIT_PAIR, AUDIT_SCORE = "\n- tie: the two are equally good", " points from 0 (useless) to 100 "
NOTE = re.compile(r"^Note on answer (\w+): (.+)$", re.MULTILINE)
AUTHOR = re.compile(r"^Answer (\w+), written by (.+):\n\Z", re.MULTILINE)
ANCHOR = re.compile(r"(\d+) of 100 points")
VENDORS = ("ChatGPT", "Claude", "Gemini")
#: The score of an average answer, and what one sd of quality is worth.
MIDDLE, POINTS = 60.0, 8.0
UNDECIDED = "Both have their merits, and I would not like to weigh one against the other."

#: The middle part of a scale in which honest answers lie.
HONEST = (0.15, 0.85)
#: Log of the ratio at which a model takes a gamble on average, how much scenarios differ in it, and the noise's scale.
RISK, LIKING, SPREAD = 0.1, 0.2, 4.0
#: Logits: of any argument, and of one whose side has the merit of one standard deviation.
EAGER, LEAN = 0.0, 0.6
OPTION = re.compile(r"^([A-Z])\) (.+)$", re.MULTILINE)
NO_DECISION = "Much can be said for more than one of these, and I will leave it at that."
REFUSED_TEST = "I would rather not decide this."

CONVICTION = 1.2
#: How much questions differ in difficulty, on the scale of skill, and how often a wrong reader falls for the same trap.
DIFFICULTY, TRAPPED = 0.7, 0.6
LETTERS = "ABCDEFGHIJ"


@dataclass(frozen=True)
class Traits:
    """The knobs of a simulated model; the first block is used when it writes, the second when it judges.

    `skill` and `category_skill` shift the quality of its answers, `spread` is their sd; `sharpness` multiplies
    quality, `taste` is the sd of a stable liking of a text, `primacy` a utility per slot, `hint_effect` that of an
    answer which the prompt says is from the judge's vendor (with `deduces` 1 also of one that it can only be, all
    others being named), `unreadable` the share of replies without a readable verdict. Of two answers a difference of
    utilities below `tie` is a tie and one of `strong` or more a strong verdict (z(length) is then 1 for the longer and
    -1 for the other, by however little). `wordings` holds the utility of a wording, by name (`WORDINGS`). On passages
    `recognition` is the utility of own words when it is asked what it wrote, and `fluency` what words out of style cost
    a text. In bias tests and audits `biases` holds the strength of each by name, `answer_noise` the sd of an answer as
    a share of its scale, `first_option` how often the first option shown is taken.
    """

    skill: float = 0.0
    category_skill: Mapping[str, float] = field(default_factory=dict)
    spread: float = 1.0
    sharpness: float = 1.0
    taste: float = 0.0
    noise: float = 1.0
    self_preference: float = 0.0
    primacy: Sequence[float] = ()
    verbosity: float = 0.0
    wordings: Mapping[str, float] = field(default_factory=dict)
    hint_effect: float = 0.0
    deduces: float = 0.0
    unreadable: float = 0.0
    tie: float = 0.4
    strong: float = 1.5
    recognition: float = 0.0
    fluency: float = 0.0
    biases: Mapping[str, float] = field(default_factory=dict)
    answer_noise: float = 0.1
    first_option: float = 0.0

    def primacy_of(self, slot: int) -> float:
        """The utility of a slot; 0 for slots that are not listed."""
        return self.primacy[slot] if slot < len(self.primacy) else 0.0


# --- a provider like any other ----------------------------------------------------------------------------------------


def client(model: Model, key: str | None) -> None:
    """Nothing to open; refuse unknown traits by name before anything is asked."""
    traits_of(model)


async def close(client: None) -> None:
    """Nothing to close."""


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
    prompt = request.prompt
    if texts_shown(prompt)[2]:
        return judge_reply(request)
    if SITUATION.match(prompt):
        return bias_test_reply(request)
    if prompt.startswith("Passage:\n") or "<<<REASON " in prompt:
        text = passage_reply(request)
        if text is not None:
            fault, _ = draw_fault(request, traits_of(request.model).unreadable, ("prose", "cut", "refused"))
            return spoil(text, fault, "Both have their merits.", REFUSAL)
    return answer_reply(request), "stop"


def traits_of(model: Model) -> Traits:
    """The model's traits; an unknown one or one of a wrong type is an error that names it and the valid ones."""
    valid = [knob.name for knob in fields(Traits)]
    unknown = sorted(set(model.traits) - set(valid))
    if unknown:
        raise ValueError(f"model '{model.name}': unknown traits {', '.join(unknown)}; valid: {', '.join(valid)}")
    for name, value in model.traits.items():
        numbers, kind = [value], "a number"
        if name in NAMED:
            numbers, kind = [None], f"numbers by {NAMED[name]}"
            if isinstance(value, Mapping):
                numbers = list(value.values())
            if name == "wordings" and isinstance(value, Mapping) and set(value) - set(WORDINGS):
                numbers, kind = [None], f"numbers by wording ({', '.join(WORDINGS)})"
        elif name == "primacy":
            numbers, kind = list(value) if isinstance(value, list | tuple) else [None], "a list of numbers, one a slot"
        if any(type(number) not in (int, float) or not math.isfinite(number) for number in numbers):
            raise ValueError(f"model '{model.name}': trait {name} = {value!r}: must be {kind}")
    return Traits(**model.traits)


# --- answers, and judges of answers -----------------------------------------------------------------------------------


def answer_reply(request: Request) -> str:
    """What a simulated candidate writes: some of the question's points, or neutral text, in its vendor's manner."""
    traits, rng = traits_of(request.model), random.Random(f"{request.key}:answer")
    question = request.model.knowledge.get(request.prompt.strip())
    padding = rng.sample(NEUTRAL, rng.randint(0, 6))
    if question is None:
        body = rng.sample(NEUTRAL, rng.randint(4, 9))
    else:
        quality = traits.skill + traits.category_skill.get(question.category, 0.0) + traits.spread * rng.gauss(0, 1)
        count = min(len(question.points), 1 + int(NORMAL.cdf(quality / QUALITY_SCALE) * len(question.points)))
        chosen = sorted(rng.sample(range(len(question.points)), count))
        body = [question.points[index] for index in chosen] + padding
    return write_answer(request.model.vendor, body, rng)


def quality_of(text: str, question: Question | None, known: Iterable[Question] = ()) -> float:
    """How good a text is: by the share of the question's points that stand in it, else by its hash.

    A text without any of them that holds a point of another of the `known` questions answers that one: OFF_TOPIC.
    """
    points = question.points if question else ()
    found = sum(point in text for point in points)
    if found:
        return QUALITY_SCALE * NORMAL.inv_cdf((found - 0.5) / len(points))
    if points and any(point in text for other in known for point in other.points):
        return OFF_TOPIC
    return draw("quality", text)


def utilities(
    request: Request, texts: Sequence[str], question: Question | None, named_own: Sequence[bool] = ()
) -> list[float]:
    """What the judge feels about each text in shown order, noise included; `named_own`: taken for its own by name."""
    traits, rng = traits_of(request.model), random.Random(f"{request.key}:judge")
    lengths = [math.log(len(text) + 1) for text in texts]
    spread = pstdev(lengths) or 1.0
    return [
        traits.sharpness * quality_of(text, question, request.model.knowledge.values())
        + traits.taste * draw("taste", request.model.model_id, text)
        + traits.self_preference * (vendor_of(text) == request.model.vendor)
        + traits.hint_effect * (slot < len(named_own) and named_own[slot])
        + traits.primacy_of(slot)
        + traits.verbosity * (lengths[slot] - fmean(lengths)) / spread
        + sum(worth for name, worth in traits.wordings.items() if WORDINGS[name](text))
        - traits.noise * _gumbel(rng)
        for slot, text in enumerate(texts)
    ]


def before_noise(request: Request) -> tuple[list[float], list[bool]]:
    """What a judge feels before noise about each text that its prompt shows, and which it takes for its own by name."""
    quiet = Request(replace(request.model, traits={**request.model.traits, "noise": 0.0}), "")
    return _felt(request, quiet)


def _felt(request: Request, who: Request) -> tuple[list[float], list[bool]]:
    """What `who` feels about the texts of a request's prompt, and which it takes for its own by name."""
    _, asked, shown = texts_shown(request.prompt)
    labels, task = [each[1] for each in shown], request.prompt[shown[-1].end() :]
    named_own = own_by_name(task, labels, request.model.vendor, bool(traits_of(request.model).deduces))
    question = request.model.knowledge.get(asked)
    return utilities(who, [each[2] for each in shown], question, named_own), named_own


def judge_reply(request: Request) -> tuple[str, str]:
    """A verdict on the texts between the delimiters, as JSON or in the nonce form, and its finish.

    It ranks them, scores or compares them, as the schema or the words after the texts ask.
    """
    nonce, asked, shown = texts_shown(request.prompt)
    labels, task, traits = [each[1] for each in shown], request.prompt[shown[-1].end() :], traits_of(request.model)
    felt, _ = _felt(request, request)
    if AUDIT_PAIR in task or AUDIT_SCORE in task:
        return _audit_reply(request, nonce, shown, felt)
    if asks_for_pair(request, nonce, task):
        first, second = felt
        return _pair_reply(request, nonce, task, request.model.knowledge.get(asked), first - second)
    # Equal utilities fall either way, or the later slot would always win them.
    lots = random.Random(f"{request.key}:lots").sample(range(len(labels)), len(labels))
    ranking = [label for _, _, label in sorted(zip(felt, lots, labels, strict=True), reverse=True)]
    scores = {label: max(0, min(10, round(6 + 1.2 * u))) for label, u in zip(labels, felt, strict=True)}
    reason = f"Answer {ranking[0]} covers most of what was asked; answer {ranking[-1]} leaves the most out."
    fault, _ = draw_fault(request, traits.unreadable, ("prose", "short", "cut", "refused"))
    stated = ranking[:-1] if fault == "short" else ranking
    return spoil(_ranking(request, stated, {} if fault else scores, nonce, reason), fault, reason, REFUSAL)


def _ranking(request: Request, ranking: Sequence[str], scores: Mapping[str, int], nonce: str, reason: str) -> str:
    if request.schema is not None:
        return json.dumps({"id": nonce, "ranking": ranking, "scores": scores, "justification": reason})
    marks = " ".join(f"{label}={score}" for label, score in sorted(scores.items()))
    return f"{reason}\n\nSCORES-{nonce}: {marks}\nRANKING-{nonce}: {' > '.join(ranking)}"


def asks_for_pair(request: Request, nonce: str, task: str) -> bool:
    """Whether a verdict on a pair is asked for, by the schema or else by the form that the words after the texts name.

    >>> request = Request(Model("sim", "simulated", "sim-1", "gpt"), "...")
    >>> task = "... A>>B ... VERDICT-5eed: <verdict>"
    >>> asks_for_pair(request, "5eed", task), asks_for_pair(request, "5eed", "RANKING-5eed: A > B")
    (True, False)
    """
    if request.schema is not None:
        return "verdict" in request.schema.get("properties", {})
    return f"VERDICT-{nonce}:" in task and "A>>B" in task


def verdict(lead: float, tie: float, strong: float) -> str:
    """What a judge says who feels that the first text leads by so much.

    >>> [verdict(lead, 0.4, 1.5) for lead in (1.5, 0.4, 0.39, -0.4, -1.5)], verdict(0.0, 0.0, 0.0)
    (['A>>B', 'A>B', 'A=B', 'B>A', 'B>>A'], 'A=B')
    """
    if abs(lead) < tie or lead == 0:
        return "A=B"
    better, worse = "AB" if lead > 0 else "BA"
    return f"{better}{'>>' if abs(lead) >= strong else '>'}{worse}"


def _pair_reply(request: Request, nonce: str, task: str, question: Question | None, lead: float) -> tuple[str, str]:
    """The verdict that this lead makes, in the form asked for, and how the reply ended; as often as planted, none."""
    traits = traits_of(request.model)
    stated = verdict(lead, traits.tie, traits.strong)
    reason = REASONS[stated]
    if "own solution" in task:
        points = question.points if question and question.points else ()
        solution = " ".join(points or random.Random(f"{request.key}:solution").sample(NEUTRAL, 4))
        reason = f"My own solution: {solution}\n\n{reason}"
    fault, rng = draw_fault(request, traits.unreadable, ("prose", "junk", "cut", "refused"))
    stated = rng.choice(JUNK) if fault == "junk" else stated
    whole = write_verdict(request, nonce, stated, reason, justification=reason, verdict=stated)
    return spoil(whole, fault, reason, REFUSED_PAIR)


def _audit_reply(
    request: Request, nonce: str, shown: Sequence[re.Match[str]], felt: Sequence[float]
) -> tuple[str, str]:
    """The verdict or score of an audit in the form asked for, and how the reply ended; as often as planted, none."""
    traits, task = traits_of(request.model), request.prompt[shown[-1].end() :]
    if AUDIT_PAIR in task:
        pulls = pulls_of_marks(request.prompt, shown, traits.biases)
        felt_so = verdict(felt[0] - felt[1] + pulls[0] - pulls[1], traits.tie, traits.strong)
        stated = "tie" if felt_so == "A=B" else shown["AB".index(felt_so[0])][1]
        whole = write_verdict(request, nonce, stated, choice=stated)
    else:
        honest, anchor = MIDDLE + POINTS * felt[0], ANCHOR.search(task)
        moved = traits.biases.get("anchor", 0.0) * (float(anchor[1]) - honest) if anchor else 0.0
        score = max(0, min(100, round(honest + moved)))
        whole = write_verdict(request, nonce, score, number=score)
    fault, _ = draw_fault(request, traits.unreadable, ("prose", "cut", "refused"))
    return spoil(whole, fault, UNDECIDED, REFUSED_PAIR)


def pulls_of_marks(prompt: str, shown: Sequence[re.Match[str]], biases: Mapping[str, float]) -> list[float]:
    """What letters, notes and names add to the utility of each text of an audit's prompt."""
    found = []
    notes = dict(NOTE.findall(prompt[shown[-1].end() :]))
    for i, block in enumerate(shown):
        pull = biases.get("letters", 0.0) * (block[1] == "A")
        if block[1] in notes:
            pull += biases.get("bandwagon" if re.search(r"\d", notes[block[1]]) else "authority", 0.0)
        # Only what stands outside the texts says who wrote them.
        author = AUTHOR.search(prompt[shown[i - 1].end() if i else 0 : block.start()])
        pull += biases.get("names", 0.0) * bool(author and any(name in author[2] for name in VENDORS))
        found.append(pull)
    return found


# --- bias tests -------------------------------------------------------------------------------------------------------


def bias_test_reply(request: Request) -> tuple[str, str]:
    """The reply to a bias test, and how it ended; as often as planted, one without a readable decision."""
    traits, head = traits_of(request.model), SITUATION.match(request.prompt)
    options = OPTION.findall(request.prompt, head.end())
    labels, texts = [label for label, _ in options], [text for _, text in options]
    rng, nonce = random.Random(f"{request.key}:decide"), head[1]
    several = "choices" in request.schema["properties"] if request.schema else "<letters>" in request.prompt
    pull = request.pull or Pull("", head[2], "scale", False, {text: float(i) for i, text in enumerate(sorted(texts))})
    if several:
        takes = [_eagerness(request, traits, pull, text) + _logistic(rng) > 0 for text in texts]
        picked = [label for label, taken in zip(labels, takes, strict=True) if taken]
        whole = write_verdict(request, nonce, ", ".join(picked) or "none", choices=picked)
    else:
        picked = labels[_choice(request, traits, pull, texts, rng)]
        whole = write_verdict(request, nonce, picked, choice=picked)
    fault, rng = draw_fault(request, traits.unreadable, ("prose", "none", "two", "cut", "refused"))
    if fault in ("none", "two") and not several:
        stated = "none" if fault == "none" else " and ".join(rng.sample(labels, 2))
        return write_verdict(request, nonce, stated, choice=stated), "stop"
    if fault == "cut":
        return f"VERDICT-{nonce[:4]}", "length"
    return spoil(whole, "prose" if fault in ("none", "two") else fault, NO_DECISION, REFUSED_TEST)


def _choice(request: Request, traits: Traits, pull: Pull, texts: Sequence[str], rng: random.Random) -> int:
    """The place of the chosen option among the shown ones."""
    if rng.random() < traits.first_option:
        return 0
    values = [pull.values.get(text, 0.0) for text in texts]
    low, high = min(values), max(values)
    if pull.kind == "acceptance":
        felt = _gain(request, traits, pull) + SPREAD * traits.answer_noise * _logistic(rng)
        return values.index(high if felt > 0 else low)
    if pull.kind == "decision":
        return values.index(high if _merit(request, pull) + traits.answer_noise * rng.gauss(0, 1) > 0 else low)
    felt = _aim(request, traits, pull, low, high) + traits.answer_noise * (high - low) * rng.gauss(0, 1)
    return min(range(len(values)), key=lambda place: abs(values[place] - felt))


def chances(request: Request) -> tuple[list[float], list[float]]:
    """What each option counts in the order of its values, and how often a model chooses it (of arguments: takes it).

    Of a test of a kind "decision" it is not known here: its noise decides nothing but the side.
    """
    traits, pull, head = traits_of(request.model), request.pull, SITUATION.match(request.prompt)
    texts = [text for _, text in OPTION.findall(request.prompt, head.end())]
    if pull.kind == "selection":
        return [pull.values[text] for text in texts], [_share(_eagerness(request, traits, pull, x)) for x in texts]
    values, noise = sorted(pull.values[text] for text in texts), max(traits.answer_noise, 1e-9)
    low, high = values[0], values[-1]
    if pull.kind == "acceptance":
        taken = _share(_gain(request, traits, pull) / (SPREAD * noise))
        found = [taken * (x == high) + (1 - taken) * (x == low) for x in values]
    else:
        aim, sd = _aim(request, traits, pull, low, high), noise * (high - low)
        below = [NORMAL.cdf(((x + y) / 2 - aim) / sd) for x, y in pairwise(values)]
        found = [b - a for a, b in pairwise([0.0, *below, 1.0])]
    place, often = values.index(pull.values[texts[0]]), traits.first_option
    return values, [(1 - often) * p + often * (i == place) for i, p in enumerate(found)]


def _aim(request: Request, traits: Traits, pull: Pull, low: float, high: float) -> float:
    """Where on a scale a model answers before noise."""
    first, last = HONEST
    share = NORMAL.cdf(draw("honest", request.model.model_id, pull.scenario))
    honest = low + (high - low) * (first + (last - first) * share)
    return honest + _strength(traits, pull) * ((honest if pull.target is None else pull.target) - honest)


def _gain(request: Request, traits: Traits, pull: Pull) -> float:
    """By how much the ratio of a gamble lies above that at which a model takes it, before noise."""
    liking = LIKING * draw("liking", request.model.model_id, pull.scenario)
    return math.log(pull.ratio) - (RISK + liking + _strength(traits, pull))


def _eagerness(request: Request, traits: Traits, pull: Pull, text: str) -> float:
    """How ready a model is to take an argument, before noise."""
    side = pull.values.get(text, 0.0)
    return EAGER + LEAN * _merit(request, pull) * side + (_strength(traits, pull) if side == pull.side else 0.0)


def _merit(request: Request, pull: Pull) -> float:
    return draw("merit", request.model.model_id, pull.scenario)


def _strength(traits: Traits, pull: Pull) -> float:
    return traits.biases.get(pull.bias, 0.0) if pull.treated else 0.0


def _share(felt: float) -> float:
    """How often logistic noise leaves what is felt above 0."""
    return 1 / (1 + math.exp(-max(-700.0, min(700.0, felt))))


def _logistic(rng: random.Random) -> float:
    u = rng.random() or 0.5
    return math.log(u / (1 - u))


def _gumbel(rng: random.Random) -> float:
    return math.log(-math.log(rng.random() or 0.5))


# --- questions on passages --------------------------------------------------------------------------------------------


def passage_reply(request: Request) -> str | None:
    """The reply to a prompt about a passage: an answer, an edit, or which of two answers; None without a question."""
    head = QUESTION.search(request.prompt)
    if head is None:
        return None
    nonce, asked = head["nonce"], head[2]
    reason = re.search(rf"<<<REASON {nonce}>>>\n(.*?)\n<<<END REASON {nonce}>>>", request.prompt, re.DOTALL)
    if reason:
        return _edit(request, nonce, reason[1], asked, request.prompt[reason.end() :])
    _, texts, wrote = compared_answers(request.prompt)
    if not texts:
        return _passage_answer(request, nonce, asked)
    noise, rng = request.model.traits.get("noise", 1.0), random.Random(f"{request.key}:judge")
    felt = [u - noise * _gumbel(rng) for u in felt_on_passage(request.model, asked, texts, wrote)]
    choice = "1" if felt[0] > felt[1] else "2"
    return write_verdict(request, nonce, choice, choice=choice)


def belief(model: Model, asked: str, skill: float) -> int:
    """The option that a model takes for right: the gold one the more often the greater its skill (in probits)."""
    options, question = re.findall(r"^[A-Z]\) ", asked, re.MULTILINE), model.knowledge.get(asked)
    lot = NORMAL.cdf(draw("belief", model.model_id, asked))
    if question is None or question.gold is None:
        return int(lot * len(options))
    gold = LETTERS.index(question.gold)
    right = NORMAL.cdf(skill - DIFFICULTY * draw("difficulty", asked))
    if lot < right:
        return gold
    wrong = sorted((i for i in range(len(options)) if i != gold), key=lambda i: draw("trap", asked, str(i)))
    rest = (lot - right) / (1 - right)
    if rest < TRAPPED:
        return wrong[0]
    return wrong[1 + int((rest - TRAPPED) / (1 - TRAPPED) * (len(wrong) - 1) * 0.999999)]


def _passage_answer(request: Request, nonce: str, asked: str) -> str:
    model = request.model
    index, question = belief(model, asked, model.traits.get("skill", 0.0)), model.knowledge.get(asked)
    rng = random.Random(f"{request.key}:reason")
    reason = question.points[index] if question and question.points else " ".join(rng.sample(GENERIC, 4))
    reason, letter = styled(reason, model.vendor), LETTERS[index]
    return write_verdict(request, nonce, letter, reason, choice=letter, justification=reason)


def felt_on_passage(model: Model, asked: str, texts: Sequence[str], wrote: bool) -> list[float]:
    """What a judge feels before noise about each of two answers in shown order; `wrote`: asked which one it wrote."""
    traits = traits_of(model)
    believed, felt = LETTERS[belief(model, asked, traits.skill)], []
    for slot, text in enumerate(texts):
        own, utility = style_share(text, model.vendor), traits.primacy_of(slot)
        if wrote:
            utility += traits.recognition * own
        else:
            utility += CONVICTION * traits.sharpness * text.startswith(f"{believed}. ")
            utility += traits.self_preference * own - traits.fluency * mixed_share(text)
            utility += traits.taste * draw("taste", model.model_id, text)
        felt.append(utility)
    return felt


def _edit(request: Request, nonce: str, reason: str, asked: str, task: str) -> str:
    """Rule-based: words that have a synonym and stand neither in question nor options, in an order drawn by the key."""
    rng, taken = random.Random(f"{request.key}:edit"), set(words_of(asked))
    wanted = re.search(r"(\d+) words", task)
    usable = [word for word in dict.fromkeys(words_of(reason)) if word in SYNONYMS and word not in taken]
    rng.shuffle(usable)
    others = {word: [other for other in SYNONYMS[word] if other not in taken] for word in usable}
    pairs = [(word, rng.choice(choices)) for word, choices in others.items() if choices]
    if wanted is None:
        table = dict(pairs)

        def replaced(match: re.Match[str]) -> str:
            new = table.get(match[0].casefold(), match[0])
            return new.capitalize() if match[0][:1].isupper() and new.islower() else new

        return json.dumps({"id": nonce, "paraphrase": WORD.sub(replaced, reason)})
    chosen, new = [[pair[side] for pair in pairs[: int(wanted[1])]] for side in (0, 1)]
    return json.dumps({"id": nonce, "selected_words": chosen, "replacements": new})
