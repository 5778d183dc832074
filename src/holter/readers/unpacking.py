"""Packed bytes unpacked on the way, with a limit: a few kilobytes of gzip can stand for gigabytes of nothing."""

from __future__ import annotations

import gzip
import io
import zlib
from typing import TYPE_CHECKING, BinaryIO, cast

from holter.errors import UnreadableLogError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

GZIP = b"\x1f\x8b"
ALWAYS_ALLOWED = 256 << 20
"""Bytes that any packed file may unpack to."""
MOST_TIMES = 200
"""Beyond that size, how many times larger than its packed form a file may be. Real logs pack 3 to 30 times smaller."""


class _Counted(io.RawIOBase):
    """Passes reads on and counts the bytes."""

    def __init__(self, inner: BinaryIO) -> None:
        self.inner = inner
        self.count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer)
        found = self.inner.read(len(view))
        view[: len(found)] = found
        self.count += len(found)
        return len(found)

    def close(self) -> None:
        self.inner.close()
        super().close()


class _Unpacked(io.RawIOBase):
    """The bytes of a gzip stream. Everything before damage, or before the torn end of a growing file, is given out."""

    def __init__(self, packed: BinaryIO, name: str) -> None:
        self.packed = _Counted(packed)
        self.inner = gzip.GzipFile(fileobj=io.BufferedReader(self.packed), mode="rb")
        self.name = name
        self.count = 0
        self.damage: str | None = None
        self.torn = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer)
        if self.damage is not None or self.torn:
            return 0
        try:
            found = self.inner.read1(len(view))
        except EOFError:
            self.torn = True
            return 0
        except (OSError, zlib.error) as error:
            self.damage = f"the gzip data is damaged after {self.count:,} unpacked bytes ({error}); the rest is lost"
            return 0
        view[: len(found)] = found
        self.count += len(found)
        if self.count > ALWAYS_ALLOWED and self.count > MOST_TIMES * max(self.packed.count, 1):
            raise UnreadableLogError.of(
                self.name,
                f"it unpacks to more than {MOST_TIMES} times its size ({self.count >> 20:,} MiB and counting), "
                "as no log does.",
                "If it is one, unpack it first and read the unpacked file.",
            )
        return len(found)

    def close(self) -> None:
        self.inner.close()
        self.packed.close()
        super().close()


def unpacked(stream: BinaryIO, name: str) -> BinaryIO:
    """`stream` itself, or what it unpacks to when it begins like gzip, whatever the file is called.

    Args:
        stream: Bytes that can be read from the start again.
        name: What messages call it.
    """
    signature = stream.read(len(GZIP))
    stream.seek(0)
    if signature != GZIP:
        return stream
    return cast("BinaryIO", io.BufferedReader(_Unpacked(stream, name), buffer_size=1 << 18))


def damage(stream: BinaryIO) -> str | None:
    """What is wrong with the packed data of a stream that `unpacked` made and that was read to its end."""
    raw = getattr(stream, "raw", None)
    return raw.damage if isinstance(raw, _Unpacked) else None


def torn(stream: BinaryIO) -> bool:
    """Whether the packed data ends early, as in a file that is still being written."""
    raw = getattr(stream, "raw", None)
    return isinstance(raw, _Unpacked) and raw.torn
