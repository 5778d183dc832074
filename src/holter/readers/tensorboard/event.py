"""TensorBoard's Event message: when, at which step, and which values of which kind.

Only scalars become numbers; every other kind is named, so that it can be counted and left aside, and texts keep their bytes.

References:
    tensorflow/core/util/event.proto and tensorflow/core/framework/summary.proto, field numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from holter.language import said
from holter.readers.tensorboard.tensor import Number, number_at, tensor
from holter.readers.tensorboard.wire import (
    BYTES,
    FIXED32,
    FIXED64,
    VARINT,
    MalformedError,
    fields,
    signed,
    varint,
)

_WALL_TIME, _STEP, _FILE_VERSION, _SUMMARY = 1, 2, 3, 5
_ASIDE = {4: "graph", 6: "log message", 8: "graph trace", 9: "graph"}
_KNOWN = {_WALL_TIME: FIXED64, _STEP: VARINT, _FILE_VERSION: BYTES, _SUMMARY: BYTES}
_VALUE = 1
_TAG, _SIMPLE_VALUE, _TENSOR, _METADATA = 1, 2, 8, 9
_KINDS = {3: "histogram", 4: "image", 5: "histogram", 6: "audio clip"}
_PLUGIN_DATA, _PLUGIN_NAME, _PLUGIN_CONTENT = 1, 1, 2
_PLUGINS = {
    "histograms": "histogram",
    "images": "image",
    "audio": "audio clip",
    "text": "text",
    "hparams": "hyper-parameter record",
    "pr_curves": "precision-recall curve",
}


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number under its tag."""

    tag: str
    number: Number


@dataclass(frozen=True, slots=True)
class Aside:
    """A value that is no scalar.

    Attributes:
        kind: What it is, in the singular.
        tag: Its tag.
        text: Its string, for texts.
        plugin_content: What its plug-in keeps in the metadata.
    """

    kind: str
    tag: str = ""
    text: bytes | None = None
    plugin_content: bytes = b""


@dataclass(slots=True)
class Event:
    """One record.

    Attributes:
        wall_time: Seconds since 1970, NaN where the record does not say.
        step: The step; 0 is not written.
        scalars: Numbers, in the order of the record.
        aside: Everything else, likewise.
        version: The file version of a first record, else None.
        wall_at: First of the eight bytes of `wall_time`, or None.
        step_range: Range of the bytes of `step`, empty when it is not written.
    """

    wall_time: float = float("nan")
    step: int = 0
    scalars: list[Scalar] = field(default_factory=list)
    aside: list[Aside] = field(default_factory=list)
    version: str | None = None
    wall_at: int | None = None
    step_range: tuple[int, int] = (0, 0)


class _Plugin(NamedTuple):
    name: str = ""
    content: bytes = b""


def event(data: bytes, plugins: dict[str, str]) -> Event:
    """Read one record.

    Args:
        data: The record without its frame.
        plugins: Plug-in of each tag; writers name it in a tag's first record only. Grows as records name theirs.

    Raises:
        MalformedError: When the bytes are no Event.
    """
    out = Event()
    for number, kind, start, stop in fields(data, 0, len(data)):
        if number in _KNOWN and kind != _KNOWN[number]:
            raise MalformedError(said("field {number} of an event has wire type {kind}", number=number, kind=kind))
        if number == _WALL_TIME:
            out.wall_time, out.wall_at = number_at(data, start, "<f8"), start
        elif number == _STEP:
            out.step, out.step_range = signed(varint(data, start, stop)[0]), (start, stop)
        elif number == _FILE_VERSION:
            out.version = text_of(data[start:stop])
        elif number == _SUMMARY:
            for inner, inner_kind, first, last in fields(data, start, stop):
                if inner != _VALUE or inner_kind != BYTES:
                    raise MalformedError("a summary that holds no values")
                _value(data, first, last, plugins, out)
        elif number in _ASIDE:
            out.aside.append(Aside(_ASIDE[number]))
    return out


def _value(data: bytes, at: int, end: int, plugins: dict[str, str], out: Event) -> None:
    tag, plugin = "", _Plugin()
    number: Number | None = None
    text: bytes | None = None
    what = ""
    for field_number, kind, start, stop in fields(data, at, end):
        if field_number == _TAG and kind == BYTES:
            tag = text_of(data[start:stop])
        elif field_number == _SIMPLE_VALUE and kind == FIXED32:
            number, what = Number(number_at(data, start, "<f4"), start, "<f4"), "scalar"
        elif field_number == _TENSOR and kind == BYTES:
            found = tensor(data, start, stop)
            number, text, what = found.number, found.text, "tensor"
        elif field_number == _METADATA and kind == BYTES:
            plugin = _plugin(data, start, stop)
        elif field_number in _KINDS:
            what = _KINDS[field_number]
    if plugin.name:
        plugins[tag] = plugin.name
    named = plugins.get(tag, "scalars")
    if number is not None and named == "scalars":
        out.scalars.append(Scalar(tag, number))
    elif what not in ("", "scalar", "tensor"):
        out.aside.append(Aside(what, tag))
    elif what or plugin.name:
        out.aside.append(Aside(_kind(named, text), tag, text, plugin.content))


def _kind(plugin: str, text: bytes | None) -> str:
    if plugin in _PLUGINS:
        return _PLUGINS[plugin]
    if text is not None:
        return "text"
    return "tensor" if plugin == "scalars" else f"{plugin} record"


def _plugin(data: bytes, at: int, end: int) -> _Plugin:
    name, content = "", b""
    for number, kind, start, stop in fields(data, at, end):
        if number != _PLUGIN_DATA or kind != BYTES:
            continue
        for inner, inner_kind, first, last in fields(data, start, stop):
            if inner == _PLUGIN_NAME and inner_kind == BYTES:
                name = text_of(data[first:last])
            elif inner == _PLUGIN_CONTENT and inner_kind == BYTES:
                content = data[first:last]
    return _Plugin(name, content)


def text_of(data: bytes) -> str:
    """Bytes as text; what is not UTF-8 stays visible, so that two names never become one."""
    return data.decode("utf-8", "backslashreplace")
