"""OpenRLHF: a dictionary for every global step, and a bar over the mini-batches within it."""

from __future__ import annotations

import re

from holter.readers.console.forms import items, open_braces, python_dict
from holter.readers.console.grammar import Grammar, Standing

OPENRLHF_LINE = Grammar(
    name="openrlhf-line",
    family="openrlhf",
    frameworks=("openrlhf",),
    hint="Global step ",
    begins=re.compile(r"Global step (?P<step>\d+): (?P<body>\{.*)$"),
    values=python_dict,
    unfinished=open_braces,
    between=", ",
    closing="}",
)

OPENRLHF_BAR = Grammar(
    name="openrlhf-bar",
    family="openrlhf-bar",
    frameworks=("openrlhf",),
    hint="Train epoch [",
    begins=re.compile(r"Train epoch \[\d+/\d+\].*\[(?:[^\[\],]*,){2} (?P<body>\w+=[^\]]+)\]"),
    values=items(r"\b(?P<key>\w+)=(?P<value>NUMBER)"),
    rename={
        "act_loss": "policy_loss",
        "pg": "policy_loss",
        "rm": "reward",
        "ret": "return",
        "glen": "response_length",
        "gen_len": "response_length",
        "tlen": "total_length",
        "tot_len": "total_length",
        "act_lr": "actor_lr",
        "cri": "critic_loss",
        "vals": "values",
        "cri_lr": "critic_lr",
        "ptx": "ptx_loss",
        "ent_loss": "entropy_loss",
        "grad_norm": "actor_grad_norm",
    },
    standing=Standing.BAR,
)
