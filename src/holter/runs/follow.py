"""Logs that grow while they are read: new rows as they are written, without reading a long log again from its start.

Formats that are only appended to (JSON lines, console text, CSV, event files, W&B files, run folders) are read on from where they
were left, and databases and folders of points are asked for what is new, by readers that can (`holter.readers.growth`). What is
rewritten as a whole (trainer_state.json, packed files) is read again, and only when it changed; what was given out before is not
given out again.

A line or record that is not whole yet is waited for. Files may be cut and begin anew, be replaced, be moved away, as log rotation
does, and go on under their old name, not be there yet, or for a moment not; and a writer may start again, in the same file or, as
event files and run folders do, in another one of the same folder.
"""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from holter.errors import UnreadableLogError, reason
from holter.language import said
from holter.readers.base import Source
from holter.readers.growth import GivenRows, GrowingReader, StoreReader, stamp
from holter.readers.registry import read
from holter.readers.unpacking import GZIP, ZSTD
from holter.runs.load import Loaded, choices, load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from holter.readers.base import RawLog, Reader
    from holter.readers.growth import Growing, Store

CHUNK = 1 << 20
"""Bytes read at a time."""
SURE = 1 << 16
"""Bytes from which on a log is no longer asked again which reader should take it."""
SEARCH = 0.5
"""Seconds between two searches of the folders for new files."""
_COMPARED = 64
"""Bytes before the place where reading goes on that must be as they were."""


@dataclass(frozen=True, slots=True)
class Growth:
    """What came since the last look.

    Attributes:
        rows: The new rows of each log, under the log's own names; `RawLog.rows` counts them.
        event: What happened to the file, empty where it only grew: ``truncated``, ``replaced``, ``rotated``.
    """

    rows: tuple[RawLog, ...] = ()
    event: str = ""

    def __len__(self) -> int:
        return sum(log.rows for log in self.rows)


class Tail:
    """The end of one file, read on and on.

    Attributes:
        path: The file.
        size: Bytes read so far.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._begin()

    def _begin(self) -> None:
        self.size = 0
        self._identity: tuple[int, int] | None = None
        self._last = b""
        self._stamp = (-1, -1)

    def look(self) -> str:
        """What happened to the file: nothing but growth (empty), ``truncated``, ``replaced``, ``rotated``."""
        try:
            status = self.path.stat()
        except OSError:
            return ""  # Between two files of a rotation there is none.
        identity, changed = (status.st_dev, status.st_ino), (status.st_size, status.st_mtime_ns)
        if self._identity is None:
            self._identity = identity
        if identity != self._identity:
            return "rotated" if self._moved() is not None else "replaced"
        if status.st_size < self.size:
            return "truncated"
        if changed == self._stamp:
            return ""
        self._stamp = changed
        return "" if self._as_before() else "replaced"

    def chunks(self) -> Iterator[bytes]:
        """What was written behind what was read."""
        if self._stamp[0] == self.size:
            return
        yield from self._rest(self.path)

    def old_chunks(self) -> Iterator[bytes]:
        """What was written to the file before it was moved away; reading goes on at the beginning of the new one."""
        moved = self._moved()
        if moved is not None:
            yield from self._rest(moved)
        self._begin()

    def _rest(self, path: Path) -> Iterator[bytes]:
        try:
            stream = path.open("rb", buffering=0)
        except OSError:
            return
        with stream:
            stream.seek(self.size)
            while data := stream.read(CHUNK):
                self.size += len(data)
                self._last = (self._last + data)[-_COMPARED:]
                yield data

    def _as_before(self) -> bool:
        if not self._last:
            return True
        try:
            with self.path.open("rb", buffering=0) as stream:
                stream.seek(self.size - len(self._last))
                return stream.read(len(self._last)) == self._last
        except OSError:
            return True

    def _moved(self) -> Path | None:
        """Where the file lies now, if still in its folder."""
        try:
            with os.scandir(self.path.parent) as entries:
                for entry in entries:
                    if self._identity is not None and entry.inode() == self._identity[1] and entry.is_file():
                        return Path(entry.path)
        except OSError:
            pass
        return None


class Followed:
    """One source that grows: a file, or the files of one run in a folder.

    Attributes:
        source: What is followed.
        readable: Whether there was a log in it when it was last looked at.
    """

    def __init__(self, source: Source) -> None:
        """Follow `source`, which names its files. Nothing is read yet."""
        self.source = source
        self.readable = False
        self._growing: Growing | None = None
        self._store: Store | None = None
        self._tails: list[Tail] = []
        self._stamp: tuple[object, ...] | None = None
        self._kept: list[RawLog] | UnreadableLogError = []
        self._given = GivenRows()
        self._event = ""

    def regard(self, source: Source) -> None:
        """Go on with a source that has more files: another event file of the run, another segment."""
        added = [part for part in source.files if part not in self.source.files]
        if added == list(source.files[len(self.source.files) :]) and self._growing is not None and not _packed(source):
            if all(self._growing.join(part) for part in added):
                self._tails += [Tail(part) for part in added]
            else:
                self._forget()
        elif source.files != self.source.files:
            self._forget()
        self.source = source

    def poll(self) -> Growth:
        """What came since the last call; the first one gives what is there.

        Where nothing can be read yet nothing comes; `logs` says why.
        """
        try:
            self._pull()
            before = self._growing
            logs = [] if self._settled else self.logs()
        except UnreadableLogError:
            return Growth(event=self._taken())
        if self._store is not None:
            return Growth(tuple(self._store.fresh()), self._taken())
        if self._growing is None:
            return Growth(tuple(self._given.new(logs)), self._taken())
        fresh = self._growing.fresh()
        new = [] if fresh is None else [fresh]
        if self._growing is not before:
            return Growth(tuple(self._given.new(new)), self._taken())
        self._given.add(len(Growth(tuple(new))))
        return Growth(tuple(new), self._taken())

    @property
    def _settled(self) -> bool:
        """Whether it need not be told anew from all that is there which reader takes it, and whether it is a log."""
        if self._store is not None:
            return self.readable
        return self._growing is not None and sum(tail.size for tail in self._tails) >= SURE

    def logs(self) -> list[RawLog]:
        """The logs so far, as reading the source from its start gives them.

        Raises:
            UnreadableLogError: When there is none, or none yet.
        """
        self.readable = False
        self._pull()
        if self._store is not None:
            logs = self._store.logs()
            self.readable = True
            return logs
        if self._growing is not None:
            try:
                logs = self._growing.logs()
                self.readable = True
                return logs
            except UnreadableLogError:
                if sum(tail.size for tail in self._tails) >= SURE:
                    raise
                self._forget()
        changed = self._changed()
        if changed != self._stamp:
            self._stamp = changed
            try:
                self._kept = read(self.source, self._read)
            except UnreadableLogError as error:
                self._kept = error
            except OSError as error:
                self._kept = UnreadableLogError.of(
                    self.source.name, said("it cannot be read ({error}).", error=reason(error))
                )
        if isinstance(self._kept, UnreadableLogError):
            raise self._kept
        self.readable = True
        return self._kept

    def _taken(self) -> str:
        event, self._event = self._event, ""
        return event

    def _read(self, reader: Reader, source: Source) -> list[RawLog]:
        """Read with a reader, and keep what it is to go on from where it can."""
        self._store = None
        if isinstance(reader, StoreReader) and not _packed(source):
            store = reader.store(source)
            store.pull()
            # Kept also where there is no log in it yet: what comes may not come to the file that names it.
            self._store, self._stamp = store, None
            return store.logs()
        growing = reader.grow(source) if isinstance(reader, GrowingReader) and not _packed(source) else None
        if growing is None:
            return list(reader.read(source))
        tails = [Tail(part) for part in growing.parts]
        for tail in tails:
            tail.look()
            for data in tail.chunks():
                growing.feed(tail.path, data)
        logs = growing.logs()
        if all(log.reader == reader.name for log in logs):
            # Otherwise its only row is a document of another format, which is rewritten as a whole.
            self._growing, self._tails = growing, tails
            self._stamp = None
        return logs

    def _pull(self) -> None:
        """Take in what came to the log that is being read on."""
        if self._store is not None:
            # Between two files of a rotation there is none.
            with contextlib.suppress(OSError):
                if not self._store.pull():
                    self._event = "replaced"
                    self._forget()
                    self._given = GivenRows()
            return
        growing = self._growing
        if growing is None:
            return
        for tail in self._tails:
            event = tail.look()
            if event == "rotated" and growing.outlives_rotation:
                self._event = event
                for data in tail.old_chunks():
                    growing.feed(tail.path, data)
                tail.look()
            elif event:
                self._event = event
                self._forget()
                self._given = GivenRows()
                return
            for data in tail.chunks():
                growing.feed(tail.path, data)

    def _forget(self) -> None:
        self._growing, self._store, self._tails, self._stamp = None, None, [], None

    def _changed(self) -> tuple[object, ...]:
        """The same as long as none of the files changed."""
        return tuple(stamp(file) for file in self.source.files)


def _packed(source: Source) -> bool:
    """Whether any of the files is packed, so that its end cannot be read without its beginning."""
    for path in source.files:
        try:
            with path.open("rb") as stream:
                head = stream.read(len(ZSTD))
        except OSError:
            continue
        if head.startswith(GZIP) or head == ZSTD:
            return True
    return False


class Follow:
    """Paths whose logs are read on from where they were left, whichever files of them come and go."""

    def __init__(
        self, paths: Iterable[str | Path], *, speaks: str | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Follow `paths`.

        Args:
            paths: What `load` takes. They may not exist yet.
            speaks: Name of the dialect, where the logs cannot tell by themselves.
            clock: Seconds; says when folders are searched for new files.
        """
        self._paths, self._speaks, self._clock = [str(path) for path in paths], speaks, clock
        self._followed: dict[Path, Followed] = {}
        self._sources: list[list[Source]] = []
        self._searched = float("-inf")

    def poll(self) -> Growth:
        """The rows that came since the last call, of every log; the first call gives what is there."""
        now = self._clock()
        if now - self._searched >= SEARCH:
            self._searched = now
            self._sources = [[s for s, _ in some if s.files] for path in self._paths for some in choices(path, [])]
        rows: list[RawLog] = []
        event = ""
        for some in self._sources:
            for source in some:
                followed = self._of(source)
                growth = followed.poll()
                rows += growth.rows
                event = event or growth.event
                if followed.readable:
                    break
        return Growth(tuple(rows), event)

    def load(self) -> Loaded:
        """The runs as they are now.

        Raises:
            UnreadableLogError: When nothing at all can be read, or yet.
        """
        return load(self._paths, speaks=self._speaks, read=self._logs)

    def _logs(self, source: Source) -> list[RawLog]:
        return self._of(source).logs() if source.files else read(source)

    def _of(self, source: Source) -> Followed:
        first = source.files[0]
        followed = self._followed.get(first)
        if followed is None:
            followed = self._followed[first] = Followed(source)
        followed.regard(source)
        return followed


def follow(path: str | Path) -> Followed:
    """Follow one file; for folders and patterns there is `Follow`."""
    return Followed(Source.of(Path(path)))
