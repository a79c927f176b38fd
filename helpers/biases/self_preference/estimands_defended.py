"""What each number of experiment 3 means: declared once, printed in tables, explained on request."""

from __future__ import annotations

from helpers.biases.self_preference.estimands import ASKED, DOSE, HARMFUL, OWN, PAIRED, T, of
from helpers.biases.self_preference.estimands_published import PUBLISHED
from helpers.types import Estimand

_BASELINE = "evaluator-quality baseline: Roytburg et al. 2026 (arXiv 2601.22548)"
_ODDS = (
    "log odds ratio of matched pairs, article-clustered sandwich t over articles in which a verdict changed; a total "
    "of 0 counts 1/2 and adds 2 to the variance"
)

DEFENDED = (
    of(
        "obfuscation_effect",
        "How much more an edit of the judge's own wrong answer turns it to the right one than the same edit turns "
        f"judges of a third vendor, {DOSE}. Identified if an edit shifts every judge's logit alike, with the "
        "same noise.",
        "ln(U/D) of the author - ln(U/D) of third-party judges; U, D: orders that changed to the right, the wrong "
        "answer, edited against the repeat arm",
        "orders that changed to the right answer",
        "orders that changed to the wrong answer",
        _ODDS,
        OWN,
        "logit",
    ),
    of(
        "obfuscation_effect_pp",
        f"obfuscation_effect as a difference of rates, {DOSE}; it depends on base rates and does not decide.",
        "mean of [edited - repeat] of the author - [edited - repeat] of third-party judges",
        "picks of the right answer",
        f"{HARMFUL}, judged edited and again by author and third party",
        PAIRED,
        OWN,
        "pp",
    ),
    of(
        "obfuscation_own",
        f"How much more often a judge picks the right answer when its own wrong one is edited, {DOSE}.",
        "mean of [edited - repeat] of the author",
        "picks of the right answer",
        f"{HARMFUL}, judged edited and again",
        PAIRED,
        OWN,
        "pp",
    ),
    of(
        "obfuscation_third_party",
        f"How much more often judges of a third vendor pick the right answer for the same edits, {DOSE}.",
        "mean of [edited - repeat] of third-party judges, averaged over them within each pair",
        "picks of the right answer",
        "the items of obfuscation_effect_pp",
        PAIRED,
        OWN,
        "pp",
    ),
    of(
        "harmful_score",
        "How often the right answer is picked where the judge wrote the wrong one: by it and by judges of a third "
        "vendor, asked again unedited and edited at the smallest dose.",
        "mean over items of [picked right], both orders; others averaged within each pair",
        "picks of the right answer",
        "the items of obfuscation_effect_pp",
        source=OWN,
    ),
    of(
        "obfuscation_against_other_author",
        f"How much more an edit of its own wrong answer moves a judge than the same dose on another vendor's wrong "
        f"answer with the same label, {DOSE}. Identified if texts suffer alike.",
        "ln(U/D) on own - ln(U/D) on other authors' wrong answers; same judge, question and right answer",
        "orders that changed to the right answer",
        "orders that changed to the wrong answer",
        _ODDS,
        OWN,
        "logit",
    ),
    of(
        "obfuscation_of_right",
        f"How much more often a judge picks the right answer when that one is edited, {DOSE}: a target, not a placebo.",
        "mean of [right answer edited - repeat]",
        "picks of the right answer",
        f"{HARMFUL}, judged edited and again",
        PAIRED,
        OWN,
        "pp",
    ),
    of(
        "regression_to_the_mean",
        "What asking again without any edit changes on the items of naive_filtered_change.",
        "mean of [repeat - first] over selected items",
        "picks of the right answer",
        f"{HARMFUL} and both orders agreed at first asking",
        T,
        OWN,
        "pp",
    ),
    of(
        "evaluator_quality_gap",
        "How much more often a judge votes for its own wrong answer than for another vendor's wrong answer to the "
        "same question (stratum: same label, other label, all).",
        "mean of P(votes own wrong) - P(votes other's wrong), same right opponent",
        "votes for the wrong answer",
        "unedited items of questions that the judge answered wrongly, all askings averaged, later ones too",
        PAIRED,
        _BASELINE,
        "pp",
    ),
    of(
        "same_text_other_judges",
        "How much more often a judge votes for its own wrong answer than third-party judges do for the same text.",
        "mean of P(author votes it) - P(third-party judges vote it)",
        "votes for the wrong answer",
        f"{HARMFUL}, unedited, all askings averaged, later ones too",
        PAIRED,
        OWN,
        "pp",
    ),
    of(
        "recognition_accuracy",
        "How often a judge names its own wrong answer when asked which of the two it wrote; chance is 1/2.",
        "mean over items of [named own], both orders",
        "answers that name the own text",
        f"{HARMFUL}, asked which it wrote",
    ),
    of(
        "recognition_balanced",
        "Recognition on harmful and beneficial items alike: 1/2 for a judge that claims what it takes to be right.",
        "(recognition where own is wrong + recognition where own is right) / 2, unedited",
        "answers that name the own text",
        "items with an own answer, asked which it wrote",
        T,
        OWN,
    ),
    of(
        "recognition_change",
        f"How much less often (negative) a judge names its own wrong answer once that is edited, {DOSE}.",
        "mean of [named own | edited] - [named own | unedited]",
        "answers that name the own text",
        f"{HARMFUL}, asked which it wrote edited and unedited",
        PAIRED,
        OWN,
        "pp",
    ),
    of(
        "preference_change",
        f"How much less often (negative) a judge picks its own wrong answer once that is edited, {DOSE}.",
        "- obfuscation_own",
        "picks of the own wrong answer",
        f"{HARMFUL}, judged edited and again",
        PAIRED,
        OWN,
        "pp",
    ),
)

ESTIMANDS: dict[str, Estimand] = {each.id: each for each in (*ASKED, *DEFENDED, *PUBLISHED)}
