"""Trains adapters a few steps in as many processes as it is started in; writes how often each called the model."""

from __future__ import annotations

import copy
import dataclasses
import json
import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
import peft
import tiny_world
from accelerate import PartialState
from datasets import Dataset

from holter import GRPOConfig, GRPOTrainer, PPOConfig, PPOTrainer
from holter.trainers import scoring


def count(folder: str, algorithm: str, *, synchronised: bool) -> int:
    """Calls of the model; `synchronised` is what a sharded model asks for."""
    shared = {
        "output_dir": f"{folder}/out-{algorithm}",
        "use_cpu": True,
        "report_to": "none",
        "max_steps": 2,
        "save_strategy": "no",
        "disable_tqdm": True,
        "dataloader_pin_memory": False,
        "per_device_train_batch_size": 8,
        "per_device_eval_batch_size": 2,
        "eval_strategy": "steps",
        "eval_steps": 2,
    }
    options = {
        "model": copy.deepcopy(POLICY),
        "train_dataset": Dataset.from_list([{"prompt": p} for p in tiny_world.prompts(64)]),
        "eval_dataset": [{"prompt": p} for p in tiny_world.prompts(5, seed=3)],
        "perplexity_dataset": tiny_world.texts(7),
        "reward_funcs": [tiny_world.cheerfulness],
        "processing_class": tiny_world.tokenizer(),
        "peft_config": peft.LoraConfig(r=2, target_modules=["q_proj"], task_type="CAUSAL_LM"),
    }
    if algorithm == "grpo":
        args = GRPOConfig(beta=0.04, max_completion_length=24, num_generations=4, num_generations_eval=1, **shared)
        trainer = GRPOTrainer(args=args, **options)
    else:
        args = PPOConfig(response_length=24, gradient_accumulation_steps=1, share_value_trunk=True, **shared)
        trainer = PPOTrainer(args=args, **options)
    trainer.sampling = dataclasses.replace(trainer.sampling, synchronised=synchronised)
    calls: list[int] = []
    trainer.policy.get_base_model().register_forward_hook(lambda *_: calls.append(1))
    trainer.train()
    return len(calls)


if __name__ == "__main__":
    torch.set_num_threads(1)
    # So few that sequences of several lengths make passes of several sizes.
    scoring.PASS_TOKENS = 60
    POLICY = tiny_world.policy(steps=60)
    counted = {
        algorithm: {
            word: count(sys.argv[1], algorithm, synchronised=word == "synchronised")
            for word in ("synchronised", "free")
        }
        for algorithm in ("grpo", "ppo")
    }
    file = Path(sys.argv[1]) / f"calls-{PartialState().process_index}.json"
    file.write_text(json.dumps(counted), encoding="utf-8")
