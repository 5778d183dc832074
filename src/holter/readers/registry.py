"""Every reader, found by walking this package and the entry points; and which of them takes a file."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from holter import discovery, readers
from holter.errors import UnreadableLogError
from holter.readers.base import Reader

if TYPE_CHECKING:
    from holter.readers.base import Source


def _is_reader(value: object) -> bool:
    return isinstance(value, Reader) and not isinstance(value, type)


@cache
def all_readers() -> dict[str, Reader]:
    """All readers by name."""
    return discovery.members(readers, "readers", _is_reader, lambda r: r.name)


def reader_for(source: Source) -> Reader:
    """The reader that takes `source`, decided by its name, then by its first bytes.

    Raises:
        UnreadableLogError: When the file is empty or no reader recognises it.
    """
    head = source.head()
    if not head.strip():
        raise UnreadableLogError.of(source.name, "the file is empty, so there is nothing to read yet.")
    for reader in sorted(all_readers().values(), key=lambda r: (r.priority, r.name)):
        if reader.recognises(source.name, head):
            return reader
    raise UnreadableLogError.of(
        source.name,
        "no reader recognises this file.",
        "`holter list readers` shows the formats; JSON lines, CSV, trainer_state.json, event files and pasted tables work.",
    )
