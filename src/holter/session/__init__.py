"""Recording a run from any training loop.

```python
run = holter.init("runs/mine", config={"lr": 1e-6}, stop_on="critical")
for step, batch in enumerate(batches, start=1):
    run.log({"reward": 0.3, "kl": 0.01}, step=step)
    if run.should_stop:
        break
run.finish()
```
"""

from __future__ import annotations

import atexit
import inspect
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holter.alerts import Audience, Ledger, terminal
from holter.errors import HolterError
from holter.language import said, told
from holter.monitor import Monitor, StopRule
from holter.recorder import ranks
from holter.session import wandb_arguments
from holter.session.live_run import LiveRun
from holter.session.place import ROOT, NoSuchRunError, folder_called, folder_of, new_folder
from holter.settings import Settings, find_settings
from holter.sinks.base import Destination
from holter.sinks.naming import as_logged
from holter.sinks.registry import NONE, all_trackers, chosen, sinks_for
from holter.store.layout import is_run_folder
from holter.store.manifest import describe
from holter.store.reading import rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

__all__ = [
    "LiveRun",
    "NoSuchRunError",
    "StopRule",
    "alert",
    "current",
    "define_metric",
    "finish",
    "init",
    "log",
    "log_samples",
]

NO_RUN = said("there is no run yet: call holter.init() first")
_current: LiveRun | None = None


class NoRunError(HolterError, RuntimeError):
    """Something to log, and no run to log it to."""


def init(
    path: str | Path | None = None,
    *,
    project: str | None = None,
    name: str | None = None,
    config: object = None,
    report_to: str | Iterable[str] | None = None,
    resume: bool | str | None = None,
    id: str | None = None,
    resumed_step: float | None = None,
    algorithm: str = "",
    seed: int | None = None,
    monitor: bool = True,
    stop_on: str | Iterable[str] | None = None,
    tell: Callable[[object], None] | Iterable[Callable[[object], None]] | None = terminal,
    settings: Settings | None = None,
    ledger: Ledger | None = None,
    rename: Callable[[str], str] = as_logged,
    options: Mapping[str, Mapping[str, object]] | None = None,
    **for_wandb: object,
) -> LiveRun:
    """Begin to record a run, or go on with one.

    On a run of several processes every process may call this; the main one records, the others' calls do nothing.

    Args:
        path: The run folder. When left out: ``runs/<project>/<name>``, the next free number behind the name.
        project: Project, at trackers and in the default path.
        name: What people call the run.
        config: Hyper-parameters: a mapping, a dataclass, an object with ``to_dict``. Secrets in it are not stored.
        report_to: Trackers beside the run folder: names, ``"all"``; ``"none"`` records nothing at all.
        resume: Whether to go on with a run as a new segment: True or ``"must"`` (it must be there), ``"allow"`` (if it is
            there), or the path or id of the run.
        id: Id of the run: that of the one to resume, or of a new one.
        resumed_step: Step of the checkpoint that training goes on from; older rows after it count no more.
        algorithm: ``ppo``, ``grpo``, ...
        seed: Random seed; the config's ``seed`` when left out.
        monitor: Whether to run the detectors over the growing record.
        stop_on: When `LiveRun.should_stop` becomes true: ``"critical"``, ``"warning"``, names or patterns of detectors.
        tell: Called with every alert, one function or several; a line on standard error by default. The services that
            ``HOLTER_NOTIFY`` names and trackers of `report_to` that have alerts hear of them, too. None for silence.
        settings: Which detectors, with which limits; those of the working folder's ``holter.toml`` when left out.
        ledger: What counts as news: severity floor, cool-down, quiet rows at the start.
        rename: How a metric is called at the trackers.
        options: Settings of single trackers by name: ``{"wandb": {"entity": "lab"}}``.
        for_wandb: Further arguments of ``wandb.init`` (``entity``, ``tags``, ``group``, ...): W&B gets them where it is reported
            to. ``mode="disabled"`` records nothing.

    Raises:
        RunFolderError: When the folder holds a run already and none was to be resumed.
        NoSuchRunError: When the run to be resumed is not there.
        UnknownNameError: For a tracker or detector that does not exist.
        SettingsError: For a tracker that is not installed, an argument or setting that does not exist, or an address of a
            service that is none.
        OSError: When the folder cannot be written.
    """
    global _current
    options = wandb_arguments.for_wandb(for_wandb, inspect.signature(init).parameters, options or {})
    if for_wandb.get("mode") == wandb_arguments.DISABLED:
        report_to = NONE
    rule = StopRule.of(stop_on)
    trackers = chosen(report_to)[0]
    if report_to != NONE and report_to != [NONE]:
        trackers = (all_trackers()["holter"], *(t for t in trackers if t.name != "holter"))
    folder, resumes = _place(path, project, name, resume=resume, run_id=id)
    to = Destination(
        folder=folder,
        resume=resumes,
        resumed_step=resumed_step,
        project=project,
        run_name=name,
        rename=rename,
        options=options,
    )
    sinks = sinks_for(trackers, to) if _records() else []
    audience = Audience.of(tell, among=sinks) if sinks else Audience()
    manifest = describe(algorithm=algorithm, name=name or folder.name, config=config, seed=seed)
    if id is not None:
        manifest = replace(manifest, id=id)
    last = _last_step(folder, resumed_step) if resumes and sinks else 0
    run: LiveRun | None = None

    def note(said: Mapping[str, object]) -> None:
        if run is not None:
            run.note(said)

    watching = (
        Monitor(
            settings=settings if settings is not None else find_settings(Path.cwd()),
            stop_on=rule,
            ledger=ledger,
            tell=audience,
            note=note,
            name=str(folder),
            before=folder if resumes else None,
        )
        if (monitor or rule) and sinks
        else None
    )
    run = LiveRun(sinks, manifest, monitor=watching, last_step=last, audience=audience)
    _current = run
    atexit.register(_end, run)
    return run


def _end(run: LiveRun) -> None:
    """The process ends, and nobody finished the run; an error that ended it is remembered by the interpreter."""
    error = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
    run.fail(error) if isinstance(error, BaseException) else run.finish()


def _place(
    path: str | Path | None, project: str | None, name: str | None, *, resume: bool | str | None, run_id: str | None
) -> tuple[Path, bool]:
    """The run folder, and whether the run in it goes on."""
    must, may = resume in (True, "must"), resume in ("allow", "auto")
    if isinstance(resume, str) and resume not in ("must", "allow", "auto", "never"):
        return folder_of(resume), True
    if run_id is not None and (must or may):
        try:
            return folder_of(run_id, ROOT if path is None else Path(path)), True
        except NoSuchRunError:
            if must:
                raise
    if path is None and name and (must or may):
        path = folder_called(project, name)
    if path is None:
        if must:
            raise NoSuchRunError("resume=True needs to know which run: give its path, its name or its id")
        return new_folder(project, name or run_id), False
    folder = Path(path)
    if must:
        return folder_of(folder), True
    return folder, may and folder.is_dir() and is_run_folder(folder)


def _records() -> bool:
    """Whether this process is the one that records: by torch's process group, or by the launcher where there is none yet."""
    return ranks.current().main and os.environ.get("RANK", "0") in ("", "0")


def _last_step(folder: Path, resumed_step: float | None) -> float:
    if resumed_step is not None:
        return resumed_step
    return max((r.step for r in rows(folder) if r.step == r.step), default=0)


def current() -> LiveRun:
    """The run that was begun last in this process.

    Raises:
        NoRunError: When there is none.
    """
    if _current is None:
        raise NoRunError(NO_RUN)
    return _current


def log(values: Mapping[str, object], step: float | None = None, commit: bool | None = None) -> None:  # noqa: FBT001
    """Log one row of the current run; see `LiveRun.log`."""
    current().log(values, step, commit)


def log_samples(
    samples: Sequence[Mapping[str, object]] | Mapping[str, Sequence[object]], step: float | None = None
) -> None:
    """Log completions of the current run; see `LiveRun.log_samples`."""
    current().log_samples(samples, step)


def alert(title: str, text: str = "", level: object = "WARN", wait_duration: float = 0.0) -> None:
    """Send an alert of the current run; see `LiveRun.alert`."""
    current().alert(title, text, level, wait_duration)


def define_metric(*_: object, **__: object) -> None:
    """Accepted; see `LiveRun.define_metric`."""


def __getattr__(name: str) -> Any:  # noqa: ANN401
    """``run`` is the current run, None where there is none; ``config`` and ``summary`` are its own.

    Raises:
        AttributeError: For ``config`` and ``summary`` where there is no run.
    """
    if name == "run":
        return _current
    if name in ("config", "summary"):
        if _current is None:
            raise AttributeError(told("there is no {name}, because {why}", name=name, why=NO_RUN))
        return getattr(_current, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def finish(exit_code: int = 0) -> None:
    """End the current run; see `LiveRun.finish`. Nothing happens where there is none."""
    global _current
    if _current is not None:
        _current.finish(exit_code)
        _current = None
