"""The framing of ``.wandb`` and ``.swanlab`` files: records in blocks of 32 KiB, each with a checksum, as in LevelDB's log.

A record that does not fit into its block is cut into fragments. Damage costs the rest of a block at most, because every block
begins with a header.

References:
    LevelDB, "Log format" (doc/log_format.md). W&B takes CRC-32 of zlib instead of CRC-32C, over the type and the data.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, BinaryIO

from holter.language import said
from holter.readers.base import Skipped

if TYPE_CHECKING:
    from collections.abc import Iterator

MAGIC = b":W&B"
FILE_HEADER = 7
BLOCK = 1 << 15
_HEADER = 7
_READ = 32 * BLOCK
_FULL, _FIRST, _MIDDLE, _LAST = 1, 2, 3, 4
_NAMED = 20
"""Damaged places that are named one by one."""
_SEEDS = tuple(zlib.crc32(bytes([kind])) for kind in range(_LAST + 1))
_unpack = struct.Struct("<IHB").unpack_from


@dataclass(slots=True)
class Framing:
    """Takes a file apart into records.

    Attributes:
        damaged: Places at which a record was lost, as bytes from the start of the file.
        unfinished: Whether the file ends inside a record, as while it is being written.
    """

    damaged: list[int] = field(default_factory=list)
    unfinished: bool = False
    _fragments: list[bytes] | None = None
    _held: bytes = b""
    _start: int = 0

    def records(self, stream: BinaryIO) -> Iterator[bytes]:
        """The whole records of a file, from its start."""
        for data in iter(partial(stream.read, _READ), b""):
            yield from self.feed(data)
        yield from self.finish()

    def feed(self, data: bytes) -> Iterator[bytes]:
        """More bytes of the file: the records of the blocks that are surely whole with them."""
        held = self._held + data
        # A block is the file's last one until something comes behind it.
        whole = max(len(held) - 1, 0) // BLOCK * BLOCK
        self._held = held[whole:]
        for at in range(0, whole, BLOCK):
            yield from self._next(held[at : at + BLOCK], is_last=False)

    def finish(self) -> Iterator[bytes]:
        """The file ends here: the records of its last block."""
        block, self._held = self._held, b""
        yield from self._next(block, is_last=True)
        self.unfinished |= self._fragments is not None

    def skipped(self, file: str) -> list[Skipped]:
        """What was lost, place by place; of many places their number."""
        lost = [
            Skipped(file, None, said("damaged at byte {at:,}; what was written there is lost", at=at))
            for at in self.damaged[:_NAMED]
        ]
        more = len(self.damaged) - len(lost)
        return [*lost, Skipped(file, None, said("{n} more damaged places", n=more))] if more else lost

    def _next(self, block: bytes, *, is_last: bool) -> Iterator[bytes]:
        start, self._start = self._start, self._start + len(block)
        return self._block(block, start, FILE_HEADER if start == 0 else 0, is_last=is_last)

    def _block(self, block: bytes, start: int, at: int, *, is_last: bool) -> Iterator[bytes]:
        size = len(block)
        while at + _HEADER <= size:
            checksum, length, kind = _unpack(block, at)
            end = at + _HEADER + length
            if kind == 0 and length == 0 and checksum == 0:
                # Zeros to the end of the block: space that was kept free, or left by a machine that died.
                return
            if end > size and is_last and kind <= _LAST and end <= BLOCK:
                self.unfinished = True
                return
            if end > size or not _FULL <= kind <= _LAST:
                self._lose(start + at)
                return
            content = block[at + _HEADER : end]
            if _checksum(content, kind) != checksum:
                self._lose(start + at)
                if not _is_sound(block, end):
                    return
            elif kind == _FULL:
                self._drop_fragments(start + at)
                yield content
            else:
                whole = self._fragment(kind, content, start + at)
                if whole is not None:
                    yield whole
            at = end
        if is_last and 0 < size - at < _HEADER and size < BLOCK:
            self.unfinished = True

    def _fragment(self, kind: int, content: bytes, at: int) -> bytes | None:
        if kind == _FIRST:
            self._drop_fragments(at)
            self._fragments = [content]
            return None
        if self._fragments is None:
            self._lose(at)
            return None
        self._fragments.append(content)
        if kind == _MIDDLE:
            return None
        whole = b"".join(self._fragments)
        self._fragments = None
        return whole

    def _drop_fragments(self, at: int) -> None:
        """A record begins although another one has not ended: its end is lost."""
        if self._fragments is not None:
            self._lose(at)

    def _lose(self, at: int) -> None:
        self._fragments = None
        self.damaged.append(at)


def _checksum(content: bytes, kind: int) -> int:
    return zlib.crc32(content, _SEEDS[kind])


def _is_sound(block: bytes, at: int) -> bool:
    """Whether a record with a true checksum begins here, or the block ends: then only the record before is damaged."""
    if len(block) - at < _HEADER:
        return True
    checksum, length, kind = _unpack(block, at)
    end = at + _HEADER + length
    return bool(_FULL <= kind <= _LAST and end <= len(block) and _checksum(block[at + _HEADER : end], kind) == checksum)
