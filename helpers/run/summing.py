"""What a notebook hands on to the overview: its findings in one sentence each, the judge card, tokens and dollars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from helpers import frames
from helpers.export import numbers
from helpers.run import accounting
from helpers.run.asking import Asked, bias_of
from helpers.types import Estimate
from helpers.words import CardLine, Headline, sentence


def summary(asked: Asked, published: Sequence[Estimate], estimates: Sequence[Estimate]) -> dict[str, Any]:
    """The content of summary.json: one row for published and one for this run's data, and the card's lines.

    Keys: title (the experiment's name), question, rows (data, sentence, the fields of its estimate, unreadable: a share
    or None where nobody published it), card (the fields of CardLine), models (as `costs` has them). A source of data
    without anything to say has no row.
    """
    bias, experiment = bias_of(asked.experiment), asked.experiment
    judgments = frames.one_row_each(asked.frame)
    lost = float((judgments["outcome"] != "ok").mean())
    rows = [_row(found, found.unreadable) for found in [bias.headline(published)] if found]
    headline, mute = bias.headline(estimates), frames.unreadable_words(frames.losses(asked.frame))
    if lost == 1 and mute:
        share = Estimate("unreadable_share", {}, lost, n=len(judgments), method="counted", data=asked.data)
        headline = Headline(sentence(mute.replace("**Cannot", "cannot").replace("**", "")[:-1], asked.data), share)
    rows += [_row(found, lost) for found in [headline] if found]
    lines = [*bias.card(published), *bias.card(estimates, _vendors(asked))]
    return {
        "title": experiment.name,
        "question": experiment.title,
        "rows": rows,
        "card": [_line(line) for line in lines],
        "models": costs(asked)["models"],
    }


def _vendors(asked: Asked) -> dict[str, str]:
    """The vendor of each judge, where the frame knows it."""
    if "judge_vendor" not in asked.frame:
        return {}
    known = asked.frame[["judge", "judge_vendor"]].dropna().drop_duplicates("judge")
    return dict(zip(known["judge"], known["judge_vendor"], strict=True))


def _row(found: Headline, unreadable: float) -> dict[str, Any]:
    return {"sentence": found.sentence, **_number(found.estimate), "unreadable": unreadable}


def _number(each: Estimate) -> dict[str, Any]:
    (record,) = numbers([each])
    return record


def _line(line: CardLine) -> dict[str, Any]:
    return {**asdict(line), "estimate": _number(line.estimate)}


def costs(asked: Asked) -> dict[str, Any]:
    """For run.json: what asking cost in this run, what its replies cost whenever asked, and what was not judged.

    `left_out` counts questions of which an answer could not be judged, and these answers.
    """
    left_out = {"questions": len(asked.unjudged), "answers": sum(map(len, asked.unjudged.values()))}
    return {**accounting.costs(asked.account, (*asked.said.values(), *asked.judgments)), "left_out": left_out}
