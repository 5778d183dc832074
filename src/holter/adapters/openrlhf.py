"""OpenRLHF: a logger in the place of its TensorBoard logger.

OpenRLHF has no list of loggers to add to: its trainer makes a ``WandbLogger`` and a ``TensorboardLogger`` itself. In
``openrlhf/trainer/ppo_trainer.py``, one line takes the place of the second:

```python
from holter.adapters.openrlhf import HolterLogger as TensorboardLogger
```

The run folder is ``<logger.tensorboard_dir>/<logger.wandb.run_name>``. Without touching OpenRLHF, ``holter watch`` reads the
event files that it writes.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from holter import session
from holter.adapters.settings import plain

if TYPE_CHECKING:
    from collections.abc import Mapping


class HolterLogger:
    """What OpenRLHF's trainers call: ``log_train``, ``log_eval`` and ``close``."""

    def __init__(self, args: Any, **options: Any) -> None:  # noqa: ANN401 - OpenRLHF is not typed
        """Begin a run.

        Args:
            args: OpenRLHF's arguments: ``args.logger.tensorboard_dir`` and ``args.logger.wandb``; up to 0.10,
                ``args.use_tensorboard`` and ``args.wandb_run_name``.
            options: What `holter.init` takes; ``path`` wins over the folder of `args`.
        """
        logger = getattr(args, "logger", None)
        root = getattr(logger, "tensorboard_dir", None) or getattr(args, "use_tensorboard", None) or "runs"
        name = getattr(getattr(logger, "wandb", None), "run_name", None) or getattr(args, "wandb_run_name", None)
        usual = {"path": Path(root) / (name or "openrlhf"), "name": name, "config": plain(args)}
        self.run = session.init(**{**usual, **options})

    def log_train(self, global_step: int, logs_dict: Mapping[str, Any]) -> None:
        """One row of training, and the sample in it where there is one. Never raises."""
        logs = dict(logs_dict)
        sample = logs.pop("generated_samples", None)
        self.run.log({f"train/{name}": value for name, value in logs.items()}, step=global_step)
        if isinstance(sample, list | tuple) and len(sample) == 2:
            # OpenRLHF gives prompt and completion as one text.
            self.run.log_samples([{"completion": sample[0], "rewards/reward": sample[1]}], step=global_step)

    def log_eval(self, global_step: int, logs_dict: Mapping[str, Any]) -> None:
        """One row of an evaluation. Never raises."""
        self.run.log({f"eval/{name}": value for name, value in logs_dict.items()}, step=global_step)

    def close(self) -> None:
        """End the run. Never raises."""
        self.run.finish()
