"""How often a GRPO step makes the host wait for the device: calls that turn tensors into numbers, of this trainer and of TRL's.

On an accelerator each of them waits until all queued work is done, except for tensors of the host, which count here too: what we
lay out is laid out there. Counted are the calls of a step, by method, on the same tiny model as in `grpo_step.py`, and in which
part of the step they are made. Sampling has a row of its own: a CPU is looked at after every sampled token, to let ended
completions leave the batch, an accelerator only every eighth token.

    OMP_NUM_THREADS=1 HF_HUB_OFFLINE=1 python benchmarks/host_looks.py [--accumulate 1]
"""

from __future__ import annotations

import argparse
import collections
import tempfile
import warnings

import torch
from datasets import Dataset
from transformers import TrainerCallback

import grpo_step

METHODS = ("item", "tolist", "__bool__", "__float__", "__int__", "__index__", "cpu", "numpy", "nonzero")
PARTS = {
    "complete": "sampling",
    "_generate_single_turn": "sampling",
    "_row": "metrics",
    "_log_completions": "completions in the record",
}
WARM_UP, STEPS = 2, 5


class Looks(TrainerCallback):
    """Counts calls of methods of tensors, by the part of the step they are made in."""

    def __init__(self):
        self.seen, self.part, self.counting = collections.Counter(), "the rest", False
        for name in METHODS:
            setattr(torch.Tensor, name, self._counted(getattr(torch.Tensor, name), name))

    def _counted(self, method, name):
        def look(tensor, *args, **options):
            if not self.counting:
                return method(tensor, *args, **options)
            self.seen[self.part, name] += 1
            self.counting = False
            try:
                return method(tensor, *args, **options)
            finally:
                self.counting = True

        return look

    def watch(self, trainer):
        """Tell apart the parts of `trainer`'s step."""
        for name, part in PARTS.items():
            if hasattr(trainer, name):
                setattr(trainer, name, self._inside(getattr(trainer, name), part))

    def _inside(self, method, part):
        def within(*args, **options):
            before, self.part = self.part, part
            try:
                return method(*args, **options)
            finally:
                self.part = before

        return within

    def on_step_end(self, args, state, control, **kwargs):  # noqa: ARG002, D102
        self.counting = WARM_UP <= state.global_step < WARM_UP + STEPS


def counted(package, looks, accumulate):
    """Calls a step, by part and method."""
    model, tokenizer, prompts, limit = grpo_step.tiny()
    looks.seen.clear()
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        policy = type(model).from_pretrained(folder)
        args = package.GRPOConfig(
            output_dir=folder,
            use_cpu=True,
            bf16=False,
            gradient_checkpointing=False,
            logging_steps=1,
            save_strategy="no",
            max_steps=WARM_UP + STEPS + 1,
            per_device_train_batch_size=32 // accumulate,
            gradient_accumulation_steps=accumulate,
            num_generations=8,
            max_completion_length=limit,
            beta=0.04,
            disable_tqdm=True,
            dataloader_pin_memory=False,
            report_to="tensorboard",
        )
        trainer = package.GRPOTrainer(
            model=policy,
            reward_funcs=[grpo_step.letters, grpo_step.lengths],
            args=args,
            train_dataset=Dataset.from_dict({"prompt": prompts}),
            processing_class=tokenizer,
            callbacks=[looks],
        )
        looks.watch(trainer)
        trainer.train()
    return {key: number / STEPS for key, number in looks.seen.items()}


def main():
    """Count and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--accumulate", type=int, default=1, help="micro-batches of a step")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    import trl

    import holter

    looks = Looks()
    for name, package in (("trl", trl), ("holter", holter)):
        found = counted(package, looks, options.accumulate)
        for part in dict.fromkeys([*PARTS.values(), "the rest"]):
            calls = {method: found[part, method] for method in METHODS if (part, method) in found}
            said = ", ".join(f"{method} {number:.1f}" for method, number in calls.items()) or "none"
            print(f"{name:7s} {part:26s} {sum(calls.values()):6.1f} a step: {said}", flush=True)


if __name__ == "__main__":
    main()
