"""How often the monitor looks: as often as it can afford.

A look costs what ``holter check`` costs on the record so far, from tens of milliseconds to seconds. Looking at every row
of a long run would be quadratic; looking at every hundredth would be blind at the start, where runs blow up. So looks are
paid for: every row brings a little time, every second of training a small share of itself, and a start-up credit lets a
run be watched row by row while it is short. Steps of seconds are looked at one by one; steps of milliseconds are looked
at ever more rarely, and sooner where a metric jumps: that look is taken on credit and paid for by the rows after it.

Credit alone would let the looks at a run of very short steps take as long as the steps do. So after each look there is a rest,
some twenty times what it took: a second where the run is short. Rows that came meanwhile are looked at then, whether another
one comes or not.
"""

from __future__ import annotations

PER_ROW = 0.5e-3
"""Seconds of looking that a row brings, whatever it took to make."""
SHARE = 0.02
"""Share of the wall-clock time of training that may be spent looking."""
CREDIT = 5.0
"""Seconds of looking at the start."""
BUSIEST = 0.05
"""Share of the time between two looks that the first may have taken, however much credit there is."""
MOST = 30.0
"""Seconds of looking that can be saved up."""


class Budget:
    """Time for looks: earned by rows and by the clock, spent by looking."""

    def __init__(
        self,
        now: float,
        *,
        per_row: float = PER_ROW,
        share: float = SHARE,
        credit: float = CREDIT,
        most: float = MOST,
        busiest: float = BUSIEST,
    ) -> None:
        """Begin at `now` with `credit`.

        Args:
            now: Monotonic time, seconds.
            per_row: Seconds that a row brings at least.
            share: Share of the time between rows that it brings where that is more.
            credit: Seconds at the start.
            most: Most seconds that can be saved up.
            busiest: Share of the time until the next look that a look may take.
        """
        self._busiest, self._rested = busiest, now
        self._per_row, self._share, self._most = per_row, share, most
        self._held, self._then, self._price = credit, now, 0.0

    @property
    def affordable(self) -> bool:
        """Whether another look as dear as the last one is paid for, and the rest after that one over."""
        return self._held >= self._price and self._then >= self._rested

    def rest(self, now: float) -> float | None:
        """Seconds of rest that are left; None where rest is not all that the next look waits for."""
        return max(0.0, self._rested - now) if self._held >= self._price else None

    @property
    def free_of_debt(self) -> bool:
        """Whether all looks so far are paid for, so that one more may be taken on credit."""
        return self._held >= 0

    def earn(self, now: float, rows: int = 1) -> None:
        """`rows` came in until `now`, or none did."""
        gained = max(rows * self._per_row, self._share * (now - self._then))
        self._held, self._then = min(self._held + gained, self._most), now

    def spend(self, seconds: float) -> None:
        """A look took so long; one that could not be afforded is paid for by later rows."""
        self._held -= seconds
        self._price = seconds
        self._rested = self._then + seconds / self._busiest
