"""Audits: places and their balance, the frozen battery, and what is concluded of judges whose bias is known."""

from __future__ import annotations

import hashlib
import json
import math
import re
import shutil
from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from helpers import datasets, verdicts
from helpers.audit import asking, measuring
from helpers.audit.asking import PROBES
from helpers.audit.measuring import LEVEL
from helpers.config import ConfigError
from helpers.providers import simulated
from helpers.stats.power import detectable_effect
from helpers.types import Completion, Estimate, Trial
from studies.calibration.worlds.listwise import WORLDS, draw, frame as frame_of
from tests.audits import BATTERY, DESIGN, design, drawn, findings, judged, model, net, wins

CANNOT = "which model wins and which letter wins cannot be told apart."


def judged_in_orders(orders, judges=("one",), condition="none") -> pd.DataFrame:
    """A listwise frame in which question i shows orders[i] to every judge."""
    rows = [
        {"question_id": f"q{i}", "judge": judge, "condition": condition, "repeat": 0, "label": "ABCDEFGH"[slot]}
        | {"candidate": candidate, "top": float(slot == 0)}
        for i, order in enumerate(orders)
        for judge in judges
        for slot, candidate in enumerate(order)
    ]
    return pd.DataFrame(rows)


def random_orders(n: int, seed: int, names: str = "uvwxyz") -> list[list[str]]:
    rng = np.random.default_rng(seed)
    return [[names[i] for i in rng.permutation(len(names))] for _ in range(n)]


def test_one_order_throughout_is_told_in_one_sentence():
    audit = datasets.audit_places(judged_in_orders(["zyxwvu"] * 20, ["one", "two"]))
    assert audit.sentence == f"Each of the 6 models stood under one and the same letter in all 40 judgments: {CANNOT}"
    assert (audit.judgments, audit.orders, audit.draws) == (40, 1, 1)
    assert np.isnan(audit.p)
    assert audit.table.loc["z"].to_dict() == {"A": 40, "B": 0, "C": 0, "D": 0, "E": 0, "F": 0}


def test_a_balanced_design_is_called_balanced():
    frame = frame_of(draw(WORLDS["plain"], 12, np.random.default_rng(0)))
    audit = datasets.audit_places(frame)
    assert (audit.table == 12).to_numpy().all() and audit.chi2 == 0
    assert audit.sentence == (
        f"{audit.orders} different orders were shown in 72 judgments; each of the 6 models stood under each letter "
        "12 times (equal shares: 12): at least as balanced as random orders would be (p = 1)."
    )


def test_the_chi_square_is_that_of_permutations():
    audit = datasets.audit_places(judged_in_orders(random_orders(90, 4)))
    observed = audit.table.to_numpy()
    # Pearson's statistic of the table, times (k - 1) / k, with (k - 1)^2 degrees of freedom.
    assert audit.chi2 == pytest.approx(((observed - 15) ** 2 / 15).sum() * 5 / 6)
    assert audit.dof == 25
    found = [datasets.audit_places(judged_in_orders(random_orders(40, seed, "uvwx"))).chi2 for seed in range(300)]
    # Mean 9 and variance 18 of a chi-square with 9 degrees of freedom, within three standard errors of 300 draws.
    assert np.mean(found) == pytest.approx(9, abs=3 * (18 / 300) ** 0.5)
    assert np.var(found) == pytest.approx(18, rel=0.35)


def test_imbalance_is_found_and_said():
    orders = random_orders(100, 7)
    favoured = [["u", *(x for x in order if x != "u")] if i % 2 else order for i, order in enumerate(orders)]
    audit = datasets.audit_places(judged_in_orders(favoured))
    assert audit.p < 0.005
    assert "less balanced than random orders would be (p < 0.0001), so some models had better places" in audit.sentence


def test_a_model_that_never_moved_is_named():
    audit = datasets.audit_places(judged_in_orders([["a_first", *order] for order in random_orders(60, 3, "vwxyz")]))
    assert audit.sentence.endswith("Of a_first, model and letter cannot be told apart.")


def test_an_order_shared_by_all_judges_or_hints_is_one_draw():
    orders = random_orders(60, 1)
    alone, shared = (
        datasets.audit_places(judged_in_orders(orders)),
        datasets.audit_places(judged_in_orders(orders, ["a", "b", "c"])),
    )
    assert (shared.judgments, shared.draws) == (180, 60) and shared.p == pytest.approx(alone.p)
    assert "180 judgments, one for all judgments of a question;" in shared.sentence
    frames = [judged_in_orders(orders[i::2], [judge]) for i, judge in enumerate("ab")]
    hints = pd.concat([frame.assign(condition=hint) for frame in frames for hint in ("none", "full")])
    assert datasets.audit_places(hints).draws == 60
    by_judge = pd.concat([judged_in_orders([order] * 40, [f"j{i}"]) for i, order in enumerate(orders[:3])])
    audit = datasets.audit_places(by_judge)
    assert audit.draws == 3 and np.isnan(audit.p)
    assert "not tested (3 separate draws of an order are too few for a test)" in audit.sentence


def test_unknown_places_are_counted_and_nothing_is_made_up():
    frame = judged_in_orders(random_orders(50, 2))
    frame.loc[frame["question_id"] == "q0", "label"] = None
    frame.loc[6, "candidate"] = None  # one open place: that judgment's order is not known
    audit = datasets.audit_places(frame)
    assert (audit.judgments, audit.unknown) == (48, 2)
    assert audit.sentence.endswith("Of 2 further judgments the places are not known.")
    nothing = "No judgment tells which model stood under which letter: nothing can be audited."
    assert datasets.audit_places(frame.assign(label=None)).sentence == nothing
    assert datasets.audit_places(frame[:0]).sentence == nothing
    assert "one judgment" in datasets.audit_places(judged_in_orders(["uvw"])).sentence


def test_different_models_a_question_have_no_common_test():
    audit = datasets.audit_places(judged_in_orders([["u", "v", "w"], ["w", "x", "u"]] * 20))
    assert np.isnan(audit.p) and "no test fits all" in audit.sentence and "equal shares" not in audit.sentence


def test_real_judgments_show_one_letter_a_model(real_data):
    everything = datasets.audit_places(datasets.load_judgments(real_data / "llm_eval"))
    assert everything.sentence == (
        f"Each of the 6 models stood under one and the same letter in all 480 judgments: {CANNOT}"
    )
    assert everything.table.to_numpy().max() == 480


# --- the battery ------------------------------------------------------------------------------------------------------

TRIALS = asking.trials(BATTERY, model({}))


def of(condition: str) -> list[Trial]:
    return [trial for trial in TRIALS if trial.condition == condition]


def texts(trial: Trial) -> list[str]:
    """The texts between the delimiters of a prompt, in shown order."""
    return re.findall(rf"<<<ANSWER \w+ {trial.nonce}>>>\n(.*?)\n<<<END", trial.request.prompt, re.DOTALL)


FILES = ("battery.yaml", "more.yaml", "pair.txt", "score.txt", "reworded_1.txt", "reworded_2.txt")


def test_the_texts_are_those_of_the_version_that_is_written_down() -> None:
    found = hashlib.sha256()
    for name in FILES:
        content = (asking.FOLDER / name).read_bytes()
        found.update(f"{name}:{len(content)}\n".encode() + content)
    assert f'"{BATTERY.version}": "{found.hexdigest()}"' in (asking.FOLDER / "versions.yaml").read_text()


@pytest.mark.parametrize("name", FILES)
def test_a_changed_letter_is_another_battery(tmp_path, name: str) -> None:
    shutil.copytree(asking.FOLDER, tmp_path / "audit")
    path = tmp_path / "audit" / name
    path.write_text(path.read_text().replace("question", "questions", 1))
    with pytest.raises(ConfigError, match=r"not those of version 1\.1"):
        asking.load(tmp_path / "audit")


def test_a_battery_of_ones_own_needs_a_version_and_whole_items(tmp_path) -> None:
    folder = tmp_path / "audit"
    shutil.copytree(asking.FOLDER, folder)
    path = folder / "battery.yaml"
    own = path.read_text().replace('version: "1.1"', 'version: "mine"').replace("id: wool", "id: woollen")
    path.write_text(own)
    (folder / "versions.yaml").write_text(f'"mine": "{asking.digest(folder)}"\n')
    assert asking.load(folder).version == "mine"
    path.write_text(own.replace("id: woollen", "id: kettle"))
    (folder / "versions.yaml").write_text(f'"mine": "{asking.digest(folder)}"\n')
    with pytest.raises(ConfigError, match="more than one with the id kettle"):
        asking.load(folder)
    path.write_text(
        own.replace("    category: household\n    question: How do I get rid", "    question: How do I get rid")
    )
    with pytest.raises(ConfigError, match=r"battery.yaml.*category"):
        asking.load(folder)


LARGEST = asking.load(size=200)


def test_the_answers_are_alike_and_padding_adds_words_only() -> None:
    items = LARGEST.items
    assert len(BATTERY.items) == 24 and len({item.question for item in items}) == len(items) == 200
    for item in items:
        for side in asking.SIDES:
            plain, padded = item.text(side), item.text(side, padded=True)
            rest = padded
            for sentence in getattr(item, side):  # each stands in it, in the same order
                before, found, rest = rest.partition(sentence)
                assert found and before.strip() in item.filler
            assert rest.strip() == item.filler[-1] and 2 <= len(padded) / len(plain) <= 3.5
        one, two = (len(item.text(side)) for side in asking.SIDES)
        assert 0.75 < one / two < 1.34, item.id  # in the probes on other things length must not decide
        assert item.wrong and 0.4 < len(item.wrong) / len(item.one[-1]) < 2.4 and item.wrong not in item.one, item.id


def test_some_eight_hundred_calls_are_all_different_and_asked_in_a_mixed_order() -> None:
    assert Counter(trial.condition for trial in TRIALS) == {
        **{"plain": 96, "letters": 48, "identical": 48, "length": 48, "gap": 24, "anchor": 48},
        **{"authority": 96, "bandwagon": 96, "names": 96, "injected": 96, "reworded": 96, "wrong": 48},
    }
    assert len({trial.request.key for trial in TRIALS}) == len(TRIALS) == 35 * len(BATTERY.items)
    # No condition is asked earlier than the others: their mean places differ by chance (sd of a mean below 0.06).
    for condition in {trial.condition for trial in TRIALS}:
        places = [i / len(TRIALS) for i, trial in enumerate(TRIALS) if trial.condition == condition]
        assert 0.3 < sum(places) / len(places) < 0.7
    # Question by question, so that an audit that stops half-way has whole ones.
    questions = [trial.question_id for trial in TRIALS]
    assert sum(one != two for one, two in pairwise(questions)) == len(BATTERY.items) - 1
    again = asking.trials(BATTERY, model({}))
    assert [trial.request.key for trial in again] == [trial.request.key for trial in TRIALS]


@pytest.mark.parametrize("params", [{}, {"temperature": 0}])
def test_each_size_holds_the_calls_of_the_smaller_ones(params: dict[str, float]) -> None:
    judge = replace(model({}), params=params)
    keys = [{t.request.key for t in asking.trials(asking.load(size=size), judge)} for size in asking.SIZES]
    assert keys[0] < keys[1] < keys[2]


@pytest.mark.parametrize(("size", "tenth"), [(24, 2), (60, 6), (200, 20)])
def test_at_temperature_0_a_tenth_of_the_questions_is_asked_twice(size: int, tenth: int) -> None:
    asked = design(asking.load(size=size), temperature=0)
    twice = asked[asked["repeat"] > 0]
    assert set(twice["condition"]) == {"plain"} and twice["question"].nunique() == tenth == len(twice) / 2
    warm = design(asking.load(size=size), temperature=0.7)
    assert (warm["condition"].eq("plain") & warm["repeat"].eq(1)).sum() == 2 * size


@pytest.mark.parametrize("condition", ["authority", "bandwagon", "names"])
def test_words_beside_an_answer_stand_beside_each_in_both_orders_and_change_nothing_else(condition: str) -> None:
    plain = {(t.question_id, t.where["first"]): texts(t) for t in of("plain")}
    cells: dict[str, list[tuple[str, str]]] = {}
    for trial in of(condition):
        cells.setdefault(trial.question_id, []).append((trial.where["first"], trial.where["target"]))
        assert texts(trial) == plain[trial.question_id, trial.where["first"]]
        mark = trial.labels[trial.shown.index(trial.where["target"])]
        if condition == "names":
            known = re.search(rf"^Answer {mark}, written by (.+):$", trial.request.prompt, re.MULTILINE)
            assert known and known[1] in BATTERY.names["famous"]
        else:
            assert len(re.findall(rf"^Note on answer {mark}: .+\.$", trial.request.prompt, re.MULTILINE)) == 1
            words = re.search(r"^Note on answer \w: (.+)$", trial.request.prompt, re.MULTILINE)[1]
            assert any(each.isdigit() for each in words) == (condition == "bandwagon")
    both = [("one", "one"), ("one", "two"), ("two", "one"), ("two", "two")]
    assert all(sorted(found) == both for found in cells.values()) and len(cells) == len(BATTERY.items)
    # The control has the same words on the same question: but for the mark the lines are equal.
    for id in cells:
        mine = [t for t in of(condition) if t.question_id == id and t.where["first"] == "one"]
        if condition != "names":
            lines = {re.search(r"^Note on answer \w: (.+)$", t.request.prompt, re.MULTILINE)[1] for t in mine}
            assert len(lines) == 1


def test_well_known_names_take_turns() -> None:
    named = Counter(
        name for t in of("names") for name in BATTERY.names["famous"] if f"written by {name}:" in t.request.prompt
    )
    assert len(set(named.values())) == 1 and set(named) == set(BATTERY.names["famous"])


def test_exchanged_letters_change_letters_only() -> None:
    plain = {(t.question_id, t.where["first"]): t for t in of("plain") if t.request.repeat == 0}
    exchange = str.maketrans("AB", "BA")
    for trial in of("letters"):
        usual = plain[trial.question_id, trial.where["first"]]
        assert texts(trial) == texts(usual) and trial.labels == ("B", "A", "tie")

        def marks(prompt: str) -> list[str]:
            return re.findall(r"(?:ANSWER|Answer|answer|END|-) ([AB])\b", prompt)

        assert [mark.translate(exchange) for mark in marks(usual.request.prompt)] == marks(trial.request.prompt)


def test_controls_are_what_they_are_called() -> None:
    by_id = {item.id: item for item in BATTERY.items}
    assert all(len(set(texts(t))) == 1 for t in of("identical"))
    for trial in of("length"):
        longer = texts(trial)[trial.shown.index("padded")]
        assert longer == max(texts(trial), key=len)
    good_first = 0
    for trial in of("gap"):
        item, shown = by_id[trial.question_id], dict(zip(trial.shown, texts(trial), strict=True))
        own = [item.text(side) for side in asking.SIDES]
        others = [o.text(s) for o in BATTERY.items if o.category != item.category for s in asking.SIDES]
        assert shown["good"] in own and shown["off_topic"] in others
        good_first += trial.shown[0] == "good"
    assert good_first == len(BATTERY.items) // 2  # a judge that always names one place is right half of the time
    numbers: dict[str, dict[str, int]] = {}
    for trial in of("anchor"):
        (told,) = re.findall(r"(\d+) of 100 points", trial.request.prompt)
        numbers.setdefault(trial.question_id, {})[trial.where["target"]] = int(told)
    assert all(each["high"] >= 89 and each["low"] <= 14 for each in numbers.values()) and len(numbers) == 24


def test_a_planted_verdict_stands_in_one_answer_and_as_many_letters_in_the_other() -> None:
    plain = {(t.question_id, t.where["first"]): texts(t) for t in of("plain")}
    kinds: set[str] = set()
    for trial in of("injected"):
        ends = [
            shown.removeprefix(before).strip()
            for shown, before in zip(texts(trial), plain[trial.question_id, trial.where["first"]], strict=True)
        ]
        place = trial.shown.index(trial.where["target"])
        label = trial.labels[place]
        assert re.search(rf"\b{label}\b", ends[place].removeprefix("The ")) and len(ends[0]) == len(ends[1])
        assert not re.search(r"\bB\b|: A\b|\"A\"|answer A\b", ends[1 - place])
        assert trial.nonce not in ends[place] + ends[1 - place]
        kinds.add(re.sub(r"[0-9a-f]{8}|\b[AB]\b", "", ends[place]))
    assert len(kinds) == len(BATTERY.injected) and len(of("injected")) == 4 * len(BATTERY.items)


@pytest.mark.parametrize("structured", [True, False])
def test_a_reply_that_repeats_a_planted_verdict_is_none(structured: bool) -> None:
    for trial in asking.trials(BATTERY, model({}, structured)):
        if trial.condition == "injected":
            for text in (texts(trial)[0], texts(trial)[1], texts(trial)[0].rpartition("\n")[2]):
                judged = verdicts.read(trial, Completion(trial.request.key, "ok", text, "stop"))
                assert judged.verdict is None and judged.outcome != "ok", text


def test_other_words_of_the_instruction_leave_the_material_and_the_form_as_they_are() -> None:
    usual = {(t.question_id, t.where["first"], t.request.repeat): t for t in of("plain")}
    systems = set()
    for trial in of("reworded"):
        other = usual[trial.question_id, trial.where["first"], trial.request.repeat]
        assert texts(trial) == texts(other) and trial.request.system != other.request.system
        assert trial.request.schema == other.request.schema and trial.labels == other.labels
        form = trial.request.prompt.partition("- A: answer A is better")[2]
        assert form and form == other.request.prompt.partition("- A: answer A is better")[2]
        systems.add(trial.request.system)
    assert len(systems) == 2


def test_an_answer_made_wrong_differs_in_its_last_sentence() -> None:
    by_id = {item.id: item for item in BATTERY.items}
    for trial in of("wrong"):
        item, shown = by_id[trial.question_id], dict(zip(trial.shown, texts(trial), strict=True))
        assert shown["right"] == item.text("one") and shown["wrong"].endswith(item.wrong)
        assert shown["wrong"].removesuffix(item.wrong) == shown["right"].removesuffix(item.one[-1])
    assert Counter(t.where["first"] for t in of("wrong")) == {"right": 24, "wrong": 24}


# --- questions of one's own -------------------------------------------------------------------------------------------


def own_lines(count: int = 12) -> list[dict[str, str]]:
    return [
        {"id": f"q{i}", "question": f"Why {i}?", "one": f"Because of {i}.", "two": f"For {i} reasons."}
        for i in range(count)
    ]


def written(path: Path, lines: list[dict[str, str]]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_ones_own_questions_are_asked_in_all_probes(tmp_path: Path) -> None:
    lines = own_lines()
    lines[3] |= {"wrong": "Because the moon said so.", "category": "other", "expert": "a colonel"}
    battery = asking.load(items=written(tmp_path / "own.jsonl", lines))
    asked = Counter(t.condition for t in asking.trials(battery, model({})))
    assert battery.version == "own" and battery.digest != BATTERY.digest and asked["wrong"] == 2
    assert asked["plain"] == 48 and asked["gap"] == 12 and asked["injected"] == 48
    item = battery.items[0]
    padded = item.text("one", padded=True)
    assert "Because of 0." in padded and len(padded) > 2 * len("Because of 0.")
    # A longer file asks the same of the questions that it had before.
    more = asking.load(items=written(tmp_path / "more.jsonl", [*lines, *own_lines(40)[12:]]))
    assert {i.id for i in more.items} > {i.id for i in battery.items}


FAULTS = {
    "no field": ({"two": None}, r"own\.jsonl, line 3, record 3 \(id 'q2'\): an item: key 'two' is missing"),
    "blank": ({"question": " "}, r"line 3, record 3 \(id 'q2'\): an item: question = ' '"),
    "unknown": ({"answer": "x"}, r"line 3.*unknown key 'answer'; valid keys: id, question, one, two, wrong"),
    "number": ({"one": 5}, r"line 3.*one = 5"),
    "name": ({"id": "a b"}, r"line 3.*id = 'a b'.*up to 64 letters"),
    "same": ({"two": "Because of 2."}, r"line 3.*two: the same text as one"),
    "twice": ({"id": "q1"}, r"the id of an item more than once: q1 \(lines 2, 3\)"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_in_ones_own_questions_is_named_with_line_and_field(tmp_path: Path, name: str) -> None:
    change, words = FAULTS[name]
    lines = own_lines()
    lines[2] = {key: value for key, value in {**lines[2], **change}.items() if value is not None}
    with pytest.raises(ValueError, match=words):
        asking.load(items=written(tmp_path / "own.jsonl", lines))


def test_too_few_questions_and_sizes_that_are_none_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "own.jsonl", own_lines(9))
    with pytest.raises(ValueError, match="9 questions; 10 are the least"):
        asking.load(items=path)
    with pytest.raises(ConfigError, match="size: belongs to the built-in questions"):
        asking.load(items=path, size=24)
    with pytest.raises(ConfigError, match="size: 25; write 24, 60 or 200"):
        asking.load(size=25)


def test_a_text_that_holds_the_code_of_its_prompt_is_refused() -> None:
    item = BATTERY.items[0]
    held = item.model_copy(update={"one": [f"END {TRIALS[0].nonce}"], "id": TRIALS[0].question_id})
    with pytest.raises(ValueError, match="contains the nonce"):
        asking.trials(BATTERY.model_copy(update={"items": [held, *BATTERY.items[1:3]]}), model({}))


# --- what is concluded ------------------------------------------------------------------------------------------------

#: Traits that plant one bias each, the probes that it must show in, and its size from the simulator's own formula.
PLANTED = {
    "place": ({"primacy": [2.0, 0.0]}, {"order": wins(2.0)[0] ** 2 - wins(2.0)[1] ** 2, "identical": net(2.0)}),
    "letters": ({"biases": {"letters": 2.0}}, {"letters": net(2.0), "order": wins(2.0)[0] ** 2 - wins(2.0)[1] ** 2}),
    "length": ({"verbosity": 1.0}, {"length": net(2.0)}),
    "authority": ({"biases": {"authority": 1.5}}, {"authority": net(1.5)}),
    "bandwagon": ({"biases": {"bandwagon": 1.5}}, {"bandwagon": net(1.5)}),
    "names": ({"biases": {"names": 1.5}}, {"names": net(1.5)}),
    # 0.3 of the way from an honest score to a number: the numbers are about 93 and 10.
    "anchor": ({"biases": {"anchor": 0.3}}, {"anchor": 0.3 * (93 - 10) / 100}),
}
#: What may show beside a planted bias because it is the same thing: the first place bears the letter A.
COMPANIONS = {"letters": {"order", "identical"}, "place": set()}


#: Each as JSON, and one of each form, verdict and score, as text.
CASES = [*((name, True) for name in PLANTED), ("place", False), ("anchor", False)]


@cache
def planted(name: str, structured: bool) -> dict[str, measuring.Finding]:
    return findings(judged(PLANTED[name][0], structured, id=f"sim-{name}"))


@pytest.mark.parametrize(("name", "structured"), CASES)
def test_a_planted_bias_is_found_with_an_honest_interval(name: str, structured: bool) -> None:
    found = planted(name, structured)
    for probe, truth in PLANTED[name][1].items():
        each = found[probe].estimate
        assert found[probe].in_words == "biased" and found[probe].examples
        # Four standard errors: one of these tests in some thousand would miss by chance.
        assert abs(each.value - truth) < 4 * each.se + 0.03, (probe, each, truth)
        assert found[probe].words == PROBES[probe].does(1)


def test_what_is_not_planted_is_not_found() -> None:
    alarms = 0
    for name, structured in CASES:
        biased = {probe for probe, each in planted(name, structured).items() if each.in_words == "biased"}
        alarms += bool(biased - set(PLANTED[name][1]) - COMPANIONS.get(name, set()))
    # At most 5 % of audits raise one by chance; more than two of these 9 would be one run in 120.
    assert alarms <= 2


def test_biases_to_the_other_side_are_told_as_such() -> None:
    found = findings(judged({"primacy": [0.0, 2.0], "verbosity": -1.0, "biases": {"authority": -2.0}}))
    for probe in ("order", "identical", "length", "authority"):
        assert found[probe].in_words == "biased" and found[probe].words == PROBES[probe].does(-1)


def test_several_at_once_are_told_apart() -> None:
    traits = {"primacy": [2.0, 0.0], "biases": {"authority": 2.0, "names": -2.0, "anchor": 0.4}}
    found = findings(judged(traits))
    biased = {probe: each.estimate.value > 0 for probe, each in found.items() if each.in_words == "biased"}
    assert biased == {"order": True, "identical": True, "authority": True, "names": False, "anchor": True}


def test_a_fair_judge_is_fair_however_noisy_and_the_card_says_what_it_could_have_found() -> None:
    alarms = 0
    for noise, id in [(0.3, "a"), (0.3, "b"), (1.0, "a"), (1.0, "b"), (2.0, "a"), (2.0, "b")]:
        found = findings(judged({"noise": noise, "sharpness": 2.0}, id=id))
        alarms += any(each.in_words == "biased" for each in found.values())
        for probe, each in found.items():
            if not PROBES[probe].wanted:
                assert each.in_words != "cannot tell" and (each.smallest > 0) != (each.moved > 0)
                assert each.in_words == "biased" or "would have been found" in each.words
    assert alarms <= 1  # one in 20 is what the correction allows; the slow tests measure it


def test_noise_and_bias_are_different_questions() -> None:
    noisy = judged({"noise": 1.5})
    beside = {each.id: each for each in measuring.described(noisy, "j", "asked", BATTERY.seed)}
    # It says something else in half of the cases, with the order or without: none of it is the order's.
    assert beside["repeat_disagreement"].value > 0.4 < beside["order_disagreement"].value
    assert beside["excess_flip"].low == 0 < beside["excess_flip"].high, "a sum of squares is not below 0"
    placed = measuring.described(judged({"primacy": [3.0, 0.0]}), "j", "asked", BATTERY.seed)
    assert next(each for each in placed if each.id == "excess_flip").low > 0


def test_a_judge_that_never_says_anything_else_passes_nothing() -> None:
    table = drawn(np.random.default_rng(1))
    constant = table.assign(sign=table["sign"].where(table["sign"].isna(), 1.0), points=table["points"] * 0 + 70)
    found = findings(constant)
    assert found["order"].in_words == found["identical"].in_words == "biased"
    assert {found[name].in_words for name in PROBES if name not in ("order", "identical")} == {"cannot tell"}
    assert all("it answers by place: the first in 100 % of pairs" in found[name].words for name in ("anchor", "length"))
    points = findings(table.assign(points=table["points"] * 0 + 70))
    assert points["anchor"].in_words == "cannot tell" and "same 70 points" in points["anchor"].words
    tied = table.assign(sign=table["sign"] * 0, points=table["points"])
    assert {each.in_words for each in findings(tied).values()} == {"cannot tell"}


def test_one_that_tosses_coins_is_not_taken_for_fair() -> None:
    rng = np.random.default_rng(3)
    table = drawn(rng)
    tossed = table.assign(sign=np.where(table["sign"].isna(), np.nan, rng.choice([-1.0, 1.0], len(table))))
    found = findings(tossed)
    assert {each.in_words for each in found.values()} == {"cannot tell"}


@pytest.mark.parametrize(
    ("sign", "exchanged", "words", "biased"),
    [
        (1.0, 1.0, "it answers by place (the first in 100 % of pairs)", {"order", "identical"}),
        (-1.0, -1.0, "it answers by place (the second in 100 % of pairs)", {"order", "identical"}),
        (1.0, -1.0, "it answers by letter (A in 100 % of pairs)", {"letters"}),
        (-1.0, 1.0, "it answers by letter (B in 100 % of pairs)", {"letters"}),
    ],
)
def test_a_judge_of_one_place_or_letter_is_called_that(
    sign: float, exchanged: float, words: str, biased: set[str]
) -> None:
    table = drawn(np.random.default_rng(8))
    scored, letters = table["sign"].isna(), table["condition"] == "letters"
    parrot = table.assign(sign=np.where(scored, np.nan, np.where(letters, exchanged, sign)))
    found = findings(parrot)
    assert {name for name, each in found.items() if each.in_words == "biased"} == biased
    assert {each.in_words for name, each in found.items() if name not in biased} == {"cannot tell"}
    kind, which, share = measuring.habit(parrot, measuring.described(parrot, "j", "asked", 1))
    assert words == f"it answers by {kind} ({which} in {100 * share:.0f} % of pairs)"


def test_errors_that_are_noticed_or_preferred_are_called_that() -> None:
    for strength, verdict in ((3.0, "noticed"), (-3.0, "biased"), (0.0, "cannot tell")):

        def pull(rows: pd.DataFrame, strength: float = strength) -> np.ndarray:
            return np.where(rows["first"] == "right", strength, -strength)

        table = drawn(np.random.default_rng(12), pulls={"wrong": pull})
        each = findings(table)["wrong"]
        assert each.in_words == verdict, (strength, each)
        beside = {each.id: each for each in measuring.described(table, "j", "asked", 1)}
        rows = table[table["condition"] == "wrong"]
        right = np.where(rows["first"] == "right", rows["sign"] == 1, rows["sign"] == -1)
        assert beside["error_sensitivity"].value == pytest.approx(right.mean())
    assert "it is not shown that it notices an error" in each.words


def test_a_judge_that_follows_planted_verdicts_is_found_with_its_rate() -> None:
    def pull(rows: pd.DataFrame) -> np.ndarray:
        return np.where(rows["target"].astype(str) == rows["first"].astype(str), 50.0, -50.0)

    table = drawn(np.random.default_rng(13), pulls={"injected": pull})
    each, beside = findings(table)["injected"], measuring.described(table, "j", "asked", 1)
    assert each.in_words == "biased" and each.estimate.value == 1 and "planted" in each.words
    assert next(number for number in beside if number.id == "injection_follow_rate").value == 1
    # Turned round in one order of each question it follows in half of the comparisons.
    half = table["sign"].where((table["condition"] != "injected") | (table["first"] == "one"), -table["sign"])
    beside = measuring.described(table.assign(sign=half), "j", "asked", 1)
    assert next(number for number in beside if number.id == "injection_follow_rate").value == 0.5


def test_what_other_words_change_is_counted_beyond_noise() -> None:
    table = drawn(np.random.default_rng(14), noise=1e-6, tie=0.0)
    other = table["condition"] == "reworded"
    turned = findings(table.assign(sign=table["sign"].where(~other, -table["sign"])))["reworded"]
    assert turned.in_words == "biased" and turned.estimate.value == 1
    coins = np.random.default_rng(15).choice([-1.0, 1.0], len(table))
    both = other | (table["condition"] == "plain")
    noisy = findings(table.assign(sign=table["sign"].mask(both, pd.Series(coins))))["reworded"]
    assert noisy.in_words == "no bias shown" and abs(noisy.estimate.value) < 0.25


@pytest.mark.parametrize(("size", "changed", "verdict"), [(200, 0.4, "biased"), (200, 0.0, "no bias shown")])
def test_at_temperature_0_changes_are_compared_with_the_questions_asked_twice(
    size: int, changed: float, verdict: str
) -> None:
    asked = design(asking.load(size=size), temperature=0)
    table = drawn(np.random.default_rng(16), noise=1e-9, tie=0.0, asked=asked)
    names = sorted(table["question"].unique())[: int(changed * size)]
    turned = (table["condition"] == "reworded") & table["question"].isin(names)
    each = findings(table.assign(sign=table["sign"].where(~turned, -table["sign"])))["reworded"]
    assert each.in_words == verdict and each.estimate.value == pytest.approx(changed)
    from scipy.stats import fisher_exact

    counts = [[changed * size, (1 - changed) * size], [0, size // 10]]
    assert each.estimate.p == pytest.approx(fisher_exact(counts, alternative="greater").pvalue)


def test_the_share_that_fishers_test_finds_is_found_in_80_percent() -> None:
    from scipy.stats import binom, fisher_exact

    share = measuring.detectable_change(60, 6, 1)

    def p(k: int) -> float:
        return fisher_exact([[k, 60 - k], [1, 5]], alternative="greater").pvalue

    power = sum(binom.pmf(k, 60, share) for k in range(61) if p(k) <= measuring.LEVEL)
    assert power == pytest.approx(0.8, abs=1e-6) and measuring.detectable_change(24, 1, 1) == 2


def test_a_plan_says_what_its_size_can_show_before_anything_is_asked() -> None:
    sizes = {size: measuring.outlook(asking.trials(asking.load(size=size), model({})), 42) for size in (24, 200)}
    for probe in PROBES:
        (least, most), (steady, unsure) = sizes[24][probe], sizes[200][probe]
        assert steady < least and unsure < 0.55 * most, probe
    # The least share is that of McNemar's exact test; coins have the spread of the binomial law.
    assert sizes[200]["authority"][1] == pytest.approx(
        detectable_effect(math.sqrt(1 / 4 / 200), 199, 0.8, LEVEL), rel=0.1
    )
    assert sizes[24]["order"][0] == pytest.approx(0.4398, abs=1e-3)


def test_an_audit_that_stopped_concludes_on_its_whole_questions() -> None:
    judge = model({})
    read = [verdicts.read(t, Completion(t.request.key, "ok", *simulated.reply(t.request), model="sim")) for t in TRIALS]
    cut = {TRIALS[0].question_id, TRIALS[-1].question_id}
    lost = [
        replace(each, outcome="missing", verdict=None) if i in (0, len(read) - 1) else each
        for i, each in enumerate(read)
    ]
    whole = measuring.complete(lost)
    assert judge and {each.trial.question_id for each in lost} - {each.trial.question_id for each in whole} == cut
    assert len(whole) == len(read) - 2 * 35 and measuring.complete(read) == read


def test_nothing_moved_is_no_bias_shown_with_what_would_have_been_found() -> None:
    found = findings(judged({"noise": 1e-6, "tie": 0.3}))
    each = found["authority"]
    assert each.in_words == "no bias shown" and math.isnan(each.smallest)
    # 24 questions at the level of 0.05 / 11: nine that move to one side are needed, and P(at least nine) = 0.8.
    from scipy.stats import binom

    assert 2 * 0.5**9 < 0.05 / 11 < 2 * 0.5**8
    assert binom.sf(8, 24, each.moved) == pytest.approx(0.8, abs=1e-3)


def test_the_effect_that_is_named_is_rounded_up_and_says_how_often_it_would_be_found() -> None:
    for each in findings(judged({"sharpness": 2.0})).values():
        told = re.search(r"(\d+) (pp|% of questions) would have been found in 80 % of audits", each.words)
        size = each.smallest if each.smallest == each.smallest else each.moved
        assert each.in_words in ("biased", "noticed") or 0 <= int(told[1]) - 100 * size < 1, (told, size)


def test_where_not_even_the_largest_effect_would_be_found_nothing_is_told() -> None:
    """Twelve questions left of 24, on which the judge tosses coins: an effect of 100 pp would often be missed."""
    rng, table = np.random.default_rng(4), drawn(np.random.default_rng(3))
    questions = sorted(table["question"].unique())
    gone = table["question"].isin(questions[12:]) & (table["condition"] == "identical")
    rows = table["condition"] == "identical"
    # Both askings of a question say the same, and as many questions name the first as the second.
    sides = {name: rng.permutation([1.0, -1.0])[0] if i > 1 else (1.0, -1.0)[i] for i, name in enumerate(questions)}
    tossed = table["sign"].where(~rows, table["question"].astype(str).map(sides)).mask(gone)
    each = findings(table.assign(sign=tossed, outcome=np.where(gone, "refused", "ok")))["identical"]
    assert each.smallest > 1 and each.estimate.clusters == 12 and each.read == 24
    assert each.in_words == "cannot tell" and "even the largest effect can be missed" in each.words
    assert "would have been found" not in each.words


@pytest.mark.parametrize("kind", ["refused", "truncated", "unparsed", "missing"])
def test_lost_replies_are_counted_by_name_and_never_scored(kind: str) -> None:
    table = drawn(np.random.default_rng(5))
    lost = np.random.default_rng(6).random(len(table)) < 0.6
    gone = table.assign(
        sign=table["sign"].where(~lost), points=table["points"].where(~lost), outcome=np.where(lost, kind, "ok")
    )
    assert measuring.outcomes(gone).loc["all", kind] == lost.sum()
    found = findings(gone)
    assert found["length"].in_words == found["authority"].in_words == "cannot tell"
    for name, each in found.items():
        assert each.estimate.n == each.read < each.asked, name
    everything = table.assign(sign=np.nan, points=np.nan, outcome=kind)
    assert {each.in_words for each in findings(everything).values()} == {"cannot tell"}


def test_a_comparison_without_its_control_does_not_count() -> None:
    table = drawn(np.random.default_rng(7))
    rows = (table["condition"] == "authority") & (table["target"] == table["first"].astype(str))
    assert rows.sum() == 48
    assert findings(table.assign(sign=table["sign"].mask(rows)))["authority"].estimate.n == 0
    one = table.index[(table["condition"] == "length")][0]
    assert findings(table.assign(sign=table["sign"].mask(table.index == one)))["length"].read == 23


def test_effects_are_those_of_a_small_table_by_hand() -> None:
    """Two questions filled by hand; the rest tie."""
    table = drawn(np.random.default_rng(9)).assign(sign=0.0)
    table.loc[table["condition"] == "anchor", "sign"] = np.nan
    one, two = sorted(DESIGN["question"].unique())[:2]

    def put(question: str, condition: str, first: str, target: str, sign: float) -> None:
        at = table["question"].eq(question) & table["condition"].eq(condition)
        table.loc[at & table["first"].eq(first) & table["target"].eq(target), "sign"] = sign

    # The note moves the verdict of one question in one order all the way: (1 - -1) / 2 = 1 of 48 comparisons.
    put(one, "authority", "one", "one", 1.0)
    put(one, "authority", "one", "two", -1.0)
    # The padded text wins in both orders on one question and loses both on none: 1 of 24.
    put(two, "length", "padded", "padded", 1.0)
    put(two, "length", "short", "padded", -1.0)
    # The first place wins one repeat of both orders, which sets both repeats here: 2 of 48.
    put(one, "plain", "one", "", 1.0)
    put(one, "plain", "two", "", 1.0)
    # So letters: usual 1 against exchanged 0, in both orders, is 2 times 1/2 of 48.
    values = {each.id: each.value for each in measuring.measure(table, "j", "asked", 1)}
    assert values["authority_effect"] == pytest.approx(1 / 48)
    assert values["length_effect"] == pytest.approx(1 / 24)
    assert values["first_position_effect"] == pytest.approx(2 / 48)
    assert values["letter_effect"] == pytest.approx(2 * 0.5 / 48)
    assert values["bandwagon_effect"] == values["identical_pair_effect"] == 0


def test_the_bottom_line_names_all_probes_once_and_says_simulated() -> None:
    found = list(findings(judged({"primacy": [3.0, 0.0], "noise": 0.5})).values())
    said = measuring.bottom_line(found, "j", "simulated")
    sees = "SIMULATED: the audit of j reliably sees only effects above "
    assert re.match(rf"{sees}\d+ to \d+ pp \(by probe\)[^:]*: biased in 2 of 10 probes \(", said)
    asked = measuring.bottom_line(found, "my_llama", "asked")
    assert asked.startswith("The audit of my_llama reliably sees only effects above "), "a name begins as it is written"
    assert all(said.count(each.title) >= 1 for each in PROBES.values() if not each.wanted)
    assert said.endswith(("it notices errors that were put into answers.", "whether it notices errors cannot be told."))
    order = [each.verdict for each in measuring.worst_first(found)]
    assert order == sorted(order, key=["bias", "hint", "untold", "not shown"].index)


def finding(probe: str, verdict: str, smallest: float = math.nan, moved: float = math.nan) -> measuring.Finding:
    number = Estimate(PROBES[probe].id, {"judge": "j"}, 0.1, unit="pp", n=48, clusters=24, data="asked")
    return measuring.Finding(probe, number, verdict, "", math.nan, smallest, moved, 48, 48)


#: What was found of the first probes, (verdict, smallest effect, least share of questions that move), and the headline.
MIXES = {
    "one size": ([("not shown", 0.37)] * 2, "only effects above 37 pp: no bias shown in any of 2 probes."),
    "rounded up": ([("not shown", 0.3601), ("not shown", 0.365)], "only effects above 37 pp: "),
    "exactly whole": ([("not shown", 0.37 + 1e-12)], "only effects above 37 pp: "),
    "a range": (
        [("bias", 0.301), ("not shown", 0.44), ("hint", 0.35)],
        "only effects above 31 to 44 pp (by probe): biased in 1 of 3 probes (order); no bias shown in 2 (identical "
        "pairs and letters), in identical pairs a hint.",
    ),
    "only biased": ([("bias", 0.2), ("bias", 0.2)], "only effects above 20 pp: biased in 2 of 2 probes ("),
    "what is untold sees nothing": (
        [("not shown", 0.4), ("untold", 0.05), ("untold", 1.7)],
        "only effects above 40 pp: no bias shown in 1 (order); nothing can be told of 2 (identical pairs and letters).",
    ),
    "all untold": ([("untold", 0.3), ("untold",)], "no effect of any size: nothing can be told of any of 2 probes."),
    "nothing asked": ([("untold",)] * 8, "no effect of any size: nothing can be told of any of 8 probes."),
    "nothing moved": (
        [("not shown", math.nan, 0.4398)] * 2,
        "only biases that move at least 44 % of questions: no bias shown in any of 2 probes.",
    ),
    "some moved": (
        [("not shown", 0.3), ("not shown", math.nan, 0.44), ("not shown", math.nan, 0.5)],
        "only effects above 30 pp, and where no question moved, biases that move at least 44 to 50 % of questions (by "
        "probe): ",
    ),
    "an unread judge whose bias shows all the same": (
        [("bias", 0.5), ("untold", 0.2), ("untold", math.nan, 0.44)],
        "only effects above 50 pp: biased in 1 of 3 probes (order); nothing can be told of 2 (",
    ),
    "a bias found with luck": ([("bias", 1.3), ("not shown", 0.6)], "only effects above 60 to 100 pp (by probe): "),
}  # fmt: skip


@pytest.mark.parametrize("name", MIXES)
def test_the_headline_begins_with_what_the_audit_can_see(name: str) -> None:
    mix, told = MIXES[name]
    found = [finding(probe, *each) for probe, each in zip(PROBES, mix, strict=False)]
    said = measuring.bottom_line(found, "my_llama", "asked")
    sees = "reliably sees" if told.startswith("only") else "sees"
    assert said.startswith(f"The audit of my_llama {sees} {told}"), said
    assert measuring.bottom_line(found, "my_llama", "simulated") == f"SIMULATED: t{said[1:]}"


def test_the_headline_of_a_partial_audit_is_that_of_what_was_read() -> None:
    table = drawn(np.random.default_rng(5))
    whole = list(findings(table).values())
    gone = table["question"].isin(sorted(table["question"].unique())[10:])
    lost = table.assign(
        sign=table["sign"].mask(gone), points=table["points"].mask(gone), outcome=np.where(gone, "missing", "ok")
    )
    assert measuring.bottom_line(whole, "j", "asked").startswith("The audit of j reliably sees only effects above ")
    said = measuring.bottom_line(list(findings(lost).values()), "j", "asked")
    assert said == (
        "The audit of j sees no effect of any size: nothing can be told of any of 10 probes; whether it notices errors "
        "cannot be told."
    )
