"""Running experiments: what notebooks call (`ask` and what shows its results) and what the command line calls."""

from helpers.run.asking import Asked, ask, caution, plan
from helpers.run.showing import example, losses, machine_provenance, provenance, say, show

__all__ = ["Asked", "ask", "caution", "example", "losses", "machine_provenance", "plan", "provenance", "say", "show"]
