"""The words of the reports: those of the field as they are meant here, and those that the code itself declares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from markupsafe import Markup

from helpers.explain.declared import UNITS
from helpers.figures.cards import MEANINGS
from helpers.figures.panels import SOURCES
from helpers.report.layout import coded
from helpers.report.marking import KINDS
from helpers.run.showing import WORDS

TERMS = {
    "anchor": "A number that is shown before an answer is asked for, and that should not matter to it.",
    "audit": "One judge and a frozen battery of manipulations, each with its control on the same question.",
    "baseline": "The fixed opponent that candidates are compared with where answers are judged in pairs.",
    "candidate": "A model whose answers are judged.",
    "claim": "A number that somebody printed, with its place; notebooks recompute it where its data were published.",
    "cluster": "What is taken for independent of all else of its kind: a question, an article or a scenario. Judgments "
    "of one question are not, so intervals resample questions, never rows.",
    "condition": "What is changed on purpose between judgments of the same answers: a hint, an edit, a treatment.",
    "control": "The judgment of the same material without the manipulation.",
    "estimand": "What a number is a number of: words, formula, who counts and who does not. The reference lists all.",
    "estimate": "A number with its interval, its `n` and its number of clusters.",
    "excess": "How much more often a vendor's own judges prefer its answers than other vendors' judges do.",
    "family preference": "A judge prefers answers of its own vendor that another model wrote.",
    "flip": "A verdict that is another one when the order of the answers is exchanged. Noise flips verdicts too.",
    "hint": "What a judge is told of who wrote which answer.",
    "interval": "Values that are compatible with what was seen, at 95 % unless it says otherwise; there is none below "
    "ten clusters.",
    "judge": "A model that is asked which answer is better.",
    "key": "The name of a reply: a hash of everything that the model saw and that shapes its reply.",
    "length-controlled effect": "What is left of the preference for a wording when both texts have as many letters.",
    "outcome": "What became of a reply. Only `ok` carries a verdict; all others are counted and shown, never scored.",
    "percentage point (pp)": "A difference of shares times a hundred.",
    "position bias": "A preference for a place in which an answer is shown, whatever stands there.",
    "primacy": "How much more often the place shown first wins than the second.",
    "self-preference": "A judge prefers what it wrote itself over equally good answers.",
    "slot": "The place in which an answer is shown; its rank is the place that it is given.",
    "smallest detectable effect": "The true effect that would be found in four of five such runs. It stands beside "
    "every result that shows nothing.",
    "trial": "One question put to one judge under one condition. With its reply and its verdict it is a judgment.",
    "verdict": "What a judge decided, read from its reply.",
    "wording": "How one content is put: plain, padded, as a list, in a confident tone; no sentence is changed.",
}
OUTCOMES = {
    "ok": "A verdict was read.",
    "unparsed": "No verdict in the required form was found.",
    "conflict": "Two verdicts that contradict each other were found.",
    "invalid_ranking": "The ranking does not hold each label exactly once.",
    "no_option": "None of the options was chosen.",
    "two_options": "More than one option was chosen where one was asked for.",
    "refused": "The model refused.",
    "filtered": "A filter of the provider stopped the reply.",
    "truncated": "The reply was cut at its limit of tokens.",
    "empty": "The reply holds no text.",
    "missing": "No reply is stored.",
}


@dataclass(frozen=True)
class Terms:
    """One part of the glossary."""

    title: str
    address: str
    terms: Mapping[str, Markup]


def groups() -> list[Terms]:
    """All parts: words of the field, outcomes, marks of verdicts, words of the judge card, sources of data, units."""
    told = {f"{name}: {SOURCES.get(name, name)}": words.replace("**", "") for name, words in WORDS.items()}
    card = {word: meaning.removeprefix(f"{word}: ") for word, meaning in MEANINGS.items()}
    parts = {
        "Words": TERMS,
        "Outcomes of a reply": OUTCOMES,
        "Marks of verdicts": KINDS,
        "Words of the judge card": card,
        "Sources of data": told,
        "Units": UNITS,
    }
    return [
        Terms(title, title.lower().replace(" ", "-"), {term: coded(_sentence(words)) for term, words in terms.items()})
        for title, terms in parts.items()
    ]


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}{'' if words.endswith('.') else '.'}"
