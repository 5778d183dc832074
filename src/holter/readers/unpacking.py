"""Packed bytes unpacked on the way, with a limit: a few kilobytes of gzip can stand for gigabytes of nothing.

Zstandard is read where Python has it (3.14) or the package ``zstandard`` is installed.
"""

from __future__ import annotations

import gzip
import importlib
import io
import zlib
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from holter.errors import UnreadableLogError, reason
from holter.language import said

if TYPE_CHECKING:
    from collections.abc import Callable

    from _typeshed import WriteableBuffer

GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"
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
    """The bytes of a packed stream. Everything before damage, or before the torn end of a growing file, is given out."""

    def __init__(
        self, packed: BinaryIO, name: str, kind: str, opened: Callable[[Any], Any], fault: type[Exception]
    ) -> None:
        """Begin.

        Args:
            packed: The packed bytes.
            name: What messages call the file.
            kind: How it is packed, for messages.
            opened: Makes a stream of unpacked bytes of a stream of packed ones.
            fault: What that stream raises when they are damaged, besides OSError.
        """
        self.packed = _Counted(packed)
        self.inner = opened(io.BufferedReader(self.packed))
        self.faults = (OSError, fault)
        self.name = name
        self.kind = kind
        self.read_some: Callable[[int], bytes] = getattr(self.inner, "read1", self.inner.read)
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
            found = self.read_some(len(view))
        except EOFError:
            self.torn = True
            return 0
        except self.faults as error:
            self.damage = said(
                "the {kind} data is damaged after {n:,} unpacked bytes ({error}); the rest is lost",
                kind=self.kind,
                n=self.count,
                error=reason(error),
            )
            return 0
        view[: len(found)] = found
        self.count += len(found)
        if self.count > ALWAYS_ALLOWED and self.count > MOST_TIMES * max(self.packed.count, 1):
            raise UnreadableLogError.of(
                self.name,
                said(
                    "it unpacks to more than {times} times its size ({n:,} MiB and counting), as no log does.",
                    times=MOST_TIMES,
                    n=self.count >> 20,
                ),
                "If it is one, unpack it first and read the unpacked file.",
            )
        return len(found)

    def close(self) -> None:
        self.inner.close()
        self.packed.close()
        super().close()


def _gzip(stream: io.BufferedReader[Any]) -> gzip.GzipFile:
    return gzip.GzipFile(fileobj=stream, mode="rb")


def _zstd() -> tuple[Callable[[Any], Any], type[Exception]] | None:
    """What opens a stream of unpacked bytes, and what that raises when they are damaged; None where nothing here does."""
    try:
        own = importlib.import_module("compression.zstd")
        return own.ZstdFile, own.ZstdError
    except ImportError:
        pass
    try:
        package = importlib.import_module("zstandard")
    except ImportError:
        return None
    return lambda stream: package.ZstdDecompressor().stream_reader(stream, read_across_frames=True), package.ZstdError


def unpacked(stream: BinaryIO, name: str) -> BinaryIO:
    """`stream` itself, or what it unpacks to when it begins like gzip or Zstandard, whatever the file is called.

    Args:
        stream: Bytes that can be read from the start again.
        name: What messages call it.
    """
    signature = stream.read(len(ZSTD))
    stream.seek(0)
    kind = ""
    how: tuple[Callable[[Any], Any], type[Exception]] | None = None
    if signature.startswith(GZIP):
        kind, how = "gzip", (_gzip, zlib.error)
    elif signature == ZSTD:
        kind, how = "zstd", _zstd()
    if how is None:
        return stream
    return cast("BinaryIO", io.BufferedReader(_Unpacked(stream, name, kind, *how), buffer_size=1 << 18))


def damage(stream: BinaryIO) -> str | None:
    """What is wrong with the packed data of a stream that `unpacked` made and that was read to its end."""
    raw = getattr(stream, "raw", None)
    return raw.damage if isinstance(raw, _Unpacked) else None


def torn(stream: BinaryIO) -> bool:
    """Whether the packed data ends early, as in a file that is still being written."""
    raw = getattr(stream, "raw", None)
    return isinstance(raw, _Unpacked) and raw.torn
