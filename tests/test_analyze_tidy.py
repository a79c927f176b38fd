"""Verdicts of one's own: a planted bias is found in every format, a fair judge is left in peace, files are complete."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result
from nbconvert.filters import markdown2html

from helpers import figures
from helpers.__main__ import main
from helpers.analyze import analyze, saying, summary, write
from helpers.analyze.analysis import KINDS, WORDS, declared
from helpers.analyze.reading import ALL
from helpers.analyze.saying import check
from helpers.types import Estimate
from tests.payloads import alive
from tests.verdict_files import pair_rows, ranking_rows, score_rows, written

ENDS = ("csv", "tsv", "jsonl", "json", "parquet", "csv.gz")


def only(estimates: tuple[Estimate, ...], id: str, **where: str) -> Estimate:
    found = [each for each in estimates if each.id == id and dict(each.where) == where]
    assert len(found) == 1, f"{id} {where}: {[dict(e.where) for e in estimates if e.id == id]}"
    return found[0]


def row_of(text: str, id: str, of: str) -> str:
    """The value of a number in the table of a summary."""
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("| ")]
    (value,) = (value for name, place, value, *_ in rows if (name, place) == (id, of))
    return value


@pytest.mark.parametrize("end", ENDS)
def test_every_format_gives_the_same_numbers(tmp_path: Path, end: str) -> None:
    rows = pair_rows(first=0.4, questions=30)
    one = analyze(written(rows, tmp_path / "verdicts.jsonl"))
    other = analyze(written(rows, tmp_path / f"verdicts.{end}"))
    assert [(e.id, e.where, e.value, e.low) for e in one.estimates if e.low == e.low] == [
        (e.id, e.where, e.value, e.low) for e in other.estimates if e.low == e.low
    ]


def test_a_frame_gives_the_numbers_of_its_file(tmp_path: Path) -> None:
    """Whatever its index and types: candidates as lists, categories, verdicts that are missing."""
    listed = pd.DataFrame(pair_rows(first=0.4, questions=30))
    lists = ["candidates", "candidate_vendors"]
    frame = listed.assign(**{name: listed[name].map("|".join) for name in lists})
    frame.loc[::7, "verdict"] = None
    frame.to_csv(tmp_path / "verdicts.csv", index=False)
    typed = frame.astype({"judge": "category"}).assign(**listed[lists]).set_index(frame.index + 7)
    expected = {
        (e.id, str(e.where), e.value, e.n) for e in analyze(tmp_path / "verdicts.csv").estimates if e.low == e.low
    }
    assert len(expected) > 5 and not (folder := tmp_path / "results").exists()
    for each in (frame, typed):
        found = analyze(each)
        assert {(e.id, str(e.where), e.value, e.n) for e in found.estimates if e.low == e.low} == expected
    assert "numbers.json" in write(found, folder) and (folder / "numbers.json").is_file()
    with pytest.raises(ValueError, match=r"frame.jsonl, line 3.*verdict 'perhaps'"):
        analyze(frame.assign(verdict=["A", "B", "perhaps", *["A"] * (len(frame) - 3)]))


def test_a_planted_place_is_found_and_counted_by_hand(tmp_path: Path) -> None:
    rows = pair_rows(first=0.4)
    found = analyze(written(rows, tmp_path / "v.csv"))
    for judge in ("judge_x", "judge_y"):
        mine = [row for row in rows if row["judge"] == judge]
        both = [(one["verdict"], two["verdict"]) for one, two in zip(mine[::2], mine[1::2], strict=True)]
        net = both.count(("A", "A")) - both.count(("B", "B"))
        each = only(found.estimates, "first_position_effect", judge=judge, candidate="model_y")
        assert each.value == pytest.approx(net / len(both)) and each.low > 0 and each.n == 80
        share = only(found.estimates, "first_place_share", judge=judge)
        assert share.value == pytest.approx(sum(row["verdict"] == "A" for row in mine) / len(mine)) and share.low > 0.5
    assert "**biased**: judge_" in summary(found) and "favours the answer shown first" in summary(found)


def test_of_many_judges_the_one_that_always_names_a_place_is_told_first(tmp_path: Path) -> None:
    rows = []
    for number in range(20):
        taken = 1.0 if number == 17 else 0.0
        given = pair_rows(first=taken, questions=12, seed=number)
        rows += [row | {"judge": f"j{number:02d}"} for row in given if row["judge"] == "judge_x"]
    text = summary(analyze(written(rows, tmp_path / "v.csv")))
    assert "- Place of an answer: **biased**: j17 on model_y favours the answer shown first (+100.0 pp" in text
    assert "and 14 more." in text.split("## Found")[0]


def test_several_conditions_are_said_to_be_corrected_one_by_one(tmp_path: Path) -> None:
    rows = [row | {"condition": name} for name in ("none", "terse") for row in pair_rows(questions=12)]
    said = "2 conditions: each p is corrected for its own condition alone"
    assert said in summary(analyze(written(rows, tmp_path / "v.csv")))
    assert said not in summary(analyze(written(rows[: len(rows) // 2], tmp_path / "v.csv")))


def test_a_fair_judge_favours_no_place_and_nobody(tmp_path: Path) -> None:
    found = analyze(written(pair_rows(), tmp_path / "v.csv"))
    for judge in ("judge_x", "judge_y"):
        each = only(found.estimates, "first_position_effect", judge=judge, candidate="model_y")
        assert each.value == 0  # the same answer in both orders, always
    excess = [only(found.estimates, "own_vendor_win_excess", vendor=vendor) for vendor in "xy"]
    assert all(each.low < 0 < each.high for each in excess)


def test_a_planted_taste_for_ones_own_is_found_and_is_no_place(tmp_path: Path) -> None:
    rows = pair_rows(own=0.5)
    found = analyze(written(rows, tmp_path / "v.jsonl"))
    frame = pd.DataFrame(rows).assign(
        won=[row["candidates"]["AB".index(row["verdict"])] == "model_x" for row in rows]
    )  # fmt: skip
    rates = frame.groupby("judge")["won"].mean()
    each = only(found.estimates, "own_vendor_win_excess", vendor="x")
    assert each.value == pytest.approx(rates["judge_x"] - rates["judge_y"]) and each.low > 0
    assert each.clusters == 80
    assert only(found.estimates, "first_position_effect", judge="judge_x", candidate="model_y").low < 0


def test_rankings_carry_self_preference_and_conditions_are_hints(tmp_path: Path) -> None:
    rows = [row | {"condition": "none"} for row in ranking_rows(own=2.0)]
    rows += [row | {"condition": "full"} for row in ranking_rows(own=0.0, seed=9)]
    found = analyze(written(rows, tmp_path / "v.csv"))
    assert only(found.estimates, "self_preference_logit", vendor="a").low > 0
    effect = only(found.estimates, "hint_effect", hint="full", vendor="average")
    own = {
        name: np.mean([row["verdict"][0][0] == row["judge_vendor"] for row in rows if row["condition"] == name])
        for name in ("none", "full")
    }
    assert effect.value == pytest.approx(own["full"] - own["none"]) and effect.high < 0
    assert only(found.estimates, "average_self_bias").value == pytest.approx(own["none"])
    fair = analyze(written(ranking_rows(), tmp_path / "fair.csv"))
    logits = [only(fair.estimates, "self_preference_logit", vendor=vendor) for vendor in "abc"]
    assert sum(each.low < 0 < each.high for each in logits) >= 2


def test_a_judge_that_is_a_candidate_under_its_own_name_is_told_from_its_family(tmp_path: Path) -> None:
    """Otherwise what it does for itself would stand as what it does for its vendor's other models."""
    rows = ranking_rows(own=0.8)
    rng = np.random.default_rng(7)
    named = []
    for row in rows:
        made = row | {"judge": row["judge_vendor"] + "1"}
        if rng.random() < 0.7:  # it puts itself first, not its sibling
            ranked = [name for name in row["verdict"] if name != made["judge"]]
            made["verdict"] = [made["judge"], *ranked]
        named.append(made)
    one, other = (analyze(written(each, tmp_path / name)) for each, name in ((named, "n.csv"), (rows, "r.csv")))
    assert only(one.estimates, "own_model_logit").low > 0
    for vendor in "abc":
        whole, family = (
            only(one.estimates, f"{what}_preference_logit", vendor=vendor).value for what in ("self", "family")
        )
        assert family < whole
        same = [only(other.estimates, f"{what}_preference_logit", vendor=vendor).value for what in ("self", "family")]
        assert same[0] == same[1]
    status = [each.status.set_index(["module", "id"]).loc[("top_choice", "own_model_logit")] for each in (one, other)]
    assert status[0]["status"] == "computed"
    assert status[1]["why"] == "needs a judge that is a candidate too, under the same name"


def test_own_scores_are_compared_after_leniency(tmp_path: Path) -> None:
    lenient = analyze(written(score_rows(lenient=3.0), tmp_path / "a.csv"))
    assert only(lenient.estimates, "own_vendor_score_excess", vendor="x").low < 0
    rows = score_rows(own=2.0, lenient=3.0)
    found = analyze(written(rows, tmp_path / "b.csv"))
    frame = pd.DataFrame(rows).assign(name=lambda f: f["candidates"].str[0])
    means = frame.groupby(["judge", "name"])["verdict"].mean()
    gap = {name: means["judge_x", name] - means["judge_y", name] for name in ("model_x", "model_y")}
    each = only(found.estimates, "own_vendor_score_excess", vendor="x")
    assert each.value == pytest.approx(gap["model_x"] - gap["model_y"]) and each.low > 0
    mean = only(found.estimates, "candidate_score_mean", candidate="model_x")
    assert mean.value == pytest.approx(frame[frame["name"] == "model_x"]["verdict"].mean())


def test_gold_lengths_losses_and_repeats_are_counted(tmp_path: Path) -> None:
    rows = []
    for row in pair_rows(questions=20):
        for repeat in (0, 1):
            longer = row["candidates"][0] == "model_x"
            rows.append(row | {"repeat": repeat, "gold": "model_x", "length": [9, 3] if longer else [3, 9]})
    rows[0]["verdict"], rows[1]["verdict"] = None, "refused"
    found = analyze(written(rows, tmp_path / "v.jsonl"))
    read = [row for row in rows if row["verdict"] in ("A", "B")]
    mine = [row for row in read if row["judge"] == "judge_x"]
    right = np.mean([row["candidates"]["AB".index(row["verdict"])] == "model_x" for row in mine])
    assert only(found.estimates, "gold_accuracy", judge="judge_x").value == pytest.approx(right)
    told = summary(found)
    assert "{" not in told and row_of(told, "gold_accuracy", "judge_x") == str(
        only(found.estimates, "gold_accuracy", judge="judge_x")
    )
    assert only(found.estimates, "longer_win_rate", judge="judge_x").value == pytest.approx(right)
    assert only(found.estimates, "unreadable_share", judge="judge_x").value == pytest.approx(2 / 80)
    lost = found.losses.set_index("judge").loc["judge_x"]
    assert (lost["unparsed"], lost["refused"]) == (1, 1)
    assert only(found.estimates, "excess_flip", judge="judge_x", candidate="model_y").value == pytest.approx(0)


def test_one_text_twice_is_a_control(tmp_path: Path) -> None:
    rows = [
        {"judge": "j", "question": f"q{q}", "candidates": "same|same", "verdict": "A" if q % 4 else "B"}
        for q in range(40)
    ] + [row | {"judge": "j"} for row in pair_rows(questions=12) if row["judge"] == "judge_x"]
    found = analyze(written(rows, tmp_path / "v.jsonl"))
    each = only(found.estimates, "identical_pair_effect", judge="j", candidate="same")
    assert each.value == pytest.approx(0.5) and each.low > 0


def test_many_pairs_without_a_common_baseline_are_told_a_judge_at_a_time(tmp_path: Path) -> None:
    names = ["m1", "m2", "m3", "m4"]
    rng, rows = np.random.default_rng(5), []
    for q in range(60):
        one, two = rng.choice(names, 2, replace=False)
        for shown in ((one, two), (two, one)):
            rows.append({"judge": "j", "question": f"q{q}", "candidates": list(shown), "verdict": "first"})
    found = analyze(written(rows, tmp_path / "v.jsonl"))
    assert only(found.estimates, "first_position_effect", judge="j").value == 1.0
    assert not [each for each in found.estimates if each.id == "win_rate"]
    rates = [each for each in found.estimates if each.id == "candidate_win_rate" and "judge" not in each.where]
    assert {each.value for each in rates} == {0.5} and len(rates) == 4


def test_every_declared_number_has_a_status_and_a_reason(tmp_path: Path) -> None:
    status = analyze(written(pair_rows(questions=12), tmp_path / "v.csv")).status
    assert len(status) == sum(map(len, declared().values()))
    assert (status.loc[status["status"] == "not computed", "why"] != "").all()
    row = status.set_index(["module", "id"])
    assert row.loc[("accuracy", "gold_accuracy"), "why"] == "column gold is missing"
    assert "column repeat" in row.loc[("position", "excess_flip"), "why"]
    assert row.loc[("top_choice", "self_bias"), "why"] == "needs rankings, these are verdicts on two answers"
    assert row.loc[("position", "first_position_effect"), "status"] == "computed"


def test_a_number_needs_a_style_a_column_or_what_has_words() -> None:
    needs = {name for estimands in declared().values() for each in estimands.values() for name in each.needs.split()}
    assert needs <= {*WORDS, *KINDS, *ALL}


def test_the_command_writes_what_an_experiment_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = written(pair_rows(first=0.4, questions=20), tmp_path / "my verdicts.csv")
    told = CliRunner().invoke(main, ["analyze", str(file)], catch_exceptions=False)
    folder = tmp_path / "my_verdicts-recuse"
    assert told.exit_code == 0 and "favours the answer shown first" in told.output
    names = {each.name for each in folder.iterdir()}
    assert names == {*saying.FILES} | {
        f"{name}.png" for name in ("position_effects", "class_shares", "candidate_win_rate")
    }
    assert all(name in told.output.split(str(folder))[1] for name in names)
    numbers = json.loads((folder / "numbers.json").read_text(encoding="utf-8"))
    assert numbers["protocol"] == "1.1" and numbers["provenance"]["data"] == "folder"
    assert str(tmp_path) not in (folder / "numbers.json").read_text(encoding="utf-8")
    before = {each.name: each.read_bytes() for each in folder.iterdir() if each.name != "run.json"}
    write(found := analyze(file), folder)  # an earlier analysis may be written anew
    assert before == {each.name: each.read_bytes() for each in folder.iterdir()}
    table = pd.read_csv(folder / "numbers.csv")
    assert [*table["id"]] == [*found.numbers["id"]] and table["value"].notna().sum() == sum(
        each.value == each.value for each in found.estimates
    )


def test_with_a_style_everything_that_a_paper_takes_is_written_too(tmp_path: Path) -> None:
    file, folder = written(pair_rows(first=0.4, questions=20), tmp_path / "v.csv"), tmp_path / "out"
    write(analyze(file), folder, style="icml")
    names = {each.name for each in folder.iterdir()}
    assert {
        "numbers.tex",
        "measured.tex",
        "captions.md",
        "losses.csv",
        "position_effects.pdf",
        "candidate_win_rate.svg",
    } <= names
    assert names > {*saying.FILES} and '"style": "icml"' in (folder / "exhibits.json").read_text(encoding="utf-8")


def test_the_answers_come_first_and_a_check_can_fail_on_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    written(pair_rows(first=0.4, questions=60), tmp_path / "biased.csv")
    written(pair_rows(first=0.05, questions=60), tmp_path / "fair.csv")

    def checked(name: str, *kinds: str) -> Result:
        words = ["analyze", name, "--fail-on", ",".join(kinds), "--to", f"{name}-out"]
        return CliRunner().invoke(main, words, catch_exceptions=False)

    told = checked("biased.csv", "position")
    place, vendor, names = told.stdout.split("\n\n")[1].split("\n")
    assert told.exit_code == 3
    assert (
        place.startswith("- Place of an answer: **biased**: ") and place.count("favours the answer shown first (+") == 2
    )
    assert "not measured" in names and vendor.startswith("- Own vendor: ")
    told = checked("fair.csv", "position")
    assert told.exit_code == 0 and "**no bias shown**: " in told.stdout and " would be found)" in told.stdout
    with pytest.raises(ValueError, match="names: not measured"):
        checked("fair.csv", "names")
    with pytest.raises(ValueError, match="--fail-on length: no such bias; valid: position, own_vendor, names"):
        checked("fair.csv", "length")


def test_a_result_shows_itself_in_a_notebook(tmp_path: Path) -> None:
    found = analyze(written(pair_rows(first=0.4, questions=30), tmp_path / "v.csv"))
    page = found._repr_html_()
    assert "0 (0.0%) could not be read.</li><li>Place of an answer: biased: judge_" in page and page.count("<tr>") > 10
    assert any("favours the answer shown first" in line for line in found.sentences)
    assert found.plot("position_effects", "icml").style == "icml"
    with pytest.raises(ValueError, match=r"'places' .*position_effects, class_shares"):
        found.plot("places")


def test_a_summary_of_hostile_names_acts_nowhere(tmp_path: Path) -> None:
    bad = {"judge_x": "<script>alert(1)</script>", "judge_y": "[click](javascript:alert(1))"}
    rows = [row | {"judge": bad[row["judge"]]} for row in pair_rows(first=0.4, questions=20)]
    folder = tmp_path / "out"
    write(analyze(written(rows, tmp_path / "v.csv")), folder)
    text = (folder / "summary.md").read_text(encoding="utf-8")
    pictures = [f"img src={each.name}" for each in folder.glob("*.png")]
    assert "alert(1)" in text and pictures and sorted(alive(markdown2html(text))) == sorted(pictures)


def test_the_summary_is_short_and_says_of_which_condition_it_is(tmp_path: Path) -> None:
    rows = pair_rows(first=0.4, questions=20)
    plain = summary(found := analyze(written(rows, tmp_path / "v.csv")))
    assert "condition" not in plain.split("## Not computed")[0]
    for judge in ("judge_x", "judge_y"):
        assert row_of(plain, "first_place_share", judge) == str(only(found.estimates, "first_place_share", judge=judge))
    named = [line for line in plain.split("## Not computed")[1].split("\n") if line.startswith("- ")]
    columns = [line.startswith("- column") for line in named]
    assert columns == sorted(columns, reverse=True) and any(columns) and not all(columns)
    published = found.status[found.status["why"] == WORDS["published"]]
    assert len(published) and not any(f" {id}," in line for id in published["id"] for line in named)

    told = summary(analyze(written([row | {"condition": "full"} for row in rows], tmp_path / "w.csv")))
    assert "- All verdicts are of the condition full, and so is every number here." in told
    two = [row | {"condition": name} for name in ("b", "a", "b") for row in rows]
    two = [row | {"repeat": n // len(rows) // 2} for n, row in enumerate(two)]
    assert "numbers without a condition are of b." in summary(analyze(written(two, tmp_path / "x.csv")))


def test_of_many_comparisons_those_that_conclude_are_told(tmp_path: Path) -> None:
    rows = []
    for number in range(20):
        for row in pair_rows(first=0.9 if number < 2 else 0.0, questions=40, seed=number):
            if row["judge"] == "judge_x":
                names = [name.replace("y", f"y{number:02}") for name in row["candidates"]]
                rows.append({**row, "candidates": names, "candidate_vendors": names})
    told = summary(analyze(written(rows, tmp_path / "v.csv")))
    first = told.split("\n\n")[1].splitlines()[0]
    assert all(f"judge_x on model_y0{n} favours the answer shown first" in first for n in (0, 1)) and "y07" not in first


def test_a_folder_of_others_is_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "thesis"
    folder.mkdir()
    check(folder)
    (folder / "chapter.tex").write_text("mine", encoding="utf-8")
    with pytest.raises(ValueError, match=r"not empty \(chapter.tex\).*--force"):
        check(folder)
    check(folder, force=True)
    with pytest.raises(ValueError, match="a file, expected a folder"):
        check(folder / "chapter.tex", force=True)
    file = written(pair_rows(questions=2), tmp_path / "v.csv")
    told = CliRunner().invoke(main, ["analyze", str(file), "--out", str(folder)])
    assert isinstance(told.exception, ValueError) and {each.name for each in folder.iterdir()} == {"chapter.tex"}


@pytest.mark.slow
def test_a_million_rows_take_seconds(tmp_path: Path) -> None:
    import time

    rng = np.random.default_rng(0)
    judge, question, name, order = (x.ravel() for x in np.indices((10, 2500, 20, 2)))
    candidate = np.char.add("model_", name.astype(str)).astype(object)
    said = rng.choice(["A", "B", "C"], len(judge), p=[0.5, 0.3, 0.2])
    frame = pd.DataFrame(
        {
            "judge": np.char.add("judge_", judge.astype(str)),
            "question": np.char.add("q", question.astype(str)),
            "candidates": np.where(order == 0, "base|" + candidate, candidate + "|base"),
            "verdict": said,
        }
    )
    path = tmp_path / "v.parquet"
    frame.to_parquet(path)
    start = time.process_time()
    found = analyze(path)
    assert time.process_time() - start < 60
    assert found.judgments == 1_000_000
    each = only(found.estimates, "first_position_effect", judge="judge_3")
    # 0.5 * 0.5 for the first twice, less 0.3 * 0.3 for the second
    assert each.low < 0.16 < each.high and each.n == 50_000


def test_the_sorted_figure_says_what_it_shows() -> None:
    def rate(name: str, value: float, judge: str = "j") -> Estimate:
        where = {"judge": judge, "candidate": name}
        bounds = (value - 0.1, value + 0.1) if value == value else (float("nan"), float("nan"))
        return Estimate("candidate_win_rate", where, value, *bounds, n=40, clusters=20, data="folder")

    lost = Estimate("unreadable_share", {"judge": "j"}, 0.25, n=80, clusters=20, data="folder")
    rows = [rate("low", 0.2), rate("none", float("nan")), rate("high\u202e", 0.9)]
    drawn = figures.show_sorted(rows, "candidate_win_rate", 0.5, [lost])
    assert drawn.name == "candidate_win_rate" and "Dashed: 50 %" in drawn.caption
    assert "n = 40" in drawn.caption and "unreadable 25.0 % (20 of 80 judgments)" in drawn.caption
    assert drawn.alt.index("high") < drawn.alt.index("low") and "\u202e" not in drawn.alt
    assert drawn.render("png")[:4] == b"\x89PNG"
    with pytest.raises(ValueError, match="no estimates"):
        figures.show_sorted([lost], "candidate_win_rate")
    with pytest.raises(ValueError, match="several units"):
        figures.show_sorted([rows[0], replace(rows[2], unit="score")], "candidate_win_rate")


def test_askings_may_be_counted_from_anywhere(tmp_path: Path) -> None:
    rows = [row | {"repeat": again} for again in (0, 1) for row in pair_rows(first=0.3, questions=30, seed=again)]
    one = analyze(written(rows, tmp_path / "from0.jsonl"))
    other = analyze(written([row | {"repeat": 3 + 4 * row["repeat"]} for row in rows], tmp_path / "from3.jsonl"))
    assert [(e.id, e.where, e.value, e.n) for e in one.estimates if e.n] == [
        (e.id, e.where, e.value, e.n) for e in other.estimates if e.n
    ]
    assert only(other.estimates, "agreement_winners").n > 0
    apart = [row | {"repeat": row["repeat"] + 5 * (row["judge"] == "judge_x")} for row in rows]
    found = analyze(written(apart, tmp_path / "apart.jsonl")).estimates
    assert only(found, "agreement_winners").value == only(one.estimates, "agreement_winners").value, "a judge each"


def test_scores_that_are_asked_again_give_their_noise(tmp_path: Path) -> None:
    """By hand: q0 moves by 1 and 3 and changes its best answer, q1 stays and shares its best, q2 to q11 stay."""
    calls = {"q0": [(7, 5), (6, 8)], "q1": [(4, 4), (4, 4)]} | {f"q{n}": [(9, 2), (9, 2)] for n in range(2, 12)}
    rows = [
        {"judge": "j", "question": question, "candidates": name, "verdict": score, "repeat": repeat + 1}
        for question, pairs in calls.items()
        for repeat, pair in enumerate(pairs)
        for name, score in zip(("a", "b"), pair, strict=True)
    ]
    found = analyze(written(rows, tmp_path / "v.jsonl")).estimates
    moved, shared, other = (only(found, f"score_{id}", judge="j") for id in ("moved", "best_shared", "other_best"))
    assert (moved.value, moved.n, moved.unit) == (pytest.approx(4 / 24), 24, "score")
    assert (shared.value, shared.n) == (pytest.approx(2 / 24), 24)
    assert (other.value, other.n) == (pytest.approx(1 / 11), 11)
    once = analyze(written([row for row in rows if row["repeat"] == 1], tmp_path / "once.jsonl"))
    assert {e.id for e in once.estimates} & {"score_moved", "score_other_best"} == set()
    assert "column repeat" in once.status.set_index("id").loc["score_moved", "why"]


def test_the_table_says_where_judges_are_taken_together_and_a_name_does_not_break_it(tmp_path: Path) -> None:
    rows = []
    for number in range(20):
        names = ["model_x", "a|b"] if number < 10 else ["model_x", f"model_{number}"]
        for row in pair_rows(questions=12, seed=number):
            shown = [names[each == "model_y"] for each in row["candidates"]]
            rows.append(
                row | {"candidates": shown, "question": f"{number} {row['question']}", "candidate_vendors": None}
            )
    text = summary(found := analyze(written(rows, tmp_path / "v.jsonl")))
    mean = only(found.estimates, "candidate_win_rate", candidate="a|b")
    assert "| a\\|b, all judges" in text and str(mean) in text
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in table} == {7}


def test_the_answers_say_no_more_than_each_experiment_concludes(tmp_path: Path) -> None:
    """Own answers that always stood in one place may be a habit of place; of hints only their average is planned."""
    rows = ranking_rows(own=1.5)
    answered = {}
    for name, fixed in (("drawn", False), ("fixed", True)):
        part = [
            row | {"candidates": sorted(row["candidates"]), "candidate_vendors": list("aabbcc")} if fixed else row
            for row in rows
        ]
        text = summary(analyze(written(part, tmp_path / f"{name}.jsonl")))
        answered[name] = next(line for line in text.splitlines() if line.startswith("- Own vendor: "))
    assert answered["drawn"].startswith("- Own vendor: **biased**: ")
    assert answered["fixed"].startswith("- Own vendor: **leans, not established**: ")
    hinted = [row | {"condition": "full"} for row in ranking_rows(own=3.0)]
    told = list(saying.answers(analyze(written([*ranking_rows(), *hinted], tmp_path / "hinted.jsonl"))))
    names = next(line for line in told if line.startswith("- Names beside answers: "))
    assert names.startswith("- Names beside answers: **biased**: full raises own-vendor first places")
