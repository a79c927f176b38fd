"""The built-in passages: their form, and that each reason has words which an editor may replace."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest

from helpers.biases.self_preference.edited import apply_edits
from helpers.datasets.questions import load_passages
from helpers.paths import DATA
from helpers.providers.simulated import GROUPS, STYLE, SYNONYMS, style_shares, styled

LINES = (DATA / "quality_self_preference" / "passages.jsonl").read_text(encoding="utf-8").splitlines()
PASSAGES = {row["id"]: row for row in map(json.loads, LINES)}
QUESTIONS = {question["id"]: question for row in PASSAGES.values() for question in row["questions"]}
PLAIN = {group[0] for group in GROUPS}
PREFERRED = {word for group in GROUPS for word in group[1:]}
#: Words of which the first letter does not tell whether "a" or "an" stands before them.
SOUNDS_LIKE_YOU = ("use", "usu", "uti")
each_passage = pytest.mark.parametrize("row", PASSAGES.values(), ids=PASSAGES)
each_question = pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)


def words(text: str) -> list[str]:
    """The words of a text in lower case; a hyphen or an apostrophe joins."""
    return re.findall(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*", text.lower())


def usable(question: dict, reason: str) -> list[str]:
    """The plain words that stand once in a reason and neither in the question nor in an option."""
    taken = {word for text in (question["text"], *question["options"]) for word in words(text)}
    return [word for word, n in Counter(words(reason)).items() if n == 1 and word in PLAIN - taken]


def test_at_least_forty_passages_of_twelve_kinds():
    """Articles are the clusters: of a judge that is seldom wrong a dozen tell too little for any interval."""
    assert len(LINES) == len(PASSAGES) == len({row["title"] for row in PASSAGES.values()}) >= 40
    kinds = Counter(row["category"] for row in PASSAGES.values())
    assert len(kinds) == 12 and min(kinds.values()) >= 2


def test_no_passage_repeats_another():
    """No two share so much as eight words in a row."""
    seen: dict[tuple[str, ...], str] = {}
    for id, row in PASSAGES.items():
        text = words(row["passage"])
        for run in {tuple(text[i : i + 8]) for i in range(len(text) - 7)}:
            assert seen.setdefault(run, id) == id, f"{id} and {seen[run]}: {' '.join(run)}"


def test_the_loader_reads_them_all():
    loaded = load_passages(DATA / "quality_self_preference" / "passages.jsonl")
    assert [question.id for question in loaded] == list(QUESTIONS)
    assert {question.article for question in loaded} == set(PASSAGES)
    assert all(list(question.points) == QUESTIONS[question.id]["reasons"] for question in loaded)


@each_passage
def test_fields_of_a_passage(row: dict):
    assert list(row) == ["id", "title", "category", "passage", "questions"]
    assert re.fullmatch("[a-z]+(_[a-z]+)*", row["id"])
    size = len(row["questions"])
    assert [question["id"] for question in row["questions"]] == [f"{row['id']}_q{n}" for n in range(1, size + 1)]
    # Long ones have more that can be asked.
    least, most = {2: (100, 180), 5: (300, 600)}[size]
    assert least <= len(row["passage"].split()) <= most
    for text in (row["title"], row["category"], *row["passage"].split("\n\n")):
        assert text == " ".join(text.split()) != ""


@each_question
def test_fields_of_a_question(question: dict):
    assert list(question) == ["id", "text", "options", "gold", "reasons"]
    assert question["gold"] in "ABCD" and question["text"].rstrip('"').endswith("?")
    assert len(set(question["options"])) == len(set(question["reasons"])) == 4
    for text in (question["text"], *question["options"], *question["reasons"]):
        assert text == " ".join(text.split()) != ""


def test_no_text_occurs_twice():
    texts = [text for q in QUESTIONS.values() for text in (q["text"], *q["options"], *q["reasons"])]
    assert [text for text, n in Counter(texts).items() if n > 1] == []


def test_gold_letters_are_balanced():
    assert Counter(question["gold"] for question in QUESTIONS.values()) == dict.fromkeys("ABCD", len(QUESTIONS) / 4)
    for row in PASSAGES.values():
        gold = {question["gold"] for question in row["questions"]}
        assert len(gold) == min(4, len(row["questions"])), row["id"]


@each_question
def test_options_are_of_similar_length(question: dict):
    lengths = [len(option.split()) for option in question["options"]]
    assert max(lengths) <= 1.5 * min(lengths)


def test_neither_length_nor_wordiness_gives_the_right_one_away():
    """Always taking the longest (or shortest) option, or reason, is right for no more than 40 of 100 questions."""
    for texts in ("options", "reasons"):
        for choose in (max, min):
            right = 0.0
            for question in QUESTIONS.values():
                lengths = [len(text) for text in question[texts]]
                best = [label for label, n in zip("ABCD", lengths, strict=True) if n == choose(lengths)]
                right += (question["gold"] in best) / len(best)
            assert right / len(QUESTIONS) <= 0.4, (texts, choose.__name__)


@each_question
def test_reasons_are_of_the_stated_length(question: dict):
    assert all(45 <= len(reason.split()) <= 80 for reason in question["reasons"])


@each_question
def test_a_reason_names_no_letter_and_quotes_no_option(question: dict):
    for reason in question["reasons"]:
        # a lone letter: "A" may begin a sentence, anything else would point to an option
        assert not re.search(
            r"\b(?:option|answer|choice)s? [A-D]\b|\([A-Da-d]\)|\b[BCD]\b|(?<![.?!:] )\bA\b(?<!^A)", reason
        )
        for option in question["options"]:
            assert option.rstrip(".").lower() not in reason.lower()


@each_question
def test_eight_words_of_a_reason_can_be_replaced_and_some_are_left(question: dict):
    for reason in question["reasons"]:
        assert len(usable(question, reason)) >= 12, reason


@each_question
def test_the_largest_dose_can_be_given_to_every_reason_in_every_style(question: dict):
    """Eight words, by the rules of edits, which refuse inflections of the question's words as well."""
    for reason in question["reasons"]:
        for vendor in ("", *STYLE):
            text = styled(reason, vendor)
            pairs = tuple((word, SYNONYMS[word][-1]) for word in dict.fromkeys(words(text)) if word in SYNONYMS)
            edit = apply_edits(text, question["text"], question["options"], pairs, 8)
            assert edit.text is not None, edit.refused


@each_question
def test_reasons_are_written_in_plain_words(question: dict):
    """A reason as it stands is in no vendor's style, and wholly in it once styled."""
    for reason in question["reasons"]:
        assert set(words(reason)) & PREFERRED == set()
        for vendor in STYLE:
            assert style_shares(reason)[STYLE[vendor]] == 0.0
            assert style_shares(styled(reason, vendor))[STYLE[vendor]] == 1.0


@each_question
def test_articles_stay_right_in_every_style(question: dict):
    for reason in question["reasons"]:
        for vendor in ("", *STYLE):
            for article, word in re.findall(r"\b(an?) (\w+)", styled(reason, vendor), re.IGNORECASE):
                vowel = word[0].lower() in "aeiou" and not word.lower().startswith(SOUNDS_LIKE_YOU)
                hour = word.lower().startswith(("hour", "hono", "hone"))
                assert (article.lower() == "an") == (vowel or hour), f"{article} {word}"
