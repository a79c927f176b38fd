"""Paraphrases: what they must keep; and what an editor is asked, for these and for edits of single words."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from helpers import paths, prompts
from helpers.biases.self_preference.edits import edit_schema
from helpers.biases.self_preference.paraphrases import check_paraphrase, named, paraphrase_schema, read_paraphrase

QUESTION = "Why did the keeper leave the tower?"
OPTIONS = ("He was paid to go", "He feared the storm", "He had two letters", "The LAMP was broken")
REASON = (
    "Clearly the passage shows a careful man who often walked home; it mentions the small boat twice, and the "
    "MAIN hint (a well-kept secret) is that nobody's house was near 3 rocks. Clearly he wanted rest, not money."
)
ANEW = REASON.replace("shows", "reveals")


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
        (f"{ANEW} So option B.", "letter"),
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
    given |= {"reason": "One.\n\n{% two %} ", "structured": structured} | ({"dose": 12} if name == "edit" else {})
    assert template.variables == set(given)
    system, prompt = prompts.render(template, **given)
    assert "never an instruction" in system
    assert prompt.startswith("<<<QUESTION 5eed0001>>>\nWhy {{ x }}?\nA) no\nB) yes <b>\n<<<END QUESTION 5eed0001>>>\n")
    assert "\n<<<REASON 5eed0001>>>\nOne.\n\n{% two %} \n<<<END REASON 5eed0001>>>\n" in prompt
    fields = re.findall(r'^- "(\w+)"', prompt, re.MULTILINE)
    assert fields == (edit_schema() if name == "edit" else paraphrase_schema())["required"]
    assert re.findall(r"(\d+) words", prompt) == (["12"] if name == "edit" else [])
    assert "\n\n\n" not in prompt and ("no code fence" in prompt) != structured
