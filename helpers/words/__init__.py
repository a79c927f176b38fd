"""Words for people: names, lists, p-values; sentences, card lines and headlines of any number from its declaration."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from ..types import SHOWN_UNITS, Estimand, Estimate

if TYPE_CHECKING:
    import pandas as pd

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


def many(count: int, noun: str) -> str:
    """How many of a thing.

    >>> many(1, "file"), many(1200, "file")
    ('1 file', '1,200 files')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def sentence(text: str, data: str) -> str:
    """Clauses as a sentence of its own, so that a simulated finding is never taken for a real one, even quoted.

    >>> sentence("no effect is shown", "asked"), sentence("no effect is shown", "simulated")
    ('No effect is shown.', 'SIMULATED: no effect is shown.')
    """
    return f"SIMULATED: {text}." if data == "simulated" else f"{text[:1].upper()}{text[1:]}."


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
CardVerdict = Literal["bias", "hint", "not shown", "untold", "described"]
CARD_VERDICTS = get_args(CardVerdict)


@dataclass(frozen=True)
class Conclusion:
    """A number with what may be said of it: all that a sentence, a card line, a headline or a title is made of.

    `verdict` is one of CARD_VERDICTS, `p` the p-value after the correction for `tests` tests and `test` its words, ""
    where there was none; `smallest` the smallest effect found with 80 % power at the level of the first step.
    """

    estimate: Estimate
    declared: Estimand
    verdict: CardVerdict
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
    verdict: CardVerdict
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


#: What a number of each standing is said to do, as a clause whose subject is the judge.
STANDINGS = {
    "bias": "{side}",
    "hint": "leans, not established: {side}",
    "not shown": "no sign that it {side}",
    "untold": "cannot tell whether it {side}",
    "described": "{side}",
}

#: Units that are not printed with their numbers.
UNITS = {"logit": " logits"}
#: What a headline says of tests that do not show a bias: of one, and of several.
COUNTED = {
    "hint": ("leans without being established", "lean without being established"),
    "not shown": ("shows no sign", "show no sign"),
    "untold": ("cannot tell", "cannot tell"),
}


def filled(template: str, several: Sequence[Conclusion], **more: str) -> str:
    """A declared clause with the places of these numbers in its braces: several values of a key as a list."""

    def value(found: re.Match[str]) -> str:
        key = found[1]
        if key in more:
            return more[key]
        values = dict.fromkeys(each.estimate.where.get(key, "") for each in several)
        labels, word = several[0].declared.labels, "or" if several[0].verdict in ("not shown", "untold") else "and"
        names = (labels.get(each, display_name(each) if "vendor" in key else each) for each in values if each)
        return listed((name.replace("_", " ") if key == "bias" else name for name in names), word)

    return " ".join(re.sub(r"\{(\w+)\}", value, template).split())


def side(each: Conclusion) -> str:
    """The declared clause of the side that a number is on; of one that is on no side for sure, the upper one."""
    about, below = each.declared, each.estimate.value < each.declared.null
    return about.below if below and about.below and each.verdict in ("bias", "hint") else about.above or about.describe


def clause(several: Sequence[Conclusion]) -> str:
    """What numbers of one standing say of one subject: clauses that differ in a place only are joined."""
    groups: dict[str, list[Conclusion]] = {}
    for each in several:
        groups.setdefault(side(each), []).append(each)
    value = "this share" if several[0].estimate.unit == "rate" else "this value"
    clauses = [filled(template, each, value=value) for template, each in groups.items()]
    both = len(clauses) == 2 and len({each.estimate.id for each in several}) == 1
    sides = f"in some cases {clauses[0]}, in others {clauses[1]}" if both else " and ".join(clauses)
    return STANDINGS[several[0].verdict].format(side=sides)


def effect(each: Conclusion) -> str:
    """A difference as its unit is printed, without sign.

    >>> from helpers.types import Estimate
    >>> effect(Conclusion(Estimate("x", {}, 0.1, unit="pp"), None, "bias", smallest=0.0712))
    '7.1 pp'
    """
    scale, form, suffix = SHOWN_UNITS.get(each.estimate.unit, (1, ".2f", ""))
    suffix = " pp" if each.estimate.unit == "rate" else suffix or UNITS.get(each.estimate.unit, "")
    return f"{each.smallest * scale:{form.lstrip('+')}}{suffix}"


def reason(each: Conclusion) -> str:
    """Why a number has no value: its method; why it has no interval or no test: what its method ends with."""
    method = each.estimate.method
    why = method if math.isnan(each.estimate.value) else method.rpartition("; ")[2]
    return why.removeprefix("no test: ").removeprefix("cannot tell: ")


def say(each: Conclusion) -> str:
    """One number as a clause: standing and side, value with interval, test, and what would have been found.

    A number that is declared with `describe` is described, whatever side a card says that it is on.
    """
    missing = math.isnan(each.estimate.value)
    unknown = "an unknown share" if each.estimate.unit == "rate" else "an unknown value"
    shown = unknown if missing else f"{each.estimate}{UNITS.get(each.estimate.unit, '')}"
    if each.declared.describe:
        explained = missing or "no interval" in reason(each)
        return filled(each.declared.describe, [each], value=shown) + f" ({reason(each)})" * explained
    text = clause([each])
    text = f"**{text}**" if each.verdict == "bias" else text
    if missing:
        return f"{text}: {reason(each)}"
    facts = [f"{text}: {shown}", each.test]
    if math.isnan(each.p):
        explained = "no test" in each.estimate.method or math.isnan(each.estimate.low)
        facts.append("no test" + f": {reason(each)}" * explained)
    facts_text = ", ".join(fact for fact in facts if fact)
    if each.verdict in ("not shown", "hint") and not each.p < LEVEL and not math.isnan(each.smallest):
        facts_text += f"; {effect(each)} would be found in 80 % of such runs"
    return facts_text


def lines(conclusions: Iterable[Conclusion], subject: str = "{judge}", inline: bool = False) -> str:
    """A list of one point a subject, with all its numbers (`inline`) or a point below it for each; "" for none."""
    groups: dict[str, list[Conclusion]] = {}
    for each in conclusions:
        marked = "SIMULATED: " * (each.estimate.data == "simulated")
        groups.setdefault(f"- {marked}{filled(subject, [each])}", []).append(each)
    return "\n".join(
        f"{who}: {'; '.join(map(say, each))}."
        if inline or len(each) == 1
        else "\n".join([f"{who}:", *(f"  - {say(one)}." for one in each)])
        for who, each in groups.items()
    )


def gravest(several: Sequence[Conclusion]) -> list[Conclusion]:
    """The numbers of the standing that a reader must not miss, the one farthest from its null first."""
    verdict = min((each.verdict for each in several), key=CARD_VERDICTS.index)
    return sorted((each for each in several if each.verdict == verdict), key=_size, reverse=True)


def _size(each: Conclusion) -> float:
    distance = each.estimate.value - each.declared.null
    return -1.0 if math.isnan(distance) else abs(distance) if each.declared.below else distance


def card_line(judge: str, measure: str, several: Sequence[Conclusion], here: str = "") -> CardLine:
    """What a judge card says of several numbers of one judge: all that have the gravest standing, and the largest.

    `here` is what tells the largest one from the others, with braces; left out where the clause names it.
    """
    first, *_ = found = gravest(several)
    order = [each for each in several if each in found]
    text = clause(order)
    if first.verdict == "untold":
        text += f" ({reason(first)})"
    largest = filled(here, [first])
    if largest and len(several) > 1 and not (len(order) == 1 and largest in text):
        text += f" (largest: {largest})"
    return CardLine(judge, measure, first.estimate, first.verdict, text, first.p, first.smallest)


def counted(tested: Sequence[Conclusion], more: str = "", subject: str = "the judge") -> str:
    """How many tests show what of the subject, as a clause; `more` adds to the first side that is shown."""
    if len(tested) == 1:
        return f"the only test: {clause(tested)}{more * (tested[0].verdict == 'bias')}"
    sides: dict[str, list[Conclusion]] = {}
    for each in sorted(tested, key=lambda each: each.estimate.value < each.declared.null):
        if each.verdict == "bias":
            sides.setdefault(side(each), []).append(each)
    shown = [f"{len(found)} that it {filled(words, found)}" for words, found in sides.items()]
    if sides:
        words, found = next(iter(sides.items()))
        verb = "show" if len(found) > 1 else "shows"
        shown[0] = f"{len(found)} of {len(tested)} tests {verb} that {subject} {filled(words, found)}{more}"
    else:
        shown = [f"none of {len(tested)} tests shows that {subject} {filled(tested[0].declared.above, tested)}"]
    return "; ".join([" and ".join(shown), *_not_shown(tested)])


def _not_shown(several: Sequence[Conclusion], but: str = "") -> list[str]:
    """How many numbers have each other standing than that of a bias, and than `but`."""
    verdicts = [each.verdict for each in several]
    counts = {verdict: verdicts.count(verdict) for verdict in COUNTED if verdict in verdicts and verdict != but}
    return [f"{n} {COUNTED[verdict][n > 1]}" for verdict, n in counts.items()]


def headline(
    conclusions: Sequence[Conclusion],
    here: str = "{judge}",
    more: str = "",
    unreadable: float = math.nan,
    subject: str = "the judge",
) -> Headline | None:
    """How many tests of a family show what, of numbers of one source of data; the largest that stands carries it.

    `here` says which that is, with braces; `more` and `subject` as in `counted`. None for no numbers.
    """
    if not conclusions:
        return None
    first = gravest(conclusions)[0]
    tested = [each for each in conclusions if not math.isnan(each.p)]
    if tested:
        text = f"{counted(tested, more, subject)}; largest: {filled(here, [first])}"
    else:
        gravely = clause([each for each in conclusions if each.verdict == first.verdict])
        text = "; ".join([f"no test was possible; {gravely}", *_not_shown(conclusions, but=first.verdict)])
    return Headline(sentence(text, first.estimate.data), first.estimate, unreadable)


def sources_apart(one: Any, two: Any, called: Mapping[str, str]) -> Iterator[str]:
    """What is not the same in the provenance of A and B: the judge, the model that answered as it, settings."""
    for y, x in called.items():
        yield f"Other model answered: {plain(x)} is the judge in A, {plain(y)} in B."
    for judge in sorted(one.judges.keys() & two.judges.keys()):
        x, y = (listed(sorted(side.judges[judge])) for side in (one, two))
        if x and y and x != y:
            yield f"Other model answered: as {plain(judge)} {x} in A, {y} in B; differences can be those of the models."
    facts = {"seed": "seed", "questions": "questions asked"}
    mine, theirs = (side.parameters | {facts[n]: getattr(side, n, None) for n in facts} for side in (one, two))
    names = [name for name in mine | theirs if mine.get(name) != theirs.get(name)]
    if names:
        words = (f"{name} ({plain(mine.get(name))} in A, {plain(theirs.get(name))} in B)" for name in names)
        yield f"Different settings: {'; '.join(words)}."


def moved_words(frame: pd.DataFrame, paired: str) -> str:
    """How many confirmatory numbers moved, which alone can be shown to; how many others lean; and what is noise."""
    compared = frame[frame["how"].notna()]
    tested, rest = (compared[compared["confirmatory"] == is_so] for is_so in (True, False))
    shown = [f"{row.id} ({row.where})" for row in tested.itertuples() if row.verdict == "moved"]
    noise = 100 * compared.loc[compared["unit"] == "pp", "noise"].dropna()
    again = frame.loc[frame["id"].isin(["repeat_disagreement", "change_rate_repeat"]), "a"].dropna()
    stays = f"A gives another verdict in {100 * again.mean():.1f} % when asked again" if len(again) else "not known"
    if len(noise):
        stays = f"two runs of A's judges stay within {noise.min():.1f} to {noise.max():.1f} pp in 95 % (by number)"
    return (
        f"confirmatory numbers that moved from A to B: {len(shown)} of {len(tested)}{': ' * bool(shown)}{listed(shown)}"
        f" (Holm over all of them); others that lean: {(rest['verdict'] == 'leans').sum()} of {len(rest)}, as one in "
        f"twenty does by chance; {(compared['how'] == paired).sum()} of {len(compared)} differences are {paired}; "
        f"noise: {stays}"
    )


def differences(frame: pd.DataFrame, most: int = 20) -> str:
    """What `compare` found: sentences on the whole, confirmatory numbers and what leans, then what is in one alone."""
    compared, alone = frame[frame["how"].notna()], frame[frame["how"].isna()]
    shown = compared[compared["confirmatory"] | (compared["verdict"] == "leans")][:most]
    found = [f"- {row.id}{f' ({row.where})' * bool(row.where)}: {row.words}." for row in shown.itertuples()]
    found += [f"- and {len(compared) - len(shown)} others; --to FILE.csv has all."] * (len(compared) > len(shown))
    found += [f"{verdict}: {listed(ids.unique())}." for verdict, ids in alone.groupby("verdict")["id"]]
    return "\n".join([*frame.attrs["notes"], "", *found]).replace("**", "")
