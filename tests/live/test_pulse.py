"""Whether a run still logs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from holter.findings.finding import Severity
from holter.monitor.pulse import Pulse, PulseTaker, span
from holter.monitor.watching import Watch
from holter.runs.load import load
from holter.settings import AlertSettings, Settings

from .test_watch import append

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.jsonl"
    append(path, range(1, 31))
    return path


def at(path: Path, when: float) -> None:
    os.utime(path, (when, when))


def watch(path: Path) -> Watch:
    settings = Settings(alerts=AlertSettings(cool_down=0.0))
    return Watch([str(path)], settings=settings, clock=lambda: 0.0)


def test_a_log_without_a_clock_shows_its_pace_while_it_is_followed(log):
    watching = watch(log)
    at(log, 1000)
    (before,) = watching.look(1000.0).runs
    assert (before.pulse.age, before.pulse.gap, before.pulse.stalled) == (0.0, None, False)
    append(log, [31, 32])
    at(log, 1060)
    (after,) = watching.look(1090.0).runs
    assert (after.pulse.age, after.pulse.gap) == (30.0, 30.0)
    assert after.pulse.says == "2 rows a minute · last row 30 s ago"


def test_a_run_that_stops_logging_is_a_finding_and_rows_resolve_it(log):
    watching = watch(log)
    at(log, 1000)
    watching.look(1000.0)
    append(log, [31, 32])
    at(log, 1060)
    assert watching.look(1060.0).alerts == ()
    assert watching.look(1060.0 + 300).alerts == (), "ten times thirty seconds are not over"
    (alert,) = watching.look(1060.0 + 301).alerts
    assert (alert.kind, alert.finding.detector, alert.told) == ("opened", "stalled-run", True)
    assert alert.finding.title == "no row for longer than 5 minutes; one came every 30 s"
    assert alert.finding.first_step == 32
    assert watching.look(1060.0 + 900).alerts == (), "once"
    append(log, [33])
    at(log, 2000)
    (over,) = watching.look(2000.0).alerts
    assert (over.kind, over.finding.detector, over.told) == ("resolved", "stalled-run", True)


def test_a_rewritten_log_begins_a_new_pace(log):
    watching = watch(log)
    for when, rows in ((1000, 30), (1060, 32)):
        log.write_text("")
        append(log, range(1, rows + 1))
        at(log, when)
        watching.look(float(when))
    log.write_text("")
    append(log, range(1, 6))
    at(log, 1100)
    (run,) = watching.look(1100.0).runs
    assert run.pulse.gap is None


@pytest.mark.parametrize(
    ("pulse", "stalled"),
    [
        (Pulse(age=61.0, gap=0.1), True),
        (Pulse(age=59.0, gap=0.1), False),
        (Pulse(age=1e6), False),
        (Pulse(gap=1.0), False),
        (Pulse(age=1e6, gap=1.0, ended="finished"), False),
    ],
)
def test_whoever_saw_no_row_come_cannot_tell_and_a_finished_run_is_not_stalled(pulse, stalled):
    assert pulse.stalled is stalled


def test_a_run_folder_tells_its_own_pace_and_its_end(begin):
    run = begin("mine")
    for step in range(1, 6):
        run.log({"reward": 0.1 * step}, step=step)
    (read,) = load([run.path]).runs
    alive = PulseTaker().take(read, now=0.0)
    assert alive.gap is not None
    assert alive.ended == ""
    run.finish()
    ended = PulseTaker().take(read, now=4e9)
    assert (ended.ended, ended.stalled, ended.finding(read)) == ("finished", False, None)


def test_a_run_that_broke_off_is_critical_until_it_is_resumed(begin):
    run = begin("mine")
    for step in range(1, 4):
        run.log({"reward": 0.1 * step}, step=step)
    run.fail(RuntimeError("CUDA out of memory"))
    (read,) = load([run.path]).runs
    finding = PulseTaker().take(read, now=4e9).finding(read)
    assert finding.severity is Severity.CRITICAL
    assert finding.title == "the run broke off after step 3: RuntimeError: CUDA out of memory"
    assert finding.evidence
    again = begin("mine", resume=True)
    again.log({"reward": 0.4}, step=4)
    (read,) = load([again.path]).runs
    assert PulseTaker().take(read, now=0.0).finding(read) is None


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.25, "0.25 s"), (59.4, "59 s"), (60, "1 minute"), (7300, "2 hours"), (2 * 86400, "2 days")],
)
def test_lengths_of_time_are_said_in_words(seconds, text):
    assert span(seconds) == text
