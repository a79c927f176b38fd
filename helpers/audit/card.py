"""The card of an audit as files: a figure, Markdown, and JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from helpers import verdicts
from helpers.audit.concluding import POWER, SAID, Finding, bottom_line, worst_first
from helpers.audit.judges import called
from helpers.audit.measuring import LEVEL, outcomes
from helpers.audit.probes import PROBES
from helpers.audit.running import Audit
from helpers.audit.telling import caption, told
from helpers.export import PROTOCOL, as_json, held, numbers, this_run, write
from helpers.figures import Figure, show_audit_card
from helpers.figures.style import METADATA
from helpers.run.accounting import costs
from helpers.types import Model, short_hash

NAME = "card"
FACTS = f"{NAME}.json"


def drawn(audit: Audit, style: str = "paper") -> Figure:
    """The card as a figure, worst first."""
    ordered = worst_first(audit.findings)
    lines, notes = [each.line for each in ordered], {PROBES[each.probe].title: each.short for each in ordered}
    sides = {each.title: each.sides for each in PROBES.values()}
    return show_audit_card(lines, sides, SAID, caption(audit), notes, style, NAME)


def facts(audit: Audit) -> dict[str, Any]:
    """The card for programs: the same for the same replies, without a time or a path.

    `probes` holds a record a probe in the order of PROBES (rates and effects as fractions), `described` the numbers
    where nothing is manipulated, `unwrapped` the verdicts by what was taken off before they were read, `outcomes` the
    counts by condition, `cost` calls, tokens and dollars of all replies.
    """
    counts = outcomes(audit.judged)
    return {
        "protocol": PROTOCOL,
        "experiment": "audit",
        "data": audit.data,
        "judge": {
            "name": audit.judge.name,
            "provider": audit.judge.provider,
            "model_id": audit.judge.model_id,
            "identity": identity(audit.judge),
            "returned": list(audit.returned),
            "structured": audit.judge.structured,
            "params": dict(audit.judge.params),
            "max_tokens": audit.judge.max_tokens,
        },
        "battery": {
            "version": audit.battery.version,
            "sha256": audit.battery.digest,
            "questions": len(audit.battery.items),
            "calls": int(counts.loc["all", "calls"]),
        },
        "parser": verdicts.PARSER_VERSION,
        "said": bottom_line(audit.findings, called(audit.judge), audit.data),
        "level": LEVEL,
        "power": POWER,
        "probes": [_probe(each) for each in audit.findings],
        "described": numbers(audit.beside),
        "unwrapped": dict(sorted(audit.unwrapped.items())),
        "outcomes": {str(name): {key: int(n) for key, n in row.items()} for name, row in counts.iterrows()},
        "cost": {key: audit.cost[key] for key in ("calls", "input", "output", "usd")},
    }


def _probe(each: Finding) -> dict[str, Any]:
    (number,) = numbers([each.estimate])
    return {
        "probe": each.probe,
        "verdict": each.said,
        "hint": each.verdict == "hint",
        "words": each.words,
        **number,
        "se": each.estimate.se,
        "p": each.estimate.p,
        "p_holm": each.p,
        "smallest_detectable": each.smallest,
        "smallest_detectable_share_of_questions": each.moved,
        "comparisons": {"asked": each.asked, "read": each.read},
        "examples": list(each.examples),
    }


def identity(judge: Model) -> str:
    """What tells judges of one name apart: a hash of the model's id and of the weights or the address behind it."""
    return short_hash(judge.provider, judge.model_id, json.dumps(judge.revision, sort_keys=True), digits=16)


def check(folder: Path, judge: Model, force: bool = False) -> None:
    """Refuse a folder that cannot be written into, or holds anything but this judge's card, before anything is paid."""
    there = held(folder, "--to")
    if force or not there:
        return
    name, known = _whose(folder / FACTS)
    if (name, known) != (judge.name, identity(judge)):
        what = ", ".join(there[:5])
        if name:
            what = f"the card of {name}" if name != judge.name else f"the card of another model that is called {name}"
        raise ValueError(f"{folder}: holds {what}; --to names another folder, --force writes into this one")


def _whose(path: Path) -> tuple[str, str]:
    """The name and the identity of the judge whose card a folder holds; empty where it holds none."""
    try:
        known: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        judge = known["judge"] if known["experiment"] == "audit" else {}
        return str(judge.get("name", "")), str(judge.get("identity", ""))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return "", ""


def save(audit: Audit, folder: Path, style: str = "paper") -> list[Path]:
    """Write card.png .pdf .svg, card.md, card.json and run.json (commit, time, versions, the account), all or none."""
    figure = drawn(audit, style)
    files = {f"{NAME}.{kind}": figure.render(kind) for kind in METADATA}
    files[f"{NAME}.md"] = told(audit).encode()
    files[FACTS] = as_json(facts(audit))
    files["run.json"] = as_json({**this_run(), **costs(audit.account, ())})
    write(files, folder)
    return [folder / name for name in files]
