"""What the README says in numbers and commands is what the code gives."""

from __future__ import annotations

import re

import pytest
from click.testing import CliRunner

from helpers import claims, paths
from helpers.__main__ import main
from helpers.biases import top_choice
from helpers.config import load_experiment, read_yaml

README = (paths.ROOT / "README.md").read_text(encoding="utf-8")
FLAT = " ".join(README.split())
FOLDER = paths.EXPERIMENTS / "mt_bench_blind"


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
    checked = claims.check(claims.load_claims(read_yaml(FOLDER / "claims.yaml"), "claims.yaml"), published)
    words = {5: "five", 6: "six", 7: "seven"}
    assert f"and the {words[int((checked['status'] == 'differs').sum())]} that do not" in FLAT
    changes = " ".join((paths.ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split())
    assert f"{len(checked)} published numbers" in changes


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\(([^)#]+?)\)", README))))
def test_every_link_leads_somewhere(link: str) -> None:
    assert link.startswith("https://") or (paths.ROOT / link).exists(), link


@pytest.mark.parametrize("command", sorted(set(re.findall(r"\.venv/bin/recuse (\w+)", README))))
def test_every_command_exists(command: str) -> None:
    assert CliRunner().invoke(main, [command, "--help"]).exit_code == 0


def test_every_parameter_of_the_table_exists() -> None:
    table = README.split("| parameter | default | meaning |")[1].split("\n\n")[0]
    names = re.findall(r"`(\w+)`", " ".join(row.split("|")[1] for row in table.splitlines() if row.startswith("| `")))
    experiment = load_experiment("mt_bench_blind")
    assert set(names) >= {"judges", "questions", "budget_usd"}
    for name in names:
        assert hasattr(experiment, name) or name in experiment.own, name


def test_the_models_of_the_examples_exist() -> None:
    models = read_yaml(paths.MODELS)
    named = re.findall(r"six='\[([^\]]+)\]'", README)[0].split(", ")
    assert len(named) == 6 and set(named) <= set(models)
