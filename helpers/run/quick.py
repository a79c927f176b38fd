"""Libraries of notebooks without a second of grammar that no notebook needs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

#: What jsonschema imports where it is installed (JupyterLab brings it) to check international addresses: it compiles a
#: grammar at import, which takes about a second. The format of notebooks asks for no such check.
GRAMMAR = "rfc3987_syntax"


@contextmanager
def without_grammar() -> Iterator[None]:
    """Where what imports jsonschema is imported (nbformat, nbconvert, papermill): it does without the grammar.

    jsonschema leaves such addresses unchecked in this process from then on; whoever imports the grammar itself later
    gets it whole. For one thread.
    """
    absent = GRAMMAR not in sys.modules
    if absent:
        sys.modules[GRAMMAR] = None  # type: ignore[assignment]  # the import system's own way to say: not here
    try:
        yield
    finally:
        if absent:
            sys.modules.pop(GRAMMAR, None)
