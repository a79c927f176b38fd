"""The index of a store says what the texts say, verdict for verdict; whatever is wrong with it, it is as if absent."""

from __future__ import annotations

import asyncio
import json
import math
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import paths, store, verdicts
from helpers.__main__ import main
from helpers.check import check
from helpers.judge import Budget, judge_all
from helpers.judge import judged as framed
from helpers.judge.reading import judgments
from helpers.providers.tokens import tokens_of
from helpers.store import indexing, noting
from helpers.store.index_file import load, save, table_of
from helpers.store.kept import columns_of
from helpers.types import Completion, Judgment, Model, Request, Trial, Usage
from tests.engine.asking import answering, requests_to
from tests.engine.test_store_verify import changed
from tests.leaks import PLANTED, leaks, leaks_in

JUDGE = Model("gpt_fast", "openai", "gpt-5-mini", "gpt", token_parameter="max_completion_tokens")
NONCE = "7f3a91ce"
EXECUTABLE = sys.executable
LABELS = tuple("ABCD")
#: The smallest file that gets an index holds this many bytes of prompts.
LARGE = store.WORTH_INDEXING
SHAPES = [
    (form, structured)
    for form in ("listwise", "pairwise", "choice", "several", "number", "text")
    for structured in (False, True)
]


def trial_of(number: int, form: str, structured: bool, prompt: str) -> Trial:
    request = Request(JUDGE, f"{number} {prompt}", "Be fair.", {"type": "object"} if structured else None)
    where = dict(experiment="mt_bench_blind", question_id=f"q{number % 7}", category="math")
    return Trial(**where, judge=JUDGE, request=request, form=form, shown=LABELS, labels=LABELS, nonce=NONCE)


def reply_to(trial: Trial, text: str, **changed: Any) -> Completion:
    told = {"finish": "stop", "usage": Usage(7, 5, None, 2), "model": "gpt-5-mini-2026", "request_id": "req_1"}
    told |= {"latency": 1.25, "raw": json.dumps({"text": text}), "at": "2026-01-01T00:00:00.000+00:00"}
    return Completion(trial.request.key, "ok", text, **{**told, **changed})


def put(path: Path, pairs: Sequence[tuple[Trial, Completion]]) -> None:
    """Append replies to a store file."""
    writer = store.Writer(path)
    for trial, reply in pairs:
        labels = {"experiment": trial.experiment, "question_id": trial.question_id, "condition": trial.condition}
        writer.append(trial.request, reply, {**labels, "shown": list(trial.shown)})
    writer.close()


def large(path: Path, texts: Sequence[str], first: int = 0, form: str = "pairwise") -> list[Trial]:
    """A file that is worth an index, with these replies, and their trials."""
    prompt = "x" * (LARGE // len(texts) + 1)
    trials = [trial_of(first + number, form, False, prompt) for number in range(len(texts))]
    put(path, [(trial, reply_to(trial, text)) for trial, text in zip(trials, texts, strict=True)])
    return trials


def decided(count: int) -> list[str]:
    """Replies of which some state a verdict and some do not."""
    draw = random.Random(f"decided:{count}")
    said = [f"VERDICT-{NONCE}: {label}" for label in ("A>>B", "A=B", "B>A")] + ["I cannot say.", "", "x"]
    return [f"Reason {number}.\n{draw.choice(said)}" for number in range(count)]


def from_texts(trials: Sequence[Trial], path: Path) -> list[Judgment]:
    """The judgments as the parser reads them from the lines of the file, without any index."""
    replies = store.read(path)
    return [verdicts.read(t, replies[t.request.key], tokens_of(JUDGE, replies[t.request.key])) for t in trials]


def judged(trials: Sequence[Trial], path: Path) -> list[Judgment]:
    return judgments(trials, store.stored(path), path.parent)


def known(path: Path) -> int:
    """How many replies the index has a reading of."""
    return sum(reply.said is not None for reply in store.stored(path).values())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return store.file_of(tmp_path, "gpt_fast")


@pytest.fixture(params=["just changed", "long unchanged"])
def age(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that was just changed is compared by checksum; what its size and times tell is enough when it is old."""
    for name in ("UNSETTLED", "UNSETTLED_FINE"):
        monkeypatch.setattr(indexing, name, 10**18 if request.param == "just changed" else -(10**18))


@pytest.mark.parametrize(
    ("changed", "now", "settled"),
    [
        ("7.000000000", "7.150000000", False),
        ("7.000000000", "8.900000000", False),
        ("7.000000000", "9.100000000", True),
        ("7.030000000", "7.500000000", False),
        ("7.030000001", "7.100000000", False),
        ("7.030000001", "7.150000000", True),
    ],
)
def test_a_file_is_settled_when_its_times_would_show_another_change(changed: str, now: str, settled: bool) -> None:
    at, then = (int(each.replace(".", "")) for each in (changed, now))
    assert indexing._settled(SimpleNamespace(st_ctime_ns=at, st_mtime_ns=at), then) == settled
    whole = SimpleNamespace(st_ctime_ns=at, st_mtime_ns=at - at % 10**9)  # anybody can set it
    assert indexing._settled(whole, then) == settled


# --- the same replies and verdicts ------------------------------------------------------------------------------------


@pytest.mark.usefixtures("age")
def test_replies_are_the_same_with_an_index_and_their_texts_are_read_when_asked_for(path: Path) -> None:
    trials = large(path, decided(40))
    again, failed = trials[3], Completion(trials[4].request.key, "rate_limited", error="429", raw="slow down")
    put(path, [(again, reply_to(again, "another reply to the same")), (trials[4], failed)])
    plain, kept = store.read(path), store.stored(path)
    assert store.index_of(path).exists() and list(kept) == list(plain) and kept == plain and plain == kept
    assert [asdict(reply) for reply in kept.values()] == [asdict(reply) for reply in plain.values()]
    assert {name for reply in kept.values() for name in vars(reply)}.isdisjoint({"text", "raw", "request_id", "error"})
    assert store.stored_keys(path) == set(plain) and store.stored(path, {again.request.key}) == {
        again.request.key: plain[again.request.key]
    }
    one = kept[again.request.key]
    assert one != replace(plain[again.request.key], text="other") and replace(one, text="other").text == "other"
    assert hash(one) == hash(plain[again.request.key]) and one.whole() == plain[again.request.key]
    raw = store.index_of(path).read_bytes()
    assert b"Reason" not in raw and b"xxxx" not in raw and b"Be fair" not in raw, "no texts"


SAID = st.sampled_from(
    [*"ABCDE", "A>>B", "A = B", "B>A", "A > C > B > D", "D>C>B>A", "A, C", "none", "A or B", "7.5", "1e999"]
)
STRUCTURED = st.one_of(
    *(
        st.fixed_dictionaries(
            {"id": st.sampled_from([NONCE, NONCE, "deadbeef"]), "justification": st.text(max_size=9), **own}
        )
        for own in (
            {
                "ranking": st.permutations(LABELS),
                "scores": st.dictionaries(st.sampled_from("ABCDE"), st.floats(-1, 11) | st.integers(0, 10)),
            },
            {"verdict": st.sampled_from(["A>>B", "A=B", "?"])},
            {"choice": st.sampled_from("ABCE")},
            {"choices": st.lists(st.sampled_from("ABC"), max_size=3)},
            {"number": st.floats(allow_nan=False) | st.integers(-5, 5)},
        )
    )
).map(json.dumps)
TEXTS = st.one_of(
    st.builds(
        lambda reason, word, said: f"{reason}\n{word}-{NONCE}: {said}",
        st.text(max_size=30),
        st.sampled_from(["VERDICT", "RANKING"]),
        SAID,
    ),
    st.builds(
        lambda a, b, said: f"r\nSCORES-{NONCE}: A={a} B={b} C=x\nRANKING-{NONCE}: {said}",
        st.floats(0, 10),
        st.integers(0, 12),
        SAID,
    ),
    STRUCTURED,
    st.text(max_size=30),
)
LOGPROBS = st.fixed_dictionaries({label: st.floats(-9, 0) for label in "AB"}).map(
    lambda odds: {
        "choices": [
            {
                "logprobs": {
                    "content": [
                        {
                            "token": "A",
                            "logprob": odds["A"],
                            "top_logprobs": [{"token": t, "logprob": p} for t, p in odds.items()],
                        }
                    ]
                }
            }
        ]
    }
)
REPLIES = st.tuples(
    st.sampled_from(SHAPES),
    TEXTS,
    st.sampled_from(["stop", "stop", None, "length", "refusal", "odd"]),
    st.none() | LOGPROBS,
)


@settings(max_examples=10, deadline=None)
@given(st.lists(REPLIES, min_size=20, max_size=60))
def test_verdicts_of_all_forms_are_those_read_from_the_texts(told: list[Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = store.file_of(Path(folder), "gpt_fast")
        prompt = "x" * (LARGE // len(told) + 1)
        trials = [trial_of(number, *shape, prompt) for number, (shape, *_) in enumerate(told)]
        put(
            path,
            [
                (trial, reply_to(trial, text, finish=finish, **({"raw": json.dumps(odds)} if odds else {})))
                for trial, (_, text, finish, odds) in zip(trials, told, strict=True)
            ],
        )
        expected = from_texts(trials, path)
        first, second = judged(trials, path), judged(trials, path)
        assert known(path) == len(trials), "every reading is kept"
        noted = {key: (reply.at, columns_of(reply.said)) for key, reply in store.stored(path).items()}
        assert noting.heard(noting.told(noted)) == noted, "as another process is told it"
        for found in (first, second):
            assert [(each.outcome, each.verdict) for each in found] == [(e.outcome, e.verdict) for e in expected]
            assert found == expected and [each.verdict and asdict(each.verdict) for each in found] == [
                each.verdict and asdict(each.verdict) for each in expected
            ]
            assert [list(e.verdict.scores) for e in found if e.verdict] == [
                list(e.verdict.scores) for e in expected if e.verdict
            ]


def test_the_examples_hold_every_form_with_verdict_scores_probabilities_and_reason(path: Path) -> None:
    """What the test before compares at random is there at least once."""
    told = {
        ("listwise", False): f"Why.\nSCORES-{NONCE}: A=9 B=2.5 C=10\nRANKING-{NONCE}: A > C > B > D",
        ("pairwise", False): f"Why.\nVERDICT-{NONCE}: A>>B",
        ("choice", False): f"Why.\nVERDICT-{NONCE}: A",
        ("several", False): f"Why.\nVERDICT-{NONCE}: A, D",
        ("number", True): json.dumps({"id": NONCE, "number": 0.1, "justification": "Why."}),
    }
    prompt = "x" * (LARGE // 5 + 1)
    trials = [trial_of(number, *shape, prompt) for number, shape in enumerate(told)]
    odds = {"A": math.log(0.6), "B": math.log(0.3)}
    content = [
        {"token": "A", "logprob": odds["A"], "top_logprobs": [{"token": t, "logprob": p} for t, p in odds.items()]}
    ]
    raw = json.dumps({"choices": [{"logprobs": {"content": content}}]})
    put(path, [(trial, reply_to(trial, text, raw=raw)) for trial, text in zip(trials, told.values(), strict=True)])
    judged(trials, path)
    ranked, paired, chosen, several, counted = (each.verdict for each in judged(trials, path))
    assert (ranked.ranking, ranked.scores) == (tuple("ACBD"), {"A": 9.0, "B": 2.5, "C": 10.0}) and ranked.contradicts
    assert (paired.choice, chosen.choice, several.choices, counted.number) == ("A>>B", "A", ("A", "D"), 0.1)
    assert chosen.probabilities["A"] == pytest.approx(2 / 3) and list(chosen.probabilities) == list(LABELS)
    assert {each.justification for each in (ranked, paired, chosen, several, counted)} == {"Why."}


def test_numbers_that_are_equal_but_not_the_same_stay_what_they_are(path: Path) -> None:
    numbers = ["0", "-0", "1", "0", "-0", "1"]
    trials = [trial_of(place, "number", False, "x" * (LARGE // 6 + 1)) for place in range(len(numbers))]
    texts = [f"Why.\nVERDICT-{NONCE}: {number}" for number in numbers]
    put(path, [(trial, reply_to(trial, text)) for trial, text in zip(trials, texts, strict=True)])
    for _ in range(2):  # from the texts, and from the index
        assert [repr(each.verdict.number) for each in judged(trials, path)] == [repr(float(each)) for each in numbers]
    assert known(path) == len(numbers)


@pytest.mark.usefixtures("age")
@pytest.mark.parametrize("wanted", [set(), {"0" * 64}, {"0" * 64, "f" * 64}])
def test_a_large_file_with_none_of_the_replies_that_are_wanted_has_none(path: Path, wanted: set[str]) -> None:
    large(path, decided(40))
    assert indexing.stored(path) and store.index_of(path).exists() and indexing.stored(path, wanted) == {}


def test_a_reading_by_another_parser_or_for_another_form_is_read_again(path: Path) -> None:
    trials = large(path, decided(20))
    expected = from_texts(trials, path)
    wrong = verdicts.parse(f"VERDICT-{NONCE}: B>>A", "pairwise", "AB", NONCE, structured=False)[1]
    planted = store.Said(b"by another parser", "1:0123456789abcdef", "ok", wrong)
    replies = store.stored(path)
    store.note(path, {key: (replace(reply, at="2025-12-31"), planted) for key, reply in replies.items()})
    assert known(path) == 0, "what was read from other replies to the same"
    store.note(path, {key: (reply, planted) for key, reply in replies.items()})
    assert {reply.said.parser for reply in store.stored(path).values()} == {planted.parser}
    assert framed(path.parent, columns=indexing.SAID).drop(columns="model").isna().all(axis=None), (
        "the frame has none of them"
    )
    assert judged(trials[:5], path) == expected[:5]
    half = framed(path.parent)
    assert list(half["outcome"][:5]) == [each.outcome for each in expected[:5]] and half["outcome"][5:].isna().all()
    assert half["choice"][5:].isna().all() and half["question_id"].notna().all() and len(half) == 20
    assert judged(trials, path) == expected
    assert list(framed(path.parent)["outcome"]) == [each.outcome for each in expected]
    other = [replace(trial, nonce="00000000") for trial in trials]
    assert {each.outcome for each in judged(other, path)} <= {"unparsed"}, "a verdict for one nonce is none for another"
    assert judged(trials, path) == expected


# --- what an index may and may not be trusted for ---------------------------------------------------------------------


@pytest.mark.usefixtures("age")
def test_a_program_without_tables_keeps_what_it_read_by_another_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, other = (store.file_of(tmp_path / name, "gpt_fast") for name in ("here", "apart"))
    for each in (path, other):
        each.parent.mkdir()
    trials = large(path, decided(30))
    shutil.copy2(path, other)
    judgments(trials, store.stored(path), path.parent)
    replies = store.stored(other)
    with monkeypatch.context() as patch:
        patch.delitem(sys.modules, "pandas")
        judgments(trials, replies, other.parent)
        assert store.state(other).verdicts == 0, "for a file that is read as fast no process is started"
        patch.setattr(noting, "WORTH_A_PROCESS", other.stat().st_size)
        patch.setattr(sys, "executable", str(tmp_path / "nobody"))
        judgments(trials, replies, other.parent)
        assert store.state(other).verdicts == 0, "a process that cannot be started stops nobody"
        patch.setattr(sys, "executable", EXECUTABLE)
        judgments(trials, replies, other.parent)
    kept, apart = (table_of(load(each)[0]) for each in (path, other))
    assert kept.equals(apart) and store.state(other).verdicts == 30


def test_lines_that_are_appended_extend_the_index_and_keep_what_was_read(path: Path) -> None:
    trials = large(path, decided(30))
    expected = judged(trials, path)
    more = [trial_of(100 + number, "pairwise", False, "y") for number in range(5)]
    put(path, [(trial, reply_to(trial, text)) for trial, text in zip(more, decided(5), strict=True)])
    with path.open("ab") as file:
        file.write(b'{"v":1,"key":"torn')
    replies = store.stored(path)
    assert replies == store.read(path) and len(replies) == store.state(path).rows == 35
    assert [reply.said is not None for reply in replies.values()] == [True] * 30 + [False] * 5
    assert judged(trials, path) == expected and judged(more, path) == from_texts(more, path) and known(path) == 35


@pytest.mark.usefixtures("age")
def test_a_file_that_was_changed_within_is_read_anew_whatever_its_size_and_time(path: Path) -> None:
    trials = large(path, decided(30))
    judged(trials, path)
    before, raw = path.stat(), path.read_bytes()
    lines = raw.splitlines(keepends=True)
    shuffled = b"".join([*lines[15:], *lines[:15]])
    path.write_bytes(shuffled)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size and path.stat().st_mtime_ns == before.st_mtime_ns
    assert store.stored(path) == store.read(path) and list(store.stored(path)) == list(store.read(path))
    at = raw.index(b"Reason 7")
    path.write_bytes(raw[:at] + b"r" + raw[at + 1 :])
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(store.StoreError, match=r"gpt_fast\.jsonl, line 8: the checksum does not fit"):
        store.stored(path)
    with pytest.raises(store.StoreError, match="line 8"):
        store.stored_keys(path)


def test_a_file_that_was_just_changed_is_compared_by_checksum_though_its_size_and_times_agree(
    path: Path, monkeypatch: Any
) -> None:
    """A clock of the disk that ticks slowly gives two changes the same time."""
    for name in ("UNSETTLED", "UNSETTLED_FINE"):
        monkeypatch.setattr(indexing, name, 10**18)  # any change was just now, however long the disk takes
    large(path, decided(30))
    store.stored(path)
    file, about = load(path)
    assert about["settled"] is False and about["seen"][0] == path.stat().st_size
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[15:], *lines[:15]]))
    now = path.stat()
    seen = [now.st_size, now.st_mtime_ns, now.st_ctime_ns, now.st_ino]
    assert save(path, table_of(file), {**about, "seen": seen})
    assert list(store.stored(path)) == list(store.read(path))


def test_a_damaged_index_is_as_good_as_none(path: Path) -> None:
    trials = large(path, decided(25))
    expected = judged(trials, path)
    place = store.index_of(path)
    whole, draw = place.read_bytes(), random.Random("damage")
    damaged = [b"", whole[:-1], whole[: len(whole) // 2], whole + b"x", b"PAR1", whole[8:], bytes(len(whole))]
    for _ in range(40):
        at = draw.randrange(len(whole))
        damaged.append(whole[:at] + bytes([whole[at] ^ (1 << draw.randrange(8))]) + whole[at + 1 :])
    for raw in damaged:
        place.write_bytes(raw)
        assert store.state(path) is None
    for raw in damaged[:12]:
        place.write_bytes(raw)
        assert judged(trials, path) == expected and store.stored(path) == store.read(path)
        assert store.state(path) == store.State(25, 25, store.index_of(path).stat().st_size), "made again"


def test_counts_that_are_read_as_unknown_are_so_in_a_large_file_too(path: Path) -> None:
    large(path, decided(20))
    first, *rest = path.read_bytes().splitlines()
    path.write_bytes(
        b"\n".join([changed(first, lambda record: record["reply"]["usage"].update(input=2**53)), *rest, b""])
    )
    found = store.stored(path)
    assert found == store.read(path) and [each.usage.input for each in found.values()] == [None, *[7] * 19]


ODD = {
    "seen": [7, [], [1, 2, 3], [1, 2, 3, "4"], None],
    "settled": ["yes", None],
    "covered": ["1", -1, 1.5, None],
    "digest": [7, None],
    "format": [True, [1]],
    "file": [["gpt_fast.jsonl"], None],
}


@pytest.mark.usefixtures("age")
def test_an_index_that_says_odd_things_of_itself_is_as_good_as_none(path: Path, monkeypatch: Any) -> None:
    trials = large(path, decided(20))
    expected = judged(trials, path)
    file, about = load(path)
    table = table_of(file)
    forged = [{**about, name: value} for name, values in ODD.items() for value in values]
    forged += [{each: value for each, value in about.items() if each != name} for name in ("seen", "settled", "digest")]
    for each in forged:
        assert save(path, table, each) and store.state(path) is None and store.checked(path) == "unreadable", each
    for each in forged[::3]:
        assert save(path, table, each) and judged(trials, path) == expected
        assert store.state(path) == store.State(20, 20, store.index_of(path).stat().st_size), "made again"
    for text in ('"x"', "[" * 100_000, "{", "[]"):
        monkeypatch.setattr(json, "dumps", lambda *_, **__: text + '{"seal":"00000000"}')  # noqa: B023
        assert save(path, table, about)
        monkeypatch.undo()
        assert store.state(path) is None and store.stored(path) == store.read(path)


@pytest.mark.usefixtures("age")
def test_an_index_whose_rows_cannot_be_read_is_as_good_as_none(path: Path) -> None:
    trials = large(path, decided(20))
    expected = judged(trials, path)
    place = store.index_of(path)
    whole = place.read_bytes()
    # Rows spoilt by somebody who knows the checksum: crc32 of all, with zeros where it stands itself.
    spoilt = whole[:4] + bytes(each ^ 255 for each in whole[4:400]) + whole[400:]
    at = spoilt.rfind(b'"seal":"') + len(b'"seal":"')
    zeros = spoilt[:at] + b"0" * 8 + spoilt[at + 8 :]
    forged = spoilt[:at] + f"{zlib.crc32(zeros):08x}".encode() + spoilt[at + 8 :]
    for use in (lambda: store.checked(path) == "unreadable", lambda: judged(trials, path) == expected):
        place.write_bytes(forged)
        assert load(path) is not None and use()
    place.write_bytes(forged)
    assert len(framed(path.parent, columns=("outcome",))) == 20
    assert store.state(path).rows == 20, "made again"


@pytest.mark.usefixtures("age")
def test_the_index_of_another_file_or_another_time_is_not_taken(path: Path, tmp_path: Path) -> None:
    other = store.file_of(tmp_path, "other")
    large(path, decided(20))
    large(other, decided(22), first=500)
    assert len(store.stored(path)) == 20 and len(store.stored(other)) == 22
    shutil.copy(store.index_of(other), store.index_of(path))
    assert store.stored(path) == store.read(path)
    (tmp_path / "elsewhere").mkdir()
    elsewhere = store.file_of(tmp_path / "elsewhere", "gpt_fast")
    large(elsewhere, decided(23), first=900)
    shutil.copy(store.index_of(path), store.index_of(elsewhere))
    assert store.stored(elsewhere) == store.read(elsewhere), "the same name in another store"


def test_a_small_file_gets_no_index(path: Path) -> None:
    trial = trial_of(0, "pairwise", False, "short")
    put(path, [(trial, reply_to(trial, f"VERDICT-{NONCE}: A>B"))])
    assert judged([trial], path)[0].verdict.choice == "A>B" and store.stored_keys(path) == {trial.request.key}
    assert store.stored(store.file_of(path.parent, "absent")) == {} == store.read(store.file_of(path.parent, "absent"))
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_nothing_is_read_or_written_through_a_link(path: Path, tmp_path: Path) -> None:
    trials = large(path, decided(20))
    precious = tmp_path / "precious.txt"
    precious.write_text("mine")
    store.index_of(path).symlink_to(precious)
    assert judged(trials, path) == from_texts(trials, path)
    assert precious.read_text() == "mine" and not store.index_of(path).is_symlink() and known(path) == 20
    lock = store.index_of(path).with_name(f"{store.index_of(path).name}.lock")
    lock.unlink(missing_ok=True)
    store.index_of(path).unlink()
    lock.symlink_to(precious)
    assert judged(trials, path) == from_texts(trials, path) and precious.read_text() == "mine"


def test_what_no_index_can_hold_is_read_from_the_texts(path: Path) -> None:
    trials = large(path, decided(20))
    odd = replace(trials[0], question_id="half \ud800", request=Request(JUDGE, "odd"))
    put(path, [(odd, reply_to(odd, f"VERDICT-{NONCE}: A>B", model="m\udfff"))])
    assert store.stored(path) == store.read(path) and judged([odd], path)[0].verdict.choice == "A>B"
    assert not store.index_of(path).exists()


def test_a_reply_is_found_where_a_repair_has_moved_it(path: Path) -> None:
    trials = large(path, decided(20))
    kept, plain = store.stored(path), store.read(path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[1:]))
    gone, moved = trials[0].request.key, trials[5].request.key
    assert kept[moved].text == plain[moved].text
    with pytest.raises(store.StoreError, match=f"the reply of key {gone} is gone"):
        _ = kept[gone].text


def _reads(path: Path, trials: list[Trial], expected: list[tuple[str, Any]], times: int) -> None:
    for _ in range(times):
        found = judgments(trials, store.stored(path), path.parent)
        assert [(each.outcome, each.verdict) for each in found] == expected


def test_several_readers_while_one_writes_all_read_the_same(path: Path) -> None:
    trials = large(path, decided(60))
    expected = [(each.outcome, each.verdict) for each in from_texts(trials, path)]
    context = multiprocessing.get_context("spawn")
    readers = [context.Process(target=_reads, args=(path, trials, expected, 4)) for _ in range(2)]
    for reader in readers:
        reader.start()
    more = [trial_of(1000 + number, "pairwise", False, "y") for number in range(60)]
    for trial, text in zip(more, decided(60), strict=True):
        put(path, [(trial, reply_to(trial, text))])
    for reader in readers:
        reader.join(timeout=240)
    assert [reader.exitcode for reader in readers] == [0, 0]
    assert judged([*trials, *more], path) == from_texts([*trials, *more], path) and known(path) == 120
    assert not list(path.parent.glob("*.part")) and not list(path.parent.glob(".*.part"))


@pytest.mark.usefixtures("age")
def test_what_others_say_was_read_is_not_taken_from_them(path: Path, tmp_path: Path) -> None:
    """A folder from somebody else brings an index that fits its file, with verdicts that nobody stated."""
    trials = large(path, decided(20))
    planted = verdicts.parse(f"VERDICT-{NONCE}: B>>A", "pairwise", "AB", NONCE, structured=False)[1]
    judged(trials, path)
    replies = store.stored(path)
    store.note(path, {key: (each, replace(each.said, outcome="ok", verdict=planted)) for key, each in replies.items()})
    assert {each.verdict.choice for each in judged(trials, path)} == {"B>>A"}, "here it is our own"
    (tmp_path / "mine").mkdir()
    mine = store.file_of(tmp_path / "mine", "gpt_fast")
    shutil.copy2(path, mine)
    shutil.copy2(store.index_of(path), store.index_of(mine))
    assert store.state(mine) is None and store.checked(mine) == "earlier"
    assert known(mine) == 0 and judged(trials, mine) == from_texts(trials, mine) and known(mine) == 20


#: What a process of its own does to the index of a file, and how many replies it then has.
READER = """
import contextlib, os, resource, signal, sys
from pathlib import Path
from helpers import store
from helpers.store import index_file, verifying
path, how = Path(sys.argv[1]), sys.argv[2]
die = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
class Half:
    def __init__(self, file): self.file = file
    def write(self, raw): self.file.write(raw[: len(raw) // 2]), self.file.flush(), die()
real = index_file.replacing
@contextlib.contextmanager
def half(place):
    with real(place) as file: yield Half(file)
if how == "killed in the middle of the draft": index_file.replacing = half
elif how == "killed before the draft is on the disk": verifying.os.fsync = die
elif how == "killed before the draft has its name": verifying.os.replace = die
elif how == "killed after the draft has its name": verifying.sync_folder = die
elif how == "disk full": resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
elif how == "read-only":
    store.index(path.with_name("small.jsonl"))  # all is imported before rights are given up
    path.parent.chmod(0o555)
    if os.geteuid() == 0: os.seteuid(65534)
print(len(store.stored(path)), len(store.stored_keys(path)))
"""


def reads_with(how: str, path: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", READER, str(path), how]
    return subprocess.run(command, cwd=paths.ROOT, capture_output=True, text=True, timeout=240)


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_whatever_moment_kills_the_writing_of_an_index_the_store_reads_as_it_is(path: Path) -> None:
    trials = large(path, decided(15))
    judged(trials, path)
    held = store.index_of(path).read_bytes()
    trials += large(path, decided(25), first=100)
    for how in ("in the middle of the draft", "before the draft is on the disk", "before the draft has its name"):
        assert reads_with(f"killed {how}", path).returncode == -signal.SIGKILL
        assert store.index_of(path).read_bytes() == held, how
    assert len([*path.parent.glob(".*.part")]) == 1, "what the killed ones left"
    assert reads_with("killed after the draft has its name", path).returncode == -signal.SIGKILL
    assert store.state(path).rows == len(trials) and known(path) == 15
    assert store.stored(path) == store.read(path) and judged(trials, path) == from_texts(trials, path)
    assert known(path) == len(trials) and not [*path.parent.glob(".*.part")], "nobody is kept out by a lock"


@pytest.mark.skipif(sys.platform == "win32", reason="other rights, and no limit on the size of a file")
@pytest.mark.parametrize("how", ["disk full", "read-only"])
def test_where_no_index_can_be_written_replies_are_read_all_the_same(how: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        path = store.file_of(folder, "gpt_fast")
        large(path, decided(400))
        one = trial_of(0, "pairwise", False, "y")
        put(store.file_of(folder, "small"), [(one, reply_to(one, ""))])
        done = reads_with(how, path)
        folder.chmod(0o755)
        assert (done.returncode, done.stdout, done.stderr) == (0, "400 400\n", "")
        assert not store.index_of(path).exists() and not [*folder.glob(".*.part")]
        assert len(store.stored(path)) == 400 and store.state(path).rows == 400, "with room and rights there is one"


def test_the_index_of_a_linked_file_is_the_one_beside_the_link(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who borrows somebody's replies by a link writes nothing into the other's folder, in this process or another."""
    trials = large(path, decided(20))
    (tmp_path / "mine").mkdir()
    link = store.file_of(tmp_path / "mine", "gpt_fast")
    link.symlink_to(path)
    assert judged(trials, link) == from_texts(trials, path) and known(link) == 20
    started: list[list[str]] = []
    said = {key: (reply, reply.said) for key, reply in store.stored(link).items()}
    monkeypatch.setattr(subprocess, "run", lambda command, **how: started.append(command))
    monkeypatch.delitem(sys.modules, "pandas")
    monkeypatch.setattr(noting, "WORTH_A_PROCESS", 0)
    store.note(link, said)
    assert [command[-1] for command in started] == [str(link)] and not store.index_of(path).exists()


def test_a_run_whose_index_cannot_be_written_goes_on(serve: Any, tmp_path: Path) -> None:
    serve()
    path = store.file_of(tmp_path, "gpt_fast")
    store.index_of(path).mkdir()
    asked = requests_to(JUDGE, 20, "x" * (LARGE // 20))
    trials = [replace(trial_of(n, "pairwise", False, ""), request=request) for n, request in enumerate(asked)]
    found = asyncio.run(judge_all(trials, folder=tmp_path, show=False, budget=Budget(1e6)))
    assert found == from_texts(trials, path) and asyncio.run(judge_all(trials, folder=tmp_path, ask=False)) == found
    assert [*store.index_of(path).iterdir()] == []


# --- what others make of it -------------------------------------------------------------------------------------------


def test_no_key_and_no_text_comes_into_an_index_and_one_that_did_would_be_found(
    serve: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    value = PLANTED["OPENAI_API_KEY"]
    told = {"choices": [{"message": {"content": f"My key is {value}"}, "finish_reason": value}]}
    told |= {"id": value, "model": value, "usage": {"prompt_tokens": 7, "completion_tokens": 5}}
    path = store.file_of(tmp_path, "gpt_fast")
    with answering(json.dumps(told)) as address:
        for name, planted in PLANTED.items():
            monkeypatch.setenv(name, planted)
        own = replace(JUDGE, base_url=address, revision={"weights": "main"}, api_key_env="OPENAI_API_KEY")
        asked = requests_to(own, 8, "A prompt of many words. " * (LARGE // 160))
        trials = [replace(trial_of(n, "pairwise", False, ""), judge=own, request=r) for n, r in enumerate(asked)]
        asyncio.run(judge_all(trials, folder=tmp_path, show=False, budget=Budget(1e6)))
    file, about = load(path)
    cells = str(table_of(file).to_pylist()) + str(about)
    assert len(table_of(file)) == 8 and "[OPENAI_API_KEY]" in cells and not leaks(cells)
    assert not [word for word in ("My key", "many words", "message") if word in cells]
    assert check([tmp_path]).hits == () and not leaks_in(tmp_path)
    table = table_of(file).set_column(3, "experiment", pa.array([value] * 8).dictionary_encode())
    save(path, table, about)
    assert {(hit.path, hit.what) for hit in check([tmp_path]).hits} == {(store.index_of(path), "OPENAI_API_KEY")}


def test_verify_says_what_an_index_is_worth(path: Path, tmp_path: Path) -> None:
    def verify(code: int = 0) -> str:
        result = CliRunner().invoke(main, ["store", "verify", "--store", str(tmp_path)])
        assert result.exit_code == code, result.output
        return result.output.partition("gpt_fast.index.parquet: ")[2]

    trials = large(path, decided(20))
    assert store.checked(path) == "" == verify()
    judged(trials, path)
    assert store.checked(path) == "fits" and verify() == ""
    put(path, [(trial_of(99, "pairwise", False, "y"), reply_to(trial_of(99, "pairwise", False, "y"), ""))])
    assert store.checked(path) == "fits", "of its lines it says what they say"
    file, about = load(path)
    forged = table_of(file)
    words = pa.array(["gpt-9"] * len(forged)).dictionary_encode()
    save(path, forged.set_column(forged.schema.get_field_index("returned_model"), "returned_model", words), about)
    assert verify(1).startswith("SAYS SOMETHING ELSE than the lines do: `recuse store index --remove`")
    store.index_of(path).write_bytes(b"PAR1")
    assert verify().startswith("damaged, or of another file or format; it counts as none")
    store.stored(path)
    path.write_bytes(b"".join(reversed(path.read_bytes().splitlines(keepends=True))))
    assert verify().startswith("of another state of the file; it counts as none")
    store.stored(path)
    assert verify() == ""


def test_stores_are_merged_and_exported_by_their_lines_and_never_by_their_indexes(path: Path, tmp_path: Path) -> None:
    trials = large(path, decided(20))
    (tmp_path / "there").mkdir()
    there = store.file_of(tmp_path / "there", "gpt_fast")
    more = large(there, decided(20), first=10)
    (tmp_path / "out").mkdir()
    store.export(path.parent, tmp_path / "out" / "plain.jsonl", ["gpt_fast"])
    judged(trials, path), judged(more, there)
    store.export(path.parent, tmp_path / "out" / "indexed.jsonl", ["gpt_fast"])
    assert (tmp_path / "out" / "plain.jsonl").read_bytes() == (tmp_path / "out" / "indexed.jsonl").read_bytes()
    with pytest.raises(store.StoreError, match="would lie in the store itself"):
        store.export(path.parent, store.index_of(path), ["gpt_fast"], force=True)
    (joined,) = store.merge(there.parent, path.parent)
    assert (joined.new, joined.further) == (10, 10) and store.stored(path) == store.read(path) and known(path) == 20
    every = {trial.request.key: trial for trial in [*trials, *more]}
    assert judged([*every.values()], path) == from_texts([*every.values()], path) and known(path) == 30


# --- where it is used -------------------------------------------------------------------------------------------------


def test_a_second_run_takes_verdicts_from_the_index_and_asks_nothing(serve: Any, tmp_path: Path) -> None:
    server = serve()
    asked = requests_to(JUDGE, 40, "x" * (LARGE // 40))
    trials = [replace(trial_of(n, "pairwise", False, ""), request=request) for n, request in enumerate(asked)]
    run = dict(folder=tmp_path, show=False)
    first = asyncio.run(judge_all(trials, budget=Budget(1e6), **run))
    path = store.file_of(tmp_path, "gpt_fast")
    assert known(path) == 40, "the run that asks keeps what it read"
    second = asyncio.run(judge_all(trials, ask=False, **run))
    assert second == first == from_texts(trials, path) and len(server.calls) == 40
    assert all(isinstance(each.completion, store.Kept) for each in second)


def test_the_frame_of_a_store_has_categories_and_one_row_a_reply(path: Path, tmp_path: Path) -> None:
    trials = large(path, decided(30))
    expected = judged(trials, path)
    put(path, [(trials[0], reply_to(trials[0], "again"))])
    small = store.file_of(tmp_path, "small")
    put(small, [(trials[0], reply_to(trials[0], "", usage=Usage(1, 2)))])
    frame = framed(tmp_path)
    assert list(frame["model"]) == ["gpt_fast"] * 30 + ["small"] and not store.index_of(small).exists()
    assert list(frame["outcome"][:30]) == [each.outcome for each in expected] and pd.isna(frame["outcome"][30])
    choices = [each.verdict.choice if each.verdict else None for each in expected]
    assert [None if pd.isna(each) else each for each in frame["choice"][:30]] == choices
    assert all(frame[name].dtype == "category" for name in ("model", "question_id", "shown", "outcome", "choice"))
    assert list(frame["tokens_input"]) == [7] * 30 + [1] and set(frame["question_id"]) == {f"q{n}" for n in range(7)}
    assert list(framed(tmp_path, ["gpt_fast"], ["status", "key"]).columns) == ["model", "status", "key"]
    with pytest.raises(ValueError, match="no column prompt; there are: key, counts"):
        framed(tmp_path, columns=["prompt"])
    with pytest.raises(store.StoreError, match="no replies of gpt; there are those of: gpt_fast, small"):
        framed(tmp_path, ["gpt"])


def test_a_small_file_has_verdicts_in_the_frame_once_somebody_made_it_an_index(path: Path, tmp_path: Path) -> None:
    trials = [trial_of(number, "pairwise", False, "short") for number in range(12)]
    put(path, [(trial, reply_to(trial, text)) for trial, text in zip(trials[:8], decided(8), strict=True)])
    expected = from_texts(trials[:8], path)
    assert judged(trials[:8], path) == expected and framed(tmp_path)["outcome"].isna().all()
    assert store.index(path) and judged(trials[:8], path) == expected
    assert list(framed(tmp_path)["outcome"]) == [each.outcome for each in expected]
    put(path, [(trial, reply_to(trial, text)) for trial, text in zip(trials[8:], decided(4), strict=True)])
    assert framed(tmp_path)["outcome"].notna().sum() == 8
    every = from_texts(trials, path)
    assert judged(trials, path) == every and known(path) == 12
    assert list(framed(tmp_path)["outcome"]) == [each.outcome for each in every]


def test_the_command_makes_tells_and_removes_an_index(path: Path, tmp_path: Path) -> None:
    trials = large(path, decided(20))

    def recuse(*words: str) -> str:
        result = CliRunner().invoke(main, ["store", *words, "--store", str(tmp_path)])
        assert result.exit_code == 0, result.output
        return result.output

    assert "index:" not in recuse("info")
    assert recuse("index").startswith("gpt_fast.jsonl: index of 20 lines, 0 of their verdicts read; ")
    judged(trials, path)
    assert "\n  index: 20 lines, 20 of their verdicts read; " in recuse("info")
    assert json.loads(recuse("info", "--json"))["files"][0]["index"]["verdicts"] == 20
    assert "20 of their" in recuse("index") and "0 of their" in recuse("index", "--rebuild")
    assert recuse("index", "--remove") == "gpt_fast.jsonl: index removed\n"
    assert recuse("index", "--remove") == "gpt_fast.jsonl: there was no index\n"
    assert [each.name for each in tmp_path.iterdir()] == [path.name], "nothing of it is left"
    path.write_bytes(path.read_bytes().replace(b"Reason 3.", b"reason 3."))
    wrong = CliRunner().invoke(main, ["store", "index", "--store", str(tmp_path)])
    assert wrong.exit_code != 0 and "line 4" in str(wrong.exception) + wrong.output
