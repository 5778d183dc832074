"""ROLL: a JSON object for every step."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holter.readers.console.forms import json_object, open_braces
from holter.readers.console.grammar import Grammar

if TYPE_CHECKING:
    from holter.readers.console.grammar import Values


def _metrics(body: str) -> Values:
    return {k.removeprefix("metrics/"): v for k, v in json_object(body).items()}


ROLL_JSON = Grammar(
    name="roll-json",
    family="roll",
    frameworks=("roll",),
    hint="metrics_tag: ",
    begins=re.compile(r'metrics_tag: (?P<body>\{"step": (?P<step>\d+), "metrics": \{.*)$'),
    values=_metrics,
    unfinished=open_braces,
)
