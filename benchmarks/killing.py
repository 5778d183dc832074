"""What `kill -9` loses: a process logs through `holter.init` and is killed at a random moment, again and again.

    python benchmarks/killing.py [TRIALS]

Each trial forks a process that logs 100 scalars a step as fast as it can, with the monitor on, and says each step after
`run.log` has returned. It is killed within a tenth of a second after its first steps. Then the run folder is read back: steps
that were said and are not there are lost; a line that was torn is one that had not returned.
"""

import os
import random
import select
import signal
import sys
import tempfile
import time
from pathlib import Path

from holter import init  # imported before the processes are forked, not in each of them
from holter.store.reading import rows

SCALARS = 100
FEWEST = 10
"""Steps that a process logs before it may be killed, however slow the machine is."""
LONGEST = 0.1
"""Seconds between these and the latest kill."""


def log_until_killed(folder, said):
    """The child: never returns."""
    run = init(folder, tell=None)
    step = 0
    while True:
        step += 1
        run.log({f"group_{k // 10}/metric_{k}": step + k / 7 for k in range(SCALARS)}, step=step)
        os.write(said, f"{step}\n".encode())


def trial(folder, wait):
    """Steps that one process said it had logged, and those that are in its run folder."""
    hears, said = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(hears)
            log_until_killed(folder, said)
        finally:
            os._exit(1)
    os.close(said)
    heard, end = b"", time.monotonic() + 60
    while time.monotonic() < end:
        # The pipe must be emptied, or the child stops at it and is always killed in the same place.
        if select.select([hears], [], [], max(0.0, end - time.monotonic()))[0]:
            new = os.read(hears, 1 << 16)
            if not new:
                break
            before, heard = heard, heard + new
            if before.count(b"\n") < FEWEST <= heard.count(b"\n"):
                end = time.monotonic() + wait
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while new := os.read(hears, 1 << 16):
        heard += new
    os.close(hears)
    whole = heard[: heard.rfind(b"\n") + 1]
    return {int(step) for step in whole.split()}, {int(row.step) for row in rows(folder)}


def main():
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    rng = random.Random(0)
    logged = lost = silent = 0
    with tempfile.TemporaryDirectory() as place:
        for number in range(trials):
            said, found = trial(Path(place) / str(number), rng.uniform(0, LONGEST))
            logged, lost, silent = logged + len(said), lost + len(said - found), silent + (not said)
    print(f"{trials} processes killed, {silent} of them before their first step; {logged:,} steps logged, {lost} lost")


if __name__ == "__main__":
    main()
