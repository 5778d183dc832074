"""A terminal without signs, a disk that is full, a reader that leaves, a signal: one line at most, and never a traceback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import PATIENCE

SICK = Path(__file__).parents[2] / "examples" / "runs" / "hacked-ppo"
COMMANDS = {
    "check": ["check", str(SICK)],
    "watch": ["watch", "--once", str(SICK)],
    "list": ["list", "detectors"],
}
EACH = pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS)


def started(arguments, *, stdout=subprocess.PIPE, without=(), **variables) -> subprocess.Popen:
    environment = {k: v for k, v in {**os.environ, **variables}.items() if k not in without}
    command = [sys.executable, "-m", "holter", *arguments]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE, env=environment)


@EACH
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "cp437"])
def test_what_an_encoding_has_no_sign_for_has_a_stand_in_of_the_same_width(arguments, encoding):
    process = started(arguments, PYTHONIOENCODING=encoding, PYTHONUTF8="0")
    out, error = process.communicate(timeout=PATIENCE)
    assert (process.returncode in (0, 1), error) == (True, b"")
    shown = out.decode(encoding)
    if arguments[0] == "check":
        assert "x CRITICAL" in shown
        assert "0.9688 > 0" in shown
        assert {len(line) for line in shown.splitlines() if line[:1] in "|+" and line} == {80}
    assert "?" not in shown.replace("normal?", "").replace("finite?", "")


def test_without_a_sign_for_chinese_the_box_keeps_its_edges():
    process = started(["check", "--lang", "zh", str(SICK)], PYTHONIOENCODING="ascii", PYTHONUTF8="0", COLUMNS="80")
    out, error = process.communicate(timeout=PATIENCE)
    assert (process.returncode, error) == (1, b"")
    assert {len(line) for line in out.decode().splitlines() if line.startswith(("|", "+"))} == {80}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@EACH
def test_a_full_disk_under_the_output_is_one_line_and_no_verdict(arguments):
    with Path("/dev/full").open("wb") as full:
        process = started(arguments, stdout=full)
        _, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2, "1 would say that something is wrong with the run"
    assert error.decode().splitlines() == [f"holter: standard output cannot be written ({os.strerror(28)})."]


@EACH
def test_whoever_reads_the_output_may_leave(arguments):
    reading, writing = os.pipe()
    os.close(reading)
    process = started(arguments, stdout=writing)
    os.close(writing)
    _, error = process.communicate(timeout=PATIENCE)
    assert error == b""


@pytest.mark.parametrize("variables", [{"COLUMNS": "20"}, {"COLUMNS": "1"}, {"TERM": "dumb"}, {"NO_COLOR": "1"}])
def test_every_terminal_is_told_the_same_verdict(variables):
    process = started(COMMANDS["check"], without=("HOME", "USER"), **variables)
    out, error = process.communicate(timeout=PATIENCE)
    assert (process.returncode, error) == (1, b"")
    assert b"\x1b" not in out
    if variables.get("COLUMNS") == "20":
        assert max(map(len, out.decode().splitlines())) <= 20


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_ends_watching_without_a_terminal_as_ctrl_c_does(number, tmp_path):
    log = tmp_path / "log.jsonl"
    process = started(["watch", str(log), "--every", "0.1"])
    assert b"there is no such file" in process.stderr.readline(), "it waits for the log"
    log.write_text("".join(json.dumps({"step": s, "loss": 0.1, "reward": s / 10}) + "\n" for s in range(1, 30)))
    process.send_signal(number)
    out, error = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, error) == (0, b"", b"")


def test_ctrl_c_ends_a_command_without_a_word_and_says_nothing_of_the_run():
    command = [sys.executable, "-m", "holter", "check", "-"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    # More than a pipe holds: once all of it is written the command is reading.
    process.stdin.write(b'{"step": 1, "loss": 0.5}\n' * 100_000)
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, error.strip()) == (130, b"", b"")
