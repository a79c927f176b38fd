"""An audit from the battery to its card: who is audited, plan, budget, replies, words and files."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from helpers import paths, verdicts
from helpers.audit.asking import NAME, PROBES, Battery, trials
from helpers.audit.measuring import (
    LEVEL,
    POWER,
    SAID,
    Finding,
    bottom_line,
    conclude,
    described,
    measure,
    outcomes,
    table,
    whole,
    worst_first,
)
from helpers.config import AUDITED, ConfigError, load_limits, load_models, model_of, perhaps
from helpers.escaping import markdown
from helpers.export import PROTOCOL, as_json, held, numbers, this_run, write
from helpers.figures import Figure, show_audit_card
from helpers.figures.style import METADATA
from helpers.judge import (
    Account,
    Budget,
    Interrupted,
    NoPrice,
    OverBudget,
    Plan,
    check_fit,
    check_keys,
    dollars,
    judge_all,
    labels_of,
    make_plan,
    notice,
)
from helpers.judge.budget import cost, enough
from helpers.providers import as_served, simulated
from helpers.run.asking import costs, tell
from helpers.services import own_server
from helpers.types import Estimate, Model, Question, short_hash
from helpers.verdicts import unwrapped
from helpers.words import listed, p_text, plain

#: What a model at an address of the command line may be given besides; an entry of models.yaml says it itself.
OWN = ("revision", "api_key_env", "price", "max_tokens", "structured", "params")


def judge_of(
    name: str,
    base_url: str | None = None,
    own: Mapping[str, Any] | None = None,
    knowledge: Mapping[str, Question] | None = None,
    models_file: Path | None = None,
) -> Model:
    """The judge of that name in models.yaml or, with a `base_url`, the model that is called so there.

    `own` holds settings of OWN (None: not given) for the latter: `revision` is a text that says which weights answer
    there; without one the address stands for them, so that another address is another judge. `price` is (input,
    output) in US dollars a million tokens. What cannot be used is a ConfigError before anything is asked, a price that
    nobody knows a NoPrice.
    """
    given = {key: value for key, value in (own or {}).items() if value is not None}
    known = load_models(models_file or paths.MODELS, knowledge)
    if base_url is None:
        if given:
            flags = ", ".join(f"--{key.replace('_', '-')}" for key in given)
            raise ConfigError(f"{flags}: belongs to --base-url; a model of models.yaml has it in its entry")
        judge = _listed(name, known)
    else:
        judge = _at(name, base_url, given)
    load_limits({**known, judge.name: judge})  # what is wrong there shows before anything is asked
    return judge


def _listed(name: str, known: Mapping[str, Model]) -> Model:
    if name not in known:
        raise ConfigError(
            f"--model {name}: no such model in models.yaml{perhaps([name], known)}; there are: {', '.join(known)}. "
            "A model of a server that is not listed there needs --base-url"
        )
    judge = known[name]
    if judge.simulated:
        simulated.traits_of(judge)
    return judge


def _at(name: str, base_url: str, given: Mapping[str, Any]) -> Model:
    weights = given.get("revision")
    revision = {"weights": weights} if weights else {"served_at": base_url}
    entry = {"provider": "openai", "model_id": name, "vendor": "", "base_url": base_url, "revision": revision}
    if "price" in given:
        entry["price"] = dict(zip(("input", "output"), given["price"], strict=True))
    # The default of servers is no 0, and verdicts drawn at random hide what moves them.
    entry["params"] = {"temperature": 0}
    entry |= {key: given[key] for key in ("api_key_env", "max_tokens", "structured", "params") if key in given}
    judge = model_of(f"{AUDITED}{_slug(name)}", entry, "--base-url and --model")
    try:
        cost(judge, 0, 0)
    except NoPrice:
        raise NoPrice(
            f"no price is known for {name!r} at {base_url}; give it: --price INPUT OUTPUT, in US dollars a million "
            "tokens (0 0 where nothing is billed)"
        ) from None
    return judge


def called(judge: Model) -> str:
    """The name that a card bears: as it was typed, of models.yaml or the server's own."""
    return judge.model_id if judge.name.startswith(AUDITED) else judge.name


def _slug(name: str) -> str:
    """A model's id as the name of its file of replies.

    >>> _slug("meta-llama/Llama-3.1-8B-Instruct")
    'meta-llama_llama-3.1-8b-instruct'
    """
    return re.sub(r"[^a-z0-9_.-]+", "_", name.lower())[:58]


#: Calls in flight, where neither the judge's entry nor its server says how many.
CONCURRENCY = 16


# asyncio.run makes the repr of what it returns.
@dataclass(frozen=True, repr=False)
class Audit:
    """One judge's audit: what was asked, what came back, and what may be said of it.

    `judged` is the table of `measuring`, `findings` one a probe, `beside` the numbers of `described`. `returned` are
    the model ids that the provider told, `unwrapped` counts verdicts by what was taken off before they were read,
    `cost` holds calls, tokens and dollars of all replies that the audit reads, `account` what this run paid.
    """

    battery: Battery
    judge: Model
    judged: pd.DataFrame
    findings: tuple[Finding, ...]
    beside: tuple[Estimate, ...]
    returned: tuple[str, ...]
    unwrapped: Mapping[str, int]
    cost: Mapping[str, Any]
    account: Account

    @property
    def data(self) -> str:
        """Where the verdicts are from: "simulated" or "asked"."""
        return _data(self.judge)

    @property
    def missing(self) -> int:
        """How many calls have no reply yet."""
        return int((self.judged["outcome"] == "missing").sum())


async def as_it_is_served(judge: Model) -> Model:
    """The judge; at a server of one's own with the context and the calls at once that this server says."""
    found, warnings = await as_served([judge], CONCURRENCY)
    for each in warnings:
        notice(each)
    return found.get(judge.name, judge)


def plan(battery: Battery, judge: Model, folder: Path) -> Plan:
    """Calls, tokens and dollars of an audit before anything is asked; what is stored needs no call.

    A prompt that cannot fit into the judge's context is refused here.
    """
    asked = trials(battery, judge)
    check_fit((trial.request for trial in asked), labels_of(asked), folder)
    return make_plan({NAME: [trial.request for trial in asked]}, folder)


async def audit(
    battery: Battery, judge: Model, folder: Path, budget_usd: float = 0.0, ask: bool = True, **options: Any
) -> Audit:
    """Ask what is missing of the battery, within the budget, and conclude from all of it.

    With `ask=False` nothing is asked and what is missing is counted as such. What this run paid is told at its end.
    Before the first call: OverBudget, MissingKey, NoPrice; after the last: Incomplete, which counts what is missing and
    why, and ValueError where not one reply is there.
    """
    budget = Budget(budget_usd, planned=True)
    if ask:
        planned = plan(battery, judge, folder)
        if planned.excess(budget):
            raise OverBudget(
                f"{planned.missing} calls are missing and could cost up to {dollars(planned.usd)}, which is more than "
                f"--budget-usd {budget_usd:g}; nothing was asked; --budget-usd {enough(planned.usd)} is enough"
            )
        if planned.missing:
            check_keys([judge])
    asked = trials(battery, judge)
    try:
        judgments = await judge_all(asked, folder=folder, budget=budget, ask=ask, stage=NAME, **options)
    except Interrupted as interrupt:  # a cancellation would lose its words on the way out
        raise KeyboardInterrupt(str(interrupt)) from None
    if options.get("show", True):
        tell(NAME, budget.account, judgments)
    if not any(each.completion for each in judgments):
        raise ValueError(
            f"{folder}: no reply of {judge.name} to battery {battery.version} is stored here; a card of stored replies "
            "needs the same --store and the same settings of the judge as when they were asked"
        )
    judged, data = table(judgments), _data(judge)
    estimates = measure(judged, judge.name, data, battery.seed)
    beside = described(judged, judge.name, data, battery.seed)
    paid = costs(budget.account, judgments)["models"]
    return Audit(
        battery,
        judge,
        judged,
        tuple(conclude(judged, estimates, beside)),
        tuple(beside),
        tuple(sorted(set(judged["model"].dropna()))),
        Counter(kind for each in judgments for kind in unwrapped(each)),
        paid[0] if paid else {"model": judge.name, "calls": 0, "input": 0, "output": 0, "usd": 0.0},
        budget.account,
    )


def _data(judge: Model) -> str:
    return "simulated" if judge.simulated else "asked"


#: From this share of replies without a verdict on, the losses are pointed out above the table.
MANY_LOST = 0.05
PICTURE = "card.png"


def told(audit: Audit) -> str:
    """The whole card: what is found, worst first, what it was read from, what was done and what that cannot tell."""
    parts = [
        f"# Audit of {plain(called(audit.judge))}",
        f"**{bottom_line(audit.findings, plain(called(audit.judge)), audit.data)}**",
        *_warned(audit),
        # A picture of ours: no text of others stands in its name.
        None,
        "\n".join(_table(worst_first(audit.findings))),
        caption(audit),
        "## When nothing is manipulated",
        "\n".join(f"- {line}" for line in _beside(audit)),
        "## What came back",
        "\n".join(_outcomes(outcomes(audit.judged))),
        "\n".join(f"- {line}" for line in _facts(audit)),
        "## What was asked, and what it cannot tell",
        "\n".join(_probes()),
    ]
    written = [f"![The card as a figure]({PICTURE})" if part is None else markdown(part) for part in parts]
    return "\n\n".join(written) + "\n"


def caption(audit: Audit) -> str:
    """What the figure and the table show: n, unreadable share, tests, and what the marks mean."""
    counts = outcomes(audit.judged).loc["all"]
    lost = 1 - counts.get("ok", 0) / max(1, counts["calls"])
    items = len(audit.battery.items)
    simulated = "SIMULATED verdicts, which test the instrument and say nothing of real models. "
    share, power = f"{100 * lost:.1f} %", f"{100 * POWER:.0f} %"
    return (
        f"{simulated if audit.data == 'simulated' else ''}Effects in percentage points with 95 % intervals, clustered "
        f"by question ({items} questions, {counts['calls']} replies, {share} of them without a verdict). Biased: p of "
        f"sign flips over questions below 5 % after Holm's correction over {len(PROBES)} probes. Found from (in the "
        f"figure the grey band): an effect of that size is found in {power} of audits at the level of the "
        "correction's first step."
    )


def said(audit: Audit) -> str:
    """The card for the terminal: one screen, worst first."""
    lines = [bottom_line(audit.findings, plain(called(audit.judge)), audit.data), *_warned(audit), ""]
    lines += [_line(each) for each in worst_first(audit.findings)]
    return "\n".join(lines).replace("**", "")


def _line(each: Finding) -> str:
    found = f"found from {_from(each)}" if each.verdict in ("hint", "not shown") else ""
    found = f"a hint; {found}" if each.verdict == "hint" else found
    why = each.words if each.verdict in ("bias", "untold") else found
    return f"{PROBES[each.probe].title:<17}{each.said:<16}{each.estimate!s:<28}{why}".rstrip()


def _warned(audit: Audit) -> Iterator[str]:
    """What a reader must know before the table."""
    counts = outcomes(audit.judged).loc["all"]
    lost = int(counts["calls"] - counts.get("ok", 0))
    if lost > MANY_LOST * counts["calls"]:
        kinds = [f"{count} {name}" for name, count in counts.items() if name not in ("calls", "ok") and count]
        told = f"**{lost} of {counts['calls']} replies hold no verdict: {', '.join(kinds)}.**"
        yield f"{told} They are counted, never scored."
    if len(audit.returned) > 1:
        ids = listed(plain(each) for each in audit.returned)
        yield f"**Several models answered under this name: {ids}.** The card mixes them."
    elif audit.judge.base_url and audit.returned not in ((), (audit.judge.model_id,)):
        asked, came = plain(audit.judge.model_id), plain(audit.returned[0])
        yield f"**{asked} was asked for, and the server answered as {came}.** The card is that of what answered."
    biased = {each.probe for each in audit.findings if each.verdict == "bias"}
    if "letters" in biased and biased & {"order", "identical"}:
        yield (
            "Where letters are favoured, part or all of the effects of order and of identical pairs can be theirs: "
            "the first place bears the letter A."
        )


def _table(findings: Sequence[Finding]) -> Iterator[str]:
    yield "| probe | verdict | effect [95 %] | p | found from | why |"
    yield "|---|---|---|---|---|---|"
    for each in findings:
        examples = f" (most on: {', '.join(each.examples)})" if each.examples else ""
        loss = f"; {each.read} of {each.asked} comparisons read" if each.read < each.asked else ""
        cells = [PROBES[each.probe].title, _bold(each), str(each.estimate), _p(each), _from(each)]
        yield f"| {' | '.join([*cells, f'{each.words}{examples}{loss}'])} |"


def _bold(each: Finding) -> str:
    return f"**{each.said}**" if each.verdict == "bias" else each.said


def _p(each: Finding) -> str:
    return "" if math.isnan(each.p) else p_text(each.p).removeprefix("= ")


def _from(each: Finding) -> str:
    if not math.isnan(each.smallest):
        return f"{whole(each.smallest)} pp"
    return "" if math.isnan(each.moved) else f"{whole(each.moved)} % of questions"


def _beside(audit: Audit) -> Iterator[str]:
    known = {each.id: each for each in audit.beside}
    yield f"Asked the same again, it gives another verdict in {known['repeat_disagreement']} of cases: its noise."
    yield f"In the other order it names another winner in {known['order_disagreement']} of pairs."
    flip = known["excess_flip"]
    p = "" if math.isnan(flip.p) else f", p {p_text(flip.p)}"
    yield f"Of these flips {flip}{p} are beyond what noise makes (the order at work, whichever place it favours)."
    yield f"Of two identical texts it says that they tie in {known['identical_tie_share']} of cases."
    yield f"An answer to the question beats one to another question in {known['quality_gap_accuracy']} of pairs."


def _outcomes(counts: pd.DataFrame) -> Iterator[str]:
    yield f"| condition | {' | '.join(map(str, counts.columns))} |"
    yield f"|---|{'---|' * len(counts.columns)}"
    for name, row in counts.iterrows():
        yield f"| {name} | {' | '.join(map(str, row))} |"


def _facts(audit: Audit) -> Iterator[str]:
    cost, usd = audit.cost, audit.cost["usd"]
    spent = "at a price that is not known" if math.isnan(usd) else f"{dollars(usd)} at today's prices"
    yield f"Replies: {cost['calls']:,} with {cost['input']:,} tokens in and {cost['output']:,} out, {spent}."
    ids = listed(plain(each) for each in audit.returned) or "nobody says"
    yield f"Asked: {plain(audit.judge.model_id)} ({audit.judge.provider}); answered by: {ids}."
    how = "JSON by a schema" if audit.judge.structured else "a marked last line"
    own = all(own_server(url) for _, url in audit.judge.addresses)
    order = "question by question, the conditions in random order within each order of answers" if own else ""
    yield f"Verdicts as {how}; {order or 'all conditions interleaved in one random order'}."
    sent = ", ".join(f"{name} {value}" for name, value in audit.judge.params.items())
    yield f"Sent with each call: {plain(sent) or 'no parameter'}, at most {audit.judge.max_tokens:,} tokens of reply."
    if audit.unwrapped:
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in sorted(audit.unwrapped.items()))
        yield f"Taken off before a verdict was read, with the number of replies: {kinds}."
    yield f"Battery {audit.battery.version}, sha256 {audit.battery.digest}; level of Holm's first step {LEVEL:.5f}."


def _probes() -> Iterator[str]:
    for each in PROBES.values():
        yield f"- **{each.title}** ({each.sides}): {each.design}. The number: {each.number}. Not told: {each.limit}."
    yield (
        "- All of it holds for these questions (everyday ones, short answers of about equal worth) and this prompt. No "
        "bias shown is no proof of none: smaller effects than those named would often be missed, and a bias may show "
        "on other material only."
    )


CARD_NAME = "card"
FACTS = f"{CARD_NAME}.json"


def drawn(audit: Audit, style: str = "paper") -> Figure:
    """The card as a figure, worst first."""
    ordered = worst_first(audit.findings)
    lines, notes = [each.line for each in ordered], {PROBES[each.probe].title: each.short for each in ordered}
    sides = {each.title: each.sides for each in PROBES.values()}
    return show_audit_card(lines, sides, SAID, caption(audit), notes, style, CARD_NAME)


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
    files = {f"{CARD_NAME}.{kind}": figure.render(kind) for kind in METADATA}
    files[f"{CARD_NAME}.md"] = told(audit).encode()
    files[FACTS] = as_json(facts(audit))
    files["run.json"] = as_json({**this_run(), **costs(audit.account, ())})
    write(files, folder)
    return [folder / name for name in files]
