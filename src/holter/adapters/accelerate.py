"""accelerate: a tracker for ``Accelerator(log_with=...)``, in any loop that accelerate drives.

```python
accelerator = Accelerator(log_with=[HolterTracker("runs/mine", stop_on="critical")])
accelerator.init_trackers("project", config={...})
accelerator.log({"reward": 0.3, "kl": 0.01}, step=7)
accelerator.end_training()
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from accelerate.tracking import GeneralTracker

from holter import session

if TYPE_CHECKING:
    from pathlib import Path

    from holter.session import LiveRun


class HolterTracker(GeneralTracker):
    """Records what ``accelerator.log`` is given, on the main process."""

    name = "holter"
    requires_logging_directory = False
    main_process_only = True

    def __init__(self, path: str | Path | None = None, **options: Any) -> None:  # noqa: ANN401 - see holter.init
        """Make the tracker; the run begins when accelerate starts it.

        Args:
            path: The run folder; ``runs/...`` when left out.
            options: What else `holter.init` takes.
        """
        super().__init__()
        self._path, self._options = path, options
        self._run: LiveRun | None = None

    @property
    def tracker(self) -> LiveRun | None:
        """The run: ``accelerator.get_tracker("holter", unwrap=True)``. Ask it ``should_stop``."""
        return self._run

    def start(self) -> None:
        """Nothing yet: the run begins with its configuration, which comes next, or with its first row."""

    def store_init_configuration(self, values: dict[str, Any]) -> None:
        """Begin the run with these hyper-parameters."""
        self._begin(values)

    def log(self, values: dict[str, Any], step: int | None = None, **_: Any) -> None:  # noqa: ANN401
        """One row. Never raises once the run has begun."""
        self._begin({}).log(values, step=step)

    def finish(self) -> None:
        """End the run."""
        if self._run is not None:
            self._run.finish()

    def _begin(self, config: dict[str, Any]) -> LiveRun:
        if self._run is None:
            self._run = session.init(self._path, **{"config": config, **self._options})
        return self._run
