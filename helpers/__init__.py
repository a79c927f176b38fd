"""Recuse: how biased LLM judges are, and how sure we can be of it."""


def main() -> None:
    """The command line of `recuse`."""
    from .__main__ import entry

    entry()
