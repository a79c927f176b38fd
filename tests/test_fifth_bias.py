"""A bias of one's own by one YAML file and one line, as CONTRIBUTING has it, and without a line of Python."""

from __future__ import annotations

import asyncio
import re
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from helpers import paths, run
from helpers.config import ConfigError, load_experiment
from helpers.run.sources import questions_of

NAME = "cognitive_biases"
#: Models of each kind: 2 scenarios in 2 wordings are 8 pairs a model with 2 repeats.
MODELS = 30


def section() -> str:
    text = (paths.ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    return text.split("## Add a bias test\n")[1].split("\n## ")[0]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What a reader has after the two steps: a folder with the file, and the line in config.yaml."""
    template, line = re.findall(r"```yaml\n(.*?)```", section(), re.DOTALL)
    (name,) = re.findall(r"`(\w+)\.yaml` \(the file's name", section())
    own = tmp_path / "my_tests"
    own.mkdir()
    (own / f"{name}.yaml").write_text(template, encoding="utf-8")
    shutil.copytree(paths.EXPERIMENTS, tmp_path / "experiments", ignore=shutil.ignore_patterns("*.ipynb"))
    config = tmp_path / "experiments" / NAME / "config.yaml"
    head, found, tail = config.read_text(encoding="utf-8").partition("  biases:")
    comment, rest = tail.split("\n", 1)
    config.write_text(f"{head}{found}{comment}\n{line}{rest}", encoding="utf-8")
    monkeypatch.setattr(paths, "EXPERIMENTS", tmp_path / "experiments")
    return own


def asked(folder: Path, **parameters: Any) -> pd.DataFrame:
    """The decisions of models that have the bias and of others that have none, written down as a reader would."""
    models = {
        f"{kind}_{n}": {
            "provider": "simulated",
            "model_id": f"{kind}-{n}",
            "vendor": "own",
            "traits": {"answer_noise": 0.1, **({"biases": {"scarcity": 0.5}} if kind == "planted" else {})},
        }
        for kind in ("planted", "plain")
        for n in range(MODELS)
    }
    file = folder.parent / "models.yaml"
    defaults = yaml.safe_load(paths.MODELS.read_text(encoding="utf-8"))
    file.write_text(yaml.safe_dump(defaults | models), encoding="utf-8")
    given = {"judges": [*models], "questions": str(folder), "store": str(folder.parent / "replies"), **parameters}
    experiment = load_experiment(NAME, models_file=file, out=str(folder.parent / "out"), **given)
    return asyncio.run(run.ask(experiment, show=False)).frame


def test_a_fifth_bias_is_asked_found_where_it_is_and_not_found_where_it_is_not(folder: Path) -> None:
    frame = asked(folder)
    assert set(frame["category"]) == {"scarcity"} and set(frame["outcome"]) == {"ok"}
    assert len(frame) == 2 * MODELS * 2 * 2 * 2 * 2  # models, scenarios, wordings, conditions, repeats
    assert set(frame["target"]) == {4.0} and set(frame["k"]) == {-1.0}, "toward the last of five options"
    mean = frame.groupby(["judge", "question_id", "condition"])["value"].mean().unstack()
    shift = (mean["treatment"] - mean["control"]).groupby("judge").mean()
    for kind, least, most in (("planted", 0.6, 1.4), ("plain", -0.1, 0.1)):
        some = shift[shift.index.str.startswith(kind)]
        error = some.std() / MODELS**0.5
        assert len(some) == MODELS
        # Half the way from honest answers (2 on average) to 4 is 1; without the bias nothing moves.
        assert least - 4 * error < some.mean() < most + 4 * error
        assert (some.mean() > 4 * error) == (kind == "planted")


def test_the_command_asks_the_model_that_has_it() -> None:
    (command,) = re.findall(r"`(recuse run [^`]*)`", section())
    assert "-p questions my_tests -p judges '[my_model]'" in command and "simulated `my_model`" in " ".join(
        section().split()
    )


def test_it_can_stand_beside_the_builtin_ones_or_alone_in_its_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {"judges": ["sim_gpt_decider"], "questions": str(folder / "scarcity.yaml")}
    assert {q.category for q in questions_of(load_experiment(NAME, **given))} == {"scarcity"}
    builtin = {q.id: q.wordings for q in questions_of(load_experiment(NAME))}
    data = folder.parent / "data"
    shutil.copytree(paths.DATA / NAME, data / NAME)
    shutil.copy(folder / "scarcity.yaml", data / NAME)
    for passages in paths.DATA.glob("*/*.jsonl"):
        (data / passages.parent.name).mkdir(exist_ok=True)
        shutil.copy(passages, data / passages.parent.name)
    monkeypatch.setattr(paths, "DATA", data)
    together = {q.id: q.wordings for q in questions_of(load_experiment(NAME))}
    assert builtin.items() < together.items() and len(together) == len(builtin) + 2


def test_without_its_line_the_file_is_refused_with_the_place_of_the_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "EXPERIMENTS", paths.ROOT / "experiments")
    with pytest.raises(ConfigError, match=rf"{NAME}/config\.yaml: options\.biases has no line for scarcity; it has: "):
        questions_of(load_experiment(NAME, questions=str(folder)))


def test_every_sentence_of_the_example_is_whole(folder: Path) -> None:
    shown = questions_of(load_experiment(NAME, questions=str(folder)))
    for wording in (wording for question in shown for wording in question.wordings):
        control, treatment = (wording.versions[name].text for name in ("control", "treatment"))
        assert control.endswith("?") and treatment.endswith("?") and len(treatment) > len(control)
        assert f" {wording.facts['left']} " in treatment and 2 <= wording.facts["left"] <= 5
        assert wording.versions["control"].options[-1] == "very much"
