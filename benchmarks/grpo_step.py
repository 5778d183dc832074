"""One GRPO step of this trainer against one of TRL's: CPU time a completion token, in turns, on the same work.

Both train the same model on the same prompts with the same settings and the same tracker, log every step, and take turns, so
that whatever else the machine does hits both. Process time is measured, which does not count waiting. Ours is without its
monitor, which TRL has nothing like: what that costs is measured by `monitoring.py`.

    OMP_NUM_THREADS=1 HF_HUB_OFFLINE=1 python benchmarks/grpo_step.py [tiny|small] [--rounds 3] [--steps 10] [--report none]
"""

from __future__ import annotations

import argparse
import copy
import math
import random
import statistics
import sys
import tempfile
import time
import warnings
from pathlib import Path

import torch
from datasets import Dataset
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, TrainerCallback

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
import tiny_world

WARM_UP = 3
EOS = 2


def tiny():
    """The tiny world: 100,000 parameters, 60 words, stories of 13 words."""
    return tiny_world.policy(), tiny_world.tokenizer(), tiny_world.prompts(256), 48


def small():
    """Random weights: 7.5 million parameters, 8,000 words, completions of 24 tokens on average and 64 at most."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    r = random.Random(0)
    words = [f"w{i}" for i in range(8000 - 4)]
    plain = Tokenizer(
        models.WordLevel({w: i for i, w in enumerate(["<pad>", "<bos>", "<eos>", "<unk>", *words])}, "<unk>")
    )
    plain.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=plain, pad_token="<pad>", bos_token="<bos>", eos_token="<eos>", unk_token="<unk>"
    )
    torch.manual_seed(0)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=8000,
            hidden_size=256,
            intermediate_size=768,
            num_hidden_layers=4,
            num_attention_heads=8,
            max_position_embeddings=512,
            pad_token_id=0,
            bos_token_id=1,
            eos_token_id=EOS,
        )
    )
    # Weights that were never trained never stop: a bias ends a completion with the probability 1/24 a token.
    biased = torch.nn.Linear(256, 8000)
    with torch.no_grad():
        biased.weight.copy_(model.lm_head.weight)
        biased.bias.zero_()
        biased.bias[EOS] = math.log(7999 / 23)
    model.lm_head = biased
    model.generation_config.eos_token_id, model.generation_config.pad_token_id = EOS, 0
    prompts = [" ".join(r.choice(words) for _ in range(r.randint(4, 20))) for _ in range(256)]
    return model, tokenizer, prompts, 64


def letters(completions, **_):
    return [c.count("a") / 10 for c in completions]


def lengths(completions, **_):
    return [len(c) % 7 / 7 for c in completions]


class Stopwatch(TrainerCallback):
    """Process time and completion tokens of the steps after the warm-up."""

    def __init__(self, steps, share):
        self.steps, self.share, self.tokens = steps, share, 0.0

    def on_step_end(self, args, state, control, **kwargs):  # noqa: ARG002, D102
        if state.global_step in (WARM_UP, WARM_UP + self.steps):
            self.seconds = time.process_time() - getattr(self, "seconds", 0.0)
            self.measuring = self.share.seconds - getattr(self, "measuring", 0.0)

    def on_log(self, args, state, control, logs=None, **kwargs):  # noqa: ARG002, D102
        if WARM_UP < state.global_step <= WARM_UP + self.steps and "completions/mean_length" in logs:
            self.tokens += logs["completions/mean_length"] * args.per_device_train_batch_size


MEASURING = ("_measure_rollout", "_measure_loss", "record_samples", "_row", "log", "_log_completions")
"""What a trainer of ours does for metrics and logging alone."""


class Share:
    """Processor time of some methods, those called within each other counted once, and of all threads but the main one."""

    def __init__(self):
        self._seconds, self._inside = 0.0, False

    @property
    def seconds(self):
        """So far, of processor time; to be asked in the main thread."""
        return self._seconds + time.process_time() - time.thread_time()

    def watch(self, owner, names):
        """From now on count these methods of `owner`."""
        for name in names:
            setattr(owner, name, self._timed(getattr(owner, name)))

    def _timed(self, method):
        def timed(*args, **kwargs):
            if self._inside:
                return method(*args, **kwargs)
            self._inside, began = True, time.thread_time()
            try:
                return method(*args, **kwargs)
            finally:
                self._inside = False
                self._seconds += time.thread_time() - began

        return timed


def measured(package, world, steps, folder, report):
    """Completion tokens a second of process time, seconds a step, and the share of metrics and logging (ours only)."""
    model, tokenizer, prompts, limit = world
    args = package.GRPOConfig(
        output_dir=folder,
        use_cpu=True,
        bf16=False,
        gradient_checkpointing=False,
        logging_steps=1,
        save_strategy="no",
        max_steps=WARM_UP + steps + 1,
        per_device_train_batch_size=32,
        num_generations=8,
        max_completion_length=limit,
        learning_rate=1e-5,
        beta=0.04,
        disable_tqdm=True,
        dataloader_pin_memory=False,
        lr_scheduler_type="constant",
        report_to=report,
        **({} if package.__name__ == "trl" else {"monitor": False}),
    )
    # A reference that TRL can find: it loads it by the policy's name.
    policy = copy.deepcopy(model)
    share = Share()
    watch = Stopwatch(steps, share)
    trainer = package.GRPOTrainer(
        model=policy,
        reward_funcs=[letters, lengths],
        args=args,
        train_dataset=Dataset.from_dict({"prompt": prompts}),
        processing_class=tokenizer,
        callbacks=[watch],
    )
    if hasattr(trainer, "report"):
        share.watch(trainer, MEASURING)
    trainer.train()
    return watch.tokens / watch.seconds, watch.seconds / steps, watch.measuring / watch.seconds


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("size", choices=["tiny", "small"], nargs="?", default="tiny")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--report", default="tensorboard", help="tracker of both: none, tensorboard, ...")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    import trl

    import holter

    world = {"tiny": tiny, "small": small}[options.size]()
    seen = {"trl": [], "holter": []}
    with tempfile.TemporaryDirectory() as folder:
        # The head's bias, which no configuration knows, has to survive the way to TRL's reference.
        world[0].save_pretrained(folder)
        trl_reference = copy.deepcopy(world[0])
        import trl.trainer.grpo_trainer as theirs

        theirs.create_model_from_path = lambda *_, **__: copy.deepcopy(trl_reference)
        for number in range(options.rounds):
            for name, package in (("trl", trl), ("holter", holter)):
                out = str(Path(folder) / f"{name}-{number}")
                seen[name].append(measured(package, world, options.steps, out, options.report))
    for name, rounds in seen.items():
        rate, step = (statistics.median(r[i] for r in rounds) for i in (0, 1))
        print(
            f"{name:7s} {rate:10.0f} completion tokens per CPU second {1000 * step:10.1f} ms CPU a step",
            file=sys.stderr,
        )
    part = statistics.median(r[2] for r in seen["holter"])
    print(f"metrics and logging: {100 * part:.1f} % of a step of holter's", file=sys.stderr)
    factor = statistics.median(h[0] / t[0] for h, t in zip(seen["holter"], seen["trl"], strict=True))
    print(f"{options.size}: {factor:.2f} times TRL's completion tokens per CPU second", file=sys.stderr)


if __name__ == "__main__":
    main()
