"""Files of settings and grids: faults are reported with file and line, and everything plain is read as it is."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings, strategies as st
from pydantic import BaseModel

from helpers import paths
from helpers.claims import Claim
from helpers.commands.printing import parameters
from helpers.config import ConfigError, ExperimentConfig, Parameters, load_limits, load_models, parse_yaml, read_yaml
from helpers.config.models import LimitEntry, ModelEntry
from helpers.config.yaml_text import checked, line_of
from helpers.datasets.bias_tests import BiasTemplate, MetricLine
from helpers.run.matrix import settle
from helpers.run.notebooks import CollectionConfig, CollectionParameters
from tests.case_tables import load_cases
from tests.matrices import cells_of

#: Text, the line that is to blame, and words of the message; "quotes" where the advice is to quote it.
KEY = "hunter2-hunter2-hunter2"
HOST = "https://g.example.com"
CASES = load_cases("yaml_text", key=KEY, host=HOST)

REFUSED = {
    **CASES["refused"],
    "digits": (f"a: {'9' * 5000}", 1, "at most 30"),
    "too many digits": (f"a: {'9' * 400}.0", 1, "out of the range"),
    "depth": (f"a: {'[' * 100_000}", 1, "nested more than 50 levels"),
}


def written(folder: Path, text: str) -> Path:
    path = folder / "some.yaml"
    path.write_text(text, encoding="utf-8", newline="")
    return path


@pytest.mark.parametrize("case", REFUSED)
def test_what_could_be_read_otherwise_is_refused_with_its_line(tmp_path: Path, case: str) -> None:
    text, line, *words = REFUSED[case]
    with pytest.raises(ConfigError) as caught:
        read_yaml(written(tmp_path, text))
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'some.yaml'}, line {line}: "), message
    assert all(word in message for word in words), message
    assert "\n" not in message and len(message) < 400
    with pytest.raises(ConfigError, match="for testing: "):
        parse_yaml(text, "for testing")


@pytest.mark.parametrize("text", CASES["read"])
def test_plain_values_are_read_as_they_are(tmp_path: Path, text: str) -> None:
    assert read_yaml(written(tmp_path, text)) == CASES["read"][text]


def test_only_files_of_a_megabyte_of_text_are_read(tmp_path: Path) -> None:
    assert len(read_yaml(written(tmp_path, f"a: {'x' * 999_997}"))["a"]) == 999_997
    with pytest.raises(ConfigError, match="larger than 1 MB"):
        read_yaml(written(tmp_path, f"a: {'x' * 999_998}"))
    with pytest.raises(ConfigError, match="longer than 1 MB"):
        parse_yaml("x" * 1_000_001, "-p")
    (tmp_path / "some.yaml").write_bytes(b"a: 1\nb: \xff")
    with pytest.raises(ConfigError, match=r"some\.yaml, line 2: not UTF-8"):
        read_yaml(tmp_path / "some.yaml")
    with pytest.raises(ConfigError, match="no such file"):
        read_yaml(Path("/dev/zero"))


def test_numbers_that_readers_see_are_written_as_they_are_shown(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r'line 2: 3\.10 is a number and would be shown as 3\.1; .*"3\.10" in quotes'):
        read_yaml(written(tmp_path, "a: 3.1\nb: 3.10"), shown=True)
    assert read_yaml(written(tmp_path, 'a: [3.1, 5, "3.10"]'), shown=True) == {"a": [3.1, 5, "3.10"]}


@pytest.mark.parametrize(("entry", "words"), CASES["no_type_is_guessed"])
def test_no_type_is_guessed(tmp_path: Path, entry: str, words: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError) as caught:
        load_models(written(tmp_path, f"m: {{provider: openai, vendor: x, {entry}}}"))
    assert all(word in str(caught.value) for word in words), caught.value


def test_parameters_of_the_command_line_are_read_as_strictly() -> None:
    assert parameters((("judges", "[a, b]"), ("seed", "7"), ("questions", "null"))) == {
        "judges": ["a", "b"], "seed": 7, "questions": None,
    }  # fmt: skip
    for value in ("no", "1e3", "&a 1", "!!python/name:os.system", "[a", "{a: 1, a: 2}"):
        with pytest.raises(ConfigError, match="-p seed"):
            parameters((("seed", value),))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.text(max_size=20)
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(VALUES)
def test_what_is_written_by_another_program_is_read_or_refused_and_never_altered(value: object) -> None:
    class Dumper(yaml.SafeDumper):
        def ignore_aliases(self, data: object) -> bool:
            return True

    try:
        read = parse_yaml(yaml.dump(value, Dumper=Dumper, allow_unicode=True), "here")
    except ConfigError:
        return
    assert read == value and type(read) is type(value)


@settings(max_examples=150, deadline=None)
@given(st.text(st.sampled_from("ab01.:-_{}[]&*!<>|\"'\n \t#,?%@`e+nosfyx~\u2028"), max_size=40))
def test_any_text_is_a_value_or_one_kind_of_error(text: str) -> None:
    try:
        read = parse_yaml(text, "here")
    except ConfigError:
        return
    assert read == yaml.load(text, yaml.CSafeLoader)
    with suppress(yaml.YAMLError):  # which libyaml reads here and there: a tab behind a number
        assert read == yaml.safe_load(text)


def test_all_yaml_of_the_repository_is_read_and_there_is_no_other_reader() -> None:
    # The worlds of studies/ share parts by anchors; nobody but their own code reads them.
    command = ["git", "-C", str(paths.ROOT), "ls-files", "*.yaml", ":!studies"]
    tracked = subprocess.run(command, capture_output=True, text=True, check=False)
    files = [paths.ROOT / name for name in tracked.stdout.split()] or [*paths.EXPERIMENTS.rglob("*.yaml")]
    empty = [path.name for path in files if read_yaml(path) is None]
    assert len(files) > 20 and empty == ["limits.yaml"]  # its examples are comments
    sources = {path: path.read_text(encoding="utf-8") for path in (paths.ROOT / "helpers").rglob("*.py")}
    assert {path.name for path, text in sources.items() if "import yaml" in text} == {"yaml_text.py"}


def _doubled(node: yaml.Node) -> list[str]:
    """The keys that stand twice in one mapping, anywhere in a document."""
    if isinstance(node, yaml.SequenceNode):
        return [key for part in node.value for key in _doubled(part)]
    if not isinstance(node, yaml.MappingNode):
        return []
    keys = Counter(str(key.value) for key, _ in node.value)
    inner = [key for _, value in node.value for key in _doubled(value)]
    return [*(key for key, count in keys.items() if count > 1), *inner]


def test_worlds_of_studies_are_read_safely_and_double_no_key() -> None:
    """The strict reader of all other YAML refuses their anchors; a doubled key would change a world in silence."""
    assert _doubled(yaml.compose("a: [{b: 1, b: 2}]")) == ["b"]
    folder = paths.ROOT / "studies"
    files = [*folder.rglob("*.yaml")]
    assert len(files) >= 6
    assert {path.name: _doubled(yaml.compose(path.read_text(encoding="utf-8"))) for path in files} == {
        path.name: [] for path in files
    }
    sources = {path.name: path.read_text(encoding="utf-8") for path in folder.rglob("*.py")}
    assert [name for name, text in sources.items() if "import yaml" in text] == ["cases.py"]
    assert sources["cases.py"].count("yaml.") == sources["cases.py"].count("yaml.safe_load(") == 1


# --- faults -----------------------------------------------------------------------------------------------------------

ENTRY = "# A comment.\nfirst: {provider: openai, model_id: m, vendor: v}\nmine:\n  provider: openai\n  vendor: v\n"


def told_of(folder: Path, text: str, file: str = "models.yaml") -> str:
    """The error of a file with this text."""
    path = folder / file
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as error:
        load_models(path) if file == "models.yaml" else load_limits(None, path)
    return str(error.value)


@pytest.mark.parametrize("text", CASES["wrong"])
def test_a_wrong_entry_is_told_with_its_line(tmp_path: Path, text: str) -> None:
    told = told_of(tmp_path, f"{ENTRY}  model_id: m\n  {text}\n")
    assert told.startswith(f"models.yaml, model 'mine': {CASES['wrong'][text]}"), told
    assert told.count("line ") == 1


def test_several_faults_have_a_line_each_and_what_is_missing_that_of_its_entry(tmp_path: Path) -> None:
    told = told_of(tmp_path, f"{ENTRY}  max_tokens: many\n  structured: 1\n")
    assert told == (
        "models.yaml, model 'mine': line 3: key 'model_id' is missing; line 6: max_tokens = 'many': Input should "
        "be a valid integer; line 7: structured = 1: Input should be a valid boolean"
    )


class Ends(BaseModel):
    ends: tuple[int, int]


@pytest.mark.parametrize(
    ("found", "words"), [([1], "key 'ends.1' is missing"), ([1, 2, 3], "ends"), (["a", 2], "ends.0")]
)
def test_an_element_of_a_pair_is_named_by_its_place(found: list[Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        checked(Ends, {"ends": found}, "here")


@pytest.mark.parametrize("line", CASES["keys"])
def test_a_key_in_the_file_is_answered_by_where_it_belongs_and_never_shown(tmp_path: Path, line: str) -> None:
    told = told_of(tmp_path, f"{ENTRY}  model_id: m\n  {line}\n")
    assert "line 7: " in told and "`api_key_env: MY_SERVER_KEY`" in told and ".env.example" in told
    assert KEY not in told


def test_what_only_sounds_like_a_key_is_none(tmp_path: Path) -> None:
    """A number is a limit that was misspelt, and providers have parameters of such names."""
    assert "valid keys: provider, model_id" in told_of(tmp_path, f"{ENTRY}  model_id: m\n  max_token: 100\n")
    assert "valid keys: provider, model_id" in told_of(tmp_path, f"{ENTRY}  model_id: m\n  key_env: MY_KEY\n")
    params = "{prompt_cache_key: a, stop_token: x, extra_body: {eos_token: y, key: z}}"
    (tmp_path / "models.yaml").write_text(f"{ENTRY}  model_id: m\n  params: {params}\n", encoding="utf-8")
    assert load_models(tmp_path / "models.yaml")["mine"].params["stop_token"] == "x"


@pytest.mark.parametrize("text", [f"mine: {KEY}", f"{ENTRY}  model_id: m\n  api_key_env: {KEY}"])
def test_a_key_in_a_wrong_place_is_not_shown(tmp_path: Path, text: str) -> None:
    told = told_of(tmp_path, text)
    assert KEY not in told and ("found a text" in told or "name of the environment variable" in told)


@pytest.mark.parametrize(
    ("provider", "address", "right"), CASES["the_address_of_a_call_is_refused_with_that_of_the_api"]
)
def test_the_address_of_a_call_is_refused_with_that_of_the_api(
    tmp_path: Path, provider: str, address: str, right: str
) -> None:
    entry = f"mine:\n  provider: {provider}\n  vendor: v\n  model_id: m\n  revision: {{weights: main}}\n  base_url: "
    told = told_of(tmp_path, f"{entry}{address}\n")
    assert told.endswith(f"; write {right}") and "line 6: base_url = " in told
    (tmp_path / "models.yaml").write_text(f"{entry}{right}\n", encoding="utf-8")
    assert load_models(tmp_path / "models.yaml")["mine"].base_url == right


@pytest.mark.parametrize(
    "address",
    [
        *("https://x.services.ai.azure.com/models", "https://x.openai.azure.com/openai/v1", f"{HOST}/api/paas/v4"),
        *(
            f"{HOST}/hf-inference/models/org/m/v1",
            f"{HOST}/embeddings",
            f"{HOST}/v1/my-models",
            f"{HOST}/v1beta/openai",
        ),
    ],
)
def test_an_address_that_may_be_a_base_is_taken(tmp_path: Path, address: str) -> None:
    (tmp_path / "models.yaml").write_text(
        f"{ENTRY}  model_id: m\n  revision: {{weights: main}}\n  base_url: {address}\n", encoding="utf-8"
    )
    assert load_models(tmp_path / "models.yaml")["mine"].base_url == address


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("# x\nopenai:\n  requests_per_minute:\n", "line 2: needs requests_per_minute, tokens_per_minute, or both"),
        ("# x\nopenai:\n", "line 2: expected named settings (requests_per_minute, tokens_per_minute), found nothing"),
        ("openai:\n  requests_per_minute: .5e3\n", "line 2"),
        ("openai:\n  tokens_per_minute: 0\n", "line 2: tokens_per_minute = 0: Input should be greater than 0"),
        ("openai: {requests_per_minute: 1}\n'': {requests_per_minute: 1}\n", "line 2: '' is no provider"),
    ],
)
def test_a_wrong_limit_is_told_with_its_line_and_no_empty_name(tmp_path: Path, text: str, words: str) -> None:
    told = told_of(tmp_path, text, "limits.yaml")
    assert words in told and ":  =" not in told


def test_of_several_forms_that_a_value_may_have_the_one_that_was_meant_is_told() -> None:
    with pytest.raises(ConfigError) as error:
        checked(MetricLine, {"target": {"impression": {"good": "hi"}}}, "here")
    assert str(error.value) == "here: target.impression.good = 'hi': Input should be 'high' or 'low'"
    with pytest.raises(ConfigError) as error:
        checked(MetricLine, {"target": 3}, "here")
    assert "target = 3: Input should be a valid string; or Input should be a valid dictionary" in str(error.value)


KINDS: list[type[BaseModel]] = [
    *(ModelEntry, LimitEntry, ExperimentConfig, Parameters),
    *(CollectionConfig, CollectionParameters, BiasTemplate, MetricLine, Claim),
]
#: Values of every shape, few of which any setting can have.
ODD: list[Any] = [
    *(None, True, 0, -1, 2.5, float("nan"), float("inf"), "", "x", [], ["x"], [1], [[]], {}),
    *({"x": 1}, {"input": "x"}, {"x": {"y": "z"}}, {"from": 1}, {"choose": 3}, [{"x": 1}], [{"control": 5}]),
]


@pytest.mark.parametrize("kind", KINDS)
def test_any_odd_value_is_an_error_that_names_its_field(kind: type[BaseModel]) -> None:
    refused = 0
    for name in [*(field.alias or name for name, field in kind.model_fields.items()), "strange"]:
        for value in ODD:
            try:
                checked(kind, {name: value}, "here")
            except ConfigError as error:
                message, refused = str(error), refused + 1
                assert message.startswith("here: ") and "\n" not in message
                assert "Value error" not in message and "pydantic" not in message and "[type=" not in message
                assert name != "strange" or "unknown key 'strange'; valid keys: " in message
    assert refused > len(ODD)


def test_a_line_is_that_of_the_setting_or_of_what_is_around_it(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("# x\n\na:\n  b:\n    - 1\n    - c: 2\n1: {d: 3}\n", encoding="utf-8")
    lines = {("a",): 3, ("a", "b"): 4, ("a", "b", 0): 5, ("a", "b", 1): 6, ("a", "b", 1, "c"): 6}
    lines |= {("a", "none"): 3, ("none",): None, (1, "d"): 7, (): None, ("a", "b", 9): 4}
    assert {keys: line_of(file, keys) for keys in lines} == lines
    assert line_of(tmp_path / "gone.yaml", ("a",)) is None
    assert parse_yaml("{a: 1}", "here") == {"a": 1}


# --- grids ------------------------------------------------------------------------------------------------------------

GRID = """\
notebooks: [mt_bench_blind]
parameters:
  judges: [[sim_claude_fast], [sim_gpt_fast]]
  seed: [1, 2, 3]
"""


def varied(folder: Path, text: str, **given: Any) -> list[dict[str, Any]]:
    return [dict(cell.varied) for cell in cells_of(folder, text, **given)]


def test_the_cells_are_the_product_of_the_lists_and_the_last_varies_fastest(tmp_path: Path) -> None:
    assert varied(tmp_path, GRID) == [
        {"judges": [judge], "seed": seed} for judge in ("sim_claude_fast", "sim_gpt_fast") for seed in (1, 2, 3)
    ]


def test_excluded_cells_are_left_out_and_included_ones_come_last(tmp_path: Path) -> None:
    text = GRID + "exclude:\n  - {seed: 2}\n  - {judges: [sim_gpt_fast], seed: 3}\ninclude:\n  - {question_limit: 9}\n"
    assert varied(tmp_path, text) == [
        {"judges": ["sim_claude_fast"], "seed": 1},
        {"judges": ["sim_claude_fast"], "seed": 3},
        {"judges": ["sim_gpt_fast"], "seed": 1},
        {"question_limit": 9},
    ]


def test_a_cell_has_one_name_whatever_else_the_grid_holds_and_another_with_other_parameters(tmp_path: Path) -> None:
    ids = {cell.id for cell in cells_of(tmp_path, GRID)}
    more = {cell.id for cell in cells_of(tmp_path, GRID.replace("[1, 2, 3]", "[0, 1, 2, 3]"))}
    limited = {cell.id for cell in cells_of(tmp_path, GRID, question_limit=5)}
    assert len(ids) == 6 and ids < more and not ids & limited


def test_a_value_is_that_of_the_grid_and_no_other(tmp_path: Path) -> None:
    lists = "[1, 1.0, true, '1', {1: a, b: c}, [1], null]"
    seeds = [each["seed"] for each in varied(tmp_path, f"notebooks: [mt_bench_blind]\nparameters: {{seed: {lists}}}\n")]
    assert list(map(repr, seeds)) == ["1", "1.0", "True", "'1'", "{1: 'a', 'b': 'c'}", "[1]", "None"]
    one = f"notebooks: [mt_bench_blind]\nparameters: {{seed: {lists}}}\nexclude: [seed: true]\n"
    assert [repr(each["seed"]) for each in varied(tmp_path, one)][:3] == ["1", "1.0", "'1'"]


def test_notebooks_that_wait_for_others_come_after_them(tmp_path: Path) -> None:
    (cell,) = cells_of(tmp_path, "notebooks: [hinting_groups, mt_bench_blind]\ninclude: [{seed: 1}]\n")
    assert cell.notebooks == ("01_mt_bench_blind", "02_hinting_groups")


#: What of GRID is replaced, what stands at its end or in its place, and what is said of it.
WRONG_GRIDS: list[tuple[dict[str, Any], str]] = [
    *CASES["wrong_grids"],
    ({"replace": ("[1, 2, 3]", f"{[*range(101)]}\n  repeats_: {[*range(101)]}")}, "line 2: 20402 cells; at most 10000"),
    (
        {"replace": ("[1, 2, 3]", f"{[*range(100)]}\n  margin_pp: {[*range(50)]}"), "end": "include: [seed: 0]\n"},
        "line 6: 10001 cells; at most 10000",
    ),
]


@pytest.mark.parametrize(("wrong", "said"), WRONG_GRIDS, ids=[said[:40] for _, said in WRONG_GRIDS])
def test_a_wrong_grid_is_told_by_file_and_line(tmp_path: Path, wrong: dict[str, Any], said: str) -> None:
    text = wrong.get("text", GRID.replace(*wrong.get("replace", ("", "")))) + wrong.get("end", "")
    with pytest.raises(ConfigError, match=re.escape(said)) as error:
        cells_of(tmp_path, text, repeats=1)
    assert str(tmp_path / "grid.yaml") in str(error.value)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("seed: [1", 'seed: ["a"', "cell judges=[sim_claude_fast], seed=a: parameters of mt_bench_blind: seed = 'a'"),
        ("seed", "sead", "cell judges=[sim_claude_fast], sead=1: mt_bench_blind has no parameter sead; it has: judges"),
        ("seed", "a/b", "cell judges=[sim_claude_fast], a/b=1: mt_bench_blind has no parameter a/b; it has: judges"),
        (
            "judges: [[sim_claude_fast], [sim_gpt_fast]]",
            "judges: [sim_claude_fast, sim_gpt_fast]",
            "in a grid each value of judges is a list of its own, as in judges: [[one], [other]]",
        ),
        ("[sim_gpt_fast]", "[sim_gtp_fast]", "cell judges=[sim_gtp_fast], seed=1:"),
    ],
)
def test_a_parameter_that_no_notebook_takes_names_the_cell(tmp_path: Path, before: str, after: str, said: str) -> None:
    cells = cells_of(tmp_path, GRID.replace(before, after))
    with pytest.raises(ConfigError, match=re.escape(said)):
        settle(cells, tmp_path / "replies")


def test_a_key_in_a_grid_is_refused_and_not_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-key-but-secret-0123456789")
    cells = cells_of(tmp_path, GRID.replace("[1, 2, 3]", "[not-a-key-but-secret-0123456789]"))
    with pytest.raises(ValueError, match="parameter seed holds the value of OPENAI_API_KEY") as error:
        settle(cells, tmp_path / "replies")
    assert "secret" not in str(error.value)
