"""Lightning: a logger for its ``Trainer``.

```python
trainer = Trainer(logger=HolterLogger("runs/mine", stop_on="critical"), callbacks=[StopOnFinding()], log_every_n_steps=1)
```
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from holter import session
from holter.adapters.settings import plain

if TYPE_CHECKING or "lightning.pytorch" in sys.modules or find_spec("lightning") is not None:
    from lightning.pytorch.callbacks import Callback
    from lightning.pytorch.loggers.logger import Logger
    from lightning.pytorch.utilities import rank_zero_only
else:
    # The same code under its older name; a Trainer of the one takes no logger of the other.
    from pytorch_lightning.callbacks import Callback
    from pytorch_lightning.loggers.logger import Logger
    from pytorch_lightning.utilities import rank_zero_only

if TYPE_CHECKING:
    from pathlib import Path

    from holter.session import LiveRun


class HolterLogger(Logger):
    """Records what a ``LightningModule`` logs, at the global step, its hyper-parameters, and checkpoints as events."""

    def __init__(self, path: str | Path | None = None, **options: Any) -> None:  # noqa: ANN401 - see holter.init
        """Make the logger; the run begins with its first row.

        Args:
            path: The run folder; ``runs/...`` when left out.
            options: What else `holter.init` takes.
        """
        super().__init__()
        self._path, self._options = path, options
        self._run: LiveRun | None = None
        self._config: dict[str, Any] = {}
        self._checkpoint = ""

    @property
    def experiment(self) -> LiveRun | None:
        """The run; None before it begins. Lightning asks before it gives the hyper-parameters."""
        return self._run

    @property
    def name(self) -> str:
        """What people call the run; empty before it begins."""
        return self._run.name if self._run is not None else ""

    @property
    def version(self) -> str:
        """Id of the run; empty before it begins."""
        return self._run.id if self._run is not None else ""

    @property
    def save_dir(self) -> str | None:
        """The run folder, below which Lightning puts its checkpoints where nobody says otherwise."""
        path = self._run.path if self._run is not None else self._path
        return None if path is None else str(path)

    @rank_zero_only
    def log_hyperparams(self, params: Any, *_: Any, **__: Any) -> None:  # noqa: ANN401 - Lightning's signature
        """Hyper-parameters; those that come before the first row are in the run's manifest."""
        self._config |= plain(params)

    @rank_zero_only
    def log_metrics(self, metrics: dict[str, float], step: int | None = None) -> None:
        """One row. Never raises once the run has begun."""
        self._begun().log(metrics, step=step)

    @rank_zero_only
    def after_save_checkpoint(self, checkpoint_callback: Any) -> None:  # noqa: ANN401 - Lightning's signature
        """Note a checkpoint."""
        path = str(getattr(checkpoint_callback, "_last_checkpoint_saved", "") or checkpoint_callback.best_model_path)
        if path and path != self._checkpoint:
            self._checkpoint = path
            run = self._begun()
            run.note({"kind": "checkpoint", "step": run.step, "path": path})

    @rank_zero_only
    def finalize(self, status: str) -> None:
        """End the run where training did; a test after it is recorded nowhere."""
        if self._run is not None and status in ("success", "failed", "interrupted"):
            self._run.finish(exit_code=0 if status == "success" else 1)

    def _begun(self) -> LiveRun:
        if self._run is None:
            self._run = session.init(self._path, **{"config": self._config, **self._options})
        return self._run


class StopOnFinding(Callback):
    """Ends training where the ``stop_on`` of a `HolterLogger` says so. Lightning makes processes agree on it."""

    def on_train_batch_end(self, trainer: Any, *_: Any, **__: Any) -> None:  # noqa: ANN401 - Lightning's signature
        """Ask every `HolterLogger` of the trainer."""
        runs = [each.experiment for each in trainer.loggers if isinstance(each, HolterLogger)]
        stops = any(run is not None and run.should_stop for run in runs)
        trainer.should_stop = trainer.should_stop or trainer.strategy.reduce_boolean_decision(stops, all=False)
