"""Figures: one look for all, an interval on every point, and a caption that says n and what could not be read."""

from .biases import show_acceptance, show_anchor_response, show_bias_effects, show_bias_values, show_noise_metrics
from .cards import show_across_runs, show_audit_card, show_judge_card, show_judge_forest
from .designs import show_power, show_published_biases, show_published_models
from .pairs import (
    show_accuracy,
    show_agreement,
    show_baseline_gap,
    show_category_effects,
    show_class_shares,
    show_dose_curve,
    show_funnel,
    show_leaderboard_contrast,
    show_obfuscation_slopes,
    show_outcome_grid,
    show_outcomes,
    show_position_effects,
    show_recognition_against_preference,
    show_released_places,
    show_replication,
    show_sensitivity,
    show_sorted,
)
from .points import NothingToDraw, if_any
from .rankings import (
    show_categories,
    show_category_groups,
    show_discordance,
    show_group_metrics,
    show_hint_effects,
    show_hint_slopes,
    show_judge_vendor_heatmap,
    show_positions,
    show_released_own,
    show_self_preference,
    show_tiers,
)
from .style import Figure, Style
