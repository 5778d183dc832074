"""Tinker cookbook: a table of two columns below the step."""

from __future__ import annotations

import re

from holter.readers.console.forms import items
from holter.readers.console.grammar import Grammar

TINKER_TABLE = Grammar(
    name="tinker-table",
    family="tinker-cookbook",
    frameworks=("tinker-cookbook",),
    hint="Step ",
    begins=re.compile(r"^\s*Step (?P<step>\d+)(?P<body>)\s*$"),
    inside=re.compile(r"^\s*[┏┃┡│└╇━┳┓┩─┴┘├┼┤]"),
    until=re.compile(r"^\s*└"),
    values=items(r"│\s*(?P<key>[\w/:@.-]+)\s*│\s*(?P<value>NUMBER)\s*│"),
)
