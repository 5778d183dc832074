"""An append-only file of lines that outlives crashes and full disks.

Each line is one system call, so it is in the file when `append` returns and a ``kill -9`` loses nothing. When the disk refuses,
lines wait in memory up to a limit and are written, in order, as soon as there is room; those beyond the limit are lost, and
the file says how many and why. Training never hears of it.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING

import orjson

from holter.language import phrase, told

if TYPE_CHECKING:
    from pathlib import Path

log = logging.getLogger("holter")

HELD_BYTES = 16 << 20
"""Lines that wait for room on the disk, in bytes: hours of metrics, a few steps of completions."""
TORN = "the disk took a part of a line"
RETRY_SECONDS = 1.0
"""Pause between two tries at a disk that refuses, so that a dead mount costs one call a second and not one a line."""


class LineFile:
    """Appends lines to one file. One process writes a file; its threads may share it."""

    def __init__(self, path: Path, *, held_bytes: int = HELD_BYTES, retry_seconds: float = RETRY_SECONDS) -> None:
        """Open `path` for appending; a torn last line of an earlier writer is closed, so that nothing is glued to it.

        Args:
            path: The file.
            held_bytes: Most bytes that wait in memory while the disk refuses.
            retry_seconds: Pause between two tries while it does.

        Raises:
            OSError: When it cannot be opened: a wrong path is worth knowing before training starts.
        """
        self.path = path
        self._held_limit = held_bytes
        self._retry_seconds = retry_seconds
        self._lock = threading.RLock()
        self._descriptor: int | None = None
        self._held: deque[bytes] = deque()
        self._held_bytes = 0
        self._lost = 0
        self._why = ""
        self._next_try = 0.0
        self._warned = False
        self._open()

    def _open(self) -> None:
        descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            size = os.fstat(descriptor).st_size
            if size and os.pread(descriptor, 1, size - 1) != b"\n":
                os.write(descriptor, b"\n")
        except OSError:
            os.close(descriptor)
            raise
        self._descriptor = descriptor

    @property
    def waiting(self) -> int:
        """Number of lines that wait for room on the disk."""
        return len(self._held)

    def append(self, line: bytes) -> None:
        """Write one line, its line feed included. Never raises."""
        with self._lock:
            if self._obstructed and time.monotonic() >= self._next_try:
                self._release()
            if not self._obstructed and self._write(line):
                return
            self._hold(line)

    def close(self) -> None:
        """Write what waits, as far as the disk takes it, and see it through to the disk. Never raises."""
        with self._lock:
            if self._held or self._lost:
                self._release()
            if self._held or self._lost:
                missing = len(self._held) + self._lost
                log.warning(
                    told(
                        "{file}: {n} lines could not be written: {why}",
                        file=self.path,
                        n=missing,
                        why=phrase(self._why),
                    )
                )
            if self._descriptor is not None:
                with suppress(OSError):
                    os.fsync(self._descriptor)
                self._drop()

    @property
    def _obstructed(self) -> bool:
        return self._descriptor is None or bool(self._held) or bool(self._lost)

    def _write(self, line: bytes) -> bool:
        """Whether the disk took the whole line."""
        assert self._descriptor is not None, "written only while the file is open"
        try:
            taken = os.write(self._descriptor, line)
            if taken == len(line):
                return True
            self._refused(OSError(TORN))
            # Taken back, so that no reader meets half a line once others follow it.
            os.ftruncate(self._descriptor, os.fstat(self._descriptor).st_size - taken)
        except OSError as error:
            self._refused(error)
        # A fresh descriptor is the way back after a stale one, and closes the torn line.
        self._drop()
        return False

    def _drop(self) -> None:
        assert self._descriptor is not None, "dropped only while the file is open"
        with suppress(OSError):
            os.close(self._descriptor)
        self._descriptor = None

    def _refused(self, error: OSError) -> None:
        self._why = error.strerror or str(error)
        self._next_try = time.monotonic() + self._retry_seconds
        if not self._warned:
            self._warned = True
            log.warning(
                told(
                    "{file} cannot be written now ({why}); training goes on, lines wait in memory",
                    file=self.path,
                    why=phrase(self._why),
                )
            )

    def _hold(self, line: bytes) -> None:
        # The oldest lines stay: what led up to a full disk must not be pushed out by what came after it.
        if self._lost or self._held_bytes + len(line) > self._held_limit:
            self._lost += 1
            return
        self._held.append(line)
        self._held_bytes += len(line)

    def _release(self) -> None:
        """Write what waits, as far as the disk takes it; then, where lines were lost, how many and why."""
        if self._descriptor is None:
            try:
                self._open()
            except OSError as error:
                self._refused(error)
                return
        while self._held:
            if not self._write(self._held[0]):
                return
            self._held_bytes -= len(self._held.popleft())
        gap = {"gap": {"lines": self._lost, "why": self._why, "until": time.time()}}
        if self._lost and self._write(orjson.dumps(gap) + b"\n"):
            self._lost = 0
