"""What usually stands around a reply, a verdict line or a label and says nothing: taken off, and named by its kind.

The nonce is the safety: what carries it and says one thing only is the judge's verdict, however it is wrapped. Nothing
is taken off that may carry meaning (`>` quotes, `~~` takes back), nothing inside the nonce, nothing between words.
Every function is linear in the length of its text: it looks at both ends only, so many times at most.
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from functools import lru_cache

#: Bold, code marks and blanks around a verdict carry no meaning; `~~` and `>` may, so they stay.
DECORATION = string.whitespace + "\u00a0\u202f*`"
#: Marks that nobody sees: byte order marks, zero widths, soft hyphens, directions of writing.
INVISIBLE = "\ufeff\u200b\u200c\u200d\u2060\u2061\u2062\u2063\u00ad\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e"
INVISIBLE += "\u2066\u2067\u2068\u2069"
#: What servers leave at the end of a reply whose template they do not know.
END_TOKENS = (
    *("</s>", "<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|end|>", "<|endoftext|>", "<|end_of_text|>", "<|return|>"),
    *("<end_of_turn>", "<eos>", "<|endofturn|>", "<|end_of_turn|>", "<|END_OF_TURN_TOKEN|>", "<|eot|>", "[EOS]"),
    *("<\uff5cend\u2581of\u2581sentence\uff5c>", "<|end\u2581of\u2581sentence|>", "<|user|>", "<|im_end>", "<EOT>"),
)
#: Hyphens, dashes and the minus sign, of which models choose one.
DASHES = "-\u2010\u2011\u2012\u2013\u2014\u2015\u2212"
COLONS = ":\uff1a"
#: Pairs around a line or a label, by kind; the same sign on both sides is a quotation mark or a stroke.
PAIRS = {
    **{"()": "brackets", "[]": "brackets", "\u3010\u3011": "brackets", "\u300c\u300d": "quotes"},
    **{'""': "quotes", "''": "quotes", "\u201c\u201d": "quotes", "\u2018\u2019": "quotes", "\u201e\u201c": "quotes"},
    **{"\u00ab\u00bb": "quotes", "__": "underscores"},
}
_FENCES = ("```", "~~~")
_INFO = re.compile(r"[`~]{3,10}[\w.+-]{0,20}\s")
_OPENING = re.compile(r"<(think|thinking|thought|reasoning)>|\[(THINK)\]", re.IGNORECASE)
_CLOSING = "</think>"
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
        opening = _OPENING.match(start)
        if opening is None:
            return start
        tag = f"</{opening[1]}>" if opening[1] else f"[/{opening[2]}]"
        closing = re.compile(re.escape(tag), re.IGNORECASE).search(start, opening.end())
        if closing is None:
            return None
        kinds.add("think")
        start = start[closing.end() :].lstrip()
    return start


def _bare_end(text: str, kinds: set[str]) -> str:
    for _ in range(MOST):
        text = text.rstrip()
        if text.endswith(tuple(INVISIBLE)):
            text = text.rstrip(INVISIBLE)
            kinds.add("invisible")
        elif token := next((each for each in END_TOKENS if text.endswith(each)), None):
            text = text.removesuffix(token)
            kinds.add("end token")
        else:
            break
    return text.rstrip()


def without_unopened_thoughts(text: str, nonce: str, kinds: set[str]) -> str:
    """A structured reply without thoughts that end and whose beginning the server's template kept to itself.

    Thoughts in which the nonce stands may hold an earlier verdict, and stay.
    """
    if text.startswith(("{", *_FENCES)) or text.count(_CLOSING) != 1:
        return text
    before, _, after = text.partition(_CLOSING)
    if nonce.casefold() in before.casefold():
        return text
    kinds.add("think")
    return after.strip()


def without_fence(text: str, kinds: set[str]) -> str:
    """A text without the code fence around the whole of it."""
    fence = next((each for each in _FENCES if text.startswith(each) and text.endswith(each)), None)
    info = _INFO.match(text)
    if fence is None or info is None or info.end() > len(text) - len(fence):
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
    colon, value = rest
    odd = {
        "case": (found[1], found[3]) != (word, nonce),
        "dash": found[2] != "-",
        "invisible": len(found[0]) > len(word + nonce) + 1,
        "colon": colon != ":",
    }
    kinds |= {kind for kind, there in odd.items() if there}
    value = bare(value, kinds)
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
