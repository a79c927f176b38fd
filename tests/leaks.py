"""What the tests of leaks share: keys to plant, and a search for them that owes nothing to the code under test."""

from __future__ import annotations

import base64
import gzip
import html
import json
import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

#: Keys that open nothing, as three services make theirs; tests plant them in the environment.
PLANTED = {
    "OPENAI_API_KEY": "sk-proj-Qm7vTz4LxW2kRb9NcY6dHs3Jf8PgA1uE",
    "ANTHROPIC_API_KEY": "sk-ant-api03-Zk3Wq8Xn5Vb2-Rt7Yp4Lm9_Gd6Hs1AA",
    "GEMINI_API_KEY": "AIzaSyD4k7Rw2Nq9Tb6Lx3Vc8Mz5Hp1Jf0Gs2YE",
}


def spelled(value: str) -> dict[str, bytes]:
    """A value as programs write it, by what wrote it."""
    ways = {
        "plain": value,
        "JSON": json.dumps(value)[1:-1],
        "JSON in JSON": json.dumps(json.dumps(value)[1:-1])[1:-1],
        "JSON, ASCII escapes": "".join(f"\\u{ord(sign):04x}" for sign in value),
        "Python": repr(value)[1:-1],
        "URL": quote(value, safe=""),
        "HTML": html.escape(value),
        "hex": value.encode().hex(),
        "HEX": value.encode().hex().upper(),
        "percent-encoded in full": "".join(f"%{byte:02x}" for byte in value.encode()),
        "URL in URL": quote(quote(value, safe=""), safe=""),
        "HTML, numbers": "".join(f"&#{ord(sign)};" for sign in value),
        "HTML, hex numbers": "".join(f"&#x{ord(sign):X};" for sign in value),
        "HTML in JSON": json.dumps(html.escape(html.escape(value)))[1:-1],
        "Python bytes": "".join(f"\\x{byte:02x}" for byte in value.encode()),
    }
    return {way: text.encode() for way, text in ways.items()}


def holds(data: bytes, value: str) -> list[str]:
    """In which spelling bytes hold a value; base64 is decoded wherever it may begin."""
    ways = [way for way, form in spelled(value).items() if form in data]
    for run in re.findall(rb"[A-Za-z0-9+/_-]{12,}", data.replace(b"\\/", b"/")):
        for start in range(4):
            part = run[start:].replace(b"-", b"+").replace(b"_", b"/")
            part = part[: len(part) - (len(part) % 4 == 1)]
            if value.encode() in base64.b64decode(part + b"A" * (-len(part) % 4)):
                return [*ways, "base64"]
    return ways


def leaks(text: bytes | str, keys: Mapping[str, str] = PLANTED) -> dict[str, list[str]]:
    """The variables whose values a text holds, with the spellings."""
    data = text.encode() if isinstance(text, str) else text
    return {name: ways for name, value in keys.items() if (ways := holds(data, value))}


def leaks_in(folder: Path, keys: Mapping[str, str] = PLANTED) -> dict[str, dict[str, list[str]]]:
    """The files under a folder that hold a value, as they lie there or unpacked."""
    found = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        data = path.read_bytes()
        if path.suffix == ".gz":
            data = gzip.decompress(data)
        if held := leaks(data, keys):
            found[str(path.relative_to(folder))] = held
    return found
