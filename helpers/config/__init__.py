"""What defines a run: YAML files and notebook parameters, read strictly into frozen records.

Here config.yaml of an experiment and the parameters of its notebook are settled into a run, and what a notebook
collects likewise; `models` reads models.yaml and limits.yaml, `yaml_text` all YAML.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, create_model

from helpers import paths
from helpers.config.models import (
    AUDITED,
    LimitEntry,
    Rate,
    Usd,
    known_models,
    load_limits,
    load_models,
    model_of,
    perhaps,
)
from helpers.config.yaml_text import ConfigError, Settings, Strict, checked, line_of, line_words, parse_yaml, read_yaml
from helpers.types import Collection, Experiment, Model, Question, short_hash

STYLES = ("paper", "neurips", "icml", "acl", "talk")
#: The entry of `budget_usd` that limits all models together; no model can have this name there.
TOTAL = "total"
#: Sources of judgments for which no file of judgments is read.
NO_FILE = ("ask", "stored", "hub")

Names = Annotated[list[str], Field(min_length=1)]
NAMES = 'write a list of names such as ["gpt_fast"] (plain papermill reads lists only with -y), or null'


class Elsewhere(Strict):
    """A file or folder of another dataset repository."""

    repo: str
    revision: str = "main"
    path: str


class Hub(Strict):
    """Where published files lie: a dataset repository, a revision and the files' paths in it.

    Without `questions` those are taken that the answers hold. Of several places of judgments a later one adds the
    conditions that the earlier ones do not hold; of Arena-Hard, whose repository is large, the files meant are listed.
    """

    repo: str
    revision: str = "main"
    questions: str | Elsewhere | None = None
    answers: str | list[str] | None = None
    judgments: str | list[str] | None = None


class Methods(Strict):
    """What a methods paragraph says of an experiment's design, in whole sentences: orders of answers, planned tests."""

    orders: str = ""
    tests: str = ""


class ExperimentConfig(Strict):
    """One experiments/<name>/config.yaml.

    `parameters` are the experiment's own, with their defaults. Where that is null, the others are a text if it stands
    in `texts` or in `file_texts` (it then says what a file of published judgments holds, and needs one), else a list
    of names.
    """

    title: str
    bias: str
    after: list[str] = Field([])
    extends: str | None = None
    judges: Names
    candidates: list[str] = Field([])
    repeats: int = Field(1, ge=1)
    concurrency: int = Field(16, ge=1, le=1024)
    max_age_days: int = Field(7, ge=0)
    builtin: str
    hub: Hub | None = None
    options: dict[str, Any] = Field({})
    parameters: dict[str, Any] = Field({})
    texts: list[str] = Field([])
    file_texts: list[str] = Field([])
    methods: Methods = Methods()


class Parameters(Strict):
    """The parameters that every notebook has, with their defaults."""

    judges: Names | None = Field(None, description=NAMES)
    candidates: Names | None = Field(None, description=NAMES)
    questions: str = "builtin"
    judgments: str = "ask"
    question_limit: int | None = Field(None, ge=1)
    repeats: int | None = Field(None, ge=1)
    budget_usd: Usd | Annotated[dict[str, Usd], Field(min_length=1)] = Field(
        0.0,
        description="write one amount, or {name: US dollars, ...} with names of this run's models, or total",
    )
    budget_total_usd: Usd | None = None
    keep_going: bool = False
    concurrency: int | None = Field(None, ge=1, le=1024)
    timeout_seconds: Rate | None = None
    seed: int = Field(42, ge=0)  # numpy's generators take none below
    figure_style: Literal[STYLES] = "paper"  # type: ignore[valid-type]
    out: str | None = None
    store: str | None = None


class CollectionConfig(Strict):
    """One experiments/<name>/config.yaml of a notebook that collects: it has a question, and asks no judge."""

    title: str
    collects: Literal[True]


class CollectionParameters(Strict):
    """The parameters of a notebook that collects, with their defaults."""

    results: Names | None = Field(None, description=NAMES)
    failed: Names | None = Field(None, description=NAMES)
    verdicts: str | None = None
    figure_style: Literal[STYLES] = "paper"  # type: ignore[valid-type]
    out: str | None = None


def _defaults(kind: type[Strict]) -> dict[str, Any]:
    return {name: field.default for name, field in kind.model_fields.items()}


#: Parameters that every notebook has, and those of a notebook that collects, with their defaults.
COMMON, COLLECTING = _defaults(Parameters), _defaults(CollectionParameters)


def _parameters_of(config: ExperimentConfig) -> type[Parameters]:
    """The common parameters and an experiment's own, each of the type of its default; entries of a list likewise.

    Whole numbers must not be negative: what they count or choose begins at 0.
    """
    fields: dict[str, Any] = {}
    for name, default in config.parameters.items():
        kind, limits, words = type(default), {}, f"the default is {default!r}"
        if default is None:
            text = name in (*config.texts, *config.file_texts)
            kind, words = (str | None, "write a text, or null") if text else (Names | None, NAMES)
        elif kind is list:
            kind, limits = list[type((default or [""])[0])], {"min_length": 1}
        elif kind in (int, float):
            limits = {"ge": 0} if kind is int else {"allow_inf_nan": False}
        fields[name] = (kind, Field(default, description=words, **limits))
    return create_model("Parameters", __base__=Parameters, **fields)


def collection_names() -> list[str]:
    """The folders of experiments/ whose config.yaml says `collects: true`, in order of name."""
    return experiment_names(collecting=True)


def experiment_names(collecting: bool = False) -> list[str]:
    """The experiments that ask judges, or those that collect: folders of experiments/ with a config.yaml, by name."""
    contents = {path.parent.name: read_yaml(path) for path in sorted(paths.EXPERIMENTS.glob("*/config.yaml"))}
    return [name for name, each in contents.items() if (isinstance(each, dict) and "collects" in each) == collecting]


def load_config(name: str) -> ExperimentConfig:
    """One experiment's config.yaml, checked; an unknown name is an error that lists the known ones."""
    known = experiment_names()
    if name not in known:
        raise ConfigError(f"no experiment '{name}'; there are: {', '.join(known)}")
    config = _load(ExperimentConfig, name)
    for key, others in (("after", config.after), ("extends", [config.extends] if config.extends else [])):
        line = line_words(paths.EXPERIMENTS / name / "config.yaml", (key,)) if others else ""
        _refuse_unknown(f"experiments/{name}/config.yaml: {line}{key}", others, known)
    return config


def _refuse_unknown(where: str, names: Sequence[str], known: Sequence[str]) -> None:
    if unknown := [name for name in names if name not in known]:
        raise ConfigError(f"{where} = {', '.join(unknown)}: there are: {', '.join(known)}")


def _load(kind: type[Settings], name: str) -> Settings:
    path = paths.EXPERIMENTS / name / "config.yaml"
    return checked(kind, read_yaml(path), f"experiments/{name}/config.yaml", path)


def _settle(kind: type[Settings], name: str, given: Mapping[str, Any]) -> tuple[Settings, dict[str, Any], Path]:
    """The parameters of a notebook, those that are not the defaults, and the folder of its results."""
    defaults = _defaults(kind)
    if unknown := sorted(set(given) - set(defaults)):
        raise ConfigError(f"{name} has no parameter {', '.join(unknown)}; it has: {', '.join(defaults)}")
    changed = {key: given[key] for key in defaults if key in given and given[key] != defaults[key]}
    settled = checked(kind, changed, f"parameters of {name}")
    digest = short_hash(json.dumps(changed, sort_keys=True, default=str), digits=10)
    usual = paths.RUNS / f"{name}-{digest}" if changed else paths.FIGURES / name
    return settled, changed, (Path(settled.out).expanduser() if settled.out else usual).resolve()


def builtin_knowledge() -> dict[str, Question]:
    """What simulated models know: every built-in question that has answer points, by its text.

    A question on a passage is known by its text and options, one a line, as prompts show them.
    """
    known = {}
    for article in _records("passages.jsonl"):
        for each in article["questions"]:
            shown = "\n".join([each["text"], *map("{}) {}".format, "ABCD", each["options"])])
            more = {"options": tuple(each["options"]), "gold": each["gold"]}
            known[shown] = Question(each["id"], article["category"], each["text"], tuple(each["reasons"]), **more)
    for each in _records("questions.jsonl"):
        if points := tuple(each.get("points", ())):
            known[each["text"]] = Question(each["id"], each["category"], each["text"], points)
    return known


def _records(name: str) -> Iterator[dict[str, Any]]:
    """The lines of all built-in files of this name."""
    for path in sorted(paths.DATA.glob(f"*/{name}")):
        yield from map(json.loads, path.read_text(encoding="utf-8").splitlines())


def load_experiment(name: str, models_file: Path | None = None, **parameters: Any) -> Experiment:
    """Settle a run of experiment `name` from its config.yaml and the notebook's parameters.

    `parameters` are those of the notebook's parameters cell; what is not given has its default. Everything wrong is
    a ConfigError before any call: an unknown parameter, judge or key, a wrong type, real judges on simulated answers.
    """
    config = load_config(name)
    settled, changed, out = _settle(_parameters_of(config), name, parameters)
    models = load_models(models_file or paths.MODELS, builtin_knowledge())
    of_call = {key: value for key in ("concurrency", "timeout_seconds") if (value := getattr(settled, key))}
    models = {key: replace(model, **of_call) for key, model in models.items()}
    load_limits(models)  # what is wrong there shows before anything is asked
    published = settled.judgments not in ("ask", "stored")
    hint = "; of published judges name those that are models of models.yaml, else a smaller file or folder"
    own = {key: parameters.get(key, default) for key, default in config.parameters.items()}
    for key in config.file_texts:
        if own[key] is not None and settled.judgments in NO_FILE:
            raise ConfigError(
                f"parameters of {name}: {key} = {own[key]!r} says what one file of published judgments holds "
                f"and cannot change judgments={settled.judgments!r}; leave it at null"
            )
    budget, of_config = settled.budget_usd, ("title", "bias", "options", "max_age_days")
    of_notebook = ("questions", "judgments", "question_limit", "seed", "figure_style")
    experiment = Experiment(
        name=name,
        judges=known_models(settled.judges or config.judges, models, "judge", hint if published else ""),
        candidates=known_models(settled.candidates or config.candidates, models, "candidate"),
        repeats=settled.repeats or config.repeats,
        concurrency=settled.concurrency or config.concurrency,
        budget_usd=budget.get(TOTAL, math.fsum(budget.values())) if isinstance(budget, dict) else budget,
        out=out,
        store=Path(settled.store).expanduser().resolve() if settled.store else paths.REPLIES,
        default=not changed,
        own=own,
        folder=paths.EXPERIMENTS / name,
        shared=paths.EXPERIMENTS / (config.extends or name),
        builtin=paths.DATA / (config.extends or name) / config.builtin,
        hub=config.hub.model_dump() if config.hub else None,
        after=tuple(config.after),
        parameters=changed,
        **{field: getattr(config, field) for field in of_config},
        **{field: getattr(settled, field) for field in of_notebook},
        editor=_editor(own["editor"], models) if "editor" in own else None,
        baselines=_baselines(config.options.get("baselines", {}), own.get("baselines"), models),
    )
    _refuse_made_up(experiment, settled, models)
    limits_of(experiment)  # a name that this run does not ask is refused before anything is planned
    return experiment


def limits_of(experiment: Experiment) -> dict[str, float]:
    """What a run may spend on single models, by name; empty where `budget_usd` is one amount for all.

    A model that is not named has what the `total` leaves, and nothing where there is no total. A name that is none of
    this run's models is a ConfigError that lists them.
    """
    amounts = experiment.parameters.get("budget_usd")
    if not isinstance(amounts, Mapping):
        return {}
    valid = [*dict.fromkeys(model.name for model in experiment.models), TOTAL]
    if unknown := sorted(set(amounts) - set(valid)):
        raise ConfigError(
            f"parameters of {experiment.name}: budget_usd names {', '.join(unknown)}, which this run does not ask; "
            f"valid: {', '.join(valid)}"
        )
    named = {name: float(usd) for name, usd in amounts.items() if name != TOTAL}
    return named if TOTAL in amounts else dict.fromkeys(valid[:-1], 0.0) | named


def _editor(name: str, models: Mapping[str, Model]) -> Model | None:
    """Who rewrites texts; None where they were rewritten beforehand."""
    if name != "published" and name not in models:
        known = ", ".join(sorted(models))
        raise ConfigError(f'unknown editor {name}{perhaps([name], models)}; "published", or one of the models: {known}')
    return models.get(name)


def _baselines(usual: Mapping[str, str], chosen: Sequence[str] | None, models: Mapping[str, Model]) -> dict[str, Model]:
    """What candidates are compared with by category: as the parameter says, else as config.yaml does.

    An entry of the parameter is `category=name`, or a name alone: the baseline of all categories that are not named.
    It replaces config.yaml's, so that a category left out, or misspelt, is refused and never gets a default baseline.
    """
    entries = [[part.strip() for part in entry.rpartition("=")] for entry in chosen or ()]
    names = {category or "other": name for category, _, name in entries} if entries else usual
    if len(names) < len(entries):
        raise ConfigError(f"baselines {', '.join(chosen)}: one for all categories, or one each as category=name")
    return {category: known_models([name], models, "baseline")[0] for category, name in names.items()}


def _refuse_made_up(experiment: Experiment, settled: Parameters, models: Mapping[str, Model]) -> None:
    """Refuse (ConfigError) to pay real judges, or a real editor, for texts of simulated models that nobody named."""
    own, editor = experiment.own, experiment.editor
    if settled.judgments != "ask" or own.get("answers", "ask") != "ask":
        return
    named = {"candidates": settled.candidates, "baselines": own.get("baselines")}
    writing = {"candidates": experiment.candidates, "baselines": experiment.baselines.values()}
    made_up = [what for what in writing if not named[what] and any(model.simulated for model in writing[what])]
    real = ", ".join(judge.name for judge in experiment.judges if not judge.simulated)
    editing = f"the real editor {editor.name}" if editor and not editor.simulated else ""
    if made_up and (payee := f"real judges ({real})" if real else editing):
        absent = " and ".join(made_up)
        raise ConfigError(
            f"{payee} would be paid for the texts of the simulated {absent} of config.yaml; name the {absent} too: "
            f"{', '.join(f'{what}=[...]' for what in made_up)} (known models: {', '.join(sorted(models))})"
        )


def load_collection(name: str, **parameters: Any) -> Collection:
    """Settle a notebook that collects from its config.yaml and its parameters.

    Everything wrong is a ConfigError: an unknown name, parameter or failed experiment, a folder that is not there.
    """
    if name not in collection_names():
        raise ConfigError(f"'{name}' collects nothing; these do: {', '.join(collection_names())}")
    title = _load(CollectionConfig, name).title
    settled, changed, out = _settle(CollectionParameters, name, parameters)
    known, where = experiment_names(), f"parameters of {name}"
    _refuse_unknown(f"{where}: failed", settled.failed or (), known)
    folders = [Path(each).expanduser().resolve() for each in settled.results or ()]
    if absent := [str(folder) for folder in folders if not folder.is_dir()]:
        raise ConfigError(f"{where}: results = {', '.join(absent)}: no such folder")
    if settled.verdicts and not Path(settled.verdicts).expanduser().exists():
        raise ConfigError(f"{where}: verdicts = {settled.verdicts}: no such file or folder")
    results = folders or [paths.FIGURES / each for each in known]
    return Collection(name, title, tuple(known), tuple(results), tuple(settled.failed or ()), out, default=not changed)
