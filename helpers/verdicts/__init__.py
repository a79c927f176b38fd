"""Reply text -> verdict or outcome. What a candidate wrote can never become a verdict here.

Two forms of reply are read, and nothing else is searched for:

* structured (the request has a schema): the whole reply is one JSON object that carries the nonce as its `id`;
* text: the last line of the reply carries the nonce, `RANKING-<nonce>: C > A > B` (listwise; a line
  `SCORES-<nonce>: A=7 B=8 C=9` may stand directly before it) or `VERDICT-<nonce>: <value>` (all other forms).

The judge is told the nonce and no candidate knows it, so a quoted answer is only a quotation. What usually stands
around a reply, a line or a label and says nothing is taken off first (wrappers.py), and `unwrapped` tells what it was.
Nothing else is repaired: a reply in any other form has an outcome that says so, and it can be read again by a better
parser, since replies are stored raw.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from ..json_text import no_constant, no_duplicates
from ..types import PAIRWISE, VERDICT_FIELDS, Completion, Judgment, Trial, Verdict, check_form
from . import forms, wrappers
from .forms import LONGEST, UNPARSED, Reading, Token

#: Raised whenever the same reply may be read differently than before.
PARSER_VERSION = 3
#: Forms of verdicts that state one label, whose probability can be read where a server gives log-probabilities.
WEIGHED = ("pairwise", "choice")
ENDINGS = {"refusal": "refused", "filter": "filtered", "length": "truncated"}
#: All numbers are read as floats: True is then no number, and an endless integer is infinite, not an error.
STRUCTURED = json.JSONDecoder(object_pairs_hook=no_duplicates, parse_constant=no_constant, parse_int=float)


def read(trial: Trial, completion: Completion, tokens: Sequence[Token] = ()) -> Judgment:
    """What became of the reply to `trial`, and the verdict if it holds one.

    How the reply ended comes first: refused, filtered and truncated replies are never searched for a verdict. A reply
    that ended in an unknown way is "unparsed" (an ending that the provider does not tell counts as normal); thoughts
    that do not end in as many tokens as the request allows are "truncated", whatever the server calls their ending. A
    failed attempt is no reply, so its judgment stays "missing". A trial of the form "text" asks for no verdict: its
    reply is "ok" without one. Raises ValueError where `parse` does. With the reply's `tokens` a verdict of WEIGHED has
    `probabilities`, unless they are not those of the text.
    """
    verdict = None
    if completion.status != "ok":
        outcome = "missing"
    elif completion.finish in ENDINGS:
        outcome = ENDINGS[completion.finish]
    elif not completion.text.strip():
        outcome = "empty"
    elif trial.form == "text":  # no verdict is asked for
        outcome = "ok"
    elif completion.finish not in (None, "stop"):
        outcome = "unparsed"
    else:
        outcome, verdict = _parsed(trial, completion)
        full = (completion.usage.output or 0) >= trial.judge.max_tokens
        if outcome == "unparsed" and full and wrappers.bare_reply(completion.text, set()) is None:
            outcome = "truncated"
        if verdict and tokens and trial.form in WEIGHED:
            verdict = _weighed(trial, completion, verdict, tokens)
    return Judgment(trial, outcome, verdict, completion)


def parse(
    text: str,
    form: str,
    labels: Sequence[str],
    nonce: str,
    *,
    structured: bool,
    enforced: bool = False,
    kinds: set[str] | None = None,
) -> Reading:
    """The outcome and the verdict of a finished reply; the verdict is None unless the outcome is "ok".

    `labels` are the letters shown (unused by pairwise and number). Listwise: no valid ranking is "invalid_ranking";
    a score that is not a number from 0 to 10, or is given twice, is absent and the ranking counts; a score for a label
    that was not shown makes the ranking invalid. Anything longer than LONGEST is no verdict. Another verdict with the
    nonce anywhere before the last line is a "conflict", but in thoughts that end before the reply begins; thoughts
    that do not end are no reply. Where one option is asked for, words that take none are "no_option" and several
    labels "two_options"; where several may be named, no label is a verdict too ("none", or an empty list), and a label
    named twice counts once. A structured reply with another `id` counts only where the server enforced the schema.
    `kinds` gets the kinds of wrappers that were taken off, and "id not copied". An unknown form, a missing nonce or
    label raises ValueError.

    >>> reply = "B is wrong.\\n\\nSCORES-5eed: A=9 B=2 C=9.5\\n**RANKING-5eed: A > C > B**"
    >>> outcome, verdict = parse(reply, "listwise", "ABC", "5eed", structured=False)
    >>> outcome, verdict.ranking, verdict.scores, verdict.contradicts, verdict.justification
    ('ok', ('A', 'C', 'B'), {'A': 9.0, 'B': 2.0, 'C': 9.5}, True, 'B is wrong.')
    >>> parse("VERDICT-5eed: A>B\\nNo:\\nVERDICT-5eed: B>A", "pairwise", "AB", "5eed", structured=False)
    ('conflict', None)
    >>> parse('{"id": "5eed", "choice": "C"}', "choice", "ABCD", "5eed", structured=True)[1].choice
    'C'
    """
    check_form(form, labels)
    if not re.fullmatch(r"\w+", nonce):
        raise ValueError(f"nonce {nonce!r}: without a nonce of letters and digits a quoted verdict would count")
    found: set[str] = set()
    bare = wrappers.bare_reply(text, found)
    if bare is None:
        return UNPARSED
    shown = (bare, form, tuple(labels), nonce, found)
    reading = _structured(*shown, enforced) if structured else _text(*shown)
    if kinds is not None and reading[1] is not None:
        kinds |= found
    return reading


def unwrapped(judgment: Judgment) -> tuple[str, ...]:
    """The kinds of wrappers in which the verdict of a judgment stood, and "id not copied"; empty where it has none."""
    kinds = set[str]()
    if judgment.verdict is not None and judgment.completion is not None:
        _parsed(judgment.trial, judgment.completion, kinds)
    return tuple(sorted(kinds))


def _parsed(trial: Trial, completion: Completion, kinds: set[str] | None = None) -> Reading:
    at = (completion.text, trial.form, trial.labels, trial.nonce)
    return parse(*at, structured=trial.request.schema is not None, enforced=trial.judge.enforced, kinds=kinds)


def _weighed(trial: Trial, completion: Completion, verdict: Verdict, tokens: Sequence[Token]) -> Verdict:
    """The verdict with the chances of labels at its place: there, and only there, another label is another verdict."""
    text, choice = completion.text, verdict.choice or ""
    labels = PAIRWISE if trial.form == "pairwise" else trial.labels
    other = labels[labels.index(choice) - 1]
    stated = r"(?<!\w)" + r"\s*".join(map(re.escape, choice)) + r"(?!\w)"
    places = [found.span() for found in re.finditer(stated, text)]
    for start, end in (*places[: -forms.PLACES - 1 : -1], *places[: forms.PLACES]):
        changed = _parsed(trial, replace(completion, text=text[:start] + other + text[end:]))[1]
        if changed and changed.choice == other != choice:
            return replace(verdict, **forms.weigh(tokens, text, start, labels))
    return verdict


def _structured(text: str, form: str, labels: Sequence[str], nonce: str, kinds: set[str], enforced: bool) -> Reading:
    text = wrappers.without_fence(wrappers.without_unopened_thoughts(text, nonce, kinds), kinds)
    try:
        reply = STRUCTURED.decode(text.strip())
    except (ValueError, RecursionError):
        return UNPARSED
    fields = {"id", VERDICT_FIELDS[form], "justification"} | ({"scores"} if form == "listwise" else set())
    if not isinstance(reply, dict) or VERDICT_FIELDS[form] not in reply or set(reply) - fields:
        return UNPARSED
    if (stated := reply.get("id")) != nonce:
        copied = isinstance(stated, str) and stated.casefold() == nonce.casefold()
        if not copied and not enforced:
            return UNPARSED
        kinds.add("case" if copied else "id not copied")
    reason, scores = reply.get("justification"), reply.get("scores")
    reason, scores = reason if isinstance(reason, str) else "", scores if isinstance(scores, dict) else {}
    return forms.decide(form, reply[VERDICT_FIELDS[form]], scores, reason, labels, kinds)


def _text(text: str, form: str, labels: Sequence[str], nonce: str, kinds: set[str]) -> Reading:
    word = "RANKING" if form == "listwise" else "VERDICT"
    # Only "\n" ends a line: exotic line ends inside a quotation must not make lines of their own.
    before, _, last = wrappers.without_closing_fence(text, kinds).rpartition("\n")
    stated = wrappers.stated(last, word, nonce, LONGEST, kinds)
    if stated is None:
        return UNPARSED
    before = before.rstrip()
    ends = [mention.end() for mention in re.finditer(rf"{word}\W{{0,8}}{nonce}", before, re.IGNORECASE)]
    # What follows each mention, up to the end of the next.
    mentions = (before[at : min(at + LONGEST, end)] for at, end in pairwise([*ends, len(before)]))
    if forms.leading(mentions, form, labels) - forms.leading([stated], form, labels):
        return "conflict", None
    scores, reason = _scores(before, nonce, kinds) if form == "listwise" else ({}, before)
    return forms.decide(form, forms.value_of(stated, form, labels, kinds), scores, reason, labels, kinds)


def _scores(before: str, nonce: str, kinds: set[str]) -> tuple[dict[str, float | None], str]:
    """The scores in the last line before a ranking, if it has any, and the text before them.

    Two different lines of scores: none of them is the judge's score.
    """
    above, _, last = before.rpartition("\n")
    value = wrappers.stated(last, "SCORES", nonce, LONGEST, kinds)
    if value is None:
        return {}, before
    scores = forms.scores_of(value)
    values = (wrappers.stated(line, "SCORES", nonce, LONGEST, kinds) for line in set(above.split("\n")))
    differ = any(forms.scores_of(value) != scores for value in values if value is not None)
    return {} if differ else scores, above
