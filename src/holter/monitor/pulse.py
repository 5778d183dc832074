"""Whether a run still logs: how often rows come, how long ago the last one came, whether the run has ended.

The files say it: when they changed, what a run folder's rows and events say of the time. No row is a fact; that the run is
stuck is an inference from its own pace, and told as one.
"""

from __future__ import annotations

import statistics
from collections import deque
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from holter.findings.finding import Confidence, Evidence, Finding, Severity, step_text
from holter.language import Said, listed, phrase, said
from holter.store import layout
from holter.store.reading import lines

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holter.runs.run import Run

STALLED = 10.0
"""Times as long as a row usually takes, without a row, from which on the run counts as stalled."""
LEAST_STALL = 60.0
"""Seconds without a row below which nothing counts as stalled."""
WINDOW = 20
"""Rows from which the pace is told."""
TAIL = 1 << 16
"""Bytes at the end of a file that are looked at."""
DETECTOR, CODE = "stalled-run", "HLT852"
"""The detector that says the same of a log's own clock, afterwards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pulse:
    """The signs of life of one run.

    Attributes:
        age: Seconds since the last row; None where no file tells.
        gap: Seconds that a row usually takes; None before that is known.
        ended: ``finished`` or ``failed``, where the run says so; else empty.
        why: What ended it.
    """

    age: float | None = None
    gap: float | None = None
    ended: str = ""
    why: str = ""

    @property
    def stalled(self) -> bool:
        """Whether rows came before and no longer do, and the run has not said that it ended."""
        if self.ended or self.age is None or self.gap is None:
            return False
        return self.age > max(LEAST_STALL, STALLED * self.gap)

    def later(self, seconds: float) -> Pulse:
        """The same pulse after some time in which nothing came."""
        return self if self.age is None else replace(self, age=self.age + seconds)

    @property
    def says(self) -> str:
        """In words, for one line."""
        parts = [said("{n} rows a minute", n=f"{60 / self.gap:.3g}")] if self.gap else []
        if self.age is not None:
            parts.append(
                said("last row just now") if self.age < 1 else said("last row {span} ago", span=span(self.age))
            )
        if self.ended:
            parts.append(phrase(self.ended))
        elif self.stalled:
            parts.append(said("STALLED"))
        return listed(parts, " · ")

    def finding(self, run: Run) -> Finding | None:
        """What is wrong with the run's life; None where nothing is."""
        if not len(run) or not (self.stalled or self.ended == "failed"):
            return None
        step = float(run.steps[-1])
        if self.ended == "failed":
            title = said("the run broke off after step {step}", step=step_text(step))
            if self.why:
                title = said("{what}: {why}", what=title, why=self.why)
            severity, confidence = Severity.CRITICAL, Confidence.CERTAIN
            advice: tuple[Said, ...] = (
                said("Read the error, mend its cause, and resume from the last good checkpoint."),
            )
            says = said("the run's own record of its end")
        else:
            assert self.gap is not None, "nothing is stalled without a pace"
            title = said(
                "no row for longer than {limit}; one came every {gap}",
                limit=span(max(LEAST_STALL, STALLED * self.gap)),
                gap=span(self.gap),
            )
            severity, confidence = Severity.WARNING, Confidence.MODERATE
            advice = (
                said(
                    "See whether the process is alive, and what it waits for: a reward service, a sampler, a collective, a "
                    "disk."
                ),
                said("Give remote rewards, environments and collectives a timeout."),
            )
            says = said("seconds since the last row")
        return Finding(
            detector=DETECTOR,
            code=CODE,
            severity=severity,
            confidence=confidence,
            title=title,
            first_step=step,
            last_step=step,
            onset=(step, step),
            raised_step=step,
            active=True,
            evidence=(
                Evidence(
                    metric="time since the last row",
                    key="",
                    steps=(step,),
                    values=(self.age or 0.0,),
                    unit="s",
                    says=says,
                ),
            ),
            advice=advice,
        )


class PulseTaker:
    """Takes the pulse of one run again and again."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque(maxlen=WINDOW)

    def take(self, run: Run, now: float) -> Pulse:
        """The pulse now.

        Args:
            run: The run as it was read last.
            now: Wall-clock time, seconds since 1970.
        """
        return self.of(Path(run.path), len(run), now)

    def of(self, path: Path, rows: int, now: float) -> Pulse:
        """The pulse of a log, of which so many rows were read."""
        folder = next((f for f in (path, path.parent) if f.is_dir() and layout.is_run_folder(f)), None)
        if folder is not None and (times := _times(folder)):
            ended, why = _end(folder)
            gaps = [b - a for a, b in pairwise(times) if b > a]
            gap = statistics.median(gaps) if gaps else None
            return Pulse(age=max(0.0, now - times[-1]), gap=gap, ended=ended, why=why)
        changed = _changed(path)
        if changed is None:
            return Pulse()
        if not self._seen or rows != self._seen[-1][1]:
            if self._seen and rows < self._seen[-1][1]:
                self._seen.clear()
            self._seen.append((changed, rows))
        (then, before), (newest, after) = self._seen[0], self._seen[-1]
        gap = (newest - then) / (after - before) if after > before and newest > then else None
        return Pulse(age=max(0.0, now - changed), gap=gap)


def span(seconds: float) -> Said:
    """A length of time in words."""
    if (days := int(seconds // 86400)) > 0:
        return said("1 day") if days == 1 else said("{n} days", n=days)
    if (hours := int(seconds // 3600)) > 0:
        return said("1 hour") if hours == 1 else said("{n} hours", n=hours)
    if (minutes := int(seconds // 60)) > 0:
        return said("1 minute") if minutes == 1 else said("{n} minutes", n=minutes)
    return said("{n} s", n=f"{seconds:.0f}" if seconds >= 10 else f"{seconds:.2g}")


def _changed(path: Path) -> float | None:
    """When the newest file of a log changed."""
    files = path.iterdir() if path.is_dir() else [path]
    times = []
    for file in files:
        try:
            times.append(file.stat().st_mtime)
        except OSError:
            continue
    return max(times, default=None)


def _times(folder: Path) -> list[float]:
    """When the newest rows of a run folder were logged, oldest first."""
    newest = [n for n in layout.segment_numbers(folder) if layout.metrics_file(folder, n).exists()]
    return _numbers(_tail(layout.metrics_file(folder, newest[-1])), "time")[-WINDOW:] if newest else []


def _end(folder: Path) -> tuple[str, str]:
    """How the newest segment ended, and why; empty where it has not said so."""
    newest = max(layout.segment_numbers(folder), default=0)
    for row in reversed(list(_tail(layout.findings_file(folder)))):
        if row.get("kind") in ("finished", "failed") and row.get("segment", 0) == newest:
            return str(row["kind"]), str(row.get("why", ""))
    return "", ""


def _tail(file: Path) -> Iterable[dict[str, object]]:
    """The whole lines at the end of a file."""
    try:
        size = file.stat().st_size
    except OSError:
        return []
    # The first line may begin in the middle; it is then broken, or lacks what is asked for.
    return [line.row for line in lines(file, offset=max(0, size - TAIL)) if isinstance(line.row, dict)]


def _numbers(rows: Iterable[dict[str, object]], name: str) -> list[float]:
    return [float(v) for row in rows if isinstance(v := row.get(name), int | float)]
