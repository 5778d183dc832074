"""Hyper-parameters that trainers leave in event files: texts of JSON, Markdown tables, and the hparams plug-in.

transformers writes its TrainingArguments as JSON text under ``args`` and the model's configuration under ``model_config``;
CleanRL and its descendants write a Markdown table under ``hyperparameters``; ``add_hparams`` writes the plug-in's own record.

References:
    tensorboard/plugins/hparams/plugin_data.proto, field numbers.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from holter.readers.tensorboard.event import text_of
from holter.readers.tensorboard.tensor import number_at
from holter.readers.tensorboard.wire import BYTES, FIXED64, VARINT, MalformedError, fields, varint

if TYPE_CHECKING:
    from collections.abc import Mapping

_SUFFIX = "/text_summary"
"""What torch's writer adds to the tag of a text."""
_WHOLE = ("args", "config", "hparams", "hyperparameters", "training_args")
"""Texts whose entries are the run's own hyper-parameters."""
_NESTED = ("model_config",)
"""Texts that are kept together under their tag: their entries would be mistaken for the run's."""
SESSION_TAG = "_hparams_/session_start_info"
"""Tag under which the hparams plug-in writes what a session began with."""
_SESSION_START, _HPARAMS, _KEY, _HPARAM = 3, 1, 1, 2
_NUMBER, _STRING, _BOOL = 2, 3, 4


def from_text(tag: str, text: bytes) -> Mapping[str, object]:
    """Hyper-parameters in a text, empty when it is none of the known ones or says something else."""
    name = tag.removesuffix(_SUFFIX)
    if name not in _WHOLE and name not in _NESTED:
        return {}
    said = text_of(text).strip()
    if said.startswith("|"):
        found = _table(said)
    else:
        try:
            found = json.loads(said)
        except (ValueError, RecursionError):
            return {}
    if not isinstance(found, dict):
        return {}
    return {name: found} if name in _NESTED else found


def _table(said: str) -> dict[str, object]:
    """The rows of a Markdown table of names and values, below its two head lines."""
    cells = [line.strip().strip("|").split("|", 1) for line in said.splitlines()[2:]]
    return {row[0].strip(): _literal(row[1].strip()) for row in cells if len(row) == 2}


def _literal(said: str) -> object:
    """A number or a truth value where the text is one, else the text."""
    try:
        return json.loads({"True": "true", "False": "false", "None": "null"}.get(said, said))
    except (ValueError, RecursionError):
        return said


def from_session(content: bytes) -> Mapping[str, object]:
    """Hyper-parameters in what the hparams plug-in keeps under `SESSION_TAG`."""
    found: dict[str, object] = {}
    try:
        for number, kind, start, stop in fields(content, 0, len(content)):
            if (number, kind) != (_SESSION_START, BYTES):
                continue
            for inner, inner_kind, first, last in fields(content, start, stop):
                if (inner, inner_kind) == (_HPARAMS, BYTES):
                    name, value = _entry(content, first, last)
                    found[name] = value
    except MalformedError:
        return {}
    return found


def _entry(content: bytes, at: int, end: int) -> tuple[str, object]:
    """One entry of a map from names to google.protobuf.Value."""
    name, value = "", None
    for number, kind, start, stop in fields(content, at, end):
        if (number, kind) == (_KEY, BYTES):
            name = text_of(content[start:stop])
        elif (number, kind) == (_HPARAM, BYTES):
            for inner, inner_kind, first, last in fields(content, start, stop):
                value = _hparam(content, inner, inner_kind, first, last)
    return name, value


def _hparam(content: bytes, number: int, kind: int, start: int, stop: int) -> object:
    if (number, kind) == (_NUMBER, FIXED64):
        return number_at(content, start, "<f8")
    if (number, kind) == (_STRING, BYTES):
        return text_of(content[start:stop])
    if (number, kind) == (_BOOL, VARINT):
        return bool(varint(content, start, stop)[0])
    return None
