"""What commands say: texts of files, models and servers are printed without keys, never obeyed by the terminal."""

from __future__ import annotations

import click

from helpers.escaping import terminal
from helpers.providers.keys import redact


def echo(text: object, err: bool = False) -> None:
    """A text on the terminal without keys, its control signs and marks of writing direction as replacement signs."""
    click.echo(terminal(redact(str(text))), err=err)
