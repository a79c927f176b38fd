"""What is found: numbers that travel with their interval, and what they mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Estimand:
    """What a number means: declared once, in the bias module that computes it.

    `fails` says where it misleads: what it takes for the bias, what it needs, when it has no value. It has no default:
    a number whose limits nobody wrote down is not declared.
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
    fails: str = field(kw_only=True)


@dataclass(frozen=True)
class Estimate:
    """A number that travels with its interval; NaN bounds mean that no interval is honest here (see `method`).

    `unit` is "rate" (0 to 1), "pp" (a difference of rates, stored as a fraction and shown times 100), "logit", "log",
    "alpha", "score" or "count". `n` counts judgments (for agreement: pairs of judgments, or ranks compared), `clusters`
    questions, `effective` how many equal questions would say as much (NaN: not defined), `data` is one of simulated,
    published, hub, asked, folder.
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

        >>> str(Estimate("x", {}, 0.124, 0.079, 0.168, n=80, clusters=80))
        '12.4 % [7.9, 16.8]'
        >>> str(Estimate("x", {}, 0.0719, -0.01, 0.15, unit="pp"))
        '+7.2 pp [-1.0, +15.0]'
        >>> str(Estimate("x", {}, 0.5)), str(Estimate("x", {}, 14.0, unit="count"))
        ('50.0 %', '14')
        """
        scale, sign, digits, suffix = {
            "rate": (100, "", 1, " %"),
            "pp": (100, "+", 1, " pp"),
            "sd_pp": (100, "", 2, " pp"),
            "logit": (1, "+", 2, ""),
            "log": (1, "+", 2, ""),
            # A mean of counts need not be whole.
            "count": (1, "", 0 if float(self.value).is_integer() else 2, ""),
        }.get(self.unit, (1, "", 2, ""))
        if self.value != self.value:
            return "not estimable"
        text = f"{self.value * scale:{sign}.{digits}f}{suffix}"
        if self.low != self.low:
            return text
        return f"{text} [{self.low * scale:{sign}.{digits}f}, {self.high * scale:{sign}.{digits}f}]"


def p_text(p: float, floor: bool = False) -> str:
    """A p-value with its sign, for "p {}"; `floor`: no draw reached the number, so that p is at most this.

    >>> p_text(0.0314), p_text(1 / 20_001), p_text(0.0), p_text(0.0001, floor=True)
    ('= 0.031', '< 0.0001', '< 0.0001', '\u2264 0.0001')
    """
    return "< 0.0001" if p < 0.0001 else f"{'≤' if floor else '='} {p:.2g}"


#: What a judge card can say of a judge in one measure: a bias after the correction for its family; an interval that
#: leaves out the null, but not after the correction; an interval that holds the null; no interval; a mere description.
CARD_VERDICTS = ("bias", "hint", "not shown", "untold", "described")


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
