"""What the monitor says while a run goes on is what `holter check` says of the same rows."""

from __future__ import annotations

import json
import math
import threading
import time
from pathlib import Path

import pytest

from holter.findings.diagnosis import diagnose
from holter.findings.finding import Severity
from holter.monitor import Monitor, StopRule
from holter.monitor.budget import Budget
from holter.monitor.surprise import Surprise
from holter.reports import json as contract
from holter.runs.load import load
from holter.simulation.run import simulate
from holter.store.manifest import describe
from tests.patience import PATIENCE

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared/runs/trl"
REAL = [
    *[ROOT / "examples/runs" / name for name in ("hacked-ppo/log.jsonl", "healthy-grpo/trainer_state.json")],
    *[SHARED / name for name in ("grpo-nan_ref-0", "grpo-kl_too_large-0", "ppo-lr_spike-0", "grpo-reward_outage-0")],
]
MADE = [("grpo", "kl-explosion"), ("ppo", "value-divergence"), ("grpo", "masked-nan"), ("grpo", None)]


def logged(path: Path) -> list[dict]:
    """The rows of a real log, as a training loop would log them again."""
    file = (
        path
        if path.is_file()
        else next(p for p in sorted(path.rglob("*")) if p.name in ("log.jsonl", "trainer_state.json"))
    )
    said = json.loads(file.read_text()) if file.suffix == ".json" else None
    rows = said["log_history"] if said else [json.loads(line) for line in file.read_text().splitlines()]
    number = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
    out = []
    for row in rows:
        values = {k: number.get(v, v) if isinstance(v, str) else v for k, v in row.items()}
        out.append({k: v for k, v in values.items() if v is None or isinstance(v, int | float)})
    return [row for row in out if "train_runtime" not in row]


def noise(step: int) -> float:
    """A reward that moves without going anywhere."""
    return 0.5 + 0.1 * math.sin(1.7 * step) + 0.03 * math.cos(4.1 * step)


def said_by(diagnosis) -> list[dict]:
    return [contract.finding(f) for f in diagnosis.findings]


def at_every(count: int, looks: int) -> set[int]:
    """Rows after which to compare: the first ones, where runs blow up, and some all over the log."""
    return {*range(1, 9), *range(1, count + 1, max(1, count // looks)), count}


def compare_with_check(begin, rows: list[dict], looks: int) -> None:
    run = begin(monitor=True)
    for number, row in enumerate(rows, start=1):
        run.log(row, step=row.get("step", number))
        if number not in at_every(len(rows), looks):
            continue
        assert run.monitor.settle(PATIENCE)
        try:
            (afterwards,) = load([run.path]).runs
        except ValueError:
            assert run.monitor.diagnosis is None
            continue
        assert said_by(run.monitor.diagnosis) == said_by(diagnose(afterwards)), f"after row {number}"
        assert run.monitor.diagnosis.last_good_step == diagnose(afterwards).last_good_step


@pytest.mark.parametrize("path", REAL, ids=lambda p: p.parent.name if p.is_file() else p.name)
def test_live_says_what_check_says_of_real_runs(begin, path):
    if not path.exists():
        pytest.skip("this run is not here")
    compare_with_check(begin, logged(path), looks=4)


@pytest.mark.parametrize(("algorithm", "fault"), MADE)
def test_live_says_what_check_says_of_made_runs(begin, algorithm, fault):
    compare_with_check(begin, [dict(r) for r in simulate(algorithm, fault, rows=120, seed=3).rows], looks=3)


def test_a_resumed_run_is_watched_with_its_history(begin, heard):
    rows = [dict(r) for r in simulate("grpo", "kl-explosion", onset=60, rows=120, seed=3).rows]
    first = begin(monitor=True)
    for row in rows[:90]:
        first.log(row)
    assert first.monitor.settle(PATIENCE)
    first.finish()
    known = {f.detector for f in first.monitor.diagnosis.findings if f.severity >= Severity.WARNING}
    assert known
    heard.clear()
    again = begin(monitor=True, resume=True, resumed_step=100, stop_on="warning")
    for row in rows[100:105]:
        again.log(row)
    assert again.monitor.settle(PATIENCE)
    assert again.monitor.diagnosis.run.steps.tolist() == [*range(1, 91), *range(101, 106)]
    assert said_by(again.monitor.diagnosis) == said_by(diagnose(load([again.path]).runs[0]))
    # Whoever resumes a run knows what was said of it.
    assert not {a.finding.detector for a in heard} & known
    assert not again.should_stop


def test_a_checkpoint_makes_trouble_after_it_undone(begin, heard):
    first = begin(monitor=True)
    for step in range(1, 31):
        first.log({"loss": 0.1 if step < 25 else math.nan, "kl": 0.01, "reward": 0.1 * step}, step=step)
    first.finish()
    assert [a.finding.severity for a in heard][:1] == [Severity.CRITICAL]
    again = begin(monitor=True, resume=True, resumed_step=20, stop_on="critical")
    again.log({"loss": 0.1, "kl": 0.01, "reward": 2.1}, step=21)
    assert again.monitor.settle(PATIENCE)
    assert not [f for f in again.monitor.diagnosis.findings if f.severity is Severity.CRITICAL]
    assert not again.should_stop


def test_findings_are_written_as_check_writes_them_and_told_once(begin, heard, lines):
    run = begin(monitor=True)
    for step in range(1, 41):
        run.log({"loss": 0.1 if step < 25 else math.nan, "kl": 0.01, "reward": noise(step)}, step=step)
        assert run.monitor.settle(PATIENCE)
    (found,) = [f for f in run.monitor.diagnosis.findings if f.severity is Severity.CRITICAL]
    run.finish()
    mine = [s for s in lines(run.path / "findings.jsonl") if s.get("finding", {}).get("detector") == found.detector]
    assert [(s["kind"], s["step"], s["told"]) for s in mine] == [("opened", 25, True)]
    assert mine[0]["finding"].keys() == contract.finding(found).keys()
    assert [str(a) for a in heard if a.finding.detector == found.detector] == [
        f"{found.detector} critical since step 25 (seen at 25): loss becomes NaN: 1 value, to the end of the log."
        " Last good step: 24."
    ]


def test_stopping_names_the_finding_and_the_last_good_step(begin, lines):
    run = begin(monitor=False, stop_on=["not-finite", "kl-*"])
    for step in range(1, 31):
        run.log({"loss": 0.1 if step < 25 else math.nan, "grad_norm": 1.0, "reward": noise(step)}, step=step)
        assert run.monitor.settle(PATIENCE)
        if run.should_stop:
            break
    assert (step, run.stop.step, run.stop.last_good_step) == (25, 25, 24)
    assert run.stop.reason.startswith("not-finite (critical) since step 25: loss becomes NaN")
    (stop,) = [s for s in lines(run.path / "findings.jsonl") if s["kind"] == "stop"]
    assert stop["reason"] == run.stop.reason


def test_a_detector_that_is_not_named_does_not_stop(begin):
    run = begin(stop_on="kl-*")
    for step in range(1, 31):
        run.log({"loss": 0.1 if step < 25 else math.nan, "grad_norm": 1.0, "reward": noise(step)}, step=step)
    assert run.monitor.settle(PATIENCE)
    assert run.monitor.diagnosis.findings
    assert not run.should_stop


def test_a_telling_that_raises_costs_one_warning(begin, caplog, lines):
    def tell(alert):
        raise ConnectionError("no route")

    run = begin(monitor=True, tell=tell)
    for step in range(1, 31):
        run.log({"loss": math.nan, "reward": math.nan, "kl": 0.1 * step * step}, step=step)
        assert run.monitor.settle(PATIENCE)
    run.finish()
    assert [s["kind"] for s in lines(run.path / "findings.jsonl")].count("opened") >= 2
    assert [r.getMessage() for r in caplog.records].count(
        "tell: an alert could not be sent (ConnectionError); training goes on (said once)"
    ) == 1


def test_a_telling_that_hangs_does_not_hold_up_training():
    hangs, released = threading.Event(), threading.Event()

    def tell(alert):
        hangs.set()
        released.wait()

    monitor = Monitor(tell=tell, patience=0.01)
    monitor.open(describe())
    for step in range(1, 200):
        monitor.write(step, {"loss": math.nan, "reward": 0.1})
    assert hangs.wait(PATIENCE)
    monitor.write(200, {"loss": math.nan, "reward": 0.1})
    monitor.close()
    assert monitor.diagnosis.run.steps[-1] < 200
    released.set()
    assert monitor.settle(PATIENCE)
    assert monitor.diagnosis.run.steps[-1] == 200


def test_a_detector_that_breaks_costs_one_warning_and_no_row(begin, monkeypatch, caplog, lines):
    def broken(*_):
        raise ValueError("a bug")

    monkeypatch.setattr("holter.monitor.monitor.diagnose", broken)
    run = begin(monitor=True)
    for step in range(1, 6):
        run.log({"loss": 0.1}, step=step)
        assert run.monitor.settle(PATIENCE)
    run.finish()
    assert len(lines(run.path / "metrics-0.jsonl")) == 5
    assert [r.getMessage() for r in caplog.records] == [
        "monitor: the detectors could not look (ValueError: a bug); training goes on"
    ]


def test_looks_cost_what_rows_and_time_bring():
    budget = Budget(0.0, per_row=0.001, share=0.02, credit=0.5, most=2.0, busiest=math.inf)
    looks = []
    for row in range(1, 2001):
        budget.earn(now=row * 0.01)
        if budget.affordable:
            looks.append(row)
            budget.spend(0.1 + 1e-4 * row)
    spent = sum(0.1 + 1e-4 * row for row in looks)
    # The last look may be on credit for as much as it was dearer than the one before.
    assert 0.9 * (0.5 + 2000 * 0.001) < spent < 0.5 + 2000 * 0.001 + 0.1
    assert looks[:4] == [1, 2, 3, 4]
    slow = Budget(0.0, per_row=0.001, share=0.02, credit=0.0, most=2.0)
    slow.spend(0.2)
    slow.earn(now=10.0)
    assert not slow.affordable
    slow.earn(now=21.0)
    assert slow.affordable


def test_looks_at_very_short_steps_take_no_more_than_their_share_of_the_time():
    budget = Budget(0.0, credit=1000.0, most=1000.0, busiest=0.125)
    looks = []
    for row in range(1, 101):
        budget.earn(now=row)
        if budget.affordable:
            looks.append(row)
            budget.spend(0.5)
    assert looks == list(range(1, 101, 4))
    assert budget.rest(now=100.0) == 1.0
    budget.earn(now=101.0, rows=0)
    assert budget.affordable


def test_a_row_that_came_while_the_monitor_rested_is_looked_at_though_none_comes_after_it():
    monitor = Monitor(budget=Budget(0.0, credit=1000.0, busiest=0.2), clock=time.monotonic)
    monitor.open(describe())
    for step in (1, 2):
        monitor.write(step, {"loss": 0.1})
        with monitor._change:
            assert monitor._change.wait_for(lambda step=step: monitor._looked == step, PATIENCE)
    monitor.close()


def test_the_first_value_that_is_not_finite_is_looked_at_whatever_it_costs():
    poor = Budget(0.0, per_row=0.0, share=0.0, credit=0.0)
    poor.spend(100.0)
    seen = threading.Event()
    monitor = Monitor(budget=poor, tell=lambda alert: seen.set())
    monitor.open(describe())
    for step in range(1, 51):
        monitor.write(step, {"loss": 0.1, "reward": 0.1})
    assert monitor.diagnosis is None
    monitor.write(51, {"loss": math.nan, "reward": 0.1})
    assert seen.wait(PATIENCE)
    monitor.close()


def test_a_jump_is_looked_at_on_credit_once_and_then_paid_for():
    budget = Budget(0.0, per_row=1.0, share=0.0, credit=0.0, most=100.0)
    budget.spend(50.0)
    budget.earn(now=1.0, rows=49)
    assert not budget.free_of_debt
    budget.earn(now=2.0, rows=1)
    assert budget.free_of_debt
    assert not budget.affordable
    budget.spend(50.0)
    assert not budget.free_of_debt


def test_a_jump_is_told_from_noise_a_trend_and_a_constant():
    surprise = Surprise()
    rows = [{"noise": noise(n), "trend": 3.0 * n, "constant": 1.0, "kl": 0.01 + 0.001 * noise(n)} for n in range(200)]
    assert not [n for n, row in enumerate(rows) if surprise.jumps(row)]
    assert surprise.jumps({"noise": noise(200), "kl": 0.05})
    assert surprise.jumps({"constant": 1.5})
    assert not surprise.first_not_finite({"noise": 1.0, "count": 3, "null": None})
    assert surprise.first_not_finite({"noise": math.inf})
    assert not surprise.first_not_finite({"noise": math.nan})


@pytest.mark.parametrize(
    ("stop_on", "severity", "detectors"),
    [
        (None, None, set()),
        ("critical", Severity.CRITICAL, set()),
        (["critical", "warning"], Severity.WARNING, set()),
        ("HLT201", None, {"kl-runaway"}),
        (["critical", "kl-run*"], Severity.CRITICAL, {"kl-runaway"}),
    ],
)
def test_what_stops_a_run_is_said_by_severity_name_code_or_pattern(stop_on, severity, detectors):
    assert StopRule.of(stop_on) == StopRule(severity, frozenset(detectors))
    assert bool(StopRule.of(stop_on)) == (stop_on is not None)
