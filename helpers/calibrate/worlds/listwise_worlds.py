"""The worlds of listwise judges that estimators are tried in, by name."""

from __future__ import annotations

from helpers.calibrate.worlds.listwise import World

#: Judge-specific habits: one likes the first place, one the last, one none, and so on.
HABITS = (
    (0.8, 0.3, 0.0, 0.0, 0.0, -0.3),
    (0.4, 0.1, 0.0, 0.0, 0.0, 0.0),
    (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    (-0.3, 0.0, 0.0, 0.0, 0.2, 0.6),
    (0.0, 0.0, 0.5, 0.5, 0.0, 0.0),
    (0.25, 0.1, 0.0, 0.0, 0.0, -0.1),
)
UNEQUAL = (0.6, 1.5, 0.8)
PLANTED = (0.0, 0.8, 1.2)

WORLDS = {
    "plain": World(),
    "unequal": World(sharpness=UNEQUAL, position=HABITS),
    "homogeneous": World(
        sharpness=UNEQUAL, position=HABITS, sigma_u=0.0, sigma_taste=0.0, category_size=0.0, alpha=(0.0, 0.6, -0.9)
    ),
    "planted": World(sharpness=UNEQUAL, position=HABITS, self_preference=PLANTED, own_model=0.3),
    "siblings": World(sharpness=UNEQUAL, position=HABITS, self_preference=PLANTED, sibling=0.9),
    "shared_taste": World(
        sharpness=UNEQUAL, position=HABITS, self_preference=PLANTED, sigma_taste=1.0, shared_taste=0.6
    ),
    "strong_questions": World(sharpness=UNEQUAL, position=HABITS, self_preference=PLANTED, sigma_u=2.0),
    "siblings_null": World(sharpness=UNEQUAL, position=HABITS, sibling=0.9),
    "others_biased": World(self_preference=(1.0, 0.0, 1.0)),
    "no_position": World(position=((0.0,) * 6,)),
    "length_taste": World(longer=(0.0, 1.0, 0.0), length_taste=(0.0, 0.5, 0.0)),
    "length_planted": World(longer=(0.0, 1.0, 0.0), length_taste=(0.0, 0.5, 0.0), self_preference=(0.0, 0.5, 0.0)),
    "lost": World(sharpness=UNEQUAL, position=HABITS, self_preference=PLANTED, lost=0.03, lost_own=0.1),
}
