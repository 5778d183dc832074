"""Keeps a tracker's trouble away from training.

A tracker may raise, hang, run out of quota or lose the network. Here it lives in a thread of its own behind a bounded queue:
training hands a row over in microseconds and goes on. A row that a tracker did not take is kept and offered again, in order;
what the queue cannot hold is read back from the run folder, which has every row. One line of warning says so, once.

A tracker that holds Python's interpreter lock without releasing it cannot be kept away by a thread; none that is known does.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol

from holter.errors import reason
from holter.language import said, told
from holter.sinks.base import Configurable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from holter.sinks.base import Sample, Sink, Values
    from holter.store.manifest import Manifest

log = logging.getLogger("holter")

QUEUE = 1000
"""Rows and tables that wait in memory."""
ATTEMPTS = 3
"""Failures after which another row is tried: one that a tracker cannot take must not dam up those behind it."""
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 60.0
"""Seconds between tries, doubling."""
PATIENCE = 5.0
"""Seconds that one call may take before the tracker counts as hanging."""
OPENING = 60.0
"""Seconds that opening may take: trackers start processes then, and ask servers that they have not asked before."""


class Replay(Protocol):
    """Reads rows back from the run folder."""

    def __call__(self, time: float) -> Iterator[tuple[float, Values]]:
        """Steps and rows that were logged after `time`, oldest first."""
        ...


@dataclass(slots=True, eq=False)
class _Call:
    """Something for the tracker to do.

    Attributes:
        act: The call.
        logged: Time at which the row was logged, None for what is no row.
        counted: Whether it is a row or a table, which are counted.
        failures: How often it failed.
    """

    act: Callable[[], None]
    logged: float | None = None
    counted: bool = True
    failures: int = 0


class Isolated:
    """A sink that hands everything to another one in a thread. Nothing here raises, and only `close` waits."""

    def __init__(
        self,
        sink: Sink,
        *,
        replay: Replay | None = None,
        queue: int = QUEUE,
        first_pause: float = FIRST_PAUSE,
        patience: float = PATIENCE,
        opening: float = OPENING,
    ) -> None:
        """Wrap `sink`; the thread starts with `open`.

        Args:
            sink: The tracker.
            replay: Reads back rows that the queue could not hold; the run folder must take each row before this sink
                does. Without it such rows are lost, and counted.
            queue: Most rows and tables that wait in memory.
            first_pause: Seconds before the second try of a call.
            patience: Seconds that one call may take before the tracker counts as hanging.
            opening: Seconds that opening may take.
        """
        self.name = sink.name
        self.sink = sink
        self._replay = replay
        self._limit = queue
        self._first_pause = first_pause
        self._patience, self._opening = patience, opening
        self._opened = False
        self._change = threading.Condition()
        self._finishing = threading.Event()
        self._queue: deque[_Call] = deque()
        self._aside: list[_Call] = []
        self._handed_over = 0
        self._arrived = 0
        self._left_to_folder = 0
        self._overflowed = False
        self._newest = float("-inf")
        self._read_back = float("-inf")
        self._failures = 0
        self._calls = 0
        self._called_at: float | None = None
        self._ended = False
        self._warned = False
        self._thread: threading.Thread | None = None

    def open(self, manifest: Manifest) -> None:
        """Start the thread, which opens the tracker."""
        opening = _Call(lambda: self.sink.open(manifest), counted=False)
        self._thread = threading.Thread(target=self._work, args=(opening,), name=f"holter-{self.name}", daemon=True)
        self._thread.start()

    def write(self, step: float, row: Values) -> None:
        """Hand one row over."""
        self._hand_over(_Call(lambda: self.sink.write(step, row), row.get("time")))

    def samples(self, step: float, rows: Sequence[Sample]) -> None:
        """Hand one table over."""
        self._hand_over(_Call(lambda: self.sink.samples(step, rows)))

    def alert(self, title: str, text: str, level: str) -> None:
        """Hand an alert over, where the tracker has alerts: `level` is ``INFO``, ``WARN`` or ``ERROR``."""
        send = getattr(self.sink, "alert", None)
        if send is not None:
            self._hand_over(_Call(lambda: send(title, text, level)))

    def configure(self, config: Mapping[str, object]) -> None:
        """Hand hyper-parameters over, where the tracker keeps them."""
        sink = self.sink
        if isinstance(sink, Configurable):
            self._hand_over(_Call(lambda: sink.configure(config)))

    def close(self) -> None:
        """Let the tracker take what waits, as long as it answers, and say what never arrived."""
        if self._thread is None:
            return
        with self._change:
            # What failed for hours gets its last chance now.
            self._failures = 0
            self._finishing.set()
            self._change.notify_all()
            calls, since = self._calls, self._called_at or time.monotonic()
            while not self._ended and (left := since + self._longest - time.monotonic()) > 0:
                self._change.wait(left)
                if self._calls != calls:
                    calls, since = self._calls, time.monotonic()
            missing = self._handed_over - self._arrived
        if missing:
            log.warning(
                told(
                    "{name}: {n} rows never arrived"
                    if self._replay is None
                    else "{name}: {n} rows never arrived; the run folder has them",
                    name=self.name,
                    n=missing,
                )
            )

    def _hand_over(self, call: _Call) -> None:
        with self._change:
            self._handed_over += 1
            if call.logged is not None and call.logged <= self._read_back:
                # It was in the run folder before it came here, and the thread, catching up, has read it there.
                return
            full = self._overflowed or len(self._queue) >= self._limit
            if not full:
                self._queue.append(call)
            elif self._replay is not None and call.logged is not None:
                # Once a row is left to the run folder all later ones are, until the thread has caught up: order.
                self._overflowed = True
                self._left_to_folder += 1
            self._change.notify_all()
            hanging = self._called_at is not None and time.monotonic() - self._called_at > self._longest
        if hanging:
            self._warn(said("does not answer"))

    @property
    def _longest(self) -> float:
        """Seconds that the call which is being made may take."""
        return self._patience if self._opened else self._opening

    def _warn(self, why: str) -> None:
        if not self._warned:
            self._warned = True
            log.warning(
                told("{name}: {why}; training goes on, and what it missed is sent again later", name=self.name, why=why)
            )

    # The methods below run in the thread.

    def _work(self, opening: _Call) -> None:
        try:
            if self._open(opening):
                while (call := self._next()) is not None:
                    self._offer(call)
                if not self._hopeless():
                    for call in self._aside:
                        self._try(call)
                self._try(_Call(self.sink.close, counted=False))
        finally:
            with self._change:
                self._ended = True
                self._change.notify_all()

    def _open(self, opening: _Call) -> bool:
        """Open the tracker, however long that takes, but try only once more when the run ends."""
        while True:
            last = self._finishing.is_set()
            if self._try(opening):
                self._opened = True
                return True
            if last:
                return False
            self._pause()

    def _next(self) -> _Call | None:
        """What to do next; None at the end."""
        while True:
            with self._change:
                while not (self._queue or self._overflowed or self._finishing.is_set()):
                    self._change.wait()
                if self._hopeless():
                    return None
                if self._queue:
                    return self._queue[0]
                if not self._overflowed:
                    return None
                left = self._left_to_folder
            self._catch_up()
            with self._change:
                # A row lies in the folder before it is left to it: if none was since, all of them were read.
                self._overflowed = self._left_to_folder != left
                self._change.notify_all()

    def _catch_up(self) -> None:
        """Offer the rows that the queue could not hold, from the run folder."""
        assert self._replay is not None, "only rows that can be read back are left to the folder"
        try:
            for step, row in self._replay(self._newest):
                logged = row.get("time")
                with self._change:
                    self._queue.append(_Call(partial(self.sink.write, step, row), logged))
                    self._read_back = self._read_back if logged is None else logged
                while self._queue:
                    self._offer(self._queue[0])
                if self._hopeless():
                    return
        except OSError as error:
            self._warn(said("rows it missed cannot be read back ({error})", error=reason(error)))

    def _offer(self, call: _Call) -> None:
        """Offer the head of the queue until the tracker takes it, or takes the one behind it, or the run ends."""
        while True:
            last = self._finishing.is_set()
            taken = self._try(call)
            if taken or last:
                break
            behind = self._queue[1] if call.failures >= ATTEMPTS and len(self._queue) > 1 else None
            if behind is not None and self._try(behind):
                with self._change:
                    self._queue.remove(behind)
                self._settle(behind)
                break
            self._pause()
        with self._change:
            self._queue.popleft()
        self._settle(call)
        if not taken:
            self._aside.append(call)

    def _settle(self, call: _Call) -> None:
        if call.logged is not None:
            self._newest = max(self._newest, call.logged)

    def _hopeless(self) -> bool:
        """Whether the run ends while the tracker is still down."""
        return self._finishing.is_set() and self._failures >= ATTEMPTS

    def _pause(self) -> None:
        self._finishing.wait(min(LONGEST_PAUSE, self._first_pause * 2 ** min(self._failures - 1, 10)))

    def _try(self, call: _Call) -> bool:
        self._called_at = time.monotonic()
        fault = ""
        try:
            call.act()
        except BaseException as error:
            # Whatever a tracker raises, SystemExit included, must not end the thread that keeps its rows.
            fault = _said(error)
        with self._change:
            self._called_at = None
            self._calls += 1
            self._failures = self._failures + 1 if fault else 0
            if not fault and call.counted:
                self._arrived += 1
            self._change.notify_all()
        if fault:
            call.failures += 1
            self._warn(fault)
        return not fault


def _said(error: BaseException) -> str:
    """A foreign error in one line; its own text may raise, too."""
    kind = type(error).__name__
    try:
        return f"{kind}: {error}".splitlines()[0][:200]
    except Exception:
        return kind
