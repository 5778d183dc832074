"""What a resumed run needs besides what transformers saves: completions not yet used up, measurements, and which run it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import torch

from holter.errors import SettingsError
from holter.language import said
from holter.trainers.buffer import Rollout

if TYPE_CHECKING:
    from holter.trainers.on_policy import OnPolicyTrainer

STATE = "holter.json"
ROLLOUT = "rollout"


class Resumed(NamedTuple):
    """What a run that goes on from a checkpoint has to know when it begins.

    Attributes:
        run: Its run folder; None where it had none.
        logged_at: Step of its last row.
    """

    run: Path | None
    logged_at: int


def save(trainer: OnPolicyTrainer, folder: Path) -> None:
    """Write this process's part beside what transformers writes. Every process must call it."""
    folder.mkdir(parents=True, exist_ok=True)
    rollout = trainer.rollout if trainer.mid_generation else None
    state = {
        "rollout": None if rollout is None else rollout.state(),
        "report": trainer.report.state(),
        "clock": trainer.clock.state(),
        "logged_at": trainer.logged_at,
    }
    torch.save(state, _file(trainer, folder))
    if trainer.args.should_save:
        told = {"micro_steps": trainer.micro_steps, "run": str(trainer.report.folder or "")}
        (folder / STATE).write_text(json.dumps(told), encoding="utf-8")


def restore(trainer: OnPolicyTrainer, folder: Path) -> Resumed:
    """Read what `save` wrote.

    Raises:
        SettingsError: When it is no checkpoint of this trainer, or one of more or fewer processes.
    """
    if not (folder / STATE).exists():
        raise SettingsError(
            said("{folder} is no checkpoint of this trainer: it has no {file}", folder=folder, file=STATE)
        )
    told = json.loads((folder / STATE).read_text(encoding="utf-8"))
    file = _file(trainer, folder)
    if not file.exists():
        processes = len(list(folder.glob(f"{ROLLOUT}_*.pt")))
        raise SettingsError(
            said("{folder} was saved by {processes} processes; resume with as many", folder=folder, processes=processes)
        )
    state = torch.load(file, map_location="cpu", weights_only=True)
    trainer.micro_steps = int(told["micro_steps"])
    kept = state["rollout"]
    trainer.rollout = None if kept is None else Rollout.restored(kept, trainer.args.device)
    trainer.report.restore(state["report"])
    trainer.clock.restore(state["clock"])
    return Resumed(Path(told["run"]) if told["run"] else None, state["logged_at"])


def _file(trainer: OnPolicyTrainer, folder: Path) -> Path:
    return folder / f"{ROLLOUT}_{trainer.accelerator.process_index}.pt"
