"""What defines a run: YAML files and notebook parameters, read strictly into frozen records."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

from helpers import paths
from helpers.config.budgets import limits_of, total_of
from helpers.config.chosen import baselines_of, editor_of, known_models, perhaps, refuse_made_up
from helpers.config.collecting import COLLECTING, collection_names, experiment_names, load_collection
from helpers.config.faults import checked
from helpers.config.limits import load_limits
from helpers.config.models import AUDITED, load_contexts, load_models, model_of
from helpers.config.schema import COMMON, ConfigError, ExperimentConfig, Parameters, Strict, own_parameters
from helpers.config.yaml_text import line_of, parse_yaml, read_yaml
from helpers.types import Experiment, Question, short_hash

__all__ = [
    "AUDITED",
    "COLLECTING",
    "COMMON",
    "ConfigError",
    "Experiment",
    "Strict",
    "checked",
    "collection_names",
    "experiment_names",
    "limits_of",
    "line_of",
    "load_collection",
    "load_config",
    "load_contexts",
    "load_experiment",
    "load_limits",
    "load_models",
    "model_of",
    "parse_yaml",
    "perhaps",
    "read_yaml",
]


def load_config(name: str) -> ExperimentConfig:
    """One experiment's config.yaml, checked; an unknown name is an error that lists the known ones."""
    if name not in experiment_names():
        raise ConfigError(f"no experiment '{name}'; there are: {', '.join(experiment_names())}")
    where = f"experiments/{name}/config.yaml"
    path = paths.EXPERIMENTS / name / "config.yaml"
    config = checked(ExperimentConfig, read_yaml(path), where, partial(line_of, path))
    for key, named in (("after", config.after), ("extends", [config.extends] if config.extends else [])):
        strangers = [other for other in named if other not in experiment_names()]
        if strangers:
            there = f"{key} = {', '.join(strangers)}: there are: {', '.join(experiment_names())}"
            raise ConfigError(f"{where}: line {line_of(path, (key,))}: {there}")
    return config


def builtin_knowledge() -> dict[str, Question]:
    """What simulated models know: every built-in question that has answer points, by its text.

    A question on a passage is known by its text and options, one a line, as prompts show them.
    """
    known = {}
    for path in sorted(paths.DATA.glob("*/passages.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            article = json.loads(line)
            for each in article["questions"]:
                lettered = [f"{letter}) {option}" for letter, option in zip("ABCD", each["options"], strict=True)]
                known["\n".join([each["text"], *lettered])] = Question(
                    each["id"],
                    article["category"],
                    each["text"],
                    tuple(each["reasons"]),
                    options=tuple(each["options"]),
                    gold=each["gold"],
                )
    for path in sorted(paths.DATA.glob("*/questions.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            if record.get("points"):
                known[record["text"]] = Question(
                    record["id"], record["category"], record["text"], tuple(record["points"])
                )
    return known


def load_experiment(name: str, models_file: Path | None = None, **parameters: Any) -> Experiment:
    """Settle a run of experiment `name` from its config.yaml and the notebook's parameters.

    `parameters` are those of the notebook's parameters cell; what is not given has its default. Everything wrong is
    a ConfigError before any call: an unknown parameter, judge or key, a wrong type, real judges on simulated answers.
    """
    config = load_config(name)
    defaults = {**COMMON, **config.parameters}
    unknown = sorted(set(parameters) - set(defaults))
    if unknown:
        raise ConfigError(f"{name} has no parameter {', '.join(unknown)}; it has: {', '.join(defaults)}")
    given = {**defaults, **parameters}
    where = f"parameters of {name}"
    common = {**{key: given[key] for key in COMMON}, "budget_usd": total_of(given["budget_usd"], where)}
    settled = checked(Parameters, common, where)
    models = load_models(models_file or paths.MODELS, builtin_knowledge())
    load_limits(models)  # what is wrong there shows before anything is asked
    published = settled.judgments not in ("ask", "stored")
    hint = "; of published judges name those that are models of models.yaml, else a smaller file or folder"
    judges = known_models(settled.judges or config.judges, models, "judge", hint if published else "")
    candidates = known_models(settled.candidates or config.candidates, models, "candidate")
    own = own_parameters(config.parameters, given, where)
    if own.get("condition") is not None and settled.judgments in ("ask", "stored", "hub"):
        told = f"names the hint of one file of published judgments and cannot change judgments={settled.judgments!r}"
        raise ConfigError(f"{where}: condition = {own['condition']!r} {told}; leave it at null")
    editor = editor_of(own["editor"], models) if "editor" in own else None
    baselines = baselines_of(config.options.get("baselines", {}), own.get("baselines"), models)
    refuse_made_up(settled, own, judges, candidates, editor, baselines, models)
    changed = {key: given[key] for key in defaults if given[key] != defaults[key]}
    digest = short_hash(json.dumps(changed, sort_keys=True, default=str), digits=10)
    out = (
        Path(settled.out).expanduser()
        if settled.out
        else paths.RUNS / f"{name}-{digest}"
        if changed
        else paths.FIGURES / name
    )
    experiment = Experiment(
        name=name,
        title=config.title,
        bias=config.bias,
        judges=judges,
        candidates=candidates,
        repeats=settled.repeats or config.repeats,
        out=out.resolve(),
        store=Path(settled.store).expanduser().resolve() if settled.store else paths.REPLIES,
        default=not changed,
        own=own,
        options=config.options,
        concurrency=config.concurrency,
        max_age_days=config.max_age_days,
        folder=paths.EXPERIMENTS / name,
        shared=paths.EXPERIMENTS / (config.extends or name),
        builtin=paths.DATA / (config.extends or name) / config.builtin,
        hub=config.hub.model_dump() if config.hub else None,
        after=tuple(config.after),
        parameters=changed,
        editor=editor,
        baselines=baselines,
        **{
            k: getattr(settled, k)
            for k in ("questions", "judgments", "question_limit", "budget_usd", "seed", "figure_style")
        },
    )
    limits_of(experiment)  # a name that this run does not ask is refused before anything is planned
    return experiment
