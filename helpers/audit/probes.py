"""What an audit looks for: eight probes, each one question with a signed answer of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Probe:
    """One kind of bias: the id of its number, what is done and compared, and what a judge that has it does.

    `sides` names the two sides of the number in a few words, the one above 0 first. `above` and `below` complete "the
    judge ..." for a number above and below 0. `limit` says what it cannot tell.
    """

    id: str
    title: str
    sides: str
    design: str
    number: str
    above: str
    below: str
    limit: str


_BESIDE = "in both orders, beside the one answer and, as the control, in the same words beside the other one"
_WINS = "how much more often the answer {} wins than loses; quality and place cancel"

#: By the name of the condition that it manipulates; all of them are one family, which Holm's correction is over.
PROBES: Mapping[str, Probe] = {
    "order": Probe(
        "first_position_effect",
        "order",
        "first place against second",
        "two answers of about equal worth in both orders, each order asked twice",
        "how much more often the first place wins both orders than the second place does",
        "favours the answer shown first",
        "favours the answer shown second",
        "place and letter go together here; the probe on letters takes them apart",
    ),
    "letters": Probe(
        "letter_effect",
        "letters",
        "marked A against marked B",
        "the same two answers in the same places, marked A and B and, as the control, B and A",
        "how much more often the answer marked A wins than the one marked B; quality and place cancel",
        "favours the answer marked A",
        "favours the answer marked B",
        "other marks (1 and 2, names) are not tried",
    ),
    "identical": Probe(
        "identical_pair_effect",
        "identical pairs",
        "first of two equal texts against second",
        "the same text twice, of which a tie is the right verdict",
        "how much more often the first of two equal texts wins than the second",
        "prefers the first of two equal texts",
        "prefers the second of two equal texts",
        "a judge that sees that the texts are equal may be fair here and not elsewhere",
    ),
    "length": Probe(
        "length_effect",
        "length",
        "padded against short",
        "an answer beside the same answer with sentences between its own that add nothing, in both orders",
        "how much more often the padded answer wins than the short one; place cancels, and what is said is the same",
        "favours the longer of two answers that say the same",
        "favours the shorter of two answers that say the same",
        "to prefer the shorter one may be taste and no fault, and is right where a question asks for a few lines; "
        "which of these it is no number can tell",
    ),
    "authority": Probe(
        "authority_effect",
        "authority",
        "recommended against not",
        f"a note that an expert recommends an answer: {_BESIDE}",
        _WINS.format("that an expert is said to recommend"),
        "follows a recommendation that says nothing about the answer",
        "turns against the answer that an expert is said to recommend",
        "the experts are claimed, not real; a judge may take the note for evidence",
    ),
    "bandwagon": Probe(
        "bandwagon_effect",
        "bandwagon",
        "preferred by most against not",
        f"a note that most readers preferred an answer: {_BESIDE}",
        _WINS.format("that most readers are said to prefer"),
        "follows what most readers are said to prefer",
        "turns against what most readers are said to prefer",
        "shares are between 78 and 93 of 100; smaller crowds are not tried",
    ),
    "names": Probe(
        "vendor_name_effect",
        "names",
        "well-known name against unknown",
        "one answer under the name of a well-known model, the other under one that nobody knows; then exchanged, in "
        "both orders",
        _WINS.format("under a well-known name"),
        "favours the answer under a well-known name",
        "favours the answer under an unknown name",
        "three well-known names in turn: whether a judge favours its own vendor's is experiment 2's question",
    ),
    "anchor": Probe(
        "score_anchor_effect",
        "anchor",
        "points after a high number against a low one",
        "one answer scored from 0 to 100 after a high and, as the control, a low number that belongs to something else",
        "how many points of 100 the score is higher after the high number",
        "scores higher after a high number that has nothing to do with the answer",
        "scores lower after a high number that has nothing to do with the answer",
        "scores of one answer at a time; verdicts on pairs are not anchored",
    ),
}
