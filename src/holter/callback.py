"""Holter for people who train with transformers or TRL."""

from __future__ import annotations

import itertools
import logging
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformers import TrainerCallback

from holter import session
from holter.alerts import terminal
from holter.errors import reason
from holter.language import told
from holter.monitor.ending import Ending
from holter.sinks.naming import as_transformers
from holter.store.layout import free_folder, numbered_folders
from holter.store.manifest import settings as plain_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from transformers import Trainer, TrainerControl, TrainerState, TrainingArguments

    from holter.session import LiveRun
    from holter.settings import Settings

log = logging.getLogger("holter")


class HolterCallback(TrainerCallback):
    """Records a run of any `transformers.Trainer`, TRL's among them, and watches it while it trains.

    ```python
    trainer = trl.GRPOTrainer(..., callbacks=[HolterCallback("runs/mine", stop_on="critical")])
    ```

    Recorded are

    * every row that the Trainer logs, under the names it uses, at the global step: what stands in ``state.log_history``, NaN
      and null included, before any tracker's own treatment of them;
    * the true loss where the Trainer hides it: with ``logging_nan_inf_filter`` (the default) a loss that is NaN or infinite is
      replaced by the mean of the losses before it. The row's ``loss`` then is what was computed, on the main process, and
      ``loss_as_logged`` is what the Trainer wrote instead;
    * completions with rewards, advantages and extra columns, of every batch that was generated (TRL's GRPO and RLOO); those
      of evaluations are marked ``"split": "eval"``;
    * the Trainer's arguments, as the run's configuration;
    * checkpoints, evaluations' rows, and how the run ended, in ``findings.jsonl``.

    A callback is not handed its trainer. The trainer is therefore looked up among the callers of ``on_train_begin``; where
    that fails (a trainer that calls its callbacks in another way), call `attach`, or the true loss and the completions are
    missing from the record. The true loss is read from what ``training_step`` returns: a tensor that stays on its device and is
    looked at only when a row is logged.

    When a finding asks for a stop, the Trainer is asked to save a checkpoint and to end, and the reason is logged. No
    checkpoint is asked for where ``save_total_limit`` would delete the last good one to make room for it. Training never
    waits for the detectors, with one exception: where `stop_on` is given and a metric is not finite for the first time, because
    sampling from a model whose weights are NaN raises before the next row.

    On several processes the main one records and decides; the others hear of a stop at the end of a step, by a collective of one
    number, which is made only where `stop_on` is given. `stop_on` must be the same on all of them.

    A training that breaks off is written down as failed when ``training_step`` raises; started again with the same callback it
    goes on as a new segment.
    """

    def __init__(
        self,
        path: str | Path | None = None,
        *,
        stop_on: str | Iterable[str] | None = None,
        report_to: str | Iterable[str] | None = None,
        config: Mapping[str, object] | None = None,
        name: str | None = None,
        monitor: bool = True,
        samples: bool = True,
        tell: Callable[[object], None] | Iterable[Callable[[object], None]] | None = terminal,
        settings: Settings | None = None,
    ) -> None:
        """Record to `path`.

        Args:
            path: The run folder; ``<output_dir>/holter`` when left out, the next free number behind it. A run that the
                Trainer resumes from a checkpoint goes on in the folder as a new segment.
            stop_on: What stops the run: ``"critical"``, ``"warning"``, names or patterns of detectors, or a list of such.
            report_to: Trackers that Holter should feed beside the run folder; those of the Trainer's own ``report_to``
                are its own business.
            config: Further hyper-parameters for the manifest.
            name: Name of the run; the Trainer's ``run_name`` when left out.
            monitor: Whether to run the detectors over the growing record.
            samples: Whether to record completions.
            tell: Called with every alert, as `holter.init` takes it; a line on standard error by default.
            settings: Which detectors, with which limits.

        Raises:
            UnknownNameError: For a detector in `stop_on` that does not exist.
            SettingsError: For what `stop_on` cannot be.
        """
        session.StopRule.of(stop_on)
        self.path = Path(path) if path is not None else None
        self.run: LiveRun | None = None
        self._options: dict[str, Any] = {
            "stop_on": stop_on,
            "report_to": report_to,
            "monitor": monitor,
            "tell": tell,
            "settings": settings,
        }
        self._config = dict(config or {})
        self._name = name
        self._samples = samples
        self._trainer: Trainer | None = None
        self._loss: Any = None
        self._shown: dict[int, object] = {}
        self._ending = Ending(lambda said: self.run.note(said) if self.run is not None else None)

    def attach(self, trainer: Trainer) -> None:
        """Look at `trainer` beyond what callbacks are shown: its true loss, its completions. Twice is the same as once."""
        if trainer is self._trainer:
            return
        self._trainer = trainer
        inner = trainer.training_step

        def training_step(*args: Any, **kwargs: Any) -> Any:
            try:
                loss = inner(*args, **kwargs)
            except BaseException as error:
                if self._trainer is trainer and self.run is not None:
                    self.run.fail(error)
                raise
            if self._trainer is trainer and self.run is not None:
                loss_alone = loss.detach() if hasattr(loss, "detach") else loss
                self._loss = loss_alone if self._loss is None else self._loss + loss_alone
            return loss

        trainer.training_step = training_step

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """Begin the record.

        Raises:
            RunFolderError: When the folder holds a run and the Trainer does not resume one.
            OSError: When the folder cannot be written.
        """
        trainer = _trainer_of(self)
        if trainer is not None:
            self.attach(trainer)
        self._loss, self._shown = None, {}
        self._ending.begin()
        if not state.is_world_process_zero:
            return
        if self.run is not None and not self.run.finished:
            # Interrupted outside of a step, and begun again.
            self.run.finish(exit_code=1)
        broke_off = self.run is not None and self.run.failed
        resumed = state.global_step if state.global_step or broke_off else None
        folder = self.path or _folder(Path(str(args.output_dir)), resumes=resumed is not None)
        self.run = session.init(
            folder,
            name=self._name or getattr(args, "run_name", None) or None,
            config={**plain_settings(args), **plain_settings(self._config)},
            algorithm=_algorithm(self._trainer),
            resume="allow" if resumed is not None else None,
            resumed_step=resumed,
            rename=as_transformers,
            **self._options,
        )
        if self._samples and self._trainer is not None:
            # What a former training left there was recorded by that one.
            self._completions()

    def on_log(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        logs: Mapping[str, object] | None = None,
        **kwargs: Any,
    ) -> None:
        """Record one row, and see whether the run should stop."""
        if not logs:
            return
        if self.run is not None:
            row = dict(logs)
            if "loss" in row:
                self._unmask(row)
            self.run.log(row, step=state.global_step)
            if self._options["stop_on"] is not None and self.run.monitor is not None:
                self._ending.wait_where_it_breaks(row, self.run.monitor)
        self._heed(args, state, control)

    def on_step_end(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any) -> None:
        """Record the completions that were generated for this step, and see whether the run should stop."""
        if self.run is not None and self._samples:
            self.run.log_samples(self._completions(), step=state.global_step)
        self._heed(args, state, control)

    def on_prediction_step(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """Record the completions of one batch of an evaluation; the trainer keeps no more than a few batches."""
        if self.run is not None and self._samples:
            self.run.log_samples([{"split": "eval", **row} for row in self._completions()], step=state.global_step)

    def on_save(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any) -> None:
        """Note a checkpoint."""
        if self.run is not None:
            self._ending.saved(args, state)

    def on_train_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """End the record."""
        if self.run is not None:
            self.run.finish()

    def _unmask(self, row: dict[str, object]) -> None:
        """Put the true loss into a row from which the Trainer's filter removed that it was not finite."""
        total, self._loss = self._loss, None
        logged = row["loss"]
        if total is None or not isinstance(logged, int | float):
            return
        try:
            true = float(total)
        except Exception as error:
            log.warning(
                told(
                    "the true loss cannot be looked at ({error}); the record has what the Trainer logged",
                    error=reason(error),
                )
            )
            return
        if not math.isfinite(true) and math.isfinite(logged):
            row["loss"], row["loss_as_logged"] = true, logged

    def _completions(self) -> list[dict[str, object]]:
        """Completions that the trainer holds and that were not given before."""
        held = getattr(self._trainer, "_logs", None)
        try:
            rows, marks = _rows_of(held) if held else ([], [])
        except Exception as error:
            log.warning(
                told(
                    "completions cannot be read from this trainer ({error}); the record goes on without",
                    error=reason(error),
                )
            )
            self._samples = False
            return []
        new = [row for row, mark in zip(rows, marks, strict=True) if id(mark) not in self._shown]
        # Held, so that no other completion can get the identity of one of these.
        self._shown = {id(mark): mark for mark in marks}
        return new

    def _heed(self, args: TrainingArguments, state: TrainerState, control: TrainerControl) -> None:
        """Ask the Trainer to stop where the run should. Every process must call it at the same moment."""
        if self._options["stop_on"] is not None:
            self._ending.heed(self.run.stop if self.run is not None else None, args, state, control)


def _trainer_of(callback: TrainerCallback) -> Trainer | None:
    """The trainer that is calling `callback` right now."""
    frame = sys._getframe(1)
    while frame is not None:
        caller = frame.f_locals.get("self")
        handler = getattr(caller, "callback_handler", None)
        if handler is not None and any(c is callback for c in getattr(handler, "callbacks", ())):
            return caller
        frame = frame.f_back  # type: ignore[assignment]
    return None


def _folder(output: Path, *, resumes: bool) -> Path:
    """The run folder inside the Trainer's output: the newest where the run is resumed, else the next free one."""
    first = output / "holter"
    taken = list(itertools.takewhile(Path.exists, numbered_folders(first))) if resumes else []
    return taken[-1] if taken else free_folder(first)


def _algorithm(trainer: Trainer | None) -> str:
    """``grpo`` of ``GRPOTrainer``."""
    known = type(trainer).__mro__ if trainer is not None else ()
    names = [c.__name__.removesuffix("Trainer").lower() for c in known if c.__name__.endswith("Trainer")]
    return next((n for n in names if n in ("grpo", "rloo", "ppo", "dpo", "onlinedpo")), names[0] if names else "")


def _rows_of(held: Mapping[str, Any]) -> tuple[list[dict[str, object]], list[object]]:
    """TRL's buffer of completions as rows, and for each the object by which it is told from others."""
    texts = list(held["completion"])
    columns: dict[str, list[object]] = {"prompt": list(held["prompt"]), "completion": texts}
    columns |= {f"rewards/{name}": list(values) for name, values in held.get("rewards", {}).items()}
    columns["advantage"] = list(held.get("advantages", ()))
    columns |= {str(name): list(values) for name, values in held.get("extra", {}).items()}
    whole = {name: values for name, values in columns.items() if len(values) == len(texts)}
    return [dict(zip(whole, row, strict=True)) for row in zip(*whole.values(), strict=True)], texts
