"""Holter's own run folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from holter.dialects.registry import detect
from holter.export.base import Written, rows_of
from holter.store.manifest import Manifest, settings
from holter.store.run_folder import RunFolder

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from holter.readers.base import RawLog

_TIMES = ("time", "_timestamp", "wall_time")


class RunFolderExport:
    """A run folder of one segment, under the names that the log uses. Nobody knows what the run was made with."""

    name = "run-folder"
    title = "Holter's run folder"
    suffixes = ()
    folder = True

    def write(self, log: RawLog, steps: NDArray[np.float64], path: Path) -> Written:
        """Write every row. A line's first entries are its step and its time."""
        times = next((log.columns[t] for t in _TIMES if t in log.columns), None)
        clock = dict(zip(times.at.tolist(), times.values.tolist(), strict=True)) if times is not None else {}
        begun = next((t for t in clock.values() if np.isfinite(t)), 0.0)
        manifest = Manifest(
            id=path.name,
            created=begun,
            name=path.name,
            config=settings(log.config),
            dialect=detect(log.columns, log.dialects).name,
        )
        said = log.columns.get("step")
        with RunFolder.create(path, manifest) as folder:
            for number, row in enumerate(rows_of(log)):
                folder.write(float(steps[number]), row, now=clock.get(number, begun))
        replaced = said is not None and not (
            len(said.at) == log.rows and np.array_equal(said.values, steps, equal_nan=True)
        )
        return Written(path, ("the log's own column 'step', which is not the step of its rows",) if replaced else ())


RUN_FOLDER_EXPORT = RunFolderExport()
