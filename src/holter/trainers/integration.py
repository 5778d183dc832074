"""Trackers that transformers integrates, as sinks: rows by its own callbacks, completions as tables where a tracker has any."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, TypeAlias

from holter.sinks.tables import columns

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from transformers import Trainer, TrainerControl, TrainerState

    from holter.sinks.base import Sample, Values
    from holter.store.manifest import Manifest
    from holter.trainers.config import OnPolicyConfig

Table: TypeAlias = "dict[str, list[Any]]"


class Integration:
    """A tracker that transformers integrates: its callback, called in the thread of its own."""

    def __init__(self, name: str, trainer: Trainer) -> None:
        """Wrap the callback of the integration called `name`."""
        from transformers.integrations.integration_utils import INTEGRATION_TO_CALLBACK

        self.name = name
        self.callback = INTEGRATION_TO_CALLBACK[name]()
        self.trainer = trainer

    def open(self, manifest: Manifest) -> None:  # noqa: ARG002
        """Let the integration set itself up."""
        self.callback.on_train_begin(*self._told(self.trainer.state.global_step), model=self.trainer.model)

    def write(self, step: float, row: Values) -> None:
        """One call of ``on_log``."""
        logs = {
            f"eval_{k.removeprefix('eval/')}" if k.startswith("eval/") else k: v
            for k, v in row.items()
            if v is not None and k != "time"
        }
        self.callback.on_log(*self._told(step), model=self.trainer.model, logs=logs)

    def samples(self, step: float, rows: Sequence[Sample]) -> None:
        """One table, where the tracker has tables; see `TABLES`."""
        if self.name in TABLES:
            TABLES[self.name](int(step), columns(int(step), rows))

    def close(self) -> None:
        """Let the integration finish."""
        self.callback.on_train_end(*self._told(self.trainer.state.global_step), model=self.trainer.model)

    def _told(self, step: float) -> tuple[OnPolicyConfig, TrainerState, TrainerControl]:
        state = copy.copy(self.trainer.state)
        state.global_step = int(step)
        return self.trainer.args, state, copy.copy(self.trainer.control)


def _trackio(step: int, table: Table) -> None:
    import pandas as pd
    import trackio

    trackio.log({"completions": trackio.Table(dataframe=pd.DataFrame(table)), "train/global_step": step})


def _mlflow(step: int, table: Table) -> None:
    import mlflow

    mlflow.log_table(table, artifact_file=f"completions/{step:08d}.json")


def _comet(step: int, table: Table) -> None:
    import comet_ml

    rows = [list(row) for row in zip(*table.values(), strict=True)]
    comet_ml.get_running_experiment().log_table(f"completions/{step:08d}.csv", tabular_data=rows, headers=list(table))


TABLES: dict[str, Callable[[int, Table], None]] = {"trackio": _trackio, "mlflow": _mlflow, "comet_ml": _comet}
"""Who takes completions: step and columns. Others have no tables, or none that is filled from Python in one call."""
