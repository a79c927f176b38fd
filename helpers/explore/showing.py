"""Judgments before the reader of a notebook: with filters where somebody is looking, else as a table."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from helpers.escaping import visible
from helpers.explore.details import DOT, detail
from helpers.explore.items import Item, choices, chosen, counted, items, named, siblings, table
from helpers.providers.keys import in_browser
from helpers.report.marking import KINDS
from helpers.run.asking import Asked
from helpers.run.showing import say
from helpers.run.showing import show as show_things

if TYPE_CHECKING:
    import ipywidgets

ANY = "any"
#: Judgments that the list of the explorer holds at once; filters bring the others.
LISTED = 500


def show(asked: Asked, key: str | None = None, most: int = 10) -> None:
    """Put the judgments of a run before the reader, to look into single ones.

    In JupyterLab filters, a list, and prompt, reply, verdict and cost of what is chosen in it; in an executed notebook
    how many verdicts have which mark, and a table of at most `most` of them. With `key`, the first digits of a reply's
    key, that judgment alone, everywhere. Published judgments have no prompts: then it says so.
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
        found = table(every, most)
        show_things(*([found] if len(found) else []))


def _words(every: list[Item], simulated: bool) -> str:
    marks = counted(every)
    told = "; ".join(f"{n:,} *{kind}* ({KINDS[kind]})" for kind, n in marks.items()) or "none is marked"
    whose = "**SIMULATED** judges. " if simulated else ""
    more = ' `explore.show(asked, key="...")` shows one with its prompt and reply.' if marks else ""
    several = " A verdict can have several marks." if len(marks) > 1 else ""
    noise = " Noise alone makes some of them." if {"flipped", "changed"} & set(marks) else ""
    return f"{whose}Of {len(every):,} judgments: {told}.{several}{noise}{more}"


def explorer(every: list[Item], simulated: bool = False) -> ipywidgets.Widget:
    """The judgments as a widget: filters (`items.FILTERS`), a field for a key, a list, and what is chosen in it."""
    import ipywidgets as widgets

    wide = widgets.Layout(width="auto")
    # As wide as its longest value, so that names of judges are read whole.
    narrow = widgets.Layout(width="auto", min_width="17em", max_width="100%")
    # Without the index a page shows no choice at all, for the value of the first is None.
    filters = {
        name: widgets.Dropdown(options=_offered(offered), index=0, description=name, layout=narrow)
        for name, offered in choices(every).items()
    }
    key = widgets.Text(description="key", placeholder="first digits", continuous_update=False)
    told = widgets.HTML()
    found = widgets.Select(options=[], rows=8, description="judgments", layout=wide)
    shown = widgets.HTML(layout=wide)
    parts = {"filters": filters, "key": key, "told": told, "found": found, "shown": shown}
    refill, look = partial(_refill, every, simulated, parts), partial(_look, every, simulated, parts)
    for each in (*filters.values(), key):
        each.observe(refill, names="value")
    found.observe(look, names="value")
    refill()
    return widgets.VBox([widgets.Box([*filters.values(), key], layout=_wrapped(widgets)), told, found, shown])


def _offered(values: list[str]) -> list[tuple[str, str | None]]:
    """A filter's values with their words, which a page can hold; None: any."""
    return [(ANY, None), *((visible(value), value) for value in values)]


def _wrapped(widgets: Any) -> Any:
    return widgets.Layout(flex_flow="row wrap")


def _refill(every: list[Item], simulated: bool, parts: dict[str, Any], _: Any = None) -> None:
    """The list anew, as the filters and the key say."""
    passed = chosen(every, **{name: box.value for name, box in parts["filters"].items()})
    digits = parts["key"].value.strip().lower()
    passed = [item for item in passed if item.key.startswith(digits)]
    more = f" (the first {LISTED} are listed)" if len(passed) > LISTED else ""
    whose = "<strong>SIMULATED</strong>: " if simulated else ""
    parts["told"].value = f"{whose}{len(passed):,} of {len(every):,} judgments{more}"
    places = {id(item): at for at, item in enumerate(every)}
    parts["found"].options = [(_line(item), places[id(item)]) for item in passed[:LISTED]]
    parts["found"].index = 0 if passed else None
    _look(every, simulated, parts)


def _look(every: list[Item], simulated: bool, parts: dict[str, Any], _: Any = None) -> None:
    """The judgment that is chosen in the list."""
    at = parts["found"].value
    parts["shown"].value = "" if at is None else detail(every[at], siblings(every, every[at]), simulated)


def _line(item: Item) -> str:
    trial = item.judgment.trial
    parts = (trial.question_id, trial.judge.name, trial.condition, item.short, ", ".join(item.kinds))
    return visible(DOT.join(part for part in parts if part))
