"""Watching logs that somebody else writes: what is wrong with each run now, what changed, whether it still lives."""

from __future__ import annotations

import glob
import os
import stat
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from holter.alerts import Alert, Ledger
from holter.errors import UnreadableLogError, reason
from holter.findings.diagnosis import Diagnosis, diagnose_in_place
from holter.monitor.pulse import Pulse, PulseTaker
from holter.runs.follow import Follow
from holter.runs.remote import is_url, state_of
from holter.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


REST = 10.0
"""Times as long as a look took that no other one is taken."""
ASKED = 10.0
"""Seconds between two questions to another machine whether a log behind a URL has changed."""
MOST_FILES = 10_000
"""Files below a folder whose changes are noticed."""

State = tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """One run at one moment.

    Attributes:
        diagnosis: What the detectors say of its rows.
        pulse: Its signs of life.
    """

    diagnosis: Diagnosis
    pulse: Pulse


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """What watching saw at one moment.

    Attributes:
        runs: The runs, in the order of the paths.
        alerts: What changed since the moment before.
        trouble: Why the logs could not be read this time; empty where they could. What was read before still stands.
    """

    runs: tuple[Watched, ...] = ()
    alerts: tuple[Alert, ...] = ()
    trouble: str = ""


class Watch:
    """Looks at logs again whenever they grew, and says what is new: of the rows, and of rows that no longer come."""

    def __init__(
        self,
        paths: Sequence[str],
        *,
        settings: Settings | None = None,
        speaks: str | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Watch `paths`: files, folders, patterns.

        Args:
            paths: What ``holter check`` takes. They may not exist yet.
            settings: Which detectors, with which limits, and what counts as news.
            speaks: Name of the dialect, where the logs cannot tell by themselves.
            clock: Measures how long a look takes.
        """
        self._paths, self._follow = list(paths), Follow(paths, speaks=speaks)
        self._settings = settings or Settings()
        self._clock = clock
        self._state: tuple[State, object] | None = None
        self._urls = [path for path in self._paths if is_url(path)]
        self._asked, self._told = float("-inf"), object()
        self._rest_until = float("-inf")
        self._diagnoses: tuple[Diagnosis, ...] = ()
        self._trouble = ""
        self._ledgers: dict[str, Ledger] = {}
        self._takers: dict[str, PulseTaker] = {}

    def look(self, now: float) -> Moment:
        """What is to be seen now. Reads and diagnoses only where files changed and the last time is paid for.

        Args:
            now: Wall-clock time, seconds since 1970, as files have it.
        """
        state = (_state(self._paths), self._state_of_urls(now))
        if state != self._state and now >= self._rest_until:
            self._state = state
            began = self._clock()
            self._diagnose()
            self._rest_until = now + REST * (self._clock() - began)
        runs = tuple(
            Watched(diagnosis=d, pulse=self._takers.setdefault(d.run.name, PulseTaker()).take(d.run, now))
            for d in self._diagnoses
        )
        alerts = tuple(alert for each in runs for alert in self._news(each, now, several=len(runs) > 1))
        return Moment(runs=runs, alerts=alerts, trouble=self._trouble)

    def _state_of_urls(self, now: float) -> object:
        """The same as long as nothing behind a URL is known to have changed."""
        if self._urls and now - self._asked >= ASKED:
            self._asked = now
            told = [state_of(url) for url in self._urls]
            self._told = object() if None in told else told
        return self._told

    def _diagnose(self) -> None:
        try:
            runs = self._follow.load().runs
        except UnreadableLogError as error:
            # A file that is being replaced cannot be read for a moment; what was seen before still stands.
            self._trouble = reason(error)
            return
        self._diagnoses = tuple(diagnose_in_place(run, self._settings) for run in runs)
        self._trouble = ""

    def _news(self, watched: Watched, now: float, *, several: bool) -> list[Alert]:
        diagnosis, run = watched.diagnosis, watched.diagnosis.run
        first = run.name not in self._ledgers
        ledger = self._ledgers.setdefault(run.name, Ledger.of(self._settings.alerts))
        lifeless = watched.pulse.finding(run)
        # What the log held when somebody began to look is on the page, and no news.
        return ledger.update(
            [*diagnosis.findings, *([lifeless] if lifeless else [])],
            rows=len(run),
            step=float(run.steps[-1]) if len(run) else 0.0,
            now=now,
            silent=first,
            last_good_step=diagnosis.last_good_step,
            run=run.name if several else "",
        )


def _state(paths: Sequence[str]) -> State:
    """Path, size and time of change of every file that may be a part of the logs."""
    out: list[tuple[str, int, int]] = []
    for path in paths:
        for name in [path] if os.path.exists(path) else glob.glob(path, recursive=True):  # noqa: PTH110, PTH207 - patterns
            here = Path(name)
            for file in _below(here) if here.is_dir() else [here]:
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


class Watcher:
    """Looks again and again in a thread of its own, so that whoever draws the page never waits for a log to be read."""

    def __init__(
        self, watch: Watch, *, every: float, clock: Callable[[], float], seen: Callable[[Moment], None]
    ) -> None:
        """Begin to look.

        Args:
            watch: What is watched.
            every: Seconds between two looks.
            clock: Wall-clock time.
            seen: Called in the thread with every moment.
        """
        self._watch, self._every, self._clock, self._seen = watch, every, clock, seen
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._work, name="holter-watch", daemon=True)
        self.error: Exception | None = None
        """What ended the watching, where something did."""
        self._thread.start()

    def close(self) -> None:
        """No further look; one that is under way is left to itself."""
        self._done.set()

    def _work(self) -> None:
        try:
            while not self._done.is_set():
                self._seen(self._watch.look(self._clock()))
                self._done.wait(self._every)
        except Exception as error:
            # Carried to whoever draws: a thread that ends silently would leave a page that looks alive.
            self.error = error
            self._seen(Moment())
