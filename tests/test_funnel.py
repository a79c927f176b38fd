"""The funnel and the outcomes of experiment 3 against counts by hand: what is left, what is lost where, and why."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
import pytest

from helpers import figures
from helpers.biases import self_preference
from helpers.biases.self_preference import asked as self_preference_asked
from helpers.biases.self_preference.asked import Arm, Edited
from helpers.biases.self_preference.items import steps
from helpers.run import Asked
from helpers.types import Answer
from tests import runs
from tests.test_self_preference import asked, frame

GOLD = {"q1": "A", "q2": "B", "q3": "C"}
#: What four authors answered to each question: a letter, or why there is no answer that could be judged.
GIVEN = {
    "q1": ("A", "B", "A", "no_reason"),
    "q2": ("C", "D", "truncated", "B"),
    "q3": ("C", "unparsed", "unparsed", "unparsed"),
}
#: Exactly one right: a over b and c over b on q1, d over a and d over b on q2. The right answer of a was not edited.
EDITED = {
    ("q1", "b"): Edited({2: "x", 4: "x", 8: None}, None, ("it is a name", "paraphrase: a number is gone")),
    ("q1", "c"): Edited({2: "x", 4: "x", 8: "x"}, "x"),
    ("q2", "a"): Edited({2: None, 4: None, 8: None}, "x", ("reply: truncated",)),
    ("q2", "b"): Edited({2: "x", 4: None, 8: None}, None, ("it is a name",)),
    ("q2", "d"): Edited({2: None, 4: None, 8: None}, "x", ("it is a name",)),
}
ARMS = (
    Arm("none"),
    *(Arm(f"wrong_{dose}", "synonyms", "wrong", dose) for dose in (2, 4, 8)),
    *(Arm(f"{target}_2", "synonyms", target, 2) for target in ("right", "both")),
    Arm("wrong_paraphrase", "paraphrase", "wrong"),
)
FEW = "too few words that may change"


def answers() -> dict[tuple[str, str], Answer]:
    found = {}
    for id, given in GIVEN.items():
        for author, word in zip("abcd", given, strict=True):
            letter, outcome = (word, "ok") if len(word) == 1 else (None, word)
            found[id, author] = Answer(id, author, "v", "", "A reason.", outcome=outcome, label=letter)
    return found


def judged() -> pd.DataFrame:
    """Six first askings of unedited pairs, and what the funnel is not about: repeats, edits, recognition."""
    first = [asked(q, "a", "a", picked) for q, picked in enumerate(("RR", "WW", "RW", "WR", "Rx", "xx"))]
    other = [
        asked(0, "a", "a", "RR", repeat=1),
        asked(0, "a", "a", "RR", condition="wrong_2"),
        asked(0, "a", "a", "RR", task="wrote"),
    ]
    return frame(*first, *other)


def told(table: pd.DataFrame) -> list[tuple[str, int, int, str]]:
    return list(table[["step", "count", "lost", "why"]].itertuples(index=False, name=None))


LAST = [
    ("judge x pair, asked both ways", 6, 0, ""),
    ("with a verdict both ways", 4, 2, "2 no verdict"),
    ("the same answer both ways", 2, 2, "2 the same place twice"),
]


def test_each_step_by_hand() -> None:
    assert told(steps(answers(), GOLD, EDITED, ARMS, judged())) == [
        ("answers", 12, 0, ""),
        ("answers with a letter and a reason", 7, 5, "3 unparsed, 1 no_reason, 1 truncated"),
        ("pairs of these", 6, 0, ""),
        ("pairs with exactly one right", 4, 2, "1 both right, 1 both wrong"),
        ("whose wrong answer could be edited (2 words)", 3, 1, "1 reply: truncated"),
        ("whose wrong answer could be edited (4 words)", 2, 2, f"1 reply: truncated, 1 {FEW}"),
        ("whose wrong answer could be edited (8 words)", 0, 4, f"3 {FEW}, 1 reply: truncated"),
        ("whose right answer could be edited (2 words)", 1, 3, f"2 {FEW}, 1 not edited"),
        ("whose two answers could be edited (2 words)", 1, 3, f"1 not edited, 1 reply: truncated, 1 {FEW}"),
        ("whose wrong answer could be paraphrased", 1, 3, "2 a number is gone, 1 no paraphrase"),
        *LAST,
    ]


def test_nothing_is_lost_where_everything_was_edited_and_only_arms_that_are_asked_have_a_step() -> None:
    whole = {(id, author): Edited({2: "x"}, "x") for id in GOLD for author in "abcd"}
    table = steps(answers(), GOLD, whole, (ARMS[0], ARMS[1], ARMS[4]), judged())
    assert told(table)[4:] == [
        ("whose wrong answer could be edited (2 words)", 4, 0, ""),
        ("whose right answer could be edited (2 words)", 4, 0, ""),
        *LAST,
    ]
    one = steps(answers(), GOLD, {}, (Arm("wrong_1", "synonyms", "wrong", 1),), judged())
    assert told(one)[4] == ("whose wrong answer could be edited (1 word)", 0, 4, "4 not edited")


@pytest.fixture(scope="module")
def ran() -> Iterator[Asked]:
    """A run whose largest dose no reason has words for."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (self_preference_asked,):
            patch.setattr(module, "LARGEST", 90)
        yield runs.asked("quality_self_preference", question_limit=6, doses=[2, 4, 90], paraphrase=True)


def funnel_of(ran: Asked) -> pd.DataFrame:
    return self_preference.funnel_of(ran.experiment, ran.questions, ran.answers, ran.replies, ran.frame)


def test_the_funnel_of_a_run_counts_the_pairs_that_each_arm_showed(ran: Asked) -> None:
    table = funnel_of(ran).set_index("step")
    shown = {
        condition: len(rows.drop_duplicates(["question_id", "right", "wrong"]))
        for condition, rows in ran.frame.groupby("condition")
    }
    arms = {
        **{f"whose wrong answer could be edited ({dose} words)": f"wrong_{dose}" for dose in (2, 4, 90)},
        "whose right answer could be edited (2 words)": "right_2",
        "whose two answers could be edited (2 words)": "both_2",
        "whose wrong answer could be paraphrased": "wrong_paraphrase",
    }
    pairs = table.loc["pairs with exactly one right", "count"]
    assert pairs == shown["none"] > 0 and len(table) == 7 + len(arms)
    for step, condition in arms.items():
        assert table.loc[step, "count"] == shown.get(condition, 0), step
        assert table.loc[step, "count"] + table.loc[step, "lost"] == pairs, step
    lost = table.loc["whose wrong answer could be edited (90 words)"]
    assert (lost["count"], lost["lost"], lost["why"]) == (0, pairs, f"{pairs} {FEW}")
    assert table.loc["judge x pair, asked both ways", "count"] == pairs * len(ran.experiment.judges)


def test_published_judgments_have_the_last_steps_alone(ran: Asked) -> None:
    table = self_preference.funnel_of(ran.experiment, (), {}, {}, judged())
    assert told(table) == LAST and list(table.index) == [0, 1, 2]


def test_each_step_is_drawn_as_a_share_of_what_it_began_with() -> None:
    table = steps(answers(), GOLD, EDITED, ARMS, judged())
    figure = figures.show_funnel(table, "asked")
    bars = [bar for bar in figure.figure.axes[0].patches if bar.get_width() > 0]
    left = [bar.get_width() for bar in sorted(bars, key=lambda bar: bar.get_y()) if bar.get_x() == 0]
    whole = table["count"] + table["lost"]
    # A step that leaves nothing has a bar of what it lost alone.
    shown = table["count"].where(table["count"] > 0, table["lost"])
    assert left == pytest.approx(list(100 * shown / whole))
    said = [text.get_text() for text in figure.figure.axes[0].texts]
    assert [each for each in said if each in ("3 of 4", "2 of 4", "0 of 4", "1 of 4")] == [
        *("3 of 4", "2 of 4", "0 of 4"),
        *["1 of 4"] * 3,
        "2 of 4",
    ]


# --- outcomes ---------------------------------------------------------------------------------------------------------


def test_harmful_is_where_the_own_answer_is_the_wrong_one() -> None:
    wrong = ("RR", "WW", "WW", "WW", "RW", "xW")
    right = ("RR", "RR", "RR", "RR", "WR", "WR", "WW")
    table = self_preference.outcomes(
        frame(
            *(asked(q, "a", "a", picked, right="b") for q, picked in enumerate(wrong)),
            *(asked(q, "a", "b", picked, right="a") for q, picked in enumerate(right, 20)),
            asked(40, "a", "d", "WW", right="c"),  # of other authors
            asked(0, "a", "a", "RR", repeat=1),
            asked(0, "a", "a", "RR", condition="wrong_2"),
            asked(0, "a", "a", "RR", task="wrote"),
            asked(0, "b", "a", "RR", right="b"),
        )
    )
    counted = {
        (row.judge, row.kind, row.outcome): row.count_ for row in table.rename(columns={"count": "count_"}).itertuples()
    }
    assert counted == {
        ("a", "harmful", "right both ways"): 1,
        ("a", "harmful", "wrong both ways"): 3,
        ("a", "harmful", "split"): 1,
        ("a", "harmful", "unreadable"): 1,
        ("a", "beneficial", "right both ways"): 4,
        ("a", "beneficial", "split"): 2,
        ("a", "beneficial", "wrong both ways"): 1,
        ("b", "beneficial", "right both ways"): 1,
    }
    assert dict(zip(table["judge"], table["judge_vendor"], strict=True)) == {"a": "alpha", "b": "beta"}
