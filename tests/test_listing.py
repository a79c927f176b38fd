"""`recuse list`: a line for each notebook, model, number and format, as the files of the repository have them."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from helpers import paths
from helpers.__main__ import main
from helpers.analyze import FORMATS
from helpers.config import load_models
from helpers.explain import sections
from helpers.listing import listing

LINES = {
    "notebooks": ("04_arena_hard_position_bias", "Does the order of two answers change the verdict?"),
    "models": ("gpt_fast", "openai", "0.25 in, 2 out", "not here"),
    "numbers": ("excess_flip", "pp", "arena_hard_position_bias", "How much more often verdicts name another"),
    "formats": ("fastchat-pair", "FastChat's pair judgments", "fields g1_winner g2_winner"),
}


@pytest.mark.parametrize("kind", LINES)
def test_each_is_one_line(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    lines = CliRunner().invoke(main, ["list", kind]).stdout.splitlines()
    assert len(lines) == 1 + len(listing(kind)) and lines[0].split()[0] == listing(kind).columns[0]
    name, *facts = LINES[kind]
    assert sum(line.startswith(f"{name} ") and all(fact in line for fact in facts) for line in lines) == 1


def test_nothing_is_left_out() -> None:
    assert set(listing("notebooks")["notebook"]) == {path.stem for path in paths.NOTEBOOKS.glob("*.ipynb")}
    assert list(listing("models")["model"]) == [*load_models()]
    assert len(listing("numbers")) == sum(len(each.estimands) for each in sections())
    assert tuple(listing("formats")["format"]) == FORMATS


def test_a_key_is_said_to_be_present_and_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test-0123456789abcdef")
    done = CliRunner().invoke(main, ["list", "models"]).stdout
    (line,) = (each for each in done.splitlines() if each.startswith("gpt_fast "))
    assert line.endswith("present") and "0123456789" not in done
    assert all(key == "not needed" for key in listing("models").query("provider == 'simulated'")["key"])
