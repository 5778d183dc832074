"""What watching costs: a made run is logged row by row at a pace, and the detectors look as often as they can afford.

    python benchmarks/monitoring.py [ROWS] [MILLISECONDS_A_ROW]

`training` is the CPU time of the thread that logs, a row; `looking` that of the monitor's thread, a row, amortised over the run,
with and without the look at the end; then how many rows lay between two looks, at the start and at the end.
"""

import sys
import time
from itertools import pairwise

from holter.monitor import Monitor
from holter.simulation.run import simulate
from holter.store.manifest import describe

BURST = 10
"""Rows between two pauses; a timer is not finer than that."""


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    pace = float(sys.argv[2]) / 1e3 if len(sys.argv) > 2 else 0.8e-3
    rows = [dict(row) for row in simulate("grpo", None, rows=count, seed=1).rows]
    monitor = Monitor()
    monitor.open(describe())
    at = []
    began = time.thread_time()
    for number, row in enumerate(rows, start=1):
        if monitor.looks > len(at):
            at.append(number)
        monitor.write(row.pop("step"), {"time": float(number), **row})
        if number % BURST == 0:
            time.sleep(BURST * pace)
    training = time.thread_time() - began
    before = monitor.seconds
    monitor.close()
    apart = [b - a for a, b in pairwise(at)]
    print(f"{count:,} rows of {len(rows[0])} values, {1e3 * pace:g} ms a row")
    print(f"training {1e6 * training / count:.1f} us a row")
    print(f"looking  {1e3 * before / count:.3f} ms a row, {1e3 * monitor.seconds / count:.3f} with the look at the end")
    print(f"looks    {monitor.looks}: every {apart[:5]} rows at the start, every {apart[-5:]} at the end")


if __name__ == "__main__":
    main()
