"""What was read from replies is kept in the index; by a process of its own where this one does without tables."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from helpers import paths
from helpers.store import indexing
from helpers.store.kept import Said, columns_of
from helpers.types import Completion

#: Bytes: a process of its own takes longer than to read a smaller file and its verdicts once more.
WORTH_A_PROCESS = 2**25
#: Tables take a hundred megabytes, which a program that only asks has no other use for.
APART = """
import sys
from pathlib import Path
from helpers.store import indexing, noting
indexing.note(Path(sys.argv[1]), noting.heard(sys.stdin.read()))
"""


def note(path: Path, said: Mapping[str, tuple[Completion, Said]]) -> None:
    """Keep in the index of a large file, or of one that has an index already, what was read from replies, by key.

    An index is a help and no result: what goes wrong with it stops nobody.
    """
    apart = "pandas" not in sys.modules
    least = WORTH_A_PROCESS if apart else indexing.least(path)
    if not said or not path.exists() or path.stat().st_size < least:
        return
    read_now = {key: (reply.at, columns_of(each)) for key, (reply, each) in said.items()}
    if not apart:
        indexing.note(path, read_now)
        return
    command = [sys.executable, "-c", APART, str(path.absolute())]
    with suppress(OSError):
        subprocess.run(command, input=told(read_now), text=True, cwd=paths.ROOT, stderr=subprocess.DEVNULL, check=False)


def told(read_now: Mapping[str, tuple[str, tuple[Any, ...]]]) -> str:
    """What `indexing.note` takes, as JSON: the hash of the reading in hexadecimal digits."""
    rows = ((key, at, parser, reading.hex(), *rest) for key, (at, (parser, reading, *rest)) in read_now.items())
    return json.dumps(list(rows))


def heard(text: str) -> dict[str, tuple[str, tuple[Any, ...]]]:
    """What `told` says."""
    return {key: (at, (parser, bytes.fromhex(reading), *rest)) for key, at, parser, reading, *rest in json.loads(text)}
