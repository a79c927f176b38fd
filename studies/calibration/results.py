"""What calibrations found: files that hold it, replaced one experiment at a time, and what it says in words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from helpers import calibrate, paths
from helpers.tables import csv_text
from helpers.words import display_name
from studies.calibration.cases import CONSERVATIVE, FEW, FEWEST, HOLDS, MOST_ERRORS

#: Those that have cases, in the order of the notebooks.
EXPERIMENTS = tuple(
    name
    for name in (path.stem.partition("_")[2] for path in sorted(paths.NOTEBOOKS.glob("[0-9]*.ipynb")))
    if (Path(__file__).parent / "experiments" / f"{name}.py").is_file()
)
#: The size at which all replications are made, and that limits are reported for.
MAIN = 80


def store(rows: pd.DataFrame, facts: Mapping[str, Mapping[str, Any]], folder: Path = calibrate.FOLDER) -> None:
    """Put the rows and facts of some experiments in the place of their former ones; those of the others stay.

    With them the figure and its caption (calibration.png, .pdf, .svg and .md), written as `export.write` does.
    """
    from helpers.export import captions, write
    from helpers.figures.designs import show_calibration
    from helpers.figures.style import METADATA

    former, stored_facts = calibrate.stored(folder)
    parts = [each for each in (former[~former["experiment"].isin(list(facts))], rows) if len(each)]
    order = {name: number for number, name in enumerate(EXPERIMENTS)}
    every = pd.concat(parts, ignore_index=True).sort_values(
        "experiment", key=lambda names: names.map(lambda name: order.get(name, len(order))), kind="stable"
    )
    new = {name: {**each, **described(rows[rows["experiment"] == name], each)} for name, each in facts.items()}
    ordered = dict(sorted({**stored_facts, **new}.items(), key=lambda item: order.get(item[0], len(order))))
    figure = show_calibration(every)
    files = {
        "calibration.csv": csv_text(every).encode(),
        "calibration.json": f"{json.dumps(ordered, indent=1, ensure_ascii=False)}\n".encode(),
        "calibration.md": captions("calibration", [figure], []).encode(),
        **{f"calibration.{kind}": figure.render(kind) for kind in METADATA},
    }
    write(files, folder)


def described(rows: pd.DataFrame, facts: Mapping[str, Any]) -> dict[str, Any]:
    """What the rows of one experiment say: `words`, lines of Markdown for its notebook, and `summary`, one line."""
    rows = rows.assign(kind=rows["verdict"].str.split(":").str[0], share=rows["given"] / rows["runs"])
    judged = rows[rows["role"] != "failure"]
    at_main = judged[(judged["questions"] == MAIN) & (judged["given"] > 0)]
    failures = rows[(rows["role"] == "failure") & (rows["questions"] == MAIN) & (rows["given"] > 0)]
    missed = judged[(judged["questions"] == MAIN) & (judged["kind"] == "misses")]
    limits = [f"Limit: {_miss(part)}." for _, part in missed.groupby(["id", "verdict"], sort=False)]
    words = [_tried(judged, at_main, facts), *limits, *_partly(judged), *_few(judged), *_failures(failures)]
    return {"words": words, "summary": _summary(at_main)}


def _summary(at_main: pd.DataFrame) -> str:
    kinds = at_main["kind"].value_counts()
    misses = at_main[at_main["kind"] == "misses"]
    return (
        f"in {at_main['world'].nunique()} worlds at {MAIN} questions {kinds.get(HOLDS, 0)} of {len(at_main)} hold, "
        f"{kinds.get(CONSERVATIVE, 0)} are conservative, {len(misses)} miss"
        f"{f' ({_ids(misses)})' if len(misses) else ''}."
    )


def _tried(judged: pd.DataFrame, at_main: pd.DataFrame, facts: Mapping[str, Any]) -> str:
    worlds = "; ".join(f"{name}: {text.replace(';', ',')}" for name, text in facts["worlds"].items())
    kinds = at_main["kind"].value_counts()
    runs = ", ".join(f"{runs:,} at {questions} questions" for questions, runs in facts["runs"].items())
    kept = f"{kinds.get(HOLDS, 0)} of {len(at_main)} numbers hold the rule at {MAIN} questions"
    if kinds.get(CONSERVATIVE, 0):
        kept += f", {kinds[CONSERVATIVE]} more are conservative (a test speaks too seldom or an interval is too wide)"
    return (
        f"Calibrated on SIMULATED judges of known truth in {len(facts['worlds'])} worlds ({worlds}); replications a "
        f"world: {runs}. {kept}. The rule: false alarms of 3 to 7 %, 95 % intervals that hold the truth in 93 to 97 %, "
        f"by the exact 99.9 % interval of the rate, and no bias above {MOST_ERRORS} Monte-Carlo errors."
        f"{_worst_kept(at_main)}{_unseen(judged)} The truth is what the same number comes to in a very large "
        "population of the world's questions (a model is fitted to it as well), whose own error counts as a "
        "Monte-Carlo error."
    )


def _worst_kept(at_main: pd.DataFrame) -> str:
    """How near to missing the rule the numbers come that keep it: the interval of a rate is wider than the rate."""
    kept = at_main[at_main["kind"].isin((HOLDS, CONSERVATIVE))]
    alarms = kept.loc[kept["role"] == "null", "rejected"]
    # Intervals of an equivalence test are of 90 %.
    coverage = kept.loc[~kept["id"].str.endswith("_90"), "coverage"]
    if alarms.empty or coverage.isna().all():
        return ""
    return f" At worst, those that keep it have {100 * alarms.max():.1f} % and {100 * coverage.min():.1f} %."


def _unseen(judged: pd.DataFrame) -> str:
    """The bias that the replications, and what is known of the truth, cannot tell from none."""
    at = judged[judged["share"] >= 0.995]
    largest = (MOST_ERRORS * at["mc_se"] / at["sd"]).groupby(at["questions"]).max().dropna()
    if largest.empty:
        return ""
    sizes = ", ".join(f"{each:.2f} at {questions} questions" for questions, each in largest.items())
    return f" A bias below so many standard deviations of one estimate can go unseen: {sizes}."


def _miss(part: pd.DataFrame) -> str:
    """One kind of miss of one id, where it shows, and how large it is at most."""
    what, sizes = part["verdict"].iloc[0].removeprefix("misses: ").split(", "), []
    if "bias" in what:
        share = (part["bias"] / part["sd"]).abs().max()
        sizes.append(f"biased by up to {share:.2f} standard deviations of one estimate")
    if "coverage" in what:
        sizes.append(f"its interval holds the truth in only {100 * part['coverage'].min():.1f} %")
    if "size" in what:
        sizes.append(f"its test speaks where nothing is planted in up to {100 * part['rejected'].max():.1f} %")
    where = ", ".join(dict.fromkeys(part["world"] + part["where"].map(_place)))
    return f"{_ids(part)} ({where}) is {' and '.join(sizes)}".replace("is its", "has a limit: its")


def _partly(judged: pd.DataFrame) -> list[str]:
    """Which numbers had an interval in a part of the runs alone: all rates are of that part."""
    at = judged[(judged["questions"] == MAIN) & (judged["share"] < 0.995)].sort_values("share")
    parts = [
        f"{_ids(part)} in {100 * part['share'].min():.0f} % ({part['world'].iloc[0]})"
        for _, part in at.groupby("id", sort=False)
    ]
    begin = f"At {MAIN} questions some runs give no interval, and all rates are of those that do, at least"
    return [f"{begin}: {'; '.join(parts)}."] if parts else []


def _few(judged: pd.DataFrame) -> list[str]:
    """What becomes of the rule at other numbers of questions: how many numbers miss it, and which worst."""
    found = []
    for questions, part in judged[judged["questions"] != MAIN].groupby("questions"):
        missed, wide, few = (part[part["kind"] == kind] for kind in ("misses", CONSERVATIVE, FEW))
        line = f"At {questions} questions {len(missed)} of {(part['given'] > 0).sum() - len(few)} numbers miss the rule"
        line += f" ({_ids(missed)})" if len(missed) else ""
        line += f", {len(wide)} are conservative ({_ids(wide)})" if len(wide) else ""
        line += f"; {len(few)} more have an interval in fewer than {FEWEST} runs, too few to judge" if len(few) else ""
        partly = part[part["share"] < 0.995]
        shares = [f"{_ids(each)} {_share(each['share'].min())}" for _, each in partly.groupby("id", sort=False)]
        line += f"; runs with an interval, at least: {', '.join(shares)}" if shares else ""
        found.append(f"{line}.")
    return found


def _share(share: float) -> str:
    return "none" if share == 0 else "less than 1 %" if share < 0.01 else f"{100 * share:.0f} %"


def _failures(failures: pd.DataFrame) -> list[str]:
    """Estimators that are not judged, each where it is worst; those that keep the rule even there are listed too."""
    alarms, covers = (
        "; ".join(
            f"{_ids(part)} in {most}{100 * row[column]:.1f} % ({row['world']}{_place(row['where'])})"
            for _, part in rows.groupby("id", sort=False)
            for row in [part.loc[part[column].agg(worst)]]
        )
        for rows, column, worst, most in (
            (failures[failures["truth"] == 0], "rejected", "idxmax", "up to "),
            (failures[failures["truth"] != 0], "coverage", "idxmin", ""),
        )
    )
    lines = [
        (
            alarms,
            "Beside them, not judged: published estimators, and ours where a world breaks what they assume. Where "
            "nothing is there they speak, of the runs (5 % would be right)",
        ),
        (
            covers,
            "The value that no loss or flaw of the world would have moved is held by the interval of (95 % would be "
            "right)",
        ),
    ]
    return [f"{begin}: {found}." for found, begin in lines if found]


def _ids(rows: pd.DataFrame) -> str:
    """The ids of rows as words, each once."""
    return ", ".join(str(id).replace("_", " ") for id in rows["id"].unique())


def _place(where: str) -> str:
    """A place as words after a world: " GPT"."""
    values = [display_name(each.split("=", 1)[1]) for each in where.split(" ") if "=" in each]
    return f" {' '.join(values)}" if values else ""
