"""What defines a run: config.yaml of an experiment and the parameters of its notebook, settled into frozen records."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, Field, ValidationInfo, create_model

from .. import paths
from ..types import Experiment, Model, Question, short_hash
from .models import Rate, Usd, known_models, load_limits, load_models, model_of, perhaps
from .yaml_text import ConfigError, Settings, Strict, checked, fault, line_words, parse_yaml, read_yaml

#: The entry of `budget_usd` that limits all models together; no model can have this name there.
TOTAL = "total"

Names = Annotated[list[str], Field(min_length=1)]
Style = Literal["paper", "neurips", "icml", "acl", "talk"]
STYLES = get_args(Style)


def _by_category(entries: list[str], info: ValidationInfo) -> dict[str, Model]:
    """The models that entries name by category: `category=name`, or a name alone for all others ("other")."""
    parts = [[part.strip() for part in entry.rpartition("=")] for entry in entries]
    names = {category or "other": name for category, _, name in parts}  # no default for one that is left out
    if len(names) < len(entries):
        raise ValueError(fault("categories"))
    return {category: known_models([name], info)[0] for category, name in names.items()}


def _one_or_published(name: str, info: ValidationInfo) -> Model | None:
    """The model of this name; None where what it would make was published."""
    return None if name == "published" else known_models([name], info, published=True)[0]


def _each_once(chosen: list[str]) -> list[str]:
    if len(set(chosen)) < len(chosen):
        raise ValueError(fault("twice"))
    return chosen


Models = Annotated[Names, AfterValidator(_each_once), AfterValidator(known_models)]
#: What a parameter of one experiment can be where its default does not tell.
KINDS: dict[str, Any] = {
    "text": str | None,
    "file_text": str | None,  # what the one file of published judgments holds
    "names": Names | None,
    "categories": Names | None,  # of questions, to keep
    "model": Annotated[str, AfterValidator(_one_or_published)],
    "models": Annotated[Names, AfterValidator(_by_category)] | None,
}


def _one_of_them(name: str, info: ValidationInfo) -> str:
    """The name of an experiment or, in fields that stand after its `parameters`, of one of these."""
    if name not in (valid := [*info.data.get("parameters", info.context or ())]):
        raise ValueError(fault("choices", valid=valid))
    return name


Choice = Annotated[str, AfterValidator(_one_of_them)]


class Elsewhere(Strict):
    """A file or folder of another dataset repository."""

    repo: str
    revision: str = "main"
    path: str


class Hub(Strict):
    """Where published files lie in a dataset repository."""

    repo: str
    revision: str = "main"
    questions: str | Elsewhere | None = None  # None: those that the answers hold
    answers: str | list[str] | None = None
    judgments: str | list[str] | None = None  # a later place adds the conditions that earlier ones do not hold


class ExperimentConfig(Strict):
    """One experiments/<name>/config.yaml; `options` are of this experiment alone, `parameters` a notebook may change.

    A parameter that is null has the value of the option of its name. `kinds` says what a parameter can be where its
    default does not: one of KINDS, or a list of choices. Those in `asking` cannot change published judgments.
    """

    title: str
    bias: str
    after: list[Choice] = Field([])
    extends: Choice | None = None
    judges: Names
    candidates: list[str] = Field([])
    repeats: int = Field(1, ge=1)
    concurrency: int = Field(16, ge=1, le=1024)
    max_age_days: int = Field(7, ge=0)
    builtin: str
    hub: Hub | None = None
    options: dict[str, Any] = Field({})
    parameters: dict[str, Any] = Field({})
    kinds: dict[Choice, Literal[tuple(KINDS)] | Names] = Field({})  # type: ignore[valid-type]
    asking: list[Choice] = Field([])
    methods: dict[Literal["orders", "tests"], str] = Field({})


class Parameters(Strict):
    """The parameters that every notebook has, with their defaults."""

    judges: Models | None = Field(None, description=fault("names") + fault("judges"))
    candidates: Models | None = Field(None, description=fault("names"))
    questions: str = "builtin"
    judgments: str = "ask"
    question_limit: int | None = Field(None, ge=1)
    repeats: int | None = Field(None, ge=1)
    budget_usd: Usd | Annotated[dict[str, Usd], Field(min_length=1)] = Field(0.0, description=fault("budget"))
    budget_total_usd: Usd | None = None
    keep_going: bool = False
    concurrency: int | None = Field(None, ge=1, le=1024)
    timeout_seconds: Rate | None = None
    seed: int = Field(42, ge=0)  # numpy's generators take none below
    figure_style: Style = "paper"
    out: str | None = None
    store: str | None = None


def defaults_of(kind: type[BaseModel]) -> dict[str, Any]:
    """The parameters of a kind, with their defaults."""
    return {name: field.default for name, field in kind.model_fields.items()}


#: Parameters that every notebook of an experiment has, with their defaults.
COMMON = defaults_of(Parameters)


def _parameters_of(config: ExperimentConfig) -> type[Parameters]:
    """The common parameters and an experiment's own, each of its kind or of the type of its default, as are items."""
    kinds: dict[str, Any] = {}
    for name, default in config.parameters.items():
        words = f"the default is {json.dumps(default)}"
        kind = config.kinds.get(name, "names" if default is None else "")
        if isinstance(kind, str) and kind:
            form, words = KINDS[kind], fault("names") if default is None and "text" not in kind else words
        elif isinstance(default, list):
            item = Literal[tuple(kind)] if kind else type((default or [""])[0])
            form = Annotated[list[item], Field(min_length=1), AfterValidator(_each_once)]  # type: ignore[valid-type]
        else:
            form = Literal[tuple(kind)] if kind else type(default)
        limits: Any = {int: {"ge": 0}, float: {"allow_inf_nan": False}}.get(form, {})  # whole numbers count or choose
        kinds[name] = (form, Field(default, description=words, validate_default=True, **limits))
    return create_model("Parameters", __base__=Parameters, **kinds)


def experiment_names(collecting: bool = False) -> list[str]:
    """The folders of experiments/ whose config.yaml is of an experiment, or of what collects (`collects: true`)."""
    contents = {path.parent.name: read_yaml(path) for path in sorted(paths.EXPERIMENTS.glob("*/config.yaml"))}
    return [name for name, each in contents.items() if (isinstance(each, dict) and "collects" in each) == collecting]


def load_config(name: str) -> ExperimentConfig:
    """One experiment's config.yaml, checked; an unknown name is an error that lists the known ones."""
    return load_settings(ExperimentConfig, name, experiment_names(), "no experiment '{name}'; there are: {known}")


def load_settings(kind: type[Settings], name: str, names: Sequence[str], unknown: str) -> Settings:
    """The config.yaml of a name, checked; words of an `unknown` one, which is none of those `names`."""
    if name not in names:
        raise ConfigError(unknown.format(name=name, known=", ".join(names)))
    path = paths.EXPERIMENTS / name / "config.yaml"
    return checked(kind, read_yaml(path), f"experiments/{name}/config.yaml", path, context=names)


def settle_parameters(
    kind: type[Settings], name: str, chosen: Mapping[str, Any], usual: Mapping[str, Any], context: Any
) -> tuple[Settings, dict[str, Any], Path]:
    """Parameters, where null those that are `usual`; those that are not the defaults; and the folder of the results."""
    defaults = defaults_of(kind)
    if unknown := sorted(set(chosen) - set(defaults)):
        raise ConfigError(f"{name} has no parameter {', '.join(unknown)}; it has: {', '.join(defaults)}")
    changed = {key: chosen[key] for key in defaults if key in chosen and chosen[key] != defaults[key]}
    usual = {key: value for key, value in usual.items() if key in defaults and value and defaults[key] is None}
    settled: Any = checked(kind, {**usual, **changed}, f"parameters of {name}", context=context)
    digest = short_hash(json.dumps(changed, sort_keys=True, default=str), digits=10)
    folder = paths.RUNS / f"{name}-{digest}" if changed else paths.FIGURES / name
    return settled, changed, (Path(settled.out).expanduser() if settled.out else folder).resolve()


def builtin_knowledge() -> dict[str, Question]:
    """What simulated models know: every built-in question that has answer points, by its text and options as shown."""
    questions = {}
    for path in (*sorted(paths.BUILTIN.glob("*/passages.jsonl")), *sorted(paths.BUILTIN.glob("*/questions.jsonl"))):
        for record in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            for each in record.get("questions", [record]):
                points, options = each.get("reasons") or each.get("points", ()), each.get("options", ())
                facts = {"points": tuple(points), "options": tuple(options), "gold": each.get("gold")}
                if points:
                    text = "\n".join([each["text"], *map("{}) {}".format, "ABCD", options)])
                    questions[text] = Question(each["id"], record["category"], each["text"], **facts)
    return questions


def load_experiment(name: str, models_file: Path | None = None, **parameters: Any) -> Experiment:
    """A run of experiment `name`, from its config.yaml and its parameters; all that is wrong is a ConfigError."""
    config = load_config(name)
    models = load_models(models_file or paths.MODELS, builtin_knowledge())
    of_call = {key: parameters[key] for key in ("concurrency", "timeout_seconds") if parameters.get(key)}
    models = {key: replace(model, **of_call) for key, model in models.items()}
    load_limits(models)  # what is wrong there shows before anything is asked
    usual = config.options | {key: getattr(config, key) for key in ("judges", "candidates", "repeats", "concurrency")}
    settled, changed, out = settle_parameters(_parameters_of(config), name, parameters, usual, models)
    extra = config.options | {key: getattr(settled, key) for key in config.parameters}
    extra |= {kind: extra[key] for key, kind in config.kinds.items() if kind == "categories"}
    source = settled.judgments
    idle = ["candidates", "repeats", *config.asking] if source not in ("ask", "stored") else []
    if source in ("ask", "stored", "hub"):  # where no file of judgments is read
        idle += [key for key, kind in config.kinds.items() if kind == "file_text"]
    if idle := [key for key in idle if key in changed]:
        facts = {"changed": [f"{key} = {changed[key]!r}" for key in idle], "judgments": source}
        facts["defaults"] = [json.dumps(config.parameters.get(key)) for key in idle]
        raise ConfigError(f"parameters of {name}: {fault('idle', **facts)}")
    budget = settled.budget_usd
    settings = {
        **dict(config),
        **dict(settled),
        "name": name,
        "candidates": settled.candidates or (),
        "budget_usd": budget.get(TOTAL, math.fsum(budget.values())) if isinstance(budget, dict) else budget,
        "out": out,
        "store": Path(settled.store).expanduser().resolve() if settled.store else paths.REPLIES,
        "default": not changed,
        "extra": extra,
        "folder": paths.EXPERIMENTS / name,
        "shared": paths.EXPERIMENTS / (config.extends or name),
        "builtin": paths.BUILTIN / (config.extends or name) / config.builtin,
        "hub": config.hub.model_dump() if config.hub else None,
        "parameters": changed,
    }
    experiment = Experiment(**{field.name: settings[field.name] for field in fields(Experiment)})
    _refuse_made_up(experiment, config.kinds, models)
    limits_of(experiment)  # a name that this run does not ask is refused before anything is planned
    return experiment


def limits_of(experiment: Experiment) -> dict[str, float]:
    """What a run may spend on single models, by name; empty where `budget_usd` is one amount for all."""
    amounts = experiment.parameters.get("budget_usd")
    if not isinstance(amounts, Mapping):
        return {}
    valid = [*dict.fromkeys(model.name for model in experiment.models), TOTAL]
    if unknown := sorted(set(amounts) - set(valid)):
        raise ConfigError(f"parameters of {experiment.name}: {fault('stranger', names=unknown, valid=valid)}")
    # A model that is not named has what the `total` leaves, and nothing where there is no total.
    named = {name: float(usd) for name, usd in amounts.items() if name != TOTAL}
    return named if TOTAL in amounts else dict.fromkeys(valid[:-1], 0.0) | named


def _refuse_made_up(experiment: Experiment, kinds: Mapping[str, Any], models: Mapping[str, Model]) -> None:
    """Refuse (ConfigError) to ask real models about texts of simulated ones that nobody named."""
    extra = experiment.extra
    if experiment.judgments != "ask" or extra.get("answers", "ask") != "ask":
        return
    writing = {"candidates": experiment.candidates}
    writing |= {key: extra[key].values() for key, kind in kinds.items() if kind == "models"}
    made_up = [key for key in writing if key not in experiment.parameters and any(x.simulated for x in writing[key])]
    real = ", ".join(judge.name for judge in experiment.judges if not judge.simulated)
    working = [(key, each) for key, each in extra.items() if isinstance(each, Model) and not each.simulated]
    payees = [f"real judges ({real})"] * bool(real) + [f"the real {key} {each.name}" for key, each in working]
    if made_up and payees:
        facts = {"absent": " and ".join(made_up), "lists": [f"{key}=[...]" for key in made_up]}
        raise ConfigError(fault("made_up", payee=payees[0], known=sorted(models), **facts))
