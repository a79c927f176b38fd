"""Every reply that was ever paid for: one readable JSONL file a model, one writer at a time, nothing ever rewritten."""

from helpers.store.appending import SYNC_LINES, SYNC_SECONDS, Writer, holder, try_lock, writing
from helpers.store.records import VERSION, StoreError, decode, encode, file_of, lines, read, refused

__all__ = [
    "SYNC_LINES",
    "SYNC_SECONDS",
    "VERSION",
    "StoreError",
    "Writer",
    "decode",
    "encode",
    "file_of",
    "holder",
    "lines",
    "read",
    "refused",
    "try_lock",
    "writing",
]
