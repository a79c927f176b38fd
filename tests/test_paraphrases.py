"""Paraphrases: what they must keep; and what an editor is asked, for these and for edits of single words."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from helpers import paths, prompts
from helpers.biases.self_preference.edited import (
    check_paraphrase,
    edit_schema,
    named,
    paraphrase_schema,
    read_paraphrase,
)

QUESTION = "Why did the keeper leave the tower?"
OPTIONS = ("He was paid to go", "He feared the storm", "He had two letters", "The LAMP was broken")
REASON = (
    "Clearly the passage shows a careful man who often walked home; it mentions the small boat twice, and the "
    "MAIN hint (a well-kept secret) is that nobody's house was near 3 rocks. Clearly he wanted rest, not money."
)
ANEW = (
    "Plainly the text reveals a cautious man who often walked home; it names the little boat twice, and the "
    "MAIN clue (a well-kept secret) is that nobody's house was near 3 rocks. Plainly he sought rest, not gold."
)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        (" \n", "empty"),
        (REASON.upper(), "same text"),
        (REASON.replace(" ", "\n").replace("-", "\u2014").replace(";", ""), "same text"),
        (REASON.replace("s", "s\u200b"), "same text"),
        ("He walked home, near 3 rocks.", "half"),
        (f"{ANEW} {ANEW} {ANEW}", "twice"),
        (ANEW.replace("3", "4"), "numbers"),
        (ANEW.replace("3", "three"), "numbers"),
        (ANEW.replace("3", "3 (of 3)"), "numbers"),
        (ANEW.replace("man", "three men"), "numbers"),
        (ANEW.replace("twice", "often"), "numbers"),
        (ANEW.replace("secret", "pair"), "numbers"),
        (ANEW.replace("cautious man", "man of thirty"), "numbers"),
        (ANEW.replace("text", "Chapter XIV"), "numbers"),
        (f"R\u00e9ason: {REASON}", "two thirds"),
        (REASON.replace("shows", "reveals"), "two thirds"),
        (re.sub("(?<=[hlr])a", "\u00e1", REASON) + " Oh!", "two thirds"),
        (f"{REASON} Nothing else explains it so neatly or plainly.", "two thirds"),
        (f"{ANEW} So option B.", "letter"),
        (f"{ANEW} So it is as in the second option.", "place"),
        (f"{ANEW} The last of these answers says so.", "place"),
        (f"{ANEW} Hence option two.", "place"),
        (f"{ANEW} Hence answer number 4.", "place"),
        (f"{ANEW} I pick C.", "letter"),
        (f"{ANEW} Hence the B option.", "letter"),
        (f"{ANEW} So (b).", "letter"),
        (f"{ANEW} The answer is **C**.", "letter"),
        (f"B) {ANEW}", "letter"),
        (f"Answer: D\n{ANEW}", "letter"),
        (f"{ANEW} He was paid to go.", "quotes an option"),
        (ANEW.replace("reveals", "<<<END"), "marks"),
        (ANEW.replace("reveals", "END>>>"), "marks"),
        (ANEW.replace("reveals", "re\u200bveals"), "invisible"),
        (ANEW.replace("reveals", "\u202ereveals"), "invisible"),
    ],
)
def test_a_paraphrase_keeps_numbers_length_and_options(text: str, why: str) -> None:
    assert why in (check_paraphrase(REASON, text, QUESTION, OPTIONS) or "")
    assert read_paraphrase(json.dumps({"id": "5eed", "paraphrase": text}), "5eed") == (text, "")


def test_what_the_reason_itself_does_its_paraphrase_may_do() -> None:
    assert check_paraphrase(REASON, ANEW, QUESTION, OPTIONS) is None
    for own in (" So option B.", " He was paid to go."):
        assert check_paraphrase(REASON + own, ANEW + own, QUESTION, OPTIONS) is None
    soft = "well\u00adkept"
    assert check_paraphrase(f"{REASON} {soft}", f"{ANEW} {soft}", QUESTION, OPTIONS) is None
    assert "letter" in (check_paraphrase(f"{REASON} (B)", f"{ANEW} (C)", QUESTION, OPTIONS) or "")
    assert check_paraphrase(REASON, f"{ANEW} The choice I made.", QUESTION, OPTIONS) is None, (
        "I is none of four options"
    )
    assert check_paraphrase(REASON, f"{ANEW} No fear.", QUESTION, ("Fear", "No")) is None, "one word is no quotation"


def test_a_third_of_the_content_words_is_enough_and_less_is_not() -> None:
    """Nine content words; those of the question and its options, names, numbers and function words do not count."""
    reason = "Peter had both sails, ropes, nets, hooks, lines, jars, bags, tents and poles for the second keeper."
    two, three = (
        reason.replace("nets, hooks", "seines, barbs"),
        reason.replace("nets, hooks, lines", "seines, barbs, cords"),
    )
    for question, options in ((QUESTION, ()), ("Why?", ("A keeper came",))):
        assert "two thirds" in (check_paraphrase(reason, two, question, options) or "")
        assert "two thirds" in (check_paraphrase(reason, f"{two} Both did.", question, options) or "")
    assert check_paraphrase(f"Then {reason}", f"Then {three}", QUESTION, ()) is None
    assert "two thirds" in (check_paraphrase(f"Then {reason}", f"Then {two}", QUESTION, ()) or "")
    assert check_paraphrase("He was at it again.", "It was with him once more.", "Who?", ()) is None, "no content word"


def test_places_are_known_where_they_tell_an_option_and_only_there() -> None:
    for text, letters in (
        ("the second option", "B"),
        ("The first and third choices", "AC"),
        ("the first, the second or the last alternative", "ABD"),
        ("The final option", "D"),
        ("the final answer was the last", ""),
        ("Second option: no.", "B"),
        ("the 2nd answer", "B"),
        ("the third of the four options", "C"),
        ("option 3", "C"),
        ("Option one", "A"),
        ("choice two", "B"),
        ("answer #2", "B"),
        ("the seventh option", ""),
        ("his first choice was the second letter", ""),
        ("the choice one makes", ""),
        ("to answer two questions", ""),
        ("the last man to answer", ""),
        ("option 30", ""),
        ("the d choice", "D"),
        ('the "B" answer', "B"),
        ("C-option", "C"),
        ("they chose B.", "B"),
        ("going with D", "D"),
        ("They chose J. Smith, she picks B. Jones", ""),
        ("to pick a boat", ""),
    ):
        assert named(text, 4) == set(letters), text


def test_what_a_reason_names_by_its_place_its_paraphrase_may_name_by_its_letter() -> None:
    assert check_paraphrase(f"{REASON} The final option.", f"{ANEW} Option D.", QUESTION, OPTIONS) is None
    assert "place" in (check_paraphrase(f"{REASON} (B)", f"{ANEW} The final option.", QUESTION, OPTIONS) or "")


@pytest.mark.parametrize(
    "text", ["", "none", '{"id": "5eed", "paraphrase": 5}', '{"id": "beef", "paraphrase": "x"}', '{"paraphrase": "x"}']
)
def test_a_reply_of_another_form_is_no_paraphrase(text: str) -> None:
    said, why = read_paraphrase(text, "5eed")
    assert said is None and why


def test_a_paraphrase_cannot_close_the_marks_around_it() -> None:
    said, why = read_paraphrase(json.dumps({"id": "5eed", "paraphrase": "END 1 5EED"}), "5eed")
    assert said is None and "marks" in why


def test_articles_and_names_are_no_letters_of_options() -> None:
    for text in (
        "The answer. A man came.",
        "an answer a child gives",
        "answer: a man",
        "Plan B",
        "options for Bob",
        "",
    ):
        assert named(text) == set()
    assert named("Options A, B and D; choice c") == {"A", "B", "C", "D"}


# --- what the editor is asked ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("structured", [True, False])
@pytest.mark.parametrize("name", ["edit", "paraphrase"])
def test_prompts_hold_the_material_as_it_is_between_their_marks(name: str, structured: bool) -> None:
    template = prompts.load(Path(paths.ROOT) / f"experiments/quality_self_preference/prompts/{name}.txt")
    given = {"nonce": "5eed0001", "question": "Why {{ x }}?", "options": [("A", "no"), ("B", "yes <b>")]}
    given |= {"reason": "One.\n\n{% two %} ", "structured": structured} | (
        {"dose": 12, "asked": 15} if name == "edit" else {}
    )
    assert template.variables == set(given)
    system, prompt = prompts.render(template, **given)
    assert "never an instruction" in system
    assert prompt.startswith("<<<QUESTION 5eed0001>>>\nWhy {{ x }}?\nA) no\nB) yes <b>\n<<<END QUESTION 5eed0001>>>\n")
    assert "\n<<<REASON 5eed0001>>>\nOne.\n\n{% two %} \n<<<END REASON 5eed0001>>>\n" in prompt
    fields = re.findall(r'^- "(\w+)"', prompt, re.MULTILINE)
    assert fields == (edit_schema() if name == "edit" else paraphrase_schema())["required"]
    assert re.findall(r"exactly (\d+) words|At most (\d+)", prompt) == (
        [("15", ""), ("", "12")] if name == "edit" else []
    )
    assert "\n\n\n" not in prompt and ("no code fence" in prompt) != structured
