"""Lines of any encoding, any line end, any length; packed or not."""

import gzip
import io
import tracemalloc

import pytest

from holter.errors import UnreadableLogError
from holter.readers import lines as lines_module
from holter.readers import unpacking
from holter.readers.base import Source
from holter.readers.encoding import encoding_of, is_text
from holter.readers.lines import LONGEST, Lines


def read(data, **kwargs):
    lines = Lines(Source("run.log", data=data, **kwargs))
    return [(number, line.decode()) for number, line in lines], lines


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "gb18030"])
def test_every_encoding_and_line_end_gives_the_same_lines(end, encoding):
    text = end.join(["步骤,平均奖励,loss,entropy", "1000,2.5,0.25,1.5", "", "2000,3.1,0.18,1.25", ""])
    found, lines = read(text.encode(encoding))
    assert found == [(1, "步骤,平均奖励,loss,entropy"), (2, "1000,2.5,0.25,1.5"), (3, ""), (4, "2000,3.1,0.18,1.25")]
    assert lines.ended
    assert not lines.skipped


def test_a_line_without_its_end_is_told():
    assert read(b"a\nb")[1].ended is False
    assert read(b"a\nb\n")[1].ended is True


@pytest.mark.parametrize("chunk", [1, 2, 3, 7])
def test_the_size_of_chunks_changes_nothing(monkeypatch, chunk):
    text = "步骤\r\nab\r\n\r\nc".encode()
    whole, _ = read(text)
    monkeypatch.setattr(lines_module, "_CHUNK", chunk)
    assert read(text)[0] == whole


class Endless(io.RawIOBase):
    """A line of 300 MB that is made while it is read."""

    def __init__(self):
        self.left = 300 << 20
        self.tail = b'\n{"step": 2}\n'

    def readable(self):
        return True

    def read(self, size=-1):
        if self.left > 0:
            self.left -= size
            return b"x" * size
        tail, self.tail = self.tail, b""
        return tail


def test_an_endless_line_is_passed_over_without_being_held(monkeypatch):
    monkeypatch.setattr(Source, "open", lambda self: Endless())
    tracemalloc.start()
    found, lines = read(None)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found == [(2, '{"step": 2}')]
    assert [str(s) for s in lines.skipped] == ["run.log:1: the line is longer than 16 MiB, which no row of a log is"]
    assert peak < 4 * LONGEST


def test_gzip_is_told_by_its_bytes_whatever_the_name():
    assert read(gzip.compress(b"a\nb\n"))[0] == [(1, "a"), (2, "b")]


def test_a_growing_gzip_file_gives_what_is_there():
    packed = gzip.compress("".join(f"line {i * 7919}\n" for i in range(5000)).encode())
    found, lines = read(packed[: len(packed) // 2])
    assert found[0] == (1, "line 0")
    assert len(found) > 1000
    assert lines.notes == ["the packed data ends early, as in a file that is still being written"]
    assert not lines.skipped


def test_damaged_gzip_gives_what_is_before_the_damage_and_says_so():
    packed = bytearray(gzip.compress(b"a\nb\n"))
    packed[-6] ^= 0xFF  # the checksum
    found, lines = read(bytes(packed))
    assert found == [(1, "a"), (2, "b")]
    assert "damaged" in lines.skipped[0].why


def test_a_few_kilobytes_cannot_unpack_to_gigabytes(monkeypatch):
    monkeypatch.setattr(unpacking, "ALWAYS_ALLOWED", 1 << 20)
    bomb = gzip.compress(b"\n" * (8 << 20))
    with pytest.raises(UnreadableLogError, match=r"run\.log: it unpacks to more than 200 times its size"):
        read(bomb)


def test_well_packed_logs_are_not_taken_for_bombs(monkeypatch):
    monkeypatch.setattr(unpacking, "ALWAYS_ALLOWED", 1 << 20)
    log = "".join(f'{{"step": {i}, "loss": {(i * 7919) % 1000 / 1000}}}\n' for i in range(100_000)).encode()
    assert len(read(gzip.compress(log))[0]) == 100_000


def test_latin_text_is_not_taken_for_chinese():
    assert encoding_of("step,perte moyenne,durée (s)\n1,0.5,3\n".encode("latin-1")) == "utf-8"


def test_blocks_of_zeros_below_the_first_line_leave_a_text_a_text():
    assert is_text(b'{"step": 1}\n\0\0\0\0\n{"step": 2}')
    assert not is_text(b"\x89PNG\r\n\x1a\n")
    assert not is_text(b"SQLite format 3\0\x10\0")
