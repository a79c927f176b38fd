"""Figures: one look for all, an interval on every point, and a caption that says n and what could not be read."""

from helpers.figures.acceptance import show_acceptance, show_published_biases, show_published_models
from helpers.figures.accuracy import show_accuracy, show_agreement, show_sorted
from helpers.figures.across_runs import show_across_runs
from helpers.figures.bias_effects import show_bias_effects
from helpers.figures.bias_values import show_anchor_response, show_bias_values, show_noise_metrics
from helpers.figures.cards import show_audit_card, show_judge_card, show_judge_forest
from helpers.figures.class_shares import show_class_shares, show_outcome_grid
from helpers.figures.hinting import (
    show_category_groups,
    show_discordance,
    show_group_metrics,
    show_hint_effects,
    show_hint_slopes,
)
from helpers.figures.leaderboard import show_leaderboard_contrast
from helpers.figures.obfuscation import (
    show_baseline_gap,
    show_dose_curve,
    show_funnel,
    show_obfuscation_slopes,
    show_outcomes,
)
from helpers.figures.panels import if_any
from helpers.figures.position import show_category_effects, show_patterns, show_position_effects, show_sensitivity
from helpers.figures.power import show_power
from helpers.figures.recognition import show_recognition_against_preference, show_replication
from helpers.figures.style import Figure, Style
from helpers.figures.top_choice import (
    show_categories,
    show_judge_vendor_heatmap,
    show_positions,
    show_self_preference,
    show_tiers,
)

__all__ = [
    "Figure",
    "Style",
    "if_any",
    "show_acceptance",
    "show_accuracy",
    "show_across_runs",
    "show_agreement",
    "show_anchor_response",
    "show_audit_card",
    "show_baseline_gap",
    "show_bias_effects",
    "show_bias_values",
    "show_categories",
    "show_category_effects",
    "show_category_groups",
    "show_class_shares",
    "show_discordance",
    "show_dose_curve",
    "show_funnel",
    "show_group_metrics",
    "show_hint_effects",
    "show_hint_slopes",
    "show_judge_card",
    "show_judge_forest",
    "show_judge_vendor_heatmap",
    "show_leaderboard_contrast",
    "show_noise_metrics",
    "show_obfuscation_slopes",
    "show_outcome_grid",
    "show_outcomes",
    "show_patterns",
    "show_position_effects",
    "show_positions",
    "show_power",
    "show_published_biases",
    "show_published_models",
    "show_recognition_against_preference",
    "show_replication",
    "show_self_preference",
    "show_sensitivity",
    "show_sorted",
    "show_tiers",
]
