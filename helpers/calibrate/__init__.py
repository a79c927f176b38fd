"""Whether our numbers can be trusted: every headline estimand on simulated judges whose truth is known."""

from helpers.calibrate.telling import shown, summary, words

__all__ = ["shown", "summary", "words"]
