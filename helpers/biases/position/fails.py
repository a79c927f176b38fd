"""Where each number of experiment 4 fails or misleads: what it takes for the bias, and when it has no value."""

from __future__ import annotations

from collections.abc import Mapping

from helpers.stats.numbering import COPIES

_CLASS = (
    "No measure of position bias: a judge that tosses a coin changes its verdict half of the time, and the class "
    "says neither which place it favours nor whether it favours one (first_position_effect, excess_flip)."
)
_STORED = (
    f"{_CLASS} It reads stored strings untouched: a file whose ties are written `[A=B]` is 100 % biased by it, and "
    "lines that could not be read are called significant."
)
_PART = (
    "A part of the first-position effect: above 0 by noise alone, in either place. Only the difference of the two "
    "places is free of noise."
)
_LINES = "Nothing but a count of lines as their source counted them."

FAILS: Mapping[str, str] = {
    **dict.fromkeys(("no_bias", "weak_bias", "significant_bias", "acceptable_rate"), _CLASS),
    "invalid_share": (
        "Says how many were lost, not which; it moves all other numbers where losses depend on the winner."
    ),
    **{f"{id}_published": _STORED for id in ("no_bias", "weak_bias", "significant_bias", "acceptable_rate")},
    "any_bias_published": f"{_STORED} A verdict of another strength for the same winner is a bias here.",
    "first_position_effect": (
        "Place and letter are one: A is always shown first (identical_pair_effect does not part them either). "
        "Habits that change sides from question to question cancel: 0 is no proof that order does nothing "
        "(excess_flip). It averages over the questions asked: close candidates show more of it than unequal ones. "
        "Unreadable pairs are left out; first_position_sensitivity has what they could do. Ties in both orders hide "
        "a place that is only weakly liked. No test where too few questions lean to a place for the correction that "
        "is due."
    )
    + COPIES,
    "first_position_sensitivity": (
        "Other choices, not other data: they agree where all share one error. The two bounds are extremes that "
        "nobody expects; no tests."
    ),
    "position_consistency": (
        f"{_PART} It falls with noise and with the closeness of answers, so judges or candidates with other answers "
        "are not to be compared by it."
    ),
    "primacy_share": _PART,
    "recency_share": _PART,
    "first_win_rate": (
        "Of decisive verdicts only: a judge that calls close answers a tie shows less of a habit than it has, and a "
        "treatment of ties changes the denominator. 1/2 is what no habit gives where both orders were asked of each "
        "question; verdicts lost in one order unbalance it (pairs are kept or left out as a whole). Pairs of a "
        "question share answers, so n counts verdicts and clusters count questions. Place and letter are one."
    ),
    "graded_position_effect": (
        "Takes a strong verdict for twice a plain one, which nobody measured. Place and letter are one. Judges that "
        "never use strong verdicts have smaller numbers."
    ),
    "preference_fairness": (
        "A pair with one tie leans fully to a place; its published forms divide by other denominators, so that "
        "values of two papers differ for the same verdicts. Place and letter are one."
    ),
    "excess_flip": (
        "Says that order changes verdicts, not toward which place. Needs each order asked twice, with a temperature "
        "at which a reply can differ: of a judge that repeats itself word for word every flip is the order's. A "
        "model that changed between the askings of one order hides it. Losses that depend on the winner select the "
        "questions that remain. A square of chances: a habit of half the size gives about a quarter of it, so small "
        "habits are missed (a plug-in from repetition stability would call coin tossing 12.5 pp of excess)."
    ),
    "identical_pair_effect": (
        "Place and letter are one. A judge may see that the texts are the same and call a tie, or play a habit that "
        "it shows on close answers only: the number is no size of what happens to unequal answers. Verdicts lost "
        "because of the winner bias it, for there the winner is a place. No value where the arm was not asked."
    ),
    "quality_gap_accuracy": (
        "The bad answer is bad only in so far as an answer to another question is: near 100 % shows that the judge "
        "reads, not that it judges well."
    ),
    "flip_by_gap": (
        "The gap is measured by verdicts too, with their noise and biases; thirds are of this comparison's own "
        "pairs and not the same for two judges. By a judge's own repeats alone its habits are in gap and flip. No "
        "value where no other judge or repeat exists."
    ),
    "win_rate": (
        "A preference of the judge, no quality: style, self-preference and errors are in it. Raw: longer and more "
        "formatted answers win for that. Controlled: a correlation, which takes out what goes along with style, "
        "such as care, and cannot tell style from author where one always writes longer; no number where style "
        "separates wins from losses or differs by the same everywhere, no interval below 40 questions. Weight 3 "
        "takes a strong verdict for three wins. Place effects cancel only because both orders count the same. Verdicts "
        "lost because of who would have won shift it."
    ),
    "leaderboard_contrast": (
        "Of two judges: it cannot tell which one is off. Models of a family share a style that one judge may like "
        "for reasons of its own. Fourteen third-party models carry it, whose scatter stands in for the questions'; "
        "beyond their range the line is only continued. No interval below 10 of them."
    ),
    "flip_correlation": (
        "A flip rate bounds the effect of a place, so both rise together whatever causes flips. Comparisons that share "
        "judges and questions are taken as independent: the interval is too short."
    ),
    "one_sided_share": (
        "Noise is part of the denominator, and |effect| of few pairs is not 0 where no place is favoured. Comparisons "
        "that share judges and questions are taken as independent."
    ),
    "published_lines": _LINES,
    "class_lines": _LINES,
    "pattern_lines": _LINES,
    "significant_bias_of_planned": (
        f"{_CLASS} Divides by questions that were planned and not all judged: the same count gives two percentages."
    ),
    "consistent_answer_rate": (
        "An answer whose partner cannot be read counts as consistent, so unreadable replies raise it. It falls with "
        "noise, whatever place is liked."
    ),
    "answers_read": "Says how many were read, not which were lost.",
    "equal_verdicts": "A count that falls with noise and with closeness of outputs, whatever place is liked.",
    "both_order_inconsistent": (
        "Noise and place are one: nothing published says which order gave which verdict, or what was done with "
        "replies that could not be read."
    ),
}
