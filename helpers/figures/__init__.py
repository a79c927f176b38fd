"""Figures: one look for all, an interval on every point, and a caption that says n and what could not be read."""

from helpers.figures.heatmap import show_judge_vendor_heatmap
from helpers.figures.style import Figure, Style
from helpers.figures.top_choice import show_categories, show_positions, show_self_preference, show_tiers

__all__ = [
    "Figure",
    "Style",
    "show_categories",
    "show_judge_vendor_heatmap",
    "show_positions",
    "show_self_preference",
    "show_tiers",
]
