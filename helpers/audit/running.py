"""An audit from the battery to its card: who is audited, plan, budget, replies, words and files."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import pandas as pd

from .. import judge as engine, paths, verdicts
from ..config import ConfigError, load_limits, load_models, model_of, perhaps
from ..config.models import AUDITED
from ..escaping import markdown
from ..export import PROTOCOL, as_json, list_contents, numbers, this_run, write
from ..figures import Figure, show_audit_card
from ..figures.points import short
from ..figures.style import METADATA, style as style_of
from ..judge.budget import cost, enough
from ..providers import simulated
from ..providers.keys import refuse
from ..run.asking import costs, look_up, tell
from ..services import own_server
from ..types import Estimate, Model, Question, Trial, short_hash
from ..verdicts import unwrapped
from ..words import CardLine, listed, p_text, plain
from ..words.numbers import load_numbers
from . import measuring
from .asking import NAME, PROBES, WORDS, Battery, load, trials
from .measuring import Finding, outcomes, percent, worst_first


def judge_of(
    name: str,
    base_url: str | None = None,
    settings: Mapping[str, Any] | None = None,
    knowledge: Mapping[str, Question] | None = None,
) -> Model:
    """The judge of that name in models.yaml or, with a `base_url`, the model that is called so there.

    `settings` are those of the latter: `revision` says which weights answer there (else the address), `price` is in US
    dollars a million tokens. What cannot be used is a ConfigError, a price that nobody knows a NoPrice.
    """
    options = {key: value for key, value in (settings or {}).items() if value is not None}
    models = load_models(paths.MODELS, knowledge)
    if base_url is not None:
        judge = _model_at(name, base_url, options)
    elif options:
        flags = ", ".join(f"--{key.replace('_', '-')}" for key in options)
        raise ConfigError(f"{flags}: belongs to --base-url; a model of models.yaml has it in its entry")
    elif name not in models:
        raise ConfigError(
            f"--model {name}: no such model in models.yaml{perhaps([name], models)}; there are: {', '.join(models)}. "
            "A model of a server that is not listed there needs --base-url"
        )
    else:
        judge = models[name]
        if judge.simulated:
            simulated.traits_of(judge)
    load_limits({**models, judge.name: judge})  # what is wrong there shows before anything is asked
    return judge


def _model_at(name: str, base_url: str, options: Mapping[str, Any]) -> Model:
    revision = {"weights": options["revision"]} if options.get("revision") else {"served_at": base_url}
    entry = {"provider": "openai", "model_id": name, "vendor": "", "base_url": base_url, "revision": revision}
    if "price" in options:
        entry["price"] = dict(zip(("input", "output"), options["price"], strict=True))
    # The default of servers is no 0, and verdicts drawn at random hide what moves them.
    entry["params"] = {"temperature": 0}
    entry |= {key: options[key] for key in ("api_key_env", "max_tokens", "structured", "params") if key in options}
    # The name of its file of replies, too.
    slug = re.sub(r"[^a-z0-9_.-]+", "_", name.lower())[:58]
    judge = model_of(f"{AUDITED}{slug}", entry, "--base-url and --model")
    try:
        cost(judge, 0, 0)
    except engine.NoPrice:
        raise engine.NoPrice(
            f"no price is known for {name!r} at {base_url}; give it: --price INPUT OUTPUT, in US dollars a million "
            "tokens (0 0 where nothing is billed)"
        ) from None
    return judge


def called(judge: Model) -> str:
    """The name that a card bears: as it was typed, of models.yaml or the server's own."""
    return judge.model_id if judge.name.startswith(AUDITED) else judge.name


#: Calls in flight, where neither the judge's entry nor its server says how many.
CONCURRENCY = 16


# asyncio.run makes the repr of what it returns.
@dataclass(frozen=True, repr=False)
class Audit:
    """One judge's audit: what was asked, what came back, and what may be said of it.

    `judged` is the table of `measuring`, of the questions of which no reply is missing; `left_out` counts the others.
    `beside` are the numbers of `described`, `returned` the model ids that came back, `unwrapped` counts what was taken
    off verdicts, `cost` is that of all replies, `account` what this run paid. `answers_by` says so of a judge of places
    or letters.
    """

    battery: Battery
    judge: Model
    judged: pd.DataFrame
    findings: tuple[Finding, ...]
    beside: tuple[Estimate, ...]
    returned: tuple[str, ...]
    unwrapped: Mapping[str, int]
    cost: Mapping[str, Any]
    account: engine.Account
    data: str
    left_out: int = 0
    answers_by: str = ""


async def as_it_is_served(judge: Model) -> Model:
    """The judge; at a server of one's own with the context and the calls at once that this server says."""
    return (await look_up([judge], CONCURRENCY)).get(judge.name, judge)


def prepare(
    model: str,
    base_url: str | None = None,
    settings: Mapping[str, Any] | None = None,
    size: int | None = None,
    items: str | Path | None = None,
    concurrency: int | None = None,
    timeout_seconds: float | None = None,
) -> tuple[Battery, Model]:
    """The battery (as in `asking.load`) and the judge with its limits; a key among its settings is refused."""
    names = {"base_url": "address", "api_key_env": "variable"}  # "api_key_env" itself reads like a key
    options = {"model": model, "base_url": base_url, **(settings or {})}
    refuse({names.get(name, name): value for name, value in options.items() if value is not None})
    battery = load(size=size, items=Path(items).expanduser() if items else None)
    judge = judge_of(model, base_url, settings, battery.knowledge)
    limits: dict[str, Any] = {"concurrency": concurrency, "timeout_seconds": timeout_seconds}
    return battery, replace(judge, **{name: value for name, value in limits.items() if value})


async def ask_battery(
    model: str,
    base_url: str | None = None,
    settings: Mapping[str, Any] | None = None,
    judgments: str = "ask",
    budget_usd: float = 0.0,
    keep_going: bool = False,
    figure_style: str = "paper",
    out: str | None = None,
    store: str | None = None,
    size: int | None = None,
    items: str | None = None,
    **limits: Any,
) -> Audit:
    """The audit that the parameters of its notebook describe: the plan is printed, then what is missing is asked.

    ConfigError, ValueError, OverBudget and the like come before the first call.
    """
    style_of(figure_style)
    if judgments not in ("ask", "stored"):
        raise ConfigError(f"parameter judgments: {judgments!r}; write ask or stored")
    battery, judge = prepare(model, base_url, settings, size, items, **limits)
    check(folder_of(judge, out), judge)
    replies = Path(store).expanduser().resolve() if store else paths.REPLIES
    if judgments == "ask":
        judge = await as_it_is_served(judge)
        engine.notice(str(plan(battery, judge, replies)))
    return await audit(battery, judge, replies, budget_usd, judgments == "ask", keep_going=keep_going)


def folder_of(judge: Model, out: str | None = None) -> Path:
    """Where the notebook writes a judge's card: `out`, or a folder of its own among those of single runs."""
    default = paths.RUNS / f"audit-{judge.name.removeprefix(AUDITED)}"
    return Path(out).expanduser().resolve() if out else default


def plan(battery: Battery, judge: Model, folder: Path) -> engine.Plan:
    """Calls, tokens and dollars of what is not stored yet, how long it takes, and what so many questions can show.

    A prompt too long for the judge's context is an error.
    """
    asked = trials(battery, judge)
    engine.check_fit((trial.request for trial in asked), engine.labels_of(asked), folder)
    planned = engine.make_plan({NAME: [trial.request for trial in asked]}, folder)
    return replace(planned, notes=tuple(_notes(battery, judge, asked, planned)))


#: How long a call is taken to last before one was made.
CALL_SECONDS = 2.0


def _notes(battery: Battery, judge: Model, asked: Sequence[Trial], planned: engine.Plan) -> Iterator[str]:
    """What the plan says below its table: the time of calls that nobody has timed yet, and the detectable effects."""
    if planned.missing and not judge.simulated and not any(row.seen for row in planned.rows):
        side_by_side = judge.concurrency or CONCURRENCY
        minutes = math.ceil(planned.missing * CALL_SECONDS / side_by_side / 60)
        yield CARD["time"].format(seconds=CALL_SECONDS, side_by_side=side_by_side, minutes=minutes)
    found = measuring.outlook(asked, battery.seed)
    most = [f"{PROBES[name].title} {_whole(each)}" for name, (_, each) in found.items()]
    least = {"least": f"{_whole(found['order'][0])} %", "reworded": f"{_whole(found['reworded'][0])} %"}
    facts = {"questions": len(battery.items), "power": f"{100 * measuring.POWER:.0f} %", "scatter": measuring.SCATTER}
    yield CARD["outlook"].format(**facts, **least, most=", ".join(most))


def _whole(size: float) -> str:
    return "none" if math.isnan(size) or size > 1 else str(percent(size))


async def audit(
    battery: Battery, judge: Model, folder: Path, budget_usd: float = 0.0, ask: bool = True, **options: Any
) -> Audit:
    """Ask what is missing of the battery (unless not to `ask`), within the budget, and conclude from all of it.

    Before the first call: OverBudget, MissingKey, NoPrice; after the last: Incomplete, and ValueError without any
    reply.
    """
    budget = engine.Budget(budget_usd, planned=True)
    planned = plan(battery, judge, folder) if ask else engine.Plan(())
    if planned.excess(budget):
        raise engine.OverBudget(
            f"{planned.missing} calls are missing and could cost up to {engine.dollars(planned.usd)}, more than "
            f"--budget-usd {budget_usd:g}; nothing was asked; --budget-usd {enough(planned.usd)} is enough"
        )
    engine.check_keys([judge] if planned.missing else [])
    asked = trials(battery, judge)
    try:
        judgments = await engine.judge_all(asked, folder=folder, budget=budget, ask=ask, stage=NAME, **options)
    except engine.Interrupted as interrupt:  # a cancellation would lose its words on the way out
        raise KeyboardInterrupt(str(interrupt)) from None
    if options.get("show", True):
        tell(NAME, budget.account, judgments)
    if not any(each.completion for each in judgments):
        raise ValueError(
            f"{folder}: no reply of {judge.name} to battery {battery.version} is stored here; a card of stored replies "
            "needs the same --store and the same settings of the judge as when they were asked"
        )
    (paid,) = costs(budget.account, judgments)["models"]
    if not (complete := measuring.complete(judgments)):
        raise ValueError(
            f"{folder}: the replies of {judge.name} are of no whole question yet; without --stored the others are asked"
        )
    judged = measuring.table(complete)
    run = (judged, judge.name, "simulated" if judge.simulated else "asked", battery.seed)
    beside = tuple(measuring.described(*run))
    findings = tuple(measuring.conclude(judged, measuring.measure(*run), beside))
    returned, removed = tuple(sorted({*judged["model"].dropna()})), Counter(chain(*map(unwrapped, complete)))
    left_out = len(battery.items) - judged["question"].nunique()
    kind, which, share = measuring.habit(judged, beside)
    answers_by = (
        WORDS["answers_by"]["words"].format(kind=kind, which=which, share=f"{100 * share:.0f} %") if kind else ""
    )
    about = (battery, judge, judged, findings, beside, returned, removed, paid, budget.account, run[2])
    return Audit(*about, left_out, answers_by)


#: From this share of replies without a verdict on, the losses are pointed out above the table.
MANY_LOST = 0.05
CARD: Mapping[str, Any] = WORDS["card"]


def render_card(audit: Audit) -> str:
    """The whole card: what is found, worst first, what it was read from, what was done and what that cannot tell."""
    title = f"# Audit of {plain(called(audit.judge))}"
    parts = [title, bottom_line(audit), "", table(audit), caption(audit), sections(audit)]
    # The picture is ours: no text of others stands in its name.
    return "\n\n".join(markdown(part) if part else "![The card as a figure](card.png)" for part in parts) + "\n"


def sections(audit: Audit) -> str:
    """What the card says below its table, as Markdown with headings: noise, what came back, what was asked."""
    control = {each.id: each for each in audit.beside}
    p = "" if math.isnan(control["excess_flip"].p) else f", p {p_text(control['excess_flip'].p)}"
    parts = {
        "When nothing is manipulated": [line.format(**control, p=p) for line in CARD["described"]],
        "What came back": [*_rows("condition", outcomes(audit.judged)), "", *_facts(audit)],
        "What was asked, and what it cannot tell": _probes(),
    }
    return "\n\n".join("\n".join([f"## {heading}", "", *lines]) for heading, lines in parts.items())


def bottom_line(audit: Audit) -> str:
    """The headline and what a reader must know before the table, as Markdown."""
    return "\n\n".join([f"**{headline(audit)}**", f"{face(audit)}.", *_warnings(audit)])


def face(audit: Audit) -> str:
    """What a reader must know of any card: the temperature, the model id that came back, what could not be read."""
    names, more = [short(each, 48) for each in audit.returned[:2]], len(audit.returned) - 2
    names += [f"{more} more"] if more > 0 else []
    facts = {"temperature": audit.judge.params.get("temperature", "not set"), "lost": _lost(audit)}
    facts |= {"returned": listed(names) or "nobody says", "questions": audit.judged["question"].nunique()}
    return CARD["face"].format(**facts)


def _lost(audit: Audit) -> str:
    counts = outcomes(audit.judged).loc["all"]
    return f"{100 * (1 - counts.get('ok', 0) / max(1, counts['calls'])):.1f} %"


def headline(audit: Audit) -> str:
    """What the audit found, in one sentence."""
    return measuring.bottom_line(audit.findings, plain(called(audit.judge)), audit.data, audit.answers_by)


def caption(audit: Audit) -> str:
    """What the figure and the table show: n, unreadable share, tests, and what the marks mean."""
    calls, questions = len(audit.judged), audit.judged["question"].nunique()
    facts = {"questions": questions, "calls": calls, "lost": _lost(audit), "probes": len(PROBES)}
    caption = CARD["simulated"] * (audit.data == "simulated") + CARD["caption"]
    return caption.format(**facts, power=f"{100 * measuring.POWER:.0f} %")


def terminal_card(audit: Audit) -> str:
    """The card for the terminal: one screen, worst first."""
    lines = [headline(audit), f"{face(audit)}.", *_warnings(audit), ""]
    for each in worst_first(audit.findings):
        found = {"hint": "a hint; found from ", "not shown": "found from "}.get(each.verdict)
        why = f"{found}{_detected(each)}" if found else each.words
        lines.append(f"{each.title:<17}{each.in_words:<16}{each.estimate!s:<28}{why}".rstrip())
    return "\n".join(lines).replace("**", "")


def _warnings(audit: Audit) -> Iterator[str]:
    """What a reader must know before the table."""
    counts, judge = outcomes(audit.judged).loc["all"], audit.judge
    lost = int(counts["calls"] - counts.get("ok", 0))
    if audit.left_out:
        yield CARD["partial"].format(left_out=audit.left_out, questions=len(audit.battery.items))
    if lost > MANY_LOST * counts["calls"]:
        kinds = [f"{count} {name}" for name, count in counts.items() if name not in ("calls", "ok") and count]
        yield CARD["lost"].format(lost=lost, calls=counts["calls"], kinds=", ".join(kinds))
    if len(audit.returned) > 1:
        yield CARD["several"].format(returned=listed(plain(each) for each in audit.returned))
    elif judge.base_url and audit.returned not in ((), (judge.model_id,)):
        yield CARD["other"].format(model_id=plain(judge.model_id), returned=plain(audit.returned[0]))
    biased = {each.probe for each in audit.findings if each.verdict == "bias"}
    if "letters" in biased and biased & {"order", "identical"}:
        yield CARD["letters"]


def table(audit: Audit) -> str:
    """The probes as a Markdown table, worst first."""
    rows = {}
    for each in worst_first(audit.findings):
        examples = f" (most on: {', '.join(each.examples)})" if each.examples else ""
        loss = f"; {each.read} of {each.asked} comparisons read" if each.read < each.asked else ""
        verdict = f"**{each.in_words}**" if each.verdict == "bias" else each.in_words
        p = "" if math.isnan(each.p) else p_text(each.p).removeprefix("= ")
        rows[each.title] = [verdict, each.estimate, p, _detected(each), f"{each.words}{examples}{loss}"]
    columns = ["verdict", "effect [95 %]", "p", "found from", "why"]
    return "\n".join(_rows("probe", pd.DataFrame.from_dict(rows, orient="index", columns=columns)))


def _rows(name: str, frame: pd.DataFrame) -> Iterator[str]:
    """A frame as the lines of a Markdown table; its index is the first column."""
    yield f"| {' | '.join([name, *map(str, frame.columns)])} |"
    yield f"|{'---|' * (1 + len(frame.columns))}"
    for row in frame.itertuples():
        yield f"| {' | '.join(map(str, row))} |"


def _detected(each: Finding) -> str:
    if not math.isnan(each.smallest):
        return f"{percent(each.smallest)} pp"
    return "" if math.isnan(each.moved) else f"{percent(each.moved)} % of questions"


def _facts(audit: Audit) -> list[str]:
    judge, usd = audit.judge, audit.cost["usd"]
    values = {
        "spent": "at a price that is not known" if math.isnan(usd) else f"{engine.dollars(usd)} at today's prices",
        "model_id": plain(judge.model_id),
        "returned": listed(plain(each) for each in audit.returned) or "nobody says",
        "form": "JSON by a schema" if judge.structured else "a marked last line",
        "order": CARD["grouped" if all(own_server(url) for _, url in judge.addresses) else "mixed"],
        "params": plain(", ".join(f"{name} {value}" for name, value in judge.params.items())) or "no parameter",
        "unwrapped": ", ".join(f"{kind} {count:,}" for kind, count in sorted(audit.unwrapped.items())),
        "level": measuring.LEVEL,
    }
    shown = (line for line in CARD["facts"] if audit.unwrapped or "{unwrapped}" not in line)
    return [line.format(audit=audit, **values) for line in shown]


def _probes() -> Iterator[str]:
    for each in PROBES.values():
        number = load_numbers(NAME).estimands[each.id]
        limit = number.fails.partition(" It holds for ")[0]
        yield f"- {number.words} Compared: {each.sides}. What it cannot tell: {limit}"
    yield CARD["limits"]


CARD_NAME = "card"
FACTS = f"{CARD_NAME}.json"


def drawn(audit: Audit, style: str = "paper") -> Figure:
    """The card as a figure, worst first."""
    found = worst_first(audit.findings)
    lines = [
        CardLine(audit.judge.name, each.title, each.estimate, each.verdict, each.words, each.p, each.smallest)
        for each in found
    ]
    notes, sides = ({each.title: each.short for each in found}, {each.title: each.sides for each in PROBES.values()})
    return show_audit_card(lines, sides, measuring.SAID, caption(audit), notes, style, CARD_NAME, face(audit))


def facts(audit: Audit) -> dict[str, Any]:
    """The card for programs: the same for the same replies, without a time or a path; effects as fractions."""
    counts, judge = outcomes(audit.judged), audit.judge
    kept = {name: rows.dropna().groupby("question")["value"] for name, rows in measuring.blocks(audit.judged).items()}
    return {
        "protocol": PROTOCOL,
        "experiment": NAME,
        "data": audit.data,
        "judge": {
            **{name: getattr(judge, name) for name in ("name", "provider", "model_id", "structured", "max_tokens")},
            "identity": identity(judge),
            "returned": list(audit.returned),
            "temperature": judge.params.get("temperature"),
            "params": dict(judge.params),
        },
        "battery": {
            "version": audit.battery.version,
            "sha256": audit.battery.digest,
            "questions": len(audit.battery.items),
            "left_out": audit.left_out,
            "calls": int(counts.loc["all", "calls"]),
        },
        "parser": verdicts.PARSER_VERSION,
        "said": headline(audit),
        "answers_by": audit.answers_by,
        "unreadable": 1 - counts.loc["all"].get("ok", 0) / counts.loc["all", "calls"],
        "level": measuring.LEVEL,
        "power": measuring.POWER,
        "probes": [_probe(each) for each in audit.findings],
        "described": numbers(audit.beside),
        "comparisons": {PROBES[name].id: rows.agg(list).to_dict() for name, rows in kept.items()},
        "unwrapped": dict(sorted(audit.unwrapped.items())),
        "outcomes": {str(name): {key: int(n) for key, n in row.items()} for name, row in counts.iterrows()},
        "cost": {key: audit.cost[key] for key in ("calls", "input", "output", "usd")},
    }


def _probe(each: Finding) -> dict[str, Any]:
    (number,) = numbers([each.estimate])
    return {
        "probe": each.probe,
        "verdict": each.in_words,
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
    there = list_contents(folder, "--to")
    if force or not there:
        return
    try:
        card = json.loads((folder / FACTS).read_text(encoding="utf-8"))
        name, identifier = (card["judge"][key] if card["experiment"] == NAME else "" for key in ("name", "identity"))
    except (OSError, ValueError, KeyError, TypeError):
        name = identifier = ""
    if (name, identifier) != (judge.name, identity(judge)):
        what = f"the card of {name}" if name != judge.name else f"the card of another model that is called {name}"
        what = what if name else ", ".join(there[:5])
        raise ValueError(f"{folder}: holds {what}; --to names another folder, --force writes into this one")


def save(audit: Audit, folder: Path, style: str = "paper") -> list[Path]:
    """Write card.png .pdf .svg, card.md, card.json and run.json (commit, time, versions, the account), all or none."""
    figure = drawn(audit, style)
    files = {f"{CARD_NAME}.{kind}": figure.render(kind) for kind in METADATA}
    files |= {f"{CARD_NAME}.md": render_card(audit).encode(), FACTS: as_json(facts(audit))}
    files["run.json"] = as_json({**this_run(), **costs(audit.account, ())})
    write(files, folder)
    return [folder / name for name in files]
