"""Where each number of experiment 2 fails or misleads, beside those of experiment 1 that it repeats for each group."""

from __future__ import annotations

from collections.abc import Mapping

from helpers.stats.numbering import COPIES

#: What is said of a number of experiment 1 that stands beside the same of other groups.
GROUPED = (
    "Two groups' values are not to be compared as if they were independent: same questions, judges and answers "
    "(hint_effect and spread_change pair them)."
)
_COUNT = "Nothing but a count of what was published."
_LOWEST = "An extreme of noisy numbers: some group always has it, also where no hint does anything."
_COUNTED = "Votes on one question are taken as independent, which judges of the same answers are not."

FAILS: Mapping[str, str] = {
    "hint_effect": (
        "A true hint discloses name and answer together: what it does is the effect of disclosure, not of a name "
        "(name_effect), and under `competitors` the undisclosed own answer can be guessed. An average near 0 can "
        "hide opposite effects on two vendors. 80 questions miss effects of the average below about 7 pp (12 for a "
        "vendor) in one run of five or more. Needs blind partners of the same returned model; no value on average "
        "where a vendor has none. Verdicts lost under the hint alone for what they would have said move it: see "
        "loss_change and hint_effect_bound."
    )
    + COPIES,
    "hint_effect_bound": (
        "An extreme that nobody expects: it says what lost verdicts could do at most, not what they did. Wide where "
        "many are lost, and no bound on what a judge of another returned model would have said."
    ),
    "loss_change": (
        "Says that losses differ, not which way they push. Equal shares may still hide losses of different picks."
    ),
    "hint_effect_90": (
        "Equivalence is of the average over vendors alone and of the margin that was chosen. 80 questions, "
        "asked once, show equivalence within 5 pp in about one run of four where nothing differs (one of eight where "
        "verdicts are lost, seven of ten asked twice; about 180 questions in four of five): not shown is not "
        "different."
    ),
    "category_hint_effect": (
        "Exploratory: few questions a category (no interval below 10), many categories and hints, no correction "
        "here. No value where a vendor has no pair in the category."
    ),
    "name_effect": (
        "Deceives the judge: names are wrong for most answers, and a judge that sees through it may discount them. "
        "It is of vendors' names as written in the hint, for first places only. Needs the arm `swapped`; a verdict "
        "that is lost because of the names it was shown biases it. No value on average where a vendor's judges gave "
        "no ranking."
    ),
    "name_effect_by_judge": ("As name_effect, of fewer judgments: exploratory, uncorrected for the number of judges."),
    "change_rate": (
        "No effect of a hint: a judge that wavers changes its first place without any. Compare change_rate_repeat; "
        "excess_change takes it off."
    ),
    "change_rate_repeat": (
        "Needs the same judgment asked twice, at a temperature at which replies can differ: a judge that repeats "
        "itself word for word has 0. Drift between two days counts as wavering."
    ),
    "excess_change": (
        "Says that verdicts change, not for whom. Above 0 also where the model or its settings drifted between "
        "hinted and blind. Needs repeats of both; counts judges whose vendor has a candidate, and only first places. "
        "Little power: judges waver more than hints move them."
    ),
    "spread_change": (
        "A metric that noise alone raises, in two arms: only their difference is free of that. Less spread is not "
        "less bias where answers differ in quality. Bonferroni's bounds are wide. No value for a single rate's "
        "spread, or where a vendor or judge gave no valid ranking in an arm."
    ),
    "hint_change": (
        "A bare difference of two published rates: how many verdicts changed sides is not published, so neither a "
        "difference nor its absence follows from it."
    ),
    "judgments": _COUNT,
    "is_lowest": _LOWEST,
    "is_highest": _LOWEST,
    "lowest_groups": f"{_COUNT} More than one says that the published best group is a tie.",
    "group_gap": f"{_LOWEST} Compare it with the same by chance.",
    "group_gap_by_chance": (
        "Holds where no group differs at all: a hint that changes verdicts without favouring anybody widens it too. "
        "Of published counts votes are dealt as if they were independent, which those of one judge on the same answers "
        "are not. Not given below 10 questions."
    ),
    "self_bias_as_counted": (
        f"Quality and preference are one number, as in self_bias. {_COUNTED} Winners of invalid rankings are in it."
    ),
    "lost_as_counted": f"Says how many were lost, not which. {_COUNTED.replace('Votes', 'Losses')}",
}
