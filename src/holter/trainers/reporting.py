"""From what a trainer measures to rows in the run folder and at the trackers."""

from __future__ import annotations

import copy
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformers.trainer_callback import ProgressCallback

from holter.recorder import fold
from holter.recorder.recorder import Recorder
from holter.recorder.samples import SampleBuffer
from holter.sinks.base import Destination
from holter.sinks.holter import RunFolderSink
from holter.sinks.isolated import Isolated
from holter.sinks.naming import as_transformers
from holter.sinks.registry import all_trackers, sinks_for
from holter.store.layout import is_run_folder
from holter.store.manifest import describe

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from torch import Tensor
    from transformers import Trainer, TrainerControl, TrainerState

    from holter.sinks.base import Sample, Sink, Values
    from holter.store.manifest import Manifest
    from holter.trainers.config import OnPolicyConfig

_TURN = re.compile(r"#\d+$")
_KINDS = {
    k.name: k
    for k in (
        fold.MEAN,
        fold.SUM,
        fold.MIN,
        fold.MAX,
        fold.VARIANCE,
        fold.DEVIATION,
        fold.LAST,
        fold.EXPLAINED_VARIANCE,
    )
}


class Measures(Recorder):
    """A recorder whose unlogged measurements can be kept in a checkpoint, so that a resumed run's next row has them too."""

    def state(self) -> dict[str, tuple[str, tuple[float, ...]]]:
        """What was measured since the last row: kind and lanes of each metric. Looks at the device."""
        out = {}
        for key, entry in self._window._entries.items():
            parts = [tuple(map(float, lanes)) for lanes in (*entry.on_host, *entry.on_device)]
            out[key] = (entry.kind.name, entry.kind.fold(parts))
        return out

    def record_samples(self, columns: Mapping[str, Sequence[object] | Tensor]) -> None:
        """Completions of a generation; those of the one before are forgotten."""
        self._samples = SampleBuffer()
        super().record_samples(columns)

    def restore(self, state: Mapping[str, tuple[str, tuple[float, ...]]]) -> None:
        """Go on from what `state` gave."""
        self.discard()
        for key, (kind, lanes) in state.items():
            self.record_lanes(key, _KINDS[kind], *lanes)


class Report:
    """Everything a run reports: `metrics` takes what is measured, `row` folds it, `write` sends a row off.

    The run's sinks open when training begins and close when it ends, however it ends.
    """

    def __init__(self, args: OnPolicyConfig, algorithm: str) -> None:
        """Report as `args.report_to` says; `algorithm` is what the run folder calls the run."""
        self.args, self.algorithm = args, algorithm
        self.metrics = Measures(())
        self.folder: Path | None = None
        self._writer: Recorder | None = None
        self._turns: dict[str, int] = {}

    def open(self, trainer: Trainer, resumed: Path | None, config: Mapping[str, object]) -> None:
        """Begin the run at every tracker, or go on with the run in the folder `resumed`."""
        main = trainer.accelerator.is_main_process
        names = self.args.report_to or []
        ours = [t for n, t in all_trackers().items() if n in names]
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
        replay = next((s.written_after for s in sinks if isinstance(s, RunFolderSink)), None)
        if main:
            sinks += [Isolated(Integration(n, trainer), replay=replay) for n in names if n not in all_trackers()]
        self.folder = to.folder if any(t.name == "holter" for t in ours) else None
        self._writer = Recorder(sinks)
        self._writer.open(describe(algorithm=self.algorithm, name=to.run_name or "", config=config))

    def _new_folder(self) -> Path:
        if self.args.run_dir:
            return Path(self.args.run_dir)
        base = Path(str(self.args.output_dir)) / "holter"
        folder, number = base, 2
        while folder.exists():
            folder, number = base.with_name(f"holter-{number}"), number + 1
        return folder

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
        return {"measured": self.metrics.state(), "turns": dict(self._turns)}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a checkpoint."""
        self.metrics.restore(state["measured"])
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
        numbers = {canonical(k): v for k, v in row.items() if isinstance(v, int | float) and k != "step"}
        if "train_runtime" not in numbers:
            self._writer.write(step, numbers)
            return
        for sink in self._writer.sinks:
            if not isinstance(sink, RunFolderSink):
                sink.write(step, {"time": time.time(), **numbers})

    def samples(self, step: int, rows: Sequence[Sample]) -> None:
        """Send completions: some to the run folder, all to trackers with tables where ``log_completions`` is set."""
        if self._writer is None:
            return
        kept = self.args.num_completions_to_record
        for sink in self._writer.sinks:
            if isinstance(sink, RunFolderSink):
                chosen = rows if kept is None else rows[:kept]
            else:
                chosen = rows if self.args.log_completions else ()
            if chosen:
                sink.samples(step, chosen)

    def close(self) -> None:
        """Finish the run at every tracker."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None


def canonical(key: str) -> str:
    """The name of a metric in the run folder.

    >>> canonical("eval_reward"), canonical("kl")
    ('eval/reward', 'kl')
    """
    return f"eval/{key.removeprefix('eval_')}" if key.startswith("eval_") else key


class Integration:
    """A tracker that transformers integrates, as a sink: its callback, called in the thread of its own."""

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
        """Left aside: integrations have no common form of a table."""

    def close(self) -> None:
        """Let the integration finish."""
        self.callback.on_train_end(*self._told(self.trainer.state.global_step), model=self.trainer.model)

    def _told(self, step: float) -> tuple[OnPolicyConfig, TrainerState, TrainerControl]:
        state = copy.copy(self.trainer.state)
        state.global_step = int(step)
        return self.trainer.args, state, copy.copy(self.trainer.control)


class Progress(ProgressCallback):
    """A progress bar with the numbers that matter, instead of a dictionary of fifty a step."""

    shown = ("reward", "objective/scores", "kl", "objective/kl", "entropy", "completions/mean_length", "eval_reward")

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **kwargs: Any) -> None:  # noqa: ANN401, ARG002
        """Write the newest numbers behind the bar."""
        if state.is_world_process_zero and self.training_bar is not None and logs:
            news = {k.split("/")[-1]: f"{logs[k]:.3g}" for k in self.shown if isinstance(logs.get(k), int | float)}
            self._seen = {**getattr(self, "_seen", {}), **news}
            self.training_bar.set_postfix(self._seen, refresh=False)
