"""Which of several anonymous answers a judge puts first: experiment 1, and what experiment 2 builds on."""

from ...frames import listwise as tidy
from .asked import NEEDS, STAGES, answers, caution, trials
from .defended import balance_of_orders, planted, sensitivity_words
from .measured import (
    agreement_words,
    by_vendor,
    card,
    finding,
    headline,
    measure,
    naive_against_defended,
    pick,
    positions,
    published_frame,
    three_readings,
)
from .rates import from_published, published_finding, released_finding, released_title
