"""Replies are read exactly or not at all."""

from __future__ import annotations

import json

import pytest

from helpers.prompts import schema
from helpers.types import OUTCOMES, PAIRWISE, Completion, Model, Request, Trial
from helpers.verdicts import parse, read
from tests.case_tables import load_cases

NONCE = "7f3a91ce"
CASES = load_cases("verdicts", nonce=NONCE)
LABELS = ("A", "B", "C")
JUDGE = Model("judge", "simulated", "judge-1", "claude")
ORDER = f"RANKING-{NONCE}: C > A > B"


def text(reply: str, form: str = "listwise"):
    return parse(reply, form, LABELS, NONCE, structured=False)


def structured(reply: object, form: str = "listwise"):
    return parse(reply if isinstance(reply, str) else json.dumps(reply), form, LABELS, NONCE, structured=True)


def ranked(**fields):
    plain = {"id": NONCE, "ranking": ["C", "A", "B"], "scores": {"A": 6, "B": 2, "C": 9}, "justification": "C."}
    return {**plain, **fields}


def trial(form: str = "listwise", structured: bool = False, nonce: str = NONCE) -> Trial:
    asked = schema(form, LABELS) if structured else None
    request = Request(JUDGE, "prompt", schema=asked)
    return Trial("test", "q1", "math", JUDGE, request, form=form, shown=("x", "y", "z"), labels=LABELS, nonce=nonce)


def reply(text: str, finish: str | None = "stop", status: str = "ok") -> Completion:
    return Completion("key", status, text, finish)


# How a reply ended comes before what it says.


@pytest.mark.parametrize(
    ("finish", "said", "outcome"),
    [
        *(("refusal", ORDER, "refused"), ("filter", ORDER, "filtered"), ("length", ORDER, "truncated")),
        *(("length", "", "truncated"), ("refusal", "", "refused"), ("stop", "", "empty"), (None, "", "empty")),
        *(("stop", " \n\t\u00a0", "empty"), ("tool_calls", ORDER, "unparsed"), ("stop", "I cannot say.", "unparsed")),
        *(("stop", ORDER, "ok"), (None, ORDER, "ok")),
    ],
)
def test_ending(finish, said, outcome):
    judgment = read(trial(), reply(said, finish))
    assert judgment.outcome == outcome
    assert (judgment.verdict is not None) == (outcome == "ok")
    assert judgment.completion == reply(said, finish)


def test_a_failed_attempt_is_missing():
    assert read(trial(), reply(ORDER, status="maybe_billed")).outcome == "missing"
    assert read(trial(), reply("", None, status="rate_limited")).verdict is None


def test_the_schema_decides_the_mode():
    told = json.dumps({"id": NONCE, "ranking": ["C", "A", "B"]})
    assert read(trial(structured=True), reply(told)).verdict.ranking == ("C", "A", "B")
    assert read(trial(structured=False), reply(told)).outcome == "unparsed"
    assert read(trial(structured=True), reply(ORDER)).outcome == "unparsed"


@pytest.mark.parametrize(
    ("form", "labels", "nonce", "message"),
    [
        ("ranking", LABELS, NONCE, "listwise, pairwise, choice, several, number"),
        ("listwise", LABELS, "", "nonce"),
        ("listwise", LABELS, ".*", "nonce"),
        ("listwise", (), NONCE, "labels"),
        ("choice", ("A", "A"), NONCE, "labels"),
    ],
)
def test_a_trial_that_cannot_be_read_safely_is_an_error(form, labels, nonce, message):
    with pytest.raises(ValueError, match=message):
        parse(ORDER, form, labels, nonce, structured=False)
    if message != "nonce":
        with pytest.raises(ValueError, match=message):
            schema(form, labels)


# The text form.


@pytest.mark.parametrize(
    "line",
    [
        *CASES["ranking_line"],
        *(ORDER, f"  {ORDER}  \n\n", f"{ORDER}.", f"**{ORDER}**", f"**{ORDER}**.", f"**{ORDER}.**", f"`{ORDER}`"),
        *(f"```\n{ORDER}\n```", f"```text\n{ORDER}\n\n```\n", f"{ORDER}\r\n", f"* {ORDER}", f"{ORDER}\n{ORDER}"),
    ],
)
def test_ranking_line(line):
    outcome, verdict = text(line)
    assert (outcome, verdict.ranking, verdict.scores) == ("ok", ("C", "A", "B"), {})


@pytest.mark.parametrize("line", [*CASES["no_line_of_its_own_at_the_end"], f"RANKING-{NONCE[:-1]}: C > A > B"])
def test_no_line_of_its_own_at_the_end(line):
    assert text(line) == ("unparsed", None)


@pytest.mark.parametrize(
    "order",
    [
        *("C > A", "C > A > A", "C > A > B > B", "C > A > G", "C > A > b", "C > A > \u0412", "A", ""),
        *("C > A = B", "C, A, B", "C >> A > B", "C < A < B", "C > A > B..", "C > A > B?", "C > A > B (close)"),
        "<best> > <next> > <last>",
    ],
)
def test_no_ranking_is_repaired(order):
    assert text(f"RANKING-{NONCE}: {order}") == ("invalid_ranking", None)


@pytest.mark.parametrize(("form", "before", "last"), CASES["two_different_verdicts_conflict"])
def test_two_different_verdicts_conflict(form, before, last):
    assert text(f"{before}\n{last}", form) == ("conflict", None)


def test_the_same_verdict_twice_is_one():
    assert text(f"VERDICT-{NONCE}: A >> B\nVERDICT-{NONCE}: A>>B", "pairwise")[1].choice == "A>>B"
    assert text(f"VERDICT-{NONCE}: 7.0, or so\nVERDICT-{NONCE}: 7", "number")[1].number == 7
    assert text(f"VERDICT-{NONCE}: Can be long.\nVERDICT-{NONCE}: B", "choice")[1].choice == "B"


@pytest.mark.parametrize(("line", "scores", "contradicts"), CASES["scores_line"])
def test_scores_line(line, scores, contradicts):
    outcome, verdict = text(f"C is best.\n\n**SCORES-{NONCE}: {line}**\n\n{ORDER}")
    assert (outcome, verdict.scores, verdict.contradicts) == ("ok", scores, contradicts)
    assert verdict.justification == "C is best."


def test_scores_that_are_not_the_scores():
    assert text(f"SCORES-{NONCE}: A=1 G=7\n{ORDER}") == ("invalid_ranking", None)
    assert text(f"SCORES-{NONCE}: A=1\nthat is all\n{ORDER}")[1].scores == {}
    assert text(f"SCORES-{NONCE}: A=1\nno:\nSCORES-{NONCE}: A=2\n{ORDER}")[1].scores == {}
    assert text(f"SCORES-{NONCE}: A=1\nyes:\nSCORES-{NONCE}: A=1\n{ORDER}")[1].scores == {"A": 1}


@pytest.mark.parametrize(
    ("form", "value", "read_as"),
    [("pairwise", label, label) for label in PAIRWISE]
    + [("pairwise", "B >> A", "B>>A"), ("pairwise", "[[A>B]]", "A>B")]
    + [("pairwise", other, None) for other in ("B=A", "A<B", "A", "A>B>>A", "A> >B", "")]
    + [("choice", "C", "C"), ("number", "7", 7), ("number", "-2.5", -2.5), ("number", "+1e3", 1000)]
    + [("choice", other, None) for other in ("c", "D", "AB", "", "\u0421", "A or D", "A B")]
    + [("number", other, None) for other in ("7,5", "1e999", "NaN", "inf", "1_0", "\u0667", "7 %", "7 or 8", "2*3")],
)
def test_other_forms(form, value, read_as):
    outcome, verdict = text(f"Because.\n**VERDICT-{NONCE}: {value}.**", form)
    assert outcome == ("unparsed" if read_as is None else "ok")
    assert parse(f"VERDICT-{NONCE}: {value}", form, "".join(LABELS), NONCE, structured=False)[0] == outcome
    if read_as is not None:
        assert (verdict.number if form == "number" else verdict.choice) == read_as
        assert (verdict.justification, verdict.ranking, verdict.scores) == ("Because.", (), {})


@pytest.mark.parametrize(
    ("value", "outcome"),
    [
        *[(said, "two_options") for said in ("A or B", "A, B", "A and C", "A/B", "B & C", "**A**, **B**", "A, B, C")],
        *[(said, "no_option") for said in ("none", "None of them", "no option", "NO CHOICE", "none of the options.")],
        *[(said, "unparsed") for said in ("none, really", "A, maybe B", "nobody", "A or", ", B", "a", "option D")],
        ("A, A", "unparsed"),
    ],
)
def test_no_option_and_two_options_are_outcomes_of_their_own(value, outcome):
    assert text(f"Because.\nVERDICT-{NONCE}: {value}", "choice") == (outcome, None)
    stated = json.dumps({"id": NONCE, "choice": value.replace("*", "").removesuffix(".")})
    assert parse(stated, "choice", LABELS, NONCE, structured=True) == (outcome, None)


@pytest.mark.parametrize(
    ("value", "read_as"),
    [
        *[(said, ("A", "C")) for said in ("A, C", "A and C", "A, and C", "`A`, `C`", "A; C", "A, C, A")],
        *[("C", ("C",)), ("none", ()), ("None of the above", ()), ("C, A", ("C", "A"))],
        *[(said, None) for said in ("A, D", "a", "A, C because", "all", "", "A C", "none, A")],
    ],
)
def test_several_options(value, read_as):
    outcome, verdict = text(f"Because.\nVERDICT-{NONCE}: {value}", "several")
    assert outcome == ("unparsed" if read_as is None else "ok")
    assert (verdict.choices if verdict else None) == read_as


@pytest.mark.parametrize(
    ("stated", "read_as"),
    [
        *((["A", "C"], ("A", "C")), ([], ()), (["A", "A"], ("A",))),
        *((["D"], None), ("A", None), ([["A"]], None), (None, None)),
    ],
)
def test_several_options_structured(stated, read_as):
    said = json.dumps({"id": NONCE, "choices": stated})
    outcome, verdict = parse(said, "several", LABELS, NONCE, structured=True)
    assert (outcome, verdict and verdict.choices) == (("ok", read_as) if read_as is not None else ("unparsed", None))


def test_several_options_named_twice_differently_conflict():
    for before in ("A, B", "none", "A", "A, C, B"):
        assert text(f"VERDICT-{NONCE}: {before}\nVERDICT-{NONCE}: A, C", "several") == ("conflict", None)
    assert text(f"VERDICT-{NONCE}: C, A\nVERDICT-{NONCE}: A, C", "several")[1].choices == ("A", "C")


def test_every_outcome_can_come_about():
    said = [ORDER, "", "x", f"RANKING-{NONCE}: C", f"RANKING-{NONCE}: A > B > C\n{ORDER}"]
    pairs = [(line, finish) for line in said for finish in ("stop", "length", "refusal", "filter")]
    options = {text(f"VERDICT-{NONCE}: {said}", "choice")[0] for said in ("none", "A, B")}
    assert {read(trial(), reply(*pair)).outcome for pair in pairs} | options == set(OUTCOMES)


# --- replies of a schema ----------------------------------------------------------------------------------------------


def test_structured_ranking():
    outcome, verdict = structured(ranked(justification=" C is\nbest. "))
    assert (outcome, verdict.ranking, verdict.scores) == ("ok", ("C", "A", "B"), {"A": 6, "B": 2, "C": 9})
    assert (verdict.justification, verdict.contradicts) == ("C is\nbest.", False)
    assert structured(f"\n {json.dumps(ranked(), indent=2)}\n")[0] == "ok"
    assert structured({"id": NONCE, "ranking": ["A", "B", "C"]})[1].scores == {}
    assert structured(ranked(ranking=["B", "A", "C"]))[1].contradicts


@pytest.mark.parametrize(
    "scores", [{"A": "6", "B": True, "C": None}, {"A": 10.5, "B": -1, "C": [7]}, [6, 2, 9], "A=6", None]
)
def test_bad_scores_are_absent_and_the_ranking_counts(scores):
    outcome, verdict = structured(ranked(scores=scores))
    assert (outcome, verdict.ranking, verdict.scores, verdict.contradicts) == ("ok", ("C", "A", "B"), {}, False)


@pytest.mark.parametrize(
    "ranking",
    [
        *(["C", "A"], ["C", "A", "A"], ["C", "A", "G"], ["C", "A", "b"], ["C", "A", "B", "B"], ["C", "A", "B", 1], []),
        *([["C"], ["A"], ["B"]], ["C", "A", None], ["C > A > B"], {"C": 1, "A": 2, "B": 3}, {}),
        *("C > A > B", "CAB", None, 3),
    ],
)
def test_structured_ranking_is_not_repaired(ranking):
    assert structured(ranked(ranking=ranking)) == ("invalid_ranking", None)
    assert structured(ranked(scores={"A": 6, "G": 2})) == ("invalid_ranking", None), "a label that was not shown"


WHOLE = json.dumps(ranked())


@pytest.mark.parametrize(
    "reply",
    [
        ranked(id="deadbeef"),
        ranked(id=None),
        ranked(id=[NONCE]),
        ranked(verdict="A>B"),
        {key: value for key, value in ranked().items() if key != "id"},
        {key: value for key, value in ranked().items() if key != "ranking"},
        [ranked()],
        {"reply": ranked()},
        json.dumps(WHOLE),
        f"My verdict: {WHOLE}",
        f"{WHOLE}\n{WHOLE}",
        f"{WHOLE}.",
        WHOLE[:-1],
        WHOLE.replace('{"id"', '{"ranking": ["B", "A", "C"], "id"'),
        WHOLE.replace('"A": 6', '"A": 1, "A": 6'),
        WHOLE.replace('"A": 6', '"A": NaN'),
        WHOLE.replace('"A": 6', '"A": -Infinity'),
        WHOLE.replace('"A": 6', '"A": ' + "[" * 200_000),
        WHOLE.replace('"A": 6', '"A": ' + "[" * 200_000 + "]" * 200_000),
        WHOLE.replace('"', "'"),
        "null",
        "7",
    ],
)
def test_anything_but_one_object_with_the_nonce_is_unparsed(reply):
    assert structured(reply) == ("unparsed", None)


def test_odd_numbers_and_texts():
    assert structured(WHOLE.replace('"A": 6', '"A": 1e999'))[1].scores == {"B": 2, "C": 9}
    assert structured(WHOLE.replace('"A": 6', f'"A": {"9" * 10_000}'))[1].scores == {"B": 2, "C": 9}
    assert structured(ranked(justification=["x"]))[1].justification == ""
    assert structured(WHOLE.replace('"C."', r'"\ud800 \ud83d\ude00"'))[1].justification == "? \U0001f600"


@pytest.mark.parametrize(
    ("form", "field", "good", "bad"),
    [
        ("pairwise", "verdict", "A>>B", ["A<B", "A", None, ["A>B"], 1, {"A": "B"}]),
        ("choice", "choice", "B", ["D", "b", None, ["B"], 1, "", "AB"]),
        ("number", "number", 2.5, ["2.5", True, None, [2.5], "x"]),
    ],
)
def test_structured_other_forms(form, field, good, bad):
    outcome, verdict = structured({"id": NONCE, field: good}, form)
    assert (outcome, verdict.number if form == "number" else verdict.choice) == ("ok", good)
    for value in bad:
        assert structured({"id": NONCE, field: value}, form) == ("unparsed", None)
    assert structured(f'{{"id": "{NONCE}", "number": {"9" * 400}}}', "number") == ("unparsed", None)


@pytest.mark.parametrize("form", ["listwise", "pairwise", "choice", "number"])
def test_schema_is_strict_and_portable(form):
    def check(part):
        assert set(part) <= {"type", "properties", "required", "additionalProperties", "items", "enum"}
        if part["type"] == "object":
            assert part["required"] == list(part["properties"])
            assert part["additionalProperties"] is False
        for inner in [*part.get("properties", {}).values(), *filter(None, [part.get("items")])]:
            check(inner)

    asked = schema(form, LABELS)
    check(asked)
    assert asked["properties"]["id"] == {"type": "string"}  # one schema for all questions
    if form == "listwise":
        assert list(asked["properties"]) == ["id", "ranking", "scores", "justification"]
        assert list(asked["properties"]["scores"]["properties"]) == list(LABELS)
    if form == "pairwise":
        assert asked["properties"]["verdict"]["enum"] == ["A>>B", "A>B", "A=B", "B>A", "B>>A"]
