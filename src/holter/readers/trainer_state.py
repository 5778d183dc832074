"""``trainer_state.json`` of the Hugging Face Trainer: its ``log_history`` in blocks, never as one tree of objects.

Training, evaluation and summary rows are mixed in it, and ``json.dump`` writes bare ``NaN`` tokens.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holter.errors import UnreadableLogError
from holter.readers.encoding import is_text
from holter.readers.json_document import TORN, whole, whole_records
from holter.readers.json_text import loads
from holter.readers.lines import text
from holter.readers.records import Records
from holter.readers.rows import TooDeepError, config_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from holter.readers.base import RawLog, Source

_HISTORY = re.compile(rb'"log_history"\s*:\s*\[')
_FIRST = re.compile(rb"\n([ \t]+)\{")
_BLOCK = 1 << 20
_BOOKKEEPING = frozenset(
    {"log_history", "epoch", "global_step", "total_flos", "num_input_tokens_seen", "stateful_callbacks", "trial_name",
     "trial_params", "best_global_step", "best_metric", "best_model_checkpoint"}
)  # fmt: skip


class TrainerState:
    """Reads ``trainer_state.json``, under whatever name it was saved."""

    name = "trainer-state"
    title = "trainer_state.json of the Hugging Face Trainer (TRL and what builds on it)"
    priority = 100

    def recognises(self, name: str, head: bytes) -> bool:
        """By its ``log_history``, or by its name when the head does not reach that far."""
        if not is_text(head) or head.lstrip()[:1] != b"{":
            return False
        return _HISTORY.search(head) is not None or "trainer_state" in name.replace("\\", "/").rsplit("/", 1)[-1]

    def read(self, source: Source) -> Iterator[RawLog]:
        """One log; settings beside the history become its configuration.

        Raises:
            UnreadableLogError: When there is no history, or nothing in it.
        """
        body = whole(source)
        start = _HISTORY.search(body)
        if start is None:
            raise UnreadableLogError.of(
                source.name, "it has no log_history.", "Give the trainer_state.json that the trainer wrote."
            )
        records = Records(source.name)
        opening = _FIRST.match(body, start.end())
        if opening is not None:
            _add_indented(records, body, start, opening[1])
        else:
            _add_compact(records, body, start.end())
        if not len(records.table) and not records.skipped:
            raise UnreadableLogError.of(
                source.name,
                "its log_history is empty: the run logged nothing.",
                "Set logging_steps to a number below the number of steps.",
            )
        yield records.log(source.name, self.name, lines=opening is not None)


def _add_indented(records: Records, body: bytes, start: re.Match[bytes], indent: bytes) -> None:
    """Add a history laid out as `json.dump` indents it: blocks of whole records, parsed and forgotten one by one."""
    between = b"\n" + indent + b"},"
    closing = body.find(b"\n" + indent + b"}\n", start.end())
    end = (closing if closing >= 0 else body.rfind(between)) + len(between) - 1
    at, line = start.end(), body.count(b"\n", 0, start.end()) + 1
    while at < end:
        cut = body.find(between, min(at + _BLOCK, end))
        cut = end if cut < 0 else min(cut + len(between) - 1, end)
        _add_block(records, body[at:cut], line, b"\n" + indent + b"{")
        line += body.count(b"\n", at, cut)
        at = cut + 1
    before = body[: start.end()]
    if closing >= 0:
        _add_settings(records, before + body[body.find(b"]", end) :])
    else:
        records.notes.append(TORN)
        _add_settings(records, before + b"]}")


def _add_block(records: Records, block: bytes, line: int, opening: bytes) -> None:
    pieces = [line]
    at = block.find(opening)
    starts = [at]
    while (at := block.find(opening, starts[-1] + 1)) >= 0:
        pieces.append(pieces[-1] + block.count(b"\n", starts[-1], at))
        starts.append(at)
    numbers = [n + 1 for n in pieces]
    try:
        found = loads(b"[" + block + b"]")
    except ValueError:
        found = None
    if isinstance(found, list) and len(found) == len(numbers):
        for record, number in zip(found, numbers, strict=True):
            _add_record(records, record, number)
        return
    for begin, end, number in zip(starts, [*starts[1:], len(block)], numbers, strict=True):
        try:
            _add_record(records, loads(block[begin:end].strip().rstrip(b",")), number)
        except ValueError as error:
            records.skip(number, f"the record that begins here is {error}")


def _add_record(records: Records, record: object, line: int) -> None:
    if isinstance(record, dict):
        records.add(record, line, nested=dict in map(type, record.values()))
    else:
        records.skip(line, "not an object with names")


def _add_compact(records: Records, body: bytes, start: int) -> None:
    """Add a history laid out in any other way; one that ends early gives its whole records."""
    try:
        document = loads(body)
    except ValueError:
        found: Iterable[object] = whole_records(text(body[start:]))[0]
        records.notes.append(TORN)
    else:
        history = document.get("log_history") if isinstance(document, dict) else None
        found = history if isinstance(history, list) else ()
        _settings(records, document)
    for record in found:
        _add_record(records, record, 1)


def _add_settings(records: Records, document: bytes) -> None:
    try:
        _settings(records, loads(document))
    except ValueError:
        records.notes.append("the settings beside the history could not be read")


def _settings(records: Records, document: object) -> None:
    """What stands beside the history: how often the trainer logged, evaluated and saved, and for how long it was to run."""
    if not isinstance(document, dict):
        return
    try:
        records.config.update(config_of(document))
    except TooDeepError as error:
        records.notes.append(f"settings left aside: {error}")
    for key, value in document.items():
        if key not in _BOOKKEEPING and not key.startswith("is_") and isinstance(value, int | float | str | bool):
            records.config[key] = value


TRAINER_STATE = TrainerState()
