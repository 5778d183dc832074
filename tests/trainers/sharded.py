"""Run on two processes: trains models whose parameters lie in parts with both, by FSDP or by ZeRO of DeepSpeed.

accelerate has both for accelerators only. Here it is told that a CPU is one; all else is as it is anywhere.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import torch
from accelerate.state import AcceleratorState, PartialState
from accelerate.utils import DistributedType

CPU = torch.device("cpu")


def fsdp_on_cpus() -> None:
    """Have accelerate shard by FSDP what it would copy to each CPU."""
    plain = AcceleratorState.__init__

    def init(self, *args, fsdp_plugin=None, **options):
        plain(self, *args, fsdp_plugin=fsdp_plugin, **options)
        if fsdp_plugin is not None and self.distributed_type == DistributedType.MULTI_CPU:
            self.fsdp_plugin = fsdp_plugin
            PartialState._shared_state.update(distributed_type=DistributedType.FSDP, device=CPU)
            self.distributed_type, self.device = DistributedType.FSDP, CPU

    AcceleratorState.__init__ = init


def zero_on_cpus() -> None:
    """Have accelerate start DeepSpeed between CPUs."""
    plain = PartialState.set_device

    def place(self):
        plain(self)
        self.device = CPU

    PartialState._prepare_backend = lambda *_, **__: ("gloo", DistributedType.MULTI_CPU)
    PartialState.set_device = place


def grpo(folder: Path, name: str, settings: dict) -> None:
    """Train on the completions of a file."""
    from tests.trainers import two_processes

    two_processes.main(str(folder), {"output_dir": str(folder / f"out-{name}"), **settings})
    if PartialState().is_main_process:
        (folder / "rows-2.json").rename(folder / f"grpo-{name}.json")


def ppo(folder: Path, name: str) -> None:
    """Train on the same responses as one process does, and save what came of it."""
    from tests.trainers.ppo.replay import replay, rows_of
    from tests.trainers.ppo.test_invariance import SETTINGS, updates

    trainer = replay(folder / f"out-ppo-{name}", updates(), per_device_train_batch_size=4, **SETTINGS)
    rows = rows_of(trainer)
    trainer.save_model()
    if trainer.is_world_process_zero():
        (folder / f"ppo-{name}.json").write_text(json.dumps(rows), encoding="utf-8")


def main(folder: Path, how: str, settings: dict) -> None:
    """What a test asks for: ``fsdp`` or ``zero``."""
    from transformers.integrations import is_deepspeed_zero3_enabled

    from holter import GRPOConfig
    from tests.trainers import resuming

    if how == "zero":
        zero_on_cpus()
        resuming.SHARED["use_cpu"] = settings["use_cpu"] = False
        for stage in "123":
            os.environ["ACCELERATE_DEEPSPEED_ZERO_STAGE"] = stage
            # From the first settings for ZeRO-3 on transformers loads models in parts.
            GRPOConfig(str(folder / "never"), report_to="none")
            grpo(folder, f"zero{stage}", settings)
        kind, in_parts = DistributedType.DEEPSPEED, is_deepspeed_zero3_enabled()
    else:
        fsdp_on_cpus()
        for version, kind in (("1", "FULL_STATE_DICT"), ("2", "SHARDED_STATE_DICT")):
            os.environ.update(FSDP_VERSION=version, FSDP_STATE_DICT_TYPE=kind)
            grpo(folder, f"fsdp{version}", settings)
        ppo(folder, "fsdp2")
        kind, in_parts = DistributedType.FSDP, True
    # Else all of it would be DDP, which gives the same numbers.
    assert PartialState().distributed_type == kind
    assert in_parts
    for resume in (False, True):
        resuming.main(folder, resume=resume)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3]))
