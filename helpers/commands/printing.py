"""What commands say: texts of files, models and servers are printed, never obeyed by the terminal."""

from __future__ import annotations

import click

from helpers.escaping import terminal


def echo(text: object, err: bool = False) -> None:
    """A text on the terminal, its control signs and marks of writing direction as replacement signs."""
    click.echo(terminal(text), err=err)
