"""What there is to choose from: notebooks, models, numbers and formats of verdicts, a row each."""

from __future__ import annotations

import json

import pandas as pd

from . import paths
from .analyze.formats import FORMATS, TIDY
from .analyze.reading import REQUIRED
from .config import load_models
from .explain import sections
from .judge import NoPrice
from .judge.budget import cost
from .providers.keys import key_of
from .types import Model


def listing(kind: str) -> pd.DataFrame:
    """The notebooks, models, numbers or formats there are, by name; a number is named as often as it is declared."""
    if kind == "notebooks":
        cells = {path.stem: json.loads(path.read_text("utf-8"))["cells"] for path in paths.NOTEBOOKS.glob("*.ipynb")}
        titles = (("".join(book[0]["source"]).partition("\n")[0].strip("# "), name) for name, book in cells.items())
        return pd.DataFrame(sorted((name, title) for title, name in titles), columns=["notebook", "asks"])
    if kind == "models":
        asked = [(name, model.provider, _price(model), _key(model)) for name, model in load_models().items()]
        return pd.DataFrame(asked, columns=["model", "provider", "usd a million tokens", "key"])
    if kind == "numbers":
        found = [(x.id, x.unit, each.name, x.words) for each in sections() for x in each.estimands.values()]
        return pd.DataFrame(found, columns=["number", "unit", "experiment", "is"])
    fields = {name: " or ".join(x["known_by"]) for name, x in FORMATS.items()}
    rows = [(TIDY, "a table with these columns", " ".join(REQUIRED))]
    rows += [(name, form["words"], f"fields {fields[name]}") for name, form in FORMATS.items()]
    return pd.DataFrame(rows, columns=["format", "holds", "recognised by"])


def _key(model: Model) -> str:
    key = "not-needed" if model.simulated else key_of(model)
    return {None: "not here", "not-needed": "not needed"}.get(key, "present")


def _price(model: Model) -> str:
    if model.simulated:
        return "none, SIMULATED"
    try:
        return f"{cost(model, 1_000_000, 0):g} in, {cost(model, 0, 1_000_000):g} out"
    except NoPrice:
        return "not known"
