"""YAML: what another reader could take otherwise is refused with file and line; everything plain is read as it is."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import paths
from helpers.commands.printing import parameters
from helpers.config import ConfigError, load_models, parse_yaml, read_yaml

#: Text, the line that is to blame, and words of the message; "quotes" where the advice is to quote it.
REFUSED = {
    "no": ("a: 1\nb: no", 2, "no is a truth value to some", "quotes"),
    "off as a key": ("on: 1", 1, "on is a truth value", "quotes"),
    "Yes in a list": ("a:\n- x\n- Yes", 3, "Yes is a truth value", "quotes"),
    "exponent alone": ("a: 1e3", 1, "1e3 is a number to some", "quotes"),
    "exponent without sign": ("a: 1.5e3", 1, "1.5e3 is a number to some", "quotes"),
    "octal": ("a: 010", 1, "010 is not a whole number to every", "quotes"),
    "octal of YAML 1.2": ("a: 0o17", 1, "0o17 is a number to some", "quotes"),
    "hexadecimal": ("a: 0x1F", 1, "0x1F is not a whole number", "quotes"),
    "underscores": ("a: 1_000", 1, "1_000 is not a whole number", "quotes"),
    "minutes": ("a: 12:30", 1, "12:30 is not a whole number", "quotes"),
    "digits": (f"a: {'9' * 5000}", 1, "at most 30"),
    "date": ("a: 2026-11-30", 1, "2026-11-30 is a date of YAML", "quotes"),
    "infinity": ("a: .inf", 1, ".inf is not a finite number"),
    "not a number": ("a: [1, .NaN]", 1, ".NaN is not a finite number"),
    "too large": ("a: 1\n\nb: 1.0e+400", 3, "1.0e+400 is out of the range"),
    "too large, plain": ("a: 1e400", 1, "1e400 is a number to some"),
    "too many digits": (f"a: {'9' * 400}.0", 1, "out of the range"),
    "merge": ("a: {<<: {b: 1}}", 1, "<< is a sign of YAML"),
    "anchor": ("a: 1\nb: &x [1]", 2, "anchors and aliases are not allowed"),
    "bomb": ("a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]", 1, "anchors and aliases are not allowed"),
    "alias in a key": ("a: 1\n*a : 2", 2, "anchors and aliases are not allowed"),
    "python": ("a: !!python/object/apply:os.system [ls]", 1, "tags are not allowed"),
    "binary": ("a:\n  b: !!binary aGk=", 2, "tags are not allowed"),
    "own tag": ("a: !x 1", 1, "tags are not allowed"),
    "text tag": ("a: !!str 3.10", 1, "tags are not allowed"),
    "duplicate key": ("a: 1\nb: 2\na: 3", 3, "duplicate key 'a' (first in line 1)"),
    "duplicate in a list": ("x:\n- {a: 1}\n- {b: 1, 'b': 2}", 3, "duplicate key 'b'"),
    "duplicate but for quotes": ('1: a\n"1": b', 2, "duplicate key '1'"),
    "list as a key": ("? [a, b]\n: 1", 1, "a key must be a word"),
    "depth": (f"a: {'[' * 100_000}", 1, "nested more than 50 levels"),
    "lone surrogate": ('a: 1\nb: "x\\ud83d"', 2, "half a character"),
    "NUL": ("a: 1\nb: x\x00", 2, "U+0000"),
    "escape of a terminal": ("a: \x1b[31m", 1, "U+001B"),
    "line end of YAML 1.1": ("a: 1\nb: x\u2028c: 2", 2, "U+2028 ends a line to some"),
    "carriage return": ("a: 1\rb: 2", 1, "U+000D ends a line to some"),
    "broken": ("a: [1\nb: 2", 2, "not YAML"),
    "two documents": ("a: 1\n---\nb: 2", 2, "not YAML"),
    "tab": ("a:\n\tb: 1", 2, "not YAML"),
}
READ = {
    "a: true\nb: False\nc: null\nd:\ne: ~": {"a": True, "b": False, "c": None, "d": None, "e": None},
    "a: [0, -5, 12, +3]": {"a": [0, -5, 12, 3]},
    "a: [0.50, -0.10, 3.10, 1.0e+3, 5.]": {"a": [0.5, -0.1, 3.1, 1000.0, 5.0]},
    "a: ['no', \"1e3\", '3.10', '2026-11-30', '*x', '&y', '!z', '<<']": {
        "a": ["no", "1e3", "3.10", "2026-11-30", "*x", "&y", "!z", "<<"]
    },
    "n: 1\ny: nothing\nx: north": {"n": 1, "y": "nothing", "x": "north"},
    "a: gpt-5.2\nb: 1.2.3\nc: http://127.0.0.1:8000/v1": {
        "a": "gpt-5.2",
        "b": "1.2.3",
        "c": "http://127.0.0.1:8000/v1",
    },
    "a: |\n  no\n  1e3\n": {"a": "no\n1e3\n"},
    "": None,
    "\ufeffa: 1": {"a": 1},
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


@pytest.mark.parametrize("text", READ)
def test_plain_values_are_read_as_they_are(tmp_path: Path, text: str) -> None:
    assert read_yaml(written(tmp_path, text)) == READ[text]


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


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("model_id: 3.10", ("model_id = 3.1:", "in quotes", '"3.10"')),
        ("model_id: true", ("model_id = True:", "in quotes")),
        ("model_id: m, max_tokens: '2048'", ("max_tokens = '2048'", "valid integer")),
        ("model_id: m, structured: 1", ("structured = 1", "valid boolean")),
        ("model_id: m, price: {input: true, output: 1}", ("price.input = True", "number")),
        ("model_id: m, revision: {weights: 1.10}", ("revision.weights = 1.1:", "in quotes")),
    ],
)
def test_no_type_is_guessed(tmp_path: Path, entry: str, words: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError) as caught:
        load_models(written(tmp_path, f"m: {{provider: openai, vendor: x, {entry}}}"))
    assert all(word in str(caught.value) for word in words), caught.value


@pytest.mark.parametrize(
    ("typed", "advised"),
    [("5e2", "500"), ("2E5", "200000"), ("1.5e0", "1.5"), ("-.5", "-0.5"), ("0o17", "plain digits"),
     ("1e400", "a smaller number")],
)  # fmt: skip
def test_the_number_advised_is_the_one_that_was_typed(typed: str, advised: str) -> None:
    with pytest.raises(
        ConfigError, match=re.escape(f'; write {advised}, or "{typed}" in quotes where a text is meant')
    ):
        parse_yaml(typed, "-p budget_usd")


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
    assert read == yaml.safe_load(text)


def test_all_yaml_of_the_repository_is_read_and_there_is_no_other_reader() -> None:
    tracked = subprocess.run(
        ["git", "-C", str(paths.ROOT), "ls-files", "*.yaml"], capture_output=True, text=True, check=False
    )
    files = [paths.ROOT / name for name in tracked.stdout.split()] or [*paths.EXPERIMENTS.rglob("*.yaml")]
    empty = [path.name for path in files if read_yaml(path) is None]
    assert len(files) > 20 and empty == ["limits.yaml"]  # its examples are comments
    sources = {path: path.read_text(encoding="utf-8") for path in (paths.ROOT / "helpers").rglob("*.py")}
    assert {path.name for path, text in sources.items() if "import yaml" in text} == {"yaml_text.py"}
