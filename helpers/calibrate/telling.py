"""What a notebook says of how its estimators fared on judges whose truth is known."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from helpers.calibrate.results import EXPERIMENTS, FOLDER, stored
from helpers.calibrate.rule import CONSERVATIVE, FEW, FEWEST, HOLDS, MOST_ERRORS
from helpers.words import display_name

if TYPE_CHECKING:
    from helpers.figures.style import Figure

#: The size at which all replications are made, and that the limits are told for.
MAIN = 80


def words(experiment: str, folder: Path = FOLDER) -> str:
    """What was tried on simulated judges, what held, each miss with its rate, and published estimators beside.

    Markdown, from the stored results; says so where there are none.
    """
    rows, facts = stored(folder)
    mine = rows[rows["experiment"] == experiment]
    if mine.empty or experiment not in facts:
        return f"These estimators have not been calibrated on judges of known truth (`recuse calibrate {experiment}`)."
    lines = [_tried(mine, facts[experiment]), *_missed(mine), *_partly(mine), *_few(mine), *_failures(mine)]
    return "\n".join(f"- {line}" for line in lines)


def summary(folder: Path = FOLDER) -> str:
    """A line an experiment: how many of its headline numbers hold the rule, and which miss it."""
    rows, facts = stored(folder)
    return "\n".join(f"- *{name}*: {_held(rows[rows['experiment'] == name], facts, name)}" for name in EXPERIMENTS)


def shown(folder: Path = FOLDER, style: str = "paper") -> list[Figure]:
    """The figure of the stored results; none where there are none."""
    from helpers.figures import if_any
    from helpers.figures.calibration import show_calibration

    return if_any(show_calibration, stored(folder)[0], style=style)


def _held(rows: pd.DataFrame, facts: Mapping[str, Any], name: str) -> str:
    judged = rows[(rows["questions"] == MAIN) & (rows["role"] != "failure") & (rows["given"] > 0)]
    if judged.empty or name not in facts:
        return f"not calibrated (`recuse calibrate {name}`)"
    kinds = judged["verdict"].map(lambda verdict: verdict.split(":")[0])
    missed = judged[kinds == "misses"]
    told = f"in {judged['world'].nunique()} worlds at {MAIN} questions {(kinds == 'holds').sum()} of {len(judged)} hold"
    told += f", {(kinds == 'conservative').sum()} are conservative"
    told += f", {len(missed)} miss" + (f" ({', '.join(map(_named, missed['id'].unique()))})" if len(missed) else "")
    return f"{told}."


def _tried(rows: pd.DataFrame, facts: Mapping[str, Any]) -> str:
    worlds = "; ".join(f"{name}: {said.replace(';', ',')}" for name, said in facts["worlds"].items())
    judged = rows[(rows["questions"] == MAIN) & (rows["role"] != "failure") & (rows["given"] > 0)]
    counts = judged["verdict"].map(lambda verdict: verdict.split(":")[0]).value_counts()
    runs = ", ".join(f"{runs:,} at {questions} questions" for questions, runs in facts["runs"].items())
    held = f"{counts.get('holds', 0)} of {len(judged)} numbers hold the rule at {MAIN} questions"
    if counts.get("conservative", 0):
        held += (
            f", {counts['conservative']} more are conservative (a test speaks too seldom or an interval is too wide)"
        )
    return (
        f"Calibrated on SIMULATED judges of known truth in {len(facts['worlds'])} worlds ({worlds}); replications a "
        f"world: {runs}. {held}. The rule: false alarms of 3 to 7 %, 95 % intervals that hold the truth in 93 to 97 %, "
        f"by the exact 99.9 % interval of the rate, and no bias above {MOST_ERRORS} Monte-Carlo errors.{_room(judged)}"
        f"{_unseen(rows)} The truth is what the same number comes to in a very large population of the world's "
        "questions (a model is fitted to it as well), whose own error counts as a Monte-Carlo error."
    )


def _room(judged: pd.DataFrame) -> str:
    """How near to missing the rule the numbers come that keep it: the interval of a rate is wider than the rate."""
    kept = judged[judged["verdict"].isin((HOLDS, CONSERVATIVE))]
    # Intervals of an equivalence test are of 90 %.
    alarms, held = kept.loc[kept["role"] == "null", "rejected"], kept.loc[~kept["id"].str.endswith("_90"), "coverage"]
    if alarms.empty or held.isna().all():
        return ""
    return f" At worst, those that keep it have {100 * alarms.max():.1f} % and {100 * held.min():.1f} %."


def _unseen(rows: pd.DataFrame) -> str:
    """The bias that the replications, and what is known of the truth, cannot tell from none."""
    at = rows[(rows["role"] != "failure") & (rows["given"] >= 0.995 * rows["runs"])]
    share = (MOST_ERRORS * at["mc_se"] / at["sd"]).groupby(at["questions"]).max().dropna()
    if share.empty:
        return ""
    told = ", ".join(f"{each:.2f} at {questions} questions" for questions, each in share.items())
    return f" A bias below so many standard deviations of one estimate can go unseen: {told}."


def _missed(rows: pd.DataFrame) -> list[str]:
    at = rows[(rows["questions"] == MAIN) & rows["verdict"].str.startswith("misses")]
    return [f"Limit: {_miss(part)}." for _, part in at.groupby(["id", "verdict"], sort=False)]


def _miss(part: pd.DataFrame) -> str:
    """One kind of miss of one id, where it shows, and how large it is at most."""
    what = part["verdict"].iloc[0].removeprefix("misses: ").split(", ")
    told = []
    if "bias" in what:
        share = (part["bias"] / part["sd"]).abs().max()
        told.append(f"biased by up to {share:.2f} standard deviations of one estimate")
    if "coverage" in what:
        told.append(f"its interval holds the truth in only {100 * part['coverage'].min():.1f} %")
    if "size" in what:
        told.append(f"its test speaks where nothing is planted in up to {100 * part['rejected'].max():.1f} %")
    where = ", ".join(dict.fromkeys(part["world"] + part["where"].map(_place)))
    return f"{_id(part)} ({where}) is {' and '.join(told)}".replace("is its", "has a limit: its")


def _partly(rows: pd.DataFrame) -> list[str]:
    """Which numbers had an interval in a part of the runs alone: what is told of them is told of that part."""
    at = rows[(rows["questions"] == MAIN) & (rows["role"] != "failure") & (rows["given"] < 0.995 * rows["runs"])]
    told = [
        f"{_id(part)} in {100 * (part['given'] / part['runs']).min():.0f} % ({part['world'].iloc[0]})"
        for _, part in at.assign(share=at["given"] / at["runs"]).sort_values("share").groupby("id", sort=False)
    ]
    if not told:
        return []
    return [
        f"At {MAIN} questions some runs give no interval, and all rates are of those that do, at least: "
        f"{'; '.join(told)}."
    ]


def _few(rows: pd.DataFrame) -> list[str]:
    """What becomes of the rule at other numbers of questions: how many numbers miss it, and which worst."""
    found = []
    for questions, part in rows[(rows["role"] != "failure") & (rows["questions"] != MAIN)].groupby("questions"):
        given = part["given"] / part["runs"]
        kinds = part["verdict"].map(lambda verdict: verdict.split(":")[0])
        missed, wide, few = (part[kinds == kind] for kind in ("misses", CONSERVATIVE, FEW))
        told = f"At {questions} questions {len(missed)} of {(given > 0).sum() - len(few)} numbers miss the rule"
        if len(missed):
            told += f" ({_listed(missed)})"
        if len(wide):
            told += f", {len(wide)} are conservative ({_listed(wide)})"
        some = part[given < 0.995]
        if len(few):
            told += f"; {len(few)} more have an interval in fewer than {FEWEST} runs, too few to judge"
        shares = [f"{_named(str(id))} {_share(given[each.index].min())}" for id, each in some.groupby("id", sort=False)]
        if shares:
            told += f"; runs with an interval, at least: {', '.join(shares)}"
        found.append(f"{told}.")
    return found


def _share(share: float) -> str:
    return "none" if share == 0 else "less than 1 %" if share < 0.01 else f"{100 * share:.0f} %"


def _listed(rows: pd.DataFrame) -> str:
    return ", ".join(map(_named, rows["id"].unique()))


def _failures(rows: pd.DataFrame) -> list[str]:
    """Estimators that are not judged, each where it is worst; some keep the rule even there, which is said."""
    at = rows[(rows["questions"] == MAIN) & (rows["role"] == "failure") & (rows["given"] > 0)]
    nothing, lines = at[at["truth"] == 0], []
    alarms = [
        f"{_id(part)} in up to {100 * part['rejected'].max():.1f} % ({_worst(part, 'rejected')})"
        for _, part in nothing.groupby("id", sort=False)
    ]
    if alarms:
        lines.append(
            "Beside them, not judged: published estimators, and ours where a world breaks what they assume. Where "
            f"nothing is there they speak, of the runs (5 % would be right): {'; '.join(alarms)}."
        )
    off = [
        f"{_id(part)} in {100 * part['coverage'].min():.1f} % ({_worst(part, 'coverage')})"
        for _, part in at[at["truth"] != 0].groupby("id", sort=False)
    ]
    if off:
        lines.append(
            "The value that no loss or flaw of the world would have moved is held by the interval of (95 % would be "
            f"right): {'; '.join(off)}."
        )
    return lines


def _worst(part: pd.DataFrame, column: str) -> str:
    row = part.loc[part[column].idxmin() if column == "coverage" else part[column].idxmax()]
    return f"{row['world']}{_place(row['where'])}"


def _id(part: pd.DataFrame) -> str:
    return _named(str(part["id"].iloc[0]))


def _named(id: str) -> str:
    return id.replace("_", " ")


def _place(where: str) -> str:
    """A place as words after a world: ", GPT"."""
    values = [display_name(each.split("=", 1)[1]) for each in where.split(" ") if "=" in each]
    return f" {' '.join(values)}" if values else ""
