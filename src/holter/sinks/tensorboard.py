"""TensorBoard event files, by the real writer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from holter.sinks.base import Destination, Sample, Tracker, Values
from holter.sinks.naming import renamed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holter.store.manifest import Manifest


def _summary_writer() -> Any:  # noqa: ANN401
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        from tensorboardX import SummaryWriter
    return SummaryWriter


class TensorBoardSink:
    """Writes scalars to event files under ``logging_dir``. Values are stored as float32, which is all TensorBoard has."""

    name = "tensorboard"

    def __init__(self, destination: Destination) -> None:
        self.destination = destination
        self._writer: Any = None

    def open(self, manifest: Manifest) -> None:
        """Begin an event file, with the configuration as a text where transformers' callback puts it."""
        folder = self.destination.logging_dir or self.destination.folder / "tensorboard"
        self._writer = _summary_writer()(log_dir=str(folder))
        self._writer.add_text("args", json.dumps(dict(manifest.config), indent=2, default=str))
        self._writer.flush()

    def write(self, step: float, row: Values) -> None:
        """One scalar a value, at the row's own time, flushed."""
        time = row.get("time")
        for name, value in renamed(row, self.destination.rename).items():
            self._writer.add_scalar(name, value, int(step), walltime=time)
        self._writer.flush()

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
