"""One judge asked a frozen battery of manipulations: which of them move its verdicts, and how sure that is."""

from .asking import Battery, load
from .running import (
    Audit,
    as_it_is_served,
    ask_battery,
    audit,
    bottom_line,
    caption,
    check,
    drawn,
    folder_of,
    judge_of,
    plan,
    prepare,
    save,
    sections,
    table,
    terminal_card,
)
