"""Trains a few steps on completions from a file, in as many processes as it is started in; prints the rows as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
import tiny_world
from datasets import Dataset

from holter import GRPOConfig, GRPOTrainer
from holter.trainers.rollout import Completions, sample


def main(folder: str, settings: dict) -> None:
    """Replay the completions in `folder`, or sample and keep them where there are none."""
    torch.set_num_threads(1)
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(Path(folder) / "policy", dtype=torch.float32)
    args = GRPOConfig(
        save_strategy="no",
        max_completion_length=16,
        # Adam would make large differences of the smallest ones, in entries whose gradient is next to nothing.
        optim="sgd",
        learning_rate=0.5,
        lr_scheduler_type="constant",
        disable_tqdm=True,
        dataloader_pin_memory=False,
        beta=0.04,
        shuffle_dataset=False,
        num_generations_eval=1,
        **{"num_generations": 4, "use_cpu": True, **settings},
    )
    trainer = GRPOTrainer(
        model=model,
        reward_funcs=[tiny_world.cheerfulness, tiny_world.on_topic],
        args=args,
        train_dataset=Dataset.from_list([{"prompt": p} for p in tiny_world.prompts(64)]),
        eval_dataset=[{"prompt": p} for p in tiny_world.prompts(6, seed=3)],
        perplexity_dataset=tiny_world.texts(6),
        processing_class=tiny_world.tokenizer(),
    )
    file = Path(folder) / "completions.json"
    kept = json.loads(file.read_text()) if file.exists() else []
    replay, number = bool(kept), 0
    rank, ranks = trainer.accelerator.process_index, trainer.accelerator.num_processes

    def complete(prompts):
        nonlocal number
        if not trainer.model.training or trainer.evaluating:
            return sample(trainer.model, prompts, trainer.sampling, args.device)
        if not replay:
            found = sample(trainer.model, prompts, trainer.sampling, args.device)
            kept.append([found.tokens, found.ended, found.logprobs.tolist()])
            return found
        tokens, ended, logprobs = kept[number]
        number += 1
        share = slice(rank * len(tokens) // ranks, (rank + 1) * len(tokens) // ranks)
        longest = max(map(len, tokens[share]))
        return Completions(tokens[share], ended[share], torch.tensor(logprobs[share])[:, :longest])

    trainer.evaluating = False
    evaluate = trainer.evaluate

    def evaluated(*positional, **named):
        trainer.evaluating = True
        try:
            return evaluate(*positional, **named)
        finally:
            trainer.evaluating = False

    trainer.evaluate, trainer.complete = evaluated, complete
    trainer.train()
    if not replay:
        file.write_text(json.dumps(kept))
    if trainer.accelerator.is_main_process:
        (Path(folder) / f"rows-{ranks}.json").write_text(json.dumps(trainer.state.log_history))


if __name__ == "__main__":
    main(sys.argv[1], json.loads(sys.argv[2]))
