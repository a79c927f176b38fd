"""Claims: what was published comes out of the published counts, or differs for the reason given."""

from __future__ import annotations

import copy
import functools
import json
import math
import operator
import re
from collections import Counter
from dataclasses import replace
from itertools import product
from pathlib import Path

import pandas as pd
import pytest

from helpers import paths
from helpers.claims import (
    COLUMNS,
    KINDS,
    Claim,
    ClaimError,
    check,
    count_claims,
    exceptions,
    load_claims,
    summary,
    unexpected,
)
from helpers.config import ConfigError
from helpers.types import Estimate
from tests.runs import FROM_COUNTS, declared_ids, published_counts, published_estimates

NAN = float("nan")
VENDORS = ("claude", "gpt", "gemini")
TIERS = ("fast", "thinking")


COUNTS = published_counts()


@pytest.fixture(scope="module")
def claims() -> list[Claim]:
    return claims_of("mt_bench_blind")


def claims_of(name: str) -> list[Claim]:
    """The claims of an experiment; those on judges of 2025 and 2026 are recounted in test_released.py."""
    return [each for each in load_claims(paths.EXPERIMENTS / name / "claims.yaml") if "recent_" not in each.id]


#: Of each experiment how many claims come out as what, numbers changed in its counts, and claims that notice that.
EXPECTED = {
    "arena_hard_position_bias": (
        {"reproduced": 79, "differs": 1},
        {
            ("arena_hard_notebook", "patterns", 0, "pairs"): 74,
            ("arena_hard_notebook", "lines"): 749,
            ("position_bias_analyzer", "counts", "gemini-pro", "A>B A>B", 0): 9,
            ("llmbar", "counts"): {},
        },
        {"notebook_lines", "notebook_pattern_01", "notebook_primacy", "analyzer_gemini_pro_consistent"},
    ),
    "cognitive_biases": (
        {"reproduced": 48, "differs": 1, "not derivable": 95},
        {
            ("notebook", "choices", "treatment", 1): 30,
            ("notebook", "gambles", "biased", 3): 1,
            ("heatmap", "counts", "disposition", "mean"): 0.69,
        },
        {
            *(f"notebook_{metric}{end}" for metric in ("anchoring_agnostic", "halo_effect") for end in ("_2", "")),
            *("notebook_loss_aversion_biased", "overall_mean"),
        },
    ),
    "hinting_groups": (
        {"reproduced": 112, "differs": 7, "not derivable": 4, "not comparable": 1},
        {("own_top1_by_group", "counts", "full", "gpt"): 103},
        {"self_bias_gpt_full", "average_self_bias_full", "consistency_vendors_full", "excess_gpt_full"},
    ),
    "mt_bench_blind": (
        {"reproduced": 157, "differs": 5, "not derivable": 7},
        {("blind_top1_by_judge", "counts", "claude_fast", "claude"): 23},
        {"self_bias_claude", "average_self_bias", "top1_rate_claude_fast_claude"},
    ),
    "overview": (
        {"reproduced": 10, "differs": 1},
        {("pandalm", "items", "right_as_printed", "pandalm-7b", 0): 0},
        {"pandalm_7b_accuracy"},
    ),
    "quality_self_preference": (
        {"reproduced": 314, "differs": 1},
        {("greedy_filtered_before", "counts", "before", 0, "own_wrong_selected"): 20},
        {f"greedy_same_{at}" for at in ("before_acc", "change_harm", "before_llama31_70b_ds_v3_harm")},
    ),
    "verbosity_style": (
        {"reproduced": 30, "not derivable": 2},
        {("llmbar", "counts", "ChatGPT-0301/CoT", "worse", 2): 3},
        {"llmbar_chatgpt_0301_cot_right_twice"},
    ),
}
#: What else may notice: of hints only the group that changed, of biases nothing.
ONLY = {"hinting_groups": r".*_full", "cognitive_biases": "|".join(EXPECTED["cognitive_biases"][2])}


def test_only_claims_that_can_fail_are_counted() -> None:
    every = pd.DataFrame({"status": ["reproduced"] * 3 + ["within interval", "differs", "not derivable"]})
    every["kind"] = "printed"
    assert count_claims(every) == (6, 4, 1) and count_claims(every[:0]) == (0, 0, 0)
    more = pd.concat([every, every.assign(kind="recovered"), every.assign(kind="derived")])
    assert count_claims(more) == (6, 4, 1)


@pytest.mark.parametrize("name", EXPECTED)
def test_every_claim_has_the_status_that_it_expects(name: str) -> None:
    claims = claims_of(name)
    checked = check(claims, published_estimates(name))
    assert tuple(checked.columns) == COLUMNS and unexpected(claims, checked).empty
    assert Counter(checked["status"]) == EXPECTED[name][0]


@pytest.mark.parametrize("name", EXPECTED)
def test_a_wrong_count_is_noticed(name: str) -> None:
    _, changes, noticed = EXPECTED[name]
    counts = copy.deepcopy(published_counts(name))
    for (*place, last), value in changes.items():
        at = functools.reduce(operator.getitem, place, counts)
        assert at[last] != value
        at[last] = value
    claims = claims_of(name)
    missed = unexpected(claims, check(claims, FROM_COUNTS[name][1](counts)))
    assert noticed <= set(missed["id"]) and all(re.fullmatch(ONLY.get(name, ".*"), id) for id in missed["id"])
    assert set(missed.loc[missed["id"].isin(noticed), "status"]) == {"differs"}


@pytest.mark.parametrize("name", EXPECTED)
def test_each_published_number_is_declared_and_stands_once(name: str) -> None:
    found = published_estimates(name)
    assert {each.id for each in found} <= declared_ids(FROM_COUNTS[name][0], found)
    assert {each.data for each in found} == {"published"}


def test_what_must_come_out_is_claimed(claims):
    printed = {claim.id: claim.published for claim in claims}
    assert [printed[f"self_bias_{v}"] for v in VENDORS] == [30.0, 64.4, 33.1]
    assert printed["average_self_bias"] == 42.5
    assert printed["deviation_from_expected"] == 11.53
    assert printed["balance"] == 14.07
    assert (printed["consistency_vendors"], printed["consistency_judges"]) == (15.52, 15.96)
    assert [printed[f"bias_difference_{v}"] for v in VENDORS] == [8.75, 20.25, 11.5]
    assert [printed[f"pilot_bias_difference_{v}"] for v in VENDORS] == [20, 60, 10]
    assert [printed[f"excess_self_preference_{v}"] for v in VENDORS] == [7.19, 16.88, 17.19]
    assert [printed[f"third_party_log_odds_{v}"] for v in VENDORS] == [0.072, 0.477, 0.774]
    ids = Counter(claim.estimand for claim in claims)
    assert (ids["top1_rate"], ids["category_top1_rate"], ids["category_self_bias"]) == (18, 72, 24)
    assert (ids["tier_preference"], ids["score_mean"], ids["category_average_self_bias"]) == (6, 6, 8)
    tiers = {claim.id: claim for claim in claims if claim.id.startswith("tier_preference")}
    assert {claim.expect for id, claim in tiers.items() if "gemini_thinking" not in id[:31]} == {"not derivable"}


def test_what_does_not_hold_differs_and_says_why(claims):
    checked = check(claims, published_estimates()).set_index("id")
    expected = {
        "consistency_as_documented": 15.9589,
        "self_bias_aggregated_claude": 30.0,
        "self_bias_aggregated_gpt": 64.375,
        "self_bias_aggregated_gemini": 33.125,
        "bias_difference_gpt_earlier_table": 20.25,
    }
    differs = checked[checked["status"] == "differs"]
    assert dict(differs["recomputed"]) == pytest.approx(expected, abs=1e-4)
    assert "3 vendors" in checked.loc["consistency_as_documented", "reason"]
    assert "gpt_thinking's alone" in checked.loc["self_bias_aggregated_gpt", "reason"]
    assert math.isnan(checked.loc["ranked_answers", "recomputed"]) and checked.loc["ranked_answers", "reason"]


def test_published_counts_agree_with_each_other():
    counts = COUNTS
    top, cells = counts["blind_top1_by_judge"]["counts"], counts["blind_top1_by_category"]["counts"]
    assert {sum(row.values()) for row in top.values()} == {80}
    assert {sum(row.values()) for vendor in cells.values() for row in vendor.values()} == {20}
    for judges, v in product(VENDORS, VENDORS):
        assert sum(row[v] for row in cells[judges].values()) == sum(top[f"{judges}_{tier}"][v] for tier in TIERS)
    tiers = counts["blind_top1_by_tier"]["counts"]["gemini_thinking"]
    assert {v: sum(tiers[v].values()) for v in VENDORS} == top["gemini_thinking"]
    assert {sum(row.values()) for row in counts["pilot_top1_by_judge"]["counts"].values()} == {5}


def test_every_block_of_counts_says_where_it_is_from():
    blocks = [
        each for block in COUNTS.values() for each in ([block] if "source" in block else block["counts"].values())
    ]
    assert len(blocks) == len(COUNTS) + 1
    for block in blocks:
        assert set(block["source"]) == {"repository", "path", "commit"}
        # Of some sources of 2026 only the beginning is on record.
        assert len(block["source"]["commit"]) in ((8, 40) if "asked" in block else (40,))
        assert "facts only" in block["licence"]


def test_counts_are_those_of_the_public_data(real_data: Path):
    counts = COUNTS
    public = json.loads((real_data / "llm_eval" / "published_counts.json").read_text())
    blind = public["exp2_group4_blind"]
    assert counts["blind_top1_by_judge"]["counts"] == blind["top1_counts_by_judge"]
    assert counts["blind_top1_by_judge"]["source"]["commit"] == blind["source_commit"]
    cells = public["exp2_top1_counts_by_judge_vendor_and_category"]
    assert counts["blind_top1_by_category"]["counts"] == cells["counts"]
    for v, tier in product(VENDORS, TIERS):
        mean, sd = public["exp2_average_scores_gemini_thinking_judge"][f"{v}_{tier}"]
        assert counts["blind_scores"]["scores"]["gemini_thinking"][v][tier] == {"mean": mean, "sd": sd, "n": 80}
    for judge, row in public["exp1_old_run"]["top1_pct_by_judge"].items():
        pilot = counts["pilot_top1_by_judge"]["counts"][judge]
        assert {v: 20 * n for v, n in pilot.items()} == row


CLAIM = Claim(
    id="x", quantity="q", published=30.0, unit="%", source="s", estimand="self_bias", where={"vendor": "claude"}
)
ESTIMATE = Estimate("self_bias", {"vendor": "claude"}, 0.3, 0.23, 0.38, n=160, data="published")


def status(claim: Claim, *estimates: Estimate) -> tuple[str, float, str]:
    row = check([claim], estimates).iloc[0]
    return row["status"], row["recomputed"], row["reason"]


def changed(**fields) -> Claim:
    return Claim.model_validate({**CLAIM.model_dump(), **fields})


def test_the_tolerance_is_inclusive_and_in_printed_units():
    assert status(changed(published=30.06), ESTIMATE) == ("reproduced", 30.0, "")
    assert status(changed(published=30.0601), ESTIMATE)[0] == "differs"
    assert status(changed(published=29.94), ESTIMATE)[0] == "reproduced"
    # In floats 30.1 - 30 is a little more than 0.1.
    assert status(changed(published=30.1, tolerance=0.1), ESTIMATE)[0] == "reproduced"


def test_an_interval_excuses_only_a_replication():
    same = changed(published=32.5)
    assert status(same, ESTIMATE)[0] == "differs"
    other = changed(published=32.5, replication=True)
    assert status(other, ESTIMATE)[0] == "within interval"
    assert status(changed(published=40, replication=True), ESTIMATE)[0] == "differs"
    assert status(other, replace(ESTIMATE, low=NAN, high=NAN))[0] == "differs"


def test_only_estimates_of_the_same_data_id_and_place_count():
    for odd in (
        replace(ESTIMATE, data="simulated"),
        replace(ESTIMATE, id="other"),
        replace(ESTIMATE, where={"vendor": "claude", "hint": "none"}),
    ):
        found, value, reason = status(CLAIM, odd)
        assert found == "not comparable" and math.isnan(value)
        assert reason == "no estimate of self_bias[vendor=claude] from published data"
    found, value, reason = status(CLAIM, replace(ESTIMATE, value=NAN, method="did not converge"))
    assert (found, reason) == ("not comparable", "self_bias[vendor=claude] is not estimable did not converge")


def test_units_are_scaled_and_unfit_ones_refused():
    half = replace(ESTIMATE, value=0.5)
    assert status(changed(published=50, unit="pp"), replace(half, unit="pp"))[:2] == ("reproduced", 50)
    assert status(changed(published=50, unit="pp"), replace(half, unit="sd_pp"))[:2] == ("reproduced", 50)
    assert status(changed(published=0.5, unit="logit"), replace(half, unit="logit"))[:2] == ("reproduced", 0.5)
    with pytest.raises(ClaimError, match=r"claim x: unit '%', but self_bias\[vendor=claude\] comes in logit"):
        status(CLAIM, replace(half, unit="logit"))


def test_two_estimates_for_one_claim_are_an_error():
    with pytest.raises(ClaimError, match="claim x: 2 estimates"):
        status(CLAIM, ESTIMATE, ESTIMATE)


def test_the_reason_of_a_claim_is_kept_only_where_it_applies():
    claim = changed(published=32.5, expect="differs", reason="one tier only")
    assert status(claim, ESTIMATE)[2] == "one tier only"
    assert status(claim, replace(ESTIMATE, value=0.325))[::2] == ("reproduced", "")
    assert unexpected([claim], check([claim], [replace(ESTIMATE, value=0.325)]))["expect"].tolist() == ["differs"]


def test_a_summary_counts_statuses_and_exceptions_leave_out_what_came_out():
    claims = [CLAIM, changed(id="y", published=32.5), changed(id="z", published=33), changed(id="w", kind="derived")]
    checked = check(claims, [ESTIMATE])
    told = summary(claims, checked).splitlines()
    assert told[0] == f"- 3 numbers {KINDS['printed']}: 2 differs, 1 reproduced."
    assert told[1] == f"- 1 numbers {KINDS['derived']}: 1 reproduced."
    other = "(`y` differs, expected: reproduced; `z` differs, expected: reproduced)"
    assert told[2:] == [f"- **Not as `claims.yaml` expects: 2** {other}."]
    assert exceptions(checked)["published"].tolist() == [32.5, 33.0]


def test_a_summary_is_silent_on_what_comes_out_as_expected_and_short_on_many_that_do_not():
    known = changed(id="y", published=32.5, expect="differs", reason="one tier only")
    assert "expects" not in summary([CLAIM, known], check([CLAIM, known], [ESTIMATE]))
    many = [changed(id=f"wrong_{i}", published=32.5) for i in range(9)]
    told = summary(iter(many), check(many, [ESTIMATE])).splitlines()[-1]
    assert told.startswith("- **Not as `claims.yaml` expects: 9**") and told.endswith("; and 3 more).")
    assert told.count("differs, expected: reproduced") == 6
    now = changed(id="y", published=30.0, expect="differs", reason="one tier only")
    assert "`y` reproduced, expected: differs" in summary([now], check([now], [ESTIMATE]))


def lost(count: int, reason: str = "not printed", **changes) -> list[Claim]:
    start = {"expect": "not derivable", "estimand": None, "where": {}, "reason": reason} | changes
    return [changed(id=f"{reason.replace(' ', '_')}_{i}", **start) for i in range(count)]


def test_many_that_cannot_come_out_for_one_reason_are_one_row():
    wrong = [changed(id=f"wrong_{i}", published=32.5, expect="differs", reason="one tier only") for i in range(9)]
    shown = exceptions(check([*lost(7), *wrong, *lost(6, "other"), CLAIM], [ESTIMATE]))
    assert (
        shown["quantity"][0] == "7 claims, such as not_printed_0 and not_printed_1"
        and shown["reason"][0] == "not printed"
    )
    assert shown.loc[0, ["published", "recomputed"]].isna().all() and shown["unit"][0] == CLAIM.unit
    # What differs is told one by one, and so are few.
    assert shown["status"].tolist() == ["not derivable"] + 9 * ["differs"] + 6 * ["not derivable"]
    assert shown["published"][1:].notna().all()
    mixed = exceptions(check([*lost(4, "units"), *lost(4, "units", unit="score", quantity="q")][::-1][:0], [ESTIMATE]))
    assert mixed.empty and list(mixed.columns) == ["quantity", "published", "recomputed", "unit", "status", "reason"]


def test_no_claims_give_an_empty_frame():
    frame = check([], [ESTIMATE])
    assert frame.empty and tuple(frame.columns) == COLUMNS and unexpected([], frame).empty


ENTRY = "  - {id: a, quantity: q, published: 30.0, unit: '%', source: s, estimand: self_bias}\n"


SHAPE = "claims.yaml: expected one key, claims, with a list of entries"
WRONG = {
    "  - {id: a}\n": "claim 'a': line 2: key 'quantity' is missing; line 2: key 'published' is missing",
    f"{ENTRY}{ENTRY}": "claim 'a': line 3: this id is used twice",
    ENTRY.replace("source:", "sorce:"): "line 2: unknown key 'sorce'; valid keys: id, quantity, published",
    ENTRY.replace("'%'", "percent"): "line 2: unit = 'percent': Input should be '%', 'pp', 'logit', 'score'",
    ENTRY.replace("30.0", ".inf"): ".inf is not a finite number",
    ENTRY.replace("30.0", "thirty"): "line 2: published = 'thirty': Input should be a valid number",
    ENTRY.replace("30.0", "true"): "line 2: published = True: Input should be a valid number",
    ENTRY.replace("id: a", "id: Mine"): "line 2: id = 'Mine': String should match pattern '^[a-z0-9]",
    ENTRY.replace("id: a", "id: 7"): "entry 1: line 2: id = 7: Input should be a valid string",
    ENTRY.replace("quantity: q", "quantity: ''"): "line 2: quantity = '': String should have at least 1 character",
    ENTRY.replace("}", ",\n     tolerance: -1}"): "line 3: tolerance = -1: Input should be greater than or equal to 0",
    ENTRY.replace("}", ", expect: differs}"): "claim 'a': line 2: expects 'differs' and must say why in reason",
    ENTRY.replace("}", ", expect: maybe}"): "line 2: expect = 'maybe': Input should be 'reproduced', 'within interval'",
    ENTRY.replace(", estimand: self_bias", ""): "line 2: a claim has an estimand, unless it expects 'not derivable'",
    ENTRY.replace("}", ", expect: not derivable, reason: r}"): "then it has none",
    ENTRY.replace("}", ", expect: within interval, reason: r}"): "only a replication",
    ENTRY.replace("}", ", where: {slot: 1}}"): "line 2: where.slot = 1: Input should be a valid string",
    ENTRY + "  - text\n": "entry 2: line 3: expected named settings (id, quantity, published, ",
}


def told_of(folder: Path, text: str) -> str:
    """The error of a claims.yaml with this text."""
    path = folder / "claims.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as error:
        load_claims(path)
    return str(error.value)


@pytest.mark.parametrize("entries", WRONG)
def test_a_wrong_claim_is_told_with_its_line_as_faults_of_other_files_are(tmp_path: Path, entries: str) -> None:
    told = told_of(tmp_path, f"claims:\n{entries}")
    assert WRONG[entries] in told and "claims.yaml, " in told, told


@pytest.mark.parametrize("text", ["claims: {a: 1}\n", "- a\n", "", "claims: []\nmore: 1\n"])
def test_a_file_that_is_no_list_of_claims_is_told(tmp_path: Path, text: str) -> None:
    assert told_of(tmp_path, text).endswith(SHAPE)


def test_a_right_file_keeps_its_order(tmp_path: Path) -> None:
    path = tmp_path / "claims.yaml"
    path.write_text(f"claims:\n{ENTRY.replace('id: a', 'id: b')}{ENTRY}", encoding="utf-8")
    assert [claim.id for claim in load_claims(path)] == ["b", "a"]
