"""The YAML that trackers write a run's hyper-parameters in: names over indented names, plain values, lists of plain values.

Anchors, tags, texts over several lines and flow mappings are no part of it; what does not fit is passed over.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holter.readers.numbers import number

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

MOST = 1 << 20
"""Bytes of a configuration that are looked at."""
_DEEPEST = 16
_ENTRY = re.compile(r"(?P<indent> *)(?P<key>[^\s#:'\"\-][^:#]*?|'[^']*'|\"[^\"]*\")\s*:(?:\s+(?P<value>\S.*?))?\s*")
_ITEM = re.compile(r"(?P<indent> *)- +(?P<value>\S.*?)\s*")
_COMMENT = re.compile(r"\s+#.*")
_WORDS = {"null": None, "~": None, "true": True, "false": False, ".nan": float("nan"), ".inf": float("inf")}
_NUMBER = re.compile(r"[-+]?\d[\d.]*(?:[eE][-+]?\d+)?")

Value = object
"""A number, a text, a boolean, None, a list of them, or a mapping of names to values."""


def settings(text: str) -> dict[str, Value]:
    """The entries of a document, nested as they stand."""
    out: dict[str, Value] = {}
    open_at: list[tuple[int, dict[str, Value], str]] = []
    for indent, key, value in _lines(text):
        while open_at and (open_at[-1][0] > indent or (open_at[-1][0] == indent and key is not None)):
            open_at.pop()
        if key is None:
            if open_at:
                _append(open_at[-1][1], open_at[-1][2], value)
            continue
        inside = out
        if open_at:
            parent, name = open_at[-1][1], open_at[-1][2]
            found = parent.get(name)
            if not isinstance(found, dict):
                found = parent[name] = {}
            inside = found
        inside[key] = None if value is None else _plain(value)
        if value is None and len(open_at) < _DEEPEST:
            open_at.append((indent, inside, key))
    return out


def unwrapped(entries: Mapping[str, Value], internal: Collection[str] = ()) -> dict[str, Value] | None:
    """The values of entries that a tracker keeps together with a description of each; None where they are kept otherwise.

    Args:
        entries: What `settings` gives.
        internal: Names of the tracker's own entries, which are left out.
    """
    found = {key: entry for key, entry in entries.items() if key not in internal}
    if not all(isinstance(entry, dict) and "value" in entry for entry in found.values()):
        return None
    return {key: entry["value"] for key, entry in found.items() if isinstance(entry, dict)}


def _lines(text: str) -> Iterator[tuple[int, str | None, str | None]]:
    """Indentation, name and value of each entry; of a list's item the name is None."""
    for line in text[:MOST].splitlines():
        bare = line if "'" in line or '"' in line else _COMMENT.sub("", line)
        item = _ITEM.fullmatch(bare)
        if item is not None:
            yield len(item["indent"]), None, item["value"]
            continue
        entry = _ENTRY.fullmatch(bare)
        if entry is not None:
            yield len(entry["indent"]), entry["key"].strip("'\""), entry["value"]


def _append(parent: dict[str, Value], name: str, value: str | None) -> None:
    found = parent.get(name)
    if found is None:
        found = parent[name] = []
    if isinstance(found, list) and value is not None and _ENTRY.fullmatch(value) is None:
        found.append(_plain(value))


def _plain(value: str) -> Value:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        return value[1:-1]
    if value.lower() in _WORDS:
        return _WORDS[value.lower()]
    if value == "[]":
        return []
    if _NUMBER.fullmatch(value):
        found = number(value)
        if isinstance(found, float):
            return int(value) if re.fullmatch(r"[-+]?\d{1,18}", value) else found
    return value
