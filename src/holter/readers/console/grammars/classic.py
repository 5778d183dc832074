"""The forebears: lm-human-preferences, CleanRL, Stable-Baselines3."""

from __future__ import annotations

import re

from holter.readers.console.forms import grouped, items
from holter.readers.console.grammar import Grammar

LM_HUMAN_LINE = Grammar(
    name="lm-human-line",
    family="lm-human-preferences",
    frameworks=("lm-human-preferences",),
    hint="[ppo_step ",
    begins=re.compile(r"\[ppo_step (?P<step>\d+)\] (?P<body>.+)$"),
    values=items(r"(?<!\S)(?P<key>[\w/]+)=(?P<value>NUMBER)"),
    rename={"eps/s": "eps"},
)

CLEANRL_LINE = Grammar(
    name="cleanrl-line",
    family="cleanrl",
    frameworks=("cleanrl",),
    hint="global_step=",
    begins=re.compile(r"^(?P<body>global_step=(?P<step>\d+), episodic_return=.+)$"),
    values=items(r"(?P<key>episodic_return)=\[?(?P<value>NUMBER)"),
)

SB3_TABLE = Grammar(
    name="sb3-table",
    family="sb3",
    frameworks=("sb3",),
    hint="----------",
    begins=re.compile(r"^\s*-{10,}(?P<body>)\s*$"),
    inside=re.compile(r"^\s*\|.*\|\s*$"),
    until=re.compile(r"^\s*-{10,}\s*$"),
    require=re.compile(r"^\s*\|\s+\w+/\s+\|\s+\|", re.MULTILINE),
    values=grouped("", r"\|\s+(\w+/)\s+\|\s+\|", r"\|\s{1,8}(?P<key>\w+)\s*\|\s*(?P<value>NUMBER)\s*\|"),
)
