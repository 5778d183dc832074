"""A folder that nobody looked at before: listed at once, read and judged in the order in which people ask, by other processes."""

from __future__ import annotations

import gzip
import json
import math
import os
import pickle
import signal
import subprocess
import sys
import threading
from multiprocessing.context import SpawnProcess

import numpy as np
import pytest

import holter
from holter.dashboard.apart import Apart, FarError, Here, ProcessEndedError
from holter.dashboard.fleet import Fleet
from holter.dashboard.glimpse import TAIL, glimpse
from holter.dashboard.work import Crew, Judge, LogReader
from holter.errors import UnreadableLogError
from holter.readers.base import Source
from holter.runs.load import load
from holter.settings import Settings
from tests.unit.dashboard.test_server import client, write
from tests.unit.dashboard.wire import frames


@pytest.fixture
def apart():
    crew = Crew.apart(Settings())
    yield crew
    crew.end()


def test_runs_are_listed_with_their_last_step_before_any_is_read(tmp_path):
    write(tmp_path / "a", rows=5)
    write(tmp_path / "b", rows=5000)
    fleet = Fleet(tmp_path)
    fleet.find()
    answer = client(fleet).get("/api/runs").json()
    assert [(r["name"], r["last_step"], r["rows"], r["status"]) for r in answer["runs"]] == [
        ("a/log.jsonl", 5, None, None),
        ("b/log.jsonl", 5000, None, None),
    ]
    ids = answer["ids"]
    fleet.look()
    answer = client(fleet).get("/api/runs").json()
    assert answer["ids"] == ids
    assert [(r["last_step"], r["rows"]) for r in answer["runs"]] == [(5, 5), (5000, 5000)]
    assert all(r["status"] for r in answer["runs"])


def test_a_page_of_a_run_that_is_not_read_says_where_it_stands_and_no_verdict(tmp_path):
    write(tmp_path / "a")
    fleet = Fleet(tmp_path)
    fleet.find()
    [entry] = fleet.entries()
    [(said, _)] = frames(client(fleet).get(f"/api/page?run={entry.id}").content)
    assert (said["summaries"][0]["last_step"], said["summaries"][0]["status"]) == (60, None)
    for path in (f"/api/curves?run={entry.id}", f"/api/runs/{entry.id}/samples"):
        answer = client(fleet).get(path)
        assert (answer.status_code, answer.text) == (503, "The run is being read for the first time.")


def test_who_is_asked_for_is_read_and_judged_first(tmp_path):
    for index, name in enumerate("abc"):
        os.utime(write(tmp_path / name), (1e9 + index, 1e9 + index))
    fleet = Fleet(tmp_path)
    fleet.find()
    a, b, c = (e.id for e in fleet.entries())
    fleet.get(b)
    order = []
    stop = fleet.listen(lambda: order.extend(e.id for e in fleet.entries() if e.run and e.id not in order))
    fleet.read()
    stop()
    assert order == [b, c, a]
    judged = []
    while fleet.judge_one():
        judged += [e.id for e in fleet.entries() if e.judged and e.id not in judged]
    assert judged == [b, c, a]


class Held:
    """A worker that is at its work until it is let go."""

    def __init__(self, worker):
        self.worker, self.began, self.let = worker, threading.Event(), threading.Event()

    def begin(self):
        pass

    def call(self, method, *args):
        self.began.set()
        assert self.let.wait(120)
        return self.worker.call(method, *args)

    def end(self):
        self.let.set()


@pytest.mark.parametrize("work", ["reading", "judging"])
def test_who_is_asked_for_waits_for_no_other_work(tmp_path, work):
    for name in "abc":
        write(tmp_path / name)
    reader, judge = Here(LogReader), Here(lambda: Judge(Settings()))
    held = Held(reader if work == "reading" else judge)
    crew = Crew([reader, held], [judge]) if work == "reading" else Crew([reader], [judge, held])
    fleet, changed = Fleet(tmp_path, crew=crew), threading.Event()
    fleet.listen(changed.set)

    def until(holds):
        while not holds():
            assert changed.wait(60)
            changed.clear()

    fleet.start()
    assert held.began.wait(60)
    until(lambda: len(fleet.entries()) == 3 and all(e.run or work == "reading" for e in fleet.entries()))
    [busy] = [e.id for log in fleet._logs.values() if log.busy or log.judging for e in log.entries]
    asked = next(e.id for e in fleet.entries() if e.id != busy)
    fleet.get(asked)
    until(lambda: fleet.get(asked).judged)
    assert [e.id for e in fleet.entries() if (e.run if work == "reading" else e.judged)] == [asked]
    held.let.set()
    until(lambda: all(e.judged for e in fleet.entries()))
    fleet.close()


def test_a_file_that_turns_out_to_be_no_log_leaves_the_list(tmp_path):
    write(tmp_path / "a")
    (tmp_path / "trainer_state.json").write_text('{"log_history": [{"step"', encoding="utf-8")
    fleet = Fleet(tmp_path)
    fleet.find()
    assert [e.name for e in fleet.entries()] == ["a/log.jsonl", "trainer_state.json"]
    fleet.look()
    assert [e.name for e in fleet.entries()] == ["a/log.jsonl"]
    assert [r.file for r in fleet.refused] == [str(tmp_path / "trainer_state.json")]


def test_what_is_said_of_a_run_that_grows_is_what_check_says(tmp_path):
    rows = [{"step": s, "reward": 0.01 * s, "kl": 0.001 * 1.2 ** min(s, 60), "grad_norm": 1.0} for s in range(1, 121)]
    lines = [json.dumps(row) + "\n" for row in rows]
    log = tmp_path / "log.jsonl"
    fleet = Fleet(tmp_path)
    for end in (7, 50, 51, 120):
        # Written to in the middle of a line, which is no row yet.
        written = "".join(lines[:end]) + "".join(lines[end : end + 1])[:9]
        with log.open("a", encoding="utf-8") as stream:
            stream.write(written[stream.tell() :])
        for each in fleet._logs.values():
            each.diagnosis_due = 0.0
        fleet.look()
        [entry] = fleet.entries()
        assert len(entry.run) == end
        [said] = holter.check(log).diagnoses
        assert entry.judged
        assert entry.diagnosis.findings == said.findings
        assert entry.diagnosis.verdict == said.verdict
        assert entry.run.notes == said.run.notes


def test_other_processes_read_and_judge_as_this_one_does(tmp_path, apart):
    log = write(tmp_path / "a", rows=300, spike=200)
    fleet = Fleet(tmp_path, crew=apart)
    fleet.look()
    [entry] = fleet.entries()
    [said] = holter.check(log).diagnoses
    assert entry.diagnosis.findings == said.findings
    assert entry.diagnosis.verdict == said.verdict
    assert np.array_equal(entry.run["reward"].values, said.run["reward"].values)
    write(tmp_path / "a", rows=301)
    fleet.read()
    assert [len(e.run) for e in fleet.entries()] == [301]
    fleet.close()


def test_an_error_in_another_process_says_what_it_says_here_and_where(tmp_path, apart):
    (tmp_path / "empty.jsonl").write_text("", encoding="utf-8")
    [reader] = apart.readers[:1]
    with pytest.raises(UnreadableLogError, match="it is empty"):
        reader.call(LogReader.read, Source.of(tmp_path / "empty.jsonl"), (), False)
    with pytest.raises(AttributeError) as caught:
        apart.judges[0].call(Judge.judge, None)
    assert any("diagnose_in_place" in note for note in caught.value.__notes__)


class ExactError(Exception):
    """No pickle brings it back: its arguments are not its text."""

    def __init__(self, what, *, where):
        super().__init__(f"{what} at {where}")


class Tried:
    """An object of another process."""

    def die(self):
        os.kill(os.getpid(), signal.SIGKILL)

    def live(self):
        return os.getpid()

    def fail(self):
        raise ExactError("it broke", where="row 7")

    def hand_out(self):
        return lambda: None


class Unmade:
    def __init__(self):
        raise ExactError("a plug-in broke", where="its import")

    def live(self):
        return os.getpid()


@pytest.fixture
def worker():
    worker = Apart(Tried)
    yield worker
    worker.end()


def test_a_process_that_is_killed_is_told_and_another_takes_its_place(worker):
    first = worker.call(Tried.live)
    with pytest.raises(ProcessEndedError, match="-9"):
        worker.call(Tried.die)
    assert worker.call(Tried.live) not in (first, os.getpid())
    worker.end()
    with pytest.raises(ProcessEndedError):
        worker.call(Tried.live)


def test_what_cannot_travel_is_told_as_that_and_ends_no_process(worker):
    first = worker.call(Tried.live)
    with pytest.raises(FarError, match="ExactError: it broke at row 7"):
        worker.call(Tried.fail)
    with pytest.raises((AttributeError, TypeError, pickle.PicklingError), match="lambda"):
        worker.call(Tried.hand_out)
    with pytest.raises((AttributeError, TypeError, pickle.PicklingError), match="lambda"):
        worker.call(Tried.live, lambda: None)
    assert worker.call(Tried.live) == first


def test_an_object_that_cannot_be_made_is_told_by_every_call():
    worker = Apart(Unmade)
    worker.begin()
    for _ in range(2):
        with pytest.raises(FarError, match="ExactError: a plug-in broke at its import"):
            worker.call(Unmade.live)
    worker.end()


def test_where_no_process_can_begin_a_call_says_so_and_the_next_one_tries_again(worker, monkeypatch):
    def refuse(self):
        raise BlockingIOError(11, "Resource temporarily unavailable")

    with monkeypatch.context() as full:
        full.setattr(SpawnProcess, "start", refuse)
        worker.begin()
        with pytest.raises(BlockingIOError):
            worker.call(Tried.live)
    assert worker.call(Tried.live) != os.getpid()


KILLED = """
import os, signal, sys, threading, time
from holter.dashboard.apart import Apart

def sleep(_):
    print("asleep", flush=True)
    time.sleep(3600)

if __name__ == "__main__":
    threading.Thread(target=Apart(list).call, args=(sleep,), daemon=True).start()
    sys.stdin.readline()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(os.name != "posix", reason="elsewhere no signal kills")
def test_nobody_works_on_for_a_parent_that_was_killed(tmp_path):
    (script := tmp_path / "parent.py").write_text(KILLED, encoding="utf-8")
    parent = subprocess.Popen([sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert parent.stdout.readline() == "asleep\n"
    # What it writes to ends with the last process that has it open, which is the worker.
    assert parent.communicate("\n", timeout=120) == ("", None)
    assert parent.returncode == -signal.SIGKILL


def test_the_end_does_not_wait_for_what_is_under_way(tmp_path, apart):
    write(tmp_path / "a")
    fleet, judged = Fleet(tmp_path, crew=apart), threading.Event()
    fleet.listen(lambda: judged.set() if fleet.entries() and fleet.entries()[0].judged else None)
    fleet.start()
    assert judged.wait(120)
    processes = [w._process for w in (*apart.readers, *apart.judges) if w._process is not None]
    assert processes
    fleet.close()
    for process in processes:
        process.join(60)
        assert process.exitcode is not None


def test_a_glimpse_is_the_step_of_the_last_whole_line(tmp_path):
    lines = [json.dumps({"step": 10 * s, "reward": 1.0, "text": "x" * 80}) + "\n" for s in range(1, 2001)]
    log = tmp_path / "log.jsonl"
    log.write_text("".join(lines) + lines[-1][:10], encoding="utf-8")
    assert log.stat().st_size > 4 * TAIL
    assert glimpse(Source.of(log)) == 20_000
    table = tmp_path / "log.csv"
    table.write_text("step,reward\n" + "".join(f"{s},0.5\n" for s in range(7, 9000)), encoding="utf-8")
    assert glimpse(Source.of(table)) == 8999


def test_a_glimpse_of_a_run_folder_is_of_its_newest_segment(tmp_path):
    for begin in (1, 400):
        with holter.init(tmp_path, resume=begin > 1) as run:
            for step in range(begin, begin + 500):
                run.log({"reward": 1.0, "kl": 0.1}, step=step)
    [run] = load([tmp_path]).runs
    from holter.runs.folder import logs_in

    [[(source, _)]] = logs_in(tmp_path).runs
    assert glimpse(source) == run.steps[-1] == 899


@pytest.mark.parametrize("kind", ["no steps", "packed", "gone", "not a log"])
def test_a_glimpse_that_cannot_tell_says_nothing(tmp_path, kind):
    log = tmp_path / ("log.jsonl.gz" if kind == "packed" else "log.jsonl")
    rows = "".join(
        json.dumps({"reward": math.sin(s)} | ({"step": s} if kind == "packed" else {})) + "\n" for s in range(2000)
    )
    if kind == "packed":
        log.write_bytes(gzip.compress(rows.encode()))
    elif kind != "gone":
        log.write_text(rows if kind == "no steps" else "%PDF-1.4\n" * 100, encoding="utf-8")
    assert glimpse(Source.of(log)) is None
