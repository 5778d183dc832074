"""A run that grows row by row in memory, as the run folder's reader would read it from the disk."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from holter.errors import UnreadableLogError
from holter.readers.records import Records
from holter.readers.run_folder import CLOCK, RUN_FOLDER
from holter.runs.canonical import canonical
from holter.store.reading import is_never_reached, lines, resumed_from, segments

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from holter.runs.run import Run


class RowsInMemory:
    """Rows as they are logged, and the run that they make so far."""

    def __init__(self, name: str, *, config: Mapping[str, object], before: Path | None = None) -> None:
        """Begin.

        Args:
            name: What findings call the run.
            config: Hyper-parameters of this segment.
            before: Run folder that this segment resumes. Its newest segment is this one and comes by `add`; the older ones
                come by `read_history`, once the first row is known.
        """
        self._name = name
        self._config = dict(config)
        self._before = before
        self._records = Records(name)
        self._lines = 0
        self._begins: list[int] = []
        """Rows at which segments begin, where the run was resumed."""

    def __len__(self) -> int:
        return self._lines

    def add(self, row: Mapping[str, object]) -> None:
        """Add one row: ``step``, ``time`` and values by name."""
        self._lines += 1
        self._records.add(row, self._lines)

    def run(self) -> Run | None:
        """The run so far, the newest where the rows hold several; None where there is nothing yet to look at."""
        if not self._lines:
            return None
        self._records.config = dict(self._config)
        log = replace(self._records.log(self._name, RUN_FOLDER.name, lines=False), clock=CLOCK)
        if self._begins:
            log = replace(log, resumes=tuple(sorted({row for row in self._begins if 0 < row < log.rows})))
        try:
            runs = canonical(log)
        except UnreadableLogError:
            return None
        return runs[-1] if runs else None

    @property
    def has_history(self) -> bool:
        """Whether older segments wait to be read."""
        return self._before is not None

    def read_history(self, first_step: float) -> None:
        """Add the rows of older segments, without those after a checkpoint that a newer segment never reached again.

        Args:
            first_step: Step of this segment's first row.

        Raises:
            UnreadableLogError: When a manifest is broken.
        """
        folder, self._before = self._before, None
        if folder is None:
            return
        found = segments(folder)
        older, gone = found[:-1], [(resumed_from(found[-1].manifest), first_step)]
        kept: list[list[dict[str, object]]] = []
        for segment in reversed(older):
            mine = [line.row for line in lines(segment.metrics) if line.row is not None and line.gap is None]
            kept.append([r for r in mine if not is_never_reached(r.get("step"), gone)])
            begins = next((r["step"] for r in mine if isinstance(r.get("step"), int | float)), math.inf)
            gone.append((resumed_from(segment.manifest), begins))
        for rows in reversed(kept):
            self._begins.append(len(self._records.table))
            for row in rows:
                self._lines += 1
                self._records.add(row, self._lines)
        self._begins.append(len(self._records.table))
