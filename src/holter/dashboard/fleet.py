"""All runs below a folder, kept current: listed as soon as they are found, read, and judged.

One thread looks at the files. Others have the logs read and the runs judged, those first that somebody looks at; the work itself
is done where `holter.dashboard.work` says, for `holter serve` in other processes. So a list stands before the first log is read,
curves before the first verdict, and nobody who asks waits for either.
"""

from __future__ import annotations

import hashlib
import logging
import secrets
import threading
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from holter.dashboard.entry import Entry
from holter.dashboard.found_log import FoundLog, key_of, signature_of, signature_of_files
from holter.dashboard.glimpse import glimpse
from holter.dashboard.pending import unjudged
from holter.dashboard.work import Crew, Judge, LogReader
from holter.errors import HolterError, reason
from holter.language import phrase
from holter.monitor.pulse import Pulse, PulseTaker
from holter.readers.base import Skipped
from holter.readers.plausibility import NotALogError
from holter.runs.folder import logs_in
from holter.settings import Settings
from holter.store import layout

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from holter.dashboard.apart import Worker
    from holter.language import Said
    from holter.runs.load import Choices
    from holter.runs.run import Run

REST = 10.0
"""Times as long as a diagnosis took that the same run is not diagnosed again while it grows."""
READING_REST = 3.0
"""The same for reading it, beyond `SHORT`."""
SHORT = 1.0
"""Seconds of reading that need no rest."""
LOOK = 2.0
"""Seconds between looks at the files, at the least."""
LOOKING_REST = 9.0
"""Times as long as a look took until the next one."""

logger = logging.getLogger("holter")


class Fleet:
    """The runs below a folder. Threads of its own keep them current, readers may ask from any."""

    def __init__(
        self,
        root: Path,
        *,
        clock: Callable[[], float] = time.time,
        crew: Crew | None = None,
    ) -> None:
        """Nothing is read before `look` or `start`.

        Args:
            root: The folder.
            clock: Wall-clock time, seconds since 1970.
            crew: Who reads and judges; one of each in this process, by Holter's own settings, unless given.
        """
        self.root = root.resolve()
        self.mark = secrets.token_hex(4)
        """Tells its versions from those of another one, as of a server before or after."""
        self._crew = crew or Crew.here(Settings())
        self._clock = clock
        self._logs: dict[str, FoundLog] = {}
        self._entries: dict[str, Entry] = {}
        self._found: tuple[Skipped, ...] = ()
        self._asked_for: dict[str, float] = {}
        self._version = 0
        self._stirred = 0
        self._working: set[object] = set()
        self._changed = threading.Condition()
        self._listeners: set[Callable[[], None]] = set()
        self._bugs: set[tuple[str, str]] = set()
        self._done = threading.Event()
        self._looked = threading.Event()

    @property
    def looked(self) -> bool:
        """Whether every run that was there at the beginning is listed."""
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
        """One run, or None where there is none of this name. Who is asked for is read and judged before the others."""
        with self._changed:
            entry = self._entries.get(id)
            if entry is not None:
                self._asked_for[id] = time.monotonic()
                if not entry.judged:
                    self._stir()
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
        """Look, read and judge again and again, in threads of their own."""
        self._crew.begin()
        readers = [partial(self._read_one, number) for number in range(len(self._crew.readers))]
        judges = [partial(self._judge_one, number) for number in range(len(self._crew.judges))]
        threading.Thread(target=self._keep_looking, name="holter-looks", daemon=True).start()
        for name, some in (("holter-reads", readers), ("holter-judges", judges)):
            for work in some:
                threading.Thread(target=self._keep, args=(work,), name=name, daemon=True).start()

    def close(self) -> None:
        """Look no more, and break off what is done."""
        self._done.set()
        self._crew.end()
        self._tell()

    def look(self) -> None:
        """Look once, and read and judge whatever is due."""
        self.read()
        while self.judge_one():
            pass

    def read(self) -> None:
        """Find the runs and read those whose files changed; each is published as soon as it is read."""
        self.find()
        for number in range(len(self._crew.readers)):
            while self._read_one(number):
                pass

    def judge_one(self) -> bool:
        """Judge one run that is due; whether there was one."""
        return any(self._judge_one(number) for number in range(len(self._crew.judges)))

    def find(self) -> None:
        """Find the runs and see which files changed. New ones are published at once, with what the ends of their files say."""
        found = logs_in(self.root)
        choices = {key_of(each): each for each in found.runs}
        seen = {key: signature_of([source for source, _ in each]) for key, each in choices.items()}
        new: list[FoundLog] = []
        with self._changed:
            self._found = tuple(found.refused)
            for gone in self._logs.keys() - choices.keys():
                del self._logs[gone]
            for key, each in choices.items():
                if key not in self._logs:
                    self._logs[key] = FoundLog(each, [self._entry(each[0][0].name)])
                    new.append(self._logs[key])
                self._logs[key].choices, self._logs[key].seen = each, seen[key]
            logs = list(self._logs.values())
        for log in logs:
            self._take_pulses(log)
        self._publish()
        if not self.looked:
            self._looked.set()
            with self._changed:
                self._version += 1
            self._tell()
        for log in new:
            self._glimpse(log)

    def _glimpse(self, log: FoundLog) -> None:
        """Show where a run stands that is not read yet."""
        if log.read is not None or self.closed:
            return
        try:
            step = glimpse(log.choices[0][0])
        except Exception:
            # Whatever a reader trips over is told when the log is read.
            step = None
        with self._changed:
            if step is None or log.read is not None:
                return
            log.entries = [replace(e, glimpsed=step, version=e.version + 1) for e in log.entries]
        self._publish(log)

    def _read_one(self, number: int) -> bool:
        """Have one log read that is due, the one that was asked for last; whether there was one for this reader."""
        now = time.monotonic()
        with self._changed:
            due = [
                (asked, log.newest, log)
                for log in self._logs.values()
                if log.stale and not log.busy and now >= log.reading_due and log.reader in (None, number)
                if self._takes(number, self._crew.readers, asked := self._asked(log)) or log.reader == number
            ]
            if not due or self.closed:
                return False
            # The newest first: they are the ones that somebody waits for.
            *_, log = max(due, key=lambda each: each[:2])
            log.busy = True
            self._begin(self._crew.readers[number])
            signature, again = log.seen, log.read is not None
            if again:
                log.reader = number
        runs, troubles = self._runs(log.choices, self._crew.readers[number], again=again)
        with self._changed:
            self._working.discard(self._crew.readers[number])
            if self.closed:
                return False
            log.busy, log.read, log.troubles = False, signature, tuple(troubles)
            log.reading_due = time.monotonic() + READING_REST * max(0.0, time.monotonic() - now - SHORT)
            if runs:
                before = {e.id: e for e in log.entries}
                log.entries = [self._entry(run.path, run, before, several=len(runs) > 1) for run in runs]
            else:
                # What was read before still stands, as while a file is being replaced; what never could be read is no run.
                log.entries = [e for e in log.entries if e.run is not None]
        self._take_pulses(log)
        self._publish(log)
        return True

    def _runs(self, choices: Choices, reader: Worker[LogReader], *, again: bool) -> tuple[list[Run], list[Skipped]]:
        """The runs of the first source that can be read, and why others could not be."""
        troubles: list[Skipped] = []
        for source, remarks in choices:
            try:
                runs = reader.call(LogReader.read, source, remarks, again)
            except NotALogError:
                continue
            except HolterError as error:
                troubles.append(Skipped.of(source.name, error))
            except Exception as error:
                # Whatever a reader trips over, the other runs are still to be read.
                troubles.append(Skipped(source.name, None, self._why(source.name, error)))
            else:
                if runs:
                    return runs, troubles
        return [], troubles

    def _asked(self, log: FoundLog) -> float:
        """When a run of a log was asked for last; 0 where none was."""
        return max((self._asked_for.get(e.id, 0.0) for e in log.entries), default=0.0)

    def _takes(self, number: int, workers: Sequence[object], asked: float) -> bool:
        """Whether a worker takes on what was asked for then; the first of several is kept for that, see `Crew`."""
        if number == 0:
            return asked > 0 or len(workers) == 1
        return asked == 0 or workers[0] in self._working

    def _begin(self, worker: object) -> None:
        """A worker is at work, so that others take on what it would."""
        self._working.add(worker)
        self._stir()

    def _stir(self) -> None:
        """Have those who wait see whether there is something for them."""
        with self._changed:
            self._stirred += 1
            self._changed.notify_all()

    def _judge_one(self, number: int) -> bool:
        """Have one run judged that is due, the one that was asked for last; whether there was one for this judge."""
        now = time.monotonic()
        with self._changed:
            due = [
                ((asked, e.diagnosis is None, log.newest), log, e, e.run)
                for log in self._logs.values()
                if now >= log.diagnosis_due
                for e in log.entries
                if e.run is not None and not e.judged and e.id not in log.judging
                if self._takes(number, self._crew.judges, asked := self._asked_for.get(e.id, 0.0))
            ]
            if not due or self.closed:
                return False
            _, log, entry, run = max(due, key=lambda each: each[0])
            log.judging.add(entry.id)
            self._begin(self._crew.judges[number])
        try:
            diagnosis = replace(self._crew.judges[number].call(Judge.judge, run), run=run)
        except Exception as error:
            # Whatever a detector trips over, this thread is one that judges all the other runs.
            diagnosis = unjudged(run, self._why(entry.name, error))
        spent = time.monotonic() - now
        with self._changed:
            log.judging.discard(entry.id)
            self._working.discard(self._crew.judges[number])
            if self.closed:
                return False
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
                self.find()
            except Exception as error:
                # A folder that is moved or unmounted under way comes back or stays away, and whatever else it is, no other
                # thread looks: the page keeps what it has.
                self._why(str(self.root), error)
            self._done.wait(max(LOOK, LOOKING_REST * (time.monotonic() - began)))

    def _keep(self, work: Callable[[], bool]) -> None:
        """Work whenever something is due, until the end."""
        while not self.closed:
            before = self._version, self._stirred
            try:
                worked = work()
            except Exception as error:
                # No other thread does this one's work.
                self._why(str(self.root), error)
                self._done.wait(LOOK)
                continue
            if not worked:
                with self._changed:
                    if (self._version, self._stirred) == before and not self.closed:
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

    def _entry(
        self, path: str, run: Run | None = None, before: dict[str, Entry] | None = None, *, several: bool = False
    ) -> Entry:
        """A run as it is now, with what was known of it before."""
        try:
            name = str(Path(path).resolve().relative_to(self.root))
        except ValueError:
            name = path if run is None else run.name
        if run is not None and several:
            name = f"{name} {run.name.rsplit('(', 1)[-1].rstrip(')')}" if "(" in run.name else f"{name} {run.name}"
        id = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
        old = (before or {}).get(id)
        return Entry(
            id=id,
            name=name,
            run=run,
            diagnosis=old.diagnosis if old else None,
            pulse=old.pulse if old else Pulse(),
            version=(old.version if old else 0) + 1,
        )

    def _take_pulses(self, log: FoundLog) -> None:
        """Of a log whose files are as they were and whose rows are too only the time goes on."""
        now = self._clock()
        entries = log.entries
        # A run folder says how the run ended in a file beside its rows.
        said = layout.findings_file(log.choices[0][0].files[0].parent)
        of = (log.seen, signature_of_files([said]), *((e.id, e.run) for e in entries))
        if of == log.pulsed:
            pulses = {e.id: e.pulse.later(now - log.taken) for e in entries}
        else:
            pulses = {e.id: self._pulse(log, e, now) for e in entries}
        with self._changed:
            log.pulsed, log.taken = of, now
            log.entries = [replace(e, pulse=pulses.get(e.id, e.pulse)) for e in log.entries]

    def _pulse(self, log: FoundLog, entry: Entry, now: float) -> Pulse:
        if entry.run is None:
            # How many rows there are is not known, so it says nothing of the pace of the next ones.
            return PulseTaker().of(log.choices[0][0].files[0], 0, now)
        return log.takers.setdefault(entry.id, PulseTaker()).take(entry.run, now)

    def _publish(self, log: FoundLog | None = None) -> None:
        """Show what there is now, of one log or of all; what changed is stamped with a new version."""
        with self._changed:
            if log is not None and not any(each is log for each in self._logs.values()):
                return
            known, new = self._entries, self._version + 1
            logs = [log] if log is not None else list(self._logs.values())
            stamped = {e.id: _stamped(e, known.get(e.id), new) for each in logs for e in each.entries}
            gone = (log.shown if log is not None else known.keys()) - stamped.keys()
            for each in logs:
                each.shown = frozenset(e.id for e in each.entries)
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
