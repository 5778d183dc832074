"""Where the time of a step goes, by phase."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class Clock:
    """Seconds spent in each phase since the last look.

    On an accelerator work is queued, and the time a call takes says nothing. So events are put into the queue, and looked at
    when the step is logged, when the host waits for the device anyway.
    """

    def __init__(self, device: torch.device) -> None:
        """Time work on `device`."""
        self._queued = device.type == "cuda"
        self._seconds: dict[str, float] = {}
        self._events: list[tuple[str, torch.cuda.Event, torch.cuda.Event]] = []

    @contextmanager
    def __call__(self, phase: str) -> Iterator[None]:
        """Time what happens inside."""
        if self._queued:
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
        start = time.perf_counter()
        try:
            yield
        finally:
            if self._queued:
                end.record()
                self._events.append((phase, begin, end))
            else:
                self._seconds[phase] = self._seconds.get(phase, 0.0) + time.perf_counter() - start

    def take(self) -> dict[str, float]:
        """Seconds by phase since the last time. On an accelerator call it after the device was waited for."""
        for phase, begin, end in self._events:
            end.synchronize()
            self._seconds[phase] = self._seconds.get(phase, 0.0) + begin.elapsed_time(end) / 1000
        self._events = []
        seconds, self._seconds = self._seconds, {}
        return seconds

    def state(self) -> dict[str, float]:
        """Seconds by phase so far, for a checkpoint; nothing is forgotten."""
        self._seconds = self.take()
        return dict(self._seconds)

    def restore(self, seconds: Mapping[str, float]) -> None:
        """Go on from what `state` gave."""
        self._seconds, self._events = dict(seconds), []
