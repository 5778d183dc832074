"""Finished runs, watched once more: when would people have been told, and how often wrongly?"""

from __future__ import annotations

import statistics
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from holter.alerts import Alert, Ledger
from holter.findings.diagnosis import diagnose
from holter.findings.finding import Severity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holter.monitor.label import Label
    from holter.runs.run import Run
    from holter.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """A finished run and what would have been told of it.

    Attributes:
        run: The run.
        label: What is known of it.
        told: Findings that open or worsen, in the order in which people would have heard of them.
    """

    run: Run
    label: Label
    told: tuple[Alert, ...]

    @property
    def first(self) -> Alert | None:
        """The first alert that is no false one; of a healthy run there is none."""
        return next((a for a in self.told if not self.is_false(a)), None)

    @property
    def wrongly(self) -> tuple[Alert, ...]:
        """Alerts of a healthy run, or from before the trouble began."""
        return tuple(a for a in self.told if self.is_false(a))

    def is_false(self, alert: Alert) -> bool:
        """Whether nothing was wrong yet when it was told."""
        if self.label.healthy:
            return True
        return self.label.onset is not None and alert.step < self.label.onset

    @property
    def delay(self) -> int | None:
        """Logged rows from the beginning of the trouble to the first alert; None where either is unknown."""
        if self.first is None or self.label.onset is None:
            return None
        onset, told = np.searchsorted(self.run.steps, [self.label.onset, self.first.step], side="right").tolist()
        return int(told - onset)


def replay(run: Run, label: Label, settings: Settings) -> Replayed:
    """Watch a run again.

    Detectors say of a prefix what they say of it afterwards, and every finding names the step at which it could first be
    said. So the run is looked at up to each of those steps and at its end, not at every row. There is no cool-down: a log
    need not hold the time.

    Args:
        run: The finished run.
        label: What is known of it.
        settings: Which detectors, with which limits, and what counts as news.
    """
    if not len(run):
        return Replayed(run=run, label=label, told=())
    floor = Severity[settings.alerts.floor.upper()]
    ledger = Ledger.of(replace(settings.alerts, cool_down=0.0))
    afterwards = [f for f in diagnose(run, settings).findings if f.severity >= floor]
    quiet = run.steps[min(settings.alerts.quiet_rows, len(run) - 1)]
    looks = sorted({*(f.raised_step for f in afterwards), float(quiet), float(run.steps[-1])})
    told: list[Alert] = []
    for number, step in enumerate(looks):
        prefix = run.until(step)
        if not len(prefix):
            continue
        found = diagnose(prefix, settings)
        alerts = ledger.update(
            found.findings,
            rows=len(prefix),
            step=float(prefix.steps[-1]),
            now=float(number),
            last_good_step=found.last_good_step,
            run=run.name,
        )
        told += [a for a in alerts if a.told and a.kind != "resolved"]
    return Replayed(run=run, label=label, told=tuple(told))


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What several replays come to.

    Attributes:
        runs: All runs.
        sick: Those that are known to be sick, `caught` of which were told of.
        caught: Sick runs with an alert that is not a false one.
        healthy: Those that are known to be healthy, `disturbed` of which were told of.
        disturbed: Healthy runs with an alert.
        early: Sick runs with an alert from before the trouble began.
        delay: Median delay over the sick runs where it is known, in logged rows.
        detectors: By detector: runs in which it told rightly, wrongly, and of which nobody knows.
    """

    runs: int
    sick: int
    caught: int
    healthy: int
    disturbed: int
    early: int
    delay: float | None
    detectors: dict[str, tuple[int, int, int]]


def tally(replays: Sequence[Replayed]) -> Tally:
    """Count."""
    sick = [r for r in replays if r.label.healthy is False]
    healthy = [r for r in replays if r.label.healthy]
    delays = [d for r in sick if (d := r.delay) is not None]
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for each in replays:
        for name in {a.finding.detector for a in each.told}:
            mine = [a for a in each.told if a.finding.detector == name]
            right = any(not each.is_false(a) for a in mine)
            counts[name][2 if each.label.healthy is None else 0 if right else 1] += 1
    return Tally(
        runs=len(replays),
        sick=len(sick),
        caught=sum(r.first is not None for r in sick),
        healthy=len(healthy),
        disturbed=sum(bool(r.told) for r in healthy),
        early=sum(bool(r.wrongly) for r in sick),
        delay=statistics.median(delays) if delays else None,
        detectors={n: (c[0], c[1], c[2]) for n, c in sorted(counts.items(), key=lambda i: (-i[1][1], i[0]))},
    )
