"""Whether a run has the keys and prices that it needs, before a notebook is started."""

from __future__ import annotations

import asyncio

from helpers.judge import NoPrice
from helpers.judge.budget import cost
from helpers.providers import missing_keys
from helpers.run.asking import plan, refuse_early
from helpers.types import Experiment, Model


def check_ready(experiment: Experiment) -> None:
    """Raise MissingKey or NoPrice where a call that is missing needs a key that is not set or has no known price.

    What is stored needs neither. So where one of the models lacks something, all is planned: only then it shows
    whether that one will be asked.
    """
    if experiment.judgments != "ask":
        return
    if missing_keys(experiment.models) or any(map(_without_price, experiment.models)):
        refuse_early(asyncio.run(plan(experiment)), experiment.models)


def _without_price(model: Model) -> bool:
    try:
        cost(model, 0, 0)
    except NoPrice:
        return True
    return False
