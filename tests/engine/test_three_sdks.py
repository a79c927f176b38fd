"""Experiments 1 and 2 end to end through the three real SDKs: only what is missing is asked, a blind group seldom."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from helpers import frames, paths, store
from helpers.config import load_experiment
from helpers.judge import OverBudget, dollars
from helpers.providers import Clock
from helpers.run import Asked, ask, control_gap, control_records, costs, plan, provenance
from helpers.run.control import Control, partnered, place_of
from helpers.types import Experiment, Judgment, Model, Request, Trial
from tests.engine.virtual import FakeClock
from tests.servers import judging
from tests.servers.behaviours import scripted
from tests.servers.judging import nonce_of
from tests.servers.providers import Entry, JudgeServer

REAL = ["claude_fast", "claude_thinking", "gpt_fast", "gpt_thinking", "gemini_fast", "gemini_thinking"]


def models_file(folder: Path, server: JudgeServer, names: list[str] = REAL, **changed: Any) -> Path:
    """A models.yaml with these as they stand in ours, and one at the server's address, changed alike."""
    known = yaml.safe_load(paths.MODELS.read_text(encoding="utf-8"))
    own = {**known["llama_3_1_8b"], "base_url": f"{server.url}/v1", "api_key_env": "OPENAI_API_KEY"}
    entries = {**{name: known[name] for name in names}, "own": own}
    path = folder / "models.yaml"
    # JSON is YAML without aliases.
    path.write_text(json.dumps({name: {**entry, **changed} for name, entry in entries.items()}), encoding="utf-8")
    return path


def _experiment(folder: Path, server: JudgeServer, names: list[str], limit: int, **parameters: Any) -> Experiment:
    changed = parameters.pop("changed", {})
    given = {"judges": names, "candidates": names, "question_limit": limit, "budget_usd": 1e6, **parameters}
    given |= {"store": str(folder / "replies"), "out": str(folder / "out")}
    return load_experiment("mt_bench_blind", models_file=models_file(folder, server, **changed), **given)


def _ask(experiment: Experiment) -> Asked:
    return asyncio.run(ask(experiment, show=False))


def _judging(entry: Entry) -> bool:
    return judging.nonce_of(entry.call) is not None


def _as_the_server_said(asked: Asked, server: JudgeServer) -> bool:
    """Whether every verdict that was read is the one that the server decided on for this very prompt."""
    decided = {
        (entry.model, entry.call.prompt): tuple(judging.ranking_of(entry.call, sorted(judging.texts_of(entry.call))))
        for entry in server.calls
        if _judging(entry)
    }
    return all(
        judgment.verdict.ranking == decided[judgment.trial.judge.model_id, judgment.trial.request.prompt]
        for judgment in asked.judgments
    )


def test_every_model_is_asked_once_for_each_answer_and_each_verdict(serve: Any, tmp_path: Path) -> None:
    server, names = serve(), [*REAL, "own"]
    experiment = _experiment(tmp_path, server, names, 6)
    planned = asyncio.run(plan(experiment))
    assert planned.missing == 2 * 7 * 6 and planned.usd > 0 and server.calls == []
    asked = _ask(_experiment(tmp_path, server, names, 6, budget_usd=planned.usd))
    assert len(server.calls) == 84 and server.duplicates() == 0
    assert {entry.model for entry in server.calls} == {model.model_id for model in experiment.judges}
    assert all(server.count(model=model.model_id) == 12 for model in experiment.judges)
    assert (server.count("openai"), server.count("anthropic"), server.count("google")) == (36, 24, 24)
    assert [entry.structured for entry in server.calls if _judging(entry)].count(True) == 6 * 6
    assert len(asked.judgments) == 42 and {judgment.outcome for judgment in asked.judgments} == {"ok"}
    assert _as_the_server_said(asked, server)
    assert 0 < asked.account.total.usd < planned.usd and asked.data == "asked"
    assert len(asked.frame) == 42 * 7 and asked.frame["rank"].notna().all()
    assert set(asked.frame["judge_model"]) == {f"{model.model_id}{server.suffix}" for model in experiment.judges}

    again = _ask(_experiment(tmp_path, server, names, 6, budget_usd=0.0))
    assert len(server.calls) == 84, "a rerun asks nothing and needs no money"
    assert again.frame.equals(asked.frame) and again.account.total.usd == 0.0


def test_a_planned_budget_is_enough_where_answers_have_more_bytes(serve: Any, tmp_path: Path) -> None:
    server, names = serve(), ["claude_fast", "gpt_fast", "gemini_fast"]
    changed = {"max_tokens": 250, "price": {"input": 1.0, "output": 0.0}}
    planned = asyncio.run(plan(_experiment(tmp_path, server, names, 4, changed=changed)))
    asked = _ask(_experiment(tmp_path, server, names, 4, changed=changed, budget_usd=planned.usd))
    assert all(len(answer.text.encode()) > 250 for answer in asked.answers.values()), "as the stage is set"
    assert len(asked.judgments) == 12 and 0 < asked.account.total.usd < planned.usd


def test_the_account_is_the_one_of_the_servers(serve: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Each request fails once: at OpenAI's the line breaks after it was answered, elsewhere it is refused."""
    server = serve(lambda call: scripted(["reset" if call.provider == "openai" else "500"])(call))
    names = ["claude_fast", "gemini_fast", "gpt_fast"]
    changed = {"price": {"input": 3.0, "output": 15.0}, "max_tokens": 4000}
    _ask(_experiment(tmp_path, server, names, 2, changed=changed))
    assert "account" not in capfd.readouterr().err, "nobody is looking"
    before = len(server.calls)
    larger = _experiment(tmp_path, server, names, 4, changed=changed, budget_usd={"gpt_fast": 5.0, "total": 7.0})
    asked = asyncio.run(ask(larger, clock=FakeClock().clock()))
    told = costs(asked)["account"]
    for row, model in zip(told["models"], larger.judges, strict=True):
        sent = [entry for entry in server.calls[before:] if entry.model == model.model_id]
        whole = [entry for entry in sent if entry.fault is None]
        lost = [entry for entry in sent if entry.fault == "reset"]
        assert row["model"] == model.name and row["attempts"] == len(sent) == 8, "two answers and two verdicts, twice"
        assert row["maybe_billed"] == len(lost) == (4 if model.name == "gpt_fast" else 0)
        read, written = sum(e.input_tokens for e in whole), sum(e.output_tokens for e in whole)
        assert (row["input"], row["output"]) == (read, written)
        known = (3.0 * read + 15.0 * written) / 1e6
        assert row["spent_usd"] == pytest.approx(known + row["maybe_billed_usd"], abs=1e-12)
        assert row["maybe_billed_usd"] >= sum(3.0 * e.input_tokens + 15.0 * e.output_tokens for e in lost) / 1e6
        assert row["budget_usd"] == (5.0 if lost else None)
    assert told["budget_usd"] == 7.0
    assert told["total"]["spent_usd"] == pytest.approx(sum(row["spent_usd"] for row in told["models"]), abs=1e-12)
    every, stored = costs(asked)["models"], costs(asked)["stored"]
    assert [(row["model"], row["calls"]) for row in every] == [(name, 8) for name in names]
    assert [(row["model"], row["calls"]) for row in stored] == [(name, 4) for name in names]
    said, paid = capfd.readouterr().err, dollars(sum(row["usd"] for row in stored))
    assert f"mt_bench_blind: the account of this run, in US dollars\n{asked.account}\n" in said
    assert f"Not in it: 12 replies that were asked before, which cost {paid}." in said
    asyncio.run(ask(larger))
    assert "account" not in capfd.readouterr().err, "nothing was asked"


@pytest.mark.slow
def test_the_whole_benchmark_is_480_answers_and_480_verdicts(serve: Any, tmp_path: Path, real_data: Path) -> None:
    server, questions = serve(), str(real_data / "mt_bench" / "question.jsonl")
    first = _ask(_experiment(tmp_path, server, REAL, 5, questions=questions))
    assert len(server.calls) == 2 * 6 * 5 and len(first.judgments) == 30
    asked = _ask(_experiment(tmp_path, server, REAL, 80, questions=questions))
    verdicts = [_judging(entry) for entry in server.calls]
    assert (verdicts.count(False), verdicts.count(True)) == (480, 480), "the first five are not asked again"
    assert server.duplicates() == 0
    assert all(server.count(model=model.model_id) == 160 for model in asked.experiment.judges)
    assert len(asked.judgments) == 480 and {judgment.outcome for judgment in asked.judgments} == {"ok"}
    assert _as_the_server_said(asked, server)
    assert _ask(_experiment(tmp_path, server, REAL, 80, questions=questions, budget_usd=0.0)).frame.equals(asked.frame)
    assert len(server.calls) == 960


# --- a blind group of another experiment ------------------------------------------------------------------------------

NAMES = ["claude_fast", "gpt_fast", "gemini_fast"]
DAY = 86400.0


class At(FakeClock):
    """A clock that starts so many days after the first one, and on which every look takes ten seconds."""

    def __init__(self, days: float) -> None:
        super().__init__()
        self.time = days * DAY

    def clock(self) -> Clock:
        """The same clock, ticking on the wall."""
        return replace(super().clock(), wall=self._wall)

    def _wall(self) -> float:
        self.time += 10.0
        return 1.7e9 + self.time


#: One model of each SDK, and one behind an OpenAI-compatible server.
FOUR = ["gpt_fast", "claude_fast", "gemini_fast", "own"]


def asked(experiment: Experiment, days: float | None = None) -> Asked:
    """A run; `days` after the first one, where that matters."""
    clock = {} if days is None else {"clock": At(days).clock()}
    return asyncio.run(ask(experiment, show=False, **clock))


class Runs:
    """Runs of both experiments on three judges and two questions, all on one store and one server."""

    def __init__(self, server: JudgeServer, folder: Path) -> None:
        self.server, self.folder = server, folder

    def experiment(self, name: str, **parameters: Any) -> Experiment:
        given = {"judges": NAMES, "candidates": NAMES, "question_limit": 2, "budget_usd": 1e6, **parameters}
        given |= {"store": str(self.folder / "replies"), "out": str(self.folder / "out")}
        return load_experiment(name, models_file=models_file(self.folder, self.server), **given)

    def first(self, days: float = 0.0, **parameters: Any) -> tuple[Asked, int]:
        return self._ask(self.experiment("mt_bench_blind", **parameters), days)

    def second(self, days: float = 0.0, **parameters: Any) -> tuple[Asked, int]:
        return self._ask(self.experiment("hinting_groups", **{"hints": ["self", "full"], **parameters}), days)

    def _ask(self, experiment: Experiment, days: float) -> tuple[Asked, int]:
        before = len(self.server.calls)
        asked = asyncio.run(ask(experiment, show=False, clock=At(days).clock()))
        return asked, len(self.server.calls) - before

    def blind_prompts(self) -> Counter[str]:
        """How often the server was asked each blind judging prompt of a model."""
        asked = [e for e in self.server.calls if nonce_of(e.call) and "Who wrote what" not in e.call.prompt]
        return Counter(f"{entry.model} {entry.call.prompt}" for entry in asked)


@pytest.fixture
def runs(serve: Any, tmp_path: Path) -> Runs:
    return Runs(serve(), tmp_path)


def test_after_experiment_1_the_blind_group_sends_no_request(runs: Runs) -> None:
    before, calls = runs.first()
    assert calls == 6 + 6
    asked, calls = runs.second(days=1)
    assert calls == 2 * 6, "two hints, three judges, two questions; answers and blind judgments are there"
    assert set(runs.blind_prompts().values()) == {1} and runs.server.duplicates() == 0
    assert Counter(j.trial.condition for j in asked.judgments) == {"none": 6, "self": 6, "full": 6}
    assert {at.repeats for at in asked.controls.values()} == {(0,)}
    assert [round(at.gap_days) for at in asked.controls.values()] == [1, 1, 1]
    assert control_gap(asked) == "Between a judgment and its control by the same judge lie at most 1 day."
    # The clock takes ten seconds a look, and how often it is looked at hangs on the machine.
    assert control_records(asked)["gpt_fast"] == {"repeats": [0], "gap_days": pytest.approx(1.0, abs=0.01)}
    again, calls = runs.second(days=3, budget_usd=0.0)
    assert calls == 0 and again.frame.equals(asked.frame) and again.controls == asked.controls
    after, calls = runs.first(days=3, budget_usd=0.0)
    assert calls == 0 and after.frame.equals(before.frame)


def test_a_blind_group_of_another_model_is_asked_again(runs: Runs, capfd: pytest.CaptureFixture[str]) -> None:
    before, _ = runs.first()
    runs.server.suffix = "-2026-02-02"
    asked, calls = runs.second(days=1)
    assert calls == 2 * 6 + 6, "hints and the whole blind group once more"
    assert {at.repeats for at in asked.controls.values()} == {(1,)}
    told = capfd.readouterr().err
    assert "claude_fast: a stored control group does not serve (it came from claude-haiku-4-5-2026-01-01" in told
    assert "used now, by repeat: 1" in told
    assert set(asked.frame["judge_model"].str.slice(-11)) == {"-2026-02-02"}
    assert set(asked.frame["repeat"]) == {0}, "partners have the same repeat number"
    again, calls = runs.second(days=2, budget_usd=0.0)
    assert calls == 0 and again.frame.equals(asked.frame)
    after, calls = runs.first(days=2, budget_usd=0.0)
    assert calls == 0 and after.frame.equals(before.frame), "experiment 1's numbers stay the same"


@pytest.mark.parametrize(("days", "fresh"), [(6.9, True), (7.1, False)])
def test_a_blind_group_older_than_a_week(
    runs: Runs, days: float, fresh: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    runs.first()
    planned = asyncio.run(plan(runs.experiment("hinting_groups", hints=["self", "full"]), clock=At(days).clock()))
    assert planned.missing == (12 if fresh else 18)
    asked, calls = runs.second(days=days)
    assert calls == (12 if fresh else 18)
    assert {at.repeats for at in asked.controls.values()} == {(0,) if fresh else (1,)}
    told = capfd.readouterr().err
    assert fresh or "7.1 days older than what is compared with it, more than 7" in told
    _, calls = runs.second(days=days + 30, budget_usd=0.0)
    assert calls == 0, "a finished comparison does not age"


def test_the_nearest_of_several_blind_groups_serves(runs: Runs) -> None:
    runs.first(repeats=1)
    runs.second(days=20, hints=["self"])
    asked, calls = runs.second(days=26, hints=["full"])
    assert calls == 6 and {at.repeats for at in asked.controls.values()} == {(1,)}
    assert [round(at.gap_days) for at in asked.controls.values()] == [6, 6, 6]


def test_repeats_take_the_next_free_numbers_together(runs: Runs) -> None:
    runs.first(repeats=2)
    runs.server.suffix = "-2026-02-02"
    asked, calls = runs.second(days=1, hints=["self"], repeats=2)
    assert calls == 12 + 12 and {at.repeats for at in asked.controls.values()} == {(2, 3)}
    assert sorted(set(asked.frame["repeat"])) == [0, 1]
    assert len(frames.one_row_each(asked.frame)) == 2 * 2 * 6


def test_one_judge_may_have_changed_and_the_others_not(runs: Runs) -> None:
    runs.first()
    path = store.file_of(runs.folder / "replies", "gpt_fast")
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert all(line["reply"]["model"] == "gpt-5-mini-2026-01-01" for line in lines)
    polite = runs.server.behaviour

    def changed(call: Any) -> Any:
        reply = polite(call)
        return replace(reply, model="gpt-5-mini-2026-02-02") if call.model == "gpt-5-mini" else reply

    runs.server.behaviour = changed
    asked, calls = runs.second(days=1, hints=["self"])
    assert calls == 6 + 2
    repeats = {name: at.repeats for name, at in asked.controls.items()}
    assert repeats == {"claude_fast": (0,), "gpt_fast": (1,), "gemini_fast": (0,)}


def test_a_judge_that_changed_between_two_hints_is_named(runs: Runs) -> None:
    runs.first()
    asked, _ = runs.second(hints=["self"])
    assert "answered as" not in provenance(asked)
    runs.server.suffix = "-2026-02-02"
    asked, _ = runs.second(days=1, hints=["self", "full"])
    assert "Careful: gpt_fast answered as gpt-5-mini-2026-01-01 and gpt-5-mini-2026-02-02" in provenance(asked)


def test_the_plan_names_what_a_changed_model_would_cost_and_the_budget_holds(runs: Runs) -> None:
    runs.first()
    clock = At(1).clock()
    planned = asyncio.run(plan(runs.experiment("hinting_groups", hints=["self"]), clock=clock))
    assert planned.missing == 6 and planned.usd > 0
    told = [note for note in planned.notes if "6 more calls would cost up to $" in note]
    assert any("claude_fast, gemini_fast" in note for note in told)
    assert "6 more calls" in str(planned)
    old = asyncio.run(plan(runs.experiment("hinting_groups", hints=["self"]), clock=At(30).clock()))
    assert old.missing == 12 and "a stored control group does not serve" in str(old)
    runs.server.suffix = "-2026-02-02"
    with pytest.raises(OverBudget, match="calls are missing"):
        runs.second(days=1, hints=["self"], budget_usd=planned.usd)
    stored = store.read(store.file_of(runs.folder / "replies", "claude_fast"))
    assert len(stored) == 2 + 2 + 1, "answers, blind judgments, and the one hinted reply that told of the change"


def test_without_asking_only_what_is_fresh_serves(runs: Runs) -> None:
    runs.first()
    runs.second(days=1)
    asked, calls = runs.second(days=90, judgments="stored")
    assert calls == 0 and set(asked.frame["outcome"]) == {"ok"}
    assert {round(at.gap_days) for at in asked.controls.values()} == {1}


def free_from_now_on(runs: Runs, days: float, **parameters: Any) -> Asked:
    """The same again, twice, without money: a finished comparison is never asked again."""
    for later in (0, 30):
        asked, calls = runs.second(days=days + later, budget_usd=0.0, **parameters)
        assert calls == 0 and set(asked.frame["outcome"]) == {"ok"}
    stored, calls = runs.second(days=days + 60, judgments="stored", **parameters)
    assert calls == 0 and stored.frame.equals(asked.frame)
    return asked


@pytest.mark.parametrize(
    ("before", "paid", "more"),
    [([{"repeats": 2}], 18, 12), ([], 0, 6 + 12 + 12), ([{}, {"days": 2, "repeats": 2}], 18, 12)],
    ids=["after two repeats", "alone", "after a second repeat that came later"],
)
def test_two_repeats_have_one_blind_group(runs: Runs, before: list[dict[str, Any]], paid: int, more: int) -> None:
    assert sum(runs.first(**given)[1] for given in before) == paid
    asked, calls = runs.second(days=3, hints=["self"], repeats=2)
    assert calls == more and {at.repeats for at in asked.controls.values()} == {(0, 1)}
    free_from_now_on(runs, 4, hints=["self"], repeats=2)


def test_the_nearest_serves_question_by_question(runs: Runs) -> None:
    runs.first(question_limit=4)
    runs.first(days=2, question_limit=1, repeats=2)
    asked, calls = runs.second(days=3, hints=["self"], question_limit=4)
    assert calls == 12 and {at.repeats for at in asked.controls.values()} == {(0, 1)}
    frame = asked.frame[asked.frame["condition"] == "none"]
    assert len(frames.one_row_each(frame)) == 12 and set(frame["repeat"]) == {0}
    free_from_now_on(runs, 4, hints=["self"], question_limit=4)


@pytest.mark.parametrize("changed", [False, True])
def test_questions_added_weeks_later_are_asked_once_and_never_again(runs: Runs, changed: bool) -> None:
    runs.second(hints=["self"])
    if changed:
        runs.server.suffix = "-2026-02-02"
    asked, calls = runs.second(days=20, hints=["self"], question_limit=4)
    assert calls == 6 + 6 + 6, "two more questions: answers, blind and hinted judgments"
    asked = free_from_now_on(runs, 21, hints=["self"], question_limit=4)
    assert changed == ("Careful: gpt_fast answered as" in provenance(asked))
    assert all(round(at.gap_days) == 0 for at in asked.controls.values()), "each question's pair is of one day"


def blind_partners(asked: Asked, hint: str) -> set[tuple[str, str]]:
    """The model that gave each verdict under a hint, and the one that gave its partner's."""
    one = frames.one_row_each(asked.frame)
    keys = ["question_id", "judge"]
    hinted = one[one["condition"] == hint]
    both = hinted.merge(one[one["condition"] == "none"], left_on=[*keys, "partner"], right_on=[*keys, "repeat"])
    assert len(both) == len(hinted), "each hinted judgment has one partner"
    return {(a[-10:], b[-10:]) for a, b in zip(both["judge_model_x"], both["judge_model_y"], strict=True)}


def test_a_hint_added_weeks_later_has_a_blind_group_of_its_own(runs: Runs) -> None:
    runs.second(hints=["self"])
    runs.server.suffix = "-2026-02-02"
    asked, calls = runs.second(days=30, hints=["full"])
    assert calls == 6 + 6 and {at.repeats for at in asked.controls.values()} == {(1,)}
    asked = free_from_now_on(runs, 31, hints=["self", "full"])
    assert {at.repeats for at in asked.controls.values()} == {(0, 1)}
    assert blind_partners(asked, "self") == {("2026-01-01", "2026-01-01")}
    assert blind_partners(asked, "full") == {("2026-02-02", "2026-02-02")}
    assert control_gap(asked).endswith("lie at most 0 days.")


def test_blind_repeats_asked_later_of_another_model_move_no_finished_comparison(runs: Runs) -> None:
    runs.first()
    before, _ = runs.second(days=3)
    runs.server.suffix = "-2026-02-02"
    runs.first(days=4, repeats=2)
    after = free_from_now_on(runs, 5)
    assert after.frame.equals(before.frame) and {at.repeats for at in after.controls.values()} == {(0,)}


def test_questions_that_had_only_their_blind_judgments_are_compared_with_the_model_of_their_day(runs: Runs) -> None:
    runs.first(question_limit=4)
    runs.second(days=1)
    runs.server.suffix = "-2026-02-02"
    asked, calls = runs.second(days=60, question_limit=4)
    assert calls == 2 * 2 * 3 + 2 * 3, "two more questions under two hints, and their blind group again"
    assert blind_partners(asked, "self") == {("2026-01-01", "2026-01-01"), ("2026-02-02", "2026-02-02")}
    free_from_now_on(runs, 61, question_limit=4)


def test_a_repeat_more_asks_nothing_twice_that_serves(runs: Runs) -> None:
    runs.first()
    _, calls = runs.second(days=20, hints=["self"])
    assert calls == 12, "the blind group of day 0 is too old"
    asked, calls = runs.second(days=21, hints=["self"], repeats=2)
    assert calls == 12, "one hinted and one blind repeat more"
    assert {at.repeats for at in asked.controls.values()} == {(1, 2)}
    free_from_now_on(runs, 22, hints=["self"], repeats=2)


def test_a_model_that_changes_in_the_middle_of_a_run_gets_partners_of_its_own(runs: Runs) -> None:
    runs.first(question_limit=4)
    polite, seen = runs.server.behaviour, []

    def changing(call: Any) -> Any:
        seen.append(call)
        return replace(polite(call), model=f"{call.model}-2026-02-02") if len(seen) > 8 else polite(call)

    runs.server.behaviour = changing
    asked, _ = runs.second(days=1, hints=["self"], question_limit=4)
    assert all(a == b for a, b in blind_partners(asked, "self"))
    free_from_now_on(runs, 2, hints=["self"], question_limit=4)


def test_where_the_control_is_asked_more_often_the_partners_are_its_last_repeats_whenever_they_came() -> None:
    def trial(condition: str, repeat: int) -> Trial:
        model = Model("m", "openai", "m", "v", "")
        request = Request(model, f"{condition}", "", None, repeat)
        return Trial("e", "q", "c", model, request, condition, form="choice", shown=("a", "b"), labels=("1", "2"))

    place = place_of(trial("none", 0))
    # The nearest control was chosen first: repeat 1, of today; then repeat 0, of yesterday.
    found = {"m": Control({(place, "edited", 0): 1, (place, "edited", 1): 0})}
    judgments = [Judgment(trial(*each), None, None, "missing") for each in (("none", 0), ("none", 1), ("edited", 0))]
    named = {(j.trial.condition, j.trial.request.repeat): j.trial.partner for j in partnered(judgments, "none", found)}
    assert named["edited", 0] == 1, "the first asking is what items are selected on"
    # Asked as often as its control, each has the partner that was chosen for it.
    twice = [*judgments, Judgment(trial("edited", 1), None, None, "missing")]
    named = {(j.trial.condition, j.trial.request.repeat): j.trial.partner for j in partnered(twice, "none", found)}
    assert (named["edited", 0], named["edited", 1]) == (1, 0)


def test_control_repeats_in_other_orders_are_looked_up_by_their_own_prompt(runs: Runs) -> None:
    """Experiment 5 shows the options of a control's repeats in different orders; one repeat is stale, the other not."""
    given = {"judges": ["gpt_fast"], "candidates": None, "biases": ["anchoring"]}
    runs._ask(runs.experiment("cognitive_biases", repeats=1, **given), 0)
    experiment = runs.experiment("cognitive_biases", repeats=2, **given)
    asked, _ = runs._ask(experiment, 20)
    control = {each.trial.request.key: each.trial for each in asked.judgments if each.trial.condition == "control"}
    assert len({trial.request.prompt for trial in control.values()}) > len(control) / 2
    path = store.file_of(runs.folder / "replies", "gpt_fast")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(line for line in lines if json.loads(line)["key"] in control))
    again, calls = runs._ask(experiment, 21)
    assert calls == len(control) + len(control) / 2, "all treatments, and of the control the first repeat alone"
    assert again.controls["gpt_fast"].repeats == (1, 2)
    trials = [[judgment.trial for judgment in run.judgments] for run in (asked, again)]
    shown = [Counter((each.question_id, each.condition, each.shown) for each in some) for some in trials]
    assert shown[0] == shown[1] and sorted(set(again.frame["repeat"])) == [0, 1]
    assert runs._ask(experiment, 22)[1] == 0
