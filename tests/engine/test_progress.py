"""What a run says: its progress, what an interrupted one leaves, and first replies that cannot be read."""

from __future__ import annotations

import asyncio
import io
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest

from helpers import run
from helpers.config import load_experiment
from helpers.judge import Budget, Incomplete, Interrupted, complete_all, judge_all
from helpers.judge.terminal import Progress, money, notice
from helpers.prompts import schema
from helpers.run import notebooks
from helpers.run.asking import resumable
from helpers.run.kernels import drafting
from helpers.types import Completion, Judgment, Model, Price, Request, Trial, Usage
from helpers.verdicts import unwrapped
from tests.engine.asking import MODELS, requests_to
from tests.engine.traces import statuses
from tests.servers.behaviours import Call, Reply


@contextmanager
def terminal() -> Iterator[io.StringIO]:
    """What a run in a terminal writes to its standard error. (No fixture: pytest puts its own stream between.)"""
    stream = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "__stderr__", stream)
        patch.setattr(sys, "stderr", stream)
        yield stream
    assert not stream.closed


@contextmanager
def kernel() -> Iterator[tuple[int, int]]:
    """Standard error as a kernel replaces it: its own stream, which keeps a copy of the file it was started with."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    stream = SimpleNamespace(_original_stdstream_copy=writing, write=_part_of_the_notebook, flush=lambda: None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stderr", stream)
        patch.setattr(sys, "__stderr__", stream)
        yield reading, writing
    os.close(reading)
    os.close(writing)


def _part_of_the_notebook(text: str) -> None:
    raise AssertionError(f"written into the notebook: {text!r}")


def _lowest_free_descriptor() -> int:
    descriptor = os.open(os.devnull, os.O_RDONLY)
    os.close(descriptor)
    return descriptor


def test_in_a_kernel_words_go_to_the_file_that_it_was_started_with() -> None:
    with kernel() as (reading, copy):
        for number in range(3):
            notice(f"word {number}")
            os.fstat(copy)  # still open
        assert os.read(reading, 1000) == b"word 0\nword 1\nword 2\n"
        free = _lowest_free_descriptor()
        bar = Progress("judging", 3, 1, Budget(1.0))
        bar.count(True)
        bar.count(False)
        bar.close()
        os.fstat(copy)
        assert _lowest_free_descriptor() == free, "what was opened is closed"
        said = os.read(reading, 100_000).decode()
    assert "judging" in said and "2/3" in said and "failed 1" in said and "stored 1" in said


def test_in_a_terminal_words_go_to_it_and_it_stays_open() -> None:
    with terminal() as stream:
        notice("a word")
        budget = Budget(1.0)
        bar = Progress("answers", 2, 0, budget)
        for _ in range(2):
            _paid(budget, "gpt", 125_000)
            bar.count(True)
        bar.close()
        said = stream.getvalue()
    assert said.startswith("a word\n") and "answers: 100%" in said and "spent $0.25 of $1.00" in said


def test_the_line_tells_what_is_spent_reserved_and_perhaps_billed_and_the_dearest_models_by_name() -> None:
    budget = Budget(9.0)
    assert money(Budget()) == "spent $0.00" and money(budget) == "spent $0.00 of $9.00"
    _paid(budget, "one", 120_000)
    assert money(budget) == "spent $0.12 of $9.00", "one model is all there is"
    for number, name in enumerate(("free", "two", "three", "four", "five", "six")):
        _paid(budget, name, number * 200_000)
    budget.reserve(_request("six", 500_000))
    assert money(budget) == ("spent $3.12 of $9.00, reserved $0.50: six 1.00, five 0.80, four 0.60, three 0.40, 2 more")
    budget.settle(_request("six", 500_000), Completion("", "maybe_billed", maybe_billed=True))
    assert money(budget).startswith("spent $3.62 of $9.00, perhaps billed 1 ($0.50): six 1.50, five 0.80")


def test_the_last_line_tells_of_attempts_that_were_given_up() -> None:
    with terminal() as stream:
        budget = Budget(1.0)
        bar = Progress("answers", 2, 0, budget)
        request = _request("gpt", 500_000)
        budget.reserve(request)
        budget.abandon([request.key])
        bar.close()
        assert "spent $0.50 of $1.00, perhaps billed 1 ($0.50)" in stream.getvalue().splitlines()[-1]


def _request(name: str, most: int) -> Request:
    """A call to a model at a dollar for a million tokens written, nothing for those read."""
    return Request(Model(name, "openai", name, "gpt", max_tokens=most, price=Price(0.0, 1.0)), "Who?")


def _paid(budget: Budget, name: str, tokens: int) -> None:
    budget.reserve(_request(name, max(1, tokens)))
    budget.settle(_request(name, max(1, tokens)), Completion("", "ok", usage=Usage(1, tokens)))


@pytest.mark.parametrize(("came", "told"), [(False, "failed 1000"), (True, "1000/1000")])
def test_a_thousand_replies_or_failures_are_counted_and_are_not_a_thousand_lines(came: bool, told: str) -> None:
    with terminal() as stream:
        bar = Progress("answers", 1000, 0, Budget())
        for _ in range(1000):
            bar.count(came)
        bar.close()
        said = stream.getvalue()
    assert said.count("\r") < 20 and told in said.splitlines()[-1]


@pytest.mark.parametrize(("labels", "named"), [({"experiment": "mine"}, "mine: judging:"), ({}, "judging:")])
def test_a_bar_names_the_experiment_that_asks(tmp_path: Path, labels: dict[str, str], named: str) -> None:
    request = Request(Model("sim", "simulated", "sim", "gpt"), "Who?")
    with terminal() as stream:
        asyncio.run(complete_all([request], folder=tmp_path, labels={request.key: labels}, stage="judging"))
        assert stream.getvalue().lstrip("\r").startswith(named)


@pytest.mark.parametrize(("show", "stored"), [(False, 0), (True, 5)], ids=["not shown", "nothing missing"])
def test_no_bar_where_nobody_wants_one_or_nothing_is_asked(show: bool, stored: int) -> None:
    with terminal() as stream:
        bar = Progress("answers", 5, stored, Budget(), show)
        bar.count(True)
        bar.count(False)
        bar.close()
        assert stream.getvalue() == ""


@pytest.mark.parametrize("name", [None, "a notebook"], ids=["a program", "a notebook that somebody looks at"])
def test_without_a_standard_error_of_its_own_nothing_is_closed(
    monkeypatch: pytest.MonkeyPatch, name: str | None
) -> None:
    if name:
        monkeypatch.setenv("JPY_SESSION_NAME", name)  # then the bar is part of its cell
    with terminal() as stream, monkeypatch.context() as patch:  # undone before the terminal's own
        patch.setattr(sys, "__stderr__", None)
        notice("a word")
        bar = Progress("answers", 2, 0, Budget())
        bar.count(True)
        bar.close()
        assert stream.getvalue().startswith("a word\n") and (not name or "1/2" in stream.getvalue())


# --- what is to come --------------------------------------------------------------------------------------------------


AHEAD = {"answers": 120, "editing": 0, "judging": 80}
NOTHING = "nothing was asked; still to come: 120 calls of answers, 80 calls of judging"


@pytest.mark.parametrize(
    ("kind", "asked", "raised", "said"),
    [
        (KeyboardInterrupt, False, KeyboardInterrupt, NOTHING),
        (asyncio.CancelledError, False, Interrupted, NOTHING),
        (Interrupted, False, Interrupted, NOTHING),
        (asyncio.CancelledError, True, Interrupted, "what came is stored"),
        (ValueError("as it was"), False, ValueError, "as it was"),
    ],
)
def test_an_interrupt_says_what_is_to_come_and_claims_no_more_than_it_knows(
    kind: Any, asked: bool, raised: type[BaseException], said: str
) -> None:
    budget = Budget(1e6)
    if asked:
        budget.reserve(requests_to(MODELS["openai"], 1)[0])
    with pytest.raises(raised) as told, resumable(budget, {} if asked else AHEAD):
        raise kind
    assert type(told.value) is raised and str(told.value) == said


def test_an_interrupted_stage_names_the_calls_of_later_ones(serve: Any, tmp_path: Path) -> None:
    server = serve(latency=0.2)
    given = {"judges": ["gpt_fast"], "biases": ["confirmation"], "budget_usd": 1e6, "store": str(tmp_path / "replies")}
    experiment = load_experiment("cognitive_biases", question_limit=6, **given)
    planned = asyncio.run(run.plan(experiment))
    first, *later = dict.fromkeys(row.stage for row in planned.rows)
    missing = {stage: sum(row.missing for row in planned.rows if row.stage == stage) for stage in (first, *later)}
    assert missing[first] and all(missing[stage] for stage in later) and later

    async def interrupted() -> str:
        task = asyncio.create_task(run.ask(experiment, show=False))
        while not server.calls:
            await asyncio.sleep(0.005)
        task.cancel()
        with pytest.raises(Interrupted) as told:
            await task
        return str(told.value)

    told = asyncio.run(interrupted())
    counts = re.match(rf"{first}: (\d+) of {missing[first]} replies are stored, (\d+) are missing; run the same", told)
    assert counts and int(counts[1]) + int(counts[2]) == missing[first], told
    assert told.endswith("still to come: " + ", ".join(f"{missing[stage]} calls of {stage}" for stage in later)), told


#: A cell that writes a file should its kernel be interrupted when the cell is done.
LISTENS = """
from pathlib import Path
def heard(*_): Path({file!r}).touch()
get_ipython().kernel.saved_sigint_handler = heard
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no signals between processes")
@pytest.mark.parametrize("fails", [False, True])
def test_a_kernel_without_work_is_not_interrupted(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], fails: bool
) -> None:
    heard, notebook = tmp_path / "heard", tmp_path / "01_a.ipynb"
    cells = [nbformat.v4.new_code_cell(LISTENS.format(file=str(heard)) + "1 / 0" * fails)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), notebook)
    result = notebooks.execute(notebook, tmp_path / "out" / "report.ipynb", {})
    assert bool(result.error) is fails, result.error
    assert not heard.exists(), "an interrupted kernel tells the terminal, as if something had gone wrong"
    assert "KeyboardInterrupt" not in capfd.readouterr().err


# --- drafts -----------------------------------------------------------------------------------------------------------

WRITES = """
import sys
from pathlib import Path
from helpers.run.kernels import drafting
with drafting(Path(sys.argv[1])) as draft:
    draft.write_text("{}")
    print(draft, flush=True)
    sys.stdin.read()
"""


def test_a_draft_is_cleared_once_its_process_has_ended_however_that_was(tmp_path: Path) -> None:
    report = tmp_path / "report.ipynb"
    words = [sys.executable, "-c", WRITES, str(report)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
        draft = Path(writer.stdout.readline().strip())
        assert draft.parent == tmp_path and draft.name.startswith(".report-") and draft.suffix == ".ipynb"
        with drafting(report) as mine:
            mine.write_text("{}")
            with drafting(report):
                assert mine.exists() and draft.exists() and mine != draft, "two that are written now"
        assert {path.stem for path in tmp_path.iterdir()} == {draft.stem}
        writer.kill()
    assert draft.exists(), "killed, it could not tidy up"
    with drafting(report) as mine:
        assert {path.stem for path in tmp_path.iterdir()} == {mine.stem}
    assert list(tmp_path.iterdir()) == []


def test_a_draft_goes_also_where_a_run_fails_and_what_is_no_draft_stays(tmp_path: Path) -> None:
    report, elsewhere = tmp_path / "report.ipynb", tmp_path / "precious"
    kept = [report, elsewhere, *(tmp_path / name for name in ("report.failed.ipynb", ".other-1.lock", ".report-2.txt"))]
    for path in kept:
        path.write_text("kept")
    (tmp_path / ".report-3.lock").symlink_to(elsewhere)
    (tmp_path / ".report-4.lock").touch()
    (tmp_path / ".report-4.ipynb").symlink_to(elsewhere)
    with pytest.raises(ZeroDivisionError), drafting(report) as draft:
        draft.write_text("{}")
        raise ZeroDivisionError
    assert {path.read_text() for path in kept} == {"kept"}
    assert {path.name for path in tmp_path.iterdir()} == {*(path.name for path in kept), ".report-3.lock"}


# --- first replies ----------------------------------------------------------------------------------------------------

NONCE = "7f3a91ce"
GPT, CLAUDE = MODELS["openai"], MODELS["anthropic"]
GOOD = f"Because.\nVERDICT-{NONCE}: A>B"


def trials(model: Model, count: int, structured: bool = False) -> list[Trial]:
    where = {"experiment": "mt_bench_blind", "category": "math", "form": "pairwise", "nonce": NONCE}
    asked = schema("pairwise", "AB") if structured else None
    requests = [Request(model, f"Which is better? {number}", schema=asked) for number in range(count)]
    return [Trial(question_id=f"q{at}", judge=model, request=each, **where) for at, each in enumerate(requests)]


def judged(asked: list[Trial], folder: Path, **options: Any) -> list[Judgment]:
    options = {"budget": Budget(1e6), "show": False, "concurrency": 4, **options}
    return asyncio.run(judge_all(asked, folder=folder, **options))


def saying(text: str, of: Any = lambda number: True) -> Any:
    """A server that says this to some calls, by the number of their question, and gives a verdict to all others."""

    def behave(call: Call) -> Reply:
        number = int(re.findall(r"\d+", call.prompt)[-1])
        return Reply(text if of(number) else GOOD)

    return behave


@pytest.mark.parametrize(
    ("text", "structured", "remedy"),
    [
        ("I like both.", False, "a reasoning parser on the server"),
        ("Sure: A is better.", True, r"`structured: false` in models.yaml \(an audit: --text\)"),
        ("<think>Let me see, A is", False, "a larger `max_tokens`"),
    ],
)
def test_an_unreadable_model_is_stopped(serve: Any, tmp_path: Path, text: str, structured: bool, remedy: str) -> None:
    server = serve(saying(text))
    with pytest.raises(Incomplete, match=r"gpt: \d+ x of its first 20 replies fewer than 10% could be read") as error:
        judged(trials(GPT, 100, structured), tmp_path)
    said = str(error.value)
    assert repr(text) in said and re.search(remedy, said) and "(20 unparsed)" in said and "keep_going" in said
    assert ("structured: false" in said) == structured
    assert 20 <= len(server.calls) <= 20 + 4, "what was in flight, and nothing after it"
    assert statuses(tmp_path, GPT) == ["ok"] * len(server.calls), "what came is stored"
    sent = len(server.calls)
    with pytest.raises(Incomplete, match="of its first 20 replies fewer than"):
        judged(trials(GPT, 100, structured), tmp_path)
    assert len(server.calls) == sent, "a second run pays for nothing more"
    found = judged(trials(GPT, 100, structured), tmp_path, keep_going=True)
    assert len(server.calls) == 100 and {each.outcome for each in found} == {"unparsed"}


def test_a_quoted_reply_is_cut_and_holds_no_key(serve: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "a-secret-of-this-test-0123456789")
    serve(saying("a-secret-of-this-test-0123456789 " + "x" * 1000))
    with pytest.raises(Incomplete) as error:
        judged(trials(GPT, 30), tmp_path)
    assert "a-secret-of-this-test" not in str(error.value)
    assert "x" * 150 in str(error.value) and "x" * 201 not in str(error.value)


@pytest.mark.parametrize(("readable", "stopped"), [(0, True), (1, True), (2, False), (20, False)])
def test_a_tenth_of_the_first_twenty_is_enough(serve: Any, tmp_path: Path, readable: int, stopped: bool) -> None:
    server = serve(saying("No.", lambda number: number >= readable))
    with pytest.raises(Incomplete) if stopped else nullcontext():
        judged(trials(GPT, 60), tmp_path, concurrency=1)
    assert len(server.calls) == (20 if stopped else 60)


def test_other_models_go_on_and_few_replies_stop_nobody(serve: Any, tmp_path: Path) -> None:
    def behave(call: Call) -> Reply:
        return Reply(GOOD if "claude" in call.model else "No.")

    server = serve(behave)
    with pytest.raises(Incomplete) as error:
        judged([*trials(GPT, 60), *trials(CLAUDE, 60)], tmp_path)
    assert "claude:" not in str(error.value) and statuses(tmp_path, CLAUDE) == ["ok"] * 60
    before = len(server.calls)
    judged(trials(GPT, 19), tmp_path / "few")
    assert len(server.calls) == before + 19


def test_what_a_model_refuses_to_say_is_its_answer(serve: Any, tmp_path: Path) -> None:
    server = serve(lambda call: Reply("", finish="filter"))
    assert {each.outcome for each in judged(trials(GPT, 40), tmp_path)} == {"filtered"}
    assert len(server.calls) == 40


def test_a_wrong_id_is_read_of_models_whose_server_enforces_the_schema(serve: Any, tmp_path: Path) -> None:
    server = serve(saying('{"id": "./7f3a91ce", "justification": "Because.", "verdict": "A>B"}'))
    with pytest.raises(Incomplete, match="of its first 20 replies"):
        judged(trials(GPT, 40, structured=True), tmp_path)
    found = judged(trials(replace(GPT, enforced=True), 40, structured=True), tmp_path)
    assert {each.outcome for each in found} == {"ok"} and len(server.calls) == 40
    assert {unwrapped(each) for each in found} == {("id not copied",)}
