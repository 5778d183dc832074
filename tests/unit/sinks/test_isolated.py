"""A tracker's trouble stays with the tracker."""

import logging
import threading

import pytest

from holter.sinks.base import Destination
from holter.sinks.holter import RunFolderSink
from holter.sinks.isolated import Isolated
from holter.store.manifest import Manifest
from tests.patience import PATIENCE

MANIFEST = Manifest(id="run", created=0.0)


class Tracker:
    """Takes rows, unless told to refuse or to block."""

    name = "tracker"

    def __init__(self, refuse=lambda call, step: None):
        self.steps, self.tables, self.calls = [], [], []
        self.refuse = refuse
        self.gate = threading.Event()
        self.gate.set()
        self.refused = threading.Event()
        self.entered = threading.Event()

    def _call(self, call, step=None):
        self.calls.append((call, step))
        self.entered.set()
        self.gate.wait()
        try:
            self.refuse(call, step)
        except BaseException:
            self.refused.set()
            raise

    def open(self, manifest):
        self._call("open")

    def write(self, step, row):
        self._call("write", step)
        self.steps.append(step)

    def samples(self, step, rows):
        self._call("samples", step)
        self.tables.append(step)

    def close(self):
        self._call("close")


def isolated(tracker, **options):
    options = {"first_pause": 0.0, "patience": PATIENCE, **options}
    options.setdefault("opening", options["patience"])
    out = Isolated(tracker, **options)
    out.open(MANIFEST)
    return out


def row(step):
    return {"time": float(step), "loss": 0.5}


def down_until(event):
    def refuse(call, step):
        if not event.is_set():
            raise ConnectionError("no route to host")

    return refuse


def test_everything_arrives_in_order():
    tracker = Tracker()
    sink = isolated(tracker)
    for step in range(100):
        sink.write(step, row(step))
    sink.samples(100, [{"prompt": "a"}])
    sink.close()
    assert tracker.steps == list(range(100))
    assert tracker.tables == [100]
    assert tracker.calls[0] == ("open", None)
    assert tracker.calls[-1] == ("close", None)


@pytest.mark.parametrize("pause", [0.0, 3600.0])
def test_a_tracker_that_comes_back_gets_what_it_missed_and_one_line_is_said(caplog, pause):
    back = threading.Event()
    tracker = Tracker(lambda call, step: down_until(back)(call, step) if call == "write" else None)
    sink = isolated(tracker, first_pause=pause)
    for step in range(20):
        sink.write(step, row(step))
    tracker.refused.wait()
    back.set()
    sink.close()
    assert sorted(tracker.steps) == list(range(20))
    if pause:
        assert tracker.steps == list(range(20))
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert "tracker: ConnectionError: no route to host; training goes on" in caplog.text


@pytest.mark.parametrize("error", [RuntimeError("quota\nexceeded"), SystemExit(1), MemoryError(), KeyboardInterrupt()])
def test_nothing_a_tracker_raises_reaches_training_or_ends_its_thread(error):
    failed = threading.Event()

    def refuse(call, step):
        if call == "write" and not failed.is_set():
            failed.set()
            raise error

    tracker = Tracker(refuse)
    sink = isolated(tracker)
    sink.write(1, row(1))
    sink.write(2, row(2))
    sink.close()
    assert sorted(tracker.steps) == [1, 2]


def test_an_error_that_cannot_say_what_it_is_is_survived():
    class MuteError(Exception):
        def __str__(self):
            raise ValueError

    tracker = Tracker(lambda call, step: (_ for _ in ()).throw(MuteError()) if step == 1 else None)
    sink = isolated(tracker)
    sink.write(1, row(1))
    sink.write(2, row(2))
    sink.close()
    assert tracker.steps == [2]


def test_a_tracker_that_opens_late_gets_every_row():
    back = threading.Event()
    tracker = Tracker(lambda call, step: down_until(back)(call, step) if call == "open" else None)
    sink = isolated(tracker)
    for step in range(5):
        sink.write(step, row(step))
    back.set()
    sink.close()
    assert tracker.steps == list(range(5))


def test_a_tracker_may_take_longer_to_open_than_any_later_call(caplog):
    tracker = Tracker()
    tracker.gate.clear()
    sink = isolated(tracker, patience=0.0, opening=PATIENCE)
    tracker.entered.wait()
    sink.write(1, row(1))
    assert not caplog.records, "with no patience at all a later call that takes any time would be called hanging"
    tracker.gate.set()
    sink.close()


def test_a_row_that_it_cannot_take_does_not_dam_up_the_others(caplog):
    def refuse(call, step):
        if step == 3:
            raise ValueError("not a number")

    tracker = Tracker(refuse)
    sink = isolated(tracker)
    for step in range(8):
        sink.write(step, row(step))
    sink.close()
    assert tracker.steps == [0, 1, 2, 4, 5, 6, 7]
    assert "1 rows never arrived" in caplog.text


def test_training_goes_on_beside_a_tracker_that_hangs_and_leaves_it_behind(caplog):
    tracker = Tracker()
    tracker.gate.clear()
    sink = isolated(tracker, patience=0.05)
    for step in range(500):
        sink.write(step, row(step))
    sink.close()
    assert tracker.steps == []
    assert "500 rows never arrived" in caplog.text
    tracker.gate.set()


def test_a_tracker_that_is_down_to_the_end_gets_a_last_chance_and_no_more(caplog):
    tracker = Tracker(lambda call, step: (_ for _ in ()).throw(OSError("down")) if call == "write" else None)
    sink = isolated(tracker, first_pause=3600.0)
    for step in range(1000):
        sink.write(step, row(step))
    tracker.refused.wait()
    sink.close()
    assert len(tracker.calls) < 20
    assert "1000 rows never arrived" in caplog.text
    assert len(caplog.records) == 2


@pytest.fixture
def folder(tmp_path):
    """An open run folder."""
    sink = RunFolderSink(Destination(folder=tmp_path / "run"))
    sink.open(MANIFEST)
    yield sink
    sink.close()


def test_what_the_queue_cannot_hold_comes_back_from_the_run_folder_once_and_in_order(folder):
    tracker = Tracker()
    tracker.gate.clear()
    sink = isolated(tracker, queue=3, replay=folder.written_after)
    for step in range(1, 51):
        folder.write(step, row(step))
        sink.write(step, row(step))
    tracker.gate.set()
    # Rows keep coming while it catches up.
    for step in range(51, 201):
        folder.write(step, row(step))
        sink.write(step, row(step))
    sink.close()
    assert tracker.steps == list(range(1, 201))


def test_a_row_that_was_read_back_before_it_was_handed_over_arrives_once(folder, caplog):
    ahead = threading.Event()
    tracker = Tracker(lambda call, step: ahead.set() if step == 11 else None)
    tracker.gate.clear()
    sink = isolated(tracker, queue=3, replay=folder.written_after)
    for step in range(1, 12):
        folder.write(step, row(step))
        if step < 11:
            sink.write(step, row(step))
    tracker.gate.set()
    assert ahead.wait(PATIENCE)
    with sink._change:
        assert sink._change.wait_for(lambda: not sink._overflowed, PATIENCE)
    for step in range(11, 31):
        if step > 11:
            folder.write(step, row(step))
        sink.write(step, row(step))
    sink.close()
    assert tracker.steps == list(range(1, 31))
    assert not caplog.records


def test_rows_that_share_a_step_are_all_replayed(folder):
    tracker = Tracker()
    tracker.gate.clear()
    sink = isolated(tracker, queue=1, replay=folder.written_after)
    for time in range(1, 9):
        folder.write(time // 2, row(time))
        sink.write(time // 2, row(time))
    tracker.gate.set()
    sink.close()
    assert tracker.steps == [time // 2 for time in range(1, 9)]


def test_without_a_run_folder_what_the_queue_cannot_hold_is_counted(caplog):
    tracker = Tracker()
    tracker.gate.clear()
    sink = isolated(tracker, queue=3)
    for step in range(10):
        sink.write(step, row(step))
    tracker.gate.set()
    sink.close()
    assert tracker.steps == [0, 1, 2]
    assert "7 rows never arrived" in caplog.text


def test_closing_twice_or_unopened_does_nothing():
    Isolated(Tracker()).close()
    sink = isolated(Tracker())
    sink.close()
    sink.close()
