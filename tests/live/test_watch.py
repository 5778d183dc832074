"""Following a log that somebody else writes, and the page in the terminal."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from holter.findings.diagnosis import diagnose
from holter.monitor import follow as following
from holter.monitor.follow import Follow, Seen
from holter.reports.live_page import page
from holter.runs.load import load
from holter.simulation.run import simulate

from .test_monitor import noise

EXAMPLES = Path(__file__).parents[2] / "examples" / "runs"


def append(path: Path, steps, **values) -> None:
    with path.open("a") as file:
        for step in steps:
            file.write(json.dumps({"step": step, "reward": noise(step), "kl": 0.01, "loss": 0.1, **values}) + "\n")


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.jsonl"
    append(path, range(1, 31))
    return path


@pytest.fixture
def readings(monkeypatch):
    """Counts how often logs are read."""
    counted = []

    def counting(*args, **options):
        counted.append(args)
        return load(*args, **options)

    monkeypatch.setattr(following, "load", counting)
    return counted


def untimed(path, **options) -> Follow:
    return Follow([str(path)], clock=lambda: 0.0, **options)


def test_a_log_is_read_again_only_when_it_changed(log, readings):
    follow = untimed(log)
    assert [len(follow.poll(now).diagnoses[0].run) for now in (0.0, 1.0, 2.0)] == [30, 30, 30]
    assert len(readings) == 1
    append(log, [31])
    assert len(follow.poll(3.0).diagnoses[0].run) == 31
    assert len(readings) == 2


def test_what_was_there_is_no_news_and_what_comes_is(log):
    append(log, range(31, 33), reward=float("nan"))
    follow = untimed(log)
    first = follow.poll(0.0)
    assert [d.verdict.status for d in first.diagnoses] == ["warning"]
    assert first.news == ()
    append(log, range(33, 36), reward=float("nan"), loss=float("nan"))
    news = follow.poll(1.0).news
    assert ("opened", "not-finite", 33) in [(a.kind, a.finding.detector, a.finding.first_step) for _, a in news]
    # It was there before, so it does not open; that the loss joins it makes it worse, which is news.
    assert [a.kind for _, a in news if a.finding.detector == "reward-not-finite"] == ["worsened"]
    assert follow.poll(2.0).news == ()


def test_reading_takes_no_more_than_a_share_of_the_time(log, readings):
    ticks = iter([0.0, 3.0, 10.0, 10.5])
    follow = Follow([str(log)], clock=lambda: next(ticks))
    follow.poll(100.0)
    append(log, [31])
    assert len(follow.poll(129.0).diagnoses[0].run) == 30, "three seconds of reading are rested for thirty"
    assert len(follow.poll(130.0).diagnoses[0].run) == 31
    assert len(readings) == 2


def test_a_log_that_is_not_there_yet_is_waited_for(tmp_path):
    follow = untimed(tmp_path / "log.jsonl")
    assert "there is no such file" in follow.poll(0.0).trouble
    append(tmp_path / "log.jsonl", range(1, 4))
    seen = follow.poll(1.0)
    assert (seen.trouble, len(seen.diagnoses[0].run)) == ("", 3)


def test_a_torn_last_line_a_replaced_file_and_a_new_file_are_followed(log, tmp_path):
    follow = untimed(tmp_path)
    with log.open("a") as file:
        file.write('{"step": 31, "rew')
    assert len(follow.poll(0.0).diagnoses[0].run) == 30
    before = log.read_text()
    log.write_text("")
    emptied = follow.poll(1.0)
    assert emptied.trouble
    assert len(emptied.diagnoses[0].run) == 30, "what was seen still stands"
    log.write_text(before + 'ard": 0.5, "kl": 0.01}\n')
    assert len(follow.poll(2.0).diagnoses[0].run) == 31
    append(tmp_path / "other.jsonl", range(1, 11))
    assert sorted(len(d.run) for d in follow.poll(3.0).diagnoses) == [10, 31]


def test_a_run_that_no_longer_logs_is_stalled_at_its_own_pace(log):
    follow = untimed(log)
    os.utime(log, (1000, 1000))
    follow.poll(1000.0)
    append(log, [31, 32])
    os.utime(log, (1060, 1060))
    seen = follow.poll(1060.0)
    assert (seen.pace, seen.age, seen.stalled) == (2.0, 0.0, False)
    assert not follow.poll(1060.0 + 299).stalled
    assert follow.poll(1060.0 + 301).stalled
    assert not Seen(age=1e6).stalled, "whoever saw no row come cannot tell"


def test_following_says_what_check_says(tmp_path):
    rows = [dict(r) for r in simulate("grpo", "kl-explosion", rows=80, seed=3).rows]
    follow = untimed(tmp_path / "log.jsonl")
    for end in (10, 40, 80):
        (tmp_path / "log.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows[:end]))
        (seen,) = follow.poll(float(end)).diagnoses
        assert seen.findings == diagnose(load([tmp_path / "log.jsonl"]).runs[0]).findings


def printed(width: int, height: int | None, *paths) -> list[str]:
    console = Console(width=width, height=50, color_system=None, record=True, file=open(os.devnull, "w"))  # noqa: PTH123, SIM115
    found = [diagnose(run) for run in load(paths).runs]
    console.print(page(found, [f"12:00:0{n} something changed" for n in range(9)], "3 rows a minute", height=height))
    console.file.close()
    return console.export_text().splitlines()


@pytest.mark.parametrize("height", [8, 12, 24, None])
def test_the_page_fits_the_terminal_and_keeps_what_is_wrong(height):
    lines = printed(80, height, EXAMPLES)
    assert max(map(len, lines)) <= 80
    assert len(lines) <= (height or 100)
    assert lines[0].startswith("✗ CRITICAL")
    if height is None or height >= 24:
        assert "Wrong now" in lines
        assert any("reward-hacking since step 6" in line for line in lines)
        assert any(line.strip().startswith("12:00:08") for line in lines)


def test_once_prints_the_page_and_ends(log):
    done = subprocess.run(
        [sys.executable, "-m", "holter", "watch", "--once", str(log)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "Vital signs" in done.stdout
    assert "30 rows, steps 1-30" in done.stdout
    missing = subprocess.run(
        [sys.executable, "-m", "holter", "watch", "--once", str(log) + "x"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert missing.returncode == 2
    assert "there is no such file or folder" in missing.stderr


def until(terminal: int, text: str) -> str:
    """What the terminal shows until `text` stands there."""
    said = b""
    while text.encode() not in said:
        ready, _, _ = select.select([terminal], [], [], 60)
        assert ready, f"{text!r} did not come; the terminal shows {said[-2000:]!r}"
        try:
            said += os.read(terminal, 65536)
        except OSError:
            pytest.fail(f"it ended before {text!r} came: {said[-2000:]!r}")
    return said.decode(errors="replace")


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
def test_the_page_follows_the_log_in_a_terminal_and_ends_cleanly(log):
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80", "LINES": "30"}
    command = [sys.executable, "-m", "holter", "watch", "--every", "0.1", str(log)]
    process = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, start_new_session=True
    )
    os.close(theirs)
    try:
        assert "\x1b[?1049h" in until(ours, "30 rows, steps 1-30"), "on a screen of its own"
        append(log, range(31, 34), loss=float("nan"))
        until(ours, "33 rows, steps 1-33")
        until(ours, "Changed")
        os.killpg(process.pid, 2)
        assert "\x1b[?1049l" in until(ours, "\x1b[?1049l")
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait(60)
        os.close(ours)
