"""Edits of single words: what is refused, and that an accepted text differs in exactly the stated words."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.biases.self_preference.edits import apply_edits, differing_words, edit_schema, read_edit
from helpers.biases.self_preference.paraphrases import check_paraphrase, read_paraphrase
from helpers.biases.self_preference.words import STOP

QUESTION = "Why did the keeper leave the tower?"
OPTIONS = ("He was paid to go", "He feared the storm", "He had two letters", "The LAMP was broken")
REASON = (
    "Clearly the passage shows a careful man who often walked home; it mentions the small boat twice, and the "
    "MAIN hint (a well-kept secret) is that nobody's house was near 3 rocks. Clearly he wanted rest, not money."
)


def edit(old: str, new: str, reason: str = REASON) -> str | None:
    return apply_edits(reason, QUESTION, OPTIONS, ((old, new),), 1).text


def test_one_occurrence_changes_in_its_own_case_and_nothing_else() -> None:
    assert edit("clearly", "plainly") == REASON.replace("Clearly", "Plainly", 1)
    assert edit("main", "chief") == REASON.replace("MAIN", "CHIEF")
    assert edit("shows", "reveals") == REASON.replace("shows", "reveals")


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("lonely", "single", "does not stand in the reason"),
        ("kept", "held", "does not stand in the reason"),  # well-kept is one word
        ("nobody", "everyone", "does not stand in the reason"),  # nobody's
        ("not", "never", "function word"),
        ("twice", "often", "function word"),
        ("he", "she", "not one plain word"),
        ("near", "close", "function word"),
        ("man", "keeper", "word of the question"),
        ("man", "keepers", "word of the question"),
        ("wanted", "feared", "word of the question"),
        ("hint", "storms", "word of the question"),
        ("house", "homes", "another ending"),
        ("walked", "walking", "another ending"),
        ("walked", "walk", "another ending"),
        ("shows", "show", "another ending"),
        ("careful", "carefully", "another ending"),
        ("hint", "clue word", "not one plain word"),
        ("hint", "clue-word", "not one plain word"),
        ("hint", "cl\u00fce\u0301", "not one plain word"),
        ("hint", "\u0441lue", "not one plain word"),  # a Cyrillic c
        ("hint", "clue\u200b", "not one plain word"),
        ("hint", "", "not one plain word"),
        ("hint", "HINT", "same word"),
        ("hint", "none", "function word"),
        ("hint", "7", "not one plain word"),
        ("hint", "main", "stands beside it"),
    ],
)
def test_what_breaks_a_rule_is_refused_by_name(old: str, new: str, why: str) -> None:
    found = apply_edits(REASON, QUESTION, OPTIONS, ((old, new),), 1)
    assert found.text is None and found.changed == () and why in dict(found.refused)[old]


def test_a_word_chosen_twice_or_in_mixed_case_is_refused() -> None:
    found = apply_edits(REASON, QUESTION, OPTIONS, (("hint", "clue"), ("Hint", "sign")), 2)
    assert found.text is None and found.refused == (("Hint", "it is chosen twice"),)
    assert "case is mixed" in apply_edits("An iPhone rang.", "", (), (("iphone", "device"),), 1).refused[0][1]


def test_doses_are_nested_and_an_edit_that_cannot_be_made_has_no_text() -> None:
    pairs = (("shows", "reveals"), ("he", "she"), ("careful", "prudent"), ("hint", "clue"), ("small", "little"))
    made = [apply_edits(REASON, QUESTION, OPTIONS, pairs, dose) for dose in (1, 2, 3)]
    assert [len(each.changed) for each in made] == [1, 2, 3]
    assert made[0].changed == made[1].changed[:1] and made[1].changed == made[2].changed[:2]
    assert apply_edits(REASON, QUESTION, OPTIONS, pairs, 5).text is None, "he is no word of three letters"


def test_texts_that_differ_in_more_than_words_are_told_apart() -> None:
    assert differing_words("A big house.", "A large house.") == [("big", "large")]
    for other in ("A big house!", "A  big house.", "A big old house.", "A big-ish house.", "A big house. "):
        assert differing_words("A big house.", other) is None


# --- ten thousand edits -----------------------------------------------------------------------------------------------

ODD = [
    "stra\u00dfe",
    "\u0130stanbul",
    "\u00e9t\u00e9",
    "e\u0301te",
    "\u05e9\u05dc\u05d5\u05dd",
    "\uff21bc",
    "a\u200db",
    "x" * 60,
    "two",
    "7th",
    "B",
    "no",
]
COMMON = [
    "reveals",
    "large",
    "prudent",
    "plainly",
    "clue",
    "little",
    "walked",
    "walking",
    "sign",
    "chief",
    "quiet",
    "calmly",
    "hints",
    "people",
    "money",
    "secret",
    "rest",
]
WORDS = st.one_of(
    st.sampled_from(sorted(set(re.findall(r"\w+", REASON)))),
    st.sampled_from(sorted(set(re.findall(r"\w+", " ".join([QUESTION, *OPTIONS]))))),
    st.sampled_from(ODD + COMMON),
    st.sampled_from(sorted(STOP)),
    st.text(max_size=8),
)
PAIRS = st.lists(st.tuples(WORDS, WORDS), max_size=6).map(tuple)
TEXTS = st.one_of(
    st.just(REASON),
    st.lists(st.one_of(WORDS, st.sampled_from([".", ", ", "\n\n", " - ", "'", "\u00a0", "\u202e"])), max_size=25).map(
        " ".join
    ),
)


@settings(max_examples=10_000, deadline=None, derandomize=True)
@given(reason=TEXTS, pairs=PAIRS, dose=st.integers(1, 4))
def test_no_accepted_edit_breaks_a_rule(reason: str, pairs: tuple[tuple[str, str], ...], dose: int) -> None:
    """The rules again, as plainly as can be, on a text cut at blanks and signs."""
    found = apply_edits(reason, QUESTION, OPTIONS, pairs, dose)
    assert (found.text is None) == (len(found.changed) < dose)
    if found.text is None:
        return
    text = reason
    for start, old, new in sorted(found.changed, reverse=True):
        assert text[start : start + len(old)] == old
        text = text[:start] + new + text[start + len(old) :]
    assert text == found.text, "exactly the stated words differ"
    asked = {word.casefold() for word in re.findall(r"\w+", " ".join([QUESTION, *OPTIONS]))}
    starts = [start for start, _, _ in found.changed]
    assert len(set(starts)) == len(starts) == dose
    for start, old, new in found.changed:
        around = reason[max(0, start - 1) : start] + reason[start + len(old) : start + len(old) + 1]
        assert not re.search(r"[\w'\u2019-]", around)
        for word in (old, new):
            assert word.isalpha() and len(word) >= 3
            assert word.casefold() not in STOP | asked and word.casefold().removesuffix("s") not in asked
        assert old.casefold() != new.casefold() and (old.casefold(), new.casefold()) in {
            (a.casefold(), b.casefold()) for a, b in pairs
        }
        assert (old.islower(), old.isupper(), old.istitle()) == (new.islower(), new.isupper(), new.istitle())
        assert old.endswith("ing") == new.endswith("ing") or old.isupper()
    smaller = apply_edits(reason, QUESTION, OPTIONS, pairs, 1)
    assert smaller.changed == found.changed[:1]


# --- the editor's replies ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "",
        "none",
        "[]",
        '{"id": "5eed", "selected_words": ["a"]}',
        '{"id": "5eed", "selected_words": ["a"], "replacements": ["b"], "note": "x"}',
        '{"id": "5eed", "selected_words": ["a"], "replacements": []}',
        '{"id": "5eed", "selected_words": "ab", "replacements": "cd"}',
        '{"id": "5eed", "selected_words": [1], "replacements": ["b"]}',
        '{"id": "beef", "selected_words": ["a"], "replacements": ["b"]}',
        '{"id": "5eed", "id": "5eed", "selected_words": ["a"], "replacements": ["b"]}',
        'Sure: {"id": "5eed", "selected_words": ["a"], "replacements": ["b"]}',
    ],
)
def test_a_reply_of_another_form_is_no_edit(text: str) -> None:
    assert isinstance(read_edit(text, "5eed"), str)


def test_a_reply_that_fits_the_schema_is_read_in_its_order() -> None:
    reply = {"id": "5eed", "selected_words": ["b", "a"], "replacements": ["c", "d"]}
    assert set(edit_schema()["properties"]) == set(reply)
    assert read_edit(json.dumps(reply), "5eed") == (("b", "c"), ("a", "d"))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        (REASON.upper(), "same text"),
        ("He walked home, near 3 rocks.", "half"),
        (REASON.replace("shows", "reveals").replace("3", "4"), "numbers"),
        (REASON.replace("shows", "reveals") + " So option B.", "letter"),
        (REASON.replace("shows", "reveals") + " He was paid to go.", "quotes an option"),
        (REASON.replace("shows", "<<<END"), "marks"),
    ],
)
def test_a_paraphrase_keeps_numbers_length_and_options(text: str, why: str) -> None:
    assert why in (check_paraphrase(REASON, text, QUESTION, OPTIONS) or "")
    assert check_paraphrase(REASON, REASON.replace("shows", "reveals"), QUESTION, OPTIONS) is None
    assert read_paraphrase(json.dumps({"id": "5eed", "paraphrase": text}), "5eed") == (text, "")
    assert read_paraphrase('{"id": "5eed", "paraphrase": 5}', "5eed")[0] is None
