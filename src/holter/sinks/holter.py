"""The run folder: the record that everything else can be made from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holter.sinks.base import Destination, Sample, Tracker, Values
from holter.store.reading import lines, numbers
from holter.store.run_folder import RunFolder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from holter.store.manifest import Manifest


class RunFolderSink:
    """Writes the run folder. Synchronous: a row is in the file when `write` returns."""

    name = "holter"

    def __init__(self, destination: Destination) -> None:
        self.destination = destination
        self._folder: RunFolder | None = None

    @property
    def folder(self) -> RunFolder:
        """The open run folder."""
        assert self._folder is not None, "open() comes first"
        return self._folder

    def open(self, manifest: Manifest) -> None:
        """Create the folder, or begin its next segment.

        Raises:
            RunFolderError: When there is a run and none was to be resumed, or the other way round.
            OSError: When the folder cannot be written.
        """
        to = self.destination
        if to.resume:
            self._folder = RunFolder.resume(to.folder, manifest, step=to.resumed_step)
        else:
            self._folder = RunFolder.create(to.folder, manifest)

    def write(self, step: float, row: Values) -> None:
        """One line. Never raises."""
        self.folder.write(step, row)

    def samples(self, step: float, rows: Sequence[Sample]) -> None:
        """One line a completion."""
        self.folder.samples(step, rows)

    def configure(self, config: Mapping[str, object]) -> None:
        """Write down the hyper-parameters anew.

        Raises:
            OSError: When the disk refuses.
        """
        self.folder.configure(config)

    def close(self) -> None:
        """Close the files. Never raises."""
        if self._folder is not None:
            self._folder.close()

    def written_after(self, time: float) -> Iterator[tuple[float, Values]]:
        """Steps and rows of this segment that were logged after `time`, for a tracker that missed them."""
        if self._folder is None:
            return
        for line in lines(self._folder.metrics_file):
            if line.row is None or line.gap is not None:
                continue
            row = numbers(line.row)
            step, logged = row.pop("step", None), row.get("time")
            if step is not None and logged is not None and logged > time:
                yield step, row


HOLTER = Tracker(name="holter", title="run folder", create=RunFolderSink, direct=True)
