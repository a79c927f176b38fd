"""Published versus recomputed: every number that was printed, checked against the one that comes out here."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

import pandas as pd
from pydantic import ConfigDict, Field, model_validator

from .config.yaml_text import ConfigError, Strict, checked, line_of, read_yaml
from .types import Estimate

Status = Literal["reproduced", "within interval", "differs", "not comparable", "not derivable"]
Unit = Literal["%", "pp", "logit", "score", "count", "alpha"]
COLUMNS = ("id", "quantity", "published", "recomputed", "unit", "tolerance", "status", "reason", "source", "kind")

#: What a claim's number is, in the words of the summary.
KINDS = {
    "printed": "printed by the source and recomputed here from other numbers",
    "recovered": "printed, but the counts behind them were recovered from these very numbers and can only agree",
    "derived": "never printed, computed by hand from the published counts",
}

#: More claims than this with one reason are reported together.
MOST = 6

#: Printed units that an estimate's unit can be compared with, and the factor from stored to printed numbers.
PRINTED = {"rate": (("%", "pp"), 100), "pp": (("pp", "%"), 100), "sd_pp": (("pp",), 100)}


class ClaimError(ValueError):
    """A claim that the estimates cannot answer; the message names the claim, what was found and what is valid."""


class Claim(Strict):
    """One published number, and the estimate that should give it.

    `published` and `tolerance` are in printed `unit` (30.0 for 30 %). `estimand` and `where` name the estimate, `data`
    its source. `replication`: the estimate is made from other data than the number was, so that its interval counts;
    on the very same data a sampling interval excuses nothing. `expect` is the status that must come out. `kind` is one
    of KINDS: only what was printed and is recomputed from other numbers tests the source.
    """

    model_config = ConfigDict(allow_inf_nan=False)

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9_]*$")
    quantity: str = Field(min_length=1)
    published: float
    unit: Unit
    tolerance: float = Field(0.06, ge=0)
    source: str = Field(min_length=1)
    estimand: str | None = None
    where: dict[str, str] = Field({})
    data: Literal["published", "hub", "asked", "folder", "simulated"] = "published"
    replication: bool = False
    expect: Status = "reproduced"
    reason: str = ""
    kind: Literal["printed", "recovered", "derived"] = "printed"

    @model_validator(mode="after")
    def _consistent(self) -> Claim:
        if (self.estimand is None) != (self.expect == "not derivable"):
            raise ValueError("a claim has an estimand, unless it expects 'not derivable': then it has none")
        if self.expect == "not derivable" and self.where:
            raise ValueError("a claim that is not derivable has no where")
        if self.expect != "reproduced" and not self.reason:
            raise ValueError(f"expects '{self.expect}' and must say why in reason")
        if self.expect == "within interval" and not self.replication:
            raise ValueError("expects 'within interval', which only a replication on other data can give")
        return self


def load_claims(path: Path) -> list[Claim]:
    """The claims of a claims.yaml, a list under `claims:`, in its order.

    Anything unknown, missing, of a wrong type, or an id used twice is a ConfigError that names file, claim and line.
    """
    content = read_yaml(path)
    if not isinstance(content, dict) or set(content) != {"claims"} or not isinstance(content["claims"], list):
        raise ConfigError(f"{path}: expected one key, claims, with a list of entries")
    claims: dict[str, Claim] = {}
    for place, entry in enumerate(content["claims"]):
        named = isinstance(entry, dict) and isinstance(entry.get("id"), str)
        where = f"{path.parent.name}/{path.name}, " + (f"claim '{entry['id']}'" if named else f"entry {place + 1}")
        claim = checked(Claim, entry, where, path, ("claims", place))
        if claim.id in claims:
            raise ConfigError(f"{where}: line {line_of(path, ('claims', place, 'id'))}: this id is used twice")
        claims[claim.id] = claim
    return [*claims.values()]


def _judged(claim: Claim, estimates: Sequence[Estimate]) -> tuple[float, str, str]:
    """The recomputed number in printed units, the status, and the reason as far as the numbers give it."""
    nan = float("nan")
    if claim.estimand is None:
        return nan, "not derivable", ""
    place = f"{claim.estimand}[{', '.join(f'{key}={value}' for key, value in claim.where.items())}]"
    found = [each for each in estimates if (each.id, each.data) == (claim.estimand, claim.data)]
    found = [each for each in found if {key: str(value) for key, value in each.where.items()} == claim.where]
    if len(found) > 1:
        raise ClaimError(f"claim {claim.id}: {len(found)} estimates of {place} ({claim.data})")
    if not found:
        return nan, "not comparable", f"no estimate of {place} from {claim.data} data"
    estimate = found[0]
    if math.isnan(estimate.value):
        return nan, "not comparable", f"{place} is not estimable {estimate.method}".strip()
    units, scale = PRINTED.get(estimate.unit, ((estimate.unit,), 1))
    if claim.unit not in units:
        raise ClaimError(f"claim {claim.id}: unit '{claim.unit}', but {place} comes in {' or '.join(units)}")
    value = estimate.value * scale
    # 1e-9: a difference of exactly the tolerance must not depend on the last bit.
    if abs(value - claim.published) <= claim.tolerance + 1e-9:
        return value, "reproduced", ""
    if claim.replication and estimate.low * scale <= claim.published <= estimate.high * scale:
        return value, "within interval", f"{estimate}"
    return value, "differs", f"recomputed {value:.6g}"


def check(claims: Iterable[Claim], estimates: Iterable[Estimate]) -> pd.DataFrame:
    """Which published numbers come out, and why the others do not: one row a claim, columns COLUMNS.

    `published` and `recomputed` are in printed units. Status: *reproduced* within the tolerance; *within interval*
    (only replications on other data); *differs*; *not comparable* where there is no such estimate of the claim's data;
    *not derivable* where nothing published determines the number. `reason` is the claim's where the status is the
    expected one. Two estimates for one claim, or a unit that does not fit, are a ClaimError.
    """
    estimates = list(estimates)
    rows = []
    for claim in claims:
        recomputed, status, reason = _judged(claim, estimates)
        if status == claim.expect:
            reason = claim.reason
        facts = (claim.id, claim.quantity, claim.published, recomputed, claim.unit, claim.tolerance)
        rows.append((*facts, status, reason, claim.source, claim.kind))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def unexpected(claims: Iterable[Claim], checked: pd.DataFrame) -> pd.DataFrame:
    """The rows of `checked` whose status is not the one that the claim expects, with the column `expect`."""
    expect = {claim.id: claim.expect for claim in claims}
    checked = checked.assign(expect=checked["id"].map(expect))
    return checked[checked["status"] != checked["expect"]].reset_index(drop=True)


def count_claims(checked: pd.DataFrame) -> tuple[int, int, int]:
    """How many published numbers could fail to come out, how many of them do come out, and how many differ.

    Of KINDS only what was printed can fail: a number recovered from itself agrees, and one never printed has no other.
    """
    status = checked.loc[checked["kind"] == "printed", "status"]
    return len(status), int(status.isin(["reproduced", "within interval"]).sum()), int((status == "differs").sum())


def kind_words(checked: pd.DataFrame) -> list[str]:
    """A sentence a kind of number (KINDS): how many there are, and how many have which status."""
    lines = []
    for name, words in KINDS.items():
        counts = checked.loc[checked["kind"] == name, "status"].value_counts()
        kinds = ", ".join(f"{count} {status}" for status, count in counts.items())
        lines += [f"- {counts.sum()} numbers {words}: {kinds}."] if len(counts) else []
    return lines


def summary(claims: Iterable[Claim], checked: pd.DataFrame) -> str:
    """How many numbers come out, a sentence a kind of number (KINDS), and which come out otherwise than expected."""
    lines = kind_words(checked)
    other = unexpected(claims, checked)
    if len(other):
        odd = "; ".join(f"`{row.id}` {row.status}, expected: {row.expect}" for row in other.head(MOST).itertuples())
        more = f"; and {len(other) - MOST} more" if len(other) > MOST else ""
        lines.append(f"- **Not as `claims.yaml` expects: {len(other)}** ({odd}{more}).")
    return "\n".join(lines)


def exceptions(checked: pd.DataFrame) -> pd.DataFrame:
    """The claims that do not simply come out, with the reason.

    More than MOST of one status that have one reason are one row with their number and the first ids, at the place of
    the first; what differs is always told one by one.
    """
    columns = ["quantity", "published", "recomputed", "unit", "status", "reason"]
    odd = checked[checked["status"] != "reproduced"]
    rows = []
    for _, group in odd.groupby(["status", "reason"], sort=False):
        if len(group) <= MOST or group["status"].iloc[0] == "differs":
            rows.append(group)
            continue
        unit = group["unit"].iloc[0] if group["unit"].nunique() == 1 else ""
        examples = f"{len(group)} claims, such as {' and '.join(group['id'][:2])}"
        rows.append(group[:1].assign(quantity=examples, published=math.nan, recomputed=math.nan, unit=unit))
    return pd.concat(rows).sort_index()[columns].reset_index(drop=True) if rows else odd[columns]
