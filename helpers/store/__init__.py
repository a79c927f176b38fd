"""Every reply that was ever paid for: one readable JSONL file a model, one writer at a time, nothing ever rewritten."""

from .appending import SYNC_SECONDS, Writer, holder, lock_at_once, try_lock, writing
from .keeping import Cost, contents, export, import_file, merge, merge_usable, repair, verify
from .records import (
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
