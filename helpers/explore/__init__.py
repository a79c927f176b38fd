"""Single judgments, looked into: what was asked, what came back, what was read from it, and what stands beside it."""

from helpers.explore.details import detail
from helpers.explore.items import Item, choices, chosen, counted, items, named, siblings, table
from helpers.explore.showing import show

__all__ = ["Item", "choices", "chosen", "counted", "detail", "items", "named", "show", "siblings", "table"]
