"""The handle of a run that is being recorded."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

from holter.alerts import Notice
from holter.errors import reason
from holter.language import said, told
from holter.recorder.recorder import Recorder
from holter.session.recorded import Recorded
from holter.session.values import number, numbers_of
from holter.sinks.base import Configurable
from holter.sinks.holter import RunFolderSink
from holter.store.run_folder import why_it_failed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from holter.alerts import Audience
    from holter.monitor import Monitor, Stop
    from holter.sinks.base import Sink
    from holter.store.manifest import Manifest

log = logging.getLogger("holter")

LEVELS = {"INFO": "INFO", "WARN": "WARN", "WARNING": "WARN", "ERROR": "ERROR"}
"""Levels of an alert, by the words for them."""


class LiveRun:
    """A run that is being recorded. `holter.init` makes one.

    Nothing here raises into training: what cannot be recorded is said once, in a warning.

    Attributes:
        path: The run folder; None on a process that records nothing.
        id: Identity of the run, the same after a resume.
        name: What people call it.
        config: Hyper-parameters as they were recorded. What is set here later is written into the manifest, too.
        summary: Figures of the whole run, set by you; every change is a line of ``findings.jsonl``.
        monitor: Watches the run; None where it is off.
        failed: Whether it ended by an error.
    """

    def __init__(
        self,
        sinks: Sequence[Sink],
        manifest: Manifest,
        *,
        monitor: Monitor | None = None,
        last_step: float = 0,
        audience: Audience | None = None,
    ) -> None:
        """Begin the run at every sink; `holter.init` is the way in.

        Args:
            sinks: Where it is recorded; none for a process that records nothing.
            manifest: What the run is.
            monitor: Watches it.
            last_step: Step after which steps are counted.
            audience: Hears of alerts.

        Raises:
            RunFolderError: When the folder holds a run already.
            OSError: When the folder cannot be written.
        """
        self._recorder = Recorder([*sinks, *([monitor] if monitor is not None and sinks else [])])
        self.monitor = monitor if self._recorder.sinks else None
        self._audience = audience
        # Entered again by a signal's handler that logs while the same thread is logging.
        self._logging = threading.RLock()
        self._held: tuple[float | None, dict[str, float | int | None]] | None = None
        self._refused: set[str] = set()
        self._alerted: dict[str, float] = {}
        self._step = last_step
        self._finished = False
        self.failed = False
        self._recorder.open(manifest)
        folder = next((s for s in self._recorder.sinks if isinstance(s, RunFolderSink)), None)
        self._folder = folder.folder if folder is not None else None
        known = self._folder.manifest if self._folder is not None else manifest
        self.path: Path | None = self._folder.path if self._folder is not None else None
        self.id, self.name = known.id, known.name
        self.config = Recorded(known.config, self._configured)
        self.summary = Recorded(
            {}, lambda changed: self.note({"kind": "summary", "step": self._step, "values": changed})
        )

    @property
    def step(self) -> float:
        """Newest logged step."""
        return self._step

    @property
    def stop(self) -> Stop | None:
        """Why the run should stop; None where it should not."""
        return self.monitor.stop if self.monitor is not None else None

    @property
    def should_stop(self) -> bool:
        """Whether the run should stop, by the ``stop_on`` of `holter.init`. Ask it once a step; it costs nothing."""
        return self.stop is not None

    def log(self, values: Mapping[str, object], step: float | None = None, commit: bool | None = None) -> None:  # noqa: FBT001
        """Log one row. It is in the file when this returns. Never raises. Threads may share a run.

        Args:
            values: Numbers by name: Python's, numpy's, tensors of one element. NaN and infinities are values, None is a null,
                nested mappings become ``outer/inner``. What is no number is left out, and said once. A value called ``step``
                is the step.
            step: The training step. When left out, one more than the last one.
            commit: False keeps the values in memory, as a part of the row that the next call logs.
        """
        try:
            with self._logging:
                self._log(values, step, hold=commit is False)
        except Exception as error:
            self._complain(
                "log",
                said("a row could not be logged ({kind}: {error})", kind=type(error).__name__, error=reason(error)),
            )

    def _log(self, values: Mapping[str, object], step: float | None, *, hold: bool) -> None:
        if self._finished:
            self._complain("finished", said("log() after finish(): the rows are not recorded"))
            return
        if not isinstance(values, Mapping):
            self._complain("values", said("log() takes numbers by name, not a {kind}", kind=type(values).__name__))
            return
        row = numbers_of(values, self._refuse)
        inside = row.pop("step", None) if "step" in row else None
        if "time" in row:
            del row["time"]
            self._refuse("time", said("the row's own clock; log it under another name"))
        at = step if step is not None else inside
        if hold or self._held is not None:
            at, row = self._joined(at, row)
            if hold:
                self._held = at, row
                return
        self._write(at, row)

    def _joined(
        self, step: float | None, row: dict[str, float | int | None]
    ) -> tuple[float | None, dict[str, float | int | None]]:
        """A row together with what was held of it; what was held of another step is a row of its own."""
        held, self._held = self._held, None
        if held is None:
            return step, row
        if step is not None and held[0] is not None and step != held[0]:
            self._write(*held)
            return step, row
        return held[0] if step is None else step, {**held[1], **row}

    def _write(self, step: object, row: dict[str, float | int | None]) -> None:
        at = self._counted(step)
        if row:
            self._recorder.write(at, row)

    def log_samples(
        self, samples: Sequence[Mapping[str, object]] | Mapping[str, Sequence[object]], step: float | None = None
    ) -> None:
        """Log completions. Never raises.

        Args:
            samples: One mapping a completion, or columns of equal length: ``prompt``, ``completion``, ``rewards/<name>``,
                ``advantage``, ``group``, ``truncated``, and whatever else there is. Tensors of shape ``(B,)`` are looked at.
            step: The step they belong to; the newest one when left out.
        """
        try:
            if self._finished:
                self._complain("finished", said("log_samples() after finish(): the completions are not recorded"))
                return
            rows = _rows(samples)
            found = None if step is None else self._step_of(step)
            at = self._step if found is None else found
            with self._logging:
                for sink in self._recorder.sinks if rows else ():
                    sink.samples(at, rows)
        except Exception as error:
            self._complain(
                "samples",
                said(
                    "completions could not be logged ({kind}: {error})", kind=type(error).__name__, error=reason(error)
                ),
            )

    def alert(self, title: str, text: str = "", level: object = "WARN", wait_duration: float = 0.0) -> None:
        """Write an alert of your own into ``findings.jsonl`` and tell it as the monitor tells its own. Never raises.

        Args:
            title: What happened, in a few words.
            text: More of it.
            level: ``INFO``, ``WARN`` or ``ERROR``.
            wait_duration: Seconds in which an alert of the same title is not told again.
        """
        try:
            title, text = str(title), str(text)
            word = LEVELS.get(str(getattr(level, "value", level)).upper(), "WARN")
            now = time.monotonic()
            if now - self._alerted.get(title, -math.inf) < wait_duration:
                return
            self._alerted[title] = now
            notice = Notice(title=title, text=text, level=word)
            self.note({**notice.record(), "step": self._step})
            if self._audience is not None and self._recorder.sinks:
                self._audience(notice)
        except Exception as error:
            self._complain(
                "alert",
                said("an alert could not be sent ({kind}: {error})", kind=type(error).__name__, error=reason(error)),
            )

    def define_metric(self, *_: object, **__: object) -> None:
        """Accepted for people who are used to it: every metric has the step as its axis, and its whole course is kept."""

    def _configured(self, _: Mapping[str, object]) -> None:
        """The configuration changed: every sink that keeps it hears of it."""
        with self._logging:
            for sink in self._recorder.sinks:
                if isinstance(sink, Configurable):
                    try:
                        sink.configure(dict(self.config))
                    except Exception as error:
                        self._complain(
                            f"config-{sink.name}",
                            said(
                                "{name}: the config could not be written ({error})", name=sink.name, error=reason(error)
                            ),
                        )

    def note(self, event: Mapping[str, object]) -> None:
        """Write one line into ``findings.jsonl``: what happened, beside the metrics. Never raises."""
        try:
            if self._folder is not None:
                self._folder.finding(event)
        except Exception as error:
            self._complain(
                "note",
                said("an event could not be written ({kind}: {error})", kind=type(error).__name__, error=reason(error)),
            )

    def finish(self, exit_code: int = 0) -> None:
        """End the run: the monitor looks a last time, trackers take what waits. Never raises; a second call does nothing.

        Args:
            exit_code: Anything but 0 is written down as a run that failed.
        """
        self._finish("finished" if not exit_code else "failed", f"exit code {exit_code}" if exit_code else "")

    def fail(self, error: BaseException) -> None:
        """End the run as one that broke off, and write down what ended it. Never raises."""
        self._finish("failed", why_it_failed(error))

    @property
    def finished(self) -> bool:
        """Whether the run has ended."""
        return self._finished

    def _finish(self, kind: str, why: str) -> None:
        if self._finished:
            return
        if self._held is not None:
            self.log({})
        self._finished, self.failed = True, kind == "failed"
        sinks = self._recorder.sinks
        # The monitor speaks last, and needs the run folder to be open.
        for sink in sorted(sinks, key=lambda s: (s is not self.monitor, isinstance(s, RunFolderSink))):
            try:
                if isinstance(sink, RunFolderSink):
                    self.note({"kind": kind, "step": self._step, **({"why": why} if why else {})})
                sink.close()
            except Exception as error:
                self._complain(
                    f"close-{sink.name}",
                    said(
                        "{name} could not be finished ({kind}: {error})",
                        name=sink.name,
                        kind=type(error).__name__,
                        error=reason(error),
                    ),
                )
        if self._audience is not None:
            self._audience.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if error is None:
            self.finish()
        else:
            self.fail(error)

    def _counted(self, step: object) -> float:
        found = None if step is None else self._step_of(step)
        self._step = math.floor(self._step) + 1 if found is None else found
        return self._step

    def _step_of(self, step: object) -> float | None:
        """A step as a number; None where it is none."""
        if type(step) is int:
            return step
        try:
            found = number(step)
            if found is not None and math.isfinite(found):
                return int(found) if float(found).is_integer() else found
            why: str = str(found)
        except (TypeError, OverflowError) as error:
            why = reason(error)
        self._complain("step", said("a step is {why}, not a number; steps are counted instead", why=why))
        return None

    def _refuse(self, name: str, what: str) -> None:
        if name in self._refused:
            return
        self._refused.add(name)
        if len(self._refused) <= 20:
            log.warning(
                told("{name!r} is {what}, not a number; it is left out of the rows (said once)", name=name, what=what)
            )

    def _complain(self, kind: str, why: str) -> None:
        if kind not in self._refused:
            self._refused.add(kind)
            log.warning(told("{why}; training goes on (said once)", why=why))


def _rows(samples: Any) -> list[dict[str, object]]:  # noqa: ANN401
    """Completions as one mapping each.

    Raises:
        ValueError: When columns differ in length.
    """
    if not isinstance(samples, Mapping):
        return [dict(row) for row in samples]
    columns = {str(k): _column(v) for k, v in samples.items()}
    sizes = {k: len(v) for k, v in columns.items()}
    if len(set(sizes.values())) > 1:
        raise ValueError(said("columns of completions differ in length: {sizes}", sizes=sizes))
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _column(values: Any) -> list[object]:  # noqa: ANN401
    return values.tolist() if callable(getattr(values, "tolist", None)) else list(values)
