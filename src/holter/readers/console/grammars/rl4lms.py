"""RL4LMs: dictionaries of training and rollouts. They carry no step."""

from __future__ import annotations

import re

from holter.readers.console.forms import open_braces, python_dict
from holter.readers.console.grammar import Grammar

RL4LMS_LINE = Grammar(
    name="rl4lms-line",
    family="rl4lms",
    frameworks=("rl4lms",),
    hint=": {",
    begins=re.compile(r"\b(?:Training Info|Rollout Info|val metrics|test metrics): (?P<body>\{.*)$"),
    values=python_dict,
    unfinished=open_braces,
    between=", ",
    closing="}",
)
