"""What hand-written loops print: names and values in one line with a step, or a value a line.

Any other text may look like it, so a row needs a metric of training, and the log needs rows of the same names again and again.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holter.readers.console.forms import IN_CODE, NUMBER, STEP_BEFORE, items, open_braces, python_dict, step_of_batch
from holter.readers.console.grammar import Grammar, Standing
from holter.readers.plausibility import is_axis, is_reward, is_training_metric, objection

if TYPE_CHECKING:
    from holter.readers.console.grammar import Values

_OF_NAME = r"[\w\u4e00-\u9fff./@%-]"
_NAME = rf"(?<!{_OF_NAME})[A-Za-z_\u4e00-\u9fff]{_OF_NAME}*(?: / {_OF_NAME}+){{0,3}}(?: [A-Za-z_]{_OF_NAME}*){{0,3}}?"
_LINE_ITEM = re.compile(
    rf"(?P<key>{_NAME})\s*(?:[:=：]|\s)\s*(?:\*\*)?(?P<value>{NUMBER})(?P<percent>%?)(?=[\s,;|)\]}}/±，；。]|\*\*|$)",
    re.ASCII,
)
_STEP = re.compile(
    r"(?:\b(?=[gtosiue])(?:(?:global|train|training|optimizer)[ _]?)?(?:step|iter(?:ation)?|update|episode)s?"
    r"|第|步[数骤]|迭代|^\W{0,3}[\[(](?=\d+ ?/ ?\d+[\])]))[ :：=#\[(*]*(?P<step>\d+)(?![A-Za-z0-9_]|\.\d)",
    re.IGNORECASE,
)
"""The step of a line; ``[3/500]`` at its beginning is one as well."""
_OF_EPOCH = re.compile(
    r"\bepoch[ :]*\[?(?P<epoch>\d+)/\d+\]?[ ,:]*[(\[](?P<batch>\d+)/(?P<batches>\d+)[)\]]", re.IGNORECASE
)
"""Where a row stands that counts the batches of each epoch: ``Epoch:[2/3](17/900)``."""
_EPOCH = re.compile(r"\bepoch[ :=#\[(]*(?P<epoch>\d+(?:\.\d+)?)\b", re.IGNORECASE)
_BLOCK_ITEM = rf"^\s*[-*•]?\s*(?P<key>{_NAME})\s*[:=]\s*(?P<value>{NUMBER})\s*(?:\([^()]*\))?\s*$"
_FEWEST = 2
"""Metrics of a row."""
_WORD = re.compile(r"[^\W\d_]{2,}")
_BESIDE = 2
"""Words of a row that are no metric: the level of a log message, the name of its logger."""


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
    step, epoch = _step(body), _EPOCH.search(body)
    counter: Values = {"step": step} if step is not None else {"epoch": epoch["epoch"]} if epoch is not None else {}
    own = {name for each in counter for name in (each, f"{each}s")}
    return {**counter, **{k: v for k, v in found.items() if k.lower() not in own}}


def _only_metrics(line: str) -> bool:
    """Whether a line is a row and nothing else: a reward with other metrics, and hardly a word beside them, as prose has."""
    names = [found["key"] for found in _LINE_ITEM.finditer(line)]
    metrics = [name for name in names if not is_axis(name)]
    trained = any(is_training_metric(name) and not is_reward(name) for name in metrics)
    if not any(map(is_reward, metrics)) or not (trained or len(metrics) > _FEWEST):
        return False
    rest = _LINE_ITEM.sub(" ", line)
    for counter in (_OF_EPOCH, _STEP, _EPOCH):
        rest = counter.sub(" ", rest)
    return len(_WORD.findall(rest)) <= _BESIDE


def _step(body: str) -> str | None:
    """The step that a line says, also by the batches of an epoch; None where it says none."""
    within = _OF_EPOCH.search(body)
    if within is not None:
        return str(step_of_batch(within))
    step = _STEP.search(body)
    return step["step"] if step is not None else None


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
        r"""(?P<body>\{(?=['"])[^{}]*\}(?=[\s,\]]*$)|(?<=^)\s*(?=['"][\w/@ .()-]+['"]\s*:)[^{}]*\}(?=[\s,\]]*$))"""
    ),
    not_before=IN_CODE,
    step_before=STEP_BEFORE,
    values=_dictionary,
    between=", ",
    closing="}",
    standing=Standing.ANY,
    alone=True,
)

SPREAD_DICT = Grammar(
    name="spread-dict",
    family="any-dict",
    frameworks=("generic", "skyrl", "slime"),
    hint="{",
    begins=re.compile(r"^\s*(?P<body>\{)\s*$"),
    values=_dictionary,
    unfinished=open_braces,
    closing="}",
    standing=Standing.ANY,
    alone=True,
)

ANY_LINE = Grammar(
    name="any-line",
    family="any-line",
    frameworks=("generic",),
    hint="",
    begins=re.compile(rf"(?P<body>^.*(?:[:=：]|[\w\u4e00-\u9fff] )\s*{NUMBER}.*$)", re.ASCII),
    values=_line,
    require=re.compile(f"{_STEP.pattern}|{_EPOCH.pattern}", re.IGNORECASE),
    standing=Standing.ANY,
    alone=_only_metrics,
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
