"""TensorBoard event files, one event a row."""

from __future__ import annotations

import errno
import itertools
import json
import os
import socket
import time
from typing import TYPE_CHECKING

from holter.readers.tensorboard import encoding
from holter.sinks.base import Destination, Sample, Tracker, Values
from holter.sinks.naming import renamed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from holter.store.manifest import Manifest

_NUMBERS = itertools.count()


class TensorBoardSink:
    """Writes scalars to event files under ``logging_dir``. Values are stored as float32, which is all TensorBoard has."""

    name = "tensorboard"

    def __init__(self, destination: Destination) -> None:
        self.destination = destination
        self._path: Path | None = None
        self._descriptor: int | None = None

    def open(self, manifest: Manifest) -> None:
        """Begin an event file, with the configuration as a text where transformers' callback puts it."""
        folder = self.destination.logging_dir or self.destination.folder / "tensorboard"
        folder.mkdir(parents=True, exist_ok=True)
        now = time.time()
        # TensorBoard reads the files of a folder in the order of their names; those of one second in that of their numbers.
        # torch's own writers of this process count theirs from 0 as well, and two writers of one file would spoil it.
        name = f"events.out.tfevents.{int(now):010d}.{socket.gethostname()}.{os.getpid()}.{next(_NUMBERS)}.holter"
        self._path = folder / name
        self._append(encoding.version(now))
        self.configure(manifest.config)

    def configure(self, config: Mapping[str, object]) -> None:
        """Write the configuration, again where it changed."""
        said = json.dumps(dict(config), indent=2, default=str)
        self._append(encoding.text(time.time(), 0, "args/text_summary", said))

    def write(self, step: float, row: Values) -> None:
        """One event a row, at the row's own time; it is in the file when this returns."""
        values = renamed(row, self.destination.rename)
        if values:
            at = row.get("time")
            self._append(encoding.scalars(time.time() if at is None else at, step, values))

    def _append(self, record: bytes) -> None:
        """A whole record, or nothing of it: what a full disk took of one would end the file for every reader."""
        assert self._path is not None, "open() comes first"
        if self._descriptor is None:
            self._descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        line = encoding.framed(record)
        try:
            taken = os.write(self._descriptor, line)
            if taken < len(line):
                os.ftruncate(self._descriptor, os.fstat(self._descriptor).st_size - taken)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError:
            # A fresh descriptor is the way back after a stale one.
            self.close()
            raise

    def samples(self, step: float, rows: Sequence[Sample]) -> None:
        """Left aside: TensorBoard has no tables."""

    def close(self) -> None:
        """Close the event file."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)


TENSORBOARD = Tracker(
    name="tensorboard",
    title="TensorBoard event files",
    create=TensorBoardSink,
    # To look at them; nothing of it is needed to write them.
    package="tensorboard|tensorboardX",
)
