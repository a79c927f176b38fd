"""Single judgments, looked into: filtered, found by key, and shown with prompt, raw reply and what was read from it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, Template
from markupsafe import Markup

from .escaping import cut, html, visible
from .judge import NoPrice, actual, dollars
from .providers.keys import in_browser
from .run.asking import Asked, bias_of
from .run.control import KINDS, marked, picks
from .run.showing import say, show as show_things
from .types import Judgment, Trial
from .words import plain

if TYPE_CHECKING:
    import ipywidgets
    import pandas as pd

#: Filters by name, with what each of them tells apart.
FILTERS = ("judge", "category", "condition", "outcome", "mark")
#: A judgment without a mark.
UNMARKED = "no mark"
#: The first digits of a key that tables show, and the fewest by which one is found.
DIGITS, FEWEST = 12, 6


@dataclass(frozen=True)
class Item:
    """One judgment: its marks (KINDS), its verdict in words, the US dollars of its reply, if known, and whether it is
    of the condition that others are compared with (`control`).
    """

    judgment: Judgment
    kinds: tuple[str, ...]
    verdict: str
    usd: float | None
    control: bool = False

    @property
    def key(self) -> str:
        """The key of the reply in the store."""
        return self.judgment.trial.request.key

    @property
    def short(self) -> str:
        """The verdict in few words: of a ranking who comes first; the outcome where there is no verdict."""
        ranked = self.judgment.verdict is not None and self.judgment.verdict.ranking
        return f"{picks(self.judgment)} first" if ranked else self.verdict or self.judgment.outcome

    @property
    def place(self) -> tuple[object, ...]:
        """What judgments share that are worth a look side by side: judge, question, and what is shown in any order."""
        trial, shown = self.judgment.trial, tuple(sorted(self.judgment.trial.shown))
        # Of wordings made by rules each condition shows other texts under the same names.
        made = (trial.condition, trial.where["wording"]) if "wording" in trial.where else ()
        return (trial.judge.name, trial.question_id, shown, trial.wording and trial.wording.name, *made)


def items(asked: Asked) -> list[Item]:
    """The judgments of a run in their order; none of published judgments, whose prompts and replies are not here."""
    control = bias_of(asked.experiment).control
    marks = {id(each.judgment): each.kinds for each in marked(asked.judgments, asked.answers, control, asked.controls)}
    every = ((each, marks.get(id(each), ())) for each in asked.judgments)
    return [Item(each, kinds, _verdict(each), _usd(each), each.trial.condition == control) for each, kinds in every]


def by_label(trial: Trial) -> dict[str, str]:
    """What stood under each label: a candidate, or the text of an option."""
    options = trial.wording.versions[trial.where["version"]].options if trial.wording else ()
    texts = [options[int(name)] for name in trial.shown] if options else trial.shown
    return dict(zip(trial.labels, texts, strict=True))


def _verdict(judgment: Judgment) -> str:
    """A verdict in words: a ranking by candidates, the choice and whom it is for; "" where there is none."""
    trial, verdict = judgment.trial, judgment.verdict
    if verdict is None:
        return ""
    named = by_label(trial)
    if verdict.ranking or verdict.choices:
        labels = verdict.ranking or verdict.choices
        return (" > " if verdict.ranking else "; ").join(named.get(label, label) for label in labels)
    if verdict.choice:
        pick = named.get(verdict.choice, picks(judgment))
        return verdict.choice if pick is None else f"{verdict.choice} ({pick})"
    return f"{verdict.number:g}" if verdict.number is not None else "none of them"


def _usd(judgment: Judgment) -> float | None:
    with suppress(NoPrice):
        return actual(judgment.trial.request, judgment.completion) if judgment.completion else None
    return None


def _filters(item: Item) -> dict[str, tuple[str, ...]]:
    """What an item is under each filter; it can have several marks."""
    trial = item.judgment.trial
    single = (trial.judge.name, trial.category, trial.condition, item.judgment.outcome)
    return dict(zip(FILTERS, (*((value,) for value in single), item.kinds or (UNMARKED,)), strict=True))


def choices(every: Sequence[Item]) -> dict[str, list[str]]:
    """What each filter offers, by its name; marks in the order of KINDS, all else sorted."""
    order, facts = [*KINDS, UNMARKED], [_filters(item) for item in every]
    found = {name: {value for each in facts for value in each[name]} for name in FILTERS}
    return {name: sorted(values, key=order.index if name == "mark" else None) for name, values in found.items()}


def chosen(every: Sequence[Item], **wanted: str | None) -> list[Item]:
    """The items that pass all filters that are given (names of FILTERS, else ValueError; None: any)."""
    if strange := sorted(set(wanted) - set(FILTERS)):
        raise ValueError(f"no filter {', '.join(strange)}; there are: {', '.join(FILTERS)}")
    return [item for item in every if all(x is None or x in _filters(item)[name] for name, x in wanted.items())]


def named(every: Sequence[Item], key: str) -> Item:
    """The judgment whose reply has this key, or a key that begins so; ValueError where none or several have."""
    if len(key) < FEWEST:
        raise ValueError(f"key {key!r}: give at least {FEWEST} of its digits, as tables show them")
    found = [*{item.key: item for item in reversed(every) if item.key.startswith(key.lower())}.values()]
    if len(found) != 1:
        why = f"{len(found)} keys begin so, give more digits" if found else "no judgment of this run has it"
        raise ValueError(f"key {key!r}: {why}")
    return found[0]


def siblings(every: Sequence[Item], item: Item) -> list[Item]:
    """The other judgments of the same judge on the same answers to the same question, the least different first.

    The other order and the control, by which verdicts are marked, come before other conditions and repeats.
    """
    trial, place = item.judgment.trial, item.place

    def distance(other: Item) -> tuple[int, bool, bool]:
        beside = other.judgment.trial
        turned, again = beside.shown != trial.shown, beside.request.repeat != trial.request.repeat
        changed = beside.condition != trial.condition
        return turned + again + changed, again, changed and not other.control

    return sorted((other for other in every if other is not item and other.place == place), key=distance)


def counted(every: Sequence[Item]) -> dict[str, int]:
    """How many judgments have each mark that any has, in the order of KINDS."""
    return {kind: n for kind in KINDS if (n := sum(kind in item.kinds for item in every))}


def table(every: Sequence[Item], most: int = 10) -> pd.DataFrame:
    """Some marked judgments, in turn one of each mark; empty where none is marked.

    Columns, after the index `question`: judge, condition, mark, shown, verdict, key (its first digits).
    """
    import pandas as pd

    queues = [[item for item in every if kind in item.kinds] for kind in KINDS]
    turns = [item for turn in range(most) for queue in queues for item in queue[turn : turn + 1]]
    columns, rows = ["question", "judge", "condition", "mark", "shown", "verdict", "key"], []
    for item in list({id(item): item for item in turns}.values())[:most]:
        trial, kinds = item.judgment.trial, ", ".join(item.kinds)
        cells = kinds, plain(in_order(trial, 2)), plain(item.short), item.key[:DIGITS]
        rows.append((trial.question_id, trial.judge.name, trial.condition, *cells))
    return pd.DataFrame(rows, columns=columns).set_index("question")


def in_order(trial: Trial, few: int) -> str:
    """What was shown, in its order; of options, and of more answers than `few`, only how many."""
    many = f"{len(trial.shown)} {'options' if trial.wording else 'answers'}"
    return many if trial.wording or len(trial.shown) > few else ", ".join(trial.shown)


DOT = " \N{MIDDLE DOT} "
#: Letters of a text that are shown.
LONGEST = 20_000
#: What models and data sets wrote is text in it, never markup.
_DETAIL = """\
<div style="display:grid;grid-template-columns:repeat(auto-fit,minmax(22em,1fr));gap:1em;line-height:1.4">
{%- for head, facts, texts in shown %}
<section><p><strong>{{ head }}</strong>{% if simulated %} <strong>SIMULATED</strong>{% endif %}</p>
<ul style="margin:0;overflow-wrap:anywhere">
{%- for name, value in facts.items() if value %}<li>{{ name }}: <code>{{ value }}</code></li>{% endfor %}</ul>
{%- for name, text in texts.items() if text %}
<details{% if name != "System text" %} open{% endif %}><summary>{{ name }}</summary>
<pre tabindex="0" style="white-space:pre-wrap;word-break:normal;overflow-wrap:anywhere;max-height:26em;overflow:auto;
border:1px solid #8888;padding:.5em">{{ text }}</pre></details>
{%- endfor %}</section>
{%- endfor %}</div>
{%- if others %}
<table style="border-collapse:separate;border-spacing:.8em .2em;text-align:left;line-height:1.4">
<caption>The same judge on the same answers to the same question</caption><thead><tr>
{%- for name in others[0] %}<th scope="col">{{ name }}</th>{% endfor %}</tr></thead><tbody>
{%- for row in others %}<tr>{% for cell in row.values() %}<td>{{ cell }}</td>{% endfor %}</tr>{% endfor %}
</tbody></table>
{%- endif %}"""


@cache
def _page() -> Template:
    return Environment(autoescape=True, finalize=lambda value: Markup(html(cut(value, LONGEST)))).from_string(_DETAIL)


def detail(item: Item, others: Sequence[Item] = (), simulated: bool = False) -> str:
    """A judgment, and beside it the first of `others` that says something else; all others in a table."""
    verdicts = [(each.verdict, each.judgment.outcome) for each in (item, *others)]
    beside = next((other for other, words in zip(others, verdicts[1:], strict=True) if words != verdicts[0]), None)
    rows = [_beside(each) for each in (item, *others)] if others else []
    shown = [_facts(each) for each in (item, beside) if each is not None]
    return _page().render(shown=shown, others=rows, simulated=simulated)


def _facts(item: Item) -> tuple[str, dict[str, str], dict[str, str]]:
    """What is shown of one judgment: its place, its facts and its texts by name; empty ones are not shown."""
    judgment, trial, reply = item.judgment, item.judgment.trial, item.judgment.completion
    head = DOT.join([trial.question_id, trial.judge.name, trial.condition, f"repeat {trial.request.repeat}"])
    facts = {"outcome": judgment.outcome, "verdict": item.verdict, "marks": ", ".join(item.kinds)}
    facts["shown"] = "; ".join(f"{label}: {what}" for label, what in by_label(trial).items())
    if reply is not None:
        counts = [("unknown" if n is None else f"{n:,}") for n in (reply.usage.input, reply.usage.output)]
        facts["tokens"] = "{} in, {} out".format(*counts)
        facts["cost"] = "no price known" if item.usd is None else dollars(item.usd)
        facts["answered as"] = reply.model or "not told"
    texts = {"System text": trial.request.system, "Prompt": trial.request.prompt}
    return head, facts | {"key": item.key}, texts | {"Reply": reply.text if reply else "No reply is stored."}


def _beside(item: Item) -> dict[str, str]:
    trial = item.judgment.trial
    row = {"condition": trial.condition, "repeat": str(trial.request.repeat)}
    row |= {"order": in_order(trial, len(trial.shown)), "outcome": item.judgment.outcome, "verdict": item.verdict}
    return row | {"marks": ", ".join(item.kinds), "key": item.key[:DIGITS]}


#: Judgments that the list of the explorer holds at once; filters bring the others.
LISTED = 500


def show(asked: Asked, key: str | None = None, most: int = 10) -> None:
    """Show the judgments of a run: in JupyterLab a widget, in an executed notebook a table of `most` marked ones.

    With `key`, the first digits of a reply's key, that judgment alone. Published judgments have no prompts.
    """
    from IPython.display import HTML, display

    every = items(asked)
    if not every:
        say("These judgments were not asked here: there are no prompts and replies to look into.")
    elif key is not None:
        item = named(every, key)
        display(HTML(detail(item, siblings(every, item), asked.data == "simulated")))
    elif in_browser():
        display(explorer(every, asked.data == "simulated"))
    else:
        say(_words(every, asked.data == "simulated"))
        show_things(*filter(len, [table(every, most)]))


def _words(every: list[Item], simulated: bool) -> str:
    marks = counted(every)
    parts = "; ".join(f"{n:,} *{kind}* ({KINDS[kind]})" for kind, n in marks.items()) or "none is marked"
    words = f"{'**SIMULATED** models. ' if simulated else ''}Of {len(every):,} judgments: {parts}."
    words += " A verdict can have several marks." if len(marks) > 1 else ""
    words += " Noise alone makes some of them." if {"flipped", "changed"} & set(marks) else ""
    return words + (' `explore.show(asked, key="...")` shows one with its prompt and reply.' if marks else "")


def explorer(every: list[Item], simulated: bool = False) -> ipywidgets.Widget:
    """The judgments as a widget: a box a filter, a field for a key, a list, and what is chosen in it."""
    import ipywidgets as widgets

    wide, wrapped = widgets.Layout(width="auto"), widgets.Layout(flex_flow="row wrap")
    # As wide as its longest value, so that names of judges are read whole.
    narrow = widgets.Layout(width="auto", min_width="17em", max_width="100%")
    offered = {name: [("any", None), *((visible(x), x) for x in found)] for name, found in choices(every).items()}
    # Without the index a page shows no choice at all, for the value of the first is None.
    filters = {
        name: widgets.Dropdown(options=each, index=0, description=name, layout=narrow) for name, each in offered.items()
    }
    key = widgets.Text(description="key", placeholder="first digits", continuous_update=False)
    count, shown = widgets.HTML(), widgets.HTML(layout=wide)
    found = widgets.Select(options=[], rows=8, description="judgments", layout=wide)
    places = {id(item): at for at, item in enumerate(every)}

    def refill(_: Any = None) -> None:
        passed = chosen(every, **{name: box.value for name, box in filters.items()})
        passed = [item for item in passed if item.key.startswith(key.value.strip().lower())]
        more = f" (the first {LISTED} are listed)" if len(passed) > LISTED else ""
        whose = "<strong>SIMULATED</strong>: " if simulated else ""
        count.value = f"{whose}{len(passed):,} of {len(every):,} judgments{more}"
        found.options = [(_line(item), places[id(item)]) for item in passed[:LISTED]]
        found.index = 0 if passed else None
        look()

    def look(_: Any = None) -> None:
        item = None if found.value is None else every[found.value]
        shown.value = "" if item is None else detail(item, siblings(every, item), simulated)

    for each in (*filters.values(), key):
        each.observe(refill, names="value")
    found.observe(look, names="value")
    refill()
    return widgets.VBox([widgets.Box([*filters.values(), key], layout=wrapped), count, found, shown])


def _line(item: Item) -> str:
    trial = item.judgment.trial
    parts = (trial.question_id, trial.judge.name, trial.condition, item.short, ", ".join(item.kinds))
    return visible(DOT.join(part for part in parts if part))
