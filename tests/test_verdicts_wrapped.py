"""What usually stands around a verdict costs no judge its verdict, and lets nothing in that lacks the nonce."""

from __future__ import annotations

import itertools
import json

import pytest

from helpers.types import Completion, Model, Request, Trial, Usage
from helpers.verdicts import parse, read, unwrapped
from helpers.verdicts.wrappers import COLONS, DASHES, END_TOKENS, INVISIBLE, PAIRS

NONCE = "7f3a91ce"
LABELS = "ABC"
VALUES = {"pairwise": "A>>B", "choice": "B", "several": "A, C", "number": "-2.5", "listwise": "C > A > B"}
READ = {"pairwise": "A>>B", "choice": "B", "several": ("A", "C"), "number": -2.5, "listwise": tuple("CAB")}
FIELDS = {"pairwise": ("verdict", "A>>B"), "choice": ("choice", "B"), "several": ("choices", ["A", "C"])}
FIELDS |= {"number": ("number", -2.5), "listwise": ("ranking", list("CAB"))}
FORMS = tuple(VALUES)


def own(form: str, value: str | None = None, nonce: str = NONCE) -> str:
    """The verdict line as it is asked for."""
    return f"{'RANKING' if form == 'listwise' else 'VERDICT'}-{nonce}: {VALUES[form] if value is None else value}"


def of(reply: str, form: str, structured: bool = False, **how) -> tuple[object, set[str]]:
    """What is read of a reply (else its outcome), and in which wrappers it stood."""
    kinds: set[str] = set()
    outcome, verdict = parse(reply, form, LABELS, NONCE, structured=structured, kinds=kinds, **how)
    if verdict is None:
        return outcome, kinds
    return {"listwise": verdict.ranking, "number": verdict.number, "several": verdict.choices}.get(
        form, verdict.choice
    ), kinds


def told(form: str, **fields) -> str:
    field, value = FIELDS[form]
    return json.dumps({"id": NONCE, field: value, "justification": "Because."} | fields)


TAGS = ("<think>", "<thinking>", "<reasoning>", "<thought>", "<THINK>", "[THINK]")
THOUGHTS = ("", "\n\n", "hmm", "First A, then B.\n\nNo.", "VERDICT-{n}: A", "RANKING-{n}: A > B > C\nno", "7 {{}} <b>")
#: Kind of wrapper: replies in which the verdict line `{}` stands so. Each has ten members at least.
LINES = {
    "end token": [f"{{}}{gap}{token}{end}" for token in END_TOKENS for gap in ("", "\n") for end in ("", "\n")],
    "think": [
        f"{tag}{thought.format(n=NONCE)}{tag[0]}/{tag[1:]}{gap}{{}}"
        for tag, thought, gap in itertools.product(TAGS, THOUGHTS, ("", "\n", "\n\n"))
    ],
    "fence": [
        f"{fence}{info}\n{words}{{}}\n{fence}"
        for fence, info, words in itertools.product(("```", "~~~"), ("", "text", "json"), ("", "Because.\n"))
    ],
    "invisible": [
        shape.format(sign, "{}") for sign in INVISIBLE for shape in ("{0}{1}", "{1}{0}", "Why.\n{0}{0}{1}\n{0}")
    ],
    "heading": [f"{'#' * n} {words}{{}}" for n in range(1, 7) for words in ("", "  ")],
    "list": [f"{words}{mark} {{}}" for words in ("", "Why.\n") for mark in ("-", "+", "\u2022", "1.", "2)", "12.")],
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", LINES)
def test_a_wrapped_line_is_read_and_its_wrapper_named(kind: str, form: str) -> None:
    assert len(set(LINES[kind])) >= 10
    for shape in LINES[kind]:
        reply = shape.replace("{}", own(form))
        assert of(reply, form) == (READ[form], {kind}), repr(reply)
        assert of(shape.replace("{}", own(form, nonce="deadbeef")), form)[0] == "unparsed", repr(shape)


@pytest.mark.parametrize("form", FORMS)
def test_pairs_around_the_line_the_mark_and_the_value(form: str) -> None:
    pairs = [("[[", "]]", "brackets"), *((opening, closing, kind) for (opening, closing), kind in PAIRS.items())]
    mark, value = own(form, "")[:-2], VALUES[form]
    for opening, closing, kind in pairs:
        for reply in (
            f"{opening}{mark}: {value}{closing}",
            f"{opening}{mark}: {value}{closing}.",
            f"{opening}{mark}{closing}: {value}",
            f"{mark}: {opening}{value}{closing}",
            f"{mark}: {opening}{value}{closing}.",
            f"**{mark}: {opening}{value}{closing}**",
            f"{mark}: **{opening}{value}{closing}**",
        ):
            assert of(f"Because.\n{reply}", form) == (READ[form], {kind}), reply


def test_pairs_around_each_label() -> None:
    for opening, closing in PAIRS:
        label = {each: f"{opening}{each}{closing}" for each in LABELS}
        kinds = {PAIRS[opening + closing]}
        assert of(own("listwise", " > ".join(label[each] for each in "CAB")), "listwise") == (READ["listwise"], kinds)
        assert of(own("several", f"{label['A']}, {label['C']}"), "several") == (("A", "C"), kinds)
        assert of(told("choice", choice=label["B"]), "choice", True) == ("B", kinds)
        assert of(told("several", choices=[label["A"], "C"]), "several", True) == (("A", "C"), kinds)


def test_the_word_option_before_a_label() -> None:
    words = [f"{word}{gap}" for word in ("Option", "option", "OPTION", "Answer", "Choice") for gap in (" ", "  ")]
    for word in words:
        assert of(own("choice", f"{word}B"), "choice") == ("B", {"option"})
        assert of(own("choice", f"({word}B)"), "choice") == ("B", {"option", "brackets"})
        assert of(told("choice", choice=f"{word}B"), "choice", True) == ("B", {"option"})
        ranking = f"{word}C > {word}A > {word}B"
        assert of(own("listwise", ranking), "listwise") == (READ["listwise"], {"option"})
        assert of(own("choice", f"{word}B or {word}C"), "choice")[0] == "two_options"
        assert of(own("choice", f"{word}D"), "choice")[0] == "unparsed"


@pytest.mark.parametrize("form", FORMS)
def test_the_mark_in_other_letters_dashes_and_colons(form: str) -> None:
    line, word = own(form), own(form).partition("-")[0]
    for dash, colon, case in itertools.product(DASHES, COLONS, (str, str.lower, str.title, str.upper)):
        mark = case(f"{word}-{NONCE}").replace("-", dash)
        expected = {"dash"} if dash != "-" else set()
        expected |= {"colon"} if colon != ":" else set()
        expected |= {"case"} if case(f"{word}-{NONCE}") != f"{word}-{NONCE}" else set()
        assert of(f"{mark}{colon} {VALUES[form]}", form) == (READ[form], expected)
    for sign in INVISIBLE:
        for spelled in (line.replace("-", f"{sign}-", 1), line.replace("-", f"-{sign}{sign}", 1)):
            assert of(spelled, form) == (READ[form], {"invisible"})
        assert of(line.replace(NONCE, NONCE[:4] + sign + NONCE[4:]), form)[0] == "unparsed", "inside the nonce"


def test_an_escaped_sign() -> None:
    for value in ("A>>B", "A>B", "B>A", "B>>A", "A > B", "B >> A"):
        escaped, plain = value.replace(">", "&gt;"), value.replace(" ", "")
        assert of(own("pairwise", escaped), "pairwise") == (plain, {"escaped"})
        assert of(told("pairwise", verdict=escaped), "pairwise", True) == (plain, {"escaped"})
    for order in itertools.permutations("ABC"):
        assert of(own("listwise", " &gt; ".join(order)), "listwise")[0] == order


# Structured replies.

WHOLE = {
    "end token": LINES["end token"],
    "think": [shape for shape in LINES["think"] if NONCE not in shape]
    + [f"{thought}</think>{gap}{{}}" for thought in ("", "hmm", "A. No, B.\n") for gap in ("", "\n", "\n\n")],
    "fence": [
        f"{fence}{info}\n{{}}{end}{fence}"
        for fence, info, end in itertools.product(("```", "~~~"), ("", "json", "JSON", "json5"), ("\n", "\n\n", ""))
    ],
    "invisible": [shape for shape in LINES["invisible"] if not shape.startswith("Why")],
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", WHOLE)
def test_a_wrapped_object_is_read_and_its_wrapper_named(kind: str, form: str) -> None:
    assert len(set(WHOLE[kind])) >= 10
    for shape in WHOLE[kind]:
        assert of(shape.replace("{}", told(form)), form, True) == (READ[form], {kind}), repr(shape)
        assert of(shape.replace("{}", told(form, id="deadbeef")), form, True)[0] == "unparsed"
        assert of(shape.replace("{}", told(form) * 2), form, True)[0] == "unparsed", "two objects"
        assert of(shape.replace("{}", f"So: {told(form)}"), form, True)[0] == "unparsed", "words before it"


def test_wrappers_around_wrappers_are_all_named() -> None:
    reply = f"\ufeff<think>Hm.</think>\n```json\n{told('choice', choice='(B)')}\n```<|im_end|>\n"
    assert of(reply, "choice", True) == ("B", {"invisible", "think", "fence", "end token", "brackets"})
    reply = f"<think>Hm.</think>Why.\n### **verdict\u2013{NONCE}: [[A>>B]]**</s>"
    assert of(reply, "pairwise") == ("A>>B", {"think", "heading", "case", "dash", "brackets", "end token"})
    trial = Trial("e", "q", "c", Model("m", "openai", "m", "v"), Request(Model("m", "openai", "m", "v"), "Which?"))
    trial = Trial(**{**vars(trial), "form": "pairwise", "nonce": NONCE})
    judgment = read(trial, Completion("k", "ok", reply, "stop"))
    assert unwrapped(judgment) == ("brackets", "case", "dash", "end token", "heading", "think")
    assert unwrapped(read(trial, Completion("k", "ok", "No.", "stop"))) == ()


# What stays strict.


@pytest.mark.parametrize("tag", TAGS)
@pytest.mark.parametrize("form", FORMS)
def test_thoughts_that_do_not_end_are_no_reply(form: str, tag: str) -> None:
    for thought in THOUGHTS:
        begun = f"{tag}{thought.format(n=NONCE)}"
        assert of(f"{begun}\n{own(form)}", form)[0] == "unparsed"
        assert of(f"{begun}\n{told(form)}", form, True)[0] == "unparsed"
        assert of(f"{begun}\n{own(form)}\n{tag[0]}/{tag[1:]}", form)[0] == "unparsed", "nothing comes after them"


def test_thoughts_inside_a_reply_are_part_of_it() -> None:
    for tag in TAGS:
        quoted = f"Answer A says {tag} and stops."
        assert of(f"{quoted}\n{own('choice')}", "choice")[0] == "B", "a quotation costs no verdict"
        wavered = f"Well.\n{tag}{own('choice', 'A')}{tag[0]}/{tag[1:]}\n{own('choice')}"
        assert of(wavered, "choice")[0] == "conflict"
    assert of(f"{own('choice', 'A')}\n</think>\n{own('choice')}", "choice")[0] == "conflict"
    assert of(f"{told('choice', choice='A')}</think>{told('choice')}", "choice", True)[0] == "unparsed"
    assert of(f"So {told('choice', choice='A')}</think>{told('choice')}", "choice", True)[0] == "unparsed"


@pytest.mark.parametrize("form", FORMS)
def test_another_verdict_before_is_a_conflict_in_whatever_wrapping(form: str) -> None:
    other = {"pairwise": "B>A", "choice": "C", "several": "B", "number": "3", "listwise": "B > A > C"}[form]
    wrapped = [f"{a}{other}{b}" for a, b in (*PAIRS, ("[[", "]]"), ("**", "**"), ("", "."), ("`", "`"))]
    wrapped += [f"Option {other}"] if form in ("choice", "several") else []
    wrapped += [other.replace(">", "&gt;")]
    for value in wrapped:
        for line in (own(form, value), f"- {own(form, value)}", own(form, "").lower() + value):
            assert of(f"{line}\nNo, wait.\n{own(form)}", form)[0] == "conflict", line
            assert of(f"{own(form)}\nNo, wait.\n{own(form, value)}", form)[0] in ("conflict", "unparsed"), line


@pytest.mark.parametrize(
    "line",
    ["> {}", "~~{}~~", "| {} |", "My verdict: {}", "not {}", "{} (close)", "{} or so", "({}", "{}]", "<{}>", "{{{}}}"],
)
@pytest.mark.parametrize("form", [form for form in FORMS if form != "listwise"])
def test_what_may_carry_meaning_is_not_taken_off(line: str, form: str) -> None:
    assert of(f"Because.\n{line.format(own(form))}", form)[0] == "unparsed"


@pytest.mark.parametrize("tag", TAGS)
@pytest.mark.parametrize("finish", ["stop", None])
def test_thoughts_that_do_not_end_within_the_limit_are_truncated(tag: str, finish: str | None) -> None:
    model = Model("m", "openai", "m", "v", max_tokens=100)
    asked = Trial("e", "q", "c", model, Request(model, "Which?"), form="pairwise", nonce=NONCE)

    def outcome(text: str, output: int | None) -> str:
        return read(asked, Completion("k", "ok", text, finish, usage=Usage(10, output))).outcome

    thoughts = f"{tag}First I lean to\n{own('pairwise')}"
    assert [outcome(thoughts, output) for output in (100, 99, None)] == ["truncated", "unparsed", "unparsed"]
    assert outcome(f"{tag}Hm.{tag[0]}/{tag[1:]}\n{own('pairwise')}", 100) == "ok"
    assert outcome("Let me see.", 100) == "unparsed"


def test_a_wrong_id_counts_only_where_the_schema_was_enforced_and_is_told_apart() -> None:
    for wrong in ("{{id}}", ":{", "./7f3a91ce", "VERDICT-7f3a91ce", "", "0", "id", NONCE[:-1], "5eed", NONCE * 2, None):
        reply = told("choice", id=wrong)
        assert of(reply, "choice", True)[0] == "unparsed"
        assert of(reply, "choice", True, enforced=True) == ("B", {"id not copied"})
        assert of(reply + reply, "choice", True, enforced=True)[0] == "unparsed", "one object only"
        assert of(told("choice", id=wrong, choice="D"), "choice", True, enforced=True)[0] == "unparsed"
    assert of(told("choice", id=NONCE.upper()), "choice", True) == ("B", {"case"})
    assert of(told("choice"), "choice", True, enforced=True) == ("B", set())
