from __future__ import annotations

import struct

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from holter.errors import UnreadableLogError
from holter.readers.tensorboard.reader import TENSORBOARD
from holter.readers.unpacking import GZIP, ZSTD
from tests.unit.readers.tensorboard import writing as w
from tests.unit.readers.tensorboard.reading import bits, everything, in_pieces, read

unhurried = settings(deadline=None, max_examples=60)
"""No time limit on an example: the machine may be busy with something else."""

TAGS = st.sampled_from(["", "loss", "奖励", "train/a_rather_long_name_of_a_metric", "b"])
STEPS = st.one_of(st.integers(0, 5), st.integers(-3, 1 << 40), st.sampled_from([127, 128, 16383, 16384]))
VALUES = st.floats(width=32, allow_nan=True, allow_infinity=True)
FORMS = st.sampled_from(["simple", "float_val", "content", "double"])
SCALARS = st.lists(st.tuples(TAGS, VALUES, FORMS), min_size=1, max_size=3)
RECORDS = st.lists(st.tuples(STEPS, st.booleans(), SCALARS), min_size=1, max_size=12)
"""Step, whether it is written with a byte more than it needs, and the scalars of one record."""


def value(tag: str, number: float, form: str) -> bytes:
    if form == "simple":
        return w.simple(tag, number)
    if form == "float_val":
        return w.tensor(tag, 1, 5, struct.pack("<f", number), plugin="scalars")
    if form == "content":
        return w.tensor(tag, 1, 4, struct.pack("<f", number), shape=b"")
    return w.tensor(tag, 2, 6, struct.pack("<d", number), shape=b"")


def written(said) -> list[bytes]:
    out = []
    for step, padded, scalars in said:
        values = [value(*scalar) for scalar in scalars]
        if padded and step >= 0:
            minimal = w.varint(step)
            more = b"\x10" + minimal[:-1] + bytes([minimal[-1] | 128, 0])
            out.append(w.record(w.event(0, *values, more=more)))
        else:
            out.append(w.record(w.event(step, *values)))
    return out


def repeated(said, times: int):
    """The same records again and again, a step further each time, so that templates are learned from them."""
    return [(step + turn, padded, scalars) for turn in range(times) for step, padded, scalars in said]


def multiset(found: dict[str, list[tuple[int, bytes]]]) -> dict[str, list[tuple[int, bytes]]]:
    return {tag: sorted(points) for tag, points in found.items()}


def expected(said) -> dict[str, list[tuple[int, bytes]]]:
    out: dict[str, list[tuple[int, bytes]]] = {}
    for step, _, scalars in said:
        for tag, number, _ in scalars:
            out.setdefault(tag, []).append((step, bits(number)))
    return out


@unhurried
@given(RECORDS, st.integers(1, 40))
def test_what_is_written_is_read_back(said, times):
    said = repeated(said, times)
    found = everything(read(b"".join(written(said))))
    assert multiset(found) == multiset(expected(said))
    for tag, series in expected(said).items():
        steps = [step for step, _ in series]
        if steps == sorted(steps):
            assert found[tag] == series


@unhurried
@given(RECORDS, st.data())
def test_a_file_cut_at_any_byte_gives_its_whole_records(said, data):
    records = [w.VERSION, *written(said)]
    whole = b"".join(records)
    cut = data.draw(st.integers(len(w.VERSION), len(whole)))
    ends = [sum(map(len, records[: n + 1])) for n in range(len(records))]
    complete = sum(end <= cut for end in ends) - 1
    log = read(whole[:cut])
    assert multiset(everything(log)) == multiset(expected(said[:complete]))
    assert log.skipped == ()


@unhurried
@given(RECORDS, st.integers(1, 20), st.data())
def test_a_damaged_byte_costs_its_record_alone(said, times, data):
    said = repeated(said, times)
    records = [w.VERSION, *written(said)]
    hit = data.draw(st.integers(1, len(said)))
    at = data.draw(st.integers(0, len(records[hit]) - 1))
    flipped = bytearray(records[hit])
    flipped[at] ^= data.draw(st.integers(1, 255))
    log = read(b"".join([*records[:hit], bytes(flipped), *records[hit + 1 :]]))
    assert multiset(everything(log)) == multiset(expected([*said[: hit - 1], *said[hit:]]))
    assert len(log.skipped) == 1


@unhurried
@given(RECORDS, st.integers(1, 20), st.lists(st.integers(1, 200), max_size=12))
def test_bytes_may_come_in_any_pieces(said, times, sizes):
    whole = b"".join(written(repeated(said, times)))
    gathered, torn = in_pieces(whole, sizes)
    rows = gathered.stretches.rows()
    once = read(whole)
    assert torn == 0
    assert rows.steps.tolist() == once.columns["step"].values.tolist()
    for tag, column in rows.columns.items():
        assert column.at.tolist() == once.columns[tag].at.tolist()
        assert column.values.tobytes() == once.columns[tag].values.tobytes()


@unhurried
@given(st.binary(max_size=200), st.booleans())
def test_junk_is_read_or_refused_and_nothing_else(junk, framed):
    assert TENSORBOARD.recognises("x", junk) in (True, False)
    try:
        log = read(w.record(junk) if framed else junk)
    except UnreadableLogError:
        return
    assert log.rows >= 0


@unhurried
@given(RECORDS, st.binary(max_size=100), st.data())
def test_junk_between_records_costs_nothing(said, junk, data):
    records = written(said)
    at = data.draw(st.integers(0, len(records) - 1))
    # What begins like packed data is unpacked.
    assume(at or not junk.startswith((GZIP, ZSTD)))
    log = read(b"".join([*records[:at], junk, *records[at:]]))
    assert multiset(everything(log)) == multiset(expected(said))
