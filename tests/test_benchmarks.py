"""The benchmarks run and count right; how fast anything is, no test says."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from benchmarks import __main__ as everything, comparing, environments, estimating, judging, measuring, notebooks
from benchmarks.environments import PEERS
from benchmarks.material import trials, write
from benchmarks.measuring import Cost, cost, goal, server, spread
from benchmarks.programs import coded
from benchmarks.server import body_of
from helpers import store
from helpers.providers import anthropic, google, openai
from helpers.types import Model
from helpers.verdicts import parse

CALLS = 3
HOLDS = "text = 'x' * 300_000_000"
JUDGE = Model("judge", "openai", "bench-1", "gpt")


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with server(milliseconds=1) as port:
        yield port


@pytest.fixture(scope="module")
def prompts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("prompts") / "prompts.jsonl"
    write(path, CALLS)
    return path


def test_prompts_differ_and_have_the_size_that_is_told() -> None:
    sent = [trial.request.system + trial.request.prompt for trial in trials(JUDGE, 50)]
    assert len(set(sent)) == 50
    assert all(5000 < len(text.encode()) < 6000 for text in sent)


@pytest.mark.parametrize(
    ("path", "module"),
    [("/v1/chat/completions", openai), ("/v1/messages", anthropic), ("/v1beta/models/x:generateContent", google)],
)
def test_the_server_answers_in_each_wire_format_with_the_verdict_of_its_prompt(path: str, module) -> None:
    for trial in trials(JUDGE, CALLS):
        reply = module.read(body_of(path, trial.request.prompt.encode()).decode())
        outcome, verdict = parse(reply.text, "listwise", trial.labels, trial.nonce, structured=True)
        assert (outcome, verdict.ranking, verdict.contradicts) == ("ok", ("B", "A", "C"), False)
        assert (reply.finish, reply.usage.input, reply.usage.output) == ("stop", 1400, 350)


def test_the_server_answers_nothing_else() -> None:
    assert body_of("/v1/chat/completions", b"Who is there?") is None
    assert body_of("/v1/embeddings", b"<<<QUESTION 0123abcd>>>") is None


@pytest.mark.parametrize("sdk", judging.SDKS)
def test_our_path_and_the_bare_loops_run_and_ours_keeps_every_reply(
    sdk: str, port: int, prompts: Path, tmp_path: Path
) -> None:
    commands = judging.programs(port, prompts)
    ours, bare = (cost(commands[f"{whose} {sdk}"]([1, CALLS], tmp_path)) for whose in judging.EACH)
    assert [len(store.read(tmp_path / place / "judge.jsonl")) for place in ("0", "1")] == [1, CALLS]
    assert ours.memory > 10
    for each in (ours, bare):
        lines = [[float(word) for word in line.split()] for line in each.output.splitlines()]
        assert len(lines) == 2 and all(0 < spent < each.cpu and 0 < took < each.seconds for took, spent in lines)


def test_the_pattern_of_a_client_per_call_runs(port: int, prompts: Path) -> None:
    program = f"benchmarks.programs.{PEERS['a client per call'].program}"
    told = ["--port", str(port), "--calls", str(CALLS), "--prompts", str(prompts), "--at-once", "2"]
    assert cost([sys.executable, "-m", program, *told]).cpu > 0


@pytest.mark.parametrize("name", ["inspect_ai", "litellm"])
def test_a_peer_runs_where_its_environment_is_built(name: str, port: int, prompts: Path, tmp_path: Path) -> None:
    if not PEERS[name].built:
        pytest.skip("`make bench` builds its environment")
    assert cost(judging.programs(port, prompts)[name]([CALLS], tmp_path)).cpu > 0


def test_a_program_that_fails_is_told_with_its_last_words() -> None:
    with pytest.raises(SystemExit, match=r"(?s)exit code 3.*no such luck"):
        cost([sys.executable, "-c", "import sys; print('no such luck', file=sys.stderr); sys.exit(3)"])


def test_processor_time_and_memory_are_those_of_the_program() -> None:
    spent = cost([sys.executable, "-c", "import time\nwhile time.process_time() < 0.3: pass\nprint('done')"])
    assert 0.3 <= spent.cpu < 3 and spent.output == "done\n"
    # Of memory at least that of whoever starts it is told, which in these tests can be anything: a small one starts it.
    small = "import sys; from benchmarks.measuring import cost; print(cost([sys.executable, '-c', sys.argv[1]]).memory)"
    held, little = (float(cost([sys.executable, "-c", small, code]).output) for code in (HOLDS, "pass"))
    assert 300 < held < 400 and little < 250


def test_what_happens_once_is_removed_and_ratios_are_of_the_same_round() -> None:
    ours = judging.parse_costs("7.5 4.0\n2.0 1.0\n6.0 3.0\n", 2000)
    assert (ours.rate, ours.cpu) == (500.0, 1.0)
    found = {f"{whose} {sdk}": [ours] * 3 for whose in judging.EACH for sdk in judging.SDKS}
    # Of three rounds one is disturbed for both: the ratio of that round is as it was.
    found["bare openai"] = [judging.PerCall(500.0, 0.8), judging.PerCall(400.0, 0.5), judging.PerCall(500.0, 0.8)]
    found["ours openai"] = [judging.PerCall(490.0, 1.0), judging.PerCall(200.0, 1.0), judging.PerCall(490.0, 1.0)]
    row = next(line for line in judging.beside_bare(found, found).splitlines() if line.startswith("| openai"))
    assert "0.98 [0.50, 0.98] (at least 0.95: met)" in row
    assert "1.25 [1.25, 2.00] (at most 2.00: met) | 1.25 [1.25, 2.00] |" in row
    found |= {"inspect_ai": [judging.PerCall(50.0, 5.0)] * 3, "litellm": [judging.PerCall(300.0, 4.0)] * 3}
    found["a client per call"] = [judging.PerCall(50.0, 30.0)] * 3
    told = judging.beside_peers(found, {})
    assert "| 9.8 [4.0, 9.8] (at least 6.0: met) | 5.0 [5.0, 5.0] (at least 6.0: missed) |" in told
    assert "1.6 [0.7, 1.6] (at least 1.7: missed)" in told and "30.0 [30.0, 30.0] (at least 12.0: met)" in told


def test_ours_and_the_bare_loops_take_turns_and_each_way_round(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[tuple[str, list[int]]] = []
    speeds = itertools.cycle([1.0, 4.0, 1.0])  # a machine that changes its speed
    names = [f"{whose} {sdk}" for sdk in judging.SDKS for whose in judging.EACH] + ["litellm"]

    def measured(command: judging.Command, calls: list[int]) -> Cost:
        [name] = command(calls, Path())
        done.append((name, calls))
        pace = next(speeds) if len(calls) > 1 else 1.0
        said = "".join(f"{pace * each / 100} {pace * each / 1000}\n" for each in calls)
        return Cost(calls[0] / 100, calls[0] / 1000, 80.0, said)

    monkeypatch.setattr(judging, "_cost", measured)
    commands = {name: lambda calls, folder, name=name: [name] for name in names}
    found = judging.rounds(commands, 2, 10, 110)
    each = judging.PerCall(pytest.approx(100.0), pytest.approx(1.0))
    assert found == {name: [each, each] for name in names}
    asked = [name for name, calls in done if calls == [10, 10, 110]]
    alike, turns = ["ours openai", "bare openai"], judging.TURNS
    assert asked[: 2 * turns] == [name for turn in range(turns) for name in alike[:: (-1) ** turn]]
    assert asked[6 * turns : 8 * turns] == [name for turn in range(turns) for name in alike[:: -((-1) ** turn)]]
    assert len(asked) == 2 * 6 * turns
    assert [each for each in done if each[0] == "litellm"] == [("litellm", [10]), ("litellm", [110])] * 2


def test_a_peer_that_is_not_there_is_told_with_the_reason_and_the_others_are_measured() -> None:
    found = {name: [judging.PerCall(100.0, 2.0)] for name in ("ours openai", "inspect_ai", "a client per call")}
    told = judging.beside_peers(found, {"litellm": "ERROR: No matching distribution found for litellm==1.106.2"})
    assert "| litellm: not installed: ERROR: No matching distribution found for litellm==1.106.2 |  |  |  |  |" in told
    assert "| inspect_ai | 100 [100, 100] |" in told and "| a client per call | 100 [100, 100] |" in told


def test_an_environment_that_cannot_be_made_is_a_reason_and_no_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setattr(environments, "FOLDER", tmp_path / "file")
    assert "file" in environments.build(PEERS["litellm"])


@pytest.mark.slow
def test_what_pip_cannot_install_is_a_reason_and_no_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environments, "FOLDER", tmp_path)
    peer = environments.Peer("absent", (str(tmp_path / "absent.whl"),), "none")
    assert "absent.whl" in environments.build(peer) and not peer.built


def test_a_server_that_does_not_start_is_told_with_its_last_words() -> None:
    told = r"(?s)the server has not started \(.*exit code 2\).*invalid float value"
    with pytest.raises(SystemExit, match=told), server(milliseconds="soon"):
        pass


def test_memory_and_the_second_run_are_told_with_their_goals() -> None:
    runs = [(Cost(40.0, 30.0, 190.0, "39.0 29.0\n"), Cost(3.0, 2.5, 150.0, "2.5 2.4\n"))]
    told = judging.of_many(runs, 20_000)
    assert "| 20,000 asked: largest resident memory, MB | 190 [190, 190] | at most 200: met |" in told
    assert "| 2.40 [2.40, 2.40] | at most 2: missed |" in told


def test_goals_are_held_against_medians() -> None:
    assert goal([1.0, 1.35, 9.0], 1.35, most=True) == "at most 1.35: met"
    assert goal([0.1, 0.94, 2.0], 0.95, most=False) == "at least 0.95: missed"
    assert spread([0.0, 3.0, 1.0, 2.0], 1) == "1.5 [0.0, 3.0]"


def test_an_unknown_part_is_refused_before_anything_is_measured() -> None:
    asked = [sys.executable, "-m", "benchmarks", "jugding"]
    done = subprocess.run(asked, cwd=measuring.ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "no part jugding; the parts are judging, estimating, notebooks, starting" in done.stderr


def test_a_part_is_shown_and_results_are_left_alone() -> None:
    results = measuring.ROOT / "benchmarks" / "results.md"
    before = results.read_bytes() if results.exists() else None
    asked = [sys.executable, "-m", "benchmarks", "starting", "--runs", "1"]
    done = subprocess.run(asked, cwd=measuring.ROOT, capture_output=True, text=True, check=True)
    assert "| `import helpers.store, helpers.verdicts, helpers.judge` | " in done.stdout
    assert (results.read_bytes() if results.exists() else None) == before


def test_estimators_on_rows_of_codes_are_measured() -> None:
    said = estimating.section(1, rows=600, resamples=20, counts=(60,))
    assert (
        "20 resamples of each rate with our sums, s" in said
        and "| 60 | " in said
        and "600 pairs, two games each" in said
        and "600 rows that are all different" in said
    )


def test_the_rates_of_rows_of_codes_are_those_of_the_rows() -> None:
    """What the programs time is what they say: sums and rates by hand, from the rows."""
    frame = coded.judgments(600)
    selves, classes = coded.sums(frame)
    own, kinds = coded.rates(selves.sum(axis=0)), coded.shares(classes.sum(axis=0))
    assert len(frame["question_id"].unique()) == 100 and set(frame["question_id"].value_counts()) == {6}
    assert own == pytest.approx([frame["self"][frame["judge"] == judge].mean() for judge in coded.JUDGES])
    assert kinds == pytest.approx([(frame["kind"] == kind).mean() for kind in coded.KINDS])
    assert coded.rates(selves[:, [0, 3]].sum(axis=0)) == pytest.approx([own[0]]), "one judge by itself"
    assert (selves[:, 3:] == 2).all(), "each judge twice a question"
    assert (np.hstack([selves[:, :3], classes]) == np.array(coded.plain(frame)).T).all(), "the pass beside it"


def test_estimators_are_told_with_their_goals() -> None:
    found = [estimating.Measured({"plain": 0.02, "sums": 0.04, "resamples": 0.09, "together": 0.4}, 500.0)] * 2
    told = estimating.resampling(found, 10_000)
    assert "| rounds: 2 | median | goal |" in told
    assert "| resamples over one pass of numpy | 4.5 [4.5, 4.5] | at most 6: met |" in told
    told = estimating.classifying([estimating.Measured({"classes": 0.004, "pairs": 0.3}, 300.0)])
    assert "ms | 4.0 [4.0, 4.0] | at most 5: met |" in told
    told = estimating.weighing([estimating.Measured({"loss": 2.0, "halo": 11.0}, 500.0)])
    assert "2.00 [2.00, 2.00] | at most 10: met |" in told and "11.00 [11.00, 11.00] | at most 10: missed |" in told
    few, some, most, kept = (
        [estimating.Measured({"sums": seconds, "resamples": 0.1}, memory)]
        for seconds, memory in ((0.003, 100.0), (0.01, 200.0), (2.0, 4100.0), (1.0, 9000.0))
    )
    told = estimating.growing([(10_000, few, few), (100_000, some, some), (10_000_000, most, kept)])
    assert "| 200 [200, 200] | 2.00 [2.00, 2.00] (at most 1.50: missed) | 100 [100, 100] | 1.00 [1.00, " in told
    assert "1.00] (at most 1.50: met) | 0.100 [0.100, 0.100] |" in told
    assert "4100] (at most 4000: missed)" in told and "| 10,000 | 300 [300, 300] | 3.00 [3.00, 3.00] |" in told
    told = estimating.growing([(10_000, few, few), (100_000, some, some), (10_000_000, kept, most)])
    assert "1.00 [1.00, 1.00] (at most 1.50: met) | 200 [200, 200] | 2.00 [2.00, 2.00] (at most 1.50: missed)" in told


def test_what_takes_long_is_not_measured_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimating, "LONG", 1e-9)
    assert len(estimating.measure("resamples", 60, 2, 20)) == 1


def test_notebooks_are_told_beside_their_cells_and_at_once() -> None:
    booked, plain = ([Cost(seconds, 1.0, 1.0, "")] for seconds in (9.0, 6.0))
    assert "| one | 9.00 [9.00, 9.00] | 6.00 [6.00, 6.00] | 3.00 [3.00, 3.00] | at most 2.5: missed |" in (
        notebooks.beside_plain({"one": (booked, plain)})
    )
    assert "| at once over in turn | 0.67 [0.67, 0.67] | at most 0.75: met |" in notebooks.at_once(plain, booked)


def test_the_cells_of_a_notebook_are_one_program_with_the_values_that_are_given(tmp_path: Path) -> None:
    cells = [("code", ["store = None\n", "limit = 3"], ["parameters"]), ("markdown", ["# not code"], [])]
    cells += [("code", ["async def said():\n", "    return store, limit\n", "print(*await said())"], [])]
    book = {"cells": [{"cell_type": kind, "source": text, "metadata": {"tags": tags}} for kind, text, tags in cells]}
    path = tmp_path / "book.ipynb"
    path.write_text(json.dumps(book))
    script = tmp_path / "script.py"
    script.write_text(notebooks.program(path, {"store": "here"}))
    assert cost([sys.executable, str(script)]).output == "here 3\n"


@pytest.mark.slow
def test_a_notebook_is_measured_beside_its_cells_and_leaves_nothing_behind() -> None:
    runs = measuring.ROOT / "figures" / "runs"
    before = {*runs.glob("*")}
    said = notebooks.section(1, ["04_arena_hard_position_bias"], question_limit=12)
    assert "| 04_arena_hard_position_bias | " in said and "| at once over in turn | " in said
    assert {*runs.glob("*")} == before


def test_what_a_part_has_found_is_printed_before_the_next_begins_and_written_when_all_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A benchmark takes an hour or two: whoever ends it keeps what it has found, and no half of it becomes results."""
    printed: list[str] = []

    def part(name: str) -> SimpleNamespace:
        def section(runs: int) -> str:
            printed.append(capsys.readouterr().out)
            if name == "benchmarks.broken":
                raise KeyboardInterrupt
            return f"{name}, {runs} rounds"

        return SimpleNamespace(TITLE=name, section=section)

    results = tmp_path / "results.md"
    for attribute, value in (("import_module", part), ("RESULTS", results), ("loop", lambda: 0.5)):
        monkeypatch.setattr(everything, attribute, value)
    monkeypatch.setattr("sys.argv", ["benchmarks", "--runs", "3"])
    monkeypatch.setattr(everything, "PARTS", ("one", "broken"))
    with pytest.raises(KeyboardInterrupt):
        everything.main()
    assert "benchmarks.one, 3 rounds" in printed[1] and not results.exists()
    monkeypatch.setattr(everything, "PARTS", ("one", "two"))
    everything.main()
    told = results.read_text(encoding="utf-8")
    assert "medians of 3 rounds" in told and told.count("took 0.50 s before this part and 0.50 s after it") == 2
    assert told.index("benchmarks.one, 3 rounds") < told.index("benchmarks.two, 3 rounds")


def test_worlds_of_the_comparison_hold_what_they_say() -> None:
    """A judge of the first place is reported, a fair one is not; labels move a judge that says yes too often."""
    fair, biased = (comparing.position_world(np.random.default_rng(3), *world) for world in ((0, 0, 0), (0, 0.4, 0)))
    assert len(fair) == comparing.QUESTIONS * comparing.EACH and all(one != other for *_, one, other in fair)
    assert comparing.our_position(biased) and not comparing.our_position(fair)
    rows = comparing.label_world(np.random.default_rng(3), in_questions=True)
    low, high = comparing.our_labels(rows)
    assert np.mean([row[1] for row in rows]) > 0.5 and low < 0.5 < high
    drawn = pd.DataFrame(rows).groupby(0)[2].apply(lambda labels: labels.notna().mean())
    assert set(drawn) == {0.0, 1.0}
    assert comparing.percent([True] * 8 + [False] * 2) == "80 % [49, 94]"
