"""Whatever happens to disks, trackers and processes: training goes on, and what was logged is kept."""

from __future__ import annotations

import logging
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from itertools import pairwise
from pathlib import Path

import pytest

from holter.runs.load import load
from holter.sinks import registry
from holter.sinks.base import Tracker
from holter.sinks.isolated import QUEUE, Isolated
from holter.sinks.registry import all_trackers
from holter.store import line_file
from holter.store.line_file import LineFile
from tests.full_disk import disk_of
from tests.patience import PATIENCE

ROOT = Path(__file__).parents[2]


class Moody:
    """A tracker whose calls wait for a gate, and raise while it is down."""

    name = "moody"

    def __init__(self) -> None:
        self.gate, self.down = threading.Event(), threading.Event()
        self.entered, self.refused = threading.Event(), threading.Event()
        self.rows: list[tuple[float, float]] = []

    def _call(self) -> None:
        self.entered.set()
        self.gate.wait()
        if self.down.is_set():
            self.refused.set()
            raise ConnectionError("402: quota exceeded")

    def open(self, manifest):
        pass

    def write(self, step, row):
        self._call()
        self.rows.append((step, row["kl"]))

    def samples(self, step, rows):
        self._call()

    def close(self):
        pass


@pytest.fixture
def moody(monkeypatch):
    """A tracker that is found as one that is installed, and may take as long as the machine does."""
    monkeypatch.setitem(Isolated.__init__.__kwdefaults__, "patience", PATIENCE)
    sink = Moody()
    found = {**all_trackers(), "moody": Tracker(name="moody", title="", create=lambda to: sink)}
    monkeypatch.setattr(registry, "all_trackers", lambda: found)
    yield sink
    sink.gate.set()


def test_a_tracker_that_hangs_holds_up_nothing_and_gets_every_row_when_it_comes_back(begin, moody, lines, caplog):
    run = begin(report_to="moody")
    steps = range(1, QUEUE + 501)
    for step in steps:
        run.log({"kl": step / 8}, step=step)
    moody.entered.wait()
    # All rows are logged, and its first one has not yet been taken: training has not waited.
    assert moody.rows == []
    assert len(lines(run.path / "metrics-0.jsonl")) == len(steps)
    moody.gate.set()
    run.finish()
    assert moody.rows == [(step, step / 8) for step in steps]
    assert not caplog.records


def test_a_tracker_out_of_quota_costs_one_line_and_gets_its_rows_at_the_end(begin, moody, caplog):
    moody.down.set()
    moody.gate.set()
    run = begin(report_to="moody")
    for step in range(1, 101):
        run.log({"kl": 0.5}, step=step)
    run.log_samples([{"prompt": "p"}])
    moody.refused.wait()
    moody.down.clear()
    run.finish()
    assert sorted(step for step, _ in moody.rows) == list(range(1, 101))
    assert [(r.levelno, r.getMessage()) for r in caplog.records] == [
        (
            logging.WARNING,
            "moody: ConnectionError: 402: quota exceeded; training goes on, and what it missed is sent again later",
        )
    ]


def test_a_signal_that_comes_while_a_row_is_written_may_log_and_finish(begin, monkeypatch, lines):
    run = begin()
    write, came = os.write, []

    def handler(*_):
        came.append(run.step)
        run.log({"kl": 0.2}, step=2)
        run.alert("preempted")
        run.finish()

    def interrupted(descriptor, line):
        taken = write(descriptor, line)
        if not came:
            signal.raise_signal(signal.SIGUSR1)
        return taken

    before = signal.signal(signal.SIGUSR1, handler)
    monkeypatch.setattr(line_file.os, "write", interrupted)
    try:
        run.log({"kl": 0.1}, step=1)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert came == [1]
    assert [(r["step"], r["kl"]) for r in lines(run.path / "metrics-0.jsonl")] == [(1, 0.1), (2, 0.2)]
    assert [s["kind"] for s in lines(run.path / "findings.jsonl")] == ["alert", "finished"]


@pytest.fixture
def asked_always(monkeypatch):
    """The disk is asked at every row, not once a second."""
    monkeypatch.setitem(LineFile.__init__.__kwdefaults__, "retry_seconds", 0.0)


def test_on_a_full_disk_training_goes_on_and_every_row_is_written_when_there_is_room(begin, asked_always, caplog):
    run = begin(config={"lr": 1.0})
    run.log({"kl": 0.0}, step=1)
    with disk_of(400):
        for step in range(2, 201):
            run.log({"kl": float(step), "reward": math.nan}, step=step)
            run.log_samples([{"prompt": "p", "completion": "c" * 100}])
        run.config.update({"note": "n" * 1000})
        run.alert("disk", "full")
        (so_far,) = load([run.path]).runs
        assert so_far.steps[-1] < 10
    run.log({"kl": 201.0}, step=201)
    run.log_samples([{"prompt": "p", "completion": "c"}])
    run.finish()
    found = load([run.path])
    assert found.runs[0].steps.tolist() == list(range(1, 202))
    assert not found.runs[0].skipped, "no half line is left behind"
    assert found.runs[0]["kl"].values[1:].tolist() == [float(s) for s in range(2, 202)]
    # One for each of the files, none for each of the rows.
    assert 1 <= sum("training goes on" in r.getMessage() for r in caplog.records) <= 4


FILLED = """
import sys
from pathlib import Path
import holter
from holter.runs.load import load
from holter.store.line_file import LineFile

disk = Path(sys.argv[1])
LineFile.__init__.__kwdefaults__["retry_seconds"] = 0.0
run = holter.init(disk / "run", monitor=False, tell=None)
run.log({"kl": 1.0}, step=1)
ballast = (disk / "ballast").open("wb", buffering=0)
try:
    while ballast.write(b"0" * 4096):
        pass
except OSError as error:
    assert error.errno == 28, error
for step in range(2, 2001):
    run.log({"kl": float(step)}, step=step)
ballast.truncate(0)
run.log({"kl": 2001.0}, step=2001)
run.finish()
(read,) = load([disk / "run"]).runs
assert read.steps.tolist() == list(range(1, 2002)), len(read)
assert read["kl"].values.tolist() == [float(step) for step in range(1, 2002)]
print("every row")
"""


def test_a_disk_that_is_really_full_keeps_every_row_waiting(tmp_path):
    """On a file system of 512 kB of its own, which a user may make in a name space of his own on most machines."""
    mount = f"mount -t tmpfs -o size=512k tmpfs {tmp_path} 2>/dev/null || exit 77"
    if shutil.which("unshare") is None:
        pytest.skip("there is no unshare")
    done = subprocess.run(
        ["unshare", "-Urm", "sh", "-c", f'{mount}; exec "$@"', "sh", sys.executable, "-c", FILLED, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    if done.returncode == 77 or "unshare:" in done.stderr:
        pytest.skip("this machine lets no user mount a file system")
    assert done.stdout == "every row\n", done.stderr
    assert not list(tmp_path.iterdir()), "it was on the file system of its own"


def test_rows_beyond_what_memory_holds_leave_a_gap_that_is_read_back_as_one(begin, asked_always, monkeypatch):
    monkeypatch.setitem(LineFile.__init__.__kwdefaults__, "held_bytes", 1000)
    run = begin()
    run.log({"kl": 0.5}, step=1)
    with disk_of(300):
        for step in range(2, 101):
            run.log({"kl": 0.5}, step=step)
    run.log({"kl": 0.5}, step=101)
    run.log({"kl": 0.5}, step=102)
    run.finish()
    found = load([run.path])
    steps = found.runs[0].steps.tolist()
    (gap,) = [s for s in found.runs[0].skipped if "could not be written" in s.why]
    lost = int(re.match(r"(\d+) rows could not be written here", gap.why)[1])
    assert len(steps) + lost == 102
    assert steps[0] == 1
    assert steps[-1] == 102
    assert max(b - a for a, b in pairwise(steps)) == lost + 1, "the oldest are kept, the gap is one"


@pytest.mark.slow
def test_no_logged_step_is_lost_however_a_process_is_killed():
    script = ROOT / "benchmarks" / "killing.py"
    done = subprocess.run(
        [sys.executable, str(script), "15"], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    said = re.fullmatch(
        r"15 processes killed, 0 of them before their first step; ([\d,]+) steps logged, (\d+) lost\n", done.stdout
    )
    assert said is not None, done.stdout
    assert int(said[1].replace(",", "")) > 100
    assert said[2] == "0"
