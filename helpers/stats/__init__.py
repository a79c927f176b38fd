"""How sure we can be: intervals, tests, the rank-ordered logit, agreement, power."""
