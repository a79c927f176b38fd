"""Recuse: how biased LLM judges are, and how sure we can be of it."""
