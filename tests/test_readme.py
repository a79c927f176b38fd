"""What README, docs and SECURITY.md say in numbers, commands and promises is what the code gives."""

from __future__ import annotations

import ast
import json
import re
import shlex
from collections import Counter
from pathlib import Path

import click
import pytest
import yaml
from click.testing import CliRunner
from scipy.stats import binomtest

from helpers import claims, paths
from helpers.__main__ import main
from helpers.biases import position, top_choice
from helpers.biases.position.findings import contrasts
from helpers.config import COMMON, STYLES, experiment_names, load_config, read_yaml
from helpers.datasets.hub import ANSWER_FILES, ERROR_FILES, JUDGMENT_FILES
from helpers.run.notebooks import available, collects, experiment_of
from helpers.run.sources import WORDS as SOURCE_WORDS
from helpers.services import SERVICES
from tests.case_tables import load_cases
from tests.pages import FLAT, PAGES

CASES = load_cases("readme")

FOLDER = paths.EXPERIMENTS / "mt_bench_blind"
HINTING = paths.EXPERIMENTS / "hinting_groups"
QUALITY = paths.EXPERIMENTS / "quality_self_preference"
ARENA = paths.EXPERIMENTS / "arena_hard_position_bias"
DATA = (paths.DATA / "README.md").read_text(encoding="utf-8")


def test_the_headline_of_an_audit_is_that_of_the_command(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, ["audit", "--model", "sim_gpt_fast", "--store", str(tmp_path / "replies")])
    (said,) = (line for line in done.stdout.splitlines() if line.startswith("SIMULATED"))
    assert "recuse audit --model sim_gpt_fast " in FLAT and f"```text {said} ```" in FLAT


@pytest.fixture(scope="module")
def published():
    return top_choice.from_published(read_yaml(FOLDER / "published" / "counts.yaml"))


@pytest.mark.parametrize("vendor", ["claude", "gpt", "gemini"])
def test_the_headline_numbers_are_those_of_the_published_counts(published, vendor: str) -> None:
    (excess,) = top_choice.pick(published, "excess_self_preference", vendor=vendor)
    value, low, high = (f"{100 * number:.1f}" for number in (excess.value, excess.low, excess.high))
    assert re.search(
        rf"{vendor.title() if vendor != 'gpt' else 'GPT'}[^.]*? {value} pp (more often )?\[{low}, {high}\]", FLAT
    )


def test_the_number_of_claims_that_do_not_come_out_is_the_readme_s(published) -> None:
    said = claims.load_claims(FOLDER / "claims.yaml")
    checked = claims.check(said, published)
    # Of LLM-Eval; those of judges of 2025 and 2026 have sources of their own.
    llm_eval = {claim.id for claim in said if claim.kind == "printed" and not claim.id.startswith("recent_")}
    printed = checked[checked["id"].isin(llm_eval)]
    of = printed["status"].value_counts()
    told = f"Of {len(printed)} printed numbers that do not repeat the counts themselves {of['reproduced']} come out, "
    assert f"{told}{of['differs']} differ and {of['not derivable']} follow from nothing published" in FLAT
    changes = " ".join((paths.ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split())
    assert f"{len(checked)} published numbers (or numbers derived" in changes
    for folder in (paths.EXPERIMENTS / name for name in experiment_names() if name != FOLDER.name):
        said = claims.load_claims(folder / "claims.yaml")
        assert f"{len(said)} published numbers checked" in changes, folder.name


def test_the_numbers_of_the_hinted_groups_are_those_of_the_published_counts() -> None:
    counts = read_yaml(HINTING / "published" / "counts.yaml")
    blind = read_yaml(FOLDER / "published" / "counts.yaml")["blind_top1_by_judge"]["counts"]
    own = {hint: sum(row.values()) for hint, row in counts["own_top1_by_group"]["counts"].items()}
    by_vendor = {
        v: sum(row[v] for judge, row in blind.items() if judge.startswith(v)) for v in ("claude", "gpt", "gemini")
    }
    own["none"] = sum(by_vendor.values())
    told = "in {none} blind, {self} when told which answers were its own vendor's, {competitors} when told the"
    assert told.format(**own) in FLAT and "competitors', {full} when told all".format(**own) in FLAT
    groups = counts["own_top1_by_group"]["counts"].values()
    farthest = max(abs(row[vendor] - by_vendor[vendor]) / 160 for row in groups for vendor in by_vendor)
    assert f"single vendors moved by up to {100 * farthest:.1f} pp" in FLAT

    def most(net: int) -> int:
        """The largest number of changed pairs, of 480, at which a net change of `net` has p < 0.05 (exact McNemar)."""
        ways = [n for n in range(net, 481, 2) if binomtest((n + net) // 2, n).pvalue < 0.05]
        return max(ways, default=0)

    first, second, last = (most(abs(own[hint] - own["none"])) for hint in ("self", "competitors", "full"))
    assert f"under the first hint would be significant only if at most {first} of 480 pairs changed sides" in FLAT
    assert second == 0 and f"under the last only if at most {last} did, under the second never" in FLAT


def test_the_numbers_of_the_replication_are_those_of_its_counts() -> None:
    counts = read_yaml(QUALITY / "published" / "counts.yaml")

    def of(block: str, phase: str) -> tuple[int, int]:
        rows = counts[block]["counts"][phase]
        wrong = sum(row["records"] - row["own_right"] for row in rows)
        return sum(row["own_wrong_selected"] for row in rows), wrong

    (before, n), (first, _) = (of("raw_filtered_before", phase) for phase in ("before", "after"))
    again, kept = of("raw_filtered_before_and_after", "after")
    last = again + (n - kept) - (first - again)
    assert f"Of {n} pairs in which that answer is wrong" in FLAT and f"the judge picked it in {before} before" in FLAT
    assert f"the reports have {first} (one order, own answer first) or {again} of the {kept} on which" in FLAT
    assert f"with the own answer last it follows to be {last}" in FLAT
    rates = [100 * k / n for k, n in (of("official_unfiltered", phase) for phase in ("before", "after"))]
    assert f"one judge went from {rates[0]:.1f} % to {rates[1]:.1f} %" in FLAT
    said = claims.load_claims(QUALITY / "claims.yaml")
    printed = [claim for claim in said if claim.kind == "printed"]
    status = Counter(claim.expect for claim in printed)
    assert set(status) == {"reproduced", "differs"} and status["differs"] == 1
    told = f"Of {len(printed)} printed numbers (most of them shares of counts printed beside them) "
    assert f"{told}{status['reproduced']} come out and one differs" in FLAT


def test_the_numbers_of_the_orders_are_those_of_the_published_counts() -> None:
    counts = read_yaml(ARENA / "published" / "counts.yaml")
    estimates = position.from_published(counts)
    effects = {(e.where["judge"], e.where["candidate"]): e for e in estimates if e.id == "first_position_effect"}

    def told(judge: str, candidate: str, sign: int = 1) -> str:
        each = effects[judge, candidate]
        ends = sorted(100 * sign * bound for bound in (each.low, each.high))
        return f"{100 * sign * each.value:.1f} pp [{ends[0]:.1f}, {ends[1]:.1f}]"

    assert f"Of {len(counts['arena_hard']['counts'])} files of published Arena-Hard verdicts" in FLAT
    assert f"and {len(counts['llmbar']['counts'])} evaluators of [LLMBar]" in FLAT
    means = {at: e for at, e in effects.items() if at[0] == "ensemble"}
    p = {(e.estimate.where["judge"], e.estimate.where["candidate"]): e.p for e in contrasts(estimates)}
    found = [at for at in means if p[at] < 0.05 and means[at].value > 0]
    tested = [at for at in means if p[at] == p[at]]
    assert f"favour the first place on {len(found)} of {len(tested)} models that could be tested, by up to" in FLAT
    assert told(*max(means, key=lambda at: means[at].value)) in FLAT
    assert (
        f"gemini-2.5 on qwq-32b does by {told('gemini-2.5', 'qwq-32b')}, of {141 / 748:.1%}".replace("%", " %") in FLAT
    )
    assert f"by {told('gemini-pro', '30 models', -1)}" in FLAT
    (agreed,) = [e for e in estimates if e.id == "position_consistency" and e.where["judge"] == "gpt-4-0613"]
    assert f"gpt-4-0613 changes {100 * (1 - agreed.value):.1f} % of its verdicts" in FLAT
    assert not p["gpt-4-0613", "30 models"] < 0.05
    at = {(e.where["fit"], e.where["model"]): e.value for e in estimates if e.id == "leaderboard_contrast"}
    up, down = ([at[fit, model] for fit in ("intercept", "line")] for model in ("gemini-2.5", "gpt-4.1"))
    assert f"gemini-2.5 is {up[0]:.2f} logits up and gpt-4.1 {-down[0]:.2f} down" in FLAT
    assert f"({up[1]:.2f} and {-down[1]:.2f} with a slope)" in FLAT
    assert f"{len(effects) - len(counts['llmbar']['counts'])} published comparisons" in FLAT


@pytest.mark.parametrize("name", PAGES)
def test_every_link_of_a_page_leads_to_a_file_and_a_heading(name: str) -> None:
    folder = paths.ROOT if name == "README.md" else paths.ROOT / "docs"
    for link in set(re.findall(r"\]\(([^)]+)\)", PAGES[name])):
        page, _, place = link.partition("#")
        assert link.startswith("https://") or (folder / (page or name)).exists(), link
        if place and not link.startswith("https://"):
            text = (folder / (page or name)).read_text(encoding="utf-8")
            headings = [re.sub(r"[^\w -]", "", each.lower()) for each in re.findall(r"^#+ (.+)$", text, re.MULTILINE)]
            assert place in [heading.replace(" ", "-") for heading in headings], link


def test_the_front_page_is_short_and_links_every_page() -> None:
    assert len(PAGES["README.md"].splitlines()) <= 150
    assert all(f"docs/{name}" in PAGES["README.md"] for name in PAGES if name != "README.md")


def test_every_number_of_a_finding_on_the_front_page_stands_on_the_page_of_findings() -> None:
    (findings,) = re.findall(r"## Six findings.*?(?=\*\*What is simulated)", PAGES["README.md"], re.DOTALL)
    numbers = re.findall(r"\d+\.\d+|\b\d{2,}\b", findings)
    page = PAGES["findings.md"]
    assert len(numbers) > 20 and [number for number in numbers if number not in page] == []


@pytest.mark.parametrize("command", sorted(set(re.findall(r"\.venv/bin/recuse (\w+)", FLAT))))
def test_every_command_exists(command: str) -> None:
    assert CliRunner().invoke(main, [command, "--help"]).exit_code == 0


EXAMPLES = [line for text in paths.load_table("commands/examples.toml").values() for line in text.strip().splitlines()]


@pytest.mark.parametrize("line", EXAMPLES)
def test_every_example_below_a_help_text_can_be_typed(line: str) -> None:
    recuse, name, *words = shlex.split(line)
    command = main.commands[name]
    assert recuse == "recuse" and line in CliRunner().invoke(main, [name, "--help"]).stdout
    if isinstance(command, click.Group):
        command, *words = command.commands[words[0]], *words[1:]
    command.make_context(name, words)  # which refuses what it cannot parse


def test_every_command_has_an_example() -> None:
    assert {*paths.load_table("commands/examples.toml")} == {*main.commands}


def parameter_table() -> dict[str, tuple[str, str]]:
    """Default and notebooks of each parameter in the README's table."""
    table = PAGES["run.md"].split("| parameter | default | notebooks | meaning |")[1].split("\n\n")[0]
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in table.splitlines() if row.startswith("| `")]
    assert len({row[0] for row in rows}) == len(rows) and all(row[3] for row in rows)
    return {row[0].strip("`"): (row[1].strip("`"), row[2]) for row in rows}


def test_the_table_of_parameters_is_that_of_the_code() -> None:
    asking = {name: path for name, path in available().items() if not collects(path)}
    notebooks = {name.partition("_")[0]: load_config(experiment_of(path)) for name, path in asking.items()}
    own = {number: {**COMMON, **config.parameters} for number, config in notebooks.items()}
    table = parameter_table()
    assert set(table) == {name for parameters in own.values() for name in parameters}
    for name, (default, where) in table.items():
        holders = [number for number, parameters in own.items() if name in parameters]
        assert where == ("all" if len(holders) == len(own) else ", ".join(holders)), name
        for number in holders:
            assert yaml.safe_load(default) == own[number][name], f"{name} of {number}"


def test_the_values_of_the_table_are_those_that_the_code_knows() -> None:
    rows = {row.split("`")[1]: row for row in PAGES["run.md"].splitlines() if row.startswith("| `")}
    for hint in read_yaml(paths.EXPERIMENTS / "hinting_groups" / "config.yaml")["kinds"]["hints"]:
        assert re.search(rf"\b{hint}\b", rows["hints"]), hint
    assert all(f"`{style}`" in rows["figure_style"] for style in STYLES)
    for parameter, words in SOURCE_WORDS.items():
        assert all(f"`{word}`" in rows[parameter] for word in words), parameter


def test_every_variable_that_may_hold_a_key_is_named() -> None:
    example = (paths.ROOT / ".env.example").read_text(encoding="utf-8")
    for service in SERVICES.values():
        assert all(name in FLAT and name in example for name in service.keys), service.keys
        assert service.address in example
    assert SERVICES["google"].keys[0] == "GOOGLE_API_KEY", ".env.example says that this one counts"


def test_the_rule_of_the_control_group_is_that_of_the_config() -> None:
    days = load_config("hinting_groups").max_age_days
    assert f"at most `max_age_days` of config.yaml, {days}, older); otherwise it is sampled again" in FLAT


def test_the_models_of_the_examples_exist() -> None:
    models = read_yaml(paths.MODELS)
    named = re.findall(r"six='\[([^\]]+)\]'", FLAT)[0].split(", ")
    assert len(named) == 6 and set(named) <= set(models)
    five = re.findall(r"five='\[([^\]]+)\]'", FLAT)[0].split(", ")
    assert len(five) == 5 and set(five) <= set(models) and f"`{', '.join(five)}`" in FLAT


# --- data/README.md ---------------------------------------------------------------------------------------------------


def test_every_known_file_of_judgments_is_listed_with_its_hint() -> None:
    rows = [row for row in DATA.splitlines() if row.startswith("| `")]
    for name, condition in JUDGMENT_FILES.items():
        (row,) = (row for row in rows if f"`{name}`" in row)
        assert f"| `{condition}`:" in row, name
    for name in (*ERROR_FILES, "answers_new.json", "answers.json"):
        assert f"`{name}`" in DATA
    assert {"answers_new.json", "answers.json"} < set(ANSWER_FILES)


def test_the_interval_of_a_metric_is_what_the_line_calls() -> None:
    (given,) = re.findall(r"`(from helpers\.biases\.cognitive import \w+)`", FLAT)
    (call,) = re.findall(r"`(\w+\(\)\.interval\([^`]*\))`", FLAT)
    names: dict[str, object] = {"scenarios": [i // 2 for i in range(40)], "options": [[0, 5, 10]] * 40}
    names |= {"control": [[5]] * 40, "treatment": [[5 + 5 * (i % 4 > 0)] for i in range(40)], "anchor": [[10]] * 40}
    exec(given, names)
    found = eval(call, names)
    # Three of four move all the way: |10 - 5| / 5.
    assert found.value == pytest.approx(0.75) and found.clusters == 20 and found.low < 0.75 < found.high


# --- SECURITY.md ------------------------------------------------------------------------------------------------------

PAGE = (paths.ROOT / "SECURITY.md").read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in row.strip("|").split("|")] for row in PAGE.splitlines() if row.startswith("| ")][1:]
PROMISES = [row for row in ROWS if not row[0].startswith("**")]


def test_the_page_is_a_table_of_promises_each_with_its_tests() -> None:
    assert len(PROMISES) >= 25 and all(len(row) == 2 for row in ROWS)
    assert len({promise for promise, _ in PROMISES}) == len(PROMISES)
    for promise, tests in PROMISES:
        assert promise.endswith(".") and re.fullmatch(r"(`tests/[\w/]+\.py::test_\w+` ?)+", tests), promise


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`(tests/[^`]+)`", PAGE))))
def test_each_named_test_exists(name: str) -> None:
    file, _, test = name.partition("::")
    tree = ast.parse((paths.ROOT / file).read_text(encoding="utf-8"))
    defined = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    assert not test or test in defined, f"{file} has no test {test}: correct SECURITY.md or put the test back"


# --- what could run ---------------------------------------------------------------------------------------------------

#: Modules that turn bytes into objects or code, or start a shell.
FORBIDDEN_MODULES = {
    "pickle",
    "cPickle",
    "dill",
    "cloudpickle",
    "joblib",
    "shelve",
    "marshal",
    "jsonpickle",
    "code",
    "pty",
}
FORBIDDEN_NAMES = {"eval", "exec", "compile", "__import__"}
#: Methods of pandas, numpy and torch that unpickle or evaluate text; `system` and `popen` are the shell's.
FORBIDDEN_METHODS = {"read_pickle", "to_pickle", "eval", "unsafe_load", "full_load", "system", "popen"}
#: What makes a loader of yaml safe: nothing but plain values comes out of it.
SAFE = {"SafeLoader", "CSafeLoader"}


def runs(source: str) -> list[str]:
    """Each call or import in a source by which a text could run, as `line: what`."""
    tree, found = ast.parse(source), []
    safe = _safe_loaders(tree)
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [each.name.partition(".")[0] for each in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [(node.module or "").partition(".")[0]]
        found += [f"{node.lineno}: import {name}" for name in names if name in FORBIDDEN_MODULES]
        if not isinstance(node, ast.Call):
            continue
        called, words = _called(node.func), {word.arg: word.value for word in node.keywords}
        owner, _, method = called.rpartition(".")
        bad = called in FORBIDDEN_NAMES or (bool(owner) and method in FORBIDDEN_METHODS)
        bad |= called in ("yaml.load", "yaml.load_all") and not safe & {
            ast.unparse(each).rpartition(".")[2] for each in (*node.args[1:], *words.values())
        }
        bad |= method == "query" and not (node.args and isinstance(node.args[0], ast.Constant))
        bad |= any(word in words and not _is(words[word], False) for word in ("allow_pickle", "shell"))
        bad |= "trust_remote_code" in words and not _is(words["trust_remote_code"], False)
        if bad:
            found.append(f"{node.lineno}: {ast.unparse(node)}")
    return found


def _called(node: ast.AST) -> str:
    """The dotted name of what is called; what it is called on, where that is no name, is `?`."""
    if isinstance(node, ast.Attribute):
        return f"{_called(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else "?"


def _safe_loaders(tree: ast.AST) -> set[str]:
    """The names of yaml's safe loaders in a module: classes that come from one, and arguments of such a type."""
    safe = set(SAFE)
    for node in ast.walk(tree):  # a class stands before those that come from it
        if isinstance(node, ast.ClassDef) and safe & {ast.unparse(base).rpartition(".")[2] for base in node.bases}:
            safe.add(node.name)
    given = [node for node in ast.walk(tree) if isinstance(node, ast.arg) and node.annotation]
    return safe | {each.arg for each in given if ast.unparse(each.annotation) in {f"type[{name}]" for name in safe}}


def _is(node: ast.AST, value: object) -> bool:
    return isinstance(node, ast.Constant) and node.value is value


def sources() -> dict[str, str]:
    """Every module of the package and every notebook's code, by where it stands."""
    code = {str(path.relative_to(paths.ROOT)): path.read_text(encoding="utf-8") for path in _modules()}
    for path in paths.NOTEBOOKS.glob("*.ipynb"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        for number, cell in enumerate(cells):
            if cell["cell_type"] == "code":
                code[f"{path.name}, cell {number}"] = "".join(cell["source"])
    return code


def _modules() -> list[Path]:
    return sorted((paths.ROOT / "helpers").rglob("*.py"))


def test_nothing_that_is_read_can_run() -> None:
    code = sources()
    assert len(code) > 200
    assert {where: found for where, source in code.items() if (found := runs(source))} == {}


@pytest.mark.parametrize("line", CASES["what_could_run_would_be_found"])
def test_what_could_run_would_be_found(line: str) -> None:
    assert runs(line)


@pytest.mark.parametrize(
    "line",
    [
        "re.compile(text)",
        "ast.literal_eval(text)",
        "yaml.safe_load(text)",
        "class Strict(yaml.SafeLoader): ...\nyaml.load(text, Loader=Strict)",
        "class A(SafeLoader): ...\nclass B(A): ...\ndef read(text, kind: type[A]): return yaml.load(text, Loader=kind)",
        "numpy.load(file, allow_pickle=False)",
        "frame.query('verdict == \"A\"')",
        "subprocess.run([git, 'describe'])",
    ],
)
def test_what_is_harmless_is_let_be(line: str) -> None:
    assert runs(line) == []
