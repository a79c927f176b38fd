"""Numbers as LaTeX macros: a name in letters for each, what it prints, and SIMULATED wherever it is simulated."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from .escaping import latex, visible
from .types import Estimate, short_hash

LONGEST_MACRO = 400
#: What every file of macros begins with. A paper that was given its own mark keeps it.
MARK = r"\providecommand{\RecuseSimulated}[1]{#1\textsuperscript{\tiny\,SIMULATED}}"
#: What each number can be asked for, besides its value: the end of the name, and what it prints.
FORMS = {"Interval": "its interval", "Full": "both", "N": "judgments", "Clusters": "clusters"}
NO_INTERVAL = "(no interval)"
_DIGITS = dict(enumerate(("Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")))
_SIGNED = re.compile(r"(?<![\w.])[+-](?=[0-9.])")


def place(estimate: Estimate) -> tuple[str, str, str]:
    """What names an estimate: its id, its place and its data source."""
    where = {key: str(value) for key, value in sorted(estimate.where.items())}
    return estimate.id, json.dumps(where, ensure_ascii=False), estimate.data


def ordered(estimates: Iterable[Estimate]) -> list[Estimate]:
    """The estimates by id, place and data source; two for one place are a ValueError."""
    found = sorted(estimates, key=place)
    double = sorted(" ".join(each) for each, count in Counter(map(place, found)).items() if count > 1)
    if double:
        raise ValueError(f"more than one estimate for {'; '.join(double)}")
    return found


def camel(*words: str) -> str:
    """Words in the letters that a macro's name may have; digits are spelled, other signs end a word.

    >>> camel("mt_bench_blind", "top1_rate")
    'MtBenchBlindTopOneRate'
    """
    spelled = re.sub("[0-9]", lambda digit: _DIGITS[int(digit[0])], " ".join(words))
    return "".join(word[0].upper() + word[1:] for word in re.findall(r"[A-Za-z]+", spelled))


def macro_names(experiment: str, estimates: Sequence[Estimate]) -> list[str]:
    """A LaTeX macro name for each estimate: experiment, id, place and data in letters, each name only once.

    >>> macro_names("blind", [Estimate("top1_rate", {"judge": "gpt_5", "vendor": "gpt"}, 0.5, data="asked")])
    ['BlindTopOneRateGptFiveGptAsked']
    """
    plain = [
        camel(experiment, each.id, *(str(value) for _, value in sorted(each.where.items())), each.data)
        for each in estimates
    ]
    # Names that differ only in signs that LaTeX does not allow are distinguished by a hash of what they name.
    hashes = [short_hash(*place(each)).translate(str.maketrans("0123456789", "ghijklmnop")) for each in estimates]
    counts = Counter(plain)
    # So are those of endless names, of which the beginning is kept.
    names = [
        name[:LONGEST_MACRO] + digest if counts[name] > 1 or len(name) > LONGEST_MACRO else name
        for name, digest in zip(plain, hashes, strict=True)
    ]
    double = sorted(name for name, count in Counter(names).items() if count > 1)
    if double or not all(names):
        raise ValueError(f"numbers.tex: no different macro names for {', '.join(double) or 'a number without letters'}")
    return names


def marked(text: str, data: str) -> str:
    """LaTeX of a number, which says SIMULATED beside it where its data are simulated."""
    return rf"\RecuseSimulated{{{text}}}" if data == "simulated" else text


def signs(text: str) -> str:
    r"""LaTeX with signs of numbers as mathematics has them; a hyphen in a word stays one.

    >>> signs("-1.5 in gpt-5")
    '\\ensuremath{-}1.5 in gpt-5'
    """
    return _SIGNED.sub(lambda sign: rf"\ensuremath{{{sign[0]}}}", text)


def shown(each: Estimate) -> str:
    r"""The value with its unit as LaTeX, without its interval.

    >>> shown(Estimate("x", {}, 0.0719, -0.01, 0.15, unit="pp"))
    '\\ensuremath{+}7.2\\,pp'
    """
    # Without bounds an estimate prints its value alone.
    text = latex(replace(each, low=float("nan")))
    return text if math.isnan(each.value) else signs(text.replace(" ", r"\,"))


def interval(each: Estimate) -> str:
    r"""The interval as LaTeX, in the unit of the value; words where there is none.

    >>> interval(Estimate("x", {}, 0.0719, -0.01, 0.15, unit="pp"))
    '[\\ensuremath{-}1.0, \\ensuremath{+}15.0]'
    """
    found = re.search(r"\[.*\]$", str(each))
    return signs(latex(found[0]).removeprefix("{}")) if found else NO_INTERVAL


def macros(experiment: str, estimates: Iterable[Estimate]) -> str:
    """numbers.tex: one \\newcommand a number, its shown value with unit; interval, n and data in a comment.

    A simulated number prints SIMULATED beside it.
    """
    every = ordered(estimates)
    head = "% One macro a number; regenerated with the figures. Simulated numbers end in Simulated, and print it."
    lines = [head, MARK]
    for name, each in zip(macro_names(experiment, every), every, strict=True):
        note = " ".join(visible(f"{each}, n = {each.n}, {each.data}: {each.method}").split())
        lines.append(f"\\newcommand{{\\{name}}}{{{marked(shown(each), each.data)}}} % {note}")
    return "\n".join(lines) + "\n"
