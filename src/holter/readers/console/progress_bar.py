"""The step of rows that say none, from the progress bar beside them.

The Hugging Face Trainer prints its rows without a step, around a bar that shows one. The bar is believed only where the steps
that it gives are evenly apart, as logging every so many steps makes them: a bar that was written late is not.
"""

from __future__ import annotations

import re
from array import array
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

HINT = "%|"
_BAR = re.compile(r"\s*\d{1,3}%\|[^|]*\| *(\d{1,9})/(\d{1,9}) \[")
_MOST_BARS = 6
"""Bars of different lengths that are followed."""


class ProgressBars:
    """Follows the bars of a console that have no title, as the bar over a training run has none."""

    def __init__(self, before: ProgressBars | None = None) -> None:
        """Begin; with the bars that were seen before the first row."""
        self._now: dict[int, int] = dict(before._now) if before is not None else {}
        self._before: dict[int, array[float]] = {}
        self._after: dict[int, array[float]] = {}
        self.rows = 0

    def line(self, line: str) -> None:
        """Look for a bar at the beginning of a line."""
        found = _BAR.match(line)
        if found is None:
            return
        done, total = int(found[1]), int(found[2])
        if total not in self._now and len(self._now) >= _MOST_BARS:
            return
        self._now[total] = done
        after = self._after.setdefault(total, array("d"))
        if len(after) < self.rows:
            # Only the newest row is known to belong to what the bar shows.
            after.extend([float("nan")] * (self.rows - len(after) - 1))
            after.append(float(done))

    def row(self) -> None:
        """A row was printed here."""
        for total, done in self._now.items():
            before = self._before.setdefault(total, array("d"))
            before.extend([float("nan")] * (self.rows - len(before)))
            before.append(float(done))
        self.rows += 1

    def steps(self, training: Sequence[int]) -> NDArray[np.float64] | None:
        """The step of every row; None where no bar gives steps that are evenly apart.

        Args:
            training: Whether each row is one that the trainer prints at regular steps.
        """
        regular = np.asarray(training, bool)
        for total in sorted(self._now, reverse=True):
            for seen in (self._after, self._before):
                steps = self._completed(seen, total)
                if _evenly_apart(steps[regular]):
                    return steps
            filled = _filled_in(self._side(self._after, total), regular)
            if filled is not None:
                return filled
        return None

    def _side(self, seen: Mapping[int, array[float]], total: int) -> NDArray[np.float64]:
        side = seen.get(total, ())
        return np.array([*side, *[np.nan] * (self.rows - len(side))], np.float64)

    def _completed(self, seen: Mapping[int, array[float]], total: int) -> NDArray[np.float64]:
        """One side's steps; rows for which it has none get the other side's."""
        out = self._side(seen, total)
        for other in (self._before, self._after):
            out = np.where(np.isnan(out), self._side(other, total), out)
        return out


_FEWEST = 3
_MOST_STARTS = 0.1
"""Share of the rows at which a new run may begin."""


def _filled_in(steps: NDArray[np.float64], regular: NDArray[np.bool_]) -> NDArray[np.float64] | None:
    """The steps of all rows from those that are known, where those lie on one line over the regular rows."""
    order = np.cumsum(regular) - 1.0
    known = np.flatnonzero(~np.isnan(steps) & regular)
    if len(known) < _FEWEST:
        return None
    first, last = known[0], known[-1]
    interval = (steps[last] - steps[first]) / (order[last] - order[first])
    line = steps[first] + interval * (order - order[first])
    if interval < 1 or interval % 1 or (line[known] != steps[known]).any() or line[0] < 0:
        return None
    out: NDArray[np.float64] = line
    return out


def _evenly_apart(steps: NDArray[np.float64]) -> bool:
    """Whether steps rise by the same number nearly always, and by multiples of it where rows are missing."""
    if len(steps) < 2 or np.isnan(steps).any():
        return False
    apart = np.diff(steps)
    rising = apart[apart > 0]
    if not len(rising) or (apart == 0).any():
        return False
    interval = float(np.median(rising))
    odd = int(np.count_nonzero(rising % interval))
    starts = 1 + int(np.count_nonzero(apart < 0))
    # The first step and the last one may be logged out of turn, in every run of the text.
    mostly = 2 * int(np.count_nonzero(rising == interval)) > len(rising)
    return odd <= 2 * starts and mostly and float((apart < 0).mean()) < _MOST_STARTS
