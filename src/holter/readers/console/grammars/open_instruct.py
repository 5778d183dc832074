"""Open Instruct: a panel of metrics to two decimals, with the first part of their names at the left."""

from __future__ import annotations

import re

from holter.readers.console.forms import grouped
from holter.readers.console.grammar import Grammar

OPEN_INSTRUCT_PANEL = Grammar(
    name="open-instruct-panel",
    family="open-instruct",
    frameworks=("open-instruct", "open-instruct-ppo"),
    hint=" Metrics ",
    begins=re.compile(r"─ Metrics ─+╮(?P<body>)"),
    inside=re.compile(r"│.*│\s*$"),
    until=re.compile(r"╰"),
    patience=5,
    values=grouped("│ ", r"([\w.-]+)  +(?=[\w/.@-]+: )", r"(?P<key>[\w/.@-]+): (?P<value>NUMBER)", no_group="other"),
)
