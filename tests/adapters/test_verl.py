"""verl's `Tracking` with the backend `holter`."""

from __future__ import annotations

import sys
import tomllib
import types
from pathlib import Path

import pytest

from holter.adapters.verl import Backend, register
from holter.runs.load import load
from holter.store.manifest import read_manifest

CONFIG = {"trainer": {"project_name": "rlhf", "total_epochs": 1}, "algorithm": {"adv_estimator": "grpo"}}


def row(step: int) -> dict:
    return {
        "critic/score/mean": 0.1 * step,
        "actor/kl_loss": 0.01,
        "actor/entropy": 2.0,
        "actor/grad_norm": 0.3,
        "training/global_step": step,
    }


def tracking_as_documented() -> type:
    """A class with what `register` needs of verl's: its documented attributes and constructor."""

    class Tracking:
        supported_backend = ["wandb", "console"]  # noqa: RUF012 - as verl has it

        def __init__(self, project_name, experiment_name, default_backend="console", config=None):
            backends = [default_backend] if isinstance(default_backend, str) else default_backend
            for backend in backends:
                assert backend in self.supported_backend, f"{backend} is not supported"
            self.logger = {}

        def log(self, data, step, backend=None):
            for name, logger in self.logger.items():
                if backend is None or name in backend:
                    logger.log(data=data, step=step)

    return Tracking


@pytest.fixture(params=["as documented", "installed"])
def tracking(request, module_of):
    if request.param == "as documented":
        return tracking_as_documented()
    return module_of("verl", "verl/utils/tracking.py").Tracking


def test_a_run_is_recorded_under_verls_own_names(tracking, rows, tmp_path):
    register(tracking, monitor=False)
    logger = tracking("rlhf", "qwen", "holter", CONFIG)
    for step in range(1, 6):
        logger.log(data=row(step), step=step)
    folder = tmp_path / "runs" / "rlhf" / "qwen"
    assert [r["step"] for r in rows(folder)] == [1, 2, 3, 4, 5]
    assert rows(folder)[0]["critic/score/mean"] == 0.1
    assert read_manifest(folder / "run.json").config["algorithm"] == {"adv_estimator": "grpo"}
    (run,) = load([folder]).runs
    assert run.dialect == "verl"
    backend = logger.logger["holter"]
    assert isinstance(backend, Backend)
    if hasattr(logger, "finish"):
        logger.finish()
        assert backend.run.finished
    backend.finish()


def test_without_being_asked_for_nothing_is_recorded(tracking, tmp_path):
    register(tracking)
    register(tracking)
    assert tracking.supported_backend.count("holter") == 1
    logger = tracking("rlhf", "qwen", [], CONFIG)
    assert logger.logger == {}
    assert not (tmp_path / "runs").exists()


def test_importing_the_plug_in_registers_and_verl_is_told_of_it(monkeypatch):
    tracking = tracking_as_documented()
    for name in ("verl", "verl.utils", "verl.utils.tracking"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    sys.modules["verl.utils.tracking"].Tracking = tracking
    monkeypatch.delitem(sys.modules, "holter.adapters.verl_plugin", raising=False)
    import holter.adapters.verl_plugin

    assert "holter" in tracking.supported_backend
    monkeypatch.delitem(sys.modules, "holter.adapters.verl_plugin")
    declared = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]["entry-points"]
    assert declared["verl.plugins"]["holter"] == holter.adapters.verl_plugin.__name__


def test_verls_own_file_logger_is_read_too(module_of, tmp_path, monkeypatch):
    module = module_of("verl", "verl/utils/tracking.py")
    monkeypatch.setenv("VERL_FILE_LOGGER_PATH", str(tmp_path / "qwen.jsonl"))
    logger = module.Tracking("rlhf", "qwen", ["file"], CONFIG)
    for step in range(1, 6):
        logger.log(data=row(step), step=step)
    logger.finish()
    (run,) = load([tmp_path / "qwen.jsonl"]).runs
    assert (run.dialect, run.steps.tolist()) == ("verl", [1, 2, 3, 4, 5])
