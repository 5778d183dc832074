"""What hand-written loops print: names and values in one line with a step, or a value a line.

Any other text may look like it, so a row needs a metric of training, and the log needs rows of the same names again and again.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holter.readers.console.forms import NUMBER, items, python_dict
from holter.readers.console.grammar import Grammar, Standing
from holter.readers.plausibility import is_axis, is_reward, is_training_metric, objection

if TYPE_CHECKING:
    from holter.readers.console.grammar import Values

_NAME = r"(?<![\w./@%-])[A-Za-z_\u4e00-\u9fff][\w./@%-]*(?: / [\w./@%-]+){0,3}(?: [A-Za-z_][\w./@%-]*){0,3}?"
_LINE_ITEM = re.compile(
    rf"(?P<key>{_NAME})\s*(?:[:=]|\s)\s*(?P<value>{NUMBER})(?P<percent>%?)(?=[\s,;|)\]}}/]|$)", re.ASCII
)
_STEP = re.compile(
    r"\b(?=[gtosiue])(?:(?:global|train|training|optimizer)[ _]?)?"
    r"(?:step|iter(?:ation)?|update|episode)s?[ :=#\[(]*(?P<step>\d+)\b",
    re.IGNORECASE,
)
_BLOCK_ITEM = rf"^\s*[-*•]?\s*(?P<key>{_NAME})\s*[:=]\s*(?P<value>{NUMBER})\s*(?:\([^()]*\))?\s*$"
_FEWEST = 2
"""Metrics of a row."""


def _line(body: str) -> Values:
    """Names and values of one line.

    Raises:
        ValueError: When it has no step, or no metric of training beside it.
    """
    found: Values = {}
    for item in _LINE_ITEM.finditer(body):
        value = float(item["value"])
        found[item["key"].strip()] = value / 100 if item["percent"] else value
    _believed(found)
    step = _STEP.search(body)
    if step is not None:
        found = {"step": step["step"], **{k: v for k, v in found.items() if k.lower() not in ("step", "steps")}}
    return found


def _believed(found: Values) -> None:
    metrics = [k for k in found if not is_axis(k)]
    if len(metrics) < _FEWEST or not any(is_training_metric(k) or is_reward(k) for k in metrics):
        raise ValueError("no metrics of training in it")


_bar_items = items(r"(?P<key>[A-Za-z_][\w/.-]*)=(?P<value>NUMBER)")


def _bar(body: str) -> Values:
    """What stands behind a progress bar.

    Raises:
        ValueError: When there is no metric of training in it.
    """
    found = _bar_items(body)
    _believed(found)
    return found


_block_items = items(_BLOCK_ITEM)


def _block(body: str) -> Values:
    """A value a line.

    Raises:
        ValueError: When there is no metric of training among them.
    """
    found = _block_items(body)
    _believed(found)
    return found


def _dictionary(body: str) -> Values:
    """A dictionary of metrics, whole or without its beginning.

    Raises:
        ValueError: When it is none, or holds settings or anything else.
    """
    found = python_dict(body if body.startswith("{") else "{" + body)
    _believed(found)
    why = objection([k for k in found if not is_axis(k)])
    if why is not None:
        raise ValueError(why)
    return found


ANY_DICT = Grammar(
    name="any-dict",
    family="any-dict",
    frameworks=("generic", "skyrl"),
    hint="}",
    begins=re.compile(
        r"""(?P<body>\{(?=['"])[^{}]*\}(?=\s*$)|(?<=^)\s*(?=['"][\w/@ .()-]+['"]\s*:)[^{}]*\}(?=\s*$))"""
    ),
    not_before=re.compile(r"""["'`]|[=(,\[+]\s*$|^\s*(?:#|//|>>>)|\breturn\b"""),
    step_before=re.compile(r"\b[Ss]tep[ :=#]*(\d+)\b"),
    values=_dictionary,
    between=", ",
    closing="}",
    standing=Standing.ANY,
    alone=True,
)

ANY_LINE = Grammar(
    name="any-line",
    family="any-line",
    frameworks=("generic",),
    hint=" ",
    begins=re.compile(rf"(?P<body>^.*(?:[:=]|\b\w+ )\s*{NUMBER}.*$)", re.ASCII),
    not_before=None,
    values=_line,
    require=_STEP,
    standing=Standing.ANY,
)

ANY_BAR = Grammar(
    name="any-bar",
    family="any-bar",
    frameworks=("generic",),
    hint="it",
    begins=re.compile(r"\b(?P<step>\d+)/\d+ \[[^\]=]*(?:it/s|s/it)(?P<body>, [^\]]*=[^\]]*)\]"),
    values=_bar,
    standing=Standing.ANY,
)

ANY_BLOCK = Grammar(
    name="any-block",
    family="any-block",
    frameworks=("generic",),
    hint="",
    begins=re.compile(rf"(?P<body>{_BLOCK_ITEM.replace('?P<key>', '').replace('?P<value>', '')})"),
    inside=re.compile(_BLOCK_ITEM),
    values=_block,
    standing=Standing.ANY,
)
