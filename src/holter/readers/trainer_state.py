"""``trainer_state.json`` of the Hugging Face Trainer: its ``log_history`` in blocks, never as one tree of objects.

Training, evaluation and summary rows are mixed in it, and ``json.dump`` writes bare ``NaN`` tokens.
"""

from __future__ import annotations

import re
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from holter.errors import UnreadableLogError, reason
from holter.language import said
from holter.readers.encoding import is_text
from holter.readers.json_blocks import Document, blocks
from holter.readers.json_document import TORN
from holter.readers.json_text import loads
from holter.readers.records import Records
from holter.readers.rows import TooDeepError, config_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.readers.base import RawLog, Source

_HISTORY = re.compile(rb'"log_history"\s*:\s*\[')
_FIRST = re.compile(rb"\n([ \t]+)\{")
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
        records = Records(source.name, keep=source.keep)
        with source.open() as stream:
            document = Document(source.name, stream)
            start = document.search(_HISTORY)
            if start is None:
                raise UnreadableLogError.of(
                    source.name, "it has no log_history.", "Give the trainer_state.json that the trainer wrote."
                )
            opening = _FIRST.match(document.held, start.end())
            if opening is not None:
                _add_indented(records, document, start.end(), opening[1])
            else:
                _add_compact(records, document, start.end())
        if not len(records.table) and not records.skipped:
            raise UnreadableLogError.of(
                source.name,
                "its log_history is empty: the run logged nothing.",
                "Set logging_steps to a number below the number of steps.",
            )
        yield records.log(source.name, self.name, lines=opening is not None)


def _add_indented(records: Records, document: Document, begin: int, indent: bytes) -> None:
    """Add a history laid out as `json.dump` indents it: blocks of whole records, parsed and forgotten one by one."""
    between, closing, opening = b"\n" + indent + b"},", b"\n" + indent + b"}\n", b"\n" + indent + b"{"
    before = document.drop(begin)
    line = before.count(b"\n") + 1
    end = -1
    while end < 0:
        cut = document.held.rfind(between)
        found = _parsed(document.held[: cut + len(between) - 1]) if cut >= 0 else None
        if found is None:
            # What stands behind the history may be laid out alike, and then the block does not parse.
            end = document.held.find(closing)
            cut = end if end >= 0 else cut
        if cut >= 0:
            block = document.drop(cut + len(between) - 1)
            line += _add_block(records, block, _parsed(block) if end >= 0 else found, line, opening)
            document.held = document.held.removeprefix(b",")
        elif not document.more():
            records.notes.append(TORN)
            _add_settings(records, before + b"]}")
            return
    document.hold_all()
    _add_settings(records, before + document.held)


def _parsed(block: bytes) -> list[object] | None:
    """The records between commas; None where they are none."""
    try:
        found = loads(b"[" + block + b"]")
    except ValueError:
        return None
    return found if isinstance(found, list) else None


def _add_block(records: Records, block: bytes, found: list[object] | None, line: int, opening: bytes) -> int:
    """Add a block of whole records; where it does not parse, those of its records that do. Returns how many lines it has."""
    lines = block.count(b"\n")
    if found is not None and block.count(b"{") == len(found) and sum(map(_lines_of, found)) == lines:
        number = line + 1
        for record in found:
            _add_record(records, record, number)
            number += _lines_of(record)
        return lines
    starts = [m.start() for m in re.finditer(re.escape(opening), block)]
    between = (block.count(b"\n", begin, end) for begin, end in pairwise([0, *starts]))
    numbers = [line + 1 + passed for passed in accumulate(between)]
    if found is not None and len(found) == len(starts):
        for record, number in zip(found, numbers, strict=True):
            _add_record(records, record, number)
        return lines
    if not starts:
        records.skip(line, "no record could be found from here on")
    for (begin, end), number in zip(pairwise([*starts, len(block)]), numbers, strict=True):
        try:
            _add_record(records, loads(block[begin:end].strip().rstrip(b",")), number)
        except ValueError as error:
            records.skip(number, said("the record that begins here is {error}", error=reason(error)))
    return lines


def _lines_of(record: object) -> int:
    """Lines of an object of plain values: one for each, and two for the braces. 0 for anything else."""
    return len(record) + 2 if isinstance(record, dict) and record else 0


def _add_record(records: Records, record: object, line: int) -> None:
    if isinstance(record, dict):
        records.add(record, line, nested=dict in map(type, record.values()))
    else:
        records.skip(line, "not an object with names")


def _add_compact(records: Records, document: Document, begin: int) -> None:
    """Add a history laid out in any other way; one that ends early gives its whole records."""
    before = document.drop(begin)
    for block in blocks(document):
        found = block.parsed()
        if found is not None:
            for record in found:
                _add_record(records, record, 1)
            continue
        for first, end in pairwise([0, *block.ends]):
            try:
                _add_record(records, loads(block.text[first:end].lstrip(b", \t\r\n")), 1)
            except ValueError as error:
                records.skip(None, said("a record is {error}", error=reason(error)))
    if document.held[:1] != b"]":
        records.notes.append(TORN)
    document.hold_all()
    _add_settings(records, before + document.held if document.held[:1] == b"]" else before + b"]}")


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
        records.notes.append(said("settings left aside: {error}", error=reason(error)))
    for key, value in document.items():
        if key not in _BOOKKEEPING and not key.startswith("is_") and isinstance(value, int | float | str | bool):
            records.config[key] = value


TRAINER_STATE = TrainerState()
