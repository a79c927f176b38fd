"""What a number means, told from its declaration: found by itself, safe as Markdown, the same page as in git."""

from __future__ import annotations

import html
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import mistune
import pytest
import yaml
from click.testing import CliRunner

from helpers import explain as room, paths
from helpers.__main__ import main
from helpers.analyze import analysis
from helpers.config import experiment_names

HOSTILE = (
    "|a1 - x1| < 3 & b > 2",
    "<script>alert(1)</script> &lt; ",
    "mean *of* _a_ and __b__ a_b",
    "[text](http://example.org) ![i](x) # x",
    "~~gone~~ $x^2$ \\alpha \\",
    "1 - a* and b*",
    "`code`",
)


def shown(text: str) -> str:
    """What a reader sees of Markdown: the rendered text without tags."""
    rendered = mistune.create_markdown(escape=False, plugins=["strikethrough", "table", "math"])(text)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", rendered)).split())


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Numbers that belong to no experiment."""
    name = "invented_bias"
    shutil.copytree(paths.EXPERIMENTS, tmp_path / "experiments", ignore=shutil.ignore_patterns("*.ipynb", "published"))
    facts = dict(zip(("words", "formula", "numerator", "fails"), HOSTILE, strict=False))
    usual = {"denominator": "d", "ties_and_invalid": "t", "cluster": "c", "interval": "i", "source": "s", "unit": "pp"}
    content = {"title": "What an invented bias does.", "numbers": {"hostile_number": facts | usual}}
    file = tmp_path / "experiments" / name / "numbers.yaml"
    file.parent.mkdir()
    file.write_text(yaml.safe_dump(content), encoding="utf-8")
    monkeypatch.setattr(paths, "EXPERIMENTS", tmp_path / "experiments")
    room.sections.cache_clear()
    yield name
    room.sections.cache_clear()


# --- what there is ----------------------------------------------------------------------------------------------------


def test_every_experiment_has_a_section_in_the_order_of_the_notebooks() -> None:
    found = [name for each in room.sections() for name in each.experiments]
    assert sorted(found) == experiment_names()
    assert found[0] == "mt_bench_blind" and found.index("hinting_groups") < found.index("cognitive_biases")
    for each in room.sections():
        assert tuple(each.estimands)[: len(each.headline)] == each.headline
        assert {one.unit for one in each.estimands.values()} <= set(room.UNITS)


def test_every_number_that_an_analysis_names_is_explained() -> None:
    for id in {id for each in analysis.declared().values() for id in each}:
        assert room.explain(id).startswith(f"{id} (")


def test_numbers_without_an_experiment_are_found_too(module: str) -> None:
    last = room.sections()[-3]  # before the numbers of an audit and of verdicts of one's own
    assert (last.name, last.title, last.experiments) == (module, "What an invented bias does.", ())
    assert "hostile_number" in room.listed() and f"### hostile_number\n\n{room.plain(HOSTILE[0])}" in room.page()
    assert f"hostile_number ({module})" in room.explain("hostile_number")


# --- one number -------------------------------------------------------------------------------------------------------


def test_a_number_of_two_experiments_is_told_twice() -> None:
    told = room.explain("excess_self_preference")
    assert [line for line in told.splitlines() if not line.startswith(" ") and line] == [
        "excess_self_preference (mt_bench_blind; conclusions rest on it)",
        "excess_self_preference (hinting_groups)",
    ]


def test_all_parts_of_a_declaration_are_told() -> None:
    for section in room.sections():
        for id, each in section.estimands.items():
            told = " ".join(room._explained(replace(section, experiments=()), each).split())
            parts = (each.words, each.formula, each.numerator, each.denominator, each.ties_and_invalid, each.fails)
            for part in (*parts, each.cluster, each.interval, each.source):
                assert " ".join(part.split()) in told, id


@pytest.mark.parametrize(
    ("asked", "near"),
    [("excess_flp", "excess_flip"), ("Excess-Flip", "excess_flip"), ("first_position", "first_position_effect")],
)
def test_an_unknown_number_is_an_error_with_the_nearest(asked: str, near: str) -> None:
    with pytest.raises(ValueError, match=rf"no number is called '{asked}'; the nearest are .*\b{near}\b"):
        room.explain(asked)


def test_nothing_near_is_said_to_be_near() -> None:
    with pytest.raises(ValueError, match=r"called 'qqqq'; `recuse explain` lists all"):
        room.explain("qqqq")


def kept(data: str, value: float | None, **where: str) -> dict:
    bounds = {"value": value, "low": value and value - 0.1, "high": value and value + 0.1}
    facts = {"n": 20, "clusters": 10, "unit": "pp", "method": "why not", "data": data}
    return {"id": "excess_flip", "where": where, **bounds, **facts}


def test_the_last_run_stands_below_with_real_data_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "FIGURES", tmp_path)
    assert "last run" not in room.explain("excess_flip")
    file = tmp_path / "arena_hard_position_bias" / "numbers.json"
    file.parent.mkdir()
    numbers = [kept("simulated", 0.1 * i, judge=f"j{i}") for i in range(1, 10)]
    numbers += [kept("published", 0.25, judge="real"), kept("asked", None, judge="none")]
    numbers += [kept("asked", 0.0) | {"id": "win_rate"}]
    file.write_text(json.dumps({"provenance": {"experiment": "x"}, "numbers": numbers}), encoding="utf-8")
    told = room.explain("excess_flip").partition("\n\n")[0]  # an audit has one of its own
    lines = told.partition("numbers.json:\n")[2].splitlines()
    assert lines[0].strip() == "published: judge real: +25.0 pp [+15.0, +35.0] (n = 20, 10 clusters)"
    assert lines[1].strip() == "asked: judge none: not estimable (n = 20, 10 clusters; why not)"
    assert lines[2].strip().startswith("SIMULATED: judge j1: +10.0 pp") and len(lines) == room.MOST_SHOWN + 1
    assert lines[-1].strip() == "and 3 more in figures/arena_hard_position_bias/numbers.json"
    for broken in ("{", "[]", '{"numbers": [{"id": "excess_flip"}]}'):
        file.write_text(broken, encoding="utf-8")
        with pytest.raises(ValueError, match=r"arena_hard_position_bias.numbers\.json: .*make these results again"):
            room.explain("excess_flip")


# --- the page ---------------------------------------------------------------------------------------------------------


def test_the_page_in_git_is_the_one_that_the_declarations_give() -> None:
    assert room.PAGE.read_text(encoding="utf-8") == room.page(), "run `recuse explain --write`"


def test_each_number_has_a_place_and_every_link_leads_to_one() -> None:
    text = room.page()
    places = re.findall(r'<a id="([^"]+)"></a>', text)
    wanted = [room.anchor(each, id) for each in room.sections() for id in ("", *each.estimands)]
    assert places == wanted and len(set(places)) == len(places)
    links = re.findall(r"\]\(#([^)]+)\)", text)
    assert set(links) <= set(places) and set(places) <= set(links), "each place is in the table of contents"
    assert text.count("**Where it fails.**") == sum(len(each.estimands) for each in room.sections())


@pytest.mark.parametrize("text", HOSTILE)
def test_text_is_shown_letter_by_letter(text: str) -> None:
    assert shown(room.plain(text)) == " ".join(text.replace("`", "").split())
    assert shown(room.code(text)) == " ".join(text.split())


def test_every_declaration_is_shown_letter_by_letter() -> None:
    for section in room.sections():
        for id, each in section.estimands.items():
            told = shown("\n".join(room._entry_of(section, each)))
            for part in (each.words, each.formula, each.numerator, each.interval, each.source, each.fails):
                assert " ".join(part.replace("`", "").split()) in told.replace("`", ""), id


def test_a_link_of_the_page_s_name_is_replaced_never_followed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.md"
    elsewhere.write_text("somebody's own")
    (tmp_path / "page.md").symlink_to(elsewhere)
    room.write(tmp_path / "page.md")
    assert elsewhere.read_text() == "somebody's own"
    assert not (tmp_path / "page.md").is_symlink() and (tmp_path / "page.md").read_bytes() == room.page().encode()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["elsewhere.md", "page.md"]


def test_writing_makes_the_folder_and_the_same_page(tmp_path: Path) -> None:
    target = room.write(tmp_path / "new" / "page.md")
    assert target.read_bytes() == room.page().encode()


# --- the command ------------------------------------------------------------------------------------------------------


def test_the_command_lists_tells_and_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    def said(*arguments: str) -> str:
        result = CliRunner().invoke(main, ["explain", *arguments])
        assert result.exit_code == 0, result.output
        return result.output

    written: list[int] = []
    monkeypatch.setattr(room, "write", lambda: written.append(1) or "page.md")
    assert said() == f"{room.listed()}\n" and not written
    assert said("excess_flip", "win_rate") == f"{room.explain('excess_flip')}\n\n{room.explain('win_rate')}\n"
    assert said("--write") == "written: page.md\n" and written == [1]
    assert isinstance(CliRunner().invoke(main, ["explain", "nothing_such"]).exception, ValueError)
