"""Weights & Biases, online or offline as its own environment variables say."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from holter.sinks.base import Destination, Sample, Tracker, Values
from holter.sinks.naming import renamed
from holter.sinks.tables import columns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from holter.store.manifest import Manifest


class WandbSink:
    """Logs rows against the training step, not against the number of calls to ``log``.

    The run is the process's own when the caller began one; it is then left open at the end.
    """

    name = "wandb"

    def __init__(self, destination: Destination) -> None:
        self.destination = destination
        self._run: Any = None
        self._ours = False
        self._axis = destination.rename("global_step")

    def open(self, manifest: Manifest) -> None:
        """Begin a run, or join the one that is there."""
        import wandb

        self._run = wandb.run
        self._ours = self._run is None
        if self._ours:
            to = self.destination
            to.folder.mkdir(parents=True, exist_ok=True)
            options: dict[str, Any] = {
                "project": to.project or os.getenv("WANDB_PROJECT", "holter"),
                "id": manifest.id,
                "resume": "allow" if to.resume else None,
                "name": to.run_name or manifest.name or None,
                "dir": str(to.folder),
                "reinit": "create_new",
            }
            self._run = wandb.init(**{**options, **to.options.get("wandb", {})})
        self.configure(manifest.config)
        self._run.define_metric(self._axis, hidden=True)
        self._run.define_metric("*", step_metric=self._axis, step_sync=True)

    def configure(self, config: Mapping[str, object]) -> None:
        """Take hyper-parameters."""
        self._run.config.update(dict(config), allow_val_change=True)

    def write(self, step: float, row: Values) -> None:
        """One history row."""
        self._run.log({**renamed(row, self.destination.rename), self._axis: _whole(step)})

    def samples(self, step: float, rows: Sequence[Sample]) -> None:
        """One table a step, under the name that TRL gives it."""
        import wandb

        held = columns(_whole(step), rows)
        table = wandb.Table(columns=list(held), log_mode="IMMUTABLE")
        for row in zip(*held.values(), strict=True):
            table.add_data(*row)
        self._run.log({"completions": table, self._axis: _whole(step)})

    def alert(self, title: str, text: str, level: str) -> None:
        """An alert of the run, which W&B sends on as its user has chosen; it takes 63 characters of a title."""
        self._run.alert(title=title, text=text, level=level)

    def close(self) -> None:
        """Finish the run if it is ours. wandb's own process may write the last rows a moment after this returns."""
        if self._run is not None and self._ours:
            self._run.finish()


def _whole(step: float) -> float:
    return int(step) if float(step).is_integer() else step


WANDB = Tracker(name="wandb", title="Weights & Biases", create=WandbSink, package="wandb")
