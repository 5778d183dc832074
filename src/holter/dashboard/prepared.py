"""What a page shows of a run, made once a version and kept, so that who asks again, or for what changed, is answered at once."""

from __future__ import annotations

import itertools
import secrets
import threading
import weakref
from collections import OrderedDict, deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from holter.dashboard.frames import Columns
from holter.dashboard.pending import unjudged
from holter.reports.html.page import texts
from holter.reports.html.payload import payload

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holter.dashboard.entry import Entry
    from holter.runs.run import Run

MOST_KEPT = 64
"""Runs, each at one number of points, that are kept; one takes a few megabytes."""
PROCESS = secrets.token_hex(4)
"""Part of every version: a browser that outlived a server does not take the next one's for those that it has."""
_numbers = itertools.count(1)
VERSIONS = 3
"""Versions of each: the newest, and those that browsers still show."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """One version of a run as it is sent.

    Attributes:
        id: `Entry.id`.
        version: Different for everything that was ever prepared.
        source: The run it was made of, which is not kept alive for it, and `Entry.version` of it.
        run: The run of the payload; numbers stand for its columns.
        columns: The columns by these numbers.
        signals: Pages of the signals in it.
        detectors: Pages of the detectors that say something.
        texts: What it says, in every language but English.
    """

    id: str
    version: str
    source: tuple[weakref.ref[Run], int]
    run: Mapping[str, Any]
    columns: Columns
    signals: Mapping[str, Any]
    detectors: Mapping[str, Any]
    texts: Mapping[str, Mapping[str, str]]

    def shows(self, entry: Entry) -> bool:
        """Whether it is this version of the run."""
        run, version = self.source
        return run() is entry.run and version == entry.version


def prepare(entry: Entry, most: int) -> Prepared:
    """A run's page.

    Args:
        entry: A run that was read: its newest rows, under what was said of the rows that were judged last.
        most: Values of one series, roughly.
    """
    assert entry.run is not None, "only what was read is shown"
    columns = Columns()
    judged = unjudged(entry.run) if entry.diagnosis is None else replace(entry.diagnosis, run=entry.run)
    page = payload([judged], most=most, write=columns.put)
    [run] = page["runs"]
    return Prepared(
        id=entry.id,
        version=f"{PROCESS}.{next(_numbers)}",
        source=(weakref.ref(entry.run), entry.version),
        run={**run, "name": entry.name},
        columns=columns,
        signals=page["signals"],
        detectors=page["detectors"],
        texts=texts(page),
    )


@dataclass(slots=True)
class _Place:
    lock: threading.Lock = field(default_factory=threading.Lock)
    made: deque[Prepared] = field(default_factory=lambda: deque(maxlen=VERSIONS))


class Shelf:
    """Prepared runs; readers may ask from any thread."""

    def __init__(self) -> None:
        """Nothing is made before it is asked for."""
        self._places: OrderedDict[tuple[str, int], _Place] = OrderedDict()
        self._lock = threading.Lock()

    def newest(self, entry: Entry, most: int) -> Prepared:
        """A run as it is; made at most once however many ask for it at a time."""
        place = self._place(entry.id, most)
        with place.lock:
            if not place.made or not place.made[-1].shows(entry):
                place.made.append(prepare(entry, most))
            return place.made[-1]

    def older(self, id: str, most: int, version: str) -> Prepared | None:
        """A version that was sent before; None where it is not kept any more."""
        place = self._place(id, most)
        with place.lock:
            return next((each for each in place.made if each.version == version), None)

    def _place(self, id: str, most: int) -> _Place:
        with self._lock:
            place = self._places.setdefault((id, most), _Place())
            self._places.move_to_end((id, most))
            while len(self._places) > MOST_KEPT:
                self._places.popitem(last=False)
            return place
