"""trlX: losses to two decimals in front of a bar. What it sends to a tracker says more."""

from __future__ import annotations

import re

from holter.readers.console.forms import items
from holter.readers.console.grammar import Grammar

TRLX_BAR = Grammar(
    name="trlx-bar",
    family="trlx",
    frameworks=("trlx",),
    hint="[losses/",
    begins=re.compile(r"^\s*\[(?P<body>losses/[^\]]+)\]:\s*(?:\d+%\|[^|]*\|\s*(?P<step>\d+)/\d+)?"),
    values=items(r"(?P<key>losses/\w+): (?P<value>NUMBER)"),
)
