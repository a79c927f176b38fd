"""Fetching from the hub, walked to the end by the hub's own client in a process of its own; no network."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.servers.hub import Hub, Repo, running_hub

REPO = "someone/answers-and-verdicts"
ANSWERS = "experiment-2/answers_new.json"
JUDGMENTS = "experiment-2/judgments_new.json"
FOLDER = "experiment-3"


def answers_file(word: str = "Rivers") -> bytes:
    """Two synthetic answers to one question, in the published format."""
    return json.dumps(
        [
            {
                "answer_id": f"ans_writing_001_{vendor}_fast",
                "prompt_id": "writing_001",
                "category": "writing",
                "model_vendor": vendor,
                "model_tier": "fast",
                "model_name": f"{vendor}-small",
                "prompt_text": "Describe a river.",
                "answer_text": f"{word} carry water downhill, says {vendor}.",
            }
            for vendor in ("claude", "gpt")
        ]
    ).encode()


def judgments_file(ranking: str = "BA") -> bytes:
    """One synthetic judgment of the two answers, in the published format."""
    judgment = {
        "prompt_id": "writing_001",
        "judge_model": "gpt_fast",
        "ranking": list(ranking),
        "scores": {"A": 6, "B": 8},
        "justification": "B says more.",
        "mapping": {"A": "ans_writing_001_gpt_fast", "B": "ans_writing_001_claude_fast"},
        "anonymized_answers": [{"label": "A", "text": "Rivers..."}, {"label": "B", "text": "Rivers..."}],
    }
    return json.dumps([judgment]).encode()


def files(**changes: bytes) -> dict[str, bytes]:
    """The files of a synthetic repository."""
    return {
        "README.md": b"Synthetic.\n",
        ANSWERS: answers_file(),
        JUDGMENTS: judgments_file(),
        f"{FOLDER}/group1_self.json": judgments_file("AB"),
        f"{FOLDER}/group3_full.json": judgments_file("BA"),
        f"{FOLDER}/notes.json": b"{}",
    } | {name.replace("__", "/"): data for name, data in changes.items()}


class Client:
    """Runs lines of Python against a hub in a new process with caches of its own."""

    def __init__(self, tmp_path: Path, url: str) -> None:
        self.folder = tmp_path / "downloads"
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "HUGGING"))}
        self.env = {name: value for name, value in kept.items() if "proxy" not in name.lower()}
        self.env |= {"HF_ENDPOINT": url, "HF_HOME": str(tmp_path / "home"), "HF_HUB_DISABLE_XET": "1"}
        self.env["HF_HUB_DISABLE_TELEMETRY"] = "1"

    def run(self, lines: str, **env: str) -> Any:
        """What the lines leave in `result`, or {"error": type, "text": message, "slept": waits between retries}."""
        script = f"""
import json, time
from pathlib import Path
from helpers import datasets
from helpers.datasets import hub
from helpers.datasets.hub import fetch, recorded
folder = hub.DOWNLOADS = Path({str(self.folder)!r})
slept = []
time.sleep = slept.append
try:
{chr(10).join("    " + line for line in lines.splitlines())}
except Exception as error:
    result = {{"error": type(error).__name__, "text": str(error), "slept": slept}}
print(json.dumps(result))
"""
        done = subprocess.run(
            [sys.executable, "-c", script], env=self.env | env, capture_output=True, text=True, timeout=100
        )
        assert done.returncode == 0, done.stderr
        assert done.stderr == "", "nothing may be written beside the result: it would end up in a notebook"
        return json.loads(done.stdout)

    def fetch(self, file: str = ANSWERS, revision: str = "main", repo: str = REPO, **env: str) -> Any:
        """The local path of a fetched file, or its error."""
        return self.run(f"result = str(fetch({repo!r}, {file!r}, {revision!r}))", **env)


@pytest.fixture
def hub():
    """A hub with one repository and one commit."""
    hub = Hub({REPO: Repo()})
    hub.repos[REPO].commit(files())
    with running_hub(hub):
        yield hub


@pytest.fixture
def client(hub, tmp_path):
    """A client of that hub."""
    return Client(tmp_path, hub.url)


def test_first_load_brings_the_file_and_records_it(hub, client):
    path = client.fetch()
    assert Path(path).read_bytes() == answers_file()
    assert Path(path).is_relative_to(client.folder)
    assert json.loads((client.folder / "source.json").read_text()) == [
        {
            "repo": REPO,
            "file": ANSWERS,
            "revision": "main",
            "commit": hub.repos[REPO].refs["main"],
            "sha256": hashlib.sha256(answers_file()).hexdigest(),
        }
    ]
    assert hub.asked("GET", f"/datasets/{REPO}/resolve/main/{ANSWERS}") == 1


def test_no_progress_bar_gets_into_a_notebook(client):
    # The variable makes the bars of the hub's client appear where nobody watches; `run` fails at any written word.
    assert client.fetch(TQDM_POSITION="-1").endswith(ANSWERS)


def test_second_load_is_the_same_file_and_downloads_nothing(hub, client):
    first, second = client.fetch(), client.fetch()
    assert first == second
    assert hub.asked("GET", "/resolve/") == 1
    assert len(json.loads((client.folder / "source.json").read_text())) == 1


def test_a_big_file_comes_by_redirect(hub, client):
    hub.large.add(ANSWERS)
    assert Path(client.fetch()).read_bytes() == answers_file()
    assert hub.asked("GET", "/storage/") == 1


def test_a_pinned_revision_is_what_is_asked_for(hub, client):
    old = hub.repos[REPO].refs["main"]
    hub.repos[REPO].commit(files() | {ANSWERS: answers_file("Creeks")})
    assert Path(client.fetch(revision=old)).read_bytes() == answers_file()
    assert hub.asked("GET", f"/resolve/{old}/{ANSWERS}") == 1
    assert hub.asked("GET", "/resolve/main/") == 0


def test_a_pinned_file_that_was_loaded_before_needs_no_hub(hub, client):
    old = hub.repos[REPO].refs["main"]
    first = client.fetch(revision=old)
    hub.behaviour, before = "down", len(hub.requests)
    assert client.fetch(revision=old) == first
    assert len(hub.requests) == before


def test_a_file_that_changed_under_its_revision_stops_with_both_values(hub, client):
    first = Path(client.fetch())
    old = hub.repos[REPO].refs["main"]
    new = hub.repos[REPO].commit(files() | {ANSWERS: answers_file("Creeks")})
    error = client.fetch()
    hashes = [hashlib.sha256(answers_file(word)).hexdigest() for word in ("Rivers", "Creeks")]
    assert error["error"] == "ValueError"
    assert all(word in error["text"] for word in [REPO, ANSWERS, "main", old, new, *hashes])
    assert f"revision: {old}" in error["text"] and "source.json" in error["text"]
    # The first data are still there, recorded, and can be loaded as the message says.
    assert first.read_bytes() == answers_file()
    assert Path(client.fetch(revision=old)).read_bytes() == answers_file()


def test_after_the_entry_is_deleted_the_new_file_is_taken(hub, client):
    client.fetch()
    hub.repos[REPO].commit(files() | {ANSWERS: answers_file("Creeks")})
    (client.folder / "source.json").write_text("[]")
    assert Path(client.fetch()).read_bytes() == answers_file("Creeks")


def test_a_new_commit_with_the_same_content_stops_too(hub, client):
    client.fetch()
    old, new = hub.repos[REPO].refs["main"], hub.repos[REPO].commit(files(**{"LICENSE": b"MIT"}))
    error = client.fetch()
    assert error["error"] == "ValueError" and old in error["text"] and new in error["text"]


def test_a_local_copy_that_was_altered_is_not_blamed_on_the_hub(hub, client):
    path = Path(client.fetch())
    path.resolve().write_bytes(answers_file("Creeks"))
    error = client.fetch()
    assert error["error"] == "ValueError" and "local copy was altered" in error["text"]
    assert str(path.resolve()) in error["text"]
    path.resolve().unlink()
    assert Path(client.fetch()).read_bytes() == answers_file()


def test_a_missing_file_is_told_with_the_files_that_exist(client):
    error = client.fetch(file="experiment-2/judgements.json", revision="main")
    assert error["error"] == "FileNotFoundError"
    assert all(word in error["text"] for word in [REPO, "experiment-2/judgements.json", "main", *files()])


def test_a_missing_revision_and_a_missing_repository_are_told_apart(client):
    revision = client.fetch(revision="v9")
    assert revision["error"] == "FileNotFoundError" and "no revision 'v9'" in revision["text"]
    repo = client.fetch(repo="someone/nothing")
    assert repo["error"] == "PermissionError"
    assert "someone/nothing" in repo["text"] and "no such dataset repository" in repo["text"]


@pytest.mark.parametrize(("access", "word"), [("gated", "gated"), ("private", "private")])
def test_a_repository_that_may_not_be_read_is_said_to_be_so(hub, client, access, word):
    hub.repos[REPO].access = access
    error = client.fetch()
    assert error["error"] == "PermissionError" and word in error["text"] and REPO in error["text"]


def closed_port() -> str:
    """An address on this machine at which nobody listens."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{listener.getsockname()[1]}"


def test_an_unreachable_hub_says_at_once_how_to_use_a_local_folder(tmp_path):
    url = closed_port()
    error = Client(tmp_path, url).fetch()
    assert error["error"] == "ConnectionError"
    assert all(word in error["text"] for word in [url, ANSWERS, "`questions`", "`answers`", "`judgments`", "folder"])
    assert error["slept"] == [], "the client's own retries would wait for 23 s"


def test_an_unreachable_hub_names_the_earlier_load(hub, client, tmp_path):
    path = client.fetch()
    error = Client(tmp_path, closed_port()).fetch()
    assert error["error"] == "ConnectionError" and path in error["text"]


def test_a_hub_that_never_answers_is_given_up_in_time(hub, client):
    hub.behaviour = "silent"
    error = client.run(f"hub.PROBE_SECONDS = 0.5\nresult = str(fetch({REPO!r}, {ANSWERS!r}, 'main'))")
    assert error["error"] == "ConnectionError" and "no answer within 0.5 s" in error["text"]
    assert len(hub.requests) <= 1 and error["slept"] == [], "nobody asks again, and no answer would ever come"
    assert client.run("result = hub.PROBE_SECONDS") == 5.0


@pytest.mark.parametrize(("behaviour", "word"), [("down", "503"), ("stranger", "cannot be reached")])
def test_a_hub_out_of_order_is_a_connection_error(hub, client, behaviour, word):
    hub.behaviour = behaviour
    error = client.fetch()
    assert error["error"] == "ConnectionError" and word in error["text"]
    assert not (client.folder / "source.json").exists()


def test_offline_mode_is_a_connection_error_without_a_request(hub, client):
    error = client.fetch(HF_HUB_OFFLINE="1")
    assert error["error"] == "ConnectionError" and "offline mode" in error["text"]
    assert hub.requests == []


def test_a_damaged_record_is_named(client):
    client.folder.mkdir()
    (client.folder / "source.json").write_text("[{")
    error = client.fetch()
    assert error["error"] == "ValueError" and "source.json" in error["text"]


def entry(**more: str) -> dict[str, str]:
    """The hub entry of an experiment's config."""
    return {"repo": REPO, "revision": "main", "answers": ANSWERS, "judgments": JUDGMENTS} | more


def test_questions_answers_and_judgments_are_loaded_from_the_hub(client):
    result = client.run(f"""
entry = {entry()!r}
questions = datasets.load_questions("hub", entry)
answers = datasets.load_answers("hub", entry)
top = datasets.load_top1("hub", entry)
result = [[q.id for q in questions], [a.candidate for a in answers], top.pick.tolist(), len(recorded())]
""")
    assert result == [["writing_001"], ["claude_fast", "gpt_fast"], ["claude_fast"], 2]


def test_a_folder_of_the_hub_brings_the_known_files_in_it(hub, client):
    result = client.run(f"""
top = datasets.load_top1("hub", {entry(judgments=FOLDER)!r})
result = sorted(zip(top.condition, top.pick))
""")
    assert result == [["full", "claude_fast"], ["self", "gpt_fast"]]
    assert hub.asked("GET", "/resolve/") == 2, "notes.json is nobody's judgments"


def test_a_folder_of_the_hub_without_known_files_is_told_with_what_exists(client):
    error = client.run(f"result = datasets.load_top1('hub', {entry(judgments='results')!r})")
    assert error["error"] == "FileNotFoundError" and "results/" in error["text"] and ANSWERS in error["text"]


SHOWN = '"Situation:\n{}\n\nPrompt:\ny\n\nAnswer Options:\nOption 1: no\nOption 2: yes"'
TESTS = (
    "bias,scenario,control,treatment,metric_params\n"
    f"Halo Effect,A shop.,{SHOWN.format('x')},{SHOWN.format('z')}," + "\"{'k': 1, 'x_1': 0, 'x_2': 0}\"\n"
).encode()


@pytest.mark.parametrize(("path", "files_read"), [("data", 1), (".", 2), ("data/train.csv", 1)])
def test_bias_tests_lie_in_any_file_of_the_folder_that_the_entry_names(hub, client, path, files_read):
    hub.repos[REPO].commit(files(**{"data__train.csv": TESTS, "more__tests.csv": TESTS.replace(b"shop", b"mill")}))
    result = client.run(f"""
questions = datasets.load_published_tests("hub", {entry(questions=path)!r}).questions
result = [(q.category, q.wordings[0].versions["treatment"].options) for q in questions]
""")
    assert result == [["halo", ["no", "yes"]]] * files_read
    assert hub.asked("GET", "/resolve/") == files_read


def test_a_folder_of_the_hub_without_bias_tests_is_told_with_what_exists(client):
    error = client.run(f"result = datasets.load_published_tests('hub', {entry(questions='tests')!r})")
    assert error["error"] == "FileNotFoundError" and "in tests" in error["text"] and ANSWERS in error["text"]


def test_an_experiment_without_hub_data_says_so(client):
    error = client.run("result = datasets.load_answers('hub', None)")
    assert error["error"] == "ValueError" and "answers" in error["text"]
    error = client.run(f"result = datasets.load_judgments('hub', {{'repo': {REPO!r}}})")
    assert error["error"] == "ValueError" and "judgments" in error["text"]


def test_groups_and_the_blind_one_may_lie_in_two_places_and_no_condition_counts_twice(hub, client):
    hub.repos[REPO].commit(files(**{f"{FOLDER}__group4_none.json": judgments_file("AB")}))
    lines = f"""
import asyncio
from dataclasses import replace
from helpers import run
from helpers.config import load_experiment
experiment = load_experiment("hinting_groups", judgments="hub")
experiment = replace(experiment, hub={entry(judgments=[FOLDER, JUDGMENTS])!r})
asked = asyncio.run(run.ask(experiment, show=False))
tops = asked.frame[asked.frame.top == 1.0]
result = [asked.data, sorted(zip(tops.condition, tops.candidate))]
"""
    assert client.run(lines) == ["hub", [["full", "claude_fast"], ["none", "gpt_fast"], ["self", "gpt_fast"]]]
    hub.repos[REPO].commit(files())
    (client.folder / "source.json").unlink()
    assert client.run(lines)[1] == [["full", "claude_fast"], ["none", "claude_fast"], ["self", "gpt_fast"]]
