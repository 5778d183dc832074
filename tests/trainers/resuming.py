"""Run on two processes: trains through, and trains until it is cut off; or goes on with what was cut off, in a new process."""

from __future__ import annotations

import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
import tiny_world
from datasets import Dataset
from transformers import AutoModelForCausalLM, TrainerCallback

from holter import GRPOConfig, GRPOTrainer, PPOConfig, PPOTrainer

STEPS = 6
LOST_AT = 5
SHARED = {
    "use_cpu": True,
    "report_to": "holter",
    "monitor": False,
    "save_strategy": "steps",
    "save_steps": 3,
    "max_steps": STEPS,
    "learning_rate": 1e-3,
    "lr_scheduler_type": "linear",
    "dataloader_pin_memory": False,
    "disable_tqdm": True,
}
REWARDS = [tiny_world.cheerfulness, tiny_world.on_topic]
# An epoch ends between the checkpoint and the end.
PROMPTS = 36


class LostError(Exception):
    """What befalls a run on a bad day."""


class LosesPower(TrainerCallback):
    """Raises on every process two steps after the checkpoint."""

    def on_step_end(self, args, state, control, **_):
        if state.global_step == LOST_AT:
            raise LostError


def grpo(policy, output_dir, callbacks):
    """Saves in the middle of a generation that is gone through twice."""
    config = GRPOConfig(
        output_dir,
        per_device_train_batch_size=4,
        num_generations=4,
        steps_per_generation=2,
        num_iterations=2,
        beta=0.04,
        max_completion_length=16,
        **SHARED,
    )
    rows = Dataset.from_list([{"prompt": p} for p in tiny_world.prompts(PROMPTS // 6)])
    return GRPOTrainer(policy, REWARDS, config, rows, processing_class=tiny_world.tokenizer(), callbacks=callbacks)


def ppo(policy, output_dir, callbacks):
    """With a KL coefficient that moves."""
    config = PPOConfig(
        output_dir,
        per_device_train_batch_size=4,
        num_ppo_epochs=2,
        num_mini_batches=2,
        kl_target=0.02,
        kl_horizon=100,
        response_length=16,
        temperature=1.0,
        **SHARED,
    )
    rows = Dataset.from_list([{"prompt": p} for p in tiny_world.prompts(PROMPTS)])
    return PPOTrainer(
        config, tiny_world.tokenizer(), policy, train_dataset=rows, reward_funcs=REWARDS, callbacks=callbacks
    )


def main(folder: Path, *, resume: bool) -> None:
    """Train in `folder`, which holds a policy."""
    torch.set_num_threads(1)
    for make in (grpo, ppo):
        for name in ("cut",) if resume else ("through", "cut"):
            policy = AutoModelForCausalLM.from_pretrained(folder / "policy", dtype=torch.float32)
            cut = name == "cut" and not resume
            trainer = make(policy, str(folder / f"{make.__name__}-{name}"), [LosesPower()] if cut else [])
            try:
                trainer.train(resume_from_checkpoint=resume)
            except LostError:
                assert cut


if __name__ == "__main__":
    main(Path(sys.argv[1]), resume=sys.argv[2] == "resume")
