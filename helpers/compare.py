"""Two results side by side: which numbers moved from A to B, by question where both kept what was found on each."""

from __future__ import annotations

import asyncio
import math
import os
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit
from tqdm import tqdm

from . import paths
from .config import COMMON, checked, experiment_names, load_config, load_experiment
from .frames import recoded
from .json_text import document
from .overview import Numbers
from .run.asking import Asked, ask, bias_of
from .run.showing import machine_provenance
from .stats.intervals import MIN_CLUSTERS, Interval, clustered, clusters_of, estimate, t_interval
from .stats.standing import LEVEL, conclude, confirms
from .stats.tests import with_sign_flip
from .types import Estimand, Estimate, Family
from .words import CARD_VERDICTS, CardVerdict, Conclusion, listed, moved_words, plain, say, sentence, sources_apart
from .words.numbers import declared_by, number_files

#: A number is known by its id and its place. Of a run: its frame, and a function from a frame to its numbers.
Place = tuple[str, tuple[tuple[str, str], ...]]
Run = tuple[pd.DataFrame, Callable[[pd.DataFrame], dict[Place, float]]]
Both = Mapping[Place, tuple[Estimate, Estimate]]
Found = tuple[dict[Place, Interval], dict[Place, float]]
#: Of the questions of two runs so many parts are left out, one after the other.
PARTS, SEED = 16, 42
PAIRED, APART = "paired by question", "from two intervals as if independent"
#: What became of a number, by the standing of its difference.
VERDICTS = dict(zip(CARD_VERDICTS, ("moved", "leans", "no sign", "cannot tell", ""), strict=True))
ORDER = [*VERDICTS.values(), "only in A", "only in B"]
#: A difference is declared as any other number is; what is in one result alone has no value in the other.
MOVES = Estimand("", "", "", "", "", "", "", "", "", above="is higher in B", below="is lower in B", fails="")
NONE = Estimate("", {}, math.nan)


def read(place: Path) -> dict[str, Numbers]:
    """The numbers in a file or folder, by the folder within it; the card of an audit is read as a run's are."""
    inner = [place] if place.is_file() else sorted([*place.rglob("numbers.json"), *place.rglob("card.json")])
    if not inner:
        raise ValueError(f"{place}: no numbers.json and no card.json; name a folder of results or the card of an audit")
    return {os.path.relpath(path.parent, place if place.is_dir() else path.parent): _read(path) for path in inner}


def _read(path: Path) -> Numbers:
    try:
        content = document(path.read_text(encoding="utf-8"))
        if "battery" in content:
            judge, settings = content["judge"], content["battery"] | {"parser": content["parser"]}
            settings |= {name: judge.get(name) for name in ("identity", "params", "structured", "max_tokens")}
            comparisons = content.get("comparisons", {}).items()
            content["comparisons"] = {
                id: {question: [*map(float, each)] for question, each in rows.items()} for id, rows in comparisons
            }
            about = content | {"judges": {judge["name"]: judge["returned"] or [judge["model_id"]]}}
            numbers = [*content["probes"], *content["described"]]
            content = {"provenance": about | {"parameters": settings}, "numbers": numbers}
        if (run := path.with_name("run.json")).is_file():
            content["provenance"]["parameters"]["code"] = document(run.read_text(encoding="utf-8")).get("commit")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path}: no numbers of a run and no card of an audit ({error!r})") from None
    return checked(Numbers, content, str(path))


def _placed(numbers: Iterable[Estimate], called: Mapping[str, str]) -> dict[Place, Estimate]:
    """Numbers of what was measured by id and place, with judges as they are `called` in A."""
    found = {}
    for each in (each for each in numbers if each.data != "published"):
        each = replace(each, where={key: called.get(value, value) for key, value in each.where.items()})
        found[each.id, tuple(sorted(each.where.items()))] = each
    return found


def compare(a: Path | str, b: Path | str, *stores: Path, paired: bool = True) -> pd.DataFrame:
    """Which numbers moved from A to B: a row a number of either; shares and their differences as fractions.

    A and B are cards of audits, folders of runs or analyses, or folders of such folders. Differences are B less A:
    paired by question where cards hold their comparisons, or `stores` (A's and B's, or one) hold the verdicts of both
    runs and `paired` wants it; else from two intervals as if they were independent (`how`). `p` is Holm's over all
    confirmatory numbers, Benjamini and Hochberg's of others; `smallest` is found in 80 % of such comparisons; 95 % of
    differences of two runs of judge A are below `noise`, NaN where it is not known. `attrs["notes"]` are sentences on
    all of it.
    """
    ones, others = (read(Path(place).expanduser()) for place in (a, b))
    about, moved, rows, notes = dict[str, Estimand](), list[Estimate](), list[dict[str, Any]](), list[str]()
    for part in sorted(ones.keys() & others.keys()):
        one, two = ones[part].provenance, others[part].provenance
        if one.experiment != two.experiment:
            raise ValueError(f"{a} is of {one.experiment}, {b} of {two.experiment}: name two results of one experiment")
        called = _names_in_a(one.judges, two.judges)
        x, y = _placed(ones[part].numbers, {}), _placed(others[part].numbers, called)
        both = {at: (x[at], y[at]) for at in x.keys() & y.keys()}
        intervals, noise = _by_question(one, two, both, called, stores or (paths.REPLIES,)) if paired else ({}, {})
        notes += sources_apart(one, two, called)
        for at in sorted(x.keys() | y.keys()):
            where = ", ".join(f"{key} {plain(value)}" for key, value in at[1])
            row = {"part": part, "id": at[0], "where": where, "confirmatory": False}
            row |= {"a": x.get(at, NONE).value, "b": y.get(at, NONE).value, "noise": noise.get(at, math.nan)}
            rows.append(row | {"verdict": f"only in {'A' if at in x else 'B'}"})
            if at in both:
                confirmatory, interval = _confirms(one, x[at]), intervals.get(at) or independent(*both[at])
                id, unit = f"{part}:{at[0]}:{confirmatory}", x[at].unit.replace("rate", "pp")
                about[id] = replace(MOVES, family=Family("", [*x[at].where]) if confirmatory else None)
                moved.append(estimate(id, x[at].where, interval, x[at].data, unit, (-math.inf, math.inf)))
                how = PAIRED if at in intervals else APART
                rows[-1] |= {"confirmatory": confirmatory, "how": how, "unit": unit}
    if not moved:
        raise ValueError(f"{a} and {b}: no number is in both; name two results of one experiment")
    for row, each in zip((row for row in rows if "how" in row), conclude(moved, about), strict=True):
        row |= _facts(each)
    frame = pd.DataFrame(sorted(rows, key=lambda row: (not row["confirmatory"], ORDER.index(row["verdict"]))))
    apart = sorted(ones.keys() ^ others.keys())
    notes += [f"Not in both: {listed(apart)}."] if apart else []
    data = "simulated" if any(each.data == "simulated" for each in moved) else ""
    first = [note for note in dict.fromkeys(notes) if note.startswith("Other model")]
    further = [note for note in dict.fromkeys(notes) if note not in first]
    frame.attrs["notes"] = [*first, sentence(moved_words(frame, PAIRED), data), *further]
    return frame


def _names_in_a(one: Mapping[str, Any], two: Mapping[str, Any]) -> dict[str, str]:
    """What a judge of B is called in A, where one judge alone took the place of another."""
    gone, new = sorted(one.keys() - two.keys()), sorted(two.keys() - one.keys())
    return dict(zip(new, gone, strict=True)) if len(gone) == len(new) == 1 else {}


def _facts(each: Conclusion) -> dict[str, Any]:
    """The columns of a row that a conclusion on its difference fills; where nothing varied, nothing moved."""
    found = each.estimate
    same = found.value == 0 and "nothing varies" in found.method
    verdict: CardVerdict = "not shown" if same else each.verdict
    side = each.declared if verdict in ("bias", "hint") else replace(each.declared, above="moved")
    return {
        **{name: getattr(found, name) for name in ("low", "high", "n")},
        "p": each.p,
        "difference": found.value,
        "smallest": each.smallest,
        "verdict": VERDICTS[verdict],
        "words": say(replace(each, verdict=verdict, declared=side)),
    }


def _confirms(one: Any, each: Estimate) -> bool:
    """Whether a number is confirmatory: a probe of an audit, or declared so; those of an analysis by any module."""
    if hasattr(one, "probes"):
        return each.id in [probe["id"] for probe in one.probes]
    module = load_config(one.experiment).bias if one.experiment in experiment_names() else one.experiment
    declared = (declared_by(name).get(each.id) for name in (number_files() if module == "analyze" else [module]))
    return any(number and confirms(number, each.where) for number in declared)


def _between(x: Estimate, y: Estimate, se: float, df: float, how: str) -> Interval:
    """The t interval of y less x."""
    return t_interval(y.value - x.value, se, df, x.n + y.n, min(x.clusters, y.clusters), how, effective=df + 1)


def independent(x: Estimate, y: Estimate) -> Interval:
    """y less x from their intervals, as if they shared nothing: MOVER (Zou and Donner 2008).

    p is that of a t with the fewer degrees of freedom: 5 % where the interval ends at 0. Of runs on the same questions
    the interval is wider than it need be.
    """
    value, df = y.value - x.value, min(x.df, y.df)
    down, up = math.hypot(y.value - y.low, x.high - x.value), math.hypot(y.high - y.value, x.value - x.low)
    interval = _between(x, y, (down if value > 0 else up) / float(stdtrit(df, 0.975)), df, APART)
    return replace(interval, low=value - down, high=value + up) if interval.low == interval.low else interval


def _by_question(one: Any, two: Any, both: Both, called: Mapping[str, str], stores: Sequence[Path]) -> Found:
    """Differences of the same questions, and the noise of A in each; none where the verdicts are not there any more."""
    if hasattr(one, "probes"):
        values = {at: [getattr(side, "comparisons", {}).get(at[0]) for side in (one, two)] for at in both}
        same = "sha256" in one.parameters and one.parameters["sha256"] == two.parameters.get("sha256")
        return {at: by_card(x, y, len(one.probes)) for at, (x, y) in values.items() if same and x and y}, {}
    runs = [_stored(one, stores[0], {}), _stored(two, stores[-1], called)]
    if None in runs:
        return {}, {}
    found = {at: _between(*both[at], *spread, PAIRED) for at, spread in leave_out(*runs).items() if at in both}
    (frame, measured), repeats = runs[0], runs[0][0]["repeat"].nunique()
    again = [(frame[frame["repeat"] == repeat].assign(repeat=0), measured) for repeat in (0, 1)]
    # Two runs differ by less than two repeats of one, for each has all of them.
    noise = leave_out(*again) if repeats > 1 else {}
    return found, {at: float(stdtrit(df, 0.975)) * se / math.sqrt(repeats) for at, (se, df) in noise.items()}


def reread(name: str, parameters: Mapping[str, Any], store: Path) -> Asked:
    """An earlier run from its stored replies, by the parameters that its results name; in a notebook, too."""
    defaults = {**COMMON, **load_config(name).parameters}
    changed = {each: value for each, value in parameters.items() if each in defaults}
    experiment = load_experiment(name, **changed | {"judgments": "stored", "out": None, "store": str(store)})
    with ThreadPoolExecutor(1) as another:  # a notebook's own thread has a loop that runs
        return another.submit(asyncio.run, ask(experiment, show=False)).result()


def _stored(about: Any, store: Path, called: Mapping[str, str]) -> Run | None:
    """A run as it was read, None where its stored replies do not give the very verdicts that its numbers are of."""
    try:
        asked = reread(about.experiment, about.parameters, store)
    except (OSError, ValueError):
        return None
    if machine_provenance(asked)["inputs"] != getattr(about, "inputs", ""):
        return None
    measure, extra = bias_of(asked.experiment).measure, asked.experiment.extra
    more = {name: extra[name] for name in signature(measure).parameters if name in extra}

    def measured(frame: pd.DataFrame) -> dict[Place, float]:
        try:
            numbers = measure(recoded(frame.reset_index(drop=True)), asked.data, asked.experiment.seed, **more)
        except ValueError:  # nothing can be measured of so little
            return {}
        return {at: each.value for at, each in _placed(numbers, called).items() if each.value == each.value}

    return asked.frame, measured


def leave_out(one: Run, two: Run) -> dict[Place, tuple[float, int]]:
    """The standard error of each difference of two runs, and its degrees of freedom: a jackknife over questions.

    PARTS of the questions are left out of both, one after the other, so that what questions have in common cancels
    (Shao and Tu 1995: delete-a-group). Nothing below 10 questions.
    """
    ids = [clusters_of(frame).astype(str) for frame, _ in (one, two)]
    labels, left = sorted(set().union(*ids)), list[dict[Place, float]]()
    random.Random(f"{SEED}:compare").shuffle(labels)
    size = min(PARTS, len(labels)) if len(labels) >= MIN_CLUSTERS else 0
    for part in tqdm(range(size), "leaving out questions", leave=False, delay=2):
        x, y = (run[1](run[0][~id.isin(labels[part::size])]) for run, id in zip((one, two), ids, strict=True))
        left.append({at: y[at] - x[at] for at in x.keys() & y.keys()})
    places = set.intersection(*map(set, left)) if left else ()
    return {at: (math.sqrt((size - 1) * float(np.var([each[at] for each in left]))), size - 1) for at in places}


def by_card(one: Mapping[str, Sequence[float]], two: Mapping[str, Sequence[float]], tests: int) -> Interval:
    """One number of B less that of A from its comparisons on each question: clustered, with the p of sign flips."""
    questions = sorted(one.keys() | two.keys())
    sums, sizes = (np.array([[f(side.get(id, ())) for side in (one, two)] for id in questions]) for f in (sum, len))
    moved = np.diff(sums / np.where(sizes, sizes, np.nan), axis=1)[:, 0]
    return with_sign_flip(clustered(sums, sizes, (-1, 1)), moved, SEED, LEVEL / tests)
