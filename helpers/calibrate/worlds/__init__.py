"""Judges of known truth: worlds that draw verdicts directly, one module a form of verdict."""
