"""Lines outlive crashes and full disks."""

import json
import logging
import os
import signal
import subprocess
import sys

import pytest

from holter.store import line_file
from holter.store.line_file import LineFile
from tests.full_disk import disk_of


def line(number):
    return f'{{"step":{number},"loss":0.123456789}}\n'.encode()


def whole_lines(path):
    said = []
    for text in path.read_bytes().split(b"\n"):
        try:
            said.append(json.loads(text))
        except ValueError:
            continue
    return said


def test_a_line_is_in_the_file_when_the_call_returns(tmp_path):
    file = LineFile(tmp_path / "a.jsonl")
    for number in range(3):
        file.append(line(number))
        assert (tmp_path / "a.jsonl").read_bytes().count(b"\n") == number + 1
    file.close()


def test_lines_wait_while_the_disk_is_full_and_none_is_lost(tmp_path, caplog):
    path = tmp_path / "a.jsonl"
    file = LineFile(path, retry_seconds=0.0)
    with disk_of(100):
        for number in range(10):
            file.append(line(number))
        assert len(whole_lines(path)) == 3
        assert file.waiting == 7
    file.append(line(10))
    file.close()
    assert [said["step"] for said in whole_lines(path)] == list(range(11))
    assert len(caplog.records) == 1
    assert "training goes on" in caplog.text


def test_what_does_not_fit_into_memory_is_lost_and_the_gap_is_marked(tmp_path):
    path = tmp_path / "a.jsonl"
    file = LineFile(path, held_bytes=3 * len(line(0)), retry_seconds=0.0)
    with disk_of(100):
        for number in range(10):
            file.append(line(number))
    for number in (10, 11):
        file.append(line(number))
    file.close()
    said = whole_lines(path)
    # Three fitted on the disk, three into memory; of the part that the disk took of the fourth nothing is left.
    assert len(path.read_bytes().splitlines()) == len(said)
    assert [s.get("step") for s in said] == [0, 1, 2, 3, 4, 5, None, 10, 11]
    assert said[6]["gap"]["lines"] == 4
    assert said[6]["gap"]["why"]


def test_a_disk_that_refuses_is_asked_once_a_pause_and_not_once_a_line(tmp_path, monkeypatch):
    file = LineFile(tmp_path / "a.jsonl", retry_seconds=3600.0)
    asked = []

    def refuse(*_):
        asked.append(1)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(line_file.os, "write", refuse)
    for number in range(100):
        file.append(line(number))
    assert len(asked) == 1
    assert file.waiting == 100


def test_closing_on_a_full_disk_says_what_was_lost_and_raises_nothing(tmp_path, caplog):
    file = LineFile(tmp_path / "a.jsonl", retry_seconds=0.0)
    with caplog.at_level(logging.WARNING), disk_of(10):
        file.append(line(0))
        file.close()
    assert "1 lines could not be written" in caplog.text


def test_a_torn_last_line_is_closed_before_anything_follows(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(line(0) + b'{"step":1,"lo')
    file = LineFile(path)
    file.append(line(2))
    file.close()
    assert [said["step"] for said in whole_lines(path)] == [0, 2]


def test_a_wrong_path_is_known_before_training_starts(tmp_path):
    with pytest.raises(OSError, match="No such file or directory"):
        LineFile(tmp_path / "nowhere" / "a.jsonl")


def test_kill_at_any_moment_loses_no_line_that_was_logged(tmp_path):
    code = """
import sys
from pathlib import Path
from holter.store.line_file import LineFile
file = LineFile(Path(sys.argv[1]))
step = 0
while True:
    step += 1
    file.append(b'{"step":%d,"pad":"%s"}\\n' % (step, b"x" * 3000))
    sys.stdout.write(f"{step}\\n"); sys.stdout.flush()
"""
    for trial in range(5):
        path = tmp_path / f"{trial}.jsonl"
        child = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE)
        assert child.stdout is not None
        for _ in range(20 + 37 * trial):
            said = int(child.stdout.readline())
        os.kill(child.pid, signal.SIGKILL)
        rest = child.stdout.read().split()
        child.stdout.close()
        child.wait()
        logged = int(rest[-1]) if rest else said
        steps = [row["step"] for row in whole_lines(path)]
        assert steps[: logged - 1] == list(range(1, logged))
        assert len(steps) >= logged - 1
