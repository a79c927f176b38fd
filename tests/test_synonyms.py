"""Interchangeable words and paraphrases: the table, what a text must keep, and what an editor is asked."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import combinations, permutations
from pathlib import Path

import pytest

from helpers import paths, prompts
from helpers.biases.self_preference.edited import (
    apply_edits,
    check_paraphrase,
    edit_schema,
    named,
    paraphrase_schema,
    read_paraphrase,
)
from helpers.providers.simulated import GROUPS, STYLE, SYNONYMS, style_shares, styled
from tests.case_tables import load_cases

CASES = load_cases("synonyms")

#: Function words, which carry grammar and not style; an editor must leave them alone.
STOP_WORDS = """
a about above after again against all also although always am among an and another any are around as at away be
became because been before being below between both but by came can cannot come could did do does doing down during
each either else enough even ever every few for from further had has have having he hence her here hers herself him
himself his how however i if in indeed into is it its itself just last least less made make many may me might mine
more moreover most mostly much must my myself neither never nevertheless next no nobody none nor not nothing now of
off often on once one only onto or other others our ours ourselves out over own per perhaps quite rather same seem
seemed seems several shall she should since so some somebody someone something still such than that the their theirs
them themselves then there therefore these they this those though through throughout thus to together too toward
towards under until up upon us very was we well were what whatever when whenever where whether which while who whole
whom whose why will with within without would yet you your yours yourself
"""
#: Words that are names of persons, places or makes as well.
NAMES = """
amber art bill bob carol chance china cliff constant dawn dean dodge drew ernest faith frank grace grant guy hope
hunter jack japan jean jordan joy june lance mark marks may miles nancy nice pat patience pearl ray reading rich rob
robin rose ruby sage sandy sterling sue swift turkey victor violet will
"""
SENTENCE = "The comment shows anger, and the story ends with a small promise."
each_vendor = pytest.mark.parametrize("vendor", STYLE)


def style_share(text: str, vendor: str) -> float:
    """The share of a text's words from the table that are those of the vendor."""
    return style_shares(text)[STYLE.get(vendor, 0)]


def test_groups_are_four_plain_words_and_no_word_stands_in_two():
    assert len(GROUPS) >= 110
    assert {len(group) for group in GROUPS} == {4}
    assert [word for group in GROUPS for word in group if not re.fullmatch("[a-z]{3,}", word)] == []
    assert [word for word, n in Counter(word for group in GROUPS for word in group).items() if n > 1] == []


def test_no_stop_words_and_no_names():
    assert not {word for group in GROUPS for word in group} & {*STOP_WORDS.split(), *NAMES.split()}


def test_a_groups_words_can_replace_each_other_by_the_rules_of_edits():
    """No function word, and the same ending throughout: an edit from any word of a group to any other is accepted."""
    for group in GROUPS:
        for old, new in permutations(group, 2):
            reason = f"It is {old} to us."
            edit = apply_edits(reason, "Who?", ("He.", "She.", "They.", "We."), ((old, new),), 1)
            assert edit.text == f"It is {new} to us.", edit.refused


def test_synonyms_are_the_others_of_the_group():
    assert SYNONYMS["shows"] == ("indicates", "reveals", "signals")
    assert all(word in SYNONYMS[other] for group in GROUPS for word, other in combinations(group, 2))
    assert len(SYNONYMS) == 4 * len(GROUPS)


@each_vendor
def test_a_style_replaces_every_plain_word_and_no_other(vendor: str):
    text = " ".join(group[0] for group in GROUPS)
    assert styled(text, vendor).split() == [group[STYLE[vendor]] for group in GROUPS]
    others = " ".join(word for group in GROUPS for word in group[1:])
    assert styled(others, vendor) == others
    untouched = "Zeppelins; 12% of (it)\n\n  stays\tas-is: naïve, re-shows, short-lived."
    assert styled(untouched, vendor) == untouched


@each_vendor
def test_a_style_is_found_where_it_is_and_not_where_it_is_not(vendor: str):
    assert style_share(SENTENCE, vendor) == 0.0
    assert style_share(styled(SENTENCE, vendor), vendor) == 1.0
    for other, column in STYLE.items():
        assert style_share(styled(SENTENCE, vendor), other) == float(column == STYLE[vendor])


def test_the_share_is_of_the_words_in_the_table():
    text = styled(SENTENCE, "gpt")
    words = [word for word in re.findall("[a-z]+", text.lower()) if word in SYNONYMS]
    assert len(words) == 7
    back = text.replace(words[0], SYNONYMS[words[0]][0])
    assert style_share(back, "gpt") == pytest.approx(6 / 7)
    assert style_share("", "gpt") == style_share("nothing of it", "gpt") == 0.0


def test_a_vendor_without_a_style_writes_the_plain_words():
    assert styled(SENTENCE, "elsewhere") == SENTENCE
    assert style_share(SENTENCE, "elsewhere") == 1.0


@pytest.mark.parametrize(("before", "after"), CASES["case_and_edges_of_words"])
def test_case_and_edges_of_words(before: str, after: str):
    assert styled(before, "claude") == after


# --- paraphrases ------------------------------------------------------------------------------------------------------

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
        *load_cases("synonyms", anew=ANEW, reason=REASON)["a_paraphrase_keeps_numbers_length_and_options"],
        (REASON.upper(), "same text"),
        (REASON.replace(" ", "\n").replace("-", "—").replace(";", ""), "same text"),
        (REASON.replace("s", "s\u200b"), "same text"),
        (ANEW.replace("3", "4"), "numbers"),
        (ANEW.replace("3", "three"), "numbers"),
        (ANEW.replace("3", "3 (of 3)"), "numbers"),
        (ANEW.replace("man", "three men"), "numbers"),
        (ANEW.replace("twice", "often"), "numbers"),
        (ANEW.replace("secret", "pair"), "numbers"),
        (ANEW.replace("cautious man", "man of thirty"), "numbers"),
        (ANEW.replace("text", "Chapter XIV"), "numbers"),
        (REASON.replace("shows", "reveals"), "two thirds"),
        (re.sub("(?<=[hlr])a", "á", REASON) + " Oh!", "two thirds"),
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
    for text, letters in CASES["places_are_known_where_they_tell_an_option_and_only_there"]:
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
