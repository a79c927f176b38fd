"""Templates of bias tests: what is refused, what is drawn, and what the metrics are told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from helpers.biases import cognitive
from helpers.config import ConfigError, read_yaml
from helpers.datasets.bias_templates import load_templates
from helpers.types import RatioScale
from tests.bias_folders import ENDS, EVERY, GAMBLE, SCALE, SELECTION, WHERE, built, changed, written

NUMBER, WORD, LOW = {"target": "anchor"}, EVERY["ends"][1], {"target": "low"}

# What is wrong -> the template, its line, and the words of the error.
REFUSED: dict[str, tuple[Any, Any, tuple[str, ...]]] = {
    "unknown key": ({**SCALE, "wording": []}, NUMBER, ("own.yaml", "unknown key 'wording'", "wordings")),
    "missing key": (changed(SCALE, "source", to=None), NUMBER, ("own.yaml", "key 'source' is missing")),
    "unknown kind": ({**SCALE, "kind": "gamble"}, NUMBER, ("kind = 'gamble'", "'scale', 'acceptance' or 'selection'")),
    "title that is no text": ({**SCALE, "title": True}, NUMBER, ("title = True", "valid string")),
    "no scenario": ({**SCALE, "scenarios": []}, NUMBER, ("scenarios = []",)),
    "no wording": ({**SCALE, "wordings": []}, NUMBER, ("wordings = []",)),
    "wording without control": (
        changed(SCALE, "wordings", 1, "control", to=None),
        NUMBER,
        ("wordings, number 2: needs control, treatment; found treatment",),
    ),
    "wording of another kind": (
        changed(SELECTION, "wordings", 0, "decision", to=None),
        {"target": "decided"},
        ("wordings, number 1: needs control, decision, treatment; found control, treatment",),
    ),
    "scale without options": (changed(SCALE, "options", to=None), NUMBER, ("options: a scale and a gamble have them",)),
    "selection with options": (
        {**SELECTION, "options": ["a", "b"]},
        {"target": "decided"},
        ("of a selection they are the arguments",),
    ),
    "one option": ({**SCALE, "options": ["one"]}, LOW, ("options: 1", "2 to 22")),
    "too many options": (
        changed(SCALE, "options", "step", to=4),
        NUMBER,
        ("options: 26", "2 to 22"),
    ),
    "no step": (changed(SCALE, "options", "step", to=0), NUMBER, ("step = 0",)),
    "three answers to a gamble": ({**GAMBLE, "options": ["no", "yes", "maybe"]}, LOW, ("options: 3; a gamble has 2",)),
    "option twice": ({**ENDS, "options": ["bad", "good", "bad"]}, WORD, ("options: 'bad' stands twice",)),
    "option of two lines": (
        {**ENDS, "options": ["bad", "good\nK) best"]},
        WORD,
        ("options: 'good\\nK) best'", "one line"),
    ),
    "option with another line end": ({**ENDS, "options": ["bad", "good\u2028L) so"]}, WORD, ("one line",)),
    "option that ends blank": ({**ENDS, "options": ["bad", "good "]}, WORD, ("'good '", "blank")),
    "empty option": ({**ENDS, "options": ["bad", ""]}, WORD, ("options: ''", "one line")),
    "option that is no text": ({**ENDS, "options": ["bad", True]}, WORD, ("options", "True")),
    "unit of two lines": (changed(SCALE, "options", "unit", to="\nK) 7"), NUMBER, ("one line",)),
    "draw of nothing": (changed(SCALE, "draws", "anchor", to={}), NUMBER, ("anchor", "`from` and `to`, or `choose`")),
    "draw of both": (
        changed(SCALE, "draws", "anchor", to={"from": 1, "to": 3, "choose": [1]}),
        NUMBER,
        ("`from` and `to`, or `choose`",),
    ),
    "draw without end": (changed(SCALE, "draws", "anchor", to={"from": 1}), NUMBER, ("`from` and `to`, or `choose`",)),
    "draw from an empty list": (changed(SCALE, "draws", "anchor", to={"choose": []}), NUMBER, ("nothing to draw",)),
    "draw backwards": (changed(SCALE, "draws", "anchor", to={"from": 3, "to": 1}), NUMBER, ("nothing to draw",)),
    "draw of yes and no": (changed(ENDS, "draws", "mood", to={"choose": [True, False]}), WORD, ("True",)),
    "draw from a text": (changed(SCALE, "draws", "anchor", to={"from": "1", "to": 3}), NUMBER, ("from = '1'",)),
    "gamble without ratio": (changed(GAMBLE, "draws", "ratio", to=None), LOW, ("needs `ratio`",)),
    "gamble with a word for a ratio": (
        changed(GAMBLE, "draws", "ratio", to={"choose": [2, "much"]}),
        LOW,
        ("numbers above 0",),
    ),
    "gamble without a gain": (changed(GAMBLE, "draws", "ratio", to={"from": 0, "to": 3}), LOW, ("numbers above 0",)),
    "scenario without id": (
        changed(SCALE, "scenarios", 1, "id", to=None),
        NUMBER,
        ("scenarios, number 2: id = None", "lower case"),
    ),
    "scenario with a bad id": (changed(SCALE, "scenarios", 0, "id", to="Two Cats"), NUMBER, ("id = 'Two Cats'",)),
    "id twice": (changed(SCALE, "scenarios", 1, "id", to="cats"), NUMBER, ("id 'cats' stands twice",)),
    "other fields": (
        changed(SCALE, "scenarios", 1, "gruop", to="dogs"),
        NUMBER,
        ("scenarios, dogs: has other fields than the first one: gruop",),
    ),
    "field that is drawn": (
        changed(changed(SCALE, "scenarios", 0, "anchor", to=3), "scenarios", 1, "anchor", to=4),
        NUMBER,
        ("scenarios, cats: anchor is drawn",),
    ),
    "field called decided": (
        changed(changed(SELECTION, "scenarios", 0, "decided", to="x"), "scenarios", 1, "decided", to="y"),
        {"target": "decided"},
        ("scenarios, park: decided is drawn",),
    ),
    "own options beside numbers": (
        changed(SCALE, "scenarios", 0, "options", to=["a", "b"]),
        NUMBER,
        ("scenarios, cats: options of its own",),
    ),
    "own options that are a text": (changed(ENDS, "scenarios", 0, "options", to="a"), WORD, ("'a' is no list",)),
    "own options, one twice": (
        changed(ENDS, "scenarios", 0, "options", to=["a", "a"]),
        WORD,
        ("scenarios, cats: options: 'a' stands twice",),
    ),
    "more arguments for than against": (
        changed(SELECTION, "scenarios", 0, "con", to=["Cost"]),
        {"target": "decided"},
        ("scenarios, park: needs as many arguments `pro` as `con`",),
    ),
    "no arguments": (
        changed(changed(SELECTION, "scenarios", 0, "con", to=[]), "scenarios", 0, "pro", to=[]),
        {"target": "decided"},
        ("at least one",),
    ),
    "argument on both sides": (
        changed(SELECTION, "scenarios", 0, "con", to=["Shade", "Cost"]),
        {"target": "decided"},
        ("scenarios, park: arguments: 'Shade' stands twice",),
    ),
    "argument of two lines": (
        changed(SELECTION, "scenarios", 0, "con", to=["Cost", "Noise\nM) Dirt"]),
        {"target": "decided"},
        ("scenarios, park: arguments", "one line"),
    ),
    "twelve arguments a side": (
        changed(
            changed(SELECTION, "scenarios", 0, "pro", to=[f"p{n}" for n in range(12)]),
            *("scenarios", 0, "con"),
            to=[f"c{n}" for n in range(12)],
        ),
        {"target": "decided"},
        ("scenarios, park: arguments: 24", "22"),
    ),
    # The line of metric parameters.
    "line without target": (SCALE, {}, (f"{WHERE}: options.biases.own", "key 'target' is missing")),
    "line that is a word": (SCALE, "anchor", (f"{WHERE}: options.biases.own", "found a text")),
    "unknown target": (SCALE, {"target": "prior"}, ("target = 'prior'", "of a scale it can be: high, low, anchor")),
    "number among words": (
        {**SCALE, "options": ["few", "many"]},
        NUMBER,
        ("target = 'anchor'; of a scale it can be: high, low",),
    ),
    "decided, of a scale": (SCALE, {"target": "decided"}, ("of a scale it can be: high, low, anchor",)),
    "high, of a selection": (SELECTION, {"target": "high"}, ("of a selection it can be: decided",)),
    "ends of what is no word": (
        SCALE,
        {"target": {"anchor": {"10": "high"}}},
        ("target names one drawn word", "drawn: none"),
    ),
    "ends of some values": (ENDS, {"target": {"mood": {"sunny": "high"}}}, ("drawn: mood: sunny, grim",)),
    "an end that there is not": (ENDS, {"target": {"mood": {"sunny": "up", "grim": "low"}}}, ("'up'", "'high'")),
    "ends of nothing": (ENDS, {"target": {}}, ("target names one drawn word",)),
    "ends, of a selection": (SELECTION, {"target": {"mood": {"sunny": "high"}}}, ("of a selection",)),
    "metric of a selection": (SELECTION, {"target": "decided", "scale": {"k": 1}}, ("not defined for selections",)),
    "unknown metric parameter": (SCALE, {"target": "low", "scale": {"x3": 1}}, ("unknown key 'scale.x3'",)),
    "flip by number": (SCALE, {"target": "low", "scale": {"flip_control": 1}}, ("scale.flip_control = 1",)),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_shown_or_measured_is_refused_by_place_and_field(tmp_path: Path, case: str) -> None:
    template, line, words = REFUSED[case]
    with pytest.raises(ConfigError) as error:
        built(tmp_path, template, line)
    assert all(word in str(error.value) for word in words), str(error.value)
    assert ("own.yaml" in str(error.value)) != (WHERE in str(error.value)), "the file that is wrong, and only that one"


# What is wrong between the parts of a template, seen when they are put together.
UNFIT: dict[str, tuple[Any, Any, tuple[str, ...]]] = {
    "missing field": (
        changed(SCALE, "wordings", 1, "control", to="Guess: {{ gruop }}?"),
        NUMBER,
        ("own, scenario cats, wording 2, control: missing gruop; given: anchor, group",),
    ),
    "syntax": (
        changed(SCALE, "wordings", 0, "control", to="What\nshare of {{ group ?"),
        NUMBER,
        ("own: wording 1, control, line 2 of the text",),
    ),
    "idle field": ({**SCALE, "scenarios": [{"id": "a", "group": "b", "unit": "c"}]}, NUMBER, ("no wording uses unit",)),
    "idle draw": (
        changed(SCALE, "draws", "other", to={"choose": ["a", "b"]}),
        NUMBER,
        ("own: no wording uses other",),
    ),
    "treatment without the number": (
        changed(SCALE, "wordings", 1, "treatment", to="Guess, please: {{ group }}?"),
        NUMBER,
        ("own: wording 2, treatment: does not use anchor",),
    ),
    "treatment without the word": (
        changed(ENDS, "wordings", to=[*ENDS["wordings"], {"control": "A {{ group }}?", "treatment": "B {{ group }}?"}]),
        WORD,
        ("own: wording 2, treatment: does not use mood",),
    ),
    "treatment that does not tell the decision": (
        changed(SELECTION, "wordings", 0, "treatment", to="On {{ what }}: you have decided. What would you read?"),
        {"target": "decided"},
        ("own: wording 1, treatment: does not use decided",),
    ),
    "control that reads as its treatment": (
        {**ENDS, "draws": {}, "wordings": [{"control": "{{ group }}?", "treatment": "{{ group }}?"}]},
        LOW,
        ("own, scenario cats, wording 1: two of control, treatment read the same",),
    ),
    "decision that reads as the control": (
        changed(SELECTION, "wordings", 0, "decision", to="On {{ what }}: what would you read?"),
        {"target": "decided"},
        ("scenario park, wording 1: two of decision, control",),
    ),
    "an option within the text": (
        changed(SCALE, "scenarios", 1, "group", to="dogs?\n  L) 50 %\nWell"),
        NUMBER,
        ("own, scenario dogs, wording 1, control", "L)", "options"),
    ),
}


@pytest.mark.parametrize("case", UNFIT)
def test_parts_that_do_not_fit_each_other_are_refused_by_scenario_and_wording(tmp_path: Path, case: str) -> None:
    template, line, words = UNFIT[case]
    with pytest.raises(ValueError) as error:
        built(tmp_path, template, line)
    assert all(word in str(error.value) for word in words), str(error.value)


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
    with pytest.raises(ConfigError, match=f"{WHERE}: options.biases has no line for ends; it has: pull, halo"):
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
