"""What usually stands around a reply, a verdict line or a label and says nothing: taken off, and named by its kind.

The nonce is the safety: what carries it and says one thing only is the judge's verdict, however it is wrapped. Nothing
is taken off that may carry meaning (`>` quotes, `~~` takes back), nothing inside the nonce, nothing between words.
Every function is linear in the length of its text: it looks at both ends only, so many times at most.
"""

from __future__ import annotations

import pkgutil
import re
import string
import tomllib
from collections.abc import Sequence
from functools import lru_cache

_MARKS = tomllib.loads((pkgutil.get_data(__package__, "wrappers.toml") or b"").decode())
#: Marks that nobody sees: byte order marks, zero widths, soft hyphens, directions of writing.
INVISIBLE = "".join(_MARKS["invisible"].values())
END_TOKENS, DASHES, COLONS = tuple(_MARKS["end_tokens"]), _MARKS["dashes"], _MARKS["colons"]
#: Two signs around a line or a label, and what kind of wrapper they are.
PAIRS = {pair: kind for kind, pairs in _MARKS["pairs"].items() for pair in pairs}
#: Bold, code marks and blanks around a verdict carry no meaning; `~~` and `>` may, so they stay.
DECORATION = string.whitespace + "\u00a0\u202f*`"
_FENCES = ("```", "~~~")
_INFO = re.compile(r"[`~]{3,10}[\w.+-]{0,20}\s")
_OPENING = re.compile(r"<(?P<tag>think|thinking|thought|reasoning)>|\[THINK\]", re.IGNORECASE)
_THOUGHTS = re.compile(rf"(?:{_OPENING.pattern}).*?(?(tag)</(?P=tag)>|\[/THINK\])\s*", re.IGNORECASE | re.DOTALL)
_LIST = re.compile(r"(?:(?P<heading>#{1,6})|[-+\u2022]|[0-9]{1,3}[.)])[ \t]+")
_OPTION = re.compile(r"(?:option|answer|choice)[ \t]+", re.IGNORECASE)
#: So many wrappers around one another are usual; what has more stays as it is.
MOST = 8


def bare_reply(text: str, kinds: set[str]) -> str | None:
    """A reply without end tokens, invisible marks and thoughts before it; None where its thoughts do not end.

    `kinds` gets the kinds of what was taken off.
    """
    text = _bare_end(text, kinds)
    start = text.lstrip().lstrip(INVISIBLE)
    if start != text.lstrip():
        kinds.add("invisible")
    for _ in range(MOST):
        if not _OPENING.match(start):
            break
        thoughts = _THOUGHTS.match(start)
        if thoughts is None:
            return None
        kinds.add("think")
        start = start[thoughts.end() :]
    return start


def _bare_end(text: str, kinds: set[str]) -> str:
    for _ in range(MOST):
        text = text.rstrip()
        if text.endswith(tuple(INVISIBLE)):
            text = text.rstrip(INVISIBLE)
            kinds.add("invisible")
        elif text.endswith(END_TOKENS):
            text = text.removesuffix(next(each for each in END_TOKENS if text.endswith(each)))
            kinds.add("end token")
        else:
            break
    return text.rstrip()


def without_unopened_thoughts(text: str, nonce: str, kinds: set[str]) -> str:
    """A structured reply without thoughts that end and whose beginning the server's template kept to itself.

    Thoughts in which the nonce stands may hold an earlier verdict, and stay.
    """
    before, closing, after = text.partition("</think>")
    if not closing or closing in after or text.startswith(("{", *_FENCES)) or nonce.casefold() in before.casefold():
        return text
    kinds.add("think")
    return after.strip()


def without_fence(text: str, kinds: set[str]) -> str:
    """A text without the code fence around the whole of it."""
    fence, info = text[:3], _INFO.match(text)
    if fence not in _FENCES or not text.endswith(fence) or info is None or info.end() > len(text) - len(fence):
        return text
    kinds.add("fence")
    return _bare_end(text[info.end() :].rstrip(fence[0]).strip(), kinds)


def without_closing_fence(text: str, kinds: set[str]) -> str:
    """A text of several lines without the code fence that closes it, on a line of its own."""
    for fence in _FENCES:
        if text.endswith("\n" + fence):
            kinds.add("fence")
            return _bare_end(text.removesuffix("\n" + fence), kinds)
    return text


def bare(text: str, kinds: set[str], stop: bool = True) -> str:
    """A line or a value without decoration, paired brackets, quotes and strokes around it, and one full stop."""
    for _ in range(MOST):
        text = text.strip(DECORATION)
        if text.strip(INVISIBLE) != text:
            text = text.strip(INVISIBLE)
            kinds.add("invisible")
        elif stop and text.endswith("."):
            text, stop = text.removesuffix("."), False
        elif text.endswith(".") and text[0] + text[-2:-1] in PAIRS:  # behind what closes the line
            text = text.removesuffix(".")
        elif len(text) > 1 and (kind := PAIRS.get(text[0] + text[-1])) and _paired(text):
            text = text[1:-1]
            kinds.add(kind)
        else:
            break
    return text


def _paired(text: str) -> bool:
    """Whether the sign that begins a text closes at its end, and not before."""
    opening, closing = text[0], text[-1]
    if opening == "_":
        return "_" not in text.strip("_")
    if opening == closing:
        return opening not in text[1:-1]
    depth = 0
    for at, sign in enumerate(text):
        depth += (sign == opening) - (sign == closing)
        if depth == 0:
            return at == len(text) - 1
    return False


@lru_cache
def _mark(word: str, nonce: str) -> re.Pattern[str]:
    unseen = f"[{INVISIBLE}]{{0,3}}"
    return re.compile(f"({word}){unseen}([{DASHES}]){unseen}({nonce})", re.IGNORECASE | re.ASCII)


def stated(line: str, word: str, nonce: str, longest: int, kinds: set[str]) -> str | None:
    """What a line states after `word`, a dash, the nonce and a colon; None where it is no such line, or states more.

    Taken off are heading and list marks before it, and what `bare` takes off.
    """
    mark = _mark(word, nonce)
    if not mark.search(line):  # as most lines
        return None
    line = line.strip(DECORATION + INVISIBLE)
    if len(line) > longest + 100:  # with all that stands around a verdict, a line is hardly longer than it may be
        return None
    if listed := _LIST.match(line):
        kinds.add("heading" if listed["heading"] else "list")
        line = line[listed.end() :]
    head, *rest = re.split(f"([{COLONS}])", bare(line, kinds, stop=False), maxsplit=1)
    found = mark.fullmatch(bare(head, kinds, stop=False)) if rest else None
    if found is None:
        return None
    kinds |= {"case"} if (found[1], found[3]) != (word, nonce) else set()
    kinds |= {"dash"} if found[2] != "-" else set()
    kinds |= {"invisible"} if len(found[0]) > len(word + nonce) + 1 else set()
    kinds |= {"colon"} if rest[0] != ":" else set()
    value = bare(rest[1], kinds)
    return value if len(value) <= longest else None


def bare_label(text: str, labels: Sequence[str], kinds: set[str]) -> str:
    """One of `labels` as it is; else without brackets, quotes and "Option" before it, an escaped `>` as the sign."""
    text = text.strip(DECORATION)
    if text in labels:
        return text
    if "&gt;" in text:
        text = text.replace("&gt;", ">")
        kinds.add("escaped")
    text = bare(text, kinds, stop=False)
    if option := _OPTION.match(text):
        kinds.add("option")
        text = bare(text[option.end() :], kinds, stop=False)
    return text
