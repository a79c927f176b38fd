"""The battery of an audit: frozen, balanced, each manipulation beside its control, and nothing else changed."""

from __future__ import annotations

import hashlib
import re
import shutil
from collections import Counter
from dataclasses import replace

import pytest

from helpers.audit import asking
from helpers.config import ConfigError
from helpers.types import Trial
from tests.audits import BATTERY, model

TRIALS = asking.trials(BATTERY, model({}))


def of(condition: str) -> list[Trial]:
    return [trial for trial in TRIALS if trial.condition == condition]


def texts(trial: Trial) -> list[str]:
    """The texts between the delimiters of a prompt, in shown order."""
    return re.findall(rf"<<<ANSWER \w+ {trial.nonce}>>>\n(.*?)\n<<<END", trial.request.prompt, re.DOTALL)


def test_the_texts_are_those_of_the_version_that_is_written_down() -> None:
    found = hashlib.sha256()
    for name in ("battery.yaml", "pair.txt", "score.txt"):
        content = (asking.FOLDER / name).read_bytes()
        found.update(f"{name}:{len(content)}\n".encode() + content)
    assert f'"{BATTERY.version}": "{found.hexdigest()}"' in (asking.FOLDER / "versions.yaml").read_text()


@pytest.mark.parametrize("name", ["battery.yaml", "pair.txt", "score.txt"])
def test_a_changed_letter_is_another_battery(tmp_path, name: str) -> None:
    shutil.copytree(asking.FOLDER, tmp_path / "audit")
    path = tmp_path / "audit" / name
    path.write_text(path.read_text().replace("question", "questions", 1))
    with pytest.raises(ConfigError, match=r"not those of version 1\.0"):
        asking.load(tmp_path / "audit")


def test_a_battery_of_ones_own_needs_a_version_and_whole_items(tmp_path) -> None:
    folder = tmp_path / "audit"
    shutil.copytree(asking.FOLDER, folder)
    path = folder / "battery.yaml"
    own = path.read_text().replace('version: "1.0"', 'version: "mine"').replace("id: wool", "id: woollen")
    path.write_text(own)
    (folder / "versions.yaml").write_text(f'"mine": "{asking.digest(folder)}"\n')
    assert asking.load(folder).version == "mine"
    path.write_text(own.replace("id: woollen", "id: kettle"))
    (folder / "versions.yaml").write_text(f'"mine": "{asking.digest(folder)}"\n')
    with pytest.raises(ConfigError, match="more than one with the id kettle"):
        asking.load(folder)
    path.write_text(own.replace("    expert: the head of a laboratory for household appliances\n", ""))
    with pytest.raises(ConfigError, match=r"battery.yaml.*expert"):
        asking.load(folder)


def test_the_answers_are_alike_and_padding_adds_words_only() -> None:
    assert len(BATTERY.items) >= 24 and len({item.question for item in BATTERY.items}) == len(BATTERY.items)
    for item in BATTERY.items:
        for side in asking.SIDES:
            plain, padded = item.text(side), item.text(side, padded=True)
            rest = padded
            for sentence in getattr(item, side):  # each stands in it, in the same order
                before, found, rest = rest.partition(sentence)
                assert found and before.strip() in item.filler
            assert rest.strip() == item.filler[-1] and 2 <= len(padded) / len(plain) <= 3.5
        one, two = (len(item.text(side)) for side in asking.SIDES)
        assert 0.75 < one / two < 1.34, item.id  # in the probes on other things length must not decide


def test_some_six_hundred_calls_are_all_different_and_asked_in_a_mixed_order() -> None:
    assert Counter(trial.condition for trial in TRIALS) == {
        **{"plain": 96, "letters": 48, "identical": 48, "length": 48, "gap": 24, "anchor": 48},
        **{"authority": 96, "bandwagon": 96, "names": 96},
    }
    assert len({trial.request.key for trial in TRIALS}) == len(TRIALS) == 25 * len(BATTERY.items)
    # No condition is asked earlier than the others: their mean places differ by chance (sd of a mean below 0.06).
    for condition in asking.CONDITIONS:
        places = [i / len(TRIALS) for i, trial in enumerate(TRIALS) if trial.condition == condition]
        assert 0.3 < sum(places) / len(places) < 0.7
    again = asking.trials(BATTERY, model({}))
    assert [trial.request.key for trial in again] == [trial.request.key for trial in TRIALS]


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
            assert known and known[1] in BATTERY.famous
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
    named = Counter(name for t in of("names") for name in BATTERY.famous if f"written by {name}:" in t.request.prompt)
    assert len(set(named.values())) == 1 and set(named) == set(BATTERY.famous)


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


def test_a_text_that_holds_the_code_of_its_prompt_is_refused() -> None:
    item = BATTERY.items[0]
    held = replace(item, one=(f"END {TRIALS[0].nonce}",), id=TRIALS[0].question_id)
    with pytest.raises(ValueError, match="contains the nonce"):
        asking.trials(replace(BATTERY, items=(held, *BATTERY.items[1:3])), model({}))
