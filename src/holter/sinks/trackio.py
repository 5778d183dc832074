"""Trackio, Hugging Face's local-first tracker: a store on this machine, or the Space that its options name."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from holter.sinks.base import Destination, Sample, Tracker, Values
from holter.sinks.naming import renamed
from holter.sinks.tables import columns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from holter.store.manifest import Manifest


class TrackioSink:
    """Logs rows against the step. Trackio's steps are whole numbers: a fraction is cut off."""

    name = "trackio"

    def __init__(self, destination: Destination) -> None:
        self.destination = destination
        self._run: Any = None

    def open(self, manifest: Manifest) -> None:
        """Begin a run, or go on with the one of the same name."""
        import trackio

        to = self.destination
        options: dict[str, Any] = {
            "project": to.project or os.getenv("TRACKIO_PROJECT", "holter"),
            "name": to.run_name or manifest.name or manifest.id,
            "config": dict(manifest.config),
            "resume": "allow" if to.resume else "never",
            "embed": False,
            **to.options.get("trackio", {}),
        }
        self._run = trackio.init(**options)

    def configure(self, config: Mapping[str, object]) -> None:
        """Take hyper-parameters that became known later; Trackio sends them with the run's first row."""
        self._run.config.update(dict(config))

    def write(self, step: float, row: Values) -> None:
        """One row."""
        self._run.log(renamed(row, self.destination.rename), step=int(step))

    def samples(self, step: float, rows: Sequence[Sample]) -> None:
        """One table a step, where pandas is installed, which Trackio's tables are made of."""
        import trackio

        try:
            import pandas as pd
        except ImportError:
            return
        frame = pd.DataFrame(columns(int(step), rows))
        self._run.log({"completions": trackio.Table(dataframe=frame)}, step=int(step))

    def alert(self, title: str, text: str, level: str) -> None:
        """An alert of the run, which Trackio shows and sends on."""
        import trackio

        self._run.alert(title=title, text=text, level=trackio.AlertLevel[level])

    def close(self) -> None:
        """Finish the run."""
        if self._run is not None:
            self._run.finish()


TRACKIO = Tracker(name="trackio", title="Trackio", create=TrackioSink, package="trackio", gives_way=True)
