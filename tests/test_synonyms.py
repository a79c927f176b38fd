"""The table of interchangeable words: its form, and that a vendor's style can be put into a text and found there."""

from __future__ import annotations

import re
from collections import Counter
from itertools import combinations, permutations

import pytest

from helpers.biases.self_preference.edited import apply_edits
from helpers.providers.simulated import GROUPS, STYLE, SYNONYMS, style_shares, styled

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
named = pytest.mark.parametrize("vendor", STYLE)


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


@named
def test_a_style_replaces_every_plain_word_and_no_other(vendor: str):
    text = " ".join(group[0] for group in GROUPS)
    assert styled(text, vendor).split() == [group[STYLE[vendor]] for group in GROUPS]
    others = " ".join(word for group in GROUPS for word in group[1:])
    assert styled(others, vendor) == others
    untouched = "Zeppelins; 12% of (it)\n\n  stays\tas-is: naïve, re-shows, short-lived."
    assert styled(untouched, vendor) == untouched


@named
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


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Shows", "Indicates"),
        ("SHOWS", "INDICATES"),
        ("It shows.", "It indicates."),
        ("(shows)", "(indicates)"),
        ("shows shows", "indicates indicates"),
        ("Clearly he decides this, well-kept", "Plainly he chooses this, well-kept"),
        ("foreshows", "foreshows"),
        ("slide-shows", "slide-shows"),
        # a possessive is one word with its noun, one of many is followed by its apostrophe
        ("the friend's, the friends'", "the friend's, the companions'"),
    ],
)
def test_case_and_edges_of_words(before: str, after: str):
    assert styled(before, "claude") == after
