"""Which of several anonymous answers a judge puts first: experiment 1, and what experiment 2 builds on."""

from helpers.biases.top_choice.asking import NEEDS, STAGES, answers, caution, trials, unfit
from helpers.biases.top_choice.card import card, headline
from helpers.biases.top_choice.checks import planted, sensitivity_rows, sensitivity_words
from helpers.biases.top_choice.defended import balance_of_orders, corrected
from helpers.biases.top_choice.measure import (
    agreement_words,
    confirmatory,
    detectable,
    finding,
    measure,
    metric_rows,
    naive_against_defended,
    paper_tables,
    pick,
    positions,
    published_frame,
    three_readings,
)
from helpers.biases.top_choice.published import finding as published_finding
from helpers.biases.top_choice.published import from_published
from helpers.biases.top_choice.rates import expected_shares
from helpers.frames import listwise as tidy

__all__ = [
    "NEEDS",
    "STAGES",
    "agreement_words",
    "answers",
    "balance_of_orders",
    "card",
    "caution",
    "confirmatory",
    "corrected",
    "detectable",
    "expected_shares",
    "finding",
    "from_published",
    "headline",
    "measure",
    "metric_rows",
    "naive_against_defended",
    "paper_tables",
    "pick",
    "planted",
    "positions",
    "published_finding",
    "published_frame",
    "sensitivity_rows",
    "sensitivity_words",
    "three_readings",
    "tidy",
    "trials",
    "unfit",
]
