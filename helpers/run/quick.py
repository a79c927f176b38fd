"""Papermill without a second of grammar that no notebook needs."""

from __future__ import annotations

import sys
from types import ModuleType

#: What jsonschema imports where it is installed (JupyterLab brings it) to check international addresses: it compiles a
#: grammar at import, which takes longer than all the rest of papermill. The format of notebooks has no such address.
GRAMMAR = "rfc3987_syntax"


def papermill() -> ModuleType:
    """Papermill, imported without the grammar of addresses; whoever imports that later gets it whole."""
    absent = GRAMMAR not in sys.modules
    if absent:
        sys.modules[GRAMMAR] = None  # type: ignore[assignment]  # the import system's own way to say: not here
    try:
        import papermill
    finally:
        if absent:
            del sys.modules[GRAMMAR]
    return papermill
