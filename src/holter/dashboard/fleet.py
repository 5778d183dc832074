"""All runs below a folder, kept current: found, read when their files change, diagnosed when that is paid for.

One thread looks at the files, another runs the detectors, so that a list of runs stands long before the last of them is judged
and a run that grows does not wait for one that is being judged.
"""

from __future__ import annotations

import hashlib
import logging
import secrets
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from holter.dashboard.pending import unjudged
from holter.errors import HolterError
from holter.findings.diagnosis import diagnose_in_place
from holter.language import phrase, reason
from holter.monitor.pulse import Pulse, PulseTaker
from holter.readers.base import Skipped
from holter.runs.folder import logs_in
from holter.runs.hyperparameters import hyperparameter
from holter.runs.load import load_source
from holter.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from holter.findings.diagnosis import Diagnosis
    from holter.language import Said
    from holter.readers.base import Source
    from holter.runs.run import Run

REST = 10.0
"""Times as long as a diagnosis took that the same run is not diagnosed again while it grows."""
READING_REST = 3.0
"""The same for reading it, beyond `SHORT`."""
SHORT = 1.0
"""Seconds of reading that need no rest."""
DEAD = 3600.0
"""Seconds without a row from which on a run that never said it ended is called dead, and not only stalled."""
LOOK = 2.0
"""Seconds between looks at the files."""

logger = logging.getLogger("holter")

Signature = tuple[tuple[str, int, int], ...]


class State(StrEnum):
    """Whether a run still trains, as far as its files tell."""

    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"
    STALLED = "stalled"
    DEAD = "dead"
    RESTING = "resting"
    """No row came since the dashboard began to look, and nothing says whether one was due."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One run as the dashboard knows it.

    Attributes:
        id: Short name in addresses; the same as long as the run's file stays where it is.
        name: Path below the folder, as people read it.
        run: The run as it was read last.
        diagnosis: What the detectors say of it; None before they looked.
        pulse: Its signs of life.
        version: Grows with every change, so that a page can tell what it has.
        since: The fleet's version with which this one was published.
    """

    id: str
    name: str
    run: Run
    diagnosis: Diagnosis | None
    pulse: Pulse
    version: int
    since: int = 0

    @property
    def state(self) -> State:
        """Whether it still trains."""
        if self.pulse.ended:
            return State(self.pulse.ended)
        if self.progress == 1.0:
            return State.FINISHED
        if self.pulse.stalled:
            return State.DEAD if (self.pulse.age or 0.0) > DEAD else State.STALLED
        if self.pulse.gap is not None:
            return State.RUNNING
        return State.DEAD if (self.pulse.age or 0.0) > DEAD else State.RESTING

    @property
    def progress(self) -> float | None:
        """Share of the planned steps that are done, 0 to 1; None where nothing says how many are planned."""
        planned = hyperparameter(self.run, "planned_steps")
        if planned is None or planned <= 0 or not len(self.run):
            return None
        return min(1.0, float(self.run.steps[-1]) / planned)


@dataclass(slots=True)
class _Log:
    """The sources of one run, and what came of them."""

    signature: Signature = ()
    entries: list[Entry] = field(default_factory=list)
    troubles: tuple[Skipped, ...] = ()
    reading_due: float = 0.0
    diagnosis_due: float = 0.0
    takers: dict[str, PulseTaker] = field(default_factory=dict)
    shown: frozenset[str] = frozenset()


class Fleet:
    """The runs below a folder. Two threads of its own look and judge, readers may ask from any."""

    def __init__(
        self,
        root: Path,
        *,
        settings: Settings | None = None,
        clock: Callable[[], float] = time.time,
        workers: int = 2,
    ) -> None:
        """Nothing is read before `look` or `start`.

        Args:
            root: The folder.
            settings: Which detectors, with which limits.
            clock: Wall-clock time, seconds since 1970.
            workers: Logs that are read at the same time.
        """
        self.root = root.resolve()
        self.mark = secrets.token_hex(4)
        """Tells its versions from those of another one, as of a server before or after."""
        self._settings = settings or Settings()
        self._clock = clock
        self._workers = workers
        self._logs: dict[str, _Log] = {}
        self._entries: dict[str, Entry] = {}
        self._found: tuple[Skipped, ...] = ()
        self._asked_for: dict[str, float] = {}
        self._version = 0
        self._changed = threading.Condition()
        self._listeners: set[Callable[[], None]] = set()
        self._bugs: set[tuple[str, str]] = set()
        self._done = threading.Event()
        self._looked = threading.Event()

    @property
    def looked(self) -> bool:
        """Whether every run that was there at the beginning was read, or could not be."""
        return self._looked.is_set()

    @property
    def version(self) -> int:
        """Grows whenever anything changed."""
        return self._version

    @property
    def closed(self) -> bool:
        """Whether it looks no more."""
        return self._done.is_set()

    @property
    def refused(self) -> tuple[Skipped, ...]:
        """Files that look like logs and could not be read."""
        with self._changed:
            return (*self._found, *(t for log in self._logs.values() for t in log.troubles))

    def entries(self) -> list[Entry]:
        """Every run, by name."""
        return sorted(self._entries.values(), key=lambda e: e.name)

    def get(self, id: str) -> Entry | None:
        """One run, or None where there is none of this name. Who is asked for is judged before the others."""
        entry = self._entries.get(id)
        if entry is not None:
            self._asked_for[id] = time.monotonic()
        return entry

    def listen(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener`, in whatever thread, after every change and at the end; returns how to stop."""
        with self._changed:
            self._listeners.add(listener)

        def stop() -> None:
            with self._changed:
                self._listeners.discard(listener)

        return stop

    def start(self) -> None:
        """Look and judge again and again, in threads of their own."""
        for name, work in (("holter-looks", self._keep_looking), ("holter-judges", self._keep_judging)):
            threading.Thread(target=work, name=name, daemon=True).start()

    def close(self) -> None:
        """Look no more."""
        self._done.set()
        self._tell()

    def look(self) -> None:
        """Look once and judge whatever is due."""
        self.read()
        while self.judge_one():
            pass

    def read(self) -> None:
        """Find the runs and read those whose files changed; each is published as soon as it is read."""
        found = logs_in(self.root)
        choices = {_key(each): [source for source, _ in each] for each in found.runs}
        with self._changed:
            self._found = tuple(found.refused)
            for gone in self._logs.keys() - choices.keys():
                del self._logs[gone]
            logs = {key: self._logs.setdefault(key, _Log()) for key in choices}
        # The newest first: they are the ones that somebody waits for.
        signed = [(log, _signature(choices[key])) for key, log in logs.items()]
        stale = [each for each in zip(choices.values(), signed, strict=True) if self._is_stale(*each[1])]
        stale.sort(key=lambda each: max((mtime for _, _, mtime in each[1][1]), default=0), reverse=True)
        for log, _ in signed:
            self._take_pulses(log)
        self._publish()
        with ThreadPoolExecutor(self._workers) as pool:
            for _ in pool.map(lambda each: self._read(each[0], *each[1]), stale):
                pass
        if not self.looked:
            self._looked.set()
            with self._changed:
                self._version += 1
            self._tell()

    def judge_one(self) -> bool:
        """Judge the run that is due and was asked for last; whether there was one.

        While the folder is read for the first time, only what somebody asked for is judged: a list that stands is worth more
        than the first verdicts in it.
        """
        now = time.monotonic()
        with self._changed:
            due = [
                (self._asked_for.get(e.id, 0.0), e.diagnosis is None, log, e)
                for log in self._logs.values()
                if now >= log.diagnosis_due
                for e in log.entries
                if (e.diagnosis is None or e.diagnosis.run is not e.run) and (self.looked or e.id in self._asked_for)
            ]
        if not due or self.closed:
            return False
        *_, log, entry = max(due, key=lambda d: d[:2])
        try:
            diagnosis = diagnose_in_place(entry.run, self._settings)
        except Exception as error:
            # Whatever a detector trips over, this thread is the one that judges all the other runs.
            diagnosis = unjudged(entry.run, self._why(entry.name, error))
        spent = time.monotonic() - now
        with self._changed:
            log.entries = [
                replace(e, diagnosis=diagnosis, version=e.version + 1) if e.id == entry.id else e for e in log.entries
            ]
            if not any(e.diagnosis is None for e in log.entries):
                log.diagnosis_due = time.monotonic() + REST * spent
        self._publish(log)
        return True

    def _keep_looking(self) -> None:
        while not self.closed:
            began = time.monotonic()
            try:
                self.read()
            except Exception as error:
                # A folder that is moved or unmounted under way comes back or stays away, and whatever else it is, no other
                # thread looks: the page keeps what it has.
                self._why(str(self.root), error)
            self._done.wait(max(LOOK, time.monotonic() - began))

    def _keep_judging(self) -> None:
        while not self.closed:
            if not self.judge_one():
                with self._changed:
                    self._changed.wait(LOOK)

    def _why(self, name: str, error: Exception) -> Said:
        """What went wrong with something, for the page. A bug of Holter's is logged too, once, with its traceback."""
        if isinstance(error, HolterError | OSError):
            return reason(error)
        why = f"{type(error).__name__}: {error}"
        with self._changed:
            known = (name, why) in self._bugs
            self._bugs.add((name, why))
        if not known:
            logger.error("%s: %s", name, why, exc_info=error)
        return phrase(why)

    def _is_stale(self, log: _Log, signature: Signature) -> bool:
        return signature != log.signature and time.monotonic() >= log.reading_due

    def _read(self, sources: Sequence[Source], log: _Log, signature: Signature) -> None:
        """Read the first source that can be read, keep the reasons of the others, and publish."""
        if self.closed:
            return
        began = time.monotonic()
        troubles: list[Skipped] = []
        runs: tuple[Run, ...] = ()
        for source in sources:
            try:
                runs = load_source(source).runs
            except HolterError as error:
                troubles.append(Skipped.of(source.name, error))
                continue
            except Exception as error:
                # Whatever a reader trips over, the other runs are still to be read.
                troubles.append(Skipped(source.name, None, self._why(source.name, error)))
                continue
            if runs:
                break
        with self._changed:
            log.signature, log.troubles = signature, tuple(troubles)
            log.reading_due = time.monotonic() + READING_REST * max(0.0, time.monotonic() - began - SHORT)
            if runs:
                before = {e.id: e for e in log.entries}
                log.entries = [self._entry(run, before, several=len(runs) > 1) for run in runs]
        self._take_pulses(log)
        self._publish(log)

    def _entry(self, run: Run, before: dict[str, Entry], *, several: bool) -> Entry:
        try:
            name = str(Path(run.path).resolve().relative_to(self.root))
        except ValueError:
            name = run.name
        if several:
            name = f"{name} {run.name.rsplit('(', 1)[-1].rstrip(')')}" if "(" in run.name else f"{name} {run.name}"
        id = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
        old = before.get(id)
        return Entry(
            id=id,
            name=name,
            run=run,
            diagnosis=old.diagnosis if old else None,
            pulse=old.pulse if old else Pulse(),
            version=(old.version if old else 0) + 1,
        )

    def _take_pulses(self, log: _Log) -> None:
        now = self._clock()
        pulses = {e.id: log.takers.setdefault(e.id, PulseTaker()).take(e.run, now) for e in log.entries}
        with self._changed:
            log.entries = [replace(e, pulse=pulses.get(e.id, e.pulse)) for e in log.entries]

    def _publish(self, log: _Log | None = None) -> None:
        """Show what there is now, of one log or of all; what changed is stamped with a new version."""
        with self._changed:
            if log is not None and not any(each is log for each in self._logs.values()):
                return
            known, new = self._entries, self._version + 1
            current = [e for each in ((log,) if log is not None else self._logs.values()) for e in each.entries]
            stamped = {e.id: _stamped(e, known.get(e.id), new) for e in current}
            gone = (log.shown if log is not None else known.keys()) - stamped.keys()
            if log is not None:
                log.shown = frozenset(stamped)
            changed = bool(gone) or any(e.since == new for e in stamped.values())
            self._entries = {**{id: e for id, e in known.items() if id not in gone}, **stamped}
            self._version += changed
        if changed:
            self._tell()

    def _tell(self) -> None:
        with self._changed:
            self._changed.notify_all()
            listeners = list(self._listeners)
        for listener in listeners:
            listener()


def _stamped(entry: Entry, shown: Entry | None, version: int) -> Entry:
    """An entry with the version since which a page that shows it is right."""
    same = shown is not None and (shown.version, shown.state) == (entry.version, entry.state)
    return replace(entry, since=shown.since if shown is not None and same else version)


def _key(choices: Sequence[tuple[Source, tuple[str, ...]]]) -> str:
    return "\0".join(source.name for source, _ in choices)


def _signature(sources: Sequence[Source]) -> Signature:
    """Path, size and time of change of every file of a run."""
    out: list[tuple[str, int, int]] = []
    for source in sources:
        for here in source.parts or ((source.path,) if source.path is not None else ()):
            try:
                for file in sorted(here.iterdir()) if here.is_dir() else [here]:
                    status = file.stat()
                    out.append((str(file), status.st_size, status.st_mtime_ns))
            except OSError:
                continue
    return tuple(out)
