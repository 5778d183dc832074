"""The monitor's thread: rows in, alerts out, training never waits."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Any

from holter.alerts import Alert, Ledger
from holter.errors import reason
from holter.findings.diagnosis import Diagnosis, diagnose
from holter.language import Said, said, told
from holter.monitor.budget import Budget
from holter.monitor.stopping import Stop, StopRule
from holter.monitor.surprise import Surprise
from holter.runs.in_memory import RowsInMemory
from holter.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from holter.store.manifest import Manifest

log = logging.getLogger("holter")

GATHERING = 0.02
"""Seconds in which rows gather before they are taken."""
PATIENCE = 60.0
"""Seconds that the end of a run waits for the last look."""


class Monitor:
    """Runs the detectors over the rows logged so far, in a thread of its own. A sink: a recorder feeds it like any other.

    Looks are as frequent as their cost allows (`holter.monitor.budget`), sooner where a metric jumps. The first value of a
    metric that is not finite is looked at at once, and so are the last rows when the run ends.

    Attributes:
        looks: How often the detectors have looked.
        seconds: CPU time that it took, all looks together.
        stop: Why the run should stop; None where it should not.
        diagnosis: What was said at the newest look; None before the first.
    """

    name = "monitor"

    def __init__(
        self,
        *,
        settings: Settings | None = None,
        stop_on: StopRule | None = None,
        ledger: Ledger | None = None,
        tell: Callable[[Alert], None] | None = None,
        note: Callable[[Mapping[str, object]], None] | None = None,
        name: str = "run",
        before: Path | None = None,
        clock: Callable[[], float] = time.monotonic,
        budget: Budget | None = None,
        patience: float = PATIENCE,
    ) -> None:
        """Watch one run.

        Args:
            settings: Which detectors, with which limits.
            stop_on: When the run should stop.
            ledger: Decides what is news.
            tell: Called with every alert that people should hear of. May raise, and may take its time: training does not wait.
            note: Called with the record of every alert.
            name: What findings call the run.
            before: Run folder that is resumed; what was known of its older segments is not told again.
            clock: Monotonic time.
            budget: What looks may cost.
            patience: Seconds that `close` waits for the last look.
        """
        self._settings = settings or Settings()
        self._rule = stop_on or StopRule()
        self._ledger = ledger or Ledger.of(self._settings.alerts)
        self._tell, self._note = tell, note
        self._name, self._before = name, before
        self._clock, self._patience = clock, patience
        self._budget = budget or Budget(clock())
        self._rows: RowsInMemory | None = None
        self._change = threading.Condition()
        self._waiting: deque[dict[str, object]] = deque()
        self._given = self._taken = self._looked = 0
        self._asked = self._finishing = self._ended = False
        self._known_until = -math.inf
        self._surprise = Surprise()
        self._warned: set[str] = set()
        self._thread: threading.Thread | None = None
        self.looks, self.seconds = 0, 0.0
        self.stop: Stop | None = None
        self.diagnosis: Diagnosis | None = None

    @property
    def should_stop(self) -> bool:
        """Whether the run should stop; `stop` says why."""
        return self.stop is not None

    # A sink's methods, called by the thread that trains.

    def open(self, manifest: Manifest) -> None:
        """Start watching."""
        self._rows = RowsInMemory(self._name, config=manifest.config, before=self._before)
        self._thread = threading.Thread(target=self._work, name="holter-monitor", daemon=True)
        self._thread.start()

    def write(self, step: float, row: Mapping[str, float | int | None]) -> None:
        """Take one row; returns at once."""
        kept: dict[str, object] = dict(row)
        kept["step"] = step
        with self._change:
            self._waiting.append(kept)
            self._given += 1
            if len(self._waiting) == 1:
                self._change.notify_all()

    def samples(self, step: float, rows: Sequence[Mapping[str, object]]) -> None:
        """Left aside: detectors read metrics."""

    def close(self) -> None:
        """Look at what is left, and end."""
        if self._thread is None:
            return
        with self._change:
            self._finishing = True
            self._change.notify_all()
            if not self._change.wait_for(lambda: self._ended, self._patience):
                log.warning(
                    told("monitor: the last look takes too long; `holter check` will say what it would have said")
                )

    def settle(self, timeout: float | None = None) -> bool:
        """Wait until every row given so far is looked at, whatever that costs; False when `timeout` seconds did not do."""
        with self._change:
            given = self._given
            if self._thread is None:
                return True
            self._asked = True
            self._change.notify_all()
            return self._change.wait_for(lambda: self._looked >= given or self._ended, timeout)

    # The thread's own.

    def _work(self) -> None:
        try:
            while self._take():
                self._look()
        finally:
            with self._change:
                self._ended = True
                self._change.notify_all()

    def _take(self) -> bool:
        """Wait until a look is due and paid for; False at the end."""
        assert self._rows is not None, "open() comes first"
        urgent = jumped = False
        while True:
            with self._change:
                rest = self._budget.rest(self._clock()) if self._taken > self._looked else None
                self._change.wait_for(lambda: self._waiting or self._finishing or self._asked, rest)
                # Waking a thread at every row would cost training more than the row does.
                self._change.wait_for(lambda: self._finishing or self._asked, GATHERING)
                rows = list(self._waiting)
                self._waiting.clear()
                asked, self._asked = self._asked, False
                finishing = self._finishing
            for row in rows:
                urgent = self._surprise.first_not_finite(row) or urgent
                jumped = self._surprise.jumps(row) or jumped
                self._grow(row)
            self._taken += len(rows)
            self._budget.earn(self._clock(), len(rows))
            if self._taken == self._looked:
                if finishing:
                    return False
                continue
            worth = self._budget.affordable or (jumped and self._budget.free_of_debt)
            if urgent or asked or finishing or worth:
                return True

    def _grow(self, row: dict[str, object]) -> None:
        assert self._rows is not None, "open() comes first"
        try:
            if self._rows.has_history:
                step = row["step"]
                self._rows.read_history(float(step) if isinstance(step, int | float) else math.inf)
                self._update(silent=True)
            self._rows.add(row)
        except Exception as error:
            # Whatever a row or an older segment holds: the record is on the disk, and training must go on.
            self._complain(said("a row could not be watched ({error})", error=reason(error)))

    def _look(self) -> None:
        began = time.thread_time()
        try:
            self._update()
        except Exception as error:
            self._complain(
                said("the detectors could not look ({kind}: {error})", kind=type(error).__name__, error=reason(error))
            )
        took = time.thread_time() - began
        self.looks, self.seconds = self.looks + 1, self.seconds + took
        self._budget.spend(took)
        with self._change:
            self._looked = self._taken
            self._change.notify_all()

    def _update(self, *, silent: bool = False) -> None:
        assert self._rows is not None, "open() comes first"
        run = self._rows.run()
        if run is None:
            return
        found = diagnose(run, self._settings)
        alerts = self._ledger.update(
            found.findings,
            rows=len(run),
            step=float(run.steps[-1]),
            now=self._clock(),
            silent=silent,
            last_good_step=found.last_good_step,
            run=self._name,
        )
        self.diagnosis = found
        if silent:
            self._known_until = float(run.steps[-1])
        elif self.stop is None:
            self.stop = self._rule.applied(found, after=self._known_until)
            if self.stop is not None:
                self._send(self._note, self.stop.record())
        for alert in alerts:
            self._send(self._note, alert.record())
            if alert.told:
                self._send(self._tell, alert)

    def _send(self, call: Callable[[Any], None] | None, news: object) -> None:
        if call is None:
            return
        try:
            call(news)
        except Exception as error:
            self._complain(
                said("an alert could not be sent ({kind}: {error})", kind=type(error).__name__, error=reason(error))
            )

    def _complain(self, why: Said) -> None:
        """One warning a kind of trouble."""
        if why.template not in self._warned:
            self._warned.add(why.template)
            log.warning(told("monitor: {why}; training goes on", why=why))
