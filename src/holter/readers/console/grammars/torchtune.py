"""torchtune: names and values behind the step, as its disk logger writes them and its console shows them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holter.readers.console.forms import items, without_calls
from holter.readers.console.grammar import Grammar

if TYPE_CHECKING:
    from holter.readers.console.grammar import Values

_ITEMS = items(r"(?<!\S)(?P<key>[\w/.@-]+):(?P<value>NUMBER)(?=\s|$)")


def _values(body: str) -> Values:
    return _ITEMS(without_calls(body))


TORCHTUNE_LINE = Grammar(
    name="torchtune-line",
    family="torchtune",
    frameworks=("torchtune-ppo", "torchtune-grpo"),
    hint="Step ",
    begins=re.compile(r"^Step (?P<step>\d+) \| (?P<body>[\w/.@-]+:\S.*)$"),
    values=_values,
)
