"""DeepSpeed-Chat: losses in one line, the reward of the same step in the line below it."""

from __future__ import annotations

import re

from holter.readers.console.forms import items
from holter.readers.console.grammar import Grammar

DEEPSPEED_CHAT_NEW = Grammar(
    name="deepspeed-chat-new",
    family="deepspeed-chat",
    frameworks=("deepspeed-chat",),
    hint="| PPO Epoch: ",
    begins=re.compile(r"Epoch: (?P<epoch>\d+) \| Step: (?P<step>\d+) \| PPO Epoch: \d+ \| (?P<body>.+)$"),
    values=items(r"(?P<key>[A-Z][A-Za-z ]{1,40}): (?P<value>NUMBER)"),
)

DEEPSPEED_CHAT_OLD = Grammar(
    name="deepspeed-chat-old",
    family="deepspeed-chat",
    frameworks=("deepspeed-chat",),
    hint="|ppo_ep: ",
    begins=re.compile(r"epoch: (?P<epoch>\d+)\|step: (?P<step>\d+)\|ppo_ep: \d+\|(?P<body>.+)$"),
    values=items(r"\b(?P<key>\w+): ?(?P<value>NUMBER)"),
)

DEEPSPEED_CHAT_REWARD = Grammar(
    name="deepspeed-chat-reward",
    family="deepspeed-chat",
    frameworks=("deepspeed-chat",),
    hint="verage reward score: ",
    begins=re.compile(r"(?:^|\s)(?P<body>[Aa]verage reward score: (?:[-+.\deE]+|nan|inf)(?: \| .*)?)\s*$"),
    values=items(r"(?P<key>[A-Za-z][A-Za-z ]{1,40}): (?P<value>NUMBER)"),
    continues=True,
)
