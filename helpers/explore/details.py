"""One judgment as HTML: prompt, raw reply, verdict, tokens and dollars, and the same again side by side."""

from __future__ import annotations

from collections.abc import Sequence

from helpers.escaping import cut, html, visible
from helpers.explore.items import DIGITS, Item, by_label, in_order
from helpers.judge import dollars

DOT = " \N{MIDDLE DOT} "
#: Letters of a text that are shown.
LONGEST = 20_000
_BOX = (
    "white-space:pre-wrap;word-break:normal;overflow-wrap:anywhere;"
    "max-height:26em;overflow:auto;border:1px solid #8888;padding:.5em"
)
_BESIDE = "display:grid;grid-template-columns:repeat(auto-fit,minmax(22em,1fr));gap:1em;line-height:1.4"
_ROWS = "border-collapse:separate;border-spacing:.8em .2em;text-align:left;line-height:1.4"
_FACTS = "margin:0;overflow-wrap:anywhere"


def detail(item: Item, others: Sequence[Item] = (), simulated: bool = False) -> str:
    """A judgment, and beside it the first of `others` that says something else; all others in a table.

    What models and data sets wrote is text here, never markup.
    """
    beside = next((other for other in others if _differs(item, other)), None)
    parts = [_one(each, simulated) for each in (item, beside) if each is not None]
    return f'<div style="{_BESIDE}">{"".join(parts)}</div>{_table([item, *others]) if others else ""}'


def _differs(item: Item, other: Item) -> bool:
    return other.verdict != item.verdict or other.judgment.outcome != item.judgment.outcome


def _one(item: Item, simulated: bool) -> str:
    judgment = item.judgment
    trial, reply = judgment.trial, judgment.completion
    where = [trial.question_id, trial.judge.name, trial.condition, f"repeat {trial.request.repeat}"]
    head = f"<strong>{html(_text(DOT.join(where)))}</strong>{' <strong>SIMULATED</strong>' if simulated else ''}"
    facts = {"outcome": judgment.outcome, "verdict": item.verdict, "marks": ", ".join(item.kinds)}
    facts["shown"] = "; ".join(f"{label}: {what}" for label, what in by_label(trial).items())
    if reply is not None:
        usage = reply.usage
        facts["tokens"] = ", ".join(f"{_count(n)} {what}" for n, what in ((usage.input, "in"), (usage.output, "out")))
        facts["cost"] = "no price known" if item.usd is None else dollars(item.usd)
        facts["answered as"] = reply.model or "not told"
    facts["key"] = item.key
    told = "".join(
        f"<li>{html(name)}: <code>{html(_text(value))}</code></li>" for name, value in facts.items() if value
    )
    texts = {"System text": trial.request.system, "Prompt": trial.request.prompt}
    texts["Reply"] = reply.text if reply is not None else "No reply is stored."
    boxes = "".join(_box(name, text, open_=name != "System text") for name, text in texts.items() if text)
    return f'<section><p>{head}</p><ul style="{_FACTS}">{told}</ul>{boxes}</section>'


def _count(tokens: int | None) -> str:
    return "unknown" if tokens is None else f"{tokens:,}"


def _box(name: str, text: str, open_: bool) -> str:
    return (
        f"<details{' open' if open_ else ''}><summary>{html(name)}</summary>"
        f'<pre tabindex="0" style="{_BOX}">{html(_text(text))}</pre></details>'
    )


def _text(text: str) -> str:
    return visible(cut(text, LONGEST))


def _table(every: Sequence[Item]) -> str:
    heads = ("condition", "repeat", "order", "outcome", "verdict", "marks", "key")
    rows = []
    for item in every:
        trial = item.judgment.trial
        cells = (trial.condition, str(trial.request.repeat), in_order(trial, len(trial.shown)), item.judgment.outcome)
        cells += (item.verdict, ", ".join(item.kinds), item.key[:DIGITS])
        rows.append("".join(f"<td>{html(_text(each))}</td>" for each in cells))
    head = "".join(f'<th scope="col">{each}</th>' for each in heads)
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    caption = "<caption>The same judge on the same answers to the same question</caption>"
    return f'<table style="{_ROWS}">{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
