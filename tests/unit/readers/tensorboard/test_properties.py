from __future__ import annotations

import struct

from hypothesis import given, settings
from hypothesis import strategies as st

from holter.errors import UnreadableLogError
from holter.readers.tensorboard.reader import TENSORBOARD
from tests.unit.readers.tensorboard import writing as w
from tests.unit.readers.tensorboard.reading import bits, everything, in_pieces, read

TAGS = st.sampled_from(["", "loss", "奖励", "train/a_rather_long_name_of_a_metric", "b"])
STEPS = st.one_of(st.integers(0, 5), st.integers(-3, 1 << 40), st.sampled_from([127, 128, 16383, 16384]))
VALUES = st.floats(width=32, allow_nan=True, allow_infinity=True)
FORMS = st.sampled_from(["simple", "float_val", "content", "double"])
POINTS = st.lists(st.tuples(TAGS, STEPS, VALUES, FORMS), min_size=1, max_size=12)
"""One record each."""


def value(tag: str, number: float, form: str) -> bytes:
    if form == "simple":
        return w.simple(tag, number)
    if form == "float_val":
        return w.tensor(tag, 1, 5, struct.pack("<f", number), plugin="scalars")
    if form == "content":
        return w.tensor(tag, 1, 4, struct.pack("<f", number), shape=b"")
    return w.tensor(tag, 2, 6, struct.pack("<d", number), shape=b"")


def records(points) -> list[bytes]:
    return [w.record(w.event(step, value(tag, number, form))) for tag, step, number, form in points]


def multiset(found: dict[str, list[tuple[int, bytes]]]) -> dict[str, list[tuple[int, bytes]]]:
    return {tag: sorted(points) for tag, points in found.items()}


def expected(points) -> dict[str, list[tuple[int, bytes]]]:
    out: dict[str, list[tuple[int, bytes]]] = {}
    for tag, step, number, _ in points:
        out.setdefault(tag, []).append((step, bits(number)))
    return out


@given(POINTS, st.integers(1, 40))
def test_what_is_written_is_read_back_in_the_order_of_each_tag(points, times):
    repeated = [(tag, step + turn, number, form) for turn in range(times) for tag, step, number, form in points]
    found = everything(read(b"".join(records(repeated))))
    assert multiset(found) == multiset(expected(repeated))
    for tag, series in expected(points).items():
        rising = [s for s, _ in series]
        if times == 1 and rising == sorted(rising):
            assert found[tag] == series


@given(POINTS, st.data())
def test_a_file_cut_at_any_byte_gives_its_whole_records(points, data):
    written = [w.VERSION, *records(points)]
    whole = b"".join(written)
    cut = data.draw(st.integers(len(w.VERSION), len(whole)))
    ends = [sum(map(len, written[: n + 1])) for n in range(len(written))]
    complete = sum(end <= cut for end in ends) - 1
    log = read(whole[:cut])
    assert multiset(everything(log)) == multiset(expected(points[:complete]))
    assert log.skipped == ()


@given(POINTS, st.integers(1, 20), st.data())
def test_a_damaged_byte_costs_its_record_alone(points, times, data):
    repeated = [(tag, step + turn, number, form) for turn in range(times) for tag, step, number, form in points]
    written = [w.VERSION, *records(repeated)]
    hit = data.draw(st.integers(1, len(repeated)))
    at = data.draw(st.integers(0, len(written[hit]) - 1))
    flipped = bytearray(written[hit])
    flipped[at] ^= data.draw(st.integers(1, 255))
    log = read(b"".join([*written[:hit], bytes(flipped), *written[hit + 1 :]]))
    found = multiset(everything(log))
    assert found == multiset(expected([*repeated[: hit - 1], *repeated[hit:]]))
    assert len(log.skipped) == 1


@given(POINTS, st.integers(1, 20), st.lists(st.integers(1, 200), max_size=12))
def test_bytes_may_come_in_any_pieces(points, times, sizes):
    repeated = [(tag, step + turn, number, form) for turn in range(times) for tag, step, number, form in points]
    whole = b"".join(records(repeated))
    gathered, torn = in_pieces(whole, sizes)
    rows = gathered.stretches.rows()
    once = read(whole)
    assert torn == 0
    assert rows.steps.tolist() == once.columns["step"].values.tolist()
    for tag, column in rows.columns.items():
        assert column.at.tolist() == once.columns[tag].at.tolist()
        assert column.values.tobytes() == once.columns[tag].values.tobytes()


@given(st.binary(max_size=200), st.booleans())
def test_junk_is_read_or_refused_and_nothing_else(junk, framed):
    assert TENSORBOARD.recognises("x", junk) in (True, False)
    try:
        log = read(w.record(junk) if framed else junk)
    except UnreadableLogError:
        return
    assert log.rows >= 0


@settings(max_examples=30)
@given(POINTS, st.binary(max_size=100), st.data())
def test_junk_between_records_costs_nothing(points, junk, data):
    written = records(points)
    at = data.draw(st.integers(0, len(written) - 1))
    log = read(b"".join([*written[:at], junk, *written[at:]]))
    assert multiset(everything(log)) == multiset(expected(points))
