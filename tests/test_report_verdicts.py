"""The marked verdicts of the report: by hand on single judgments, and against the frames of whole runs."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pandas as pd
import pytest

from helpers.report import pages, verdicts
from helpers.run import control as run_control
from helpers.run.control import TIE, Control, marked, picks
from helpers.types import Answer, Completion, Judgment, Model, Request, Trial, Verdict
from tests.report_pages import html_pages, results, small_verdicts
from tests.runs import asked


def model(name: str, vendor: str) -> Model:
    return Model(name, "simulated", name, vendor)


JUDGE = model("mine", "acme")
ANSWERS = {
    ("q", name): Answer("q", name, vendor, "", "text")
    for name, vendor in (("mine", "acme"), ("sister", "acme"), ("other", "b"), ("third", "c"))
}


def pair(
    verdict: str, shown: tuple[str, str], condition: str = "none", repeat: int = 0, partner: int | None = None
) -> Judgment:
    """A verdict on two answers in this order."""
    request = Request(JUDGE, f"{shown} {condition}", repeat=repeat)
    where = {"first": shown[0], "task": "correct"}
    trial = Trial("e", "q", "c", JUDGE, request, condition, "pairwise", shown, ("A", "B"), where=where, partner=partner)
    return Judgment(trial, "ok", Verdict(choice=verdict), Completion("k", "ok", "text"))


def kinds(*judgments: Judgment, control: str | None = None) -> list[tuple[str, ...]]:
    return [each.kinds for each in marked(judgments, ANSWERS, control, {})]


@pytest.mark.parametrize(
    ("verdict", "picked"), [("A>>B", "x"), ("A>B", "x"), ("A=B", TIE), ("B>A", "y"), ("B>>A", "y")]
)
def test_what_a_verdict_on_two_is_for(verdict: str, picked: str) -> None:
    assert picks(pair(verdict, ("x", "y"))) == picked


def test_a_ranking_is_for_its_first_and_a_choice_for_its_label() -> None:
    base = pair("A>B", ("x", "y"))
    trial = replace(base.trial, form="listwise", shown=("x", "y", "z"), labels=("A", "B", "C"))
    assert picks(replace(base, trial=trial, verdict=Verdict(ranking=("C", "A", "B")))) == "z"
    trial = replace(base.trial, form="choice", labels=("1", "2"))
    assert picks(replace(base, trial=trial, verdict=Verdict(choice="2"))) == "y"
    assert picks(replace(base, outcome="refused", verdict=None)) is None


def test_the_same_winner_in_both_orders_is_not_flipped_and_another_one_is() -> None:
    assert kinds(pair("A>>B", ("other", "third")), pair("B>A", ("third", "other"))) == []
    assert kinds(pair("A>B", ("other", "third")), pair("A>B", ("third", "other"))) == [("flipped",), ("flipped",)]
    assert kinds(pair("A=B", ("other", "third")), pair("A>B", ("third", "other"))) == [("flipped",), ("flipped",)]


def test_orders_are_compared_within_one_repeat_and_condition() -> None:
    assert kinds(pair("A>B", ("other", "third")), pair("A>B", ("third", "other"), repeat=1)) == []
    assert kinds(pair("A>B", ("other", "third")), pair("A>B", ("third", "other"), "edited")) == []


def test_the_same_text_in_both_places_is_nobody_s() -> None:
    assert kinds(pair("A>B", ("mine", "other"), "identical"), pair("A>B", ("other", "mine"), "identical")) == []


def test_own_is_the_judge_s_own_answer_and_family_its_vendor_s() -> None:
    assert kinds(pair("A>B", ("mine", "other"))) == [("own",)]
    assert kinds(pair("A>B", ("sister", "other"))) == [("family",)]
    assert kinds(pair("B>A", ("sister", "other"))) == kinds(pair("A=B", ("mine", "other"))) == []
    assert kinds(pair("B>A", ("mine", "sister"))) == [], "where both are of its vendor, one of them has to win"


def test_who_wrote_an_answer_is_no_preference() -> None:
    judgment = pair("A>B", ("mine", "other"))
    wrote = replace(judgment.trial, where={"first": "mine", "task": "wrote"})
    assert kinds(replace(judgment, trial=wrote)) == []


def test_a_verdict_is_changed_against_its_own_control() -> None:
    plain, other = pair("A>B", ("other", "third"), "none"), pair("B>A", ("other", "third"), "none", 1)
    treated = pair("B>A", ("other", "third"), "self")
    assert kinds(plain, other, treated, control="none") == [("changed",)]
    assert kinds(plain, other, replace(treated, trial=replace(treated.trial, partner=1)), control="none") == []
    assert kinds(plain, treated) == [], "without a control nothing is changed"
    (found,) = marked((plain, treated), ANSWERS, "none", {})
    assert found.picked == "third" and found.others == {"changed": "other"}


def test_where_the_control_was_asked_again_a_verdict_is_compared_with_that_asking() -> None:
    """The first asking of the control went stale: of one order repeat 2 serves what is now asked, of the other 1."""
    pairs = (("other", "third"), ("third", "other"))
    judgments = [pair("A>B", pairs[0], "none", 2), pair("A>B", pairs[1], "none", 1)]
    judgments += [pair("B>A", pairs[0], "self"), pair("A>B", pairs[1], "self")]
    places = [run_control.place_of(each.trial) for each in judgments[:2]]
    served = Control({(places[0], "self", 0): 2, (places[1], "self", 0): 1})
    found = marked(judgments, ANSWERS, "none", {JUDGE.name: served})
    assert [each.kinds for each in found] == [("flipped",), ("flipped",), ("changed",)]
    assert found[2].others == {"changed": "other"}
    assert [each.judgment for each in found] == judgments[:3], "keys are those of the store"
    # Without saying which asking serves, there is nothing of the same repeat to compare with.
    assert kinds(*judgments, control="none") == []


def test_where_the_control_is_asked_more_often_its_last_asking_counts_as_in_the_estimates() -> None:
    """As in experiment 3, whose first asking of the control selects the items."""
    shown = ("other", "third")
    judgments = [pair("A>B", shown, "none", 0), pair("B>A", shown, "none", 1), pair("B>A", shown, "edited", 0)]
    place = run_control.place_of(judgments[0].trial)
    served = Control({(place, "edited", 0): 0, (place, "edited", 1): 1})
    assert [each.kinds for each in marked(judgments, ANSWERS, "none", {JUDGE.name: served})] == []
    assert kinds(*judgments, control="none") == [("changed",)]


# --- against the frames of whole runs ---------------------------------------------------------------------------------


def count(found: tuple[pd.DataFrame, str], kind: str) -> int:
    return int(found[0]["marks"].str.split().map(lambda marks: kind in marks).sum())


def test_own_and_family_of_rankings_are_those_of_the_frame() -> None:
    run = asked("mt_bench_blind", question_limit=12)
    found = verdicts.of_run(run, "x")
    first = run.frame[run.frame["top"] == 1.0]
    own = first["candidate"].astype(str) == first["judge"].astype(str)
    assert count(found, "own") == int(own.sum()) > 0
    assert count(found, "family") == int((first["own_vendor"] & ~own).sum()) > 0
    assert count(found, "flipped") == count(found, "changed") == 0


def flips(frame: pd.DataFrame, one: str, other: str, *keys: str) -> int:
    """Verdicts of pairs whose winner hangs on which of these two was shown first, from a frame alone."""
    frame = frame[frame["verdict"].notna()].copy()
    sign = frame["verdict"].astype(str).map({"A>>B": 1, "A>B": 1, "A=B": 0, "B>A": -1, "B>>A": -1})
    frame["winner"] = sign.where(frame["first"].astype(str) == one, -sign)
    index = ["question_id", "judge", "condition", "repeat", *keys]
    both = frame.pivot_table(index=index, columns="first", values="winner", observed=True).dropna()
    return 2 * int((both[one] != both[other]).sum())


def test_flips_of_two_orders_and_of_wordings_are_those_of_the_frame() -> None:
    run = asked("arena_hard_position_bias", question_limit=12)
    games = run.frame[run.frame["condition"] != "identical"]
    expected = flips(games, "candidate", "baseline", "candidate", "baseline")
    assert count(verdicts.of_run(run, "x"), "flipped") == expected > 0
    run = asked("verbosity_style", question_limit=8)
    found = verdicts.of_run(run, "x")
    assert count(found, "flipped") == flips(run.frame, "tried", "other", "bias", "wording") > 0
    assert count(found, "own") == count(found, "family") == 0, "texts made by rules are nobody's"


def test_changes_of_hints_and_treatments_are_those_of_the_frame() -> None:
    run = asked("hinting_groups", question_limit=12)
    first = run.frame[run.frame["top"] == 1.0].astype({"candidate": str})
    both = first[first["condition"] != "none"].merge(
        first[first["condition"] == "none"], left_on=["question_id", "judge", "partner"],
        right_on=["question_id", "judge", "repeat"], suffixes=("", "_plain"),
    )  # fmt: skip
    changed = int((both["candidate"] != both["candidate_plain"]).sum())
    assert count(verdicts.of_run(run, "x"), "changed") == changed > 0
    run = asked("cognitive_biases", question_limit=12)
    frame = run.frame.dropna(subset=["choice"])
    keys = ["question_id", "wording", "judge"]
    both = frame[frame["condition"] == "treatment"].merge(
        frame[frame["condition"] == "control"], left_on=[*keys, "partner"], right_on=[*keys, "repeat"],
        suffixes=("", "_plain"),
    )  # fmt: skip
    assert count(verdicts.of_run(run, "x"), "changed") == int((both["choice"] != both["choice_plain"]).sum()) > 0
    run = asked("quality_self_preference", question_limit=12)
    frame = run.frame[(run.frame["task"] == "correct") & run.frame["picked"].notna()]
    keys = ["question_id", "judge", "right", "wrong", "first"]
    both = frame[frame["condition"] != "none"].merge(
        frame[frame["condition"] == "none"], left_on=[*keys, "partner"], right_on=[*keys, "repeat"],
        suffixes=("", "_plain"),
    )  # fmt: skip
    assert count(verdicts.of_run(run, "x"), "changed") == int((both["picked"] != both["picked_plain"]).sum()) > 0


# --- the page and the file --------------------------------------------------------------------------------------------


def test_the_file_holds_every_row_and_the_page_the_first_of_each_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdicts, "MOST_ROWS", 3)
    found = [verdicts.of_run(asked(name, question_limit=12), name) for name in ("mt_bench_blind", "cognitive_biases")]
    files = pages.files([], found)
    rows = list(csv.DictReader(io.StringIO(files["verdicts.csv"].decode())))
    assert [row["key"] for row in rows] == [key for each, _ in found for key in each["key"]]
    tree = html_pages(files)["verdicts.html"]
    page = [row.find("a")["id"] for row in tree.find("table").find("tbody").find_all("tr")]
    seen: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        seen.setdefault((row["experiment"], row["judge"]), []).append(row["key"])
    assert sorted(page) == sorted(key for keys in seen.values() for key in keys[:3]) and len(page) < len(rows)
    assert "the first 3 of each judge stand here" in tree.get_text()


def test_a_row_says_what_was_shown_what_was_decided_and_what_the_partner_said() -> None:
    _, (games, _), (decisions, _), _ = small_verdicts()
    row = games[games["marks"] == "flipped"].iloc[0]
    assert row.verdict.startswith("for ") and row.verdict.endswith(" in another order")
    assert [each[:3] for each in row.shown.split("; ")] == ["A: ", "B: "] and row.question and row.reply
    row = decisions[decisions["marks"].str.contains("changed")].iloc[0]
    picked, before = row.verdict.removeprefix("for ").removesuffix(" without the manipulation").split("; ")
    assert picked in row["shown"] and before in row["shown"] and picked != before


def test_replies_that_are_not_stored_are_counted_and_published_ones_told(tmp_path) -> None:
    run = asked("mt_bench_blind", question_limit=12)
    gone = replace(run, judgments=tuple(replace(each, completion=None, verdict=None) for each in run.judgments))
    none = verdicts.of_run(gone, "x")
    assert none[0].empty
    half = replace(run, judgments=(*gone.judgments[:9], *run.judgments[9:]))
    found = verdicts.of_run(half, "x")
    text = html_pages(pages.files([], [none, found]))["verdicts.html"].get_text()
    assert "x: no rows, because none of its replies is stored here" in text
    every = len(run.judgments)
    assert f"of {every - 9} stored judgments are marked (9 of {every} are not stored)" in text


def test_a_missing_reply_moves_no_mark_of_another() -> None:
    """The control was asked three times, what is compared with it twice: with its last two, whatever is stored."""
    shown = ("other", "third")
    plain = [pair(verdict, shown, "none", repeat) for repeat, verdict in enumerate(("A>B", "B>A", "A>B"))]
    treated = [pair("A>B", shown, "edited", repeat) for repeat in range(2)]
    place = run_control.place_of(plain[0].trial)
    served = {JUDGE.name: Control({(place, "edited", number): number for number in range(3)})}
    run = replace(asked("quality_self_preference", question_limit=4), answers=ANSWERS, controls=served)
    for second in (treated[1], replace(treated[1], outcome="missing", verdict=None, completion=None)):
        found, _ = verdicts.of_run(replace(run, judgments=(*plain, treated[0], second)), "x")
        assert found[["key", "marks"]].to_numpy().tolist() == [[treated[0].trial.request.key, "changed"]]


def test_a_reply_that_two_experiments_share_has_one_row() -> None:
    blind, _ = verdicts.of_run(asked("mt_bench_blind", question_limit=12), "blind")
    hinted, _ = verdicts.of_run(asked("hinting_groups", question_limit=12), "hinted")
    shared = {*blind["key"]} & {*hinted["key"]}
    assert shared
    kept = verdicts.of_page(pd.concat([blind, hinted]))
    assert kept["key"].is_unique and {*kept[kept["key"].isin(shared)]["experiment"]} == {"blind"}


def test_rows_of_a_run_are_read_from_its_own_store(monkeypatch: pytest.MonkeyPatch) -> None:
    (run,) = (each for each in results() if each.made.experiment == "mt_bench_blind")
    small = asked("mt_bench_blind", question_limit=12)
    given = {"store": str(small.experiment.store), "question_limit": 12}

    def found(**more: str) -> tuple[pd.DataFrame, str]:
        parameters = {**given, **more}
        monkeypatch.setattr(verdicts.notebooks, "parameters", lambda book: parameters)
        return verdicts.marked_verdicts(run)

    rows, words = found()
    assert rows.equals(verdicts.of_run(small, "mt_bench_blind")[0]) and "of 72 stored judgments" in words
    assert "published by others" in found(judgments="hub")[1]
    odd = found(questions="/nowhere/at/all")[1]
    assert "cannot be read here" in odd and "/nowhere" not in odd


def test_an_empty_table_is_no_table() -> None:
    files = pages.files([], [])
    assert "verdicts.csv" not in files and html_pages(files)["verdicts.html"].find("table") is None
