"""ColossalChat's distributed trainer: a value a line, from the loss on. It prints no step."""

from __future__ import annotations

import re

from holter.readers.console.forms import NUMBER, items
from holter.readers.console.grammar import Grammar

COLOSSALCHAT_LINES = Grammar(
    name="colossalchat-lines",
    family="colossalchat-dist",
    frameworks=("colossalchat-dist",),
    hint="Loss: ",
    begins=re.compile(rf"^(?P<body>Loss: {NUMBER})\s*$"),
    inside=re.compile(rf"^[A-Za-z_][\w ]*: {NUMBER}\s*$"),
    require=re.compile(r"^Reward: [\s\S]*^Response Length: ", re.MULTILINE),
    values=items(r"^(?P<key>[A-Za-z_][A-Za-z_ ]*): (?P<value>NUMBER)"),
)
