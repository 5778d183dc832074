"""From what a trainer measures to rows in the run folder and at the trackers."""

from __future__ import annotations

import re
import time
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holter.alerts import Audience, terminal
from holter.monitor import Monitor, Stop, StopRule
from holter.recorder.recorder import Recorder
from holter.settings import find_settings
from holter.sinks.base import Destination
from holter.sinks.holter import HOLTER, RunFolderSink
from holter.sinks.isolated import Isolated
from holter.sinks.naming import as_transformers
from holter.sinks.registry import all_trackers, sinks_for
from holter.store.layout import free_folder, is_run_folder
from holter.store.manifest import describe
from holter.store.run_folder import why_it_failed
from holter.trainers.integration import Integration

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from transformers import Trainer

    from holter.sinks.base import Sample, Sink
    from holter.trainers.config import OnPolicyConfig

_TURN = re.compile(r"#\d+$")


class Report:
    """Everything a run reports: `metrics` takes what is measured, `row` folds it, `write` sends a row off.

    The run's sinks open when training begins and close when it ends, however it ends. A monitor is one of them: it says on
    standard error what goes wrong, while it does, and keeps it in the run folder.
    """

    def __init__(self, args: OnPolicyConfig, algorithm: str) -> None:
        """Report as `args.report_to` says; `algorithm` is what the run folder calls the run."""
        self.args, self.algorithm = args, algorithm
        self.metrics = Recorder()
        self.folder: Path | None = None
        self.monitor: Monitor | None = None
        self._run_folder: RunFolderSink | None = None
        self._audience = Audience()
        self._step = 0
        self._writer: Recorder | None = None
        self._turns: dict[str, int] = {}

    def open(self, trainer: Trainer, resumed: Path | None, config: Mapping[str, object]) -> None:
        """Begin the run at every tracker, or go on with the run in the folder `resumed`."""
        main = trainer.accelerator.is_main_process
        names = self.args.report_to or []
        ours = [t for n, t in all_trackers().items() if n in names and not t.gives_way]
        go_on = resumed is not None and is_run_folder(resumed)
        to = Destination(
            folder=resumed if go_on and resumed is not None else self._new_folder(),
            resume=go_on,
            resumed_step=trainer.state.global_step if go_on else None,
            logging_dir=Path(self.args.logging_dir) if self.args.logging_dir else None,
            run_name=self.args.run_name or None,
            rename=as_transformers,
        )
        sinks: list[Sink] = sinks_for(ours, to) if main else []
        self._run_folder = next((s for s in sinks if isinstance(s, RunFolderSink)), None)
        replay = self._run_folder.written_after if self._run_folder is not None else None
        if main:
            sinks += [
                Isolated(Integration(n, trainer), replay=replay) for n in names if n not in {t.name for t in ours}
            ]
        self.folder = to.folder if any(t.name == "holter" for t in ours) else None
        self.monitor = self._watching(sinks, to) if main else None
        writer = Recorder([*sinks, *([self.monitor] if self.monitor is not None else [])])
        writer.open(describe(algorithm=self.algorithm, name=to.run_name or "", config=config, dialect="holter"))
        self._writer = writer

    def _watching(self, sinks: Sequence[Sink], to: Destination) -> Monitor | None:
        """The monitor, where there is a record to watch or a stop to be asked for."""
        rule = StopRule.of(self.args.stop_on)
        if not rule and not (self.args.monitor and sinks):
            return None
        self._audience = Audience.of(terminal, among=sinks)
        return Monitor(
            settings=find_settings(Path.cwd()),
            stop_on=rule,
            tell=self._audience,
            note=self.note,
            name=str(to.folder),
            before=to.folder if to.resume else None,
        )

    @property
    def recorded_completions(self) -> int | None:
        """Completions of a generation that the run folder keeps; None for all, 0 too where no folder is kept."""
        kept = HOLTER.name in (self.args.report_to or [])
        return self.args.num_completions_to_record if kept else 0

    @property
    def stop(self) -> Stop | None:
        """Why the run should stop; None where it should not, and on all processes but the main one."""
        return self.monitor.stop if self.monitor is not None else None

    def note(self, said: Mapping[str, object]) -> None:
        """Write one line into ``findings.jsonl`` of the run folder: what happened, beside the metrics."""
        if self._run_folder is not None:
            self._run_folder.folder.finding(said)

    def _new_folder(self) -> Path:
        if self.args.run_dir:
            return Path(self.args.run_dir)
        return free_folder(Path(str(self.args.output_dir)) / "holter")

    def turn(self, key: str) -> str:
        """The key under which one more value of a metric is kept apart until the row is made.

        TRL averages the values of all micro-batches, each weighing the same. To give its numbers, values are not merged before
        each of them is a number of its own over all processes.
        """
        if not self.args.trl_compatible_metrics:
            return key
        self._turns[key] = self._turns.get(key, 0) + 1
        return f"{key}#{self._turns[key]}"

    def state(self) -> dict[str, Any]:
        """What was measured and not yet logged, for a checkpoint."""
        return {
            "measured": self.metrics.state(),
            "samples": self.metrics.samples_state(),
            "turns": dict(self._turns),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a checkpoint."""
        self.metrics.restore(state["measured"])
        self.metrics.restore_samples(state["samples"])
        self._turns = dict(state["turns"])

    def row(self, step: int) -> dict[str, float]:
        """What was measured since the last time, as one row, the same on every process. Looks at the device once."""
        folded = self.metrics.dump(step)
        self._turns = {}
        out: dict[str, float] = {}
        turns: dict[str, list[float]] = {}
        for key, value in folded.items():
            if self.args.trl_compatible_metrics and _TURN.search(key):
                turns.setdefault(_TURN.sub("", key), []).append(value)
            else:
                out[key] = value
        for key, values in turns.items():
            known = [v for v in values if v == v]
            out[key] = sum(known) / len(known) if known else float("nan")
        return out

    def write(self, step: int, row: Mapping[str, Any]) -> None:
        """Send a row to every tracker. Never raises.

        The summary that transformers gives at the end has the step of the last row and is not for the run folder.
        """
        if self._writer is None:
            return
        self._step = step
        numbers = {canonical(k): v for k, v in row.items() if isinstance(v, int | float) and k != "step"}
        if "train_runtime" not in numbers:
            self._writer.write(step, numbers)
            return
        for sink in self._writer.sinks:
            if sink is not self._run_folder and sink is not self.monitor:
                sink.write(step, {"time": time.time(), **numbers})

    def samples(self, rows: Sequence[Sample], *, in_tables: bool) -> None:
        """Send completions: some to the run folder, and all to trackers with tables.

        Args:
            rows: Completions of one or several generations, each with the ``step`` that they were sampled for.
            in_tables: Whether they go to trackers with tables.
        """
        if self._writer is None:
            return
        kept = self.recorded_completions
        for step, group in groupby(rows, key=lambda row: row["step"]):
            generation = [{k: v for k, v in row.items() if k != "step"} for row in group]
            for sink in self._writer.sinks:
                wanted = kept if sink is self._run_folder else None if in_tables else 0
                if generation[:wanted]:
                    sink.samples(int(str(step)), generation[:wanted])

    def close(self, error: BaseException | None = None) -> None:
        """Finish the run at every tracker; `error` is what ended it, where something did."""
        if self._writer is None:
            return
        if self.monitor is not None:
            # It speaks last, and needs the run folder to be open.
            self.monitor.close()
        why = {} if error is None else {"why": why_it_failed(error)}
        self.note({"kind": "finished" if error is None else "failed", "step": self._step, **why})
        self._writer.close()
        self._audience.close()
        self._writer = None


def canonical(key: str) -> str:
    """The name of a metric in the run folder.

    >>> canonical("eval_reward"), canonical("kl")
    ('eval/reward', 'kl')
    """
    return f"eval/{key.removeprefix('eval_')}" if key.startswith("eval_") else key
