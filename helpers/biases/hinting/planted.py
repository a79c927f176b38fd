"""What was put into simulated judges that are told names, as effects of hints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from helpers.biases.hinting.asking import CONTROL
from helpers.biases.hinting.measure import confirmatory
from helpers.biases.hinting.names import ARM
from helpers.biases.hinting.paired import CONFIRMATORY
from helpers.biases.planted import Planted, mean_by, planted_table, top_chances, trait
from helpers.types import Estimate
from helpers.words import display_name

if TYPE_CHECKING:
    from helpers.run import Asked

#: Over so many deals of the names to one set of answers their effect is averaged.
DEALS = 20
READ = (
    "In the simulator are utilities: of an answer that a judge takes for its own vendor's by name. One that deduces "
    "takes the only undisclosed answers for its own as well, so hints differ in what they do to the same judge."
)


def planted(asked: Asked, estimates: Sequence[Estimate]) -> str:
    """What names do to simulated judges and what was found, as Markdown: see `planted_table`.

    A row a hint, as the average over vendors (`hint_effect`), then the name alone, by vendor (`name_effect`).
    """
    return planted_table(asked, lambda: _rows(asked, estimates), confirmatory(estimates), READ)


def _rows(asked: Asked, estimates: Sequence[Estimate]) -> Iterator[Planted]:
    own, names = _truths(asked, {model.name: model.vendor for model in asked.experiment.candidates})
    traits = {judge.vendor: judge.traits for judge in asked.experiment.judges}
    sizes = {v: f"{each.get('hint_effect', 0.0):+g}" if each.get("hint_effect") else "0" for v, each in traits.items()}
    sizes["average"] = ", ".join(f"{display_name(vendor)} {size}" for vendor, size in sizes.items())
    chosen = {"hint_effect": own, "name_effect": {(ARM, vendor): effect for vendor, effect in names.items()}}
    for each in estimates:
        hint, vendor = each.where.get("hint", ARM), each.where.get("vendor", "")
        shown = each.id == "name_effect" or (vendor == "average" and hint in CONFIRMATORY)
        if each.id in chosen and shown and (hint, vendor) in chosen[each.id]:
            what = "a name alone" if each.id == "name_effect" else f"hint *{hint}*"
            whom = "average over vendors" if vendor == "average" else f"{display_name(vendor)} judges"
            yield Planted(what, whom, sizes[vendor], chosen[each.id][hint, vendor], each)


def _truths(asked: Asked, makers: Mapping[str, str]) -> tuple[Mapping[tuple, float], Mapping[str, float]]:
    """By hint and vendor how much more often its judges put it first than blind; by vendor what its name does."""
    tops, effects, rng = [], [], np.random.default_rng(0)
    for judgment in (each for each in asked.judgments if not each.trial.request.repeat):
        trial, vendor = judgment.trial, judgment.trial.judge.vendor
        felt, named = map(np.array, asked.simulator.before_noise(trial.request))
        noise, mine = trait(judgment, "noise", 1.0), np.array([makers.get(name) == vendor for name in trial.shown])
        if trial.condition == ARM and 0 < named.sum() < len(named):
            # Names are dealt at random: what they happen to meet in this run is none of their effect.
            worth, dealt = trait(judgment, "hint_effect", 0.0), rng.permuted(np.tile(named, (DEALS, 1)), axis=1)
            blind, first = (top_chances(felt - worth * named + worth * bonus, noise) for bonus in (0 * dealt, dealt))
            more = ((first - blind) * dealt).sum(axis=1).mean()
            effects.append(((vendor,), more / named.sum() + more / (~named).sum()))
        else:
            tops.append(((trial.condition, vendor), float(top_chances(felt, noise) @ mine)))
    means, names = mean_by(tops), {vendor: value for (vendor,), value in mean_by(effects).items()}
    blind = {vendor: value for (hint, vendor), value in means.items() if hint == CONTROL}
    own = {(hint, v): value - blind[v] for (hint, v), value in means.items() if hint != CONTROL and v in blind}
    for hint in {hint for hint, _ in own}:
        own[hint, "average"] = fmean(value for (each, _), value in own.items() if each == hint)
    return own, names | ({"average": fmean(names.values())} if names else {})
