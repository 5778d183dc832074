"""Holter's own run folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from holter.dialects.registry import detect
from holter.export.base import Written, clock_of, rows_of
from holter.store.manifest import Manifest, settings
from holter.store.run_folder import RunFolder

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from holter.readers.base import RawLog


class RunFolderExport:
    """A run folder of one segment, under the names that the log uses. Nobody knows what the run was made with."""

    name = "run-folder"
    title = "Holter's run folder"
    suffixes = ()
    folder = True

    def write(self, log: RawLog, steps: NDArray[np.float64], path: Path) -> Written:
        """Write every row. A line's first entries are its step and its time."""
        clock = clock_of(log)
        begun = next((t for t in clock.values() if np.isfinite(t)), 0.0)
        manifest = Manifest(
            id=path.name,
            created=begun,
            name=path.name,
            config=settings(log.config),
            dialect=detect(log.columns, log.dialects).name,
        )
        own = log.columns.get("step")
        with RunFolder.create(path, manifest) as folder:
            for number, row in enumerate(rows_of(log)):
                folder.write(float(steps[number]), row, now=clock.get(number, begun))
        replaced = own is not None and not (
            len(own.at) == log.rows and np.array_equal(own.values, steps, equal_nan=True)
        )
        return Written(path, ("the log's own column 'step', which is not the step of its rows",) if replaced else ())


RUN_FOLDER_EXPORT = RunFolderExport()
