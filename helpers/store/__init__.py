"""Every reply that was ever paid for: one readable JSONL file a model, one writer at a time, nothing ever rewritten."""

from helpers.store.appending import SYNC_LINES, SYNC_SECONDS, Writer, holder, try_lock, writing
from helpers.store.checking import Line, examine, files, scan
from helpers.store.contents import Contents, contents
from helpers.store.exporting import export
from helpers.store.framing import ANALYSIS, indexed
from helpers.store.index_file import COLUMNS, State, index_of, remove, state
from helpers.store.indexing import WORTH_INDEXING, checked, index, stored, stored_keys
from helpers.store.joining import Joined, bring_home, import_file, merge
from helpers.store.kept import Kept, KeptVerdict, Said
from helpers.store.noting import note
from helpers.store.records import (
    VERSION,
    StoreError,
    completion_of,
    decode,
    encode,
    file_of,
    lines,
    read,
    refused,
    usable,
)
from helpers.store.verifying import Repaired, Verified, repair, verify

__all__ = [
    "ANALYSIS",
    "COLUMNS",
    "SYNC_LINES",
    "SYNC_SECONDS",
    "VERSION",
    "WORTH_INDEXING",
    "Contents",
    "Joined",
    "Kept",
    "KeptVerdict",
    "Line",
    "Repaired",
    "Said",
    "State",
    "StoreError",
    "Verified",
    "Writer",
    "bring_home",
    "checked",
    "completion_of",
    "contents",
    "decode",
    "encode",
    "examine",
    "export",
    "file_of",
    "files",
    "holder",
    "import_file",
    "index",
    "index_of",
    "indexed",
    "lines",
    "merge",
    "note",
    "read",
    "refused",
    "remove",
    "repair",
    "scan",
    "state",
    "stored",
    "stored_keys",
    "try_lock",
    "usable",
    "verify",
    "writing",
]
