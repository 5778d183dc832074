"""prime-rl: a line of the trainer and one of the orchestrator for every step; older versions put colons behind the names."""

from __future__ import annotations

import re

from holter.readers.console.forms import items
from holter.readers.console.grammar import Grammar

_FIELDS = items(r"(?P<key>[A-Z][A-Za-z. -]{0,40}?):? (?P<value>NUMBER)")
_BEGINS = r"\bStep (?P<step>\d+) \| +(?P<body>(?:Time: )?[\d.]+(?:s|m|ms|h)[^|]*\|.*\b%s\b.+)$"

PRIME_RL_TRAINER = Grammar(
    name="prime-rl-trainer",
    family="prime-rl",
    frameworks=("prime-rl",),
    hint="Loss",
    begins=re.compile(_BEGINS % "Loss"),
    values=_FIELDS,
    rename={
        "Time": "time/step",
        "Loss": "loss/mean",
        "Entropy": "entropy/all/mean",
        "Mismatch KL": "mismatch_kl/all/mean",
        "Grad. Norm": "optim/grad_norm",
        "LR": "optim/lr",
        "Throughput": "perf/throughput",
        "MFU": "perf/mfu",
        "Peak Mem.": "perf/peak_memory",
    },
)

PRIME_RL_ORCHESTRATOR = Grammar(
    name="prime-rl-orchestrator",
    family="prime-rl",
    frameworks=("prime-rl",),
    hint="Reward",
    begins=re.compile(_BEGINS % "Reward"),
    values=_FIELDS,
    rename={
        "Reward": "train/agg/effective/reward/mean",
        "Seq. Length": "seq_len/all/mean",
        "Turns": "train/agg/effective/num_turns/mean",
        "Max Off-Policy": "off_policy/max",
        "Max. Off-Policy Level": "batch/off_policy_level/max",
        "Truncation": "train/agg/effective/is_truncated/mean",
        "Error": "train/agg/effective/has_error/mean",
    },
    scale={"Truncation": 0.01, "Error": 0.01},
)
