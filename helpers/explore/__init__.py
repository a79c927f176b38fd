"""Single judgments, looked into: what was asked, what came back, what was read from it, and what stands beside it."""

from helpers.explore.browsing import Item, choices, chosen, counted, detail, items, named, show, siblings, table

__all__ = ["Item", "choices", "chosen", "counted", "detail", "items", "named", "show", "siblings", "table"]
