"""Where each number of experiment 6 fails or misleads: what it takes for the bias, and when it has no value."""

from __future__ import annotations

from collections.abc import Mapping

from helpers.stats.numbering import COPIES

_MISLED = (
    "Such pairs are written or chosen to mislead: the worse text is not only longer but also looks better, so the "
    "number says how a judge can be led astray and not what length does to its usual work."
)

FAILS: Mapping[str, str] = {
    "style_effect": (
        "A wording and its length are one here: a judge that likes long texts prefers all three "
        "(length_controlled_effect parts them). Content is equal because no sentence of the answer is changed, which "
        "does not say that readers are served equally: a list can be easier to read, and preferring it is then no "
        "error. The rules make one padding, one list and one tone; others can do more or less. A judge may notice that "
        "the two answers say the same and call a tie that it would not call elsewhere. Pairs unreadable in one order "
        "are left out."
    )
    + COPIES,
    "length_controlled_effect": (
        "Takes the effect of length to be a straight line in doublings, the same in both directions; lengths are "
        "mirrored by design, so that a bent one cancels as long as it is. It is the mean over the tried text being as "
        "long, longer and shorter: where length decides most of the unequal pairs, a wording has little room in them, "
        "and the effect comes out smaller than on the equal pairs alone, at the worst a third of it; a null result "
        "beside a steep length_slope says little. What is added to change the length is "
        "padding: a judge that punishes emptiness and not length has that in the slope. Padding has no number of its "
        "own, since at equal length nothing of it is left. No value where a wording has no readable pair."
    ),
    "length_slope": (
        "The effect of adding sentences without content, up to about twice the letters; not of longer answers that say "
        "more. A judge that only looks which text is longer has no slope: the number then depends on how much was "
        "added."
    ),
    "poorer_win_rate": (
        "The last sentence and one other are left out: how much poorer that makes an answer differs by question, and a "
        "judge may call the rest complete. Of judges the rates are not to be compared without those in plain words."
    ),
    "style_over_content": (
        "Depends on how close the contents are: where full content always or never wins, no wording can show. Wording "
        "and length are one here too; a padded poorer answer is longer than the full one. A difference of rates near 0 "
        "cannot be large, so sharp judges show less of the same habit."
    ),
    "repeat_disagreement": (
        "Noise at the temperature asked for: a provider that repeats a cached reply word for word shows none. A tie "
        "against a win counts as another winner."
    ),
    "invalid_share": "Says how many were lost, not which; it moves other numbers where losses depend on the winner.",
    "known_pair_accuracy": (
        f"{_MISLED} Somebody's label says which text is better. Chance is one half where a winner must be named; a tie "
        "counts half, so a judge that calls all pairs ties has one half too."
    ),
    "known_pair_accuracy_by_bias": (
        "A dozen pairs a bias carry a wide interval; many biases of many judges are many chances, and there is no "
        "correction here."
    ),
    "longer_when_worse": (
        f"{_MISLED} A judge that cannot tell better from worse is at one half without any liking for length, and one "
        "that is fooled by the rest of the pair is above it (longer_when_better tells them apart, where there are such "
        "pairs)."
    ),
    "longer_over_better": (
        f"{_MISLED} Below 0 is a judge that finds the better text in spite of that; nothing is said against it."
    ),
    "longer_when_better": (
        "High for a judge that finds the better text and for one that likes the longer one: it means something only "
        "beside longer_when_worse, and published sets hold few such pairs."
    ),
    "known_pairs_right_twice": "A count that falls with noise and with a preference for a place, whatever length does.",
    "unreadable_share": "Says how many were lost, not which.",
    "longer_preferred": (
        "No bias: longer outputs often say more, and people prefer them too. As printed, to two digits and without n."
    ),
}
