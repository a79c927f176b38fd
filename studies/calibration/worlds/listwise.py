"""Worlds with planted truth: numpy judges that rank six answers, with all that an estimator may stumble over."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd

from helpers.biases.top_choice.asked import williams
from helpers.stats.rank_logit import Panel
from studies.calibration.cases import load_worlds

LETTERS = tuple("ABCDEFGHIJKLMNOP")
CATEGORIES = ("writing", "roleplay", "reasoning", "math", "coding", "extraction", "stem", "humanities")
#: Category x vendor, columns centred where used.
CATEGORY_QUALITY = (
    (0.0, 0.9, -1.0),
    (-0.6, 0.8, 0.2),
    (0.3, -1.3, 0.9),
    (-0.2, -1.3, 1.5),
    (0.0, 0.3, -0.5),
    (0.5, -0.1, -0.6),
    (-0.2, 0.8, -0.3),
    (0.0, 0.6, -0.4),
)


@dataclass(frozen=True)
class World:
    """How questions, answers and judges are made; the defaults are fitted to published rates, but for s = 0.

    U_ijk = sharpness_j * q_ik + taste_ijk + own terms + position_j[slot] + Gumbel noise, and
    q_ik = alpha_vendor + tau_vendor * thinking + category effect + sigma_u * e_ik. Judges and candidates are the same
    names, vendor x tier. `sharpness` holds one number a vendor or one a judge; `position` one row for all or one a
    judge. `sibling` correlates e_ik of the two answers of a vendor (near-duplicates: IIA broken), `shared_taste` the
    taste of all judges. `lost_own`: the share of judgments lost where the judge's own vendor is on top; `lost`: at
    random. `longer`: how much longer the answers of each vendor are, in sd of log length within a vendor, and
    `length_taste` what an sd is worth to its judges; without `longer` all are equally long.
    """

    vendors: tuple[str, ...] = ("claude", "gpt", "gemini")
    tiers: tuple[str, ...] = ("fast", "thinking")
    alpha: tuple[float, ...] = (0.0, 0.3, -0.757)
    tau: tuple[float, ...] = (0.45, 0.9, 0.1)
    category_size: float = 1.0
    sigma_u: float = 1.0
    sibling: float = 0.0
    sharpness: tuple[float, ...] = (1.0, 1.0, 1.0)
    self_preference: tuple[float, ...] = (0.0, 0.0, 0.0)
    own_model: float = 0.0
    position: tuple[tuple[float, ...], ...] = ((0.25, 0.1, 0.0, 0.0, 0.0, -0.1),)
    sigma_taste: float = 0.5
    shared_taste: float = 0.0
    lost: float = 0.0
    lost_own: float = 0.0
    longer: tuple[float, ...] = ()
    length_taste: tuple[float, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Judges and candidates alike."""
        return tuple(f"{vendor}_{tier}" for vendor in self.vendors for tier in self.tiers)

    @property
    def vendor_of(self) -> np.ndarray:
        """The vendor's place for each name."""
        return np.repeat(np.arange(len(self.vendors)), len(self.tiers))


@dataclass(frozen=True)
class Draw:
    """One sample of a world: C questions, J judges, K = J candidates."""

    world: World
    ranking: np.ndarray  # (C, J, K) candidates, best first
    slot: np.ndarray  # (C, J, K) the slot of each candidate
    valid: np.ndarray  # (C, J) bool
    category: np.ndarray  # (C,)
    length: np.ndarray  # (C, K) characters

    @property
    def top_vendor(self) -> np.ndarray:
        """(C, J) the vendor on top, NaN where the judgment is lost."""
        return np.where(self.valid, self.world.vendor_of[self.ranking[:, :, 0]], np.nan)

    @property
    def top_slot(self) -> np.ndarray:
        """(C, J) the slot on top, NaN where the judgment is lost."""
        first = np.take_along_axis(self.slot, self.ranking[:, :, :1], axis=2)[:, :, 0]
        return np.where(self.valid, first, np.nan)


@dataclass(frozen=True)
class Latent:
    """What judges feel before noise: `utility` and `slot` (C, J, K), each question's category, (C, K) lengths.

    `worth` is the utility without the habits of place, which are (J, slots).
    """

    utility: np.ndarray
    slot: np.ndarray
    category: np.ndarray
    worth: np.ndarray
    habits: np.ndarray
    length: np.ndarray


def latent(world: World, questions: int, rng: np.random.Generator, slot: np.ndarray | None = None) -> Latent:
    """Questions, answers and orders of one sample; judged anew, only the noise is another.

    Orders are drawn unless the `slot` of each candidate is given (C, J, K). Categories take turns, from the first or,
    where they cannot have the same number of questions, from one at random.
    """
    vendor = world.vendor_of
    size = len(vendor)
    thinking = np.tile(np.arange(len(world.tiers)) > 0, len(world.vendors))
    # Fewer questions than whole rounds: else the same categories would have more of them in every sample.
    begin = rng.integers(len(CATEGORIES)) if questions % len(CATEGORIES) else 0
    category = (begin + np.arange(questions)) % len(CATEGORIES)
    effects = np.array(CATEGORY_QUALITY)[:, : len(world.vendors)]
    effects = (effects - effects.mean(axis=0)) * world.category_size
    base = np.array(world.alpha)[vendor] + np.array(world.tau)[vendor] * thinking
    kin = rng.standard_normal((questions, len(world.vendors)))[:, vendor]
    each = rng.standard_normal((questions, size))
    quality = (
        base
        + effects[category][:, vendor]
        + world.sigma_u * (np.sqrt(world.sibling) * kin + np.sqrt(1 - world.sibling) * each)
    )

    sharpness = np.array(world.sharpness)
    sharpness = sharpness[vendor] if len(sharpness) < size else sharpness
    common, single = rng.standard_normal((questions, 1, size)), rng.standard_normal((questions, size, size))
    taste = np.sqrt(world.shared_taste) * common + np.sqrt(1 - world.shared_taste) * single
    bonus = (vendor[:, None] == vendor) * np.array(world.self_preference)[vendor][:, None] + np.eye(
        size
    ) * world.own_model

    slot = _slots(questions, size, rng) if slot is None else slot
    habits = np.broadcast_to(np.array(world.position)[:, :size], (size, size))
    worth = sharpness[:, None] * quality[:, None, :] + world.sigma_taste * taste + bonus
    length = np.full((questions, size), 1000)
    if world.longer:
        log = rng.standard_normal((questions, size)) + np.array(world.longer)[vendor]
        worth = worth + np.array(world.length_taste)[vendor][:, None] * log[:, None, :]
        length = np.rint(1000 * np.exp(0.4 * log)).astype(int)
    utility = worth + np.take_along_axis(np.broadcast_to(habits, slot.shape), slot, axis=2)
    return Latent(utility, slot, category, worth, habits, length)


def _slots(questions: int, size: int, rng: np.random.Generator) -> np.ndarray:
    """(C, J, K) the slot of each candidate in blocks of balanced orders, relabelled at random a judge and block."""
    rows = np.array(williams(size))
    block, row = np.arange(questions) // len(rows), np.arange(questions) % len(rows)
    relabelled = rng.permuted(np.broadcast_to(np.arange(size), (size, block[-1] + 1, size)), axis=2)
    shown = np.take_along_axis(relabelled[:, block], np.broadcast_to(rows[row], (size, questions, size)), axis=2)
    return np.argsort(shown, axis=2).transpose(1, 0, 2)


def judged(world: World, felt: Latent, rng: np.random.Generator, bonus: np.ndarray | float = 0.0) -> Draw:
    """One judgment of every question by every judge: `bonus` (C, J, K) on top of what is felt, and fresh noise."""
    vendor = world.vendor_of
    utility = felt.utility + bonus
    utility = utility + rng.gumbel(size=utility.shape)
    ranking = np.argsort(-utility, axis=2)
    picked_own = vendor[ranking[:, :, 0]] == vendor
    lost = rng.random(picked_own.shape) < world.lost + world.lost_own * picked_own
    return Draw(world, ranking, felt.slot, ~lost, felt.category, felt.length)


def draw(world: World, questions: int, rng: np.random.Generator) -> Draw:
    """Questions, answers, orders and rankings of one sample."""
    return judged(world, latent(world, questions, rng), rng)


WORLDS = {name: World(**fields) for name, fields in load_worlds(__file__).items()}
#: Judge-specific habits of place, and unequal sharpness.
HABITS, UNEQUAL = WORLDS["unequal"].position, WORLDS["unequal"].sharpness


def hinted(
    world: World,
    questions: int,
    rng: np.random.Generator,
    effects: dict[str, float],
    spread: float = 0.0,
    named: float | None = None,
    repeats: int = 1,
) -> pd.DataFrame:
    """The listwise frame of a blind group and one for each hint, on the same questions, answers, tastes and orders.

    `effects` maps hints to the utility that they add to answers of the judge's own vendor, `spread` is the sd of that
    over questions (mean 0). `named` adds the arm `swapped`: the utility of an answer under the own vendor's name, the
    names being dealt out anew. Every judgment is made `repeats` times.
    """
    vendor, felt = world.vendor_of, latent(world, questions, rng)
    same = vendor[:, None] == vendor
    turns = range(repeats)
    parts = [frame(judged(world, felt, rng)).assign(named=None, repeat=turn) for turn in turns]
    for hint, effect in effects.items():
        size = effect + spread * rng.standard_normal((questions, 1, 1))
        for turn in turns:
            judgments = frame(judged(world, felt, rng, size * same))
            parts.append(judgments.assign(condition=hint, named=None, repeat=turn))
    for turn in turns if named is not None else ():
        names = rng.permuted(np.broadcast_to(vendor, felt.utility.shape), axis=2)
        sample = judged(world, felt, rng, named * (names == vendor[:, None]))
        arm = frame(sample).assign(condition="swapped", named=np.array(world.vendors)[names].ravel())
        parts.append(arm.assign(repeat=turn))
    return pd.concat(parts, ignore_index=True)


def panel(sample: Draw) -> Panel:
    """The sample as the arrays that `fit_panel` takes."""
    world = sample.world
    question, judge = np.nonzero(sample.valid)
    candidate = sample.ranking[question, judge]
    kept, cluster = np.unique(question, return_inverse=True)
    of_judge = world.vendor_of[judge][:, None, None] == np.arange(len(world.vendors) if world.longer else 0)
    return Panel(
        candidate=candidate,
        slot=np.take_along_axis(sample.slot[question, judge], candidate, axis=1),
        own_vendor=world.vendor_of[candidate] == world.vendor_of[judge][:, None],
        own_model=candidate == judge[:, None],
        judge=judge,
        cluster=cluster,
        category=sample.category[question],
        covariates=np.log(sample.length[question[:, None], candidate])[:, :, None] * of_judge,
        candidates=world.names,
        judges=world.names,
        judge_vendors=tuple(world.vendors[v] for v in world.vendor_of),
        categories=CATEGORIES,
        covariate_names=tuple(f"length[{vendor}]" for vendor in world.vendors if world.longer),
        clusters=len(kept),
        unused=int((~sample.valid).sum()),
    )


def frame(sample: Draw) -> pd.DataFrame:
    """The sample as the listwise frame: a row a judgment and candidate, lost judgments with NaN ranks."""
    rank = np.argsort(sample.ranking, axis=2)[None] + 1.0
    rank[:, ~sample.valid] = np.nan
    seen = sample.slot, sample.category, sample.length
    found = judgments(sample.world, rank, *seen, askings=(("none", 0),)).assign(experiment="mt_bench_blind")
    return found.drop(columns=["partner"])


def question_ids(questions: int) -> list[str]:
    """The ids of so many questions, in order."""
    return [f"q{number:05d}" for number in range(questions)]


def judgments(
    world: World,
    rank: np.ndarray,
    slot: np.ndarray,
    category: np.ndarray,
    length: np.ndarray,
    askings: tuple[tuple[str, int], ...],
) -> pd.DataFrame:
    """Ranks as the listwise frame: (A, C, J, K), NaN where a judgment is lost; askings are condition and repeat."""
    lost = np.isnan(rank)
    slot = np.broadcast_to(slot, rank.shape).ravel()
    columns = {
        "category": pd.array(CATEGORIES, dtype="str").take(
            np.broadcast_to(category[:, None, None], rank.shape).ravel()
        ),
        "slot": slot,
        "label": pd.array(LETTERS, dtype="str").take(slot),
        "rank": rank.ravel(),
        "length": np.broadcast_to(length[:, None, :], rank.shape).ravel(),
        "top": np.where(lost, np.nan, rank == 1).ravel(),
        "outcome": pd.array(["ok", "unparsed"], dtype="str").take(lost.ravel().astype(int)),
    }
    return _constant(world.vendors, world.tiers, len(category), askings).assign(**columns)


@lru_cache(maxsize=8)
def _constant(
    vendors: tuple[str, ...], tiers: tuple[str, ...], questions: int, askings: tuple[tuple[str, int], ...]
) -> pd.DataFrame:
    """The columns that are the same in every sample of this shape."""
    world = World(vendors=vendors, tiers=tiers)
    names_, vendor_names = np.array(world.names), np.array(world.vendors)[world.vendor_of]
    tier = np.tile(tiers, len(vendors))
    shape = (len(askings), questions, len(names_), len(names_))
    asked, question, judge, candidate = (axis.ravel() for axis in np.indices(shape))
    repeat = np.array([repeat for _, repeat in askings])[asked]
    return pd.DataFrame(
        {
            "experiment": "calibration",
            "question_id": np.array(question_ids(questions))[question],
            "judge": names_[judge],
            "judge_vendor": vendor_names[judge],
            "judge_tier": tier[judge],
            "judge_model": names_[judge],
            "candidate": names_[candidate],
            "candidate_vendor": vendor_names[candidate],
            "candidate_tier": tier[candidate],
            "candidate_model": names_[candidate],
            "condition": np.array([condition for condition, _ in askings])[asked],
            "repeat": repeat,
            "score": np.nan,
            "contradicts": False,
            "own_vendor": vendor_names[judge] == vendor_names[candidate],
            "own_model": judge == candidate,
            "partner": repeat,
        }
    )
