"""A paper's parts: every number a macro with one name, prose without a typed number, sources, files that are kept."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
import pytest

from helpers import paper, paths
from helpers.config import experiment_names, load_config
from helpers.explain import sections
from helpers.macros import camel, macro_names
from helpers.paper import facts as paper_facts, layout, writing
from helpers.run import notebooks as run_notebooks
from helpers.run.notebooks import Result, available
from helpers.types import Estimate
from tests.kernels import recuse
from tests.paper_results import blind

NUMBER = re.compile(
    r"\\Recuse(Simulated)?Number\{([A-Za-z]+)\}\{(.*?)\}\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}\{([\d,]+)\}\{"
)
#: Declared sources that name nobody: what is our own, and notebooks that were published without a name or place.
NOBODY = (
    "own definition",
    "design of its own",
    "instrumental variables",
    "the placebo that damage alone passes",
    "notebook on the confidence",
    "omitted-variable formula",
    "sign test",
)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return blind(tmp_path_factory.mktemp("paper") / "mt_bench_blind", "icml")


@pytest.fixture(scope="module")
def made(results: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "recuse"
    done = paper.write("icml", folder, [str(results)], tell=lambda told: pytest.fail(told))
    assert done.notes == ()
    return folder


@pytest.fixture
def copy(results: Path, tmp_path: Path) -> Path:
    """A copy of the results that may be changed."""
    return shutil.copytree(results, tmp_path / "copy" / "mt_bench_blind")


def within(folder: Path) -> dict[Path, bytes]:
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def prose(text: str) -> str:
    """What LaTeX would print of a text besides its macros: no comments, commands, file names, keys and lengths."""
    text = re.sub(r"(?m)(?<!\\)%.*$", "", text)
    text = re.sub(r"\\(input|label|ref|citep|bibliography|includegraphics|usepackage)(\[[^\]]*\])?\{[^}]*\}", "", text)
    text = re.sub(r"\\(documentclass|fontsize|setlength|setcounter)(\[[^\]]*\])?(\{[^}]*\})*", "", text)
    return re.sub(r"p\{[\d.]+\\textwidth\}|\\[A-Za-z]+", "", text)


# --- numbers ----------------------------------------------------------------------------------------------------------


def test_every_number_is_a_macro_with_its_interval_and_n(made: Path, results: Path) -> None:
    text = (made / "numbers.tex").read_text(encoding="utf-8")
    kept = json.loads((results / "numbers.json").read_text())["numbers"]
    found = {name: rest for _, name, *rest in NUMBER.findall(text)}
    assert len(found) >= len(kept) > 300
    scale = {"rate": (100, 1), "pp": (100, 1), "sd_pp": (100, 2)}
    for each in kept:
        name = "MtBenchBlind" + camel(each["id"], *(each["where"][key] for key in sorted(each["where"])), each["data"])
        value, interval, n = found[name]
        factor, digits = scale.get(each["unit"], (1, 2))
        plain = re.sub(r"\\ensuremath\{(.)\}|\\,.*$", r"\1", value)
        if each["value"] is None:
            assert value == "not estimable"
            continue
        assert abs(float(plain) - each["value"] * factor) <= 0.51 * 10**-digits, (name, value)
        assert int(n.replace(",", "")) == each["n"]
        bounds = re.findall(r"-?\d+\.?\d*", re.sub(r"\\ensuremath\{(.)\}", r"\1", interval))
        if each["low"] is None:
            assert interval == "(no interval)"
        else:
            assert float(bounds[0]) == pytest.approx(each["low"] * factor, abs=0.51 * 10**-digits)
            assert float(bounds[1]) == pytest.approx(each["high"] * factor, abs=0.51 * 10**-digits)


def test_no_simulated_number_can_be_printed_without_saying_so(made: Path) -> None:
    text = (made / "numbers.tex").read_text(encoding="utf-8")
    rows = NUMBER.findall(text)
    assert {bool(marked) for marked, *_ in rows} == {True, False}
    assert all(bool(marked) == name.endswith("Simulated") for marked, name, *_ in rows)
    forms = text.split(r"\providecommand{\RecuseSimulatedNumber}")[1].split(r"\makeatother")[0]
    assert re.findall(r"endcsname\{(.*)\}%?", forms.replace("}}", "}}")) and forms.count(r"{\RecuseSimulated{") == 5
    assert "SIMULATED" in re.search(r"\\providecommand\{\\RecuseSimulated\}.*", text)[0]
    # Facts of a run that are outcomes of simulated judges say so too; what was asked is a fact.
    facts = dict(re.findall(r"\\newcommand\{\\(\w+)\}\{(.*)\}", text))
    assert facts["MtBenchBlindRunUnreadableShare"].startswith(r"\RecuseSimulated{")
    assert facts["MtBenchBlindRunQuestions"] == "24" and facts["MtBenchBlindRunJudgments"] == "144"


def test_names_of_macros_are_letters_and_defined_once(made: Path) -> None:
    text = (made / "numbers.tex").read_text(encoding="utf-8")
    every = [name + end for _, name, *_ in NUMBER.findall(text) for end in ("", "Interval", "Full", "N", "Clusters")]
    every += re.findall(r"^\\newcommand\{\\(.+?)\}\{", text, re.MULTILINE)
    assert len(every) == len(set(every)) and all(re.fullmatch("[A-Z][A-Za-z]+", name) for name in every)


def test_names_do_not_hang_on_what_else_is_in_the_paper(made: Path, results: Path, copy: Path) -> None:
    both = layout.load_all([f"again={copy}", str(results)])
    alone = {name for _, name, *_ in NUMBER.findall((made / "numbers.tex").read_text())}
    names = {name for _, name, *_ in NUMBER.findall(paper_facts.numbers_tex(both, {}))}
    assert alone < names and all(name.startswith("Again") for name in names - alone)


def test_two_results_of_one_name_are_refused_with_what_to_do(results: Path, copy: Path) -> None:
    with pytest.raises(ValueError, match=r"both called mt_bench_blind.*--results first=.* --results second="):
        layout.load_all([str(results), str(copy)])
    with pytest.raises(ValueError, match="named twice"):
        layout.load_all([str(results), f"x={results}"])
    with pytest.raises(ValueError, match="'1x' is no name"):
        layout.load_all([f"1x={results}"])


def test_names_that_become_one_in_letters_are_refused(results: Path, copy: Path) -> None:
    both = layout.load_all([f"a_b={results}", f"a-b={copy}"])
    with pytest.raises(ValueError, match=r"two numbers would both be called \\AB.*--results NAME=FOLDER"):
        paper_facts.numbers_tex(both, {})


# --- prose ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["methods.tex", "checklist.tex", "example.tex"])
def test_prose_holds_no_typed_number(made: Path, name: str) -> None:
    text = prose((made / name).read_text(encoding="utf-8"))
    if name == "example.tex":
        text = text.split(r"\begin{document}".replace("\\begin", ""))[-1]
    assert not re.findall(r".{0,40}\d.{0,20}", text)


@pytest.mark.parametrize("name", ["methods.tex", "checklist.tex", "example.tex"])
def test_every_macro_that_prose_uses_is_defined(made: Path, name: str) -> None:
    numbers = (made / "numbers.tex").read_text(encoding="utf-8")
    known = {
        macro + end for _, macro, *_ in NUMBER.findall(numbers) for end in ("", "Interval", "Full", "N", "Clusters")
    }
    known |= set(re.findall(r"\\(?:new|provide)command\{\\(\w+)\}", numbers + (made / "recuse.tex").read_text()))
    used = set(re.findall(r"\\((?:MtBench|Checklist|Recuse)[A-Za-z]+)", (made / name).read_text(encoding="utf-8")))
    assert used and used <= known


def test_the_methods_paragraph_says_what_was_done(made: Path) -> None:
    text = (made / "methods.tex").read_text(encoding="utf-8")
    needed = "Data Questions Judges JudgeNames Judgments Orders Repeats Parameters Unreadable Cluster Intervals Tests"
    for fact in [*needed.split(), "Spent", "Calls", "Budget", "Seed", "Inputs", "Title"]:
        assert rf"\MtBenchBlindRun{fact}{{}}" in text, fact
    numbers = (made / "numbers.tex").read_text(encoding="utf-8")
    told = dict(re.findall(r"\\newcommand\{\\MtBenchBlindRun(\w+)\}\{(.*)\}", numbers))
    assert told["Parameters"] == r"question\_limit = 24" and told["Seed"] == "42" and told["Repeats"].endswith("once.")
    assert all(rf"\texttt{{sim\_{name}}}" in told["JudgeNames"] for name in (r"gpt\_fast", r"claude\_thinking"))
    assert "Williams design" in told["Orders"] and "Holm" in told["Tests"] and told["Data"].startswith("SIMULATED")


def test_ids_that_a_provider_returned_stand_beside_the_judge(results: Path) -> None:
    mine = layout.load(results)
    told = {**mine.provenance, "data": "asked", "judges": {"gpt_x": ["gpt-x-2026-01-01", "gpt-x-2026-02-02"]}}
    text = paper_facts.numbers_tex([replace(mine, provenance=told)], {})
    named = re.search(r"RunJudgeNames\}\{(.*)\}", text)[1]
    assert "gpt-x-2026-01-01 and gpt-x-2026-02-02" in named and "model ids that they returned" in named


def test_what_nobody_wrote_down_is_left_out_of_the_methods_and_told_in_the_checklist(results: Path) -> None:
    mine = replace(layout.load(results), run=layout.RunRecord())
    text = paper_facts.methods_tex([mine])
    assert "Budget" not in text and "Commit" not in text and "Spent" not in text
    rows = dict(paper_facts.checklist([mine])[0])
    assert "Not recorded: spent, calls, budget." in rows["What did it cost?"]


def test_a_commit_that_files_differed_from_is_not_said_to_be_the_code_that_ran(results: Path) -> None:
    mine, commit = layout.load(results), "0123456789abcdef0123456789abcdef01234567"
    for suffix, told in (
        ("", r"\texttt{0123456789ab}"),
        ("-dirty", r"\texttt{0123456789ab} with changes that no commit holds"),
    ):
        ran = mine.run.model_copy(update={"commit": commit + suffix})
        named = paper_facts.numbers_tex([replace(mine, run=ran)], {})
        assert rf"\newcommand{{\MtBenchBlindRunCommit}}{{{told}}}" in named


def test_a_judge_of_whom_no_effect_would_be_found_is_not_said_to_have_a_smallest_one(results: Path) -> None:
    mine = layout.load(results)
    known = next(each for each in mine.found.lines if each.estimate.data == mine.provenance["data"])
    known = replace(known, measure="self-preference", verdict="not shown")

    def told(*sizes: float) -> str:
        lines = tuple(replace(known, judge=f"j{at}", smallest=size) for at, size in enumerate(sizes))
        done = paper_facts.checklist([replace(mine, found=mine.found.model_copy(update={"lines": lines}))])
        return dict(done[0])["Do judges prefer their own vendor or model?"]

    assert "not shown, effects from" in told(0.1, 0.2)
    assert "not shown and such a size exists, effects from" in told(0.1, float("nan"))
    assert "effects from" not in told(float("nan"))


def test_what_answers_cost_is_not_said_to_be_what_judgments_cost(results: Path) -> None:
    mine = layout.load(results)
    judgments, calls = mine.provenance["n"], sum(each.calls for each in mine.run.models)
    assert calls > judgments  # candidates were asked, too
    assert "All replies that were read, not verdicts alone, cost" in paper_facts.methods_tex([mine])


def test_published_verdicts_are_not_said_to_stand_in_our_orders(results: Path) -> None:
    mine = layout.load(results)
    text = paper_facts.methods_tex([replace(mine, provenance={**mine.provenance, "data": "hub"})])
    assert "RunOrders" not in text and "RunRepeats" not in text and "RunQuestions" in text


def test_the_checklist_answers_every_item_with_a_number_or_why_not(made: Path, results: Path) -> None:
    done = paper_facts.checklist([layout.load(results)])
    rows = dict(done[0])
    assert len(rows) == len(paper_facts.WORDS["items"]) + 1
    measured = rows["Do judges prefer their own vendor or model?"]
    assert r"\MtBenchBlindSelfPreferenceEffect" in measured and measured.startswith(r"\RecuseAllSimulated{")
    assert re.search(r"arena\\_hard\\_position\\_bias", rows["Does the place of an answer move verdicts?"])
    for question, answer in rows.items():
        assert "Not measured: " in answer or "Not recorded: " in answer or re.search(r"\\[A-Z][A-Za-z]+\{\}", answer), (
            question
        )


def test_experiments_that_items_name_are_there() -> None:
    assert {item["by"] for item in paper_facts.WORDS["items"] if "by" in item} <= set(experiment_names())


def test_a_measure_that_no_item_asks_for_gets_a_row_of_its_own(results: Path) -> None:
    mine = layout.load(results)
    line = next(each for each in mine.found.lines if each.verdict == "bias" or each.verdict == "not shown")
    line = replace(line, measure="moon phase", estimate=replace(line.estimate, data="simulated"))
    found = mine.found.model_copy(update={"lines": (*mine.found.lines, line)})
    rows = dict(paper_facts.checklist([replace(mine, found=found)])[0])
    assert "moon phase?" in rows and r"\ChecklistMoonPhase" in rows["moon phase?"]


# --- sources ----------------------------------------------------------------------------------------------------------


def test_every_declared_source_is_in_the_bibliography() -> None:
    declared = {each.source for section in sections() for each in section.estimands.values()}
    silent = [text for text in declared if not paper_facts.cited([text]) and not any(words in text for words in NOBODY)]
    assert declared and not silent, "experiments/sources.bib has no entry whose `named` stands in these"


def test_planned_tests_and_orders_of_every_experiment_are_told() -> None:
    for name in experiment_names():
        told = load_config(name).methods
        assert told["orders"].endswith(".") and told["tests"].endswith("."), f"experiments/{name}/config.yaml: methods"


def test_entries_say_who_what_and_when_and_are_cited_by_what_they_are_named() -> None:
    every = paper_facts.load_sources()
    assert paper_facts.SELF in every and len(every) > 25
    for key, each in every.items():
        assert "author = {" in each.bibtex and "title = {" in each.bibtex and "named" not in each.bibtex, key
        assert all(key in paper_facts.cited([f"as in {word} ({word})"]) for word in each.named), key


def test_the_bibliography_holds_what_the_results_use_and_no_more(made: Path) -> None:
    text = (made / "references.bib").read_text(encoding="utf-8")
    keys = set(re.findall(r"@\w+\{(\w+),", text))
    assert {"recuse", "llmeval", "holm1979", "wilson1927", "miller2024", "plackett1975"} <= keys
    assert not keys & {"malberg2025", "shi2024", "park2024"}
    (cite,) = re.findall(r"\\citep\{(.*?)\}", (made / "methods.tex").read_text(encoding="utf-8"))
    assert set(cite.split(",")) == keys


# --- folders and files ------------------------------------------------------------------------------------------------


def test_a_folder_without_numbers_says_which_folders_in_it_have_some(results: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"holds no numbers\.json; these folders in it do: mt_bench_blind"):
        layout.load(results.parent)
    with pytest.raises(ValueError, match=r"holds no numbers\.json; `recuse run`"):
        layout.load(tmp_path)


@pytest.mark.parametrize(
    ("file", "change", "told"),
    [
        ("numbers.json", {"numbers": [{"id": "x"}]}, "numbers.json: key 'numbers.0.where' is missing"),
        ("numbers.json", {"provenance": {}}, "numbers.json: key 'provenance.experiment' is missing"),
        ("numbers.json", {"protocol": "9"}, "numbers.json: protocol = '9': "),
        ("exhibits.json", {"figures": [{"name": "../evil"}]}, "exhibits.json: figures.0.name = '."),
        ("exhibits.json", {"tables": [{"name": "x", "caption": "", "columns": ["a"], "rows": [[1, 2]]}]},
         "a row of 2 cells under 1 columns"),
        ("exhibits.json", {"figures": [{"name": "x", "caption": "", "alt": "", "width": 3, "height": 0, "size": 8,
         "style": "icml"}]}, "figures.0.height = 0: "),
        ("run.json", {"models": [{"model": "m", "usd": 1.0}]}, "run.json: key 'models.0.calls' is missing"),
        ("run.json", {"account": [1]}, "run.json: "),
        ("run.json", {"left_out": {"questions": "x"}}, "run.json: left_out.questions = 'x': "),
        ("summary.json", {"models": "m"}, "summary.json: "),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_file_is_told_with_its_name(
    copy: Path, file: str, change: dict[str, Any], told: str
) -> None:
    content = json.loads((copy / file).read_text(encoding="utf-8"))
    (copy / file).write_text(json.dumps({**content, **change}), encoding="utf-8")
    with pytest.raises(ValueError, match=re.escape(told)):
        layout.load(copy)


def test_claims_that_are_no_table_of_claims_are_named(copy: Path) -> None:
    for content, told in (("", "no table of claims"), ("a,b\n1,2\n", "no column 'status'")):
        (copy / "claims.csv").write_text(content)
        with pytest.raises(ValueError, match=rf"claims\.csv: {told}"):
            layout.load(copy)


def test_the_same_results_give_the_same_bytes(made: Path, results: Path, tmp_path: Path) -> None:
    paper.write("icml", tmp_path / "again", [str(results)])
    assert within(tmp_path / "again") == within(made)


def test_what_somebody_wrote_is_not_replaced(results: Path, tmp_path: Path) -> None:
    folder = tmp_path / "recuse"
    folder.mkdir()
    (folder / "references.bib").write_text("mine")
    with pytest.raises(ValueError, match=r"references\.bib is there and not ours"):
        paper.write("icml", folder, [str(results)])
    assert {path.name for path in folder.iterdir()} == {"references.bib"}
    (folder / "references.bib").unlink()
    paper.write("icml", folder, [str(results)])
    (folder / "notes.txt").write_text("mine")
    paper.write("icml", folder, [str(results)])
    (folder / "example.tex").write_text("my paper")
    with pytest.raises(ValueError, match=r"changed since it was made: example\.tex"):
        paper.write("icml", folder, [str(results)])
    assert (folder / "example.tex").read_text() == "my paper" and (folder / "notes.txt").read_text() == "mine"
    paper.write("icml", folder, [str(results)], force=True)
    assert (folder / "example.tex").read_text() != "my paper" and (folder / "notes.txt").read_text() == "mine"


def test_what_an_earlier_paper_left_goes_and_a_record_removes_nothing_else(results: Path, tmp_path: Path) -> None:
    folder, outside = tmp_path / "recuse", tmp_path / "outside.tex"
    paper.write("icml", folder, [f"first={results}"])
    outside.write_text("mine")
    record = json.loads((folder / "paper.json").read_text())
    record["files"] |= {"../outside.tex": "0", str(outside): "0"}
    (folder / "paper.json").write_text(json.dumps(record))
    paper.write("icml", folder, [f"second={results}"])
    assert outside.read_text() == "mine"
    assert not list(folder.glob("*/first-*")) and list(folder.glob("figures/second-*.pdf"))


def test_names_that_are_taken_are_told_before_anything_is_drawn(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "redrawn", lambda *_: pytest.fail("drawn"))
    (tmp_path / "numbers.tex").write_text("mine")
    with pytest.raises(ValueError, match=r"numbers\.tex is there and not ours"):
        paper.write("acl", tmp_path, [str(results)])


def test_an_unknown_style_is_refused_before_anything_is_made(tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    code, _, told = recuse(monkeypatch, capsys, "paper", "--style", "aaai", "--to", str(tmp_path / "x"))
    assert (
        code == 2 and "no paper style 'aaai'; there are: neurips, icml, acl" in told and not (tmp_path / "x").exists()
    )


def test_the_command_says_what_it_wrote(results: Path, tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    words = ("paper", "--style", "icml", "--to", str(tmp_path / "x"), "--results", f"blind={results}")
    code, out, _ = recuse(monkeypatch, capsys, *words)
    files = [path for path in (tmp_path / "x").rglob("*") if path.is_file()]
    assert (
        code == 0
        and f"{len(files) - 1} files in {tmp_path / 'x'}" in out
        and (tmp_path / "x" / "numbers.tex").is_file()
    )


# --- drawing again ----------------------------------------------------------------------------------------------------


def _runs(change: float = 0.0) -> Any:
    """Stands for the runner: writes the same results in the style and into the folder that it is given."""
    seen: list[dict[str, Any]] = []

    def run_all(notebooks: list[Path], parameters: dict[str, Any], processes: int) -> list[Result]:
        seen.append(dict(parameters))
        folder = blind(Path(parameters["out"]), parameters["figure_style"])
        if change:
            content = json.loads((folder / "numbers.json").read_text())
            content["numbers"][3]["value"] += change
            (folder / "numbers.json").write_text(json.dumps(content))
        return [Result(notebooks[0].stem, folder, 0.0)]

    return run_all, seen


def test_figures_of_another_style_are_drawn_again_and_the_numbers_stay(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_all, seen = _runs()
    monkeypatch.setattr(writing, "run_all", run_all)
    told: list[str] = []
    paper.write("acl", tmp_path / "x", [str(results)], tell=told.append)
    assert told == ["mt_bench_blind: running its notebook again for figures of acl (1 of 1)"]
    (given,) = seen
    assert given["question_limit"] == 24 and given["figure_style"] == "acl" and given["budget_usd"] == 0.0
    assert "judgments" not in given and Path(given["out"]).is_relative_to(tmp_path / "x")
    assert not [path for path in (tmp_path / "x").iterdir() if path.name.startswith(".")], "the workshop is cleared"


def test_replies_that_were_paid_are_only_read(results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_all, seen = _runs()
    monkeypatch.setattr(writing, "run_all", run_all)
    mine = layout.load(results)
    writing.redrawn(replace(mine, provenance={**mine.provenance, "data": "asked"}), paper.PAGES["acl"], tmp_path)
    assert seen[0]["judgments"] == "stored" and seen[0]["budget_usd"] == 0.0


def test_a_run_that_gives_other_numbers_is_refused(results: Path, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(writing, "run_all", _runs(change=0.01)[0])
    with pytest.raises(
        ValueError, match=r"gives other numbers \(1 of \d+, the first: .* was .*, is .*-p figure_style acl"
    ):
        paper.write("acl", tmp_path / "x", [str(results)], tell=lambda told: None)


def test_a_notebook_that_fails_is_told(results: Path, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(writing, "run_all", lambda *given: [Result("01", tmp_path, 0.0, "cell [3] failed")])
    with pytest.raises(ValueError, match=r"cannot be drawn again: cell \[3\] failed; run 01_mt_bench_blind yourself"):
        paper.write("acl", tmp_path / "x", [str(results)], tell=lambda told: None)


def test_parameters_of_a_report_are_literals_and_nothing_in_it_runs(tmp_path: Path) -> None:
    book = nbformat.v4.new_notebook()
    lines = "# Parameters\njudges = ['a', 'b']\nquestions = 'path/to/x'\nquestion_limit = 5\nrepeats = None"
    cell = nbformat.v4.new_code_cell(lines, metadata={"tags": ["injected-parameters"]})
    book.cells = [nbformat.v4.new_code_cell("seed = 7"), cell]
    nbformat.write(book, tmp_path / "report.ipynb")
    expected = {"judges": ["a", "b"], "questions": "path/to/x", "question_limit": 5, "repeats": None}
    tags = (run_notebooks.INJECTED,)
    assert run_notebooks.parameters(run_notebooks.load(tmp_path / "report.ipynb"), tags) == expected
    cell.source = "seed = __import__('os').abort()\nrepeats = 3"
    assert run_notebooks.parameters(book, tags) == {"repeats": 3}
    for source in ("seed = (", "seed = '\x00'"):
        cell.source = source
        assert run_notebooks.parameters(book, tags) == {}


def test_the_last_digit_of_another_machine_is_no_difference() -> None:
    one = Estimate("x", {"judge": "a"}, 0.123456, 0.1, 0.2, n=10, data="asked")
    assert writing.differences([one], [replace(one, value=0.123457)]) == ""
    assert "1 of 1, the first: x (judge a)" in writing.differences([one], [replace(one, value=0.1244)])
    assert "1 are in one of them only" not in writing.differences([one], [replace(one, n=11)]) != ""
    assert "2 are in one of them only" in writing.differences([one], [replace(one, id="y")])


def test_results_that_no_notebook_makes_keep_their_numbers_and_say_what_is_left_out(copy: Path, tmp_path: Path) -> None:
    content = json.loads((copy / "numbers.json").read_text())
    content["provenance"]["experiment"] = "analyze"
    (copy / "numbers.json").write_text(json.dumps(content))
    done = paper.write("acl", tmp_path / "x", [str(copy)])
    (note,) = done.notes
    assert "self_preference" in note and "--figure-style acl" in note
    assert not list((tmp_path / "x" / "figures").glob("*.pdf")) and list((tmp_path / "x" / "tables").glob("*.tex"))


def test_only_the_named_figures_and_tables_are_made_and_no_other_notebook_runs(
    results: Path, copy: Path, made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_all, seen = _runs()
    monkeypatch.setattr(writing, "run_all", run_all)
    places, folder = [f"a={results}", f"b={copy}"], tmp_path / "x"
    paper.write("acl", folder, places, tell=lambda told: None, only=["b-self_preference", "a-metrics"])
    assert [Path(given["out"]).name for given in seen] == ["b"], "a table needs no notebook"
    assert {path.name for path in folder.glob("*/*")} == {
        "b-self_preference.tex",
        "b-self_preference.pdf",
        "a-metrics.tex",
    }
    paper.write("acl", folder, places, tell=lambda told: None, only=["b-self_preference"])
    assert {path.name for path in folder.glob("*/*.tex")} == {"b-self_preference.tex"}
    paper.write("icml", folder, [str(results)], only=["mt_bench_blind-self_preference"])
    same = ("numbers.tex", "methods.tex", "checklist.tex", "references.bib", "recuse.tex")
    assert all((folder / name).read_bytes() == (made / name).read_bytes() for name in same)
    for name, told in (("c-x", "--only c-x: expected RESULTS-NAME"), ("a-x", "--only a-x: no figure or table")):
        with pytest.raises(ValueError, match=told):
            paper.write("icml", folder, places, only=[name])


@pytest.mark.slow
def test_the_command_draws_a_run_again_with_its_own_notebook(tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    given = ("-p", "question_limit", "12", "-p", "out", str(tmp_path / "run"), "-p", "store", str(tmp_path / "replies"))
    assert recuse(monkeypatch, capsys, "run", "05_cognitive_biases", *given)[0] == 0
    words = ("paper", "--style", "neurips", "--to", str(tmp_path / "x"), "--results", str(tmp_path / "run"))
    code, out, told = recuse(monkeypatch, capsys, *words)
    assert code == 0, told
    assert "files in" in out and "running its notebook again for figures of neurips" in told
    assert len(list((tmp_path / "x" / "figures").glob("*.pdf"))) >= 5
    assert set(available()) and paths.FIGURES.is_dir()


def test_names_of_macros_are_those_of_the_results_own_numbers_tex(made: Path, results: Path) -> None:
    own = set(re.findall(r"\\newcommand\{\\(\w+)\}", (results / "numbers.tex").read_text(encoding="utf-8")))
    assert own and own <= {name for _, name, *_ in NUMBER.findall((made / "numbers.tex").read_text(encoding="utf-8"))}
    mine = layout.load(results)
    assert set(macro_names("mt_bench_blind", list(mine.estimates))) == own
