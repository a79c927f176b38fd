"""The card of an audit in words: Markdown that is computed from what came back."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import pandas as pd

from helpers.audit.concluding import POWER, Finding, bottom_line, whole, worst_first
from helpers.audit.judges import called
from helpers.audit.measuring import LEVEL, outcomes
from helpers.audit.probes import PROBES
from helpers.audit.running import Audit
from helpers.escaping import markdown
from helpers.judge import dollars
from helpers.services import own_server
from helpers.words import listed, p_text, plain

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
