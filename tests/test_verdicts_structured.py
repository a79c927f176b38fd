"""Structured replies: one JSON object with the nonce, or nothing."""

from __future__ import annotations

import json

import pytest

from helpers.prompts import schema
from tests.test_verdicts import LABELS, NONCE, ranked, structured


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
