"""PPO from nothing to a diagnosis, on a model made on the spot: no download, less than a minute on two CPU cores.

The policy learns to tell cheerful stories that keep to their subject, with a value model made from it and a KL penalty that is
led towards a target. The run is recorded in a run folder, with evidence beside the reward (held-out perplexity, quality of
stories nobody is paid for), and read as ``holter check`` would read it.

    python examples/ppo.py [--hack] [--steps 40] [--out DIRECTORY]

With ``--hack`` the reward only counts happy words and drift costs nothing: the policy finds out, and the diagnosis says so.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import tiny_world
from datasets import Dataset

from holter import PPOConfig, PPOTrainer


def train(out: Path, *, hack: bool = False, steps: int = 40, seed: int = 0) -> PPOTrainer:
    """Train a tiny policy and record the run under `out`.

    Args:
        out: Where the run goes.
        hack: Whether to pay for happy words, without a price on drift, at a high learning rate.
        steps: Updates.
        seed: Seed of everything.
    """
    paid = [tiny_world.happy_words] if hack else [tiny_world.cheerfulness, tiny_world.on_topic]
    config = PPOConfig(
        output_dir=str(out),
        seed=seed,
        use_cpu=True,
        total_episodes=32 * steps,
        per_device_train_batch_size=32,
        num_ppo_epochs=4,
        response_length=40,
        temperature=1.0,
        stop_token="eos",
        missing_eos_penalty=1.0,
        learning_rate=2e-3 if hack else 5e-4,
        lr_scheduler_type="constant",
        kl_coef=0.0 if hack else 0.1,
        kl_target=None if hack else 5.0,
        # The last function is not paid for: it is evidence.
        reward_weights=[3.0, 0.0] if hack else [2.0, 1.0, 0.0],
        eval_strategy="steps",
        eval_steps=10,
        per_device_eval_batch_size=64,
        save_strategy="no",
    )
    trainer = PPOTrainer(
        args=config,
        processing_class=tiny_world.tokenizer(),
        model=tiny_world.policy(seed),
        reward_funcs=[*paid, tiny_world.quality],
        train_dataset=Dataset.from_dict({"prompt": tiny_world.prompts(256, seed=1)}),
        eval_dataset=Dataset.from_dict({"prompt": tiny_world.prompts(64, seed=2)}),
        perplexity_dataset=tiny_world.texts(64, seed=3),
        alignment_scorers={"quality": tiny_world.quality},
    )
    trainer.train()
    return trainer


def main() -> None:
    """Train, then read the run."""
    parser = argparse.ArgumentParser(description="PPO on a tiny model, recorded and diagnosed.")
    parser.add_argument("--hack", action="store_true", help="pay for happy words, with nothing to hold the policy back")
    parser.add_argument("--steps", type=int, default=40)
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
