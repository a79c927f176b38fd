"""The tables of published analyses from files of one's own: files built from their counts give what they print."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import optimize

from helpers import paths, run
from helpers.biases import cognitive
from helpers.config import read_yaml
from tests.cells import run_cells
from tests.runs import GROUP_FILES

VENDORS, TIERS = ("claude", "gpt", "gemini"), ("fast", "thinking")
LETTERS = dict(zip("ABCDEF", (f"{vendor}_{tier}" for vendor in VENDORS for tier in TIERS), strict=True))


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def counts(name: str) -> dict[str, Any]:
    return read_yaml(paths.EXPERIMENTS / name / "published" / "counts.yaml")


# --- four groups ------------------------------------------------------------------------------------------------------


def whole_numbers(
    rows: Mapping[str, int], columns: Mapping[str, int], most: Callable[[str, str], int]
) -> dict[tuple[str, str], int]:
    """A table of whole numbers, from 0 to `most` of their row and column, with these sums of rows and columns."""
    cells = [(row, column) for row in rows for column in columns]
    sums = [[float(row == name) for row, _ in cells] for name in rows]
    sums += [[float(column == name) for _, column in cells] for name in columns]
    needed = [*rows.values(), *columns.values()]
    limits = optimize.LinearConstraint(np.array(sums), needed, needed)
    bounds = optimize.Bounds(0, np.array([most(*cell) for cell in cells]))
    found = optimize.milp(np.zeros(len(cells)), constraints=limits, integrality=np.ones(len(cells)), bounds=bounds)
    return {cell: round(value) for cell, value in zip(cells, found.x, strict=True)}


def group_records(own: Mapping[str, int], every: Mapping[str, int], cells: Mapping[str, int]) -> list[dict[str, Any]]:
    """Judgments of six judges on eighty questions whose first places are these counts."""
    mine = whole_numbers(own, cells, lambda vendor, category: 20)
    lost, won = {v: 160 - own[v] for v in VENDORS}, {v: every[v] - own[v] for v in VENDORS}
    votes = whole_numbers(lost, won, lambda judge, winner: 0 if judge == winner else 160)
    left = {v: [w for w in VENDORS for _ in range(votes[v, w])] for v in VENDORS}
    records = []
    for number, category in enumerate(cells):
        for vendor in VENDORS:
            first = mine[vendor, category]
            # The odd vote goes to the two judges of a vendor in turns.
            half = [first // 2 + (first % 2) * (number % 2), first // 2 + (first % 2) * (1 - number % 2)]
            for tier, wins in zip(TIERS, half, strict=True):
                for question in range(10):
                    winner = vendor if question < wins else left[vendor].pop()
                    letters = sorted(LETTERS, key=lambda letter: not LETTERS[letter].startswith(winner))
                    place = f"{category}_{question:02}"
                    mapping = {letter: f"ans_{place}_{name}" for letter, name in LETTERS.items()}
                    record = {"prompt_id": place, "judge_model": f"{vendor}_{tier}"}
                    records.append(record | {"ranking": letters, "mapping": mapping})
    return records


def test_group_files_of_the_published_counts_give_every_printed_number_and_group(tmp_path: Path) -> None:
    hinted, blind = counts("hinting_groups"), counts("mt_bench_blind")["blind_top1_by_judge"]["counts"]
    own = {**hinted["own_top1_by_group"]["counts"]}
    every = {**hinted["top1_by_group"]["counts"]}
    own["none"] = {v: sum(blind[f"{v}_{tier}"][v] for tier in TIERS) for v in VENDORS}
    every["none"] = {v: sum(row[v] for row in blind.values()) for v in VENDORS}
    cells = hinted["own_top1_by_category"]["counts"]
    for hint, name in GROUP_FILES.items():
        records = group_records(own[hint], every[hint], {category: row[hint] for category, row in cells.items()})
        (tmp_path / name).write_text(json.dumps(records), encoding="utf-8")
    run_cells(paths.NOTEBOOKS / "02_hinting_groups.ipynb", judgments=str(tmp_path), out=str(tmp_path / "out"))
    out = tmp_path / "out"

    def printed(table: str, key: str, *names: str) -> dict[str, dict[str, str]]:
        found = {"folder": {}, "published": {}}
        for row in rows_of(out / f"{table}.csv"):
            found[row["data"]][row[key]] = {name: row[name] for name in names}
        return found

    metrics = printed("best_metrics", "metric", *GROUP_FILES, "best")
    values = {
        "average_self_bias": (41.25, 43.33, 43.96, 42.50),
        "deviation_from_expected": (13.06, 13.47, 10.63, 11.53),
        "balance": (15.50, 14.96, 13.10, 14.07),
        "consistency_vendors": (15.57, 16.11, 14.00, 15.52),
    }
    for metric, row in values.items():
        for data in ("folder", "published"):
            shown = [float(metrics[data][metric][hint]) for hint in GROUP_FILES]
            assert shown == pytest.approx(row, abs=0.0051), (metric, data)
    best = {metric: row["best"] for metric, row in metrics["folder"].items()}
    assert [best[metric] for metric in values] == ["self", "full", "full", "full"]
    categories = printed("best_categories", "category", *GROUP_FILES, "best")
    for category, row in cells.items():
        for data in ("folder", "published"):
            shown = categories[data][category]
            shares = [100 * row[hint] / 60 for hint in GROUP_FILES]
            assert [float(shown[hint]) for hint in GROUP_FILES] == pytest.approx(shares, abs=1e-4)
            assert set(shown["best"].split(" = ")) == {hint for hint in row if row[hint] == min(row.values())}
    goals = printed("goals", "goal", "group", "recommended", "rationale", "trade-offs")
    groups = ["none", "self", "full", "competitors"]
    assert [row["group"] for row in goals["folder"].values()] == groups
    assert [row["group"] for row in goals["published"].values()] == groups
    assert [row["recommended"] for row in goals["folder"].values()] == ["none", *["no group"] * 3]
    assert "41.25 %" in goals["folder"]["bias mitigation"]["rationale"]
    assert "highest average self-bias 43.96 %" in goals["folder"]["balanced selection"]["trade-offs"]
    gaps = {row["metric"]: row for row in rows_of(out / "best_metrics.csv") if row["data"] == "folder"}
    assert all(float(row["low"]) < float(row["by chance"]) < float(row["high"]) for row in gaps.values())
    vendors = {row["vendor"]: row for row in rows_of(out / "group_vendors.csv") if row["data"] == "folder"}
    for vendor, row in vendors.items():
        shares = [own[hint][vendor] / 160 for hint in GROUP_FILES]
        assert [float(row[f"{hint}_value"]) for hint in GROUP_FILES] == pytest.approx(shares, abs=1e-6)


# --- patterns of score pairs ------------------------------------------------------------------------------------------


def test_a_file_of_the_published_patterns_gives_every_class_and_pattern(tmp_path: Path) -> None:
    block = counts("arena_hard_position_bias")["arena_hard_notebook"]
    said = [("B>>A", "A>>B")] * block["classes"]["no_bias"] + [("A>B", "B>>A")] * block["classes"]["weak_bias"]
    said += [(row["game_1"], row["game_2"]) for row in block["patterns"] for _ in range(row["pairs"])]
    source = tmp_path / block["judge"] / f"{block['candidate']}.jsonl"
    source.parent.mkdir()
    with source.open("w", encoding="utf-8") as file:
        for number, scores in enumerate(said):
            games = [{"score": None if score == "None" else score} for score in scores]
            category = "creative_writing" if number % 3 else "hard_prompt"
            line = {"uid": f"q{number}", "category": category, "judge": block["judge"], "model": block["candidate"]}
            file.write(json.dumps(line | {"baseline": block["baseline"], "games": games}) + "\n")
    run_cells(paths.NOTEBOOKS / "04_arena_hard_position_bias.ipynb", judgments=str(source), out=str(tmp_path / "out"))
    every = rows_of(tmp_path / "out" / "patterns.csv")
    overall = [row for row in every if row["category"] == "all"]
    significant = [row for row in overall if row["class"] == "significant_bias"]
    assert {(row["game_1"], row["game_2"]): int(row["pairs"]) for row in significant} == {
        (row["game_1"], row["game_2"]): row["pairs"] for row in block["patterns"]
    }
    assert significant[0]["pattern"] == "A>>B -> A>>B" and "A>>B -> None" in {row["pattern"] for row in significant}
    assert sum(int(row["pairs"]) for row in overall) == 748
    assert sum(float(row["share"]) for row in overall) == pytest.approx(1, abs=1e-5)
    rows = {row["category"]: row for row in rows_of(tmp_path / "out" / "class_counts.csv")}
    assert rows.keys() == {"all", "creative_writing", "hard_prompt"}
    names = ("no_bias", "weak_bias", "significant_bias", "any_bias", "acceptable_rate")
    assert [int(rows["all"][name]) for name in ("lines", *names)] == [748, 529, 78, 141, 219, 607]
    shares = [100 * float(rows["all"][f"{name}_share"]) for name in names]
    assert shares == pytest.approx([70.7, 10.4, 18.9, 29.3, 81.1], abs=0.06)
    for name in ("lines", *names):
        assert int(rows["all"][name]) == int(rows["creative_writing"][name]) + int(rows["hard_prompt"][name])
    by_category = sum(int(row["pairs"]) for row in every if row["category"] != "all")
    assert by_category == 748


# --- arrays of answers ------------------------------------------------------------------------------------------------

PRINTED = {
    ("anchoring_agnostic", "choices"): 0.4333333329716666,
    ("anchoring_specific", "choices"): 0.4999999993133334,
    ("halo_effect", "choices"): 0.4333333329716666,
    ("loss_aversion", "unbiased"): 0.33647691844311445,
    ("loss_aversion", "biased"): 0.9964669920030466,
    ("confirmation_bias", "arguments"): 0.251051051051051,
}


def blocks() -> dict[str, dict[str, Any]]:
    """The arrays of the published notebook, by names that tell them apart."""
    block = counts("cognitive_biases")["notebook"]
    gambles = {
        name: {"answer": [[x] for x in block["gambles"][name]], "lambdas": [[x] for x in block["gambles"]["lambdas"]]}
        for name in ("unbiased", "biased")
    }
    return {"choices": block["choices"], **gambles, "arguments": block["arguments"]}


def as_csv(arrays: Mapping[str, Any], path: Path, **more: list[Any]) -> Path:
    columns = {**arrays, **more}
    lines = [",".join(columns)]
    for row in zip(*columns.values(), strict=True):
        lines.append(",".join(" | ".join(map(str, x)) if isinstance(x, list) and len(x) > 1 else str(x) for x in row))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def read(path: Path | None) -> list[Any]:
    return cognitive.read_arrays(run.load_rows(path, "answers"))


def test_the_arrays_of_the_notebook_in_a_file_give_its_printed_values_with_intervals(tmp_path: Path) -> None:
    path = tmp_path / "arrays.json"
    path.write_text(json.dumps(blocks()), encoding="utf-8")
    found = cognitive.from_arrays(read(path))
    batches = {(e.id, e.where["answers"]): e for e in found if "test" not in e.where}
    assert batches.keys() == PRINTED.keys()
    for at, printed in PRINTED.items():
        each = batches[at]
        assert each.value == pytest.approx(printed, abs=1e-8) and each.data == "folder"
        assert each.low <= each.value <= each.high and each.method.startswith("rough: n = ")
    single = [e.value for e in found if e.id == "confirmation_bias" and "test" in e.where]
    assert single == pytest.approx([0, 0, 0.6, 1, 1 / 9, 0, 1 / 3], abs=1e-8)
    for name, block in blocks().items():
        flat = {key: [x[0] if isinstance(x, list) and len(x) == 1 else x for x in each] for key, each in block.items()}
        (same,) = read(as_csv(flat, tmp_path / f"{name}.csv"))
        rows = [dict(zip(flat, row, strict=True)) for row in zip(*flat.values(), strict=True)]
        (tmp_path / "rows.json").write_text(json.dumps(rows), encoding="utf-8")
        (again,) = read(tmp_path / "rows.json")
        values = {e.id: e.value for e in found if e.where["answers"] == name and "test" not in e.where}
        for arrays in (same, again):
            assert {e.id: e.value for e in cognitive.from_arrays([arrays]) if "test" not in e.where} == values


def test_the_sample_of_the_readme_is_read(tmp_path: Path) -> None:
    section = (paths.DATA / "README.md").read_text(encoding="utf-8").split("**Answers as arrays**")[1]
    path = tmp_path / "arrays.csv"
    path.write_text(section.split("```")[1].lstrip(), encoding="utf-8")
    (arrays,) = read(path)
    assert arrays.where["answers"] == "mine" and arrays.columns["options"].tolist() == [[10, 20, 30, 40], [2, 3, 4, 5]]


def test_rows_of_one_cluster_are_resampled_together(tmp_path: Path) -> None:
    block = {name: values * 4 for name, values in blocks()["choices"].items()}
    labels = [f"s{number}" for number in range(5)] * 4
    (plain,) = read(as_csv(block, tmp_path / "plain.csv"))
    (apart,) = read(as_csv(block, tmp_path / "clusters.csv", cluster=labels))
    halo = [next(e for e in cognitive.from_arrays([x]) if e.id == "halo_effect" and e.clusters) for x in (plain, apart)]
    assert [(e.n, e.clusters) for e in halo] == [(20, 20), (20, 5)] and halo[0].se < halo[1].se


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("control,treatment,options\n1,2,1|2\n1,,1|2\n", "line 3, record 2, treatment: holds nothing, expected"),
        ("control,treatment,options\n1,x,1|2\n", "line 2, record 1, treatment: holds 'x', expected a number"),
        ("control,treatment,options\n1,2,1|2\n3,2,1|2\n", "line 3, record 2: control: 3 is not among its options 1, 2"),
        ("control,treatment,options\n1,2,1|2\n1,2,1|2|3\n", "line 3, record 2, options: holds 3 numbers, expected 2"),
        ("control,treatment\n1,2\n", "line 2, record 1: columns control, treatment; a metric needs control, treatment"),
        ("answer,lambdas\n2,1.5\n", "line 2, record 1: answer: 2; an answer is 0 or 1"),
        ("answer,lambdas\n1\n", "line 2: 1 cells where the header has 2"),
        ("answer,lambdas\n", "no record in this file"),
        ("", "no record in this file"),
        ('{"answer": [1, 0], "lambdas": [2]}', "the document is neither a list of rows nor an object of arrays that"),
        ('{"a": {"answer": 1, "lambdas": [2]}}', "a is neither a list of rows"),
        ('[{"answer": 1, "lambdas": true}]', "record 1, lambdas: holds True, expected a number"),
        ('{"answer": [1', "not readable as JSON"),
        ('{"answer": [1], "answer": [1]}', "key 'answer' occurs twice"),
        ("[3]", "line 1, record 1: found 3 (int), expected an object"),
    ],
)
def test_arrays_that_cannot_be_read_are_refused_with_file_and_place(text: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / f"arrays.{'json' if text[:1] in ('{', '[') else 'csv'}"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError) as refused:
        read(path)
    assert str(refused.value).startswith(f"{path}") and problem in str(refused.value)


def test_a_file_of_arrays_that_is_not_there_or_no_text_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there is no such file"):
        read(tmp_path / "none.csv")
    (tmp_path / "bytes.csv").write_bytes(b"\xff\xfe\x00a")
    with pytest.raises(ValueError, match="UTF-16 text; save it as UTF-8"):
        read(tmp_path / "bytes.csv")
    assert read(None) == []


def test_the_notebook_shows_given_arrays_beside_the_published_ones(tmp_path: Path) -> None:
    path = tmp_path / "arrays.json"
    path.write_text(json.dumps(blocks()), encoding="utf-8")
    where = {"store": str(tmp_path / "s"), "out": str(tmp_path / "o"), "question_limit": 7}
    run_cells(paths.NOTEBOOKS / "05_cognitive_biases.ipynb", arrays=str(path), **where)
    table = rows_of(tmp_path / "o" / "notebook_metrics.csv")
    batches = {(row["metric"], row["answers"], row["data"]): row for row in table}
    for (metric, name), printed in PRINTED.items():
        row = batches[metric, name, "folder"]
        assert float(row["batch value_value"]) == pytest.approx(printed, abs=1e-5)
        assert row["batch value_low"] and "rough: n" in row["variation"]
    tests = rows_of(tmp_path / "o" / "array_rows.csv")
    assert [row["data"] for row in tests] == ["published"] * 24 + ["folder"] * 24
    numbers = json.loads((tmp_path / "o" / "numbers.json").read_text(encoding="utf-8"))
    assert numbers["provenance"]["parameters"]["arrays"] == "arrays.json", "no path of a machine"
    assert any(each["where"].get("source") == "arrays" for each in numbers["numbers"])
