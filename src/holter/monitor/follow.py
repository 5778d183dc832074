"""Following logs that somebody else writes: read again when they changed, as ``holter check`` reads them."""

from __future__ import annotations

import os
import stat
import time
from collections import deque
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from holter.errors import UnreadableLogError
from holter.findings.diagnosis import Diagnosis, diagnose
from holter.monitor.alerts import Alert, Ledger
from holter.runs.load import load
from holter.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from holter.runs.run import Run

REST = 10.0
"""Times as long as a look took that no other one is taken."""
STALLED = 10.0
"""Times as long as a row usually takes, without a row, from which on the run counts as stalled."""
LEAST_STALL = 60.0
"""Seconds without a row below which nothing counts as stalled."""
MOST_FILES = 10_000
_WINDOW = 20
"""Changes of the files from which the pace of rows is told."""

Signature = tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, slots=True)
class Seen:
    """What following saw at one moment.

    Attributes:
        diagnoses: One a run, in the order of the paths.
        news: What changed in which run, since the last time.
        trouble: Why nothing could be read this time; empty where something could.
        age: Seconds since the files changed; None where there is no file.
        pace: Rows a minute while it was followed; None before rows were seen to come.
    """

    diagnoses: tuple[Diagnosis, ...] = ()
    news: tuple[tuple[str, Alert], ...] = ()
    trouble: str = ""
    age: float | None = None
    pace: float | None = None

    @property
    def stalled(self) -> bool:
        """Whether rows came before and no longer do."""
        if self.age is None or self.pace is None:
            return False
        return self.age > max(LEAST_STALL, STALLED * 60.0 / self.pace)


class Follow:
    """Reads logs again whenever their files changed, and says what is new."""

    def __init__(
        self,
        paths: Sequence[str],
        *,
        settings: Settings | None = None,
        speaks: str | None = None,
        ledger: Callable[[], Ledger] = Ledger,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Follow `paths`: files, folders, patterns.

        Args:
            paths: What ``holter check`` takes.
            settings: Which detectors, with which limits.
            speaks: Name of the dialect, where the log cannot tell by itself.
            ledger: Makes what decides on news, one a run.
            clock: Measures how long reading takes.
        """
        self._paths, self._speaks = list(paths), speaks
        self._settings = settings or Settings()
        self._ledger, self._clock = ledger, clock
        self._ledgers: dict[str, Ledger] = {}
        self._signature: Signature | None = None
        self._rest_until = float("-inf")
        self._rows: deque[tuple[float, int]] = deque(maxlen=_WINDOW)
        self._seen = Seen()

    def poll(self, now: float) -> Seen:
        """What is to be seen now. Reads the logs only where their files changed and the last reading is paid for.

        Args:
            now: Wall-clock time, seconds since 1970, as files have it.
        """
        signature = self._signed()
        newest = max((changed for _, _, changed in signature), default=None)
        age = None if newest is None else max(0.0, now - newest / 1e9)
        if signature == self._signature or now < self._rest_until:
            self._seen = replace(self._seen, age=age, news=())
            return self._seen
        self._signature = signature
        began = self._clock()
        self._seen = self._read(now, newest, age)
        self._rest_until = now + REST * (self._clock() - began)
        return self._seen

    def _read(self, now: float, newest: int | None, age: float | None) -> Seen:
        try:
            runs = load(self._paths, speaks=self._speaks).runs
        except UnreadableLogError as error:
            # A file that is being replaced cannot be read for a moment; what was seen before still stands.
            return replace(self._seen, trouble=str(error), age=age, news=())
        found = tuple(diagnose(self._with_eval_size(run), self._settings) for run in runs)
        self._rows.append((now if newest is None else newest / 1e9, sum(len(run) for run in runs)))
        news = tuple((d.run.name, alert) for d in found for alert in self._news(d, now))
        return Seen(found, news, age=age, pace=self._pace())

    def _with_eval_size(self, run: Run) -> Run:
        size = self._settings.eval_size
        return replace(run, config={**run.config, "eval_size": size}) if size else run

    def _news(self, diagnosis: Diagnosis, now: float) -> list[Alert]:
        run = diagnosis.run
        first = run.name not in self._ledgers
        ledger = self._ledgers.setdefault(run.name, self._ledger())
        # What the log held when somebody began to look is on the page, and no news.
        return ledger.update(
            diagnosis.findings,
            rows=len(run),
            step=float(run.steps[-1]) if len(run) else 0.0,
            now=now,
            silent=first,
            last_good_step=diagnosis.last_good_step,
        )

    def _pace(self) -> float | None:
        if len(self._rows) < 2:
            return None
        (then, before), (now, rows) = self._rows[0], self._rows[-1]
        return 60.0 * (rows - before) / (now - then) if now > then and rows > before else None

    def _signed(self) -> Signature:
        """Path, size and time of change of every file that may be a part of the logs."""
        out: list[tuple[str, int, int]] = []
        for path in self._paths:
            here = Path(path)
            files = _below(here) if here.is_dir() else [here]
            for file in files:
                try:
                    status = file.stat()
                except OSError:
                    continue
                if stat.S_ISREG(status.st_mode):
                    out.append((str(file), status.st_size, status.st_mtime_ns))
        return tuple(sorted(out))


def _below(folder: Path) -> list[Path]:
    found: list[Path] = []
    for where, folders, names in os.walk(folder):
        folders[:] = [f for f in folders if not f.startswith(".")]
        found += [Path(where) / name for name in names]
        if len(found) > MOST_FILES:
            break
    return found[:MOST_FILES]
