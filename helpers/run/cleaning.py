"""An executed notebook without keys, before it gets its final name."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from helpers.check.reading import binary
from helpers.judge import notice
from helpers.providers.keys import found, redact, redact_all
from helpers.run.quick import without_grammar

#: Colours in a traceback, which could stand within a key.
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def clean(draft: Path, final: Path) -> None:
    """Strike keys out of an executed notebook: sources, outputs, tracebacks, pictures, metadata.

    Whoever runs it is told which cell of `final` held which variable's value. A notebook without keys keeps its bytes,
    and one that cannot be read as a notebook is cleaned as text.
    """
    with without_grammar():
        import nbformat

    try:
        book = nbformat.read(draft, as_version=4)
    except Exception:  # cut off, or no notebook: text all the same
        text = draft.read_text(encoding="utf-8", errors="surrogateescape")
        if redact(text) != text:
            draft.write_text(redact(text), encoding="utf-8", errors="surrogateescape")
        return
    removed: dict[str, set[str]] = {}
    for number, cell in enumerate(book.cells, 1):
        outputs = _cleaned(_joined(cell.get("outputs", [])))
        rest = {name: value for name, value in cell.items() if name != "outputs"}
        if outputs != cell.get("outputs", []) or redact_all(rest) is not rest:
            names = {name for part in (rest, cell.get("outputs", [])) for name in _names(part)}
            shown = cell.get("execution_count")
            removed[f"cell [{shown}]" if shown else f"text {number}"] = names
            book.cells[number - 1] = {**redact_all(rest), **({"outputs": outputs} if "outputs" in cell else {})}
    if redact_all(book.metadata) is not book.metadata:
        removed["its metadata"] = _names(book.metadata)
        book.metadata = redact_all(book.metadata)
    if removed:
        nbformat.write(nbformat.from_dict(book), draft)
        held = "; ".join(f"{place} ({', '.join(sorted(names))})" for place, names in removed.items())
        notice(f"warning: {final.name} showed keys, which were struck out: {held}")


def _joined(outputs: list[Any]) -> list[Any]:
    """The outputs, with texts of one stream that follow each other as one where they hold a key: it may span them."""
    joined: list[Any] = []
    for stream, group in groupby(outputs, lambda each: each.get("name")):
        texts = list(group)
        whole = "".join(each["text"] for each in texts) if stream else ""
        joined += [{**texts[0], "text": whole}] if found(whole) else texts
    return joined


def _cleaned(value: Any) -> Any:
    """An output without keys; a picture that holds one is left out, and a text may lose its colours with it."""
    if isinstance(value, str):
        text, bare = redact(value), redact(COLOUR.sub("", value))
        return text if COLOUR.sub("", text) == bare else bare
    if isinstance(value, Mapping):
        pictures = {name: held for name, each in value.items() if (held := _pictured(name, each))}
        kept = {redact(name): _cleaned(each) for name, each in value.items() if name not in pictures}
        words = [f"[a picture that held {', '.join(held)} was left out]" for held in pictures.values()]
        return {**kept, "text/plain": words[0]} if words else kept
    if isinstance(value, list):
        return [_cleaned(each) for each in value]
    return value


def _pictured(kind: str, value: Any) -> list[str]:
    """The keys in a picture of an output, which are bytes in base64."""
    if not kind.startswith("image/") or kind.startswith("image/svg") or not isinstance(value, str):
        return []
    try:
        return sorted({name for _, text in binary(base64.b64decode(value)) for name in found(text)})
    except binascii.Error:
        return []


def _names(part: Any) -> set[str]:
    return {name for text in _texts(part) for name in found(COLOUR.sub("", text))}


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield key
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
