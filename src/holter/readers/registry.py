"""Every reader, found by walking this package and the entry points; and which of them takes a file."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from holter import discovery, readers
from holter.errors import UnreadableLogError
from holter.language import phrase, said
from holter.readers.base import Reader
from holter.readers.foreign import foreign
from holter.readers.plausibility import NotALogError, OtherFormatError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from holter.readers.base import RawLog, Source

_FORMATS = (
    "`holter list readers` shows the formats: JSON lines, CSV, trainer_state.json, event files, W&B files, console output, "
    "notebooks, pasted tables."
)
_CONFIGURATIONS = (".yaml", ".yml", ".toml", ".ini", ".cfg")


def _is_reader(value: object) -> bool:
    return isinstance(value, Reader) and not isinstance(value, type)


@cache
def all_readers() -> dict[str, Reader]:
    """All readers by name."""
    return discovery.members(readers, "readers", _is_reader, lambda r: r.name)


def readers_for(name: str, head: bytes) -> Iterator[Reader]:
    """The readers that recognise a file called `name` with these first bytes, the surest first."""
    name = name.removesuffix(".zst")
    for reader in sorted(all_readers().values(), key=lambda r: (r.priority, r.name)):
        if reader.recognises(name, head):
            yield reader


def _unrecognised(source: Source, head: bytes) -> UnreadableLogError:
    seems = foreign(head)
    if seems is not None:
        return UnreadableLogError.of(source.name, said("this is {what}.", what=phrase(seems[0])), seems[1])
    if source.name.lower().endswith(_CONFIGURATIONS):
        return UnreadableLogError.of(
            source.name, "this seems to be a configuration.", "Give the run's log, or its folder."
        )
    return UnreadableLogError.of(source.name, "no reader recognises this file.", _FORMATS)


def read(source: Source, via: Callable[[Reader, Source], list[RawLog]] | None = None) -> list[RawLog]:
    """The logs in `source`, by the first reader that recognises it and can read it.

    A reader that understood all of the file and found no log in it has the last word: one that is less sure would make rows of
    a part of what was refused.

    Args:
        source: The bytes.
        via: How a reader is made to read, where that is not by its `read`.

    Raises:
        UnreadableLogError: When none can; the reason is that of the surest reader, of those that found a log in it if any did.
    """
    head = source.head()
    if not head.strip():
        raise UnreadableLogError.of(source.name, "it is empty, so there is nothing to read yet.")
    first: UnreadableLogError | None = None
    for reader in readers_for(source.name, head):
        try:
            found = via(reader, source) if via is not None else list(reader.read(source))
        except UnreadableLogError as error:
            if first is None or (isinstance(first, NotALogError) and not isinstance(error, NotALogError)):
                first = error
            if isinstance(error, NotALogError) and not isinstance(error, OtherFormatError):
                break
            continue
        if found:
            return found
    raise first or _unrecognised(source, head)
