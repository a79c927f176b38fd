"""Tables: the numbers of the estimates, text that no spreadsheet runs, LaTeX that reads back as what was meant."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from dataclasses import replace

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import tables
from helpers.escaping import latex
from helpers.types import Estimate

NAN = float("nan")
RATES = [
    Estimate("top1_rate", {"judge": judge, "vendor": vendor}, value, value - 0.1, value + 0.1, n=80, data="published")
    for judge, row in {"claude_fast": (0.275, 0.55), "gpt_fast": (0.2125, 0.5875)}.items()
    for vendor, value in zip(("claude", "gpt"), row, strict=True)
]


def unlatex(text: str) -> str:
    """What LaTeX would print: an own small reader of escapes; anything special that is not escaped is an error."""
    words = {"textbackslash": "\\", "textasciitilde": "~", "textasciicircum": "^"}
    words |= {"textless": "<", "textgreater": ">", "textbar": "|"}
    signs = {r"\leq": "\u2264", r"\geq": "\u2265", r"\neq": "\u2260", r"\approx": "\u2248", r"\times": "\u00d7"}
    signs |= {r"\pm": "\u00b1", r"\rightarrow": "\u2192", r"\leftarrow": "\u2190", r"\infty": "\u221e", "-": "\u2212"}
    signs |= {r"\alpha": "\u03b1", r"\beta": "\u03b2", r"\kappa": "\u03ba", r"\Delta": "\u0394"}
    printed, at = "", 0
    while at < len(text):
        rest = text[at:]
        if word := re.match(r"\\(text[a-z]+)\{\}", rest):
            printed += words[word[1]]
            at += len(word[0])
        elif sign := re.match(r"\\([&%$#_{}])", rest):
            printed += sign[1]
            at += 2
        elif formula := re.match(r"\\ensuremath\{(\\[a-zA-Z]+|-)\}", rest):
            printed += signs[formula[1]]
            at += len(formula[0])
        elif foreign := re.match(r"\\ifdefined\\Uchar (.+?)\\else\(((?:U\+[0-9A-F]{4,6} ?)+)\)\\fi\{\}", rest):
            assert [f"U+{ord(sign):04X}" for sign in foreign[1]] == foreign[2].split(), "both engines print the same"
            printed += foreign[1]
            at += len(foreign[0])
        elif rest.startswith("{}") and at == 0:
            at += 2
        else:
            assert text[at] not in "\\&%$#_{}~^", f"{text!r} has a bare {text[at]!r} at {at}"
            printed += text[at]
            at += 1
    return printed


def rows_of(latex: str) -> list[list[str]]:
    """The cells between the rules, header first."""
    body = re.search(r"\\toprule\n(.*)\\bottomrule", latex, re.S)
    assert body
    lines = body[1].replace("\\midrule\n", "").strip().split(" \\\\\n")
    return [re.split(r"(?<!\\) & ", line.removesuffix(" \\\\")) for line in lines]


def test_a_wide_table_has_a_row_a_judge_and_a_column_a_vendor():
    frame = tables.estimates_table(RATES, ["judge"], ["vendor"])
    assert list(frame.columns) == ["judge", "data", "Claude", "GPT"]
    assert frame["GPT"].tolist() == ["55.0 % [45.0, 65.0]", "58.8 % [48.8, 68.8]"]
    assert frame["data"].tolist() == ["published", "published"]


def test_numbers_stand_beside_the_text_as_stored():
    frame = tables.estimates_table(RATES, ["judge"], ["vendor"], numbers=True)
    assert frame["gpt_value"].tolist() == [0.55, 0.5875]
    assert frame["claude_low"].tolist() == pytest.approx([0.175, 0.1125])
    assert frame["gpt_n"].tolist() == [80, 80]


def test_data_sources_and_absent_cells_stay_apart():
    frame = tables.estimates_table([*RATES, replace(RATES[0], data="simulated")], ["judge"], ["vendor"], numbers=True)
    assert frame["data"].tolist() == ["published", "published", "simulated"]
    last = frame.iloc[2]
    assert last["gpt"] == "" and pd.isna(last["gpt_value"]) and pd.isna(last["gpt_n"]) and last["claude_n"] == 80


def test_ids_may_be_rows_and_units_are_written():
    spread = Estimate("balance", {}, 0.14069, n=480, unit="sd_pp", data="published")
    frame = tables.estimates_table([spread, replace(spread, id="lost", value=NAN)], ["id"], [])
    assert frame[""].tolist() == ["14.07 pp", "not estimable"]


def test_no_estimates_give_an_empty_table_with_its_columns():
    frame = tables.estimates_table([], ["judge"], ["vendor"])
    assert list(frame.columns) == ["judge", "data"] and frame.empty
    assert "\\midrule" in tables.latex_text(frame, "none", "tab:none")
    assert tables.csv_text(frame) == "judge,data\n"


def test_double_cells_and_missing_keys_are_errors():
    with pytest.raises(
        ValueError, match=r"two estimates for \{'judge': 'claude_fast', 'data': 'published'\}.*'Claude'"
    ):
        tables.estimates_table([*RATES, RATES[0]], ["judge"], ["vendor"])
    with pytest.raises(ValueError, match=r"has no hint; it has: id, judge, vendor"):
        tables.estimates_table(RATES, ["hint"], ["vendor"])


@pytest.mark.parametrize("text", ["=1+1", "+1", "-2", "@SUM(1)", "\tx", "\rx", "=HYPERLINK(0)"])
def test_csv_never_starts_a_cell_with_a_formula(text):
    frame = pd.DataFrame({text: [text, "safe"], "n": [-1, 2], "x": [-0.5, NAN]})
    header, first, second = list(csv.reader(io.StringIO(tables.csv_text(frame), newline="")))
    kept = "'" + text.replace("\r", "\n")
    assert header == [kept, "n", "x"]
    assert first == [kept, "-1", "-0.5"]
    assert second == ["safe", "2", ""]


@given(st.text(st.sampled_from("=+-@\t\r\n ,\"'x"), max_size=6))
def test_no_text_becomes_another_row_or_a_formula(text):
    rows = list(csv.reader(io.StringIO(tables.csv_text(pd.DataFrame({"x": [text], "n": [1]})), newline="")))
    assert len(rows) == 2 and rows[1][1] == "1"
    assert not rows[1][0].startswith(("=", "+", "-", "@", "\t", "\r"))


def test_csv_numbers_have_six_digits_and_lines_end_in_newline():
    text = tables.csv_text(pd.DataFrame({"x": [1 / 3, 123456789.0, 1e-9]}))
    assert text == "x\n0.333333\n1.23457e+08\n1e-09\n"


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cf", "Zl", "Zp"]), max_size=40))
def test_latex_prints_what_was_written(text):
    spaces = "".join(" " if unicodedata.category(sign) == "Zs" else sign for sign in text)
    assert unlatex(latex(text)) == unicodedata.normalize("NFC", spaces)


def test_latex_tables_have_booktabs_rules_and_escape_everything():
    frame = pd.DataFrame({"a_b & c": ["100 %", "x_1 $ # {y} ~ ^ \\"], "[n]": [1, 20], "*x": [0.123456, NAN]})
    latex = tables.latex_text(frame, "50 % of a_b", "tab:blind")
    assert [latex.count(f"\\{rule}rule") for rule in ("top", "mid", "bottom")] == [1, 1, 1]
    assert "\\caption{50 \\% of a\\_b}\n\\label{tab:blind}" in latex
    assert "\\begin{tabular}{lrr}" in latex
    printed = [[unlatex(cell) for cell in row] for row in rows_of(latex)]
    assert printed == [
        ["a_b & c", "[n]", "*x"],
        ["100 %", "1", "0.1235"],
        ["x_1 $ # {y} ~ ^ \\", "20", "--"],
    ]


def test_a_cell_in_brackets_is_not_the_argument_of_a_rule():
    latex = tables.latex_text(pd.DataFrame({"x": ["[5, 6]", "*"]}), "c", "tab:x")
    assert not re.search(r"(\\\\|rule)\s*[\[*]", latex)


def test_line_breaks_in_cells_do_not_break_rows():
    latex = tables.latex_text(pd.DataFrame({"x": ["a\nb\x00c"]}), "c", "tab:x")
    assert rows_of(latex)[1] == ["a b c"]


def test_only_marked_cells_are_bold():
    frame = tables.estimates_table(RATES, ["judge"], ["vendor"])
    assert "textbf" not in tables.latex_text(frame, "c", "tab:x")
    best = pd.DataFrame({"GPT": [False, True]})
    marked = tables.latex_text(frame, "c", "tab:x", best)
    assert re.findall(r"\\textbf\{(.*?)\}", marked) == ["58.8 \\% [48.8, 68.8]"]
    with pytest.raises(ValueError, match="best must have the table's rows and columns"):
        tables.latex_text(frame, "c", "tab:x", pd.DataFrame({"llama": [True, True]}))
    with pytest.raises(ValueError, match="other rows"):
        tables.latex_text(frame, "c", "tab:x", pd.DataFrame({"GPT": [True]}))


def test_a_label_that_latex_cannot_take_is_refused():
    with pytest.raises(ValueError, match="only letters, digits"):
        tables.latex_text(pd.DataFrame({"x": [1]}), "c", "tab:{x}")


def test_a_finished_table_says_where_its_numbers_come_from():
    simulated = [replace(each, data="simulated") for each in RATES]
    made = tables.table("top1", "First places.", simulated, ["judge"], ["vendor"])
    assert made.words == "First places. SIMULATED judges."
    mixed = tables.table("top1", "First places.", [*RATES, *simulated], ["judge"], ["vendor"])
    assert mixed.words == "First places. Rows marked simulated: SIMULATED judges."
    assert "gpt_value" in made.csv and "gpt_value" not in made.frame and "data" in made.csv
    assert tables.table("top1", "First places.", RATES, ["judge"], ["vendor"]).words == "First places."
    with pytest.raises(ValueError, match="table x has no column 'data'; it has: n"):
        tables.Table("x", pd.DataFrame({"n": [1]}), "c")


def test_html_in_cells_and_captions_stays_text():
    frame = pd.DataFrame({"<b>": ["<script>alert(1)</script>"], "data": ["asked"]})
    html = tables.Table("x", frame, "<img src=x onerror=alert(1)>")._repr_html_()
    assert "<script" not in html and "<img" not in html and "<b>" not in html
