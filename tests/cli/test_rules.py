"""`holter rules test`: when would I have been told, and how often wrongly?"""

from __future__ import annotations

import json
from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner

from holter.alerts import Ledger
from holter.cli import holter
from holter.findings.diagnosis import diagnose
from holter.monitor.label import Label, label_beside
from holter.monitor.replay import replay, tally
from holter.runs.load import load
from holter.settings import AlertSettings, Settings
from holter.simulation.run import simulate

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "runs"
SHARED = ROOT.parent / "shared" / "runs" / "trl"


def made(folder: Path, fault: str | None, meta: dict | None = None, rows=80, **options) -> Path:
    folder.mkdir()
    lines = simulate("grpo", fault, rows=rows, seed=3, **options).rows
    (folder / "log.jsonl").write_text("".join(json.dumps(dict(r)) + "\n" for r in lines))
    if meta is not None:
        (folder / "meta.json").write_text(json.dumps(meta))
    return folder


def asked(*arguments) -> dict:
    done = CliRunner().invoke(holter, ["rules", "test", "--format", "json", *map(str, arguments)])
    assert done.exit_code == 0, done.output
    return orjson.loads(done.stdout)


def test_a_sick_run_is_told_of_after_its_onset_and_a_healthy_one_not(tmp_path):
    sick = made(tmp_path / "sick", "kl-explosion", {"healthy": False, "onset_step": 40}, onset=40)
    well = made(tmp_path / "well", None, {"healthy": True})
    said = asked(sick, well)
    first, second = said["runs"]
    assert (first["healthy"], first["onset"]) == (False, 40)
    assert first["told"][0]["step"] >= 40
    assert first["rows_late"] == first["told"][0]["step"] - 40
    assert (second["healthy"], second["told"]) == (True, [])
    total = said["total"]
    assert (total["sick"], total["caught"], total["healthy"], total["disturbed"]) == (1, 1, 1, 0)


def test_whatever_is_told_of_a_run_that_is_called_healthy_is_told_wrongly():
    said = asked("--healthy", EXAMPLES / "hacked-ppo")
    (run,) = said["runs"]
    assert run["told"]
    assert all(a["wrongly"] for a in run["told"])
    assert said["total"]["disturbed"] == 1
    assert said["total"]["detectors"]["reward-hacking"] == {"rightly": 0, "wrongly": 1, "unknown": 0}


def test_settings_are_tried(tmp_path):
    settings = tmp_path / "strict.toml"
    settings.write_text('[ignore]\nreward-hacking = "tried without"\n[alerts]\nfloor = "critical"\n')
    usual = asked(EXAMPLES / "hacked-ppo")
    tried = asked("--config", settings, EXAMPLES / "hacked-ppo")
    assert tried["settings"] == str(settings)
    assert "reward-hacking" in usual["total"]["detectors"]
    assert "reward-hacking" not in tried["total"]["detectors"]
    assert {a["severity"] for r in tried["runs"] for a in r["told"]} <= {"critical"}
    only = asked("--select", "entropy-*", EXAMPLES / "hacked-ppo")
    assert set(only["total"]["detectors"]) == {"entropy-collapse"}


def test_the_table_names_runs_by_what_tells_them_apart(tmp_path):
    sick = made(tmp_path / "sick", "kl-explosion", {"healthy": False, "onset_step": 40, "fault": "kl"}, onset=40)
    well = made(tmp_path / "well", None)
    done = CliRunner().invoke(holter, ["rules", "test", str(sick), str(well)], env={"COLUMNS": "100"})
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines[0] == ["run", "truth", "onset", "told", "at", "rows", "late", "by"]
    assert lines[1][:3] == ["sick", "kl", "40"]
    assert lines[2] == ["well", "unknown", "never"]
    assert "Sick: told of 1 in 1" in done.stdout
    assert "nobody said whether they are healthy: 1." in done.stdout


def test_a_log_that_cannot_be_read_is_said(tmp_path):
    done = CliRunner().invoke(holter, ["rules", "test", str(tmp_path / "gone")])
    assert done.exit_code != 0
    assert "no such file" in str(done.exception)


def row_by_row(run, settings) -> list[tuple[str, float, str]]:
    """What people would have heard, by looking after every row."""
    ledger = Ledger.of(settings.alerts)
    out = []
    for count, step in enumerate(run.steps.tolist(), start=1):
        found = diagnose(run.until(step), settings)
        alerts = ledger.update(found.findings, rows=count, step=step, now=0.0)
        out += [(a.kind, a.step, a.finding.detector) for a in alerts if a.told and a.kind != "resolved"]
    return out


@pytest.mark.slow
@pytest.mark.parametrize("name", ["grpo-nan_ref-0", "grpo-kl_too_large-0", "grpo-reward_outage-0", "ppo-lr_spike-0"])
def test_a_replay_tells_what_looking_after_every_row_tells(name):
    if not (SHARED / name).exists():
        pytest.skip("this run is not here")
    (run,) = load([SHARED / name]).runs
    settings = Settings(alerts=AlertSettings(cool_down=0.0))
    told = [(a.kind, a.step, a.finding.detector) for a in replay(run, Label(), settings).told]
    slow = row_by_row(run, settings)
    assert told[0] == slow[0], "the first alert, to the row"
    assert {d for _, _, d in told} <= {d for _, _, d in slow}
    assert {d for k, _, d in slow if k == "opened"} >= {d for k, _, d in told if k == "opened"}


@pytest.mark.parametrize(
    ("file", "said", "truth"),
    [
        ("meta.json", {"healthy": False, "onset_step": 40, "fault": "nan"}, (False, 40.0, "nan")),
        ("meta.json", {"fault": "healthy_rm"}, (True, None, "healthy_rm")),
        ("meta.json", {"fault": "lr_spike", "onset": 3}, (False, 3.0, "lr_spike")),
        ("meta.json", {"labels": ["healthy"]}, (True, None, "healthy")),
        ("meta.json", {"labels": ["nan", "kl"]}, (False, None, "nan, kl")),
        ("meta.json", ["no", "object"], (None, None, "")),
        ("expect.json", {"severity": "critical", "expected": ["nan"]}, (False, None, "nan")),
        ("expect.json", {"severity": "none", "expected": []}, (True, None, "none")),
        ("expect.json", {"severity": "warning", "expected": ["x"]}, (None, None, "x")),
    ],
)
def test_a_label_is_read_from_beside_the_log(tmp_path, file, said, truth):
    (tmp_path / file).write_text(json.dumps(said))
    found = label_beside(tmp_path / "log.jsonl")
    assert (found.healthy, found.onset, found.says) == truth


def test_alerts_from_before_the_onset_are_false_and_of_no_use():
    (run,) = load([EXAMPLES / "hacked-ppo"]).runs
    late = replay(run, Label(healthy=False, onset=110.0), Settings())
    assert late.wrongly
    assert late.first is None or late.first.step >= 110
    counted = tally([late])
    assert counted.early == 1
