"""TensorBoard event files, by the real writer."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from holter.sinks.base import Destination, Sample, Tracker, Values
from holter.sinks.naming import renamed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from holter.store.manifest import Manifest


def _writers() -> tuple[Any, Any]:
    """The writer of event files, and the message that holds a row, both of one package."""
    try:
        from tensorboard.compat.proto.summary_pb2 import Summary
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        from tensorboardX import SummaryWriter
        from tensorboardX.proto.summary_pb2 import Summary
    return SummaryWriter, Summary


class TensorBoardSink:
    """Writes scalars to event files under ``logging_dir``. Values are stored as float32, which is all TensorBoard has."""

    name = "tensorboard"

    def __init__(self, destination: Destination) -> None:
        self.destination = destination
        self._writer: Any = None
        self._summary: Any = None

    def open(self, manifest: Manifest) -> None:
        """Begin an event file, with the configuration as a text where transformers' callback puts it."""
        self._begin()
        self.configure(manifest.config)

    def configure(self, config: Mapping[str, object]) -> None:
        """Write the configuration, again where it changed."""
        with self._lasting() as writer:
            writer.add_text("args", json.dumps(dict(config), indent=2, default=str))

    def write(self, step: float, row: Values) -> None:
        """One event a row, at the row's own time, flushed.

        An event may hold any number of scalars. `add_scalar` would make an event of each, which takes twice the room and many
        times the time (``benchmarks/recording.py``).
        """
        values = [
            self._summary.Value(tag=name, simple_value=value)
            for name, value in renamed(row, self.destination.rename).items()
        ]
        if values:
            with self._lasting() as writer:
                writer.file_writer.add_summary(self._summary(value=values), int(step), walltime=row.get("time"))

    def _begin(self) -> None:
        folder = self.destination.logging_dir or self.destination.folder / "tensorboard"
        writer, self._summary = _writers()
        self._writer = writer(log_dir=str(folder))

    @contextmanager
    def _lasting(self) -> Iterator[Any]:
        """The writer, flushed at the end. Its thread dies of a disk that is full for a moment, so another one takes its place."""
        if self._writer is None:
            self._begin()
        try:
            yield self._writer
            self._writer.flush()
        except BaseException:
            self._writer = None
            raise

    def samples(self, step: float, rows: Sequence[Sample]) -> None:
        """Left aside: TensorBoard has no tables."""

    def close(self) -> None:
        """Finish the event file."""
        if self._writer is not None:
            self._writer.close()


TENSORBOARD = Tracker(
    name="tensorboard",
    title="TensorBoard event files",
    create=TensorBoardSink,
    package="tensorboard|tensorboardX",
)
