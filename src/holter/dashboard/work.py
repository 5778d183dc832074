"""What is done to a log before it can be shown: it is read, and judged. And by how many at a time."""

from __future__ import annotations

import math
import os
from collections import OrderedDict
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from holter.dashboard.apart import Apart, Here
from holter.detectors.registry import all_detectors
from holter.dialects.registry import all_dialects
from holter.findings.diagnosis import diagnose_in_place
from holter.readers.registry import all_readers, read
from holter.runs.canonical import canonical
from holter.runs.follow import Followed
from holter.runs.load import logs_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holter.dashboard.apart import Worker
    from holter.findings.diagnosis import Diagnosis
    from holter.readers.base import RawLog, Source
    from holter.runs.run import Run
    from holter.settings import Settings

MOST_FOLLOWED = 64
"""Growing logs of which a reader keeps what it has understood, which takes about as much memory as their runs."""
MOST_READERS = 4
MOST_JUDGES = 8
NICE_READING, NICE_JUDGING = 5, 10
"""How much lower than the server's the priority is of reading and judging what nobody asked for."""


class LogReader:
    """Reads logs; those that grew from where they were left."""

    def __init__(self) -> None:
        """Nothing is read yet, but what reading takes is loaded."""
        all_readers()
        all_dialects()
        self._followed: OrderedDict[str, Followed] = OrderedDict()

    def read(self, source: Source, remarks: Sequence[str], again: bool) -> list[Run]:  # noqa: FBT001 - travels by position
        """The runs in a log.

        Args:
            source: The log.
            remarks: Notes for the runs in it.
            again: Whether it was read before and changed. What is understood of it is kept from then on.

        Raises:
            UnreadableLogError: When it cannot be read.
        """
        logs = logs_of(source, self._read_on if again else read)
        return [run for log in logs for run in canonical(replace(log, notes=(*log.notes, *remarks)))]

    def _read_on(self, source: Source) -> list[RawLog]:
        name = str(source.files[0])
        followed = self._followed.pop(name, None) or Followed(source)
        self._followed[name] = followed
        if len(self._followed) > MOST_FOLLOWED:
            self._followed.popitem(last=False)
        followed.regard(source)
        return followed.logs()


class Judge:
    """Runs the detectors."""

    def __init__(self, settings: Settings) -> None:
        """Judge by `settings`, and by what lies beside a log. What that takes is loaded."""
        self._settings = settings
        all_detectors()

    def judge(self, run: Run) -> Diagnosis:
        """What the detectors say, of a run without rows: whoever asks has them."""
        return replace(diagnose_in_place(run, self._settings), run=run.until(-math.inf))


@dataclass(frozen=True, slots=True)
class Crew:
    """Who reads and who judges; each does one thing at a time.

    Where there are several, the first is kept for what is asked for, so that nobody who asks waits for the end of other work.
    """

    readers: Sequence[Worker[LogReader]]
    judges: Sequence[Worker[Judge]]

    @classmethod
    def here(cls, settings: Settings) -> Crew:
        """One of each, in this process."""
        return cls([Here(LogReader)], [Here(partial(Judge, settings))])

    @classmethod
    def apart(cls, settings: Settings) -> Crew:
        """As many as the processors do for and those that are kept, in processes of their own."""
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        judges = min(cores, MOST_JUDGES)
        readers = min(cores, MOST_READERS)
        judge = partial(Judge, settings)
        return cls(
            [Apart(LogReader), *(Apart(LogReader, nice=NICE_READING) for _ in range(readers))],
            [Apart(judge), *(Apart(judge, nice=NICE_JUDGING) for _ in range(judges))],
        )

    def begin(self) -> None:
        """Get ready."""
        for reader in self.readers:
            reader.begin()
        for judge in self.judges:
            judge.begin()

    def end(self) -> None:
        """Break off what is done."""
        for reader in self.readers:
            reader.end()
        for judge in self.judges:
            judge.end()
