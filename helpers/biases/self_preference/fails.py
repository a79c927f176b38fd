"""Where each number of experiment 3 fails or misleads: what it takes for the bias, and when it has no value.

Measured rates are of simulated runs of about 115 articles in which edits damage texts and nobody prefers its own.
"""

from __future__ import annotations

from collections.abc import Mapping

from helpers.stats.numbering import COPIES

_WEAK = "A judge that is merely wrong about the question has the same number as one that defends its own"
_FILTERED = (
    "Where only consistent items are kept, the filter selects: the same items asked again, without any edit, move "
    "by +7 pp where the judge is seldom right and by -6 pp where it mostly is."
)
_COUNT = "Nothing but a count; a pair with a verdict lost in one order is in pairs and not in items."
_PUBLISHED_COUNT = "Nothing but a published count."
_PUBLISHED = (
    "Pairs share questions and articles, which the interval takes as independent. Pairs that the source could not "
    "read or that failed its filter are gone: the rate is of what was left."
)
_GENERATED = "Says how well a model answers these questions, nothing of its judging."
_DAMAGE = "Damage to the text is in it: an edit that makes an answer worse turns any judge from it."

FAILS: Mapping[str, str] = {
    "accuracy_all": f"Accuracy, no bias: it mixes how hard pairs are with whom a judge likes. {_FILTERED}",
    "accuracy_self": (
        f"Right and wrong own answers are mixed in one rate, and a preference for both cancels. {_FILTERED}"
    ),
    "accuracy_harmful": (
        f"{_WEAK}: it answered this very question wrongly and believes what it said (compare evaluator_quality_gap, "
        "which asks it about another author's wrong answer). Harmful items are the hard ones by selection. Not to "
        f"be compared between judges: each has items of its own. {_FILTERED}"
    ),
    "naive_harmful_rate": (
        f"{_WEAK}: in the simulated world of a weak judge without any preference it lay significantly above 1/2 in "
        "at least 95 % of runs. Shown as the naive reading."
    ),
    "own_wrong_probability": (
        f"{_WEAK}. Only where the provider tells probabilities of both letters; they are not calibrated, and judges' "
        "are not to be compared."
    ),
    "legitimate": (
        "It rises with how often the judge is right at all, whatever it prefers; exactly one answer of a pair is "
        "right by selection. No value for a judge that never voted for its own."
    ),
    "retention": "Consistency, not quality: a judge that always names the same answer, right or wrong, keeps all.",
    "naive_opponent_difference": (
        "Counts damage twice: an edit of either answer hurts the one edited, so pure damage alone is called an "
        "effect in 80 to 100 % of runs. A warning, never evidence."
    ),
    "naive_filtered_change": (
        "Its items were selected on the verdicts it compares with: 7 pp come of nothing where the judge is seldom "
        "right; 12 if only one order is asked afterwards, which a test calls an effect in 99 % of runs without any. "
        "Damage is in it too. A warning, never evidence."
    ),
    "unreadable_share": (
        "Says how many were lost, not which; lost for what they would have picked, they bias every rate."
    ),
    "funnel_pairs": _COUNT,
    "funnel_items": _COUNT,
    "funnel_consistent": _COUNT,
    "obfuscation_effect": (
        "Says that an edit moves the author more than third parties, not why: not identified where judges feel "
        "damage in proportion to their sharpness or differ in noise (in such a world it rejects in clearly more "
        "than 7 % of runs); then obfuscation_against_other_author has to agree. A judge that recognises the "
        "editor's or its own vendor's words reads them in the edit. Needs a repeat arm, edited items and judges of "
        "a third vendor; no value where no verdict changed, no interval where verdicts changed in fewer than 10 "
        "articles. Few changes pull it away from 0 by a small part of its error."
    )
    + COPIES,
    "obfuscation_effect_pp": (
        "Hangs on base rates: the same shift in logits is many points on close pairs and few on clear ones, so that "
        "authors and third parties differ in pp without any preference. It stands beside and does not decide."
    ),
    "obfuscation_own": f"{_DAMAGE} Only the difference to other judges of the same texts says more.",
    "obfuscation_third_party": (
        f"{_DAMAGE} That is what it measures; third parties that are fond of the author's style would hide it."
    ),
    "harmful_score": (
        "What the contrast is made of: four rates of the same pairs, none of which is an effect by itself."
    ),
    "obfuscation_against_other_author": (
        "Takes it that both wrong texts suffer alike from a dose: an answer of another length or style may not. Two "
        "authors seldom choose the same wrong option, so items are few and intervals wide. No value where nobody "
        "else's wrong answer with that label was edited and judged."
    ),
    "obfuscation_of_right": (
        "A target, not a placebo: the edit damages the right answer, so it moves verdicts the other way. Taken off "
        "obfuscation_own, damage counts twice."
    ),
    "regression_to_the_mean": (
        "No effect: what the filter for consistency makes of noise, on items selected by their first verdicts."
    ),
    "evaluator_quality_gap": (
        "Other authors' wrong answers differ in how persuasive they are; the strata with other labels hold the "
        "judge's own belief in its option as well, so only the same label is free of that, and such pairs are few. "
        "A judge that likes its own style prefers it here, whether it recognises itself or not. No value where no "
        "other vendor's wrong answer was judged against the same right one. Of near-duplicate models the right answer "
        "resembles the other wrong one, and the gap is off 0 without any self-preference."
    ),
    "same_text_other_judges": (
        "The author answered this question wrongly, the others mostly did not: what they know better is in it. "
        "evaluator_quality_gap takes that out."
    ),
    "recognition_accuracy": (
        "On harmful items alone a judge that claims whatever it takes to be right looks as if it did not know "
        "itself, or did (recognition_balanced is free of that). Two texts of different length are told apart "
        "without any knowledge of oneself."
    ),
    "recognition_balanced": (
        "A style that is easy to tell is recognised without self-knowledge, by other judges too, and a judge that "
        "claims the option it believes in names its own answer without knowing its words. 1/2 can be two "
        "opposite habits. Recognition that goes along with preference does not show that it causes it. Needs "
        "harmful and beneficial items, 10 articles of each for an interval."
    ),
    "recognition_change": (
        "A text that is merely damaged is claimed less often; that preference moves along is no proof that "
        "recognition drives it."
    ),
    "preference_change": f"The sign of obfuscation_own turned. {_DAMAGE}",
    "published_records": _PUBLISHED_COUNT,
    "judge_accuracy": f"Accuracy, no bias. {_PUBLISHED}",
    "model_accuracy": f"Says which pairs were kept, nothing of the judging. {_PUBLISHED}",
    "self_selected_rate": f"A judge that is often right picks its own often without any preference. {_PUBLISHED}",
    "harmful_self_preference_rate": f"{_WEAK}. {_PUBLISHED}",
    "wrong_of_self_selected": (
        "Mixes how often the judge is wrong with how often it picks itself: it falls when a judge picks more of its "
        f"right answers. {_PUBLISHED}"
    ),
    "published_change": (
        "Before and after were filtered on their own verdicts, or asked in other orders, and nobody asked the "
        "unedited pairs again: what filtering and damage do alone is in it."
    ),
    "published_retention": "Consistency, not quality; it says how much the filter selected.",
    "generator_accuracy": f"{_GENERATED} Answers that named no option are left out: a model that skips gains.",
    "generator_accuracy_all": _GENERATED,
    "generator_skipped": _PUBLISHED_COUNT,
    "code_pairs": _PUBLISHED_COUNT,
    "accuracy_falls": (
        f"{_PUBLISHED_COUNT} Some of these fall by chance: noise alone gives about half where nothing changed."
    ),
}
