"""One PPO update of this trainer against one of TRL 1.12's, the last with PPO: CPU time a response token, in turns.

TRL 1.12 needs an environment of its own (see `scripts/record_trl_ppo.py`), so each measurement is a process of its own: this
file, run by one interpreter or the other. Both train the same models on the same prompts with the same settings and report to
TensorBoard, ours to its run folder too, and take turns. Process time is measured, which does not count waiting. TRL collects
garbage twice an update; it is measured with that and without. Ours is measured without its monitor, which TRL has nothing like,
and with it: on a credit of five seconds it looks at a run as short as this one as often as 5 % of the time allows, and takes 2 %
later.

    OMP_NUM_THREADS=1 python benchmarks/ppo_step.py [tiny|small] --trl trl-1.12/bin/python [--rounds 2] [--steps 8]
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import types
import warnings

OURS, THEIRS = ("holter", "monitored"), ("trl", "trl-no-gc")
WARM_UP = 2
EPISODES = 32


def world(size):
    """Policy, value model, reward model, tokenizer, prompts and length limit."""
    import torch
    from transformers import AutoModelForSequenceClassification

    import grpo_step

    policy, tokenizer, prompts, limit = {"tiny": grpo_step.tiny, "small": grpo_step.small}[size]()
    tokenizer.padding_side = "left"
    scored = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        config = copy.deepcopy(policy.config)
        config.num_labels = 1
        scored.append(AutoModelForSequenceClassification.from_config(config))
    return policy, *scored, tokenizer, prompts, limit


def settings(folder, steps, limit):
    """What both trainers are told."""
    return {
        "output_dir": folder,
        "use_cpu": True,
        "bf16": False,
        "gradient_checkpointing": False,
        "save_strategy": "no",
        "disable_tqdm": True,
        "per_device_train_batch_size": EPISODES,
        "gradient_accumulation_steps": 1,
        "num_ppo_epochs": 4,
        "num_mini_batches": 1,
        "total_episodes": EPISODES * (WARM_UP + steps + 1),
        "response_length": limit,
        "stop_token": "eos",
        "missing_eos_penalty": 1.0,
        "temperature": 1.0,
        "kl_coef": 0.05,
        "learning_rate": 1e-5,
        "lr_scheduler_type": "constant",
        "num_sample_generations": 0,
    }


def measured(who, size, steps):
    """Response tokens, seconds of process time and those for metrics and logging (ours only), of `steps` updates."""
    import torch
    from datasets import Dataset
    from transformers import TrainerCallback

    torch.set_num_threads(1)
    import grpo_step

    policy, value_model, reward_model, tokenizer, prompts, limit = world(size)
    seen = {"tokens": 0, "began": 0.0, "ended": 0.0}
    share = grpo_step.Share()

    class Stopwatch(TrainerCallback):
        def on_step_end(self, args, state, control, **kwargs):  # noqa: ARG002
            if state.global_step == WARM_UP:
                seen.update(tokens=0, began=time.process_time(), measuring=share.seconds)
            if state.global_step == WARM_UP + steps:
                seen.update(ended=time.process_time(), sum=seen["tokens"], measured=share.seconds)

    if who in OURS:
        from holter import PPOConfig, PPOTrainer

        class Counting(PPOTrainer):
            def complete(self, prompts):
                completions = super().complete(prompts)
                seen["tokens"] += sum(map(len, completions.tokens))
                return completions

        trainer_type, config = Counting, PPOConfig
        extra = {"report_to": ["holter", "tensorboard"], "monitor": who == "monitored"}
    else:
        import trl.experimental.ppo.ppo_trainer as theirs

        generate = theirs.batch_generation

        def counting(model, queries, *rest):
            both, logits = generate(model, queries, *rest)
            responses = both[:, queries.shape[1] :]
            seen["tokens"] += int((responses != tokenizer.pad_token_id).sum())
            return both, logits

        theirs.batch_generation = counting
        if who == "trl-no-gc":
            theirs.gc = types.SimpleNamespace(collect=lambda: 0)
        trainer_type, config, extra = theirs.PPOTrainer, theirs.PPOConfig, {"report_to": ["tensorboard"]}
    rows = Dataset.from_dict({"input_ids": [tokenizer(p)["input_ids"] for p in prompts]})
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TENSORBOARD_LOGGING_DIR"] = folder
        trainer = trainer_type(
            args=config(**settings(folder, steps, limit), **extra),
            processing_class=tokenizer,
            model=policy,
            ref_model=copy.deepcopy(policy),
            reward_model=reward_model,
            value_model=value_model,
            train_dataset=rows,
            eval_dataset=rows.select(range(2)),
            callbacks=[Stopwatch()],
        )
        if who in OURS:
            share.watch(trainer, ("record_samples", "_row", "log", "_log_completions"))
            share.watch(trainer.measures, ("completions", "rollout", "update", "updated"))
        trainer.train()
    return seen["sum"], seen["ended"] - seen["began"], seen["measured"] - seen["measuring"]


def main():
    """Measure in turns and print; or, as a part of it, measure once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("size", choices=["tiny", "small"], nargs="?", default="tiny")
    parser.add_argument("--trl", help="Python of an environment with TRL 1.12; without it only Holter is measured")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--who", choices=[*OURS, *THEIRS], help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    if options.who:
        print(json.dumps(measured(options.who, options.size, options.steps)), file=sys.stderr)
        return
    who = dict.fromkeys(OURS, sys.executable) | (dict.fromkeys(THEIRS, options.trl) if options.trl else {})
    rates, times, shares = ({name: [] for name in who} for _ in range(3))
    for number in range(1, options.rounds + 1):
        for name, python in who.items():
            command = [python, __file__, options.size, "--steps", str(options.steps), "--who", name]
            done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **QUIET})
            tokens, seconds, measuring = json.loads(done.stderr.strip().splitlines()[-1])
            shares[name].append(measuring / seconds)
            rates[name].append(tokens / seconds)
            times[name].append(seconds / options.steps)
            print(f"round {number}: {name} {rates[name][-1]:.0f}", file=sys.stderr, flush=True)
    for name in who:
        rate, step = statistics.median(rates[name]), statistics.median(times[name])
        print(f"{name:10s} {rate:8.0f} response tokens per CPU second {1000 * step:10.1f} ms CPU an update")
        if name in OURS:
            print(f"metrics and logging: {100 * statistics.median(shares[name]):.1f} % of an update")
        elif name in THEIRS:
            factor = statistics.median(ours / theirs for ours, theirs in zip(rates["holter"], rates[name], strict=True))
            print(f"{options.size}: {factor:.2f} times as many tokens per CPU second as {name}")


QUIET = {"TRL_EXPERIMENTAL_SILENCE": "1", "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}


if __name__ == "__main__":
    main()
