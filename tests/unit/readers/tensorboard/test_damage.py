"""Every way in which an event file is found broken, built by hand."""

from __future__ import annotations

import gzip
import struct
import tracemalloc

import pytest

from holter.errors import UnreadableLogError
from holter.readers.base import Source
from holter.readers.tensorboard.framing import LONGEST
from holter.readers.tensorboard.reader import TENSORBOARD
from tests.unit.readers.tensorboard import writing as w
from tests.unit.readers.tensorboard.reading import everything, read, series, steps

ROWS = [(s, {"loss": 1.0 / s, "reward": float(s), "kl": s * 0.5}) for s in range(1, 301)]
SOUND = w.scalars(ROWS)
RECORDS = [
    w.record(w.event(s, w.simple(t, v), wall_time=1.7e9 + n)) for n, (s, r) in enumerate(ROWS) for t, v in r.items()
]
"""The records of SOUND behind the version."""
STEP, TAG = 150, 1
BROKEN = (STEP - 1) * 3 + TAG
"""The record of "reward" at step 150."""


def file_with(index: int, replacement: bytes) -> bytes:
    return w.VERSION + b"".join(RECORDS[:index]) + replacement + b"".join(RECORDS[index + 1 :])


def offset_of(index: int) -> int:
    return len(w.VERSION) + sum(map(len, RECORDS[:index]))


def without(index: int) -> dict[str, list[tuple[int, bytes]]]:
    """What a sound file says, but for one record."""
    found = everything(read(SOUND))
    tag = list(ROWS[0][1])[index % 3]
    return found | {tag: [p for p in found[tag] if p[0] != index // 3 + 1]}


def test_the_file_is_built_as_described():
    assert w.VERSION + b"".join(RECORDS) == SOUND
    assert series(read(SOUND), "reward")[STEP - 1] == (STEP, float(STEP))


@pytest.mark.parametrize("index", [0, 1, BROKEN, len(RECORDS) - 1])
@pytest.mark.parametrize("byte", ["length", "length checksum", "wall time", "step", "tag", "value", "checksum"])
def test_a_flipped_byte_costs_its_record_and_is_named(index, byte):
    sound = RECORDS[index]
    at = {
        "length": 0, "length checksum": 9, "wall time": 15, "step": 22, "tag": len(sound) - 10, "value": len(sound) - 7,
        "checksum": len(sound) - 2,
    }[byte]  # fmt: skip
    flipped = bytearray(sound)
    flipped[at] ^= 0x04
    log = read(file_with(index, bytes(flipped)))
    assert everything(log) == without(index)
    (skipped,) = log.skipped
    assert f"record at byte {offset_of(index)}:" in skipped.why
    assert skipped.line is None


@pytest.mark.parametrize("length", [1 << 30, 1 << 40, (1 << 64) - 1, LONGEST + 1])
def test_a_huge_length_costs_its_record_and_no_memory(length):
    header = struct.pack("<Q", length)
    bogus = header + w.masked(header) + RECORDS[BROKEN][12:]
    tracemalloc.start()
    try:
        log = read(file_with(BROKEN, bogus))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert everything(log) == without(BROKEN)
    assert len(log.skipped) == 1
    assert peak < 8 << 20


@pytest.mark.parametrize("kept", [1, 11, 12, 30])
def test_a_record_cut_in_the_middle_of_the_file_costs_nothing_behind_it(kept):
    log = read(file_with(BROKEN, RECORDS[BROKEN][:kept]))
    assert everything(log) == without(BROKEN)
    assert len(log.skipped) == 1


def test_a_large_record_cut_before_small_ones_does_not_swallow_them():
    large = w.record(w.event(1, w.text("notes", "x" * 100_000)))
    log = read(SOUND + large[:500] + b"".join(w.record(w.event(s, w.simple("loss", 1.0))) for s in range(301, 303)))
    assert steps(log)[-3:] == [300, 301, 302]
    assert "cut" in log.skipped[0].why


@pytest.mark.parametrize("cut", [1, 4, 5, 30, len(RECORDS[-1]) - 1])
def test_a_torn_last_record_is_a_note_and_no_fault(cut):
    log = read(SOUND[:-cut])
    assert everything(log) == without(len(RECORDS) - 1)
    assert log.skipped == ()
    assert "still being written" in log.notes[0]


@pytest.mark.parametrize("junk", [bytes(4096), b"\xff" * 4096, bytes(range(256)) * 16, SOUND[7:30]])
def test_junk_between_records_is_stepped_over(junk):
    log = read(file_with(BROKEN, junk + RECORDS[BROKEN]))
    assert everything(log) == everything(read(SOUND))
    (skipped,) = log.skipped
    assert f"left out {len(junk)} bytes" in skipped.why


def test_zeros_at_the_end_are_named():
    log = read(SOUND + bytes(4096))
    assert everything(log) == everything(read(SOUND))
    assert "left out 4096 bytes" in log.skipped[0].why


def test_a_record_whose_every_byte_is_sound_but_is_no_event_is_named():
    log = read(file_with(BROKEN, w.record(b"\x0a\x03abc")))
    assert everything(log) == without(BROKEN)
    assert "no TensorBoard event" in log.skipped[0].why


def test_many_damaged_places_are_counted_and_the_first_hundred_listed():
    flipped = [r[:-1] + bytes([r[-1] ^ 1]) if n % 2 else r for n, r in enumerate(RECORDS)]
    log = read(w.VERSION + b"".join(flipped))
    assert sum(map(len, everything(log).values())) == 450
    assert len(log.skipped) == 101
    assert "350 more" in log.skipped[-1].why


@pytest.mark.parametrize("data", [b"\x00" * 100, b"junk" * 1000, w.VERSION[:5], SOUND[9:40], w.record(b"\xff\xff")])
def test_a_file_without_a_sound_record_is_refused_with_the_way_out(data):
    with pytest.raises(UnreadableLogError, match=r"events\.out\.tfevents\.1\.host: no sound TensorBoard record"):
        read(data)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(UnreadableLogError, match="no sound TensorBoard record"):
        list(TENSORBOARD.read(Source.of(tmp_path / "events.out.tfevents.1.host")))


def test_a_file_that_only_begins_holds_no_rows():
    log = read(w.VERSION)
    assert (log.rows, dict(log.columns), log.skipped) == (0, {}, ())


def test_a_cut_gzip_copy_gives_what_it_holds(tmp_path):
    path = tmp_path / "events.out.tfevents.1.host.gz"
    packed = gzip.compress(SOUND)
    path.write_bytes(packed)
    (whole,) = TENSORBOARD.read(Source.of(path))
    assert everything(whole) == everything(read(SOUND))
    path.write_bytes(packed[: len(packed) // 2])
    (half,) = TENSORBOARD.read(Source.of(path))
    assert 100 < half.rows < 300
    assert series(half, "loss") == series(whole, "loss")[: len(half.columns["loss"].at)]


def test_a_step_that_ends_early_is_not_read_as_if_it_went_on():
    # Steps from 128 on take two bytes; here the first one says that it is the last, and what follows is no field.
    payload = bytearray(w.event(150, w.simple("loss", 7.0)))
    assert payload[10] & 0x80
    payload[10] &= 0x7F
    rows = [w.record(w.event(s, w.simple("loss", 1.0))) for s in range(130, 200)]
    log = read(b"".join([*rows[:20], w.record(bytes(payload)), *rows[20:]]))
    assert [v for _, v in series(log, "loss")] == [1.0] * 70
    assert "no TensorBoard event" in log.skipped[0].why
