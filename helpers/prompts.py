"""Prompt templates: files with a system and a user part, rendered strictly.

A template is one text file: a line `--- system ---`, the system part, a line `--- user ---`, the user part. Both are
Jinja templates in which block lines leave no trace. The line end that closes a part belongs to the file, not to the
prompt. What is inserted is a value and never template source: candidate texts arrive byte for byte.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import jinja2
import jinja2.meta
import jinja2.sandbox

from .services import own_server
from .types import PAIRWISE, Answer, Experiment, Model, Question, Request, Trial, check_form, short_hash

#: Characters: a text with variables that gives more is a mistake, and would be paid for.
LONGEST_TEXT = 100_000
DIVIDER = re.compile(r"^--- (system|user) ---(?:\n|\Z)", re.MULTILINE)


def _present(value: Any) -> Any:
    if value is None:
        raise ValueError("a value to be inserted is None")
    return value


_ENVIRONMENT = jinja2.sandbox.ImmutableSandboxedEnvironment(
    undefined=jinja2.StrictUndefined,
    keep_trailing_newline=True,
    trim_blocks=True,
    lstrip_blocks=True,
    finalize=_present,
)
_ENVIRONMENT.globals.clear()
_ENVIRONMENT.filters.pop("random")  # a prompt is made more than once, and must be the same each time
_compiled = lru_cache(maxsize=256)(_ENVIRONMENT.from_string)


@dataclass(frozen=True)
class Template:
    """The two parts of a template file as written, and the names of the variables they use."""

    path: Path
    system: str
    user: str
    variables: frozenset[str]


def load(path: Path) -> Template:
    """The template in the file at `path`; raises ValueError with file and line where it is not one.

    A file without exactly one line `--- system ---` (the first) and one `--- user ---` after it, or with a syntax
    error, is refused.
    """
    text = path.read_text(encoding="utf-8")
    before, *parts = DIVIDER.split(text)
    if before or parts[::2] != ["system", "user"]:
        first = text.split("\n", 1)[0]
        raise ValueError(
            f"{path}: a template is a line '--- system ---' (the first; found {first!r}), the system part, one line "
            "'--- user ---' and the user part"
        )
    _, system, _, user = parts
    try:  # with as many lines before each part as in the file
        variables = _names("\n" + system) | _names("\n" * (2 + system.count("\n")) + user)
    except jinja2.TemplateSyntaxError as error:
        raise ValueError(f"{path}, line {error.lineno}: {error.message}") from error
    return Template(path, system.removesuffix("\n"), user.removesuffix("\n"), variables)


def render(template: Template, **variables: Any) -> tuple[str, str]:
    """The system text and the prompt of `template` with these variables inserted.

    Raises ValueError, naming the file, where a variable is missing or unused, is None, or has not what is asked of it.
    """
    system, prompt = late(template, **variables)
    return system, prompt()


def late(template: Template, **variables: Any) -> tuple[str, Callable[[], str]]:
    """As `render`, with a function that gives the prompt: of many prompts only what goes into them is kept.

    What is wrong with the names of variables, and in the system text, is raised here; the rest when the prompt is made.
    """
    if missing := sorted(template.variables - variables.keys()):
        raise ValueError(f"{template.path}: missing variable {', '.join(missing)}; given: {_names_of(variables)}")
    if unused := sorted(variables.keys() - template.variables):
        valid = ", ".join(sorted(template.variables)) or "none"
        raise ValueError(f"{template.path}: unused variable {', '.join(unused)}; the template uses: {valid}")
    # Most prompts of a template share one system text.
    system = sys.intern(_insert(template.system, template.path, variables))
    return system, partial(_insert, template.user, template.path, variables)


def used(source: str, where: str) -> frozenset[str]:
    """The names of the variables that a text with variables uses; a syntax error is a ValueError naming `where`."""
    try:
        return _names(source)
    except jinja2.TemplateSyntaxError as error:
        raise ValueError(f"{where}, line {error.lineno} of the text: {error.message}") from error


def filled(source: str, where: str, **variables: Any) -> str:
    """A text with variables inserted; what it uses must be given and not None, else ValueError naming `where`."""
    if missing := sorted(used(source, where) - variables.keys()):
        raise ValueError(f"{where}: missing {', '.join(missing)}; given: {_names_of(variables)}")
    text = _insert(source, where, variables)
    if len(text) > LONGEST_TEXT:
        raise ValueError(f"{where}: {len(text)} characters; a text of a test has at most {LONGEST_TEXT}")
    return text


@lru_cache(maxsize=4096)
def _names(source: str) -> frozenset[str]:
    """The variables of a text, by the text alone: one wording serves many scenarios."""
    return frozenset(jinja2.meta.find_undeclared_variables(_ENVIRONMENT.parse(source)))


def _insert(source: str, where: object, variables: Mapping[str, Any]) -> str:
    try:
        return _compiled(source).render(variables) if "{" in source else source  # as most system texts are
    except (jinja2.TemplateError, TypeError, ValueError, ArithmeticError) as error:
        raise ValueError(f"{where}: {error}; given: {_names_of(variables)}") from error


def _names_of(variables: Mapping[str, Any]) -> str:
    return ", ".join(sorted(variables)) or "none"


def check_nonce(nonce: str, texts: Mapping[str, str]) -> None:
    """Refuse texts that contain the nonce, in either case, naming them: they could close their own delimiters.

    `texts` are the texts to be shown, by candidate (the question may stand among them). Raises ValueError, also for an
    empty nonce.
    """
    if not nonce.strip():
        raise ValueError("an empty nonce marks nothing")
    if holders := [name for name, text in texts.items() if nonce.casefold() in text.casefold()]:
        raise ValueError(f"the text of {', '.join(holders)} contains the nonce {nonce} of its own prompt")


def nonce(seed: int, question_id: str) -> str:
    """The code that marks a question's candidate texts and the form of a text verdict.

    The same across judges, conditions and repeats, so that prompts differ in nothing but the manipulation.

    >>> nonce(42, "writing_081") == nonce(42, "writing_081") != nonce(42, "writing_082")
    True
    """
    return short_hash(seed, question_id)


def without_nonce(seed: int, answer: Answer) -> Answer:
    """The answer, with the outcome "holds_nonce" if its text could close the delimiters that it is shown in.

    Candidates may read the nonce, so one that repeats it is counted and judged by nobody; it does not stop the run.
    """
    found = nonce(seed, answer.question_id) in (answer.text or "").casefold()
    return replace(answer, outcome="holds_nonce") if found and answer.outcome == "ok" else answer


def answer_trials(path: Path, experiment: Experiment, asked: Iterable[tuple[Question, Iterable[Model]]]) -> list[Trial]:
    """One request a question and model for an answer in free text, by the template at `path` (variable: question)."""
    template, found = load(path), []
    for question, models in asked:
        system, prompt = late(template, question=question.text)
        for model in models:
            request = Request(model, prompt, system)
            found.append(Trial(experiment.name, question.id, question.category, model, request, "answer", form="text"))
    return found


def schema_for(
    model: Model, form: str, labels: str | tuple[str, ...], nonce: str, reasons: bool = False
) -> dict[str, Any] | None:
    """The JSON schema of a model's reply to a prompt with this nonce; None where it replies in text."""
    return schema(form, labels, reasons, pinned_id(model, nonce)) if model.structured else None


def pinned_id(model: Model, nonce: str) -> str:
    """The nonce where a model's server lets through no other `id` than it, "" where the prompt alone says it.

    Small models miscopy it, the more often the longer their prompt is. A provider is not asked for it: it compiles a
    schema at its first use, so all questions share one.
    """
    return nonce if model.pin_id and all(own_server(url) for _, url in model.addresses) else ""


@lru_cache(maxsize=1024)
def schema(form: str, labels: str | tuple[str, ...], reasons: bool = False, pinned: str = "") -> dict[str, Any]:
    """The JSON schema of a structured reply, as all three providers accept it.

    Strict: every property required, no others. How many labels and which numbers are allowed is checked when the reply
    is read: not every provider takes minItems, minimum or maximum. The properties stand in the order of the published
    protocols (listwise: ranking, scores, justification; pairwise: the reasons before the verdict; a choice that is
    asked for its `reasons`: these after it). `pinned` is the only `id` that it takes ("": any). All requests share
    one object: nobody changes it.

    >>> list(schema("listwise", "ABC")["properties"])
    ['id', 'ranking', 'scores', 'justification']
    >>> schema("number", "")["properties"]
    {'id': {'type': 'string'}, 'number': {'type': 'number'}}
    """
    check_form(form, labels)
    label, reason = {"type": "string", "enum": list(labels)}, {"type": "string"}
    asked: dict[str, dict[str, Any]] = {
        "listwise": {
            "ranking": {"type": "array", "items": label},
            "scores": _object({name: {"type": "integer"} for name in labels}),
            "justification": reason,
        },
        "pairwise": {"justification": reason, "verdict": {"type": "string", "enum": list(PAIRWISE)}},
        "choice": {"choice": label, "justification": reason} if reasons else {"choice": label},
        "several": {"choices": {"type": "array", "items": label}},
        "number": {"number": {"type": "number"}},
    }
    return schema_with_id(asked[form], pinned)


def schema_with_id(properties: Mapping[str, Any], pinned: str = "") -> dict[str, Any]:
    """A strict schema of these properties after `id`, which is `pinned` or any text."""
    return _object({"id": {"type": "string"} | ({"enum": [pinned]} if pinned else {}), **properties})


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
