"""`Accelerator(log_with=[HolterTracker()])`, with the real accelerate."""

from __future__ import annotations

import math

import pytest

accelerate = pytest.importorskip("accelerate")
pytest.importorskip("torch")

from holter.adapters.accelerate import HolterTracker  # noqa: E402
from holter.runs.load import load  # noqa: E402
from holter.store.manifest import read_manifest  # noqa: E402
from tests.patience import PATIENCE  # noqa: E402

pytestmark = [pytest.mark.filterwarnings("ignore:::accelerate"), pytest.mark.filterwarnings("ignore:::torch")]


def test_a_loop_that_accelerate_drives_is_recorded_watched_and_stopped(tmp_path, rows):
    heard = []
    accelerator = accelerate.Accelerator(
        cpu=True, log_with=[HolterTracker(tmp_path / "run", stop_on="critical", tell=heard.append)]
    )
    accelerator.init_trackers("project", config={"lr": 1e-6, "beta": 0.04})
    run = accelerator.get_tracker("holter", unwrap=True)
    for step in range(1, 41):
        accelerator.log({"loss": 0.1 if step < 20 else math.nan, "reward": 0.1 * math.sin(step), "kl": 0.01}, step=step)
        assert run.monitor.settle(PATIENCE)
        if run.should_stop:
            break
    accelerator.end_training()
    assert step == 20
    assert [r["step"] for r in rows(tmp_path / "run")] == list(range(1, 21))
    assert rows(tmp_path / "run")[-1]["loss"] == "NaN"
    assert read_manifest(tmp_path / "run" / "run.json").config == {"lr": 1e-6, "beta": 0.04}
    assert "not-finite" in {a.finding.detector for a in heard}
    assert run.finished


def test_a_run_without_configuration_begins_with_its_first_row(tmp_path):
    tracker = HolterTracker(tmp_path / "run", monitor=False)
    tracker.start()
    assert tracker.tracker is None
    tracker.log({"reward": 0.5})
    tracker.finish()
    assert load([tmp_path / "run"]).runs[0].steps.tolist() == [1]
