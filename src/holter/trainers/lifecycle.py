"""What transformers tells callbacks only, told to the trainer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from transformers import TrainerCallback

if TYPE_CHECKING:
    from transformers import TrainerControl, TrainerState

    from holter.trainers.on_policy import OnPolicyTrainer


class Lifecycle(TrainerCallback):
    """Begins the run, heeds stops, notes checkpoints, times the optimizer."""

    def __init__(self, trainer: OnPolicyTrainer) -> None:
        """Tell `trainer`."""
        self.trainer = trainer

    def on_train_begin(self, args: Any, state: TrainerState, control: TrainerControl, **kwargs: Any) -> None:  # noqa: ANN401, ARG002
        """Open the trackers."""
        self.trainer.begin()

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:  # noqa: ANN401, ARG002
        """See whether the run should stop."""
        self.trainer.heed()

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:  # noqa: ANN401, ARG002
        """Note a checkpoint, on the main process."""
        if state.is_world_process_zero:
            self.trainer.ending.saved(args, state)

    def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:  # noqa: ANN401, ARG002
        """Begin to time the optimizer."""
        self._timed = self.trainer.clock("time/optimizer")
        self._timed.__enter__()

    def on_optimizer_step(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:  # noqa: ANN401, ARG002
        """End it."""
        self._timed.__exit__(None, None, None)
