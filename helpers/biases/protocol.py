"""The form of an experiment: it says what is asked (`trials`) and what is measured (`measure`); all else has a default.

`load_bias` makes of a bias module and its numbers.yaml what the runner needs; the other functions are the defaults, and
what several modules make their trials and numbers with.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache, partial, wraps
from inspect import signature
from operator import itemgetter
from textwrap import indent
from typing import Any, Concatenate, ParamSpec, TypeVar, overload

import numpy as np
import pandas as pd

from .. import prompts
from ..config import read_yaml
from ..stats.intervals import (
    MIN_CLUSTERS,
    Interval,
    Span,
    Sums,
    Values,
    cluster_sums,
    clusters_of,
    contrast,
    estimate,
    no_interval,
    t_interval,
    wilson,
)
from ..stats.power import detectable_effect, detectable_mcnemar
from ..stats.standing import LEVEL, conclude, confirms, tested, together
from ..stats.tests import with_sign_flip
from ..types import Answer, Estimate, Experiment, Judgment, Model, Question, Request, Trial, short_hash
from ..words import CardLine, Conclusion, Headline, card_line, headline as headline_of, lines
from ..words.numbers import declared_by, number_files

#: Answers by question and candidate; judgments by the key of their request.
Answers = Mapping[tuple[str, str], Answer]
Replies = Mapping[str, Judgment]
#: The trials of a stage, as far as replies so far determine them; published answers make the stage of answers empty.
Stage = Callable[[str, Experiment, Sequence[Question], Replies, Answers | None], list[Trial]]
#: Numbers as they are measured: id, place and interval, and what such a number can be where its unit does not say it.
Numbers = Iterable[Estimate | tuple[str, Mapping[str, str], Interval] | tuple[str, Mapping[str, str], Interval, Span]]
#: What an estimator takes: a table of verdicts, and what else.
Table = TypeVar("Table")
P = ParamSpec("P")
#: What intervals of published counts take for granted.
INDEPENDENT = "counts, independence assumed"
#: The name of a test of values of -1, 0 and 1, one a question.
EXACT = "exact McNemar p"
#: The names of two texts that are compared, and what a verdict says for the first of them.
LABELS = ("A", "B")
SIGNS = {"A>>B": 1.0, "A>B": 1.0, "A=B": 0.0, "B>A": -1.0, "B>>A": -1.0}

# --- what is asked ----------------------------------------------------------------------------------------------------


def make_trial(
    experiment: Experiment,
    question: Question,
    judge: Model,
    condition: str,
    template: prompts.Template,
    texts: Mapping[str, Any],
    *,
    form: str = "pairwise",
    labels: tuple[str, ...] = LABELS,
    repeat: int = 0,
    schema: Mapping[str, Any] | None = None,
    written: Iterable[Answer] = (),
    passage: str = "",
    **placed: Any,
) -> Trial:
    """A question to a judge: the template with these texts and the nonce, and the schema of the form of verdict.

    `written` are the answers shown (what is not written yet counts its token limit), `passage` what other prompts begin
    with, `placed` further fields of the Trial. `schema` takes the place of the form's own.
    """
    nonce = prompts.nonce(experiment.seed, question.id)
    system, prompt = prompts.late(template, **texts, nonce=nonce, structured=judge.structured)
    if schema is None and form != "text":
        schema = prompts.schema_for(judge, form, labels, nonce)
    unwritten = sum(answer.max_tokens for answer in written if answer.text is None)
    request = Request(judge, prompt, system, schema if judge.structured else None, repeat, unwritten, passage)
    at = (experiment.name, question.id, question.category, judge, request, condition)
    return Trial(*at, form=form, labels=labels, nonce=nonce, **placed)


def compare_texts(
    experiment: Experiment, question: Question, texts: Mapping[str, str], condition: str
) -> Iterable[Trial]:
    """Which of two named texts is better, shown in this order to each judge as often as `repeats` says."""
    nonce = prompts.nonce(experiment.seed, question.id)
    prompts.check_nonce(nonce, {f"{name} of question {question.id}": text for name, text in texts.items()})
    template = prompts.load(experiment.folder / "prompts" / "judge.txt")
    shown = {"question": question.text, **dict(zip(("first", "second"), texts.values(), strict=True))}
    for judge in experiment.judges:
        for repeat in range(experiment.repeats):
            yield make_trial(experiment, question, judge, condition, template, shown, repeat=repeat, shown=tuple(texts))


def interleave(trials: Iterable[Trial], seed: int, *keys: str) -> list[Trial]:
    """The trials in one random order drawn by the seed, so that no condition is always the earlier one.

    `keys` of `where`, and what is "shown", tell apart the trials of one question, judge, condition and repeat.
    """

    def lot(trial: Trial) -> str:
        drawn: list[Any] = [trial.question_id, trial.judge.name, trial.condition, trial.request.repeat]
        for key in keys:
            drawn += trial.shown if key == "shown" else [trial.where[key]]
        return short_hash(seed, "interleaved", *drawn, digits=16)

    return sorted(trials, key=lot)


def answers_then_verdicts(
    answer_trials: Callable[[Experiment, Sequence[Question]], list[Trial]],
    answers: Callable[[Experiment, Sequence[Question], Replies], Answers],
    judge_trials: Callable[[Experiment, Sequence[Question], Answers], list[Trial]],
) -> Stage:
    """The trials of an experiment whose candidates answer first, unless their answers are published."""

    def trials(
        stage: str,
        experiment: Experiment,
        questions: Sequence[Question],
        replies: Replies,
        prior: Answers | None = None,
    ) -> list[Trial]:
        if stage == "answers":
            return [] if prior is not None else answer_trials(experiment, questions)
        written = prior if prior is not None else answers(experiment, questions, replies)
        return judge_trials(experiment, questions, written)

    return trials


def unfit(answers: Answers) -> dict[str, list[str]]:
    """Answers that are cut, empty or refused and therefore not judged, with the reason, by question."""
    reasons: dict[str, list[str]] = {}
    for (question_id, candidate), answer in answers.items():
        if answer.outcome != "ok":
            reasons.setdefault(question_id, []).append(f"{candidate}: {answer.outcome}")
    return reasons


def fit(answers: Answers) -> dict[str, list[Answer]]:
    """The answers that can be judged by question, in order of candidates; unwritten ones among them."""
    found: dict[str, list[Answer]] = {}
    for (question_id, _), answer in sorted(answers.items()):
        if answer.outcome == "ok":
            found.setdefault(question_id, []).append(answer)
    return found


def few_words(count: int, unit: str = "question") -> list[str]:
    """The sentence that so few units carry no interval; none where they do."""
    return [f"{count} {unit}{'s' * (count != 1)}: no interval below {MIN_CLUSTERS}."] if count < MIN_CLUSTERS else []


def caution(experiment: Experiment, questions: Sequence[Question]) -> str:
    """What this design cannot show, to be read before paying; "" where there is nothing to say."""
    once = ["repeats = 1: nothing is asked twice, so nothing is known of noise."] if experiment.repeats < 2 else []
    return " ".join(once + few_words(len(questions)))


# --- what is measured -------------------------------------------------------------------------------------------------


@overload
def estimator(
    module: str, *, cluster: str = ...
) -> Callable[[Callable[Concatenate[Table, P], Numbers]], Callable[Concatenate[Table, str, P], list[Estimate]]]: ...
@overload
def estimator(module: str, data: str) -> Callable[[Callable[P, Numbers]], Callable[P, list[Estimate]]]: ...
def estimator(module: str, data: str = "", cluster: str = "question") -> Any:
    """Makes of a function that yields numbers one that lists them as Estimates, in the units that `module` declares.

    `data` is where verdicts are from; without it the new function takes that behind its table, as in
    `first_position_effect(table, data, seed)`. `cluster` is what methods call the unit that varies.
    """

    def decorate(measured: Callable[..., Numbers]) -> Callable[..., list[Estimate]]:
        @wraps(measured)
        def estimates(*given: Any, **settings: Any) -> list[Estimate]:
            source, given = (data, given) if data else (given[1], (given[0], *given[2:]))
            declared, found = declared_by(module), list[Estimate]()
            for each in measured(*given, **settings):
                if not isinstance(each, Estimate):
                    id, where, interval, *span = each
                    interval = replace(interval, method=interval.method.replace("question", cluster))
                    each = estimate(id, where, interval, source, declared[id].unit, *span)
                found.append(each)
            return found

        return estimates

    return decorate


def tidy(judgments: Iterable[Judgment], answers: Answers, columns: Sequence[str] | None = None) -> pd.DataFrame:
    """One row a verdict with what its Trial's `where` says; `verdict` is missing where none could be read.

    `columns` chooses some; `answers` are not needed.
    """
    rows = [
        {
            "experiment": trial.experiment,
            "question_id": trial.question_id,
            "category": trial.category,
            "judge": trial.judge.name,
            "judge_vendor": trial.judge.vendor,
            "judge_model": each.completion.model if each.completion else None,
            "condition": trial.condition,
            "repeat": trial.request.repeat,
            "wording": trial.condition,
            **trial.where,
            "verdict": each.verdict.choice if each.verdict else None,
            "outcome": each.outcome,
        }
        for each in judgments
        for trial in (each.trial,)
    ]
    return pd.DataFrame(rows, columns=columns)


def measure_all(
    estimators: Iterable[Callable[..., Iterable[Estimate]]], frame: pd.DataFrame, data: str, **settings: Any
) -> list[Estimate]:
    """The numbers of these estimators, each with the settings that it takes."""
    taken = ({name: settings[name] for name in signature(each).parameters if name in settings} for each in estimators)
    return [number for each, more in zip(estimators, taken, strict=True) for number in each(frame, data, **more)]


def mean_interval(
    rows: pd.DataFrame, values: pd.Series, cluster: str = "question_id", reason: str = "", null: Any = None, **more: Any
) -> Interval:
    """The mean of a value a row, NaN where it has none, clustered; without values none, for this `reason`."""
    if reason and values.isna().all():
        return no_interval(math.nan, 0, 0, reason)
    return contrast(cluster_sums(rows.assign(value=values), "value", cluster, **more), null=null)


def share_interval(rows: pd.DataFrame, hits: pd.Series, reason: str = "", strata: str | None = None) -> Interval:
    """The share of rows that are hits: Wilson where each question has one row, else `mean_interval`."""
    if len(rows) and clusters_of(rows).is_unique:
        return wilson(int(hits.sum()), len(rows))
    return mean_interval(rows, hits.astype(float), strata=strata, reason=reason)


def mean_with_flips(
    rows: pd.DataFrame, values: pd.Series, seed: int, level: float = LEVEL, *moved: str, null: float = 0.0, **more: Any
) -> Interval:
    """`mean_interval` with the p of sign flips over questions around `null` (`with_sign_flip`); none of few of them."""
    interval = mean_interval(rows, values, **more)
    if interval.clusters < MIN_CLUSTERS:
        return interval
    sums = cluster_sums(rows.assign(value=values - null), "value", "question_id")
    return with_sign_flip(interval, sums.numerators[:, 0], seed, level, *moved)


def contrast_with_flips(sums: Sums, weights: Values, seed: int, level: float = LEVEL, *moved: str) -> Interval:
    """A weighted sum of rates with the p of sign flips over clusters in place of t's; none without an interval."""
    interval, w = contrast(sums, weights), np.asarray(weights)
    if math.isnan(interval.low):
        return interval
    used = w != 0
    share = w[used] / sums.denominators[:, used].mean(axis=0)
    return with_sign_flip(interval, (sums.numerators[:, used] * share).sum(axis=1), seed, level, *moved)


def percent(share: float, digits: int = 1) -> str:
    """A share in words."""
    return f"{100 * share:.{digits}f} %"


def span(shares: Sequence[float], unit: str = "%") -> str:
    """The range of these shares, in words."""
    ends = dict.fromkeys(f"{100 * end:.1f}" for end in (min(shares), max(shares)))
    return f"{' to '.join(ends)} {unit}"


def counted_share(k: int, n: int) -> Interval:
    """A published share, k of n, with Wilson's interval."""
    interval = wilson(k, n)
    method = f"Wilson; {INDEPENDENT}" if interval.low == interval.low else interval.method
    return replace(interval, method=method, clusters=0)


def bare(value: Any, n: int, why: str = "counted") -> Interval:
    """A published number of n that has no interval, and why: by default it is a count."""
    return no_interval(value, n, 0, why)


def worst_case(value: float, n: int, questions: int) -> Interval:
    """A mean of values from -1 to 1 with the largest error that it can have: all that was said on a question is one."""
    why = "worst case: all verdicts on a question taken for one"
    return t_interval(value, math.sqrt((1 - value**2) / questions), questions - 1, n, questions, why)


def by_place(
    id: str, frame: pd.DataFrame, by: Sequence[str], interval: Callable[[pd.DataFrame], Interval], **where: str
) -> Numbers:
    """The interval of the rows of each place in `frame`; its `where` has the columns `by`, and `where`."""
    for place, rows in frame.groupby([*by], observed=True, sort=True):
        yield id, dict(zip(by, map(str, place), strict=True)) | where, interval(rows)


def mean_by_place(
    id: str, frame: pd.DataFrame, values: pd.Series, by: Sequence[str] = ("judge",), **more: Any
) -> Numbers:
    """The mean of `values`, NaN where a row has none, for each place in `frame`; `more` as in `mean_interval`."""
    return by_place(id, frame, by, lambda rows: mean_interval(rows, values[rows.index], **more))


def smallest_effect(each: Estimate, level: float) -> float:
    """The smallest true effect that the test of a number finds with power 0.8 at this level; NaN where there is none.

    By McNemar's exact test with as many questions on the side with fewer as were seen, else by t.
    """
    if EXACT not in each.method or math.isnan(each.se):
        # A one-sided test is a two-sided one at twice the level.
        return detectable_effect(each.se, each.df, level=level * (2 if "one-sided p" in each.method else 1))
    # Of values of -1, 0 and 1 the sum of squares counts those that are not 0.
    decided = each.n * (each.n - 1) * each.se**2 + each.n * each.value**2
    return detectable_mcnemar(each.n, round((decided - each.n * abs(each.value)) / 2), level=level)


def conclusions(module: str, estimates: Iterable[Estimate], *ids: str) -> list[Conclusion]:
    """What may be said of the numbers with these ids, in their order; without ids of those that have a family."""
    declared = declared_by(module)
    found = conclude((each for each in estimates if each.id in declared), declared, smallest_effect)
    chosen = ids or [id for id, about in declared.items() if about.family]
    return [each for id in chosen for each in found if each.estimate.id == id]


def pick(estimates: Iterable[Estimate], *ids: str, **where: str) -> list[Estimate]:
    """The estimates with one of these ids (with any, without ids) whose places hold these values."""
    chosen = (each for each in estimates if not ids or each.id in ids)
    return [each for each in chosen if all(each.where.get(key) == value for key, value in where.items())]


def find(estimates: Iterable[Estimate], id: str, **where: str) -> Estimate | None:
    """The one estimate with this id and just this place; None where there is none."""
    return next((each for each in pick(estimates, id, **where) if len(each.where) == len(where)), None)


def confirmatory(module: str, estimates: Iterable[Estimate]) -> list[tuple[list[Estimate], int]]:
    """The confirmatory families, each with the number of tests that Holm corrects it for."""
    declared, families = declared_by(module), dict[tuple[str, str], list[Estimate]]()
    for each in estimates:
        if confirms(declared[each.id], each.where):
            families.setdefault((each.data, declared[each.id].family.name), []).append(each)
    return [(several, sum(map(tested, several))) for several in families.values()]


def card(module: str, estimates: Sequence[Estimate], vendors: Mapping[str, str] | None = None) -> list[CardLine]:
    """A line for each judge and number of the family."""
    found = conclusions(module, estimates)
    names = [each.declared.id.removesuffix("_effect").replace("_", " ") for each in found]
    return [card_line(each.estimate.where["judge"], name, [each]) for each, name in zip(found, names, strict=True)]


def by_judge(
    several: Iterable[Conclusion], judge_of: Callable[[Mapping[str, str]], str] = itemgetter("judge")
) -> dict[str, list[Conclusion]]:
    """What may be said of each judge, in the order of their names."""
    found: dict[str, list[Conclusion]] = {}
    for each in several:
        found.setdefault(judge_of(each.estimate.where), []).append(each)
    return dict(sorted(found.items()))


def share_lines(
    module: str, estimates: Iterable[Estimate], id: str, measure: str, over: str, judge_of: Any = itemgetter("judge")
) -> list[CardLine]:
    """A line for each judge with its shares of this id over all their parts (see `together`)."""
    shares = pick(estimates, id)
    judges = sorted({judge_of(each.where) for each in shares})
    parts = ([each for each in shares if judge_of(each.where) == judge] for judge in judges)
    every = [together(several, id, judge, over) for judge, several in zip(judges, parts, strict=True)]
    return [card_line(each.estimate.where["judge"], measure, [each]) for each in conclusions(module, every, id)]


def headline(module: str, estimates: Sequence[Estimate]) -> Headline | None:
    """How many tests show what, of estimates from one source of data; the largest number carries it."""
    return headline_of(conclusions(module, estimates))


def finding(module: str, estimates: Sequence[Estimate]) -> str:
    """What may be concluded, a line for each judge and number of the family."""
    return lines(conclusions(module, estimates)) or "No number could be measured: nothing can be concluded."


def by_source(block: Mapping[str, Any], found: Sequence[Conclusion], subject: str = "{judge}") -> str:
    """What published counts say source by source: its month, what was asked, and a point for each subject."""
    points = []
    for name, source in block["counts"].items():
        mine = lines([each for each in found if each.estimate.where["source"] == name], subject, inline=True)
        points.append(f"- **{name}** ({source['month']}; {source['asked']}):\n{indent(mine, '  ')}")
    return "\n".join(points)


def paper_tables(
    module: str, estimates: Sequence[Estimate], **words: str
) -> list[tuple[str, str, list[Estimate], list[str], list[str]]]:
    """What goes into tables by tables.yaml of the experiment: name, caption, estimates, row keys and column keys.

    There `ids` are the numbers, or maps them to keys that their places get and puts them into its order; `fill` has
    keys of places that lack them. Left out are places with a key of `without`, published numbers of tables of
    `measured` ones, and tables without numbers. `words` fill the braces of captions.
    """
    found = []
    for table in read_yaml(number_files()[module].with_name("tables.yaml")):
        ids, without = [*table["ids"]], {*table.get("without", ())}
        more = table["ids"] if isinstance(table["ids"], Mapping) else {}
        chosen = [
            replace(each, where={**table.get("fill", {}), **each.where, **more.get(each.id, {})})
            for each in estimates
            if each.id in ids
            and not without & {*each.where}
            and not (table.get("measured") and each.data == "published")
        ]
        chosen = sorted(chosen, key=lambda each: ids.index(each.id)) if more else chosen
        if chosen:
            caption = table["caption"].format(**words)
            found.append((table["name"], caption, chosen, table["rows"], table["columns"]))
    return found


# --- the module as the runner needs it --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bias:
    """What the runner needs of a bias module; `load_bias` fills in what the module does not have."""

    trials: Stage
    measure: Callable[..., Iterable[Estimate]]
    confirmatory: Callable[[Sequence[Estimate]], list[tuple[list[Estimate], int]]]
    card: Callable[..., list[CardLine]]
    headline: Callable[[Sequence[Estimate]], Headline | None]
    finding: Callable[..., str]
    #: What is asked, in this order; the last stage holds the judgments.
    stages: tuple[str, ...] = ("judging",)
    #: What a question must have to be judged.
    needs: str = "what is asked about"
    #: The condition that others are compared with, where replies of an earlier run may serve as it.
    control: str | None = None
    check: Callable[[Experiment], None] = lambda experiment: None
    caution: Callable[[Experiment, Sequence[Question]], str] = caution
    #: The questions that templates of its own make, with a seed; only those of a data set where there is none.
    questions: Callable[[Mapping[str, Any], int], Sequence[Question]] | None = None
    #: The model that candidates are compared with on a question.
    baseline_of: Callable[[Experiment, Question], Model | None] = lambda experiment, question: None
    answers: Callable[[Experiment, Sequence[Question], Replies], Answers] = lambda experiment, questions, replies: {}
    tidy: Callable[[Iterable[Judgment], Answers], pd.DataFrame] = tidy
    published_frame: Callable[[pd.DataFrame], pd.DataFrame] = lambda frame: frame
    #: The share that the power of a test depends on, NaN where it is another test.
    rarer_side: Callable[[Estimate, Sequence[Estimate]], float] = lambda each, estimates: math.nan


@lru_cache
def load_bias(name: str) -> Bias:
    """The bias module of this name with its defaults.

    Without STAGES its `trials` takes the experiment and one question; INTERLEAVED (keys as in `interleave`) asks the
    trials of all questions in one random order. Constants are in capitals in the module.
    """
    module = importlib.import_module(f".{name}", __package__)
    declared_by(name)  # what is wrong with its numbers.yaml is said before anything is asked
    usual: dict[str, Any] = {each.__name__: partial(each, name) for each in (confirmatory, card, headline, finding)}
    names = {at: each.name for each in fields(Bias) for at in (each.name, each.name.upper())}
    hooks = {field: getattr(module, at) for at, field in names.items() if hasattr(module, at)}
    if "stages" not in hooks:
        ask, keys = hooks.pop("trials"), getattr(module, "INTERLEAVED", None)

        def trials(stage: str, experiment: Experiment, questions: Sequence[Question], *replies: Any) -> list[Trial]:
            found = [trial for question in questions for trial in ask(experiment, question)]
            return found if keys is None else interleave(found, experiment.seed, *keys)

        usual["trials"] = trials
    return Bias(**{**usual, **hooks})
