"""What the figures of bias tests share: the order and titles of biases, stars, the pairs behind a number, captions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from helpers.figures import panels
from helpers.stats.standing import BY
from helpers.types import Estimate
from helpers.words import plain

if TYPE_CHECKING:
    import pandas as pd

#: The built-in biases in the order of figures; others follow in the order given.
BIASES = ("anchoring", "halo", "loss_aversion", "confirmation", "judge_anchoring", "bandwagon", "authority")
LEVEL = 0.05
#: Data of models that were asked for this run; the replies of all others come from published files.
ASKED = ("asked", "simulated")
CORRECTION = (
    "Holm over all biases and judges; a star also asks that answers move the same way along the scale, and where their "
    "scatter may differ also by the sign test over scenarios"
)
Titles = Mapping[str, str] | None
#: Corrected p by bias and judge (None: the mean over judges), where sources of data differ also by data.
Stars = Mapping[tuple[str | None, ...], float] | None


def ordered(biases: Iterable[str]) -> list[str]:
    """The biases without repetition, in the order of BIASES, unknown ones last.

    >>> ordered(["framing", "halo", "anchoring", "halo"])
    ['anchoring', 'halo', 'framing']
    """
    given = list(dict.fromkeys(biases))
    return [*(bias for bias in BIASES if bias in given), *(bias for bias in given if bias not in BIASES)]


def title(bias: str, titles: Titles = None) -> str:
    """A bias in words: as given, else its id without underscores.

    >>> title("loss_aversion"), title("halo", {"halo": "Halo effect"})
    ('loss aversion', 'Halo effect')
    """
    return plain((titles or {}).get(bias, bias.replace("_", " ")))


def starred(each: Estimate | None, stars: Stars) -> bool:
    """Is this number significant after correction? Its raw p never counts."""
    if each is None or not stars:
        return False
    key = (each.where["bias"], each.where.get("judge"))
    p = stars.get((*key, each.data), stars.get(key))
    return p is not None and not math.isnan(p) and p < LEVEL


def check_stars(shown: Sequence[Estimate], stars: Stars) -> None:
    """Stars that belong to two numbers of different data, or to none, are a ValueError that names them."""
    there = [(each.where["bias"], each.where.get("judge")) for each in shown]
    for key in stars or {}:
        if len(key) not in (2, 3) or (count := there.count(key[:2])) == 0:
            raise ValueError(f"a star for {key}, which is not shown; keys are (bias, judge or None) or these with data")
        if len(key) == 2 and count > 1:
            raise ValueError(f"a star for {key}, which several sources of data show; add the data to the key")


def star_words(shown: Sequence[Estimate], stars: Stars, correction: str) -> str:
    """What stars mean, and that there is none where none is left; nothing where no p was given."""
    if not stars:
        return ""
    some = any(starred(each, stars) for each in shown)
    return f" {'Stars: p' if some else 'No star: no p'} < {LEVEL:.2f} after correction ({correction})."


def behind(pairs: pd.DataFrame, each: Estimate) -> pd.DataFrame:
    """The pairs of answers that an estimate of a judge and a bias rests on."""
    mine = (pairs["judge"] == each.where["judge"]) & (pairs["category"] == each.where["bias"])
    return pairs[mine & ((pairs["source"] == "asked") == (each.data in ASKED))]


def check_pairs(pairs: pd.DataFrame, columns: Sequence[str]) -> None:
    """Columns that are not there are a ValueError that names them all."""
    lacking = [column for column in columns if column not in pairs]
    if lacking:
        raise ValueError(f"pairs need the columns {', '.join(columns)}; not there: {', '.join(lacking)}")


def caption(words: str, shown: Sequence[Estimate], estimates: Iterable[Estimate]) -> str:
    """As `panels.caption`; a point counts pairs of answers, and `odd_share` tells how many replies were unreadable."""
    judged = {(each.data, each.where["judge"]) for each in shown if "judge" in each.where}
    whole = {(each.data, each.where["bias"]) for each in shown if "judge" not in each.where}
    biases = {(each.data, each.where["bias"]) for each in shown}
    lost = []
    for each in estimates:
        if each.id != "odd_share" or set(each.where) != {"judge", "bias", "condition"} or math.isnan(each.value):
            continue
        of, by = (each.data, each.where["bias"]), (each.data, each.where["judge"])
        if of in biases and (by in judged or of in whole):
            lost.append(replace(each, id="unreadable_share"))
    said = panels.caption("", shown, lost)
    for old, new in (("judgments a point", "pairs a point"), ("judgments)", "replies)"), ("question", "scenario")):
        said = said.replace(old, new)
    habits = dict.fromkeys(f" {e.where['judge']}: {e.method}." for e in shown if e.method.startswith(BY))
    said += "".join(habits)
    return words + said.replace(" 1 scenarios", " 1 scenario")
