"""Libraries of notebooks without a second of grammar that no notebook needs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

#: What jsonschema imports where it is installed (JupyterLab brings it) to check international addresses: it compiles a
#: grammar at import, which takes longer than all that a run does beside its cells. No notebook has such an address.
GRAMMAR = "rfc3987_syntax"


@contextmanager
def without_grammar() -> Iterator[None]:
    """Where nbformat and papermill are imported, both of which import jsonschema: it does without the grammar.

    Whoever imports that later gets it whole.
    """
    absent = GRAMMAR not in sys.modules
    if absent:
        sys.modules[GRAMMAR] = None  # type: ignore[assignment]  # the import system's own way to say: not here
    try:
        yield
    finally:
        if absent:
            del sys.modules[GRAMMAR]
