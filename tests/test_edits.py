"""Edits of single words: what is refused, and that an accepted text differs in exactly the stated words."""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given, settings, strategies as st

from helpers.biases.self_preference.edited import (
    NUMBERS,
    STOP,
    Edit,
    _joins,
    apply_edits,
    check_edit,
    differing_words,
    edit_schema,
    paraphrase_schema,
    read_edit,
)
from tests.case_tables import load_cases

CASES = load_cases("edits")

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


@pytest.mark.parametrize(("old", "new", "why"), CASES["what_breaks_a_rule_is_refused_by_name"])
def test_what_breaks_a_rule_is_refused_by_name(old: str, new: str, why: str) -> None:
    found = apply_edits(REASON, QUESTION, OPTIONS, ((old, new),), 1)
    assert found.text is None and found.changed == () and why in dict(found.refused)[old]


_NUMBER_WORDS = """
single sole double twin triple quadruple pair couple trio quartet dozen score half quarter percent once twice thrice
first second third both singles doubled twins pairs couples dozens halves halved quarters firstly solely decades
centuries
"""


@pytest.mark.parametrize("number", _NUMBER_WORDS.split())
def test_a_word_that_says_how_many_is_neither_chosen_nor_a_replacement(number: str) -> None:
    for old, new in ((number, "vessel"), ("vessel", number)):
        found = apply_edits(f"Then {old} left.", "", (), ((old, new),), 1)
        assert "function word or a number" in dict(found.refused)[old]


@pytest.mark.parametrize(
    ("old", "new"), [("single", "double"), ("double", "triple"), ("pair", "trio"), ("couple", "trio")]
)
def test_a_number_is_not_changed_to_another(old: str, new: str) -> None:
    assert apply_edits(f"They saw the {old} there.", "", (), ((old, new),), 1).text is None


@pytest.mark.parametrize(
    ("old", "new"),
    [("scarcely", "greatly"), ("barely", "fully"), ("seldom", "regular"), ("whilst", "wheat"), ("amidst", "grain")],
)
def test_a_quasi_negation_or_preposition_is_no_style(old: str, new: str) -> None:
    for one, other in ((old, new), (new, old)):
        found = apply_edits(f"Then it {one} left.", "", (), ((one, other),), 1)
        assert found.text is None and "function word" in found.refused[0][1]


def test_no_list_lacks_a_word_that_denies_doubts_or_joins() -> None:
    said = """barely scarcely hardly seldom never almost whilst amidst amongst lest albeit unto without
    except unless neither nor not none nobody nothing nowhere only until despite versus"""
    assert set(said.split()) <= STOP


@pytest.mark.parametrize(("reason", "old", "new"), CASES["a_name_is_neither_chosen_nor_a_replacement"])
def test_a_name_is_neither_chosen_nor_a_replacement(reason: str, old: str, new: str) -> None:
    found = apply_edits(reason, "", (), ((old, new),), 1)
    assert found.text is None and "is a name" in found.refused[0][1]


def test_a_capital_that_begins_a_sentence_makes_no_name() -> None:
    for before in CASES["a_capital_that_begins_a_sentence_makes_no_name"]:
        assert apply_edits(f"{before}Clearly.", "", (), (("clearly", "plainly"),), 1).text == f"{before}Plainly."


def test_a_replacement_that_could_be_a_mark_of_a_prompt_is_refused() -> None:
    for new in ("deadbeef", "DEADBEEF", "facadefacade"):
        found = apply_edits("THE HINT.", "", (), (("HINT", new),), 1)
        assert found.refused == (("HINT", "its replacement could be a mark of a prompt"),)
    assert edit("hint", "facade"), "no mark is so short"


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


@pytest.mark.parametrize(("reason", "old", "new"), CASES["a_word_joined_to_more_or_of_the_question_is_not_changed"])
def test_a_word_joined_to_more_or_of_the_question_is_not_changed(reason: str, old: str, new: str) -> None:
    assert apply_edits(reason, QUESTION, OPTIONS, ((old, new),), 1).text is None
    assert apply_edits(reason, QUESTION, OPTIONS, ((old, new), ("hint", "clue")), 1).text == reason.replace(
        "hint", "clue"
    )


@pytest.mark.parametrize(
    "asked", ["the keeper's", "keeper-like", "KEEPERS?", "keepering", "(kee\u00adper)", "keepers\u2019"]
)
def test_a_word_of_the_question_is_known_in_compounds_and_inflections(asked: str) -> None:
    for question, options in ((f"Who is {asked} friend?", ()), ("Who?", ("Nobody", f"{asked} friend"))):
        for pair in (("keeper", "guard"), ("guard", "keeper")):
            found = apply_edits(f"The {pair[0]} slept.", question, options, (pair,), 1)
            assert "of the question" in found.refused[0][1]


@pytest.mark.parametrize(
    ("old", "new"),
    [("reply", "answer"), ("string", "cord"), ("thought", "believed"), ("walked", "went"), ("went", "left")],
)
def test_endings_that_show_no_inflection_and_irregular_pasts_are_known(old: str, new: str) -> None:
    assert apply_edits(f"Then {old} it.", "", (), ((old, new),), 1).text == f"Then {new} it."


def test_the_first_plain_occurrence_is_the_one_that_changes() -> None:
    reason = "A well-kept (secret) SECRET, secrets and the secret's secret: secret\u0301."
    assert apply_edits(reason, "", (), (("secret", "riddle"),), 1).changed == ((13, "secret", "riddle"),)
    joined = "A top-secret thing. Secret is secret"
    assert apply_edits(joined, "", (), (("secret", "riddle"),), 1).text == "A top-secret thing. Riddle is secret"
    accents = "\U0001f600 e\u0301t\u00e9, caf\u00e9 \u05d0\u05d1 word"
    assert apply_edits(accents, "", (), (("caf\u00e9", "bar"), ("word", "term")), 2).text == accents.replace(
        "caf\u00e9", "bar"
    ).replace("word", "term")


@pytest.mark.parametrize(("asked", "word"), CASES["forms_of_one_word_are_known_both_ways"])
def test_forms_of_one_word_are_known_both_ways(asked: str, word: str) -> None:
    for question, said in ((asked, word), (word, asked)):
        if len(said) > 2:
            found = apply_edits(f"Then {said}.", question, (), ((said, "clue"),), 1)
            assert "of the question" in found.refused[0][1]
    assert apply_edits("Then tower, rest.", "The town was red", (), (("tower", "spire"), ("rest", "sleep")), 2).text


@pytest.mark.parametrize(("reason", "new", "fits"), CASES["an_article_before_a_word_still_fits"])
def test_an_article_before_a_word_still_fits(reason: str, new: str, fits: bool) -> None:
    found = apply_edits(reason, "", (), ((reason.split()[1], new),), 1)
    assert (found.text is not None) == fits and (fits or "article" in found.refused[0][1])


def test_two_edits_do_not_make_one_word_stand_twice() -> None:
    found = apply_edits("It was big, small.", "", (), (("big", "wide"), ("small", "wide")), 2)
    assert found.text is None and found.refused == (("small", "its replacement stands beside it"),)
    found = apply_edits("It was big, small.", "", (), (("small", "wide"), ("big", "small")), 2)
    assert found.refused == (("big", "its replacement stands beside it"),), "also beside a word that has changed"
    assert apply_edits("It was big\n\n(small).", "", (), (("big", "small"),), 1).text is None


def test_texts_that_differ_in_more_than_words_are_told_apart() -> None:
    assert differing_words("A big house.", "A large house.") == [("big", "large")]
    assert differing_words("A big house.", "A big house.") == []
    for other in CASES["texts_that_differ_in_more_than_words_are_told_apart"]:
        assert differing_words("A big house.", other) is None


@pytest.mark.parametrize(("reason", "edited", "why"), CASES["a_published_edit_is_what_our_own_rules_make_of_its_words"])
def test_a_published_edit_is_what_our_own_rules_make_of_its_words(reason: str, edited: str, why: str) -> None:
    found = check_edit(reason, edited, "Who?", (), 1)
    assert found.text is None and why in found.refused[0][1]


def test_a_published_edit_by_the_rules_is_kept_as_it_is() -> None:
    for reason, edited in (("Clearly a hint.", "Plainly a hint."), ("The hint, the hint.", "The clue, the hint.")):
        assert check_edit(reason, edited, "Who?", (), 1).text == edited
    assert check_edit("A hint, a sign.", "A clue, a mark.", "Who?", (), 2).changed == (
        (2, "hint", "clue"),
        (10, "sign", "mark"),
    )


def test_no_sign_that_parts_words_is_itself_of_a_word() -> None:
    """An accepted edit changes whole words of its text, since what may stand beside a plain word is no letter."""
    parting = [sign for sign in map(chr, range(sys.maxunicode + 1)) if not _joins(sign)]
    assert len(parting) > 5_000 and not re.search(r"\w", "".join(parting))


def test_a_dose_of_nothing_changes_nothing() -> None:
    assert apply_edits(REASON, QUESTION, OPTIONS, (("hint", "clue"),), 0) == Edit(REASON)


# --- ten thousand edits ----------------------------------------------------------------------------------------------

_ODD = """
stra\u00dfe \u0130stanbul \u0131tem \u00e9t\u00e9 e\u0301te \u05e9\u05dc\u05d5\u05dd \uff21bc a\u200db \u017fhows
two thirds 7th 7 B no XIV iPhone it's well-kept \u202eword clue\u0301 e.g.
Peter Monday July single double pair whilst deadbeef
"""
ODD = _ODD.split()
#: Each of these may stand for each other one of its line.
ALIKE = [
    line.split()
    for line in """shows reveals indicates suggests
small big wide dark narrow little
careful prudent timid wary attentive
clearly plainly openly surely
hint clue sign mark idea
walked strolled wandered went strode
boat ship vessel
money gold rest sleep
passage text story
main chief key
secret riddle mystery
storms gales winds keepers guards
café bistro""".splitlines()
]
FINE = [word for line in ALIKE for word in line]
WORDS = st.sampled_from(
    [
        *FINE,
        *(word.capitalize() for word in FINE),
        *(word.upper() for word in FINE),
        *re.findall(r"\w+", " ".join([REASON, QUESTION, *OPTIONS])),
        *ODD,
        *sorted(STOP)[::9],
        *sorted(NUMBERS)[::9],
    ]
)
#: Mostly words that fit each other and often words of the reason, since of any two words hardly any do.
FITTING = [(a, b) for line in ALIKE for a in line for b in line if a != b]
STANDING = [(a, b) for a, b in FITTING if re.search(rf"\b{a}\b", REASON, re.IGNORECASE)]
# Three strategies of their own: the library takes the same one only once.
PAIR = st.one_of(*(st.sampled_from(STANDING) for _ in range(3)), st.sampled_from(FITTING), st.tuples(WORDS, WORDS))
PAIRS = st.lists(PAIR, min_size=1, max_size=6).map(tuple)
SIGNS = st.sampled_from(
    [" ", " ", " ", ", ", ". ", "\n\n", "-", "'", "\u00a0", "\u202e", "\u200b", "\u0301", "/", ".", "(", " a "]
)
REPLACED = [a for a, _ in STANDING]
TEXTS = st.lists(
    st.tuples(st.one_of(WORDS, *(st.sampled_from(REPLACED) for _ in range(3))), SIGNS), min_size=3, max_size=12
).map(lambda parts: "".join(word + sign for word, sign in parts))
ASKED = {word.casefold() for word in re.findall(r"\w+", " ".join([QUESTION, *OPTIONS]))} - STOP
INFLECTIONS = ("", "s", "es", "ed", "d", "ing", "ly", "er", "est")


#: Some of the words that no list of function words and numbers may lack.
_NEVER = "no none never nobody nothing not all some most few only every any each two third half first dozen monday july"
NEVER = set(_NEVER.split())


def forbidden(word: str) -> bool:
    """Whether a word may neither be replaced nor replace one, as plainly as can be."""
    small = word.casefold()
    odd = not re.fullmatch("[A-Za-z\u00c0-\u017f]{3,}", word) or re.search("[\u00df\u0130\u0131\u017f\u0149]", word)
    inflected = any(small == each + end or small + end == each for each in ASKED for end in INFLECTIONS)
    return bool(odd) or unicodedata.normalize("NFKC", word) != word or small in STOP | NUMBERS | NEVER or inflected


def case_of(word: str) -> tuple[bool, bool, bool]:
    return word.islower(), word.isupper(), word.istitle()


def check(reason: str, pairs: tuple[tuple[str, str], ...], dose: int) -> int:
    """The rules again; how many words were changed in an accepted edit."""
    found = apply_edits(reason, QUESTION, OPTIONS, pairs, dose)
    assert (found.text is None) == (len(found.changed) < dose)
    assert len(found.changed) + len(found.refused) <= len(pairs)
    for fewer in range(1, dose):  # smaller doses are a part of it
        smaller = apply_edits(reason, QUESTION, OPTIONS, pairs, fewer)
        assert smaller.changed == found.changed[:fewer] and set(smaller.refused) <= set(found.refused)
    if found.text is None:
        return 0
    text, moved = "", 0
    for start, old, new in sorted(found.changed):
        assert reason[start : start + len(old)] == old
        text += reason[moved:start] + new
        moved = start + len(old)
    assert text + reason[moved:] == found.text, "exactly the stated words differ"
    asked, starts = [(a.casefold(), b.casefold()) for a, b in pairs], {start for start, _, _ in found.changed}
    assert len(starts) == dose
    for start, old, new in found.changed:
        assert not forbidden(old) and not forbidden(new)
        assert (old.casefold(), new.casefold()) in asked and old.casefold() != new.casefold()
        assert case_of(old) == case_of(new) and True in case_of(old)
        around = f" {reason} "[start] + f" {reason} "[start + len(old) + 1]
        assert not any(unicodedata.category(sign)[0] in "LMN" or sign in "'-/\u202e\u200b" for sign in around)
        # Only what blanks or commas part on both sides is beyond doubt a word of its own.
        earlier = re.findall(r"(?:^|(?<=[ ,(\n]))[A-Za-z]+(?=[ ,)\n])", reason[:start])
        assert old.lower() not in [word.lower() for word in earlier], "it is the first one"
        for end in ("ing", "ly", "s"):
            assert min(len(old), len(new)) < 6 or old.casefold().endswith(end) == new.casefold().endswith(end)
        for a, b in ((old.casefold(), new.casefold()), (new.casefold(), old.casefold())):
            assert (
                len(a) < 5
                or not a.endswith("ed")
                or b.endswith("ed")
                or b in ("went", "strode", "kept", "paid", "left")
            )
        assert not old.istitle() or not re.search(r"[^\W\d_][ ,(/-]*$", reason[:start]), "it is a name"
        before = re.findall(r"\w+", reason[:start])[-1:]
        assert [new] != before and [*before, new[0].casefold()] not in (["a", "a"], ["a", "i"])
    said, was = ([word.casefold() for word in re.findall(r"\w+", each)] for each in (found.text, reason))
    doubled = [a == b for a, b in pairwise(said)]
    assert all(old or not new for old, new in zip([a == b for a, b in pairwise(was)], doubled, strict=True))
    return dose


@pytest.mark.parametrize("examples", [700, pytest.param(7_000, marks=pytest.mark.slow)])
def test_no_accepted_edit_of_a_reason_breaks_a_rule(examples: int) -> None:
    accepted: list[int] = []

    @settings(max_examples=examples, deadline=None, derandomize=True, database=None)
    @given(pairs=PAIRS, dose=st.integers(1, 3))
    def run(pairs: tuple[tuple[str, str], ...], dose: int) -> None:
        accepted.append(check(REASON, pairs, dose))

    run()
    assert len(accepted) >= examples and sum(map(bool, accepted)) > 0.2 * examples, "most of them test something"


@pytest.mark.parametrize("examples", [400, pytest.param(3_000, marks=pytest.mark.slow)])
def test_no_accepted_edit_of_any_text_breaks_a_rule(examples: int) -> None:
    accepted: list[int] = []

    @settings(max_examples=examples, deadline=None, derandomize=True, database=None)
    @given(reason=TEXTS, pairs=PAIRS, dose=st.integers(1, 2), more=st.text(max_size=6))
    def run(reason: str, pairs: tuple[tuple[str, str], ...], dose: int, more: str) -> None:
        accepted.append(check(more + reason + more, (*pairs, (more, "clue"), ("clue", more)), dose))

    run()
    assert len(accepted) >= examples and sum(map(bool, accepted)) > 0.1 * examples


# --- the editor's replies --------------------------------------------------------------------------------------------


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
        '`{"id": "5eed", "selected_words": ["a"], "replacements": ["b"]}`',
        'Sure: {"id": "5eed", "selected_words": ["a"], "replacements": ["b"]}',
        *("[" * 100_000, "9" * 10_000),  # no parser can hold them, and no file the next one
        '{"id": "5eed", "selected_words": ["\\ud800"], "replacements": ["a"]}',
    ],
)
def test_a_reply_of_another_form_is_no_edit(text: str) -> None:
    assert isinstance(read_edit(text, "5eed"), str)


def test_a_reply_that_fits_the_schema_is_read_in_its_order() -> None:
    reply = {"id": "5eed", "selected_words": ["b", "a"], "replacements": ["c", "d"]}
    assert read_edit(f"\n {json.dumps(reply)} \n", "5eed") == (("b", "c"), ("a", "d"))
    for schema, fields in ((edit_schema(), list(reply)), (paraphrase_schema(), ["id", "paraphrase"])):
        assert list(schema["properties"]) == schema["required"] == fields
        assert schema["type"] == "object" and schema["additionalProperties"] is False
    assert edit_schema()["properties"]["replacements"] == {"type": "array", "items": {"type": "string"}}


LISTS = st.one_of(
    st.lists(st.text(max_size=3), max_size=2),
    st.lists(st.one_of(st.none(), st.booleans(), st.integers(), st.lists(st.text(max_size=1))), max_size=2),
    st.text(max_size=2),
    st.dictionaries(st.text(max_size=1), st.text(max_size=1), max_size=2),
    st.just(float("nan")),
)
NAMES = st.sampled_from(["id", "id", "selected_words", "selected_words", "replacements", "replacements", "note", "ID"])
FIELDS = st.lists(st.tuples(NAMES, st.one_of(st.sampled_from(["5eed", "5EED", ""]), LISTS)), min_size=2, max_size=4)
WORDLISTS = st.lists(st.text(max_size=3), max_size=1)
WHOLE = st.one_of(*[st.tuples(WORDLISTS, WORDLISTS)] * 3, st.tuples(WORDLISTS, LISTS), st.tuples(LISTS, LISTS)).map(
    lambda both: [("id", "5eed"), ("selected_words", both[0]), ("replacements", both[1])]
)
AROUND = st.sampled_from(
    [("", "")] * 9 + [("```json\n", "\n```"), ("[", "]"), ("", "."), ("{}", ""), ("\ufeff", ""), ("", ",")]
)


@pytest.mark.parametrize("examples", [300, pytest.param(1_500, marks=pytest.mark.slow)])
def test_a_reader_never_accepts_odd_json(examples: int) -> None:
    read: list[bool] = []

    @settings(max_examples=examples, deadline=None, derandomize=True, database=None)
    @given(fields=st.one_of(WHOLE, FIELDS), around=AROUND)
    def run(fields: list[tuple[str, object]], around: tuple[str, str]) -> None:
        said = dict(fields)
        old, new = said.get("selected_words"), said.get("replacements")
        regular = (
            around == ("", "")
            and sorted(name for name, _ in fields) == ["id", "replacements", "selected_words"]
            and said["id"] == "5eed"
            and all(isinstance(part, list) and all(isinstance(word, str) for word in part) for part in (old, new))
            and len(old) == len(new)
        )
        body = ", ".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in fields)
        found = read_edit(f"{around[0]}{{{body}}}{around[1]}", "5eed")
        assert found == tuple(zip(old, new, strict=True)) if regular else isinstance(found, str)
        read.append(regular)

    run()
    assert sum(read) > examples / 30
