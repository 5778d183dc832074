"""NeMo-RL's results of a step, and the bar of NeMo-Aligner."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holter.readers.console.forms import items
from holter.readers.console.grammar import Grammar

if TYPE_CHECKING:
    from holter.readers.console.grammar import Values

NEMO_RL_BLOCK = Grammar(
    name="nemo-rl-block",
    family="nemo-rl",
    frameworks=("nemo-rl",),
    hint="===== Step ",
    begins=re.compile(r"={5,} Step (?P<step>\d+)/\d+ ={5,}(?P<body>)"),
    inside=re.compile(r"•|^\s*[^\s\w=]|^\s*$"),
    patience=200,
    values=items(r"•\s*(?P<key>[A-Z][A-Za-z ]{1,60}?):\s*(?P<value>NUMBER)"),
    rename={
        "Loss": "train/loss",
        "Policy Loss": "train/loss",
        "Generation KL Error": "train/gen_kl_error",
        "Avg Reward": "train/reward",
        "Avg Filtered Reward": "train/filtered_reward",
        "Mean Generation Length": "train/mean_gen_tokens_per_sample",
        "Total step time": "timing/train/total_step_time",
        "Accuracy": "validation/accuracy",
        "Average response length": "validation/avg_length",
        "Critic Loss": "train/critic/loss",
        "Critic Grad Norm": "train/critic/grad_norm",
        "Buffer Size": "train/buffer_size",
        "Avg Trajectory Age": "train/avg_trajectory_age",
    },
)

_POSTFIX = items(r"\b(?P<key>\w+)=(?P<value>NUMBER)")


def _aligner(body: str) -> Values:
    """The values behind a bar, under the names that the trackers get."""
    return {_tracked(key): value for key, value in _POSTFIX(body).items()}


def _tracked(key: str) -> str:
    if key.endswith("_time"):
        return f"timers/{key}"
    for phase in ("train", "val"):
        if key.startswith(f"{phase}_"):
            return f"{phase}_rollouts/{key.removeprefix(f'{phase}_')}"
    return f"timers/{key}"


NEMO_ALIGNER_BAR = Grammar(
    name="nemo-aligner-bar",
    family="nemo-aligner",
    frameworks=("nemo-aligner",),
    hint=" Global Step:",
    begins=re.compile(
        r"(?:PPO|REINFORCE) Global Step:.*?\|\s*(?P<step>\d+)/\d+ \[(?:[^\[\],]*,){2} (?P<body>\w+=[^\]]+)\]"
    ),
    values=_aligner,
)
