"""``trainer_state.json`` of the Hugging Face Trainer: its ``log_history`` in blocks, never as one tree of objects.

Training, evaluation and summary rows are mixed in it, and ``json.dump`` writes bare ``NaN`` tokens.
"""

from __future__ import annotations

import re
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from holter.errors import UnreadableLogError
from holter.readers.encoding import TOLD_BY, Decoder, encoding_of, is_text
from holter.readers.json_document import LARGEST, TORN, too_large, whole_records
from holter.readers.json_text import loads
from holter.readers.lines import text
from holter.readers.records import Records
from holter.readers.rows import TooDeepError, config_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import BinaryIO

    from holter.readers.base import RawLog, Source

_HISTORY = re.compile(rb'"log_history"\s*:\s*\[')
_FIRST = re.compile(rb"\n([ \t]+)\{")
_BLOCK = 1 << 17
_WIDEST = 1 << 10
"""Bytes within which the name of the history, and the beginning of its first record, stand."""
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
            document = _Document(source.name, stream)
            start = document.search(_HISTORY)
            if start is None:
                raise UnreadableLogError.of(
                    source.name, "it has no log_history.", "Give the trainer_state.json that the trainer wrote."
                )
            opening = _FIRST.match(document.held, start.end())
            if opening is not None:
                _add_indented(records, document, start.end(), opening[1])
            else:
                document.hold_all()
                _add_compact(records, document.held, start.end())
        if not len(records.table) and not records.skipped:
            raise UnreadableLogError.of(
                source.name,
                "its log_history is empty: the run logged nothing.",
                "Set logging_steps to a number below the number of steps.",
            )
        yield records.log(source.name, self.name, lines=opening is not None)


class _Document:
    """A document in UTF-8, of which only the part that is being read is held.

    Attributes:
        held: That part.
    """

    def __init__(self, file: str, stream: BinaryIO) -> None:
        self._file, self._stream = file, stream
        first = stream.read(_BLOCK)
        self._decoder = Decoder(encoding_of(first[:TOLD_BY]))
        self._ended = not first
        self.held = self._decoder.feed(first)

    def more(self) -> bool:
        """Hold as much again; whether there was more.

        Raises:
            UnreadableLogError: When more than `LARGEST` bytes would be held.
        """
        if self._ended:
            return False
        read = self._stream.read(max(_BLOCK, len(self.held)))
        self._ended = not read
        self.held += self._decoder.feed(read, final=self._ended)
        if len(self.held) > LARGEST:
            raise too_large(self._file)
        return True

    def hold_all(self) -> None:
        """Hold the rest."""
        while self.more():
            pass

    def search(self, pattern: re.Pattern[bytes]) -> re.Match[bytes] | None:
        """The first match, with enough held behind it to tell how the document is laid out."""
        begin = 0
        while (found := pattern.search(self.held, begin)) is None or len(self.held) - found.end() < _WIDEST:
            begin = max(len(self.held) - _WIDEST, 0) if found is None else found.start()
            if not self.more():
                return found
        return found

    def drop(self, end: int) -> bytes:
        """The first bytes, which are not held any more."""
        gone, self.held = self.held[:end], self.held[end:]
        return gone


def _add_indented(records: Records, document: _Document, begin: int, indent: bytes) -> None:
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
            records.skip(number, f"the record that begins here is {error}")
    return lines


def _lines_of(record: object) -> int:
    """Lines of an object of plain values: one for each, and two for the braces. 0 for anything else."""
    return len(record) + 2 if isinstance(record, dict) and record else 0


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
