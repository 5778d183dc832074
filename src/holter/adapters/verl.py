"""verl: ``holter`` among the names that ``trainer.logger`` takes.

With Holter installed where verl runs, nothing has to be called: verl loads its plug-ins by itself
(`holter.adapters.verl_plugin`), and ``trainer.logger='["console","holter"]'`` records the run.
"""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any

from holter import session

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holter.session import LiveRun

BACKEND = "holter"


class Backend:
    """What verl's ``Tracking`` calls: ``log(data, step)`` and ``finish()``."""

    def __init__(self, run: LiveRun) -> None:
        """Log to `run`."""
        self.run = run

    def log(self, data: Mapping[str, object], step: int) -> None:
        """One row. Never raises."""
        self.run.log(data, step=step)

    def finish(self) -> None:
        """End the run. Never raises."""
        self.run.finish()


def register(tracking: Any, **options: Any) -> None:  # noqa: ANN401 - verl is not typed
    """Teach a ``Tracking`` class the backend ``holter``. Twice is the same as once.

    Args:
        tracking: ``verl.utils.tracking.Tracking``, or a class like it: ``supported_backend``, ``logger``, and a constructor
            that takes project, experiment, backends and configuration.
        options: What `holter.init` takes beside these; the run folder is ``runs/<project>/<experiment>``, the next free
            number behind it.
    """
    if BACKEND in tracking.supported_backend:
        return
    tracking.supported_backend = [*tracking.supported_backend, BACKEND]
    begin = tracking.__init__
    names = inspect.signature(begin)

    @functools.wraps(begin)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401, N807 - a constructor of that class
        begin(self, *args, **kwargs)
        given = names.bind(self, *args, **kwargs)
        given.apply_defaults()
        asked = given.arguments["default_backend"]
        if BACKEND in ([asked] if isinstance(asked, str) else list(asked)):
            run = session.init(
                project=given.arguments["project_name"],
                name=given.arguments["experiment_name"],
                config=given.arguments["config"],
                **options,
            )
            self.logger[BACKEND] = Backend(run)

    tracking.__init__ = __init__
    end = getattr(tracking, "finish", None)
    if end is None:
        return

    @functools.wraps(end)
    def finish(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - a method of that class
        end(self, *args, **kwargs)
        backend = getattr(self, "logger", {}).get(BACKEND)
        if backend is not None:
            backend.finish()

    tracking.finish = finish
