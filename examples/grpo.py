"""GRPO from nothing to a diagnosis, on a model made on the spot: no download, less than a minute on two CPU cores.

The policy learns to tell cheerful stories without mistakes. The run is recorded in a run folder, with evidence beside the
reward (held-out perplexity, quality of stories nobody is paid for), and read as ``holter check`` would read it.

    python examples/grpo.py [--hack] [--steps 60] [--out DIRECTORY]

With ``--hack`` the reward only counts happy words and nothing holds the policy back: it finds out, and the diagnosis says so.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import tiny_world
from datasets import Dataset
from transformers import PrinterCallback

from holter import GRPOConfig, GRPOTrainer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def train(
    out: Path,
    *,
    hack: bool = False,
    paid: Sequence[Callable[..., list[float]]] | None = None,
    steps: int = 60,
    seed: int = 0,
    progress: bool = True,
) -> GRPOTrainer:
    """Train a tiny policy and record the run under `out`.

    Args:
        out: Where the run goes.
        hack: Whether to pay for happy words, without a KL term, at a high learning rate.
        paid: What is paid for instead.
        steps: Optimizer steps.
        seed: Seed of everything.
        progress: Whether a bar shows how far it is.
    """
    if paid is None:
        paid = [tiny_world.happy_words] if hack else [tiny_world.cheerfulness, tiny_world.grammar]
    config = GRPOConfig(
        output_dir=str(out),
        seed=seed,
        use_cpu=True,
        max_steps=steps,
        per_device_train_batch_size=32,
        num_generations=8,
        max_completion_length=40,
        learning_rate=3e-3 if hack else 1e-3,
        lr_scheduler_type="constant",
        beta=0.0 if hack else 0.02,
        # The last function is not paid for: it is evidence.
        reward_weights=[*[1.0] * len(paid), 0.0],
        eval_strategy="steps",
        eval_steps=10,
        num_generations_eval=1,
        per_device_eval_batch_size=64,
        save_strategy="no",
        disable_tqdm=not progress,
    )
    trainer = GRPOTrainer(
        model=tiny_world.policy(seed),
        reward_funcs=[*paid, tiny_world.quality],
        args=config,
        train_dataset=Dataset.from_dict({"prompt": tiny_world.prompts(256, seed=1)}),
        eval_dataset=Dataset.from_dict({"prompt": tiny_world.prompts(64, seed=2)}),
        perplexity_dataset=tiny_world.texts(64, seed=3),
        alignment_scorers={"quality": tiny_world.quality},
        processing_class=tiny_world.tokenizer(),
    )
    if not progress:
        # Without a bar transformers prints every row instead.
        trainer.pop_callback(PrinterCallback)
    trainer.train()
    return trainer


def main() -> None:
    """Train, then read the run."""
    parser = argparse.ArgumentParser(description="GRPO on a tiny model, recorded and diagnosed.")
    parser.add_argument("--hack", action="store_true", help="pay for happy words, with nothing to hold the policy back")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="where the run goes; a temporary folder by default")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        out = options.out or Path(temporary)
        trainer = train(out, hack=options.hack, steps=options.steps, seed=options.seed)
        from rich.console import Console

        import holter
        from holter.reports.terminal import print_diagnoses

        checked = holter.check(trainer.report.folder)
        print_diagnoses(Console(), checked.diagnoses, verbose=False)


if __name__ == "__main__":
    main()
