"""Watching a log that somebody else writes."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from holter.cli import holter
from holter.errors import SettingsError
from holter.findings.diagnosis import diagnose
from holter.monitor.watching import Watch
from holter.runs.follow import Follow
from holter.runs.load import load
from holter.simulation.run import simulate
from tests.patience import PATIENCE

from .test_monitor import noise

if TYPE_CHECKING:
    from pathlib import Path


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
    plain = Follow.load

    def counting(follow):
        counted.append(follow)
        return plain(follow)

    monkeypatch.setattr(Follow, "load", counting)
    return counted


def untimed(path, **options) -> Watch:
    return Watch([str(path)], clock=lambda: 0.0, **options)


def rows(moment) -> list[int]:
    return [len(watched.diagnosis.run) for watched in moment.runs]


def test_a_log_is_looked_at_again_only_when_it_changed(log, readings):
    watch = untimed(log)
    assert [rows(watch.look(now)) for now in (0.0, 1.0, 2.0)] == [[30], [30], [30]]
    assert len(readings) == 1
    append(log, [31])
    assert rows(watch.look(3.0)) == [31]
    assert len(readings) == 2


def test_what_was_there_is_no_news_and_what_comes_is(log):
    append(log, range(31, 33), reward=float("nan"))
    watch = untimed(log)
    first = watch.look(0.0)
    assert [w.diagnosis.verdict.status for w in first.runs] == ["warning"]
    assert first.alerts == ()
    append(log, range(33, 36), reward=float("nan"), loss=float("nan"))
    alerts = watch.look(1.0).alerts
    assert ("opened", "not-finite", 33) in [(a.kind, a.finding.detector, a.finding.first_step) for a in alerts]
    # It was there before, so it does not open; that the loss joins it makes it worse, which is news.
    assert [a.kind for a in alerts if a.finding.detector == "reward-not-finite"] == ["worsened"]
    assert watch.look(2.0).alerts == ()


def test_looking_takes_no_more_than_a_share_of_the_time(log, readings):
    ticks = iter([0.0, 3.0, 10.0, 10.5])
    watch = Watch([str(log)], clock=lambda: next(ticks))
    watch.look(100.0)
    append(log, [31])
    assert rows(watch.look(129.0)) == [30], "three seconds of looking are rested for thirty"
    assert rows(watch.look(130.0)) == [31]
    assert len(readings) == 2


def test_a_log_that_is_not_there_yet_is_waited_for(tmp_path):
    watch = untimed(tmp_path / "log.jsonl")
    assert "there is no such file" in watch.look(0.0).trouble
    append(tmp_path / "log.jsonl", range(1, 4))
    seen = watch.look(1.0)
    assert (seen.trouble, rows(seen)) == ("", [3])


def test_a_torn_last_line_a_replaced_file_and_a_new_file_are_followed(log, tmp_path):
    watch = untimed(tmp_path)
    with log.open("a") as file:
        file.write('{"step": 31, "rew')
    assert rows(watch.look(0.0)) == [30]
    before = log.read_text()
    log.write_text("")
    emptied = watch.look(1.0)
    assert emptied.trouble
    assert rows(emptied) == [30], "what was seen still stands"
    log.write_text(before + 'ard": 0.5, "kl": 0.01}\n')
    assert rows(watch.look(2.0)) == [31]
    append(tmp_path / "other.jsonl", range(1, 11))
    assert sorted(rows(watch.look(3.0))) == [10, 31]


def test_a_log_that_is_deleted_becomes_a_folder_and_a_file_again_is_followed(log):
    watch = untimed(log)
    assert rows(watch.look(0.0)) == [30]
    log.unlink()
    gone = watch.look(1.0)
    assert "there is no such file" in gone.trouble
    assert rows(gone) == [30], "what was seen still stands"
    log.mkdir()
    append(log / "log.jsonl", range(1, 8))
    found = watch.look(2.0)
    assert (found.trouble, rows(found)) == ("", [7])
    (log / "log.jsonl").unlink()
    log.rmdir()
    append(log, range(1, 5))
    assert rows(watch.look(3.0)) == [4]


def test_ten_thousand_names_that_come_one_by_one_are_followed(tmp_path):
    path = tmp_path / "log.jsonl"
    follow = Follow([path])
    for first in range(1, 10_001, 1000):
        with path.open("a") as file:
            file.writelines(f'{{"step": {s}, "loss": 0.1, "layer{s}/norm": 1.0}}\n' for s in range(first, first + 1000))
        assert len(follow.poll()) == 1000
    (run,) = follow.load().runs
    assert len(run.unknown) == 10_000


def test_a_log_behind_a_url_is_asked_for_changes_and_fetched_again(readings):
    files = pytest.importorskip("fsspec").filesystem("memory")
    row = '{{"step": {n}, "reward": 0.5, "loss": 0.1}}\n'
    text = "".join(row.format(n=n) for n in range(1, 31))
    files.pipe("/watched/log.jsonl", text.encode())
    watch = untimed("memory://watched/log.jsonl")
    assert [rows(watch.look(now)) for now in (0.0, 5.0, 20.0)] == [[30], [30], [30]]
    assert len(readings) == 1
    files.pipe("/watched/log.jsonl", (text + row.format(n=31)).encode())
    assert rows(watch.look(21.0)) == [30], "it is asked every ten seconds"
    assert rows(watch.look(31.0)) == [31]
    files.rm("/watched", recursive=True)
    gone = watch.look(42.0)
    assert (rows(gone), "nothing under this URL" in gone.trouble) == ([31], True)


def test_a_pattern_finds_runs_that_begin_later(tmp_path):
    append(tmp_path / "a.jsonl", range(1, 4))
    watch = untimed(tmp_path / "*.jsonl")
    assert rows(watch.look(0.0)) == [3]
    append(tmp_path / "b.jsonl", range(1, 6))
    assert rows(watch.look(1.0)) == [3, 5]


def test_watching_says_what_check_says(tmp_path):
    made = [dict(r) for r in simulate("grpo", "kl-explosion", rows=80, seed=3).rows]
    watch = untimed(tmp_path / "log.jsonl")
    for end in (10, 40, 80):
        (tmp_path / "log.jsonl").write_text("".join(json.dumps(r) + "\n" for r in made[:end]))
        (seen,) = watch.look(float(end)).runs
        assert seen.diagnosis.findings == diagnose(load([tmp_path / "log.jsonl"]).runs[0]).findings


def test_settings_in_the_runs_own_folder_count_as_they_do_for_check(log, tmp_path):
    append(log, range(31, 34), loss=float("nan"))
    (tmp_path / "holter.toml").write_text('[ignore]\nnot-finite = "a test"\n')
    (seen,) = untimed(log).look(0.0).runs
    assert seen.diagnosis.ignored == {"not-finite": "a test"}


def test_once_prints_the_page_and_ends(log):
    done = subprocess.run(
        [sys.executable, "-m", "holter", "watch", "--once", str(log)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    assert "Vital signs" in done.stdout
    assert "30 rows, steps 1-30" in done.stdout
    missing = subprocess.run(
        [sys.executable, "-m", "holter", "watch", "--once", str(log) + "x"],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert missing.returncode == 2
    assert "there is no such file or folder" in missing.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [(["--exec", "'no end"], "--exec"), (["--notify", "https://user:secret@host"], "--notify takes a file")],
)
def test_once_refuses_what_following_would_refuse(log, arguments, says):
    result = CliRunner().invoke(holter, ["watch", "--once", *arguments, str(log)])
    assert isinstance(result.exception, SettingsError)
    assert says in str(result.exception)
    assert "Vital signs" not in result.output
