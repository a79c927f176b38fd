"""Every reply that was ever paid for: one readable JSONL file a model, one writer at a time, nothing ever rewritten."""

from helpers.store.appending import SYNC_SECONDS, Writer, holder, try_lock, writing
from helpers.store.records import (
    StoreError,
    completion_of,
    decode,
    encode,
    examine,
    file_of,
    files,
    left_index,
    lines,
    read,
    refused,
    replies,
    scan,
    usable,
)
from helpers.store.sharing import bring_home, export, import_file, merge
from helpers.store.verifying import Cost, contents, repair, verify

__all__ = ["SYNC_SECONDS", "Cost", "StoreError", "Writer", "bring_home", "completion_of", "contents", "decode"]
__all__ += ["encode", "examine", "export", "file_of", "files", "holder", "import_file", "left_index", "lines", "merge"]
__all__ += ["read", "refused", "repair", "replies", "scan", "try_lock", "usable", "verify", "writing"]
