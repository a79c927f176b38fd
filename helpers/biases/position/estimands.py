"""What each number of experiment 4 means: declared once, printed in tables, explained on request."""

from __future__ import annotations

from helpers.biases.position.fails import FAILS
from helpers.types import Estimand

_READ = "ties are verdicts; pairs with an unreadable or missing verdict are left out and counted (invalid_share)"
_LINES = (
    "a tie mirrors a tie alone; an unreadable verdict counts as significant bias, a line without two games in the "
    "denominator alone"
)
_SINGLE = "ties count for neither place; unreadable verdicts are left out"
_WILSON = "Wilson where each question has one pair, else question-clustered t"
T = "question-clustered t"
_SIGNS = f"{T}; p exact McNemar where each question has one pair, else sign flips over questions"
_SEED = "classes of published arena-hard verdicts; format: lmarena/arena-hard-auto"
_OWN = "own definition; clusters: Miller 2024"
_SHI = "Shi et al. 2024 (arXiv 2406.07791)"
_PAIRS = "pairs with two readable verdicts"
_ALL = "all pairs (lines)"


def of(
    id: str,
    words: str,
    formula: str,
    numerator: str,
    denominator: str = _PAIRS,
    interval: str = _WILSON,
    source: str = _OWN,
    unit: str = "rate",
    lost: str = _READ,
) -> Estimand:
    """An estimand of this experiment, clustered by question."""
    facts = (words, formula, numerator, denominator, lost, "question", interval, source, unit)
    return Estimand(id, *facts, fails=FAILS[id])


#: Words, formula and numerator of each class.
_CLASSES = {
    "no_bias": ("How often the two orders mirror each other with the same strength.", "N(mirrored) / N"),
    "weak_bias": ("How often the two orders name the same winner with another strength.", "N(winner mirrored) / N"),
    "significant_bias": ("How often the two orders do not name the same winner.", "N(not mirrored) / N"),
    "acceptable_rate": ("How often the two orders agree but for strength.", "(N(no_bias) + N(weak_bias)) / N"),
}

MEASURED = (
    *(of(id, words, formula, f"pairs of class {id}", source=_SEED) for id, (words, formula) in _CLASSES.items()),
    of(
        "invalid_share",
        "How many pairs lack a readable verdict.",
        "N(invalid) / N",
        "invalid pairs",
        _ALL,
        lost="is it",
    ),
    *(
        of(
            f"{id}_published",
            f"{words} Stored strings as they stand.",
            formula,
            f"lines of class {id}",
            _ALL,
            source=_SEED,
            lost=_LINES,
        )
        for id, (words, formula) in _CLASSES.items()
    ),
    of(
        "any_bias_published",
        "How often the two orders do not mirror each other exactly. Stored strings as they stand.",
        "(N(weak_bias) + N(significant_bias)) / N",
        "lines of class weak_bias or significant_bias",
        _ALL,
        source=_SEED,
        lost=_LINES,
    ),
    of(
        "first_position_effect",
        "How much more often the first place wins both orders than the second does: noise alone cannot make it.",
        "P(first decisive in both) - P(second decisive in both)",
        "pairs won by the first in both, less those won by the second in both",
        interval=_SIGNS,
        unit="pp",
    ),
    of(
        "first_position_sensitivity",
        "The first-position effect under another reasonable choice, and its bounds by unreadable pairs (choice).",
        "as first_position_effect, one choice changed",
        "as first_position_effect",
        "as the choice says",
        T,
        unit="pp",
        lost="as the choice says",
    ),
    of(
        "position_consistency",
        "How often both orders name the same winner, or both tie.",
        "P(agree)",
        "pairs that agree",
        source=_SHI,
    ),
    of(
        "primacy_share",
        "How often the first place wins both orders.",
        "P(first in both)",
        "pairs won by the first in both",
    ),
    of(
        "recency_share",
        "How often the second place wins both orders.",
        "P(second in both)",
        "pairs won by the second in both",
    ),
    of(
        "first_win_rate",
        "How often the first place wins, of verdicts that name a winner.",
        "P(first wins | decisive)",
        "verdicts for the first",
        "decisive verdicts of readable pairs",
        T,
        lost="ties are left out, and pairs with an unreadable or missing verdict",
    ),
    of(
        "graded_position_effect",
        "The mean verdict in favour of the first place, from -2 to 2.",
        "mean of (grade of game 1 + grade of game 2) / 2",
        "grades in favour of the first",
        "verdicts of readable pairs",
        T,
        unit="score",
    ),
    of(
        "preference_fairness",
        "Preference fairness from -1 (always the first) to 1 (always the second): minus the signed bias over n = "
        "readable pairs. Its raw score, recency count x recency share - primacy count x primacy share of pairs that "
        "disagree, is their difference exactly; the published scripts divide by all pairs shown, unreadable ones too.",
        "(N(leans to second) - N(leans to first)) / n",
        "pairs that disagree, a tie in one game leaning to the winner of the other",
        interval=T,
        source=_SHI,
        unit="score",
    ),
    of(
        "excess_flip",
        "How much more often verdicts name another winner with swapped orders than with the same order asked again: "
        "sum (p - q)^2 / 2 over the winner's chances in the two orders, 0 just where the order changes nothing.",
        "P(disagree | swapped) - mean over orders of P(disagree | same order again)",
        "pairs of verdicts on one question that disagree, all pairs counted",
        "questions with two readable verdicts in each order",
        f"{T}; one-sided p by dealing each question's verdicts anew to the two orders",
        unit="pp",
        lost="a tie is a winner of its own; single unreadable verdicts are left out",
    ),
    of(
        "identical_pair_effect",
        "How much more often the first of two identical texts wins than the second: by place or letter alone.",
        "P(first) - P(second)",
        "verdicts for the first less those for the second",
        "readable verdicts on identical texts",
        f"{T}; p by sign flips over questions",
        unit="pp",
        lost=_SINGLE,
    ),
    of(
        "quality_gap_accuracy",
        "How often the judge prefers a good answer to a grossly bad one.",
        "P(good answer wins)",
        "verdicts for the good answer",
        "readable verdicts on such pairs",
        "Wilson where each question has one verdict, else question-clustered t",
        lost="a tie is no win; unreadable verdicts are left out",
    ),
    of(
        "flip_by_gap",
        "How often the two orders disagree on the outcome (either answer, or a tie), by third of the quality gap that "
        "other judges' verdicts, or else the judge's own other repeats, show (gap).",
        "P(disagree | third of |mean verdict of others|)",
        "pairs that disagree",
        "readable pairs whose gap is known",
        source="own definition, after Shi et al. 2024",
    ),
    of(
        "win_rate",
        "How often the candidate beats the baseline, over both games: as the verdicts say (style raw), or at equal "
        "length and layout (style controlled); weight: what a strong verdict counts.",
        "mean of [win] + [tie] / 2; controlled: expit(intercept) of a logistic regression on differences of style",
        "verdicts for the candidate, ties half",
        "verdicts of readable pairs, strong ones weighted",
        f"{T}; controlled: question-clustered sandwich t on the logit, from 40 questions",
        "Bradley and Terry 1952; style control after lmarena/arena-hard-auto; Pustejovsky and Tipton 2018",
    ),
    of(
        "leaderboard_contrast",
        "How much higher (logits of win rates) one judge ranks a model of its own or the other judge's family than "
        "third-party models make one expect from the other judge's leaderboard (fit: intercept or line).",
        "logit w_judge - fitted(logit w_other)",
        "published win rates of the model",
        "third-party models",
        "prediction interval of one more third-party model, t",
        "published leaderboards of two judges",
        "logit",
        "as the leaderboards count them; the baseline is left out",
    ),
    of(
        "flip_correlation",
        "How nearly comparisons with more flips are those that favour a place more, in ranks.",
        "Spearman(flip rate, |first_position_effect|)",
        "published comparisons with a flip and 10 readable pairs",
        "the same",
        "Fisher z, Bonett and Wright 2000; comparisons taken as independent",
        unit="alpha",
    ),
    of(
        "one_sided_share",
        "How much of the flips of the median comparison goes to one place.",
        "median(|first_position_effect| / flip rate)",
        "|pairs won twice by the first - by the second|",
        "pairs whose orders disagree",
        "exact, of order statistics over comparisons, which are taken as independent",
    ),
)
