"""Worlds of simulated judges whose truth is known, and how the estimators fare in them."""
