"""Ends a training of `transformers.Trainer` where its run should stop, on all processes at once."""

from __future__ import annotations

import logging
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holter.findings.finding import step_text
from holter.language import said, sentences, told
from holter.recorder import ranks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from holter.monitor.monitor import Monitor
    from holter.monitor.stopping import Stop

log = logging.getLogger("holter")

PATIENCE = 10.0
"""Seconds that training waits for the detectors when a metric is not finite for the first time."""
_STOP, _SAVE_AND_STOP = 1, 2


class Ending:
    """Asks a Trainer to save a checkpoint and to end, once, and says why.

    No checkpoint is asked for where ``save_total_limit`` would delete the last good one to make room for it. Every process has
    one, and calls `heed` at the same moments; the main one decides.
    """

    def __init__(self, note: Callable[[Mapping[str, object]], None]) -> None:
        """Write what happens by `note`."""
        self._note = note
        self._checkpoints: list[tuple[int, Path]] = []
        self._not_finite: set[str] = set()
        self._asked = False

    def begin(self) -> None:
        """A training begins, perhaps another one of the same run."""
        self._asked, self._not_finite = False, set()

    def saved(self, args: Any, state: Any) -> None:  # noqa: ANN401
        """Note the checkpoint that was saved at this step. For the main process."""
        folder = Path(str(args.output_dir)) / f"checkpoint-{state.global_step}"
        self._checkpoints.append((state.global_step, folder))
        self._note({"kind": "checkpoint", "step": state.global_step, "path": str(folder)})

    def wait_where_it_breaks(self, row: Mapping[str, object], monitor: Monitor) -> None:
        """Wait for the detectors where a metric of this row is the first to be not finite.

        Training waits for nothing else, but sampling from a model whose weights are NaN raises before the next row.
        """
        new = {k for k, v in row.items() if isinstance(v, float) and not math.isfinite(v)} - self._not_finite
        self._not_finite |= new
        if new:
            monitor.settle(PATIENCE)

    def heed(self, stop: Stop | None, args: Any, state: Any, control: Any) -> None:  # noqa: ANN401
        """Ask for the end where there is a reason. Every process must call it at the same moment.

        Args:
            stop: The reason, on the main process; None where there is none, and on the others.
            args: The Trainer's arguments.
            state: Its state.
            control: What is asked.
        """
        if self._asked:
            return
        wanted = self._wanted(stop, args, state) if stop is not None else 0
        # A process that stopped alone would leave the others waiting for it forever.
        everyones = int(max(vector[0] for vector in ranks.current().gather([float(wanted)])))
        if everyones:
            self._asked = True
            control.should_training_stop = True
            control.should_save = control.should_save or everyones == _SAVE_AND_STOP

    def _wanted(self, stop: Stop, args: Any, state: Any) -> int:  # noqa: ANN401
        good = self._last_good_checkpoint(stop.last_good_step)
        keep = good is not None and self._would_be_deleted(good[0], args)
        why = sentences(
            [
                said("training stops at step {step}: {why}", step=step_text(state.global_step), why=stop.reason),
                said("There is no checkpoint from before.")
                if good is None
                else said("The last good checkpoint is {folder}.", folder=good[1]),
                *([said("None is saved now, because save_total_limit would delete that one.")] if keep else []),
            ]
        )
        log.warning(told(why))
        self._note(
            {"kind": "stopped", "step": state.global_step, "reason": why, "checkpoint": str(good[1]) if good else None}
        )
        return _STOP if keep else _SAVE_AND_STOP

    def _last_good_checkpoint(self, last_good_step: float | None) -> tuple[int, Path] | None:
        if last_good_step is None:
            return None
        good = [c for c in self._checkpoints if c[0] <= last_good_step and c[1].is_dir()]
        return good[-1] if good else None

    def _would_be_deleted(self, step: int, args: Any) -> bool:  # noqa: ANN401
        """Whether one more checkpoint would push out the one of `step`."""
        limit = args.save_total_limit
        newer = sum(s > step and folder.is_dir() for s, folder in self._checkpoints)
        return limit is not None and newer + 1 >= limit
