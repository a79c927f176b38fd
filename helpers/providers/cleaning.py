"""Records of calls without keys, as fast as they come: most are seen to hold none by one look at the body."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from helpers.json_text import dumps
from helpers.providers import keys

#: Shorter texts are looked at in less time than it takes to find them in the body.
LONG = 200


def cleaner() -> Callable[[Any], Any]:
    """A function from frozen records to the same without keys, as they are now: the environment is read once.

    In `raw`, a body in JSON, it strikes out those that are spelled in \\u escapes too.
    """
    forms = keys.forms_now()

    def without_keys(record: Any) -> Any:
        fields = vars(record)
        raw = fields.get("raw") or ""
        if "\\u" not in raw:
            looked = [raw]
            for text in fields.values():
                if isinstance(text, str) and text is not raw and (len(text) <= LONG or not _held(text, raw)):
                    looked.append(text)
            if keys.silent("\n".join(looked), forms):
                return record
        texts = {name: text for name, text in fields.items() if isinstance(text, str)}
        if not keys.struck("\n".join(texts.values()), forms)[1] and "\\u" not in raw:
            return record  # most hold none, and one look at all of them is cheaper than one at each
        clean = {name: keys.struck(text, forms)[0] for name, text in texts.items()}
        if "raw" in clean:
            clean["raw"] = _unescaped(clean["raw"], forms)
        return record if clean == texts else replace(record, **clean)

    return without_keys


def _held(text: str, raw: str) -> bool:
    """Whether a body in JSON holds a text: what would be found in the text is then found in the body.

    As it stands, or as JSON spells it, which is a form of its own. Of a text with escapes that is not so: in the body
    these are escaped once more.
    """
    return "\\" not in text and dumps(text)[1:-1].decode() in raw


def _unescaped(raw: str, forms: keys.Forms) -> str:
    """A body in which a key that was spelled in \\u escapes is struck out; the very same where there is none."""
    if "\\u" not in raw:
        return raw
    try:
        spelled = json.dumps(json.loads(raw), ensure_ascii=False)
    except (ValueError, RecursionError):
        return raw
    clean, names = keys.struck(spelled, forms)
    return clean if names else raw
