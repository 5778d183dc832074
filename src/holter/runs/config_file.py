"""Hyper-parameters that lie beside a log: a tracker's ``config.yaml``, the ``config.json`` of a run's folder.

Most logs carry none, and whether a KL matters, or a completion was cut, depends on them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import orjson

from holter.readers.yaml_text import MOST, settings, unwrapped
from holter.runs.folder import own_name

if TYPE_CHECKING:
    from pathlib import Path

_TRACKER = "config.yaml"
_PLACES = (_TRACKER, f"files/{_TRACKER}", "config.json")
_INTERNAL = ("_wandb", "wandb_version")
_CHECKPOINT = re.compile(r"(?:checkpoint|ckpt|global_step|step)[-_]?\d+")
_MODEL = frozenset({"architectures", "model_type", "transformers_version"})
"""Entries of the ``config.json`` of a model, which is no run's."""


def config_beside(log: Path) -> tuple[dict[str, object], str]:
    """The hyper-parameters beside a log and the file they stand in; nothing and an empty name where there are none.

    What is no tracker's is believed only of a log without a name of its own: of ``metrics.jsonl``, not of ``seed-1.jsonl``,
    which may have been copied to the configuration of another run.

    Args:
        log: The file that was read.
    """
    if _CHECKPOINT.fullmatch(log.parent.name):
        return {}, ""
    for place in _PLACES:
        file = log.parent / place
        try:
            if not file.is_file() or file.stat().st_size > MOST:
                continue
            found = _entries(file, of_one_run=not own_name(log))
        except (OSError, ValueError):
            continue
        if found:
            return found, str(file)
    return {}, ""


def _entries(file: Path, *, of_one_run: bool) -> dict[str, object]:
    data = file.read_bytes()
    if file.suffix == ".json":
        said = orjson.loads(data)
        return said if of_one_run and isinstance(said, dict) and not said.keys() & _MODEL else {}
    said = settings(data.decode("utf-8", errors="replace"))
    of_tracker = unwrapped(said, _INTERNAL)
    if of_tracker is not None:
        return of_tracker
    return said if of_one_run else {}
