"""How names are written for people: vendors as they write themselves, and nothing that could break a figure or page."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

#: Vendors whose names are not written as their ids are.
VENDOR_NAMES = {
    "claude": "Claude",
    "gpt": "GPT",
    "gemini": "Gemini",
    "llama": "Llama",
    "qwen": "Qwen",
    "deepseek": "DeepSeek",
    "mistral": "Mistral",
}
#: Categories of characters that draw nothing themselves but change what is drawn, or cannot be written to a file.
_UNSEEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def plain(name: object) -> str:
    """A name from a file in one line, each control sign (of writing direction, too) shown as a replacement sign.

    >>> plain("a\\nb"), plain("gpt\\u202efast")
    ('a b', 'gpt\\ufffdfast')
    """
    words = " ".join(str(name).split())
    return "".join("\N{REPLACEMENT CHARACTER}" if unicodedata.category(sign) in _UNSEEN else sign for sign in words)


def display_name(vendor: object) -> str:
    """A vendor's name as people read it, in sentences, figures and tables; data keep the id. An unknown one as it is.

    >>> display_name("gpt"), display_name("acme")
    ('GPT', 'acme')
    """
    return VENDOR_NAMES.get(str(vendor), plain(vendor))


def listed(names: Iterable[object]) -> str:
    """Names in a row, as a sentence has them; "" for none.

    >>> listed(["Claude", "GPT", "Gemini"]), listed(["Claude"])
    ('Claude, GPT and Gemini', 'Claude')
    """
    found = [plain(name) for name in names]
    return " and ".join([", ".join(found[:-1]), found[-1]] if len(found) > 1 else found)


def sentence(said: str, data: str) -> str:
    """Clauses as a sentence of its own, so that a simulated finding is never taken for a real one, even quoted.

    >>> sentence("no effect is shown", "asked"), sentence("no effect is shown", "simulated")
    ('No effect is shown.', 'SIMULATED: no effect is shown.')
    """
    return f"SIMULATED: {said}." if data == "simulated" else f"{said[:1].upper()}{said[1:]}."
