"""A request: everything that a model sees. Its prompt can be held, or made anew whenever somebody reads it."""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, NamedTuple

from helpers.json_bytes import dumps
from helpers.types.models import Model
from helpers.types.tests import Pull

#: Version of the simulated models' behaviour; another one makes their replies new.
SIMULATOR = 1
#: Characters: providers cache no beginning of less than about a thousand tokens.
WORTH_CACHING = 4000
#: What shapes a reply is JSON, which has no NaN: a ValueError, before anything is sent.
_SORTED = json.JSONEncoder(sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
#: The order of a schema shapes the reply and must not be sorted away.
_ORDERED = json.JSONEncoder(allow_nan=False)
#: Models and schemas with their JSON text, and by what to see whether they have changed since.
_SPELLED: dict[int, tuple[object, bytes, str]] = {}
MOST_SPELLED = 256
#: How a prompt about a passage shows its question, with options.
PASSAGE_QUESTION = re.compile(r"Passage:\n.*?<<<QUESTION ([0-9a-f]{8})>>>\n(.*?)\n<<<END QUESTION \1>>>", re.DOTALL)
#: How a prompt shows a bias test.
SITUATION = re.compile(r"<<<SITUATION ([0-9a-f]{8})>>>\n(.*?)\n<<<END SITUATION \1>>>", re.DOTALL)


class Measured(NamedTuple):
    """What stays known of a request whose prompt is not held: its key, and sizes in bytes.

    `size` counts system text, prompt and schema. `start` is the size of the beginning that is worth a provider's cache
    (0: none), and `starts` the same for all requests that begin so. `crc` tells whether a prompt that is made anew is
    the same: the key would too, and costs ten times as much.
    """

    key: str
    size: int
    start: int
    starts: bytes
    crc: int


class _Prompt:
    """The field that holds a text or who makes it: then it is made whenever it is read, and not held."""

    def __get__(self, request: Any, kind: Any = None) -> str:
        if request is None:
            raise AttributeError("prompt")  # so that the field has no default
        held = vars(request)["prompt"]
        return held if isinstance(held, str) else held()

    def __set__(self, request: Any, held: str | Callable[[], str]) -> None:
        vars(request)["prompt"] = held


@dataclass(frozen=True)
class Request:
    """Everything that a model sees and that shapes its reply; `key` names the reply in the store.

    `prompt` is a text or a function that makes it, always the same: many requests then need little memory. `unwritten`
    counts the tokens of answers that the prompt will hold but that are not written yet: such a request can be planned
    but not sent. `shared` is the text up to whose end other prompts are the same: a provider's cache may
    serve it. Neither is seen by the model, and neither is in the key.
    """

    model: Model
    prompt: str = _Prompt()  # type: ignore[assignment]
    system: str = ""
    schema: Mapping[str, Any] | None = None
    repeat: int = 0
    unwritten: int = 0
    shared: str = ""

    @property
    def cacheable(self) -> int:
        """How many characters at the beginning are worth a provider's cache: those shared, or 0 where they are few."""
        return self._cacheable(self.prompt) if self.shared else 0

    def _cacheable(self, prompt: str) -> int:
        end = prompt.index(self.shared) + len(self.shared) if self.shared else 0
        return end if end >= WORTH_CACHING else 0

    @property
    def params(self) -> dict[str, Any]:
        """All parameters sent: the model's own, its token limit and, of a simulated model, its traits."""
        sent = {self.model.token_parameter: self.model.max_tokens, **self.model.params}
        return {**sent, **self.model.traits} if self.model.simulated else sent

    @property
    def pull(self) -> Pull | None:
        """What a simulated model knows of the bias test in the prompt; None where it knows nothing of it."""
        return _pull(self.model, self.prompt)

    @property
    def revision(self) -> dict[str, Any] | None:
        """What tells one set of weights behind a model id from another; None where the provider's word is all there is.

        A simulated model's weights are the simulator, the vendor whose manners it has, and what it knows of a question.
        """
        return _revision(self.model, self.prompt) if self.model.simulated or self.model.base_url else None

    @property
    def key(self) -> str:
        """sha256 of what the model sees; the experiment, the condition and the clock are not in it.

        >>> model = Model("sim", "simulated", "sim-1", "claude")
        >>> Request(model, "Hi").key == Request(model, "Hi").key, Request(model, "Hi").key == Request(model, "Hi.").key
        (True, False)
        """
        return self.measured.key

    @cached_property
    def measured(self) -> Measured:
        """The key and the sizes, from one reading of the prompt."""
        return self._measured(self.prompt)

    def _measured(self, prompt: str) -> Measured:
        # The JSON text of all that is seen with sorted keys; most of it is the same for many requests.
        schema, revision = _spelled(self.schema, self.schema, _ORDERED), _revision(self.model, prompt)
        told = b"" if revision is None else b',"revision":' + _SORTED.encode(revision).encode()
        settings = {"model": self.model.model_id, "params": self.params}
        head = _spelled(self.model, settings, _SORTED)[:-1].encode()
        written, system = prompt.encode(), self.system.encode()
        # Texts are most of it, and are written here as `_SORTED` would write them, in a twentieth of the time.
        texts = (prompt, self.model.provider, self.repeat, schema, self.system)
        asked, provider, repeat, form, role = map(dumps, texts)
        seen = b'%b,"prompt":%b,"provider":%b,"repeat":%b%b,"schema":%b,"system":%b}'
        seen %= (head, asked, provider, repeat, told, form, role)
        size = len(system) + len(written) + (len(schema) if self.schema else 0)
        start = prompt[: self._cacheable(prompt)].encode()
        starts = hashlib.sha256(start).digest() if start else b""
        return Measured(hashlib.sha256(seen).hexdigest(), size, len(start), starts, zlib.crc32(written))

    @property
    def unmade(self) -> bool:
        """Whether its prompt is not held, and nobody has looked at it yet."""
        return "measured" not in vars(self) and not isinstance(vars(self)["prompt"], str)

    def whole(self) -> Request:
        """The same, measured and with its prompt held, for as long as somebody works with it.

        ValueError where the prompt is another one than that of the key: its reply would be stored as another's.
        """
        if isinstance(vars(self)["prompt"], str):
            return self
        prompt = self.prompt
        if "measured" not in vars(self):
            vars(self)["measured"] = self._measured(prompt)
        elif zlib.crc32(prompt.encode()) != self.measured.crc:
            raise ValueError(
                f"a prompt to {self.model.name} is not the same each time it is made (now {prompt[:80]!r}); "
                "what makes it must not depend on chance or time"
            )
        held = object.__new__(Request)  # with what is measured, which a new one would not have
        vars(held).update(vars(self), prompt=prompt)
        return held

    def but(self, **changes: Any) -> Request:
        """The same with some fields changed; a prompt that is not held stays so.

        >>> asked = Request(Model("sim", "simulated", "sim-1", "claude"), lambda: "Hi")
        >>> asked.but(repeat=1) == Request(asked.model, "Hi", repeat=1), callable(vars(asked.but(repeat=1))["prompt"])
        (True, True)
        """
        return Request(**{each.name: vars(self)[each.name] for each in fields(self)} | changes)


def _spelled(whose: object, told: Any, encoder: json.JSONEncoder) -> str:
    """The JSON text of what many requests share: of a schema, or of a model's settings.

    It is written once, and again where it has changed: these are plain mappings, which somebody may change in place.
    """
    seen = dumps(told)
    if b"null" in seen:  # which may be a NaN there
        return encoder.encode(told)
    known = _SPELLED.get(id(whose))
    if known is None or known[0] is not whose or known[1] != seen:
        if len(_SPELLED) >= MOST_SPELLED:
            _SPELLED.clear()
        known = _SPELLED[id(whose)] = (whose, seen, encoder.encode(told))
    return known[2]


def _pull(model: Model, prompt: str) -> Pull | None:
    shown = SITUATION.match(prompt) if model.pulls else None
    return model.pulls.get(shown[2]) if shown else None


def _revision(model: Model, prompt: str) -> dict[str, Any] | None:
    if not model.simulated:
        return dict(model.revision or {}) if model.base_url else None
    asked = PASSAGE_QUESTION.match(prompt)
    known = model.knowledge.get(asked[2] if asked else prompt.strip())
    points = list(known.points) if known else []
    pull = _pull(model, prompt)
    told = {"simulator": SIMULATOR, "vendor": model.vendor, "points": points}
    return told | ({"pull": pull.words} if pull else {})
