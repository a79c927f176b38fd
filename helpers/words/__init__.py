"""Words for people: names, lists, p-values, and the records that hold what is said of a judge and of an experiment."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from ..types import Estimand, Estimate

#: Vendors whose names are not written as their ids are.
VENDOR_NAMES = {
    **{"claude": "Claude", "gpt": "GPT", "gemini": "Gemini", "llama": "Llama", "qwen": "Qwen"},
    **{"deepseek": "DeepSeek", "mistral": "Mistral"},
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


def listed(names: Iterable[object], word: str = "and") -> str:
    """Names in a row, as a sentence has them, the last after `word`; "" for none.

    >>> listed(["Claude", "GPT", "Gemini"]), listed(["Claude"]), listed([])
    ('Claude, GPT and Gemini', 'Claude', '')
    """
    found = [plain(name) for name in names]
    return f" {word} ".join([", ".join(found[:-1]), found[-1]] if len(found) > 1 else found)


def sentence(said: str, data: str) -> str:
    """Clauses as a sentence of its own, so that a simulated finding is never taken for a real one, even quoted.

    >>> sentence("no effect is shown", "asked"), sentence("no effect is shown", "simulated")
    ('No effect is shown.', 'SIMULATED: no effect is shown.')
    """
    return f"SIMULATED: {said}." if data == "simulated" else f"{said[:1].upper()}{said[1:]}."


def p_text(p: float, floor: bool = False) -> str:
    """A p-value with its sign, for "p {}"; `floor`: no draw reached the number, so that p is at most this.

    >>> p_text(0.0314), p_text(1 / 20_001), p_text(0.0), p_text(0.0001, floor=True)
    ('= 0.031', '< 0.0001', '< 0.0001', '\u2264 0.0001')
    """
    return "< 0.0001" if p < 0.0001 else f"{'≤' if floor else '='} {p:.2g}"


#: A corrected p below this is a finding.
LEVEL = 0.05
#: What a judge card can say of a judge in one measure: a bias after the correction for its family; an interval that
#: leaves out the null, but not after the correction; an interval that holds the null; no interval; a mere description.
CARD_VERDICTS = ("bias", "hint", "not shown", "untold", "described")


@dataclass(frozen=True)
class Conclusion:
    """A number with what may be said of it: all that a sentence, a card line, a headline or a title is made of.

    `verdict` is one of CARD_VERDICTS, `p` the p-value after the correction for `tests` tests and `test` its words, ""
    where there was none; `smallest` the smallest effect found with 80 % power at the level of the first step.
    """

    estimate: Estimate
    declared: Estimand
    verdict: str
    p: float = float("nan")
    tests: int = 0
    test: str = ""
    smallest: float = float("nan")


@dataclass(frozen=True)
class CardLine:
    """What an experiment says of one judge in one measure: a cell of the judge card.

    `measure` names the column in a few words, the same for published and asked judges. `verdict` is one of
    CARD_VERDICTS, `words` a clause whose subject is the judge ("prefers the answer shown first"), `p` the p-value after
    the correction, `smallest` the smallest effect that would have been found with 80 % power, in the estimate's unit.
    """

    judge: str
    measure: str
    estimate: Estimate
    verdict: str
    words: str
    p: float = float("nan")
    smallest: float = float("nan")


@dataclass(frozen=True)
class Headline:
    """What an experiment found in one source of data, in one plain sentence, and the number that carries it.

    `unreadable` is the share of verdicts that could not be read, NaN where nobody published it.
    """

    sentence: str
    estimate: Estimate
    unreadable: float = float("nan")
