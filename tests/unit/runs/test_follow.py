"""Logs that are followed: what happens to files while they are read."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import sqlite3
from pathlib import Path

import pytest

from holter.errors import UnreadableLogError
from holter.readers.jsonl import JSONL
from holter.runs.follow import Follow, follow
from holter.runs.load import load
from tests.unit.runs.tails import counted

GOLDEN = Path(__file__).parents[2] / "golden"


def lines(*steps):
    return "".join(json.dumps({"step": s, "reward": s / 4}) + "\n" for s in steps)


def append(path, text):
    with path.open("a") as file:
        file.write(text)


def steps(growth):
    return [v for log in growth.rows for v in log.columns["step"].values.tolist()]


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text(lines(1, 2, 3))
    return path


def test_rows_are_given_out_once_with_their_lines(log):
    followed = follow(log)
    assert steps(followed.poll()) == [1, 2, 3]
    assert len(followed.poll()) == 0
    append(log, lines(4) + '{"step": 5, "rew')
    growth = followed.poll()
    assert steps(growth) == [4]
    assert growth.rows[0].lines.tolist() == [4]
    append(log, 'ard": 1.0}\n')
    assert steps(followed.poll()) == [5]
    assert followed.logs()[0].rows == 5


def test_a_long_log_is_not_read_again_from_its_start(tmp_path, monkeypatch):
    path = tmp_path / "log.jsonl"
    path.write_text(lines(*range(5000)))
    assert path.stat().st_size > 1 << 16
    followed = follow(path)
    assert len(followed.poll()) == 5000
    read = counted(monkeypatch)
    monkeypatch.setattr(type(JSONL), "read", lambda *_: pytest.fail("it is read from the start"))
    append(path, lines(5000))
    assert steps(followed.poll()) == [5000]
    assert b"".join(read) == lines(5000).encode()
    assert followed.logs()[0].rows == 5001


@pytest.mark.parametrize("long", [False, True])
def test_a_log_that_is_cut_begins_anew(tmp_path, long):
    path = tmp_path / "log.jsonl"
    path.write_text(lines(*range(5000 if long else 5)))
    followed = follow(path)
    followed.poll()
    path.write_text(lines(1, 2))
    growth = followed.poll()
    assert (growth.event, steps(growth)) == ("truncated", [1, 2])
    assert followed.logs()[0].rows == 2


def test_a_log_that_was_written_anew_and_is_longer_now_is_noticed(log):
    followed = follow(log)
    followed.poll()
    log.write_text(lines(*range(100, 110)))
    growth = followed.poll()
    assert (growth.event, steps(growth)) == ("replaced", list(range(100, 110)))


def test_another_file_in_its_place_begins_anew(log, tmp_path):
    followed = follow(log)
    followed.poll()
    (tmp_path / "new").write_text(lines(7, 8))
    (tmp_path / "new").replace(log)
    growth = followed.poll()
    assert (growth.event, steps(growth)) == ("replaced", [7, 8])


def test_a_rotated_log_goes_on_and_nothing_of_the_old_file_is_lost(log, tmp_path):
    followed = follow(log)
    followed.poll()
    append(log, lines(4))
    log.rename(tmp_path / "log.jsonl.1")
    assert len(followed.poll()) == 0, "there is no file for a moment"
    append(tmp_path / "log.jsonl.1", lines(5))
    log.write_text(lines(6))
    growth = followed.poll()
    assert (growth.event, steps(growth)) == ("rotated", [4, 5, 6])
    append(log, lines(7))
    assert steps(followed.poll()) == [7]
    assert followed.logs()[0].rows == 7


def test_a_rotated_csv_may_repeat_its_header(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("step,loss\n1,0.5\n2,0.25\n")
    followed = follow(path)
    assert steps(followed.poll()) == [1, 2]
    path.rename(tmp_path / "log.csv.1")
    path.write_text("step,loss\n3,0.125\n")
    assert steps(followed.poll()) == [3]


def test_a_writer_that_starts_again_after_a_torn_line_costs_that_line(log):
    append(log, '{"step": 4, "rew')
    followed = follow(log)
    followed.poll()
    append(log, "\n" + lines(2, 3, 4))
    assert steps(followed.poll()) == [2, 3, 4]
    (found,) = followed.logs()
    assert [s.line for s in found.skipped] == [4]


def test_a_file_that_is_not_there_yet_or_empty_is_waited_for(tmp_path):
    path = tmp_path / "log.jsonl"
    followed = follow(path)
    assert len(followed.poll()) == 0
    with pytest.raises(UnreadableLogError, match=r"log\.jsonl"):
        followed.logs()
    path.write_text("")
    assert len(followed.poll()) == 0
    path.write_text(lines(1))
    assert steps(followed.poll()) == [1]


def test_a_trainer_state_that_is_rewritten_gives_its_new_rows(tmp_path):
    path = tmp_path / "trainer_state.json"

    def write(*some):
        history = [{"step": s, "loss": 0.5} for s in some]
        path.write_text(json.dumps({"global_step": some[-1], "log_history": history}, indent=2))

    write(1, 2)
    followed = follow(path)
    assert steps(followed.poll()) == [1, 2]
    write(1, 2, 3)
    assert steps(followed.poll()) == [3]
    assert len(followed.poll()) == 0


def test_a_packed_log_gives_its_new_rows(tmp_path):
    path = tmp_path / "log.jsonl.gz"
    path.write_bytes(gzip.compress(lines(1, 2).encode()))
    followed = follow(path)
    assert steps(followed.poll()) == [1, 2]
    with path.open("ab") as file:
        file.write(gzip.compress(lines(3).encode()))
    assert steps(followed.poll()) == [3]


def test_a_database_gives_its_new_rows_while_its_writer_keeps_them_in_a_write_ahead_log(tmp_path):
    path = tmp_path / "lab.db"
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("CREATE TABLE metrics (run_name TEXT, step INTEGER, metrics TEXT)")
    insert = "INSERT INTO metrics VALUES ('r', ?, ?)"
    connection.executemany(insert, [(i, json.dumps({"loss": i / 4})) for i in range(3)])
    followed = follow(path)
    assert len(followed.poll()) == 3
    connection.execute(insert, (3, '{"loss": 0.125}'))
    assert [log.columns["loss"].values.tolist() for log in followed.poll().rows] == [[0.125]]
    connection.close()


def test_a_resumed_run_goes_on_in_another_event_file_of_the_folder(tmp_path):
    first, second = sorted((GOLDEN / "tensorboard" / "resumed-in-a-second-file").iterdir())
    shutil.copy(first, tmp_path)
    followed = Follow([tmp_path], clock=iter(range(100)).__next__)
    before = followed.poll()
    assert len(before) == load([tmp_path]).runs[0].repeated + len(load([tmp_path]).runs[0])
    shutil.copy(second, tmp_path)
    assert len(followed.poll()) > 0
    assert len(followed.poll()) == 0
    (found,), (plain,) = followed.load().runs, load([tmp_path]).runs
    assert found.steps.tolist() == plain.steps.tolist()
    assert {k: s.values.tolist() for k, s in found.series.items()} == {
        k: s.values.tolist() for k, s in plain.series.items()
    }
    assert found.resumes == plain.resumes


def test_every_log_of_a_folder_is_followed_and_those_that_come_later(tmp_path):
    followed = Follow([tmp_path], clock=iter(range(100)).__next__)
    assert len(followed.poll()) == 0
    (tmp_path / "a.jsonl").write_text(lines(1, 2))
    assert steps(followed.poll()) == [1, 2]
    (tmp_path / "b.jsonl").write_text(lines(5))
    append(tmp_path / "a.jsonl", lines(3))
    assert sorted(steps(followed.poll())) == [3, 5]
    assert sorted(len(run) for run in followed.load().runs) == [1, 3]


def test_what_cannot_be_read_for_a_moment_is_read_later(log, monkeypatch):
    followed = follow(log)
    followed.poll()
    plain = Path.stat
    monkeypatch.setattr(Path, "stat", lambda self, **options: (_ for _ in ()).throw(PermissionError(13, "denied")))
    assert len(followed.poll()) == 0
    monkeypatch.setattr(Path, "stat", plain)
    append(log, lines(4))
    os.utime(log, (1, 1))
    assert steps(followed.poll()) == [4]
