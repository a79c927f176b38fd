"""Simulated judges of known truth: one module a form of verdict."""
