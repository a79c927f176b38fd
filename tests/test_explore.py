"""Single judgments, looked into: filters find what they name, and nothing that somebody wrote becomes markup."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import ipywidgets
import pytest
from bs4 import BeautifulSoup

from helpers import explore
from helpers.explore import browsing
from helpers.explore.browsing import UNMARKED
from helpers.run import Asked
from helpers.types import Completion, Judgment, Trial
from tests.payloads import PAYLOADS
from tests.runs import asked, full_run

SMALL = {"question_limit": 8, "candidates": ["sim_gpt_fast", "sim_claude_fast"], "control_limit": 0}


@pytest.fixture(scope="module")
def games() -> Asked:
    return asked("arena_hard_position_bias", **SMALL)


def winner(judgment: Judgment) -> str | None:
    """Who won, read from the verdict anew."""
    if judgment.verdict is None:
        return None
    choice = judgment.verdict.choice
    return "tie" if choice == "A=B" else judgment.trial.shown[0 if choice[0] == "A" else 1]


def test_flipped_is_what_names_another_winner_in_the_other_order(games: Asked) -> None:
    by: dict[tuple, dict[tuple[str, ...], str]] = defaultdict(dict)
    for each in games.judgments:
        if winner(each):
            trial = each.trial
            material = (trial.judge.name, trial.question_id, frozenset(trial.shown), trial.request.repeat)
            by[material][trial.shown] = winner(each)
    expected = sum(len(orders) for orders in by.values() if len(set(orders.values())) == 2)
    every = explore.items(games)
    assert 0 < expected == len(explore.chosen(every, mark="flipped")) == explore.counted(every)["flipped"]
    assert {item.judgment.outcome for item in explore.chosen(every, mark="flipped")} == {"ok"}


def test_own_is_what_ranks_the_judges_own_answer_first() -> None:
    def first(each: Judgment) -> str:
        return each.trial.shown[each.trial.labels.index(each.verdict.ranking[0])]

    expected = [each for each in full_run().judgments if each.verdict and first(each) == each.trial.judge.name]
    found = explore.chosen(explore.items(full_run()), mark="own")
    assert [item.judgment for item in found] == expected and len(expected) > 10


def test_filters_hold_together_and_offer_what_is_there(games: Asked) -> None:
    every = explore.items(games)
    offered = explore.choices(every)
    assert offered["judge"] == sorted({each.trial.judge.name for each in games.judgments})
    assert set(offered["outcome"]) == {each.outcome for each in games.judgments}
    judge, category = offered["judge"][0], offered["category"][0]
    some = explore.chosen(every, judge=judge, category=category, mark=None)
    assert some == [x for x in every if (x.judgment.trial.judge.name, x.judgment.trial.category) == (judge, category)]
    sizes = [len(explore.chosen(every, mark=mark)) for mark in offered["mark"]]
    assert UNMARKED in offered["mark"] and sum(sizes) >= len(every)
    with pytest.raises(ValueError, match="no filter model; there are: judge, category, condition, outcome, mark"):
        explore.chosen(every, model="x")


def test_a_key_leads_to_its_judgment(games: Asked) -> None:
    every = explore.items(games)
    assert explore.named(every, every[7].key).judgment is every[7].judgment
    assert explore.named(every, every[7].key[:12].upper()) is every[7]
    for key, told in (("abc", "at least 6"), ("z" * 12, "no judgment of this run")):
        with pytest.raises(ValueError, match=told):
            explore.named(every, key)


def test_beside_a_judgment_stand_its_orders_and_repeats(games: Asked) -> None:
    every = explore.items(games)
    beside = explore.siblings(every, every[0])
    trial = every[0].judgment.trial
    # Both orders, each asked twice.
    assert len(beside) == 3 and {tuple(sorted(x.judgment.trial.shown)) for x in beside} == {tuple(sorted(trial.shown))}
    shown = BeautifulSoup(explore.detail(every[0], beside, simulated=True), "html.parser")
    assert len(shown.table.tbody.find_all("tr")) == 4 and "SIMULATED" in shown.text
    first = shown.section
    assert [each.text for each in first.find_all("summary")] == ["System text", "Prompt", "Reply"]
    texts = [each.text for each in first.find_all("pre")]
    assert texts[1].split() == trial.request.prompt.split()
    assert texts[2].split() == every[0].judgment.completion.text.split()
    assert every[0].key in first.text and "$0.0000" in first.text


def test_beside_a_wording_stand_the_same_two_texts_and_no_others() -> None:
    every = explore.items(asked("verbosity_style", question_limit=8, judges=["sim_gpt_grader"]))

    def texts(item: explore.Item) -> list[str]:
        found = re.findall(r"<<<ANSWER (?:A|B) (\w+)>>>\n(.*?)\n<<<END", item.judgment.trial.request.prompt, re.DOTALL)
        return sorted(text for _, text in found)

    assert every and {len(texts(item)) for item in every} == {2}
    for item in every:
        beside = explore.siblings(every, item)
        # Both orders; the wordings themselves and their control are asked twice.
        assert len(beside) == (3 if item.judgment.trial.condition in ("style", "control") else 1)
        assert [texts(other) for other in beside] == [texts(item)] * len(beside)


def test_beside_a_marked_verdict_stands_first_what_it_is_marked_by(games: Asked) -> None:
    def first_other(every: list[explore.Item], item: explore.Item) -> Judgment:
        """What a reader sees beside it: the first that says something else."""
        return next(x for x in explore.siblings(every, item) if x.verdict != item.verdict).judgment

    every = explore.items(games)
    for item in explore.chosen(every, mark="flipped"):
        beside = first_other(every, item)
        assert beside.trial.shown == item.judgment.trial.shown[::-1] and winner(beside) != winner(item.judgment)
        assert beside.trial.request.repeat == item.judgment.trial.request.repeat

    def of_hints(trial: Trial) -> object:
        return trial.shown

    def of_tests(trial: Trial) -> object:
        """Control and treatment of a bias test differ in the order of their options."""
        return trial.where["place"], trial.request.repeat

    for name, same in (("hinting_groups", of_hints), ("cognitive_biases", of_tests)):
        every = explore.items(asked(name, question_limit=14))
        changed = explore.chosen(every, mark="changed")
        assert len(changed) > 10
        for item in changed:
            beside = first_other(every, item).trial
            assert beside.condition in ("none", "control") and same(beside) == same(item.judgment.trial)


def test_of_a_bias_test_the_options_are_read_and_not_their_numbers() -> None:
    every = explore.items(asked("cognitive_biases", question_limit=14))
    item = next(each for each in every if each.judgment.trial.condition == "treatment" and each.verdict)
    page = BeautifulSoup(explore.detail(item, explore.siblings(every, item)), "html.parser")
    shown = next(each.code.text for each in page.find_all("li") if each.text.startswith("shown:"))
    prompt = item.judgment.trial.request.prompt
    assert len(shown.split("; ")) >= 2
    assert all(each.replace(": ", ") ", 1) in prompt for each in shown.split("; "))


@pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS)
def test_nothing_that_somebody_wrote_becomes_markup(games: Asked, payload: str) -> None:
    judgment = next(each for each in games.judgments if each.verdict)
    trial = judgment.trial
    sendable = payload.encode("utf-8", "replace").decode()  # half a character can be in no prompt
    request = replace(trial.request, source=sendable, system=sendable)
    names = {"question_id": payload, "category": payload, "condition": payload, "shown": (payload, "b")}
    hostile = replace(
        judgment,
        trial=replace(trial, request=request, **names),
        completion=Completion("k", "ok", text=payload, model=payload),
    )
    item = explore.Item(hostile, (), f"A>B ({payload})", None)
    plain = explore.Item(judgment, (), "A>B", None)
    tags = {each.name for each in BeautifulSoup(explore.detail(plain, [plain]), "html.parser").find_all(True)}
    page = BeautifulSoup(explore.detail(item, [item, plain]), "html.parser")
    assert {each.name for each in page.find_all(True)} <= tags
    assert {name for each in page.find_all(True) for name in each.attrs} <= {"style", "open", "tabindex", "scope"}
    explorer = browsing.explorer([item, plain])
    assert "<" not in explorer.children[1].value, "the count holds no name"


# In a notebook.


def told(monkeypatch: pytest.MonkeyPatch, browser: bool, *given: Any, **options: Any) -> list[Any]:
    """What is displayed."""
    found: list[Any] = []
    monkeypatch.setattr("IPython.display.display", found.append)
    monkeypatch.setattr(browsing, "in_browser", lambda: browser)
    explore.show(*given, **options)
    return found


def test_an_executed_notebook_gets_counts_and_a_table(games: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    words, table = told(monkeypatch, False, games, most=4)
    flipped = explore.counted(explore.items(games))["flipped"]
    assert f"Of {len(games.judgments)} judgments: {flipped} *flipped*" in words.data and "**SIMULATED**" in words.data
    assert "A verdict can have several marks. Noise alone makes some of them." in words.data
    assert len(BeautifulSoup(table._repr_html_(), "html.parser").tbody.find_all("tr")) == 4
    (alone,) = told(monkeypatch, False, games, key=games.judgments[3].trial.request.key)
    assert games.judgments[3].trial.request.key in alone.data


def test_without_judgments_it_says_why(games: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    (words,) = told(monkeypatch, False, replace(games, judgments=()))
    assert "not asked here" in words.data


def test_in_jupyterlab_filters_the_list_and_the_key_choose(games: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    (widget,) = told(monkeypatch, True, games)
    assert isinstance(widget, ipywidgets.VBox)
    controls, count, found, shown = widget.children
    boxes = SimpleNamespace(**{each.description: each for each in controls.children})
    every = explore.items(games)
    assert f"{len(every):,} of {len(every):,} judgments" in count.value and "SIMULATED" in count.value
    boxes.mark.value = "flipped"
    flipped = explore.chosen(every, mark="flipped")
    assert f"{len(flipped)} of" in count.value and len(found.options) == len(flipped)
    assert flipped[0].key in shown.value, "the first of the list is shown"
    found.index = 1
    assert flipped[1].key in shown.value and flipped[0].key not in shown.value.split("<table")[0].split("</section>")[0]
    boxes.mark.value, boxes.key.value = None, every[5].key[:12]
    assert [value for _, value in found.options] == [5] and every[5].key in shown.value
    boxes.key.value = "nothing"
    assert not found.options and not shown.value and count.value.endswith(f"0 of {len(every)} judgments")
