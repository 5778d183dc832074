"""MLflow: the server, database or folder that its own tracking URI names."""

from __future__ import annotations

import importlib.util
import os
import re
import time
from typing import TYPE_CHECKING, Any

from holter.sinks.base import Destination, Sample, Tracker, Values
from holter.sinks.naming import as_logged, renamed
from holter.sinks.tables import columns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from holter.store.manifest import Manifest

_REFUSED = re.compile(r"[^\w\-./ :]", re.ASCII)
"""Characters that MLflow takes in no name."""
_AT_ONCE = 100
"""Parameters that one call may hold."""
_METRICS = 1000
"""Metrics that one call may hold."""
_LONGEST = 6000
"""Characters of a parameter's value."""
_MARK = "holter.run"


class MLflowSink:
    """Logs rows against the step, by a client of its own: which run is the process's active one stays as the caller has it.

    Where there is an active run its rows go there, and it is left open at the end. Names stay as they were
    logged, as transformers does it with MLflow; characters that MLflow refuses become ``_``. Its steps are whole numbers: a
    fraction is cut off.
    """

    name = "mlflow"

    def __init__(self, destination: Destination) -> None:
        self.destination = destination
        self._client: Any = None
        self._run = ""
        self._ours = False
        self._config: dict[str, str] = {}

    def open(self, manifest: Manifest) -> None:
        """Begin a run, go on with this one's own, or join the active one."""
        import mlflow

        to = self.destination
        options: dict[str, Any] = dict(to.options.get("mlflow", {}))
        self._client = mlflow.MlflowClient(options.get("tracking_uri"))
        active = mlflow.active_run()
        self._ours = active is None
        if active is not None:
            self._run = active.info.run_id
            self._config = dict(self._client.get_run(self._run).data.params)
        else:
            experiment = str(options.get("experiment") or to.project or os.getenv("MLFLOW_EXPERIMENT_NAME", "holter"))
            self._run = self._begun(experiment, manifest)
        self.configure(manifest.config)

    def configure(self, config: Mapping[str, object]) -> None:
        """Take hyper-parameters; one that MLflow holds already keeps the value it has there, as MLflow has it."""
        from mlflow.entities import Param

        new = {_REFUSED.sub("_", k): str(v)[:_LONGEST] for k, v in config.items()}
        new = {k: v for k, v in new.items() if k not in self._config}
        params = [Param(k, v) for k, v in new.items()]
        for start in range(0, len(params), _AT_ONCE):
            self._client.log_batch(self._run, params=params[start : start + _AT_ONCE])
        self._config.update(new)

    def write(self, step: float, row: Values) -> None:
        """One row, in one call where one may hold it."""
        from mlflow.entities import Metric

        at = int(1000 * (row.get("time") or time.time()))
        values = renamed(row, as_logged)
        metrics = [Metric(_REFUSED.sub("_", name), float(v), at, int(step)) for name, v in values.items()]
        for start in range(0, len(metrics), _METRICS):
            self._client.log_batch(self._run, metrics=metrics[start : start + _METRICS])

    def samples(self, step: float, rows: Sequence[Sample]) -> None:
        """One table a step among the run's artifacts, where pandas is installed, which MLflow's tables are made of."""
        if importlib.util.find_spec("pandas") is None:
            return
        name = f"completions/{int(step):08d}.json"
        self._client.log_table(self._run, columns(int(step), rows), artifact_file=name)

    def close(self) -> None:
        """End the run if it is ours."""
        if self._run and self._ours:
            self._client.set_terminated(self._run)

    def _begun(self, experiment: str, manifest: Manifest) -> str:
        found = self._client.get_experiment_by_name(experiment)
        where = found.experiment_id if found is not None else self._client.create_experiment(experiment)
        if self.destination.resume:
            for run in self._client.search_runs([where], f"tags.`{_MARK}` = '{manifest.id}'", max_results=1):
                self._client.update_run(run.info.run_id, status="RUNNING")
                self._config = dict(run.data.params)
                return str(run.info.run_id)
        name = self.destination.run_name or manifest.name or manifest.id
        return str(self._client.create_run(where, run_name=name, tags={_MARK: manifest.id}).info.run_id)


MLFLOW = Tracker(name="mlflow", title="MLflow", create=MLflowSink, package="mlflow", gives_way=True)
