"""torchforge: a name and its value a line, between a headline with the step and a rule."""

from __future__ import annotations

import re

from holter.readers.console.forms import items
from holter.readers.console.grammar import Grammar

TORCHFORGE_BLOCK = Grammar(
    name="torchforge-block",
    family="torchforge",
    frameworks=("torchforge",),
    hint="METRICS STEP ",
    begins=re.compile(r"=== \[[^\]]+\] - METRICS STEP (?P<step>\d+) ===(?P<body>)"),
    inside=re.compile(r"^\s*[\w/.-]+: "),
    until=re.compile(r"={10,}\s*$"),
    patience=20,
    values=items(r"^\s*(?P<key>[\w/.-]+): (?P<value>NUMBER)\s*$"),
)
