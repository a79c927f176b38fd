"""What was read from replies is kept in the index; by a process of its own where this one does without tables."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from helpers import paths
from helpers.store import indexing
from helpers.store.kept import Said, columns_of
from helpers.types import Completion

#: Tables take a hundred megabytes, which a program that only asks has no other use for.
APART = """
import pickle, sys
from pathlib import Path
from helpers.store import indexing
indexing.note(Path(sys.argv[1]), pickle.load(sys.stdin.buffer))
"""


def note(path: Path, said: Mapping[str, tuple[Completion, Said]]) -> None:
    """Keep in the index of a large file what was read from replies, by key.

    An index is a help and no result: what goes wrong with it stops nobody.
    """
    if not said or not path.exists() or path.stat().st_size < indexing.WORTH_INDEXING:
        return
    read_now = {key: (reply.at, columns_of(each)) for key, (reply, each) in said.items()}
    if "pandas" in sys.modules:
        indexing.note(path, read_now)
        return
    command = [sys.executable, "-c", APART, str(path.resolve())]
    with suppress(OSError):
        subprocess.run(command, input=pickle.dumps(read_now), cwd=paths.ROOT, stderr=subprocess.DEVNULL, check=False)
