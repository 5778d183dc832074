"""One JSON Lines file, for people who want just that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holter.sinks.base import Destination, Sample, Tracker, Values
from holter.sinks.naming import renamed
from holter.store.encoding import encode
from holter.store.line_file import LineFile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holter.store.manifest import Manifest


class JsonlSink:
    """Appends rows to ``log.jsonl`` in the run folder, under the names that trackers use."""

    name = "jsonl"

    def __init__(self, destination: Destination) -> None:
        self.destination = destination
        self._file: LineFile | None = None

    def open(self, manifest: Manifest) -> None:  # noqa: ARG002 - the rows say it all
        """Open the file; an older one is appended to."""
        self.destination.folder.mkdir(parents=True, exist_ok=True)
        self._file = LineFile(self.destination.folder / "log.jsonl")

    def write(self, step: float, row: Values) -> None:
        """One line."""
        assert self._file is not None, "open() comes first"
        line = {"step": step, "time": row.get("time"), **renamed(row, self.destination.rename)}
        self._file.append(encode(line))

    def samples(self, step: float, rows: Sequence[Sample]) -> None:
        """Left aside: the file is a log of numbers."""

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()


JSONL = Tracker(name="jsonl", title="one JSON Lines file", create=JsonlSink, direct=True)
