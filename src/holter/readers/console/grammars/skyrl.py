"""SkyRL: a dictionary over many lines below the step."""

from __future__ import annotations

import re

from holter.readers.console.forms import python_dict
from holter.readers.console.grammar import Grammar

SKYRL_BLOCK = Grammar(
    name="skyrl-block",
    family="skyrl",
    frameworks=("skyrl",),
    hint="Step ",
    begins=re.compile(r"\bStep (?P<step>\d+): ?(?P<body>)$"),
    inside=re.compile(r"^\s*(?:\{|'|\"|[\w.+-]*[,}])"),
    until=re.compile(r"\}\s*$"),
    values=python_dict,
)
