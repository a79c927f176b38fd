"""The nouns of the project: frozen records that every room may use and that import nothing of ours."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import orjson


@dataclass(frozen=True)
class Price:
    """US dollars for a million tokens."""

    input: float
    output: float


@dataclass(frozen=True)
class Pull:
    """Where the bias of one version of a bias test pulls a simulated model; its `repr` is in the key of such replies.

    `kind` is a wording's or "decision"; `values`: what each option counts, by text; `side`: 1 or -1, that decided for.
    """

    bias: str
    scenario: str
    kind: str
    treated: bool
    values: Mapping[str, float]
    target: float | None = None
    side: int = 0
    ratio: float = 0.0


@dataclass(frozen=True)
class Model:
    """One entry of `models.yaml`: who is asked, how, and who made it.

    `params`, `max_tokens` (as `token_parameter`) and the `traits` of a simulated model enter the key, but not its
    `knowledge` (built-in questions by text) and `pulls` (bias tests by text). `servers` are all addresses of the same
    weights, `base_url` is the first. `enforced`: the server lets through nothing but the schema; `pin_id`: the schema
    sent to an own server takes no `id` but the nonce. `context` counts tokens of prompt and reply together. `logprobs`:
    of so many tokens at each place of a reply the log-probabilities are asked for, which enters the key.
    """

    name: str
    provider: str
    model_id: str
    vendor: str
    tier: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    traits: Mapping[str, Any] = field(default_factory=dict)
    max_tokens: int = 2048
    context: int | None = None
    token_parameter: str = "max_tokens"
    structured: bool = True
    enforced: bool = False
    pin_id: bool = True
    logprobs: int | None = None
    base_url: str | None = None
    servers: tuple[str, ...] = ()
    revision: Mapping[str, str] | None = None
    api_key_env: str | None = None
    price: Price | None = None
    retires: str | None = None
    released: str | None = None
    timeout_seconds: float = 600.0
    concurrency: int | None = None
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


@dataclass(frozen=True)
class RatioScale:
    """The published metric B = k (|a1 - x1| - |a2 - x2|) / max(|a1 - x1|, |a2 - x2|), a1 of control, a2 treated."""

    k: float = -1.0
    x1: float = 0.0
    x2: float = 0.0
    flip_control: bool = False  # options, counted from 0, are counted from the other end
    flip_treatment: bool = False


@dataclass(frozen=True)
class Version:
    """One version of a test as it is shown: its options, lowest first, and what each counts."""

    text: str
    options: tuple[str, ...]
    values: tuple[float, ...]


@dataclass(frozen=True)
class Wording:
    """One wording of a scenario: its versions by condition, and where the bias would pull the answer.

    `kind` is "scale", "acceptance" (of a gamble) or "selection" (of arguments; versions: decision, control,
    treatment_for, treatment_against). `target` is the value that the bias pulls to (None: the side that the model
    decided for), `anchor` the number shown that is nearest to it. `scale`: None where no published metric is defined.
    """

    name: str
    kind: str
    versions: Mapping[str, Version]
    target: float | None = None
    anchor: float | None = None
    facts: Mapping[str, float | str] = field(default_factory=dict)
    scale: RatioScale | None = None


@dataclass(frozen=True)
class Question:
    """One question of a benchmark; `points` are what a full answer says (built-in questions only).

    `place` is its rank in its whole dataset, before any limit or filter (-1: not ranked yet). A question about a
    passage has the id of its `article` (questions on one are no independent evidence), options A, B, ..., the `gold`
    letter and, if known, whether it is `hard`; its `points` are a reason for each option.
    """

    id: str
    category: str
    text: str
    points: tuple[str, ...] = ()
    reference: str | None = None
    place: int = -1
    article: str = ""
    passage: str = ""
    options: tuple[str, ...] = ()
    gold: str | None = None
    hard: bool | None = None
    wordings: tuple[Wording, ...] = ()


@dataclass(frozen=True)
class Answer:
    """What a candidate wrote, or the `outcome` why it must not be judged ("truncated", "empty", "error", ...).

    `text` is None where it is still to be written (up to `max_tokens`). To a question with options the answer is the
    letter `label`, `text` its reason, and `edited` that reason with words replaced, where published.
    """

    question_id: str
    candidate: str
    vendor: str
    tier: str
    text: str | None
    model: str | None = None
    outcome: str = "ok"
    max_tokens: int = 0
    label: str | None = None
    edited: str | None = None


#: Version of the simulated models' behaviour; another one makes their replies new.
SIMULATOR = 1
#: Characters: providers cache no beginning of less than about a thousand tokens.
WORTH_CACHING = 4000
#: How prompts show a question about a passage, with options, and a bias test.
PASSAGE_QUESTION = re.compile(r"Passage:\n.*?<<<QUESTION ([0-9a-f]{8})>>>\n(.*?)\n<<<END QUESTION \1>>>", re.DOTALL)
SITUATION = re.compile(r"<<<SITUATION ([0-9a-f]{8})>>>\n(.*?)\n<<<END SITUATION \1>>>", re.DOTALL)
_WITH_NUMBERS = json.JSONEncoder(sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


class Measured(NamedTuple):
    """Of a request its key, bytes of system, prompt and schema, bytes worth a cache, and the digest of those."""

    key: str
    size: int
    start: int
    starts: bytes


@dataclass(frozen=True)
class Request:
    """Everything that a model sees and that shapes its reply; `key` names the reply in the store.

    `source` is the prompt, or a function that always makes it the same. Not in the key: `unwritten` tokens of answers
    still to be written (planned but not sent), and `shared`, up to whose end other prompts are equal.
    """

    model: Model
    source: str | Callable[[], str]
    system: str = ""
    schema: Mapping[str, Any] | None = None
    repeat: int = 0
    unwritten: int = 0
    shared: str = ""

    @property
    def prompt(self) -> str:
        """The text of the prompt, made anew each time where `source` is a function."""
        return self.source if isinstance(self.source, str) else self.source()

    @property
    def cacheable(self) -> int:
        """How many characters at the beginning are worth a provider's cache: those shared, or 0 where they are few."""
        end = self.prompt.index(self.shared) + len(self.shared) if self.shared else 0
        return end if end >= WORTH_CACHING else 0

    @property
    def params(self) -> dict[str, Any]:
        """All parameters sent: the model's own, its token limit, log-probabilities, and traits of a simulated model."""
        more = {"logprobs": True, "top_logprobs": self.model.logprobs} if self.model.logprobs else {}
        return {self.model.token_parameter: self.model.max_tokens, **self.model.params, **self.model.traits, **more}

    @property
    def pull(self) -> Pull | None:
        """What a simulated model knows of the bias test in the prompt; None where it knows nothing of it."""
        return self.model.pulls.get(shown[2]) if (shown := SITUATION.match(self.prompt)) else None

    @property
    def revision(self) -> dict[str, Any] | None:
        """What tells one set of weights behind a model id from another; None where only the provider knows."""
        model = self.model
        if not model.simulated:
            return dict(model.revision or {}) if model.base_url else None
        passage = PASSAGE_QUESTION.match(prompt := self.prompt)
        question = model.knowledge.get(passage[2] if passage else prompt.strip())
        weights = {"simulator": SIMULATOR, "vendor": model.vendor, "points": list(question.points) if question else []}
        return weights | ({"pull": repr(pull)} if (pull := self.pull) else {})

    @property
    def key(self) -> str:
        """sha256 of what the model sees; the experiment, the condition and the clock are not in it."""
        return self.measured.key

    @cached_property
    def measured(self) -> Measured:
        """The key and the sizes, from one making of the prompt; ValueError where something in it is no JSON."""
        request = replace(self, source=self.prompt)
        prompt, system, revision = request.prompt.encode(), self.system.encode(), request.revision
        schema = json.dumps(self.schema, allow_nan=False)  # not sorted: its order shapes the reply
        seen: dict[str, Any] = {"provider": self.model.provider, "model": self.model.model_id, "system": self.system}
        seen |= {"prompt": request.prompt, "schema": schema, "repeat": self.repeat}
        # orjson takes a tenth of the time for long texts, but its numbers (1e-5) are not those of the keys in stores.
        numbers = {"params": self.params} | ({} if revision is None else {"revision": revision})
        seen |= {name: orjson.Fragment(_WITH_NUMBERS.encode(each).encode()) for name, each in numbers.items()}
        key = hashlib.sha256(orjson.dumps(seen, option=orjson.OPT_SORT_KEYS)).hexdigest()
        start = request.prompt[: request.cacheable].encode()
        size = len(system) + len(prompt) + (len(schema) if self.schema else 0)
        return Measured(key, size, len(start), hashlib.sha256(start).digest() if start else b"")

    def rendered(self) -> Request:
        """The same, measured, with the text of its prompt; ValueError where that is another one than the key's."""
        if isinstance(self.source, str):
            return self
        if (made := replace(self, source=self.source())).key != self.key:
            what = f"a prompt to {self.model.name} is not the same each time it is made (now {made.prompt[:80]!r})"
            raise ValueError(f"{what}; what makes it must not depend on chance or time")
        return made


def short_hash(*parts: object, digits: int = 8) -> str:
    """The first hex digits of the sha256 of the parts joined by colons; the same in every process."""
    return hashlib.sha256(":".join(map(str, parts)).encode()).hexdigest()[:digits]


@dataclass(frozen=True)
class Experiment:
    """A run, fully settled: who is asked what, how often, with which money, and where the results go.

    `parameters` are the notebook parameters that are not the defaults (`default`: none). `extra` holds the options and
    parameters of this experiment alone by name, Models where they name models (of several, by category). `shared` is
    the folder of the experiment that it extends, or its own.
    """

    name: str
    title: str
    bias: str
    judges: tuple[Model, ...]
    candidates: tuple[Model, ...]
    questions: str
    judgments: str
    question_limit: int | None
    repeats: int
    budget_usd: float
    seed: int
    out: Path
    store: Path
    default: bool
    extra: Mapping[str, Any]
    concurrency: int
    max_age_days: int
    folder: Path
    shared: Path
    builtin: Path
    hub: Mapping[str, Any] | None
    parameters: Mapping[str, Any]

    @property
    def writers(self) -> tuple[Model, ...]:
        """The models whose answers are judged: candidates, and the models by category among `extra`."""
        named = (model for each in self.extra.values() if isinstance(each, Mapping) for model in each.values())
        return (*self.candidates, *(model for model in named if isinstance(model, Model)))

    @property
    def models(self) -> tuple[Model, ...]:
        """Every model that the run may ask; one in two roles stands here twice."""
        return (*self.judges, *self.writers, *(each for each in self.extra.values() if isinstance(each, Model)))


@dataclass(frozen=True)
class Trial:
    """One question put to one judge under one condition: all experiments are made of these.

    `shown` are the candidates in shown order (of a bias test the numbers of its options), `labels` their letters.
    `form` is a key of VERDICT_FIELDS or "text"; `nonce` marks a text verdict. `named`: each slot's vendor by name
    (None: not disclosed), `where`: its place in the design, `partner`: the repeat of its control (None: its own).
    """

    experiment: str
    question_id: str
    category: str
    judge: Model
    request: Request
    condition: str = "none"
    form: str = "listwise"
    shown: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    nonce: str = ""
    named: tuple[str | None, ...] = ()
    where: Mapping[str, str] = field(default_factory=dict)
    partner: int | None = None
    wording: Wording | None = None


#: Everything that can become of a finished reply; only `ok` carries a verdict.
_UNREADABLE = ("unparsed", "conflict", "invalid_ranking", "no_option", "two_options")
OUTCOMES = ("ok", *_UNREADABLE, "refused", "filtered", "truncated", "empty")
#: The field of a structured reply that holds the verdict, for each form of verdict.
VERDICT_FIELDS = dict(listwise="ranking", pairwise="verdict", choice="choice", several="choices", number="number")
#: The five pairwise verdicts; A is shown first.
PAIRWISE = ("A>>B", "A>B", "A=B", "B>A", "B>>A")


@dataclass(frozen=True)
class Usage:
    """Tokens as counted by the provider; `output` includes `reasoning`, `input` those of its cache."""

    input: int | None = None
    output: int | None = None
    reasoning: int | None = None
    cached: int | None = None
    written: int | None = None


@dataclass(frozen=True)
class Completion:
    """One attempt to get a reply; `status` is "ok" or a kind of providers/meanings.toml, `latency` in seconds."""

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
    """What a judge decided: listwise a `ranking` of labels, best first, and `scores` by label, else what its form has.

    `contradicts`: a lower-ranked label has a higher score. `probabilities` are shares of labels in `label_mass`, their
    probability in all where the verdict stands; labels that only later tokens tell apart have one share together, under
    what they begin with. `unlisted` is the largest share that a label can have which the server did not list.
    """

    ranking: tuple[str, ...] = ()
    scores: Mapping[str, float] = field(default_factory=dict)
    choice: str | None = None
    choices: tuple[str, ...] = ()
    number: float | None = None
    justification: str = ""
    contradicts: bool = False
    probabilities: Mapping[str, float] = field(default_factory=dict)
    label_mass: float | None = None
    unlisted: float = 0.0


@dataclass(frozen=True)
class Judgment:
    """A trial with its reply; `outcome` is one of OUTCOMES or "missing", `verdict` None unless it is "ok"."""

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


#: How numbers of a unit are printed: times what, in which format, followed by what.
SHOWN_UNITS = {"rate": (100, ".1f", " %"), "pp": (100, "+.1f", " pp"), "sd_pp": (100, ".2f", " pp")}
SHOWN_UNITS |= dict.fromkeys(("logit", "log"), (1, "+.2f", ""))


@dataclass(frozen=True)
class Family:
    """Numbers that Holm corrects together: their place has no keys but `over`, and of `only` one of these values."""

    name: str
    over: Sequence[str]
    only: Mapping[str, Sequence[str]] = field(default_factory=dict)
    planned: bool = False  # a number that could not be tested counts like one that found nothing


@dataclass(frozen=True)
class Estimand:
    """What a number means: declared once, in numbers.yaml of its experiment.

    `above` and `below` are clauses that say what a judge above and below `null` does; without `below` that side is no
    bias. `describe` says the number as it is, with {value}. Braces are filled from the number's place, by `labels`.
    Without a `family` the number is exploratory. `needs`: what a file of verdicts must have for it. `fails`: where it
    misleads; a number whose limits nobody wrote down is not declared.
    """

    id: str
    words: str
    formula: str
    numerator: str
    denominator: str
    ties_and_invalid: str
    cluster: str
    interval: str
    source: str
    unit: str = "rate"
    above: str = ""
    below: str = ""
    describe: str = ""
    null: float = 0.0
    family: Family | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    needs: str = "asked"
    fails: str = field(kw_only=True)


@dataclass(frozen=True)
class Estimate:
    """A number that travels with its interval; NaN bounds mean that no interval is honest here (see `method`).

    `unit` is one of SHOWN_UNITS (fractions), "alpha", "score" or "count". `n` counts judgments (for agreement: pairs of
    them, or ranks compared), `clusters` questions, `effective` how many equal questions would say as much.
    """

    id: str
    where: Mapping[str, str]
    value: float
    low: float = float("nan")
    high: float = float("nan")
    n: int = 0
    clusters: int = 0
    unit: str = "rate"
    se: float = float("nan")
    method: str = ""
    data: str = ""
    p: float = float("nan")
    effective: float = float("nan")

    @property
    def df(self) -> float:
        """About how many degrees of freedom its standard error has."""
        return (self.clusters if self.effective != self.effective else self.effective) - 1

    def __str__(self) -> str:
        """The number with its interval, as printed in sentences.

        >>> str(Estimate("x", {}, 0.124, 0.079, 0.168)), str(Estimate("x", {}, 14.0, unit="count"))
        ('12.4 % [7.9, 16.8]', '14')
        """
        if self.value != self.value:
            return "not estimable"
        integer = self.unit == "count" and float(self.value).is_integer()  # a mean of counts need not be
        scale, form, suffix = SHOWN_UNITS.get(self.unit, (1, ".0f" if integer else ".2f", ""))
        text = f"{self.value * scale:{form}}{suffix}"
        return text if self.low != self.low else f"{text} [{self.low * scale:{form}}, {self.high * scale:{form}}]"
