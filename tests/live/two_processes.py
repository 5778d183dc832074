"""Trains with a loss that becomes NaN, in as many processes as it is started in; every one says at which step it stopped."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
import tiny_world
import transformers
from datasets import Dataset

from holter import HolterCallback


class Poisoned(transformers.Trainer):
    """Its loss is NaN from the fourth step on."""

    def compute_loss(self, *args, **kwargs):
        loss = super().compute_loss(*args, **kwargs)
        return loss * math.nan if self.state.global_step >= 3 else loss


def main(folder: Path) -> None:
    """Train up to 30 steps."""
    torch.set_num_threads(1)
    ids = tiny_world.tokenizer()("about dog :")["input_ids"]
    args = transformers.TrainingArguments(
        output_dir=str(folder / "out"),
        report_to="none",
        use_cpu=True,
        max_steps=30,
        logging_steps=1,
        save_strategy="no",
        disable_tqdm=True,
        per_device_train_batch_size=2,
        dataloader_pin_memory=False,
    )
    trainer = Poisoned(
        tiny_world.policy(steps=1),
        args,
        train_dataset=Dataset.from_list([{"input_ids": ids, "labels": ids}] * 8),
        callbacks=[HolterCallback(folder / "run", stop_on="critical")],
    )
    trainer.train()
    (folder / f"stopped-{args.process_index}").write_text(str(trainer.state.global_step))
    # Processes that leave at different moments tear down each other's connections.
    trainer.accelerator.wait_for_everyone()
    trainer.accelerator.end_training()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
