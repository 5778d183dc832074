"""MiniMind: a line for every batch, which counts the batches of an epoch."""

from __future__ import annotations

import re

from holter.readers.console.forms import NUMBER, items, step_of_batch
from holter.readers.console.grammar import Grammar, Values

_HEAD = re.compile(r"\[(?P<epoch>\d+)/\d+\]\((?P<batch>\d+)/(?P<batches>\d+)\)")
_items = items(r", (?P<key>[A-Za-z][\w ]*): (?P<value>NUMBER)(?=,|\s*$)")


def _line(body: str) -> Values:
    """Names and values of a line, with the step that its epoch and batch are."""
    head = _HEAD.match(body)
    assert head is not None, "a line of this form begins with its epoch and batch"
    return {"step": float(step_of_batch(head)), **_items(body[head.end() :])}


MINIMIND = Grammar(
    name="minimind",
    family="minimind",
    frameworks=("minimind-grpo", "generic"),
    hint="Epoch:[",
    begins=re.compile(rf"(?:^|\s)Epoch:(?P<body>\[\d+/\d+\]\(\d+/\d+\), Reward: {NUMBER},.*)$"),
    values=_line,
    between=", ",
)
