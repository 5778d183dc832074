"""AReaL: tables of statistics, two or four columns of names and values, below the step."""

from __future__ import annotations

import re

from holter.readers.console.forms import items
from holter.readers.console.grammar import Grammar

AREAL_TABLE = Grammar(
    name="areal-table",
    family="areal",
    frameworks=("areal",),
    hint="Train step ",
    begins=re.compile(r"Epoch \d+/\d+ Step \d+/\d+ Train step (?P<step>\d+)/\d+ done\.(?P<body>)"),
    inside=re.compile(r"[│╒├╞╘╧╪┼╤]|Stats \(\d+/\d+\)"),
    patience=20,
    values=items(r"│\s*(?P<key>[\w@-]+(?:/[\w@-]+)+|[A-Za-z_]\w*)\s*│\s*(?P<value>NUMBER)(?=\s*│)"),
)
