"""EasyR1: nested names below the step, indented as in YAML."""

from __future__ import annotations

import re

from holter.readers.console.forms import indented
from holter.readers.console.grammar import Grammar

EASYR1_BLOCK = Grammar(
    name="easyr1-block",
    family="easyr1",
    frameworks=("easyr1",),
    hint="Step ",
    begins=re.compile(r"^Step (?P<step>\d+)(?P<body>)\s*$"),
    inside=re.compile(r"^(?:[\w@().+/-]+:\s*$|\s+[\w @().+/-]+:)"),
    values=indented,
)
