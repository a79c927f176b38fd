"""Templates of bias tests: what is refused, what is drawn, what metrics get, and a bias by one file and one line."""

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
from helpers.biases import cognitive
from helpers.config import ConfigError, load_experiment, read_yaml
from helpers.datasets.bias_tests import load_templates
from helpers.run.sources import questions_of
from helpers.types import RatioScale
from tests.bias_folders import ENDS, EVERY, GAMBLE, SCALE, SELECTION, WHERE, built, changed, written
from tests.case_tables import load_cases

NUMBER, WORD, LOW = {"target": "anchor"}, EVERY["ends"][1], {"target": "low"}

CASES = load_cases("bias_templates")
BASES = {"scale": SCALE, "ends": ENDS, "gamble": GAMBLE, "selection": SELECTION}


def build_case(folder: Path, case: dict[str, Any]) -> Any:
    """The questions of a template of which something was changed."""
    template = BASES[case["template"]]
    for *place, value in case.get("changes", ()):
        template = changed(template, *place, to=value)
    return built(folder, template, case["line"])


@pytest.mark.parametrize("case", CASES["refused"].values(), ids=CASES["refused"])
def test_what_cannot_be_shown_or_measured_is_refused_by_place_and_field(tmp_path: Path, case: dict[str, Any]) -> None:
    with pytest.raises(ConfigError) as error:
        build_case(tmp_path, case)
    assert all(word in str(error.value) for word in case["words"]), str(error.value)
    assert ("own.yaml" in str(error.value)) != (WHERE in str(error.value)), "the file that is wrong, and only that one"


@pytest.mark.parametrize("case", CASES["unfit"].values(), ids=CASES["unfit"])
def test_parts_that_do_not_fit_are_refused_by_scenario_and_wording(tmp_path: Path, case: dict[str, Any]) -> None:
    with pytest.raises(ValueError) as error:
        build_case(tmp_path, case)
    assert all(word in str(error.value) for word in case["words"]), str(error.value)


def test_one_id_in_two_files_is_refused(tmp_path: Path) -> None:
    one = {**SCALE, "scenarios": [{"id": "b_cats", "group": "cats"}]}
    two = {**SCALE, "scenarios": [{"id": "cats", "group": "cats"}]}
    found = load_templates(written(tmp_path, a=one, a_b=two), {"a": NUMBER, "a_b": NUMBER}, WHERE)
    with pytest.raises(ValueError, match="a_b: the id a_b_cats is also that of a scenario of a"):
        cognitive.questions(found, 42)


def test_files_and_lines_are_matched_by_name(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no template of a bias test \(\*\.yaml\)"):
        load_templates(tmp_path, {}, WHERE)
    place = written(tmp_path, pull=SCALE, ends=ENDS)
    with pytest.raises(ConfigError, match=f"{WHERE}: options.metrics has no line for ends; it has: pull, halo"):
        load_templates(place, {"pull": NUMBER, "halo": WORD}, WHERE)
    found = load_templates(place, {"pull": NUMBER, "idle": LOW, "ends": WORD}, WHERE)
    assert list(found) == ["ends", "pull"], "a line without a file is left alone"
    assert list(load_templates(place / "ends.yaml", {"pull": NUMBER, "ends": WORD}, WHERE)) == ["ends"]
    written(tmp_path, **{"A bias": SCALE})
    with pytest.raises(ConfigError, match=r"A bias\.yaml: the name of a bias is lower case"):
        load_templates(place, {"A bias": NUMBER, "ends": WORD, "pull": NUMBER}, WHERE)
    (tmp_path / "A bias.yaml").write_text("title: a\ntitle: b\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="duplicate key 'title'"):
        read_yaml(tmp_path / "A bias.yaml")


# What is drawn.


def texts(questions: Any) -> dict[tuple[str, str, str], str]:
    return {(q.id, w.name, c): v.text for q in questions for w in q.wordings for c, v in w.versions.items()}


def test_draws_hang_on_seed_name_scenario_and_wording_only(tmp_path: Path) -> None:
    before = texts(built(tmp_path, SCALE, NUMBER))
    assert texts(built(tmp_path, SCALE, NUMBER)) == before
    more = changed(SCALE, "scenarios", to=[{"id": "ants", "group": "ants"}, *SCALE["scenarios"]])
    more["wordings"] = [*more["wordings"], {"control": "So {{ group }}?", "treatment": "So {{ anchor }} {{ group }}?"}]
    more["draws"] = {"season": {"choose": ["spring", "autumn"]}, **more["draws"]}
    more["wordings"][2]["treatment"] += " In {{ season }}?"
    after = texts(built(tmp_path, more, NUMBER))
    assert before.items() < after.items(), "a scenario, a wording and a draw more change nothing"
    other = texts(built(tmp_path, SCALE, NUMBER, seed=43))
    assert other.keys() == before.keys() and other != before


def test_draws_take_every_value_about_equally_often(tmp_path: Path) -> None:
    many = changed(SCALE, "scenarios", to=[{"id": f"s{n}", "group": f"g{n}"} for n in range(400)])
    drawn = [w.facts["anchor"] for q in built(tmp_path, many, NUMBER) for w in q.wordings]
    # 800 draws of 10 to 90: the mean of 50 has a standard error of 23.4 / 28.3 = 0.83; a value is missing once in 250.
    assert min(drawn) == 10 and max(drawn) == 90 and abs(sum(drawn) / 800 - 50) < 3.5
    words = [
        w.facts["mood"] for q in built(tmp_path, {**ENDS, "scenarios": many["scenarios"]}, WORD) for w in q.wordings
    ]
    assert set(words) == {"sunny", "grim"} and abs(words.count("grim") - 200) < 40  # 4 standard deviations of 10


def test_the_wordings_of_a_scenario_get_different_values_while_there_are(tmp_path: Path) -> None:
    wordings = [
        {"control": f"{n}: {{{{ group }}}}?", "treatment": f"{n}, {{{{ mood }}}}: {{{{ group }}}}?"} for n in "abcd"
    ]
    moods = changed({**ENDS, "wordings": wordings}, "draws", "mood", to={"choose": ["sunny", "grim", "dull"]})
    line = {"target": {"mood": {"sunny": "high", "grim": "low", "dull": "low"}}}
    firsts = set()
    for seed in range(30):
        for question in built(tmp_path, moods, line, seed=seed):
            drawn = [wording.facts["mood"] for wording in question.wordings]
            assert len(set(drawn[:3])) == 3 and drawn[3] == drawn[0]
            firsts.add(drawn[0])
    assert firsts == {"sunny", "grim", "dull"}


def test_a_text_that_grows_without_end_is_refused(tmp_path: Path) -> None:
    grown = [{"control": "{{ group }}?", "treatment": "{{ 'x' * 200000 }} {{ anchor }} {{ group }}?"}]
    with pytest.raises(ValueError, match=r"treatment: 2000\d\d characters; a text of a test has at most 100000"):
        built(tmp_path, {**SCALE, "wordings": grown}, NUMBER)


# Where the bias pulls, and the parameters of the published metric.


def numbered(tmp_path: Path, anchor: int) -> Any:
    return built(tmp_path, changed(SCALE, "draws", "anchor", to={"from": anchor, "to": anchor}), NUMBER)[0].wordings[0]


@pytest.mark.parametrize(
    ("anchor", "target", "place"),
    [(10, 10, 1), (14, 10, 1), (15, 10, 1), (16, 20, 2), (85, 80, 8), (0, 0, 0), (400, 100, 10)],
)
def test_a_number_pulls_to_the_nearest_option_and_on_ties_to_the_first(
    tmp_path: Path, anchor: int, target: float, place: int
) -> None:
    wording = numbered(tmp_path, anchor)
    assert (wording.target, wording.anchor, wording.facts) == (target, anchor, {"anchor": anchor})
    assert wording.scale == RatioScale(k=1.0, x1=place, x2=place)
    assert wording.versions["control"].options == tuple(f"{n} %" for n in range(0, 101, 10))
    assert wording.versions["treatment"].values == tuple(range(0, 101, 10))


def test_words_and_fixed_ends_pull_to_the_first_or_the_last_option(tmp_path: Path) -> None:
    ends = set()
    many = changed(ENDS, "scenarios", to=[{"id": f"s{n}", "group": "cats"} for n in range(12)])
    for question in built(tmp_path, many, WORD):
        (wording,) = question.wordings
        sunny = "It is sunny." in wording.versions["treatment"].text
        assert wording.target == (2.0 if sunny else 0.0) and wording.anchor is None
        assert wording.scale == (RatioScale(k=-1.0) if sunny else RatioScale(k=1.0))
        ends.add(sunny)
    assert ends == {True, False}
    low = built(tmp_path, SCALE, {"target": "low"})[0].wordings[0]
    high = built(tmp_path, SCALE, {"target": "high"})[0].wordings[0]
    assert (low.target, low.scale, low.anchor) == (0.0, RatioScale(k=1.0, x1=0.0, x2=0.0), None)
    assert (high.target, high.scale) == (100.0, RatioScale(k=-1.0, x1=0.0, x2=0.0))
    (gamble,) = built(tmp_path, GAMBLE, LOW)[0].wordings
    assert (gamble.target, gamble.scale, gamble.kind) == (0.0, RatioScale(k=1.0), "acceptance")


def test_a_line_may_give_some_parameters_of_the_published_metric(tmp_path: Path) -> None:
    line = {"target": "high", "scale": {"x1": 3, "flip_treatment": True}}
    wording = built(tmp_path, SCALE, line)[0].wordings[0]
    assert wording.scale == RatioScale(k=-1.0, x1=3.0, x2=0.0, flip_control=False, flip_treatment=True)
    assert wording.target == 100.0


def test_sides_are_decided_by_the_model_and_arguments_count_for_theirs(tmp_path: Path) -> None:
    (wording,) = built(tmp_path, SELECTION, {"target": "decided"})[0].wordings
    assert (wording.target, wording.anchor, wording.scale, wording.kind) == (None, None, None, "selection")
    assert set(wording.versions) == {"decision", "control", "treatment_for", "treatment_against"}
    decision = wording.versions["decision"]
    assert dict(zip(decision.options, decision.values, strict=True)) == {"against": -1.0, "for": 1.0}
    counts = {"Shade": 1.0, "Birds": 1.0, "Cost": -1.0, "Noise": -1.0}
    for condition in ("control", "treatment_for", "treatment_against"):
        version = wording.versions[condition]
        assert dict(zip(version.options, version.values, strict=True)) == counts
    assert wording.versions["treatment_for"].text == "On a park: you were for it. What would you read?"


def test_a_scenario_may_have_options_of_its_own(tmp_path: Path) -> None:
    template = changed(ENDS, "scenarios", 1, "options", to=["weak", "so-so", "fine", "strong"])
    cats, dogs = built(tmp_path, template, {"target": "high"})
    assert cats.wordings[0].versions["control"].options == ("bad", "fair", "good") and cats.wordings[0].target == 2.0
    own = dogs.wordings[0].versions
    assert own["control"].options == own["treatment"].options == ("weak", "so-so", "fine", "strong")
    assert own["control"].values == (0.0, 1.0, 2.0, 3.0) and dogs.wordings[0].target == 3.0
    assert "strong" not in own["control"].text, "options are no part of the text"


# --- a bias by one file and one line ----------------------------------------------------------------------------------

NAME = "cognitive_biases"
#: Models of each kind: 2 scenarios in 2 wordings are 8 pairs a model with 2 repeats.
MODELS = 30


def section() -> str:
    text = (paths.ROOT / "data" / "README.md").read_text(encoding="utf-8")
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
    head, found, tail = config.read_text(encoding="utf-8").partition("  metrics:")
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
    monkeypatch.setattr(paths, "BUILTIN", data)
    together = {q.id: q.wordings for q in questions_of(load_experiment(NAME))}
    assert builtin.items() < together.items() and len(together) == len(builtin) + 2


def test_without_its_line_the_file_is_refused_with_the_place_of_the_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "EXPERIMENTS", paths.ROOT / "experiments")
    with pytest.raises(ConfigError, match=rf"{NAME}/config\.yaml: options\.metrics has no line for scarcity; it has: "):
        questions_of(load_experiment(NAME, questions=str(folder)))


def test_every_sentence_of_the_example_is_whole(folder: Path) -> None:
    shown = questions_of(load_experiment(NAME, questions=str(folder)))
    for wording in (wording for question in shown for wording in question.wordings):
        control, treatment = (wording.versions[name].text for name in ("control", "treatment"))
        assert control.endswith("?") and treatment.endswith("?") and len(treatment) > len(control)
        assert f" {wording.facts['left']} " in treatment and 2 <= wording.facts["left"] <= 5
        assert wording.versions["control"].options[-1] == "very much"
