"""slime: a dictionary for every training step, rollout and evaluation, each with a counter of its own."""

from __future__ import annotations

import re

from holter.readers.console.forms import open_braces, python_dict
from holter.readers.console.grammar import Grammar

SLIME_STEP = Grammar(
    name="slime-step",
    family="slime",
    frameworks=("slime",),
    hint=": {",
    begins=re.compile(
        r"(?:^|\s)(?:step|rollout|perf|eval|passrate) (?P<step>\d+): (?P<body>\{'(?:train|rollout|perf|eval|passrate)\b.*)$"
    ),
    values=python_dict,
    unfinished=open_braces,
    between=", ",
    closing="}",
)
