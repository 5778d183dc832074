"""`Trainer(logger=HolterLogger())`, with the real Lightning."""

from __future__ import annotations

import importlib
import importlib.util
import warnings

import orjson
import pytest

from holter.store.manifest import read_manifest
from tests.patience import PATIENCE

torch = pytest.importorskip("torch")
if importlib.util.find_spec("lightning") is None and importlib.util.find_spec("pytorch_lightning") is None:
    pytest.skip("neither lightning nor pytorch-lightning is installed", allow_module_level=True)
with warnings.catch_warnings():
    # Importing Lightning warns of what the packages below it deprecate.
    warnings.simplefilter("ignore")
    from holter.adapters import lightning as adapter

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def module(breaks_at: int | None):
    base = adapter.Logger.__module__.partition(".loggers")[0]
    lightning = importlib.import_module(base)

    class Model(lightning.LightningModule):
        def __init__(self, lr=1e-3):
            super().__init__()
            self.save_hyperparameters()
            self.layer = torch.nn.Linear(2, 1)

        def training_step(self, batch, at):
            step = self.global_step + 1
            self.log("reward", 0.1 * step)
            self.log("kl", float("nan") if breaks_at is not None and step >= breaks_at else 0.01)
            return self.layer(batch).pow(2).mean()

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=self.hparams.lr)

    return lightning, Model()


def fit(logger, tmp_path, *, breaks_at=None, callbacks=(), steps=12):
    lightning, model = module(breaks_at)
    trainer = lightning.Trainer(
        logger=logger,
        callbacks=[
            *callbacks,
            lightning.callbacks.ModelCheckpoint(dirpath=tmp_path / "kept", every_n_train_steps=5, save_top_k=-1),
        ],
        max_steps=steps,
        log_every_n_steps=1,
        accelerator="cpu",
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(model, torch.utils.data.DataLoader(torch.ones(64, 2), batch_size=2))
    return trainer


def events(folder):
    return [orjson.loads(line) for line in (folder / "findings.jsonl").read_bytes().splitlines()]


def test_what_a_module_logs_is_recorded_with_its_hyper_parameters_and_checkpoints(tmp_path, rows):
    logger = adapter.HolterLogger(tmp_path / "run", monitor=False)
    fit(logger, tmp_path)
    found = rows(tmp_path / "run")
    assert [r["reward"] for r in found if "reward" in r] == pytest.approx([0.1 * n for n in range(1, 13)])
    assert read_manifest(tmp_path / "run" / "run.json").config["lr"] == 1e-3
    said = events(tmp_path / "run")
    assert [s["path"].rsplit("-", 1)[-1] for s in said if s["kind"] == "checkpoint"] == ["step=5.ckpt", "step=10.ckpt"]
    assert said[-1]["kind"] == "finished"
    assert logger.save_dir == str(tmp_path / "run")
    assert logger.name == "run"
    assert logger.version


def test_training_ends_where_a_finding_asks_for_it(tmp_path, monkeypatch):
    logger = adapter.HolterLogger(tmp_path / "run", stop_on="critical", tell=None)
    ask = adapter.StopOnFinding.on_train_batch_end

    def settled(self, trainer, *args, **kwargs):
        if logger.experiment is not None:
            logger.experiment.monitor.settle(PATIENCE)
        ask(self, trainer, *args, **kwargs)

    monkeypatch.setattr(adapter.StopOnFinding, "on_train_batch_end", settled)
    trainer = fit(logger, tmp_path, breaks_at=6, callbacks=[adapter.StopOnFinding()], steps=30)
    assert trainer.global_step < 12
    kinds = [s["kind"] for s in events(tmp_path / "run")]
    assert "stop" in kinds
    assert kinds[-1] == "finished"
