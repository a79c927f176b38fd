"""Running experiments: what notebooks call (`ask` and what shows its results) and what the command line calls."""

from .asking import Asked, ask, bias_of, budget_of, caution, parameters, pilot, plan
from .showing import (
    control_gap,
    control_records,
    costs,
    example,
    losses,
    losses_words,
    machine_provenance,
    provenance,
    say,
    show,
    show_claims,
    summary,
    write_arena,
    write_published,
)
from .sources import features, load_rows
