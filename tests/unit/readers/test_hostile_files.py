"""Files that are too large, too many or made to do harm: a limit with a message, never a hang, a crash or the whole memory."""

import contextlib
import gzip
import io
import json
import tracemalloc

import pytest
from rich.console import Console

from holter.errors import UnreadableLogError
from holter.findings.diagnosis import diagnose
from holter.readers import unpacking
from holter.readers.base import Source
from holter.readers.parquet import PARQUET
from holter.readers.registry import read
from holter.reports.terminal import print_diagnoses
from holter.runs.load import load

ROWS = "".join(json.dumps({"step": i, "loss": i / 4}) + "\n" for i in range(1, 9))


@contextlib.contextmanager
def at_most(mebibytes):
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < mebibytes << 20
    finally:
        tracemalloc.stop()


@pytest.mark.slow
def test_a_line_of_200_megabytes_is_passed_over_and_named(tmp_path):
    path = tmp_path / "log.jsonl"
    with path.open("w") as file:
        file.write(ROWS)
        for _ in range(200):
            file.write("x" * (1 << 20))
        file.write("\n" + ROWS)
    with at_most(64):
        (log,) = read(Source.of(path))
    assert log.rows == 16
    assert [(s.line, "longer than 16 MiB" in s.why) for s in log.skipped] == [(9, True)]


@pytest.mark.slow
def test_a_record_with_a_million_names_is_refused():
    row = json.dumps({f"k{i}": 1 for i in range(1_000_000)})
    with pytest.raises(UnreadableLogError, match=r"run\.jsonl: it uses more than 50,000 different names"):
        read(Source("run.jsonl", data=row.encode()))


@pytest.mark.parametrize("how", ["gzip", "zstandard"])
def test_a_packed_file_that_unpacks_to_nothing_but_size_is_refused(how, monkeypatch):
    monkeypatch.setattr(unpacking, "ALWAYS_ALLOWED", 1 << 20)
    if how == "gzip":
        bomb = gzip.compress(ROWS.encode() + b"\n" * (64 << 20), 9)
    else:
        bomb = pytest.importorskip("zstandard").ZstdCompressor(level=3).compress(ROWS.encode() + b"\n" * (64 << 20))
    with at_most(64), pytest.raises(UnreadableLogError, match="unpacks to more than 200 times its size"):
        read(Source("run.jsonl", data=bomb))


def test_a_file_that_was_packed_twice_is_told():
    with pytest.raises(UnreadableLogError, match=r"gzip data that was packed twice\. Unpack it first: `gunzip FILE`\."):
        read(Source("run.csv.gz", data=gzip.compress(gzip.compress(ROWS.encode()))))


def test_packed_data_that_are_damaged_from_their_beginning_are_not_called_empty(tmp_path):
    packed = bytearray(gzip.compress(ROWS.encode()))
    packed[20:30] = b"\xff" * 10
    (tmp_path / "run.jsonl.gz").write_bytes(packed)
    with pytest.raises(UnreadableLogError, match=r"run\.jsonl\.gz: the gzip data is damaged .*Copy the file again"):
        read(Source.of(tmp_path / "run.jsonl.gz"))
    with pytest.raises(UnreadableLogError, match="the gzip data is damaged"):
        load([tmp_path])


@pytest.mark.parametrize(
    "name",
    [
        "loss\x1b[31m",
        "\x1b]0;title\x07loss",
        "loss\x08\x08\x08\x08gain",
        "[bold red]loss[/bold red]",
        "[link=file:///etc/passwd]loss",
        "loss\u202egain",
        "<script>loss</script>",
        "a\nb",
        "a\rb",
    ],
)
def test_names_of_metrics_can_do_nothing_to_a_terminal(name, tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text(
        "".join(json.dumps({"step": i, "loss": 0.5, "reward": i / 9, name: 0.25}) + "\n" for i in range(40))
    )
    (run,) = load([path]).runs
    out = io.StringIO()
    print_diagnoses(Console(file=out, width=100, force_terminal=False), [diagnose(run)], verbose=True)
    shown = out.getvalue()
    assert all(c.isprintable() or c == "\n" for c in shown)
    if name.startswith("["):
        assert name in shown.replace("\n", ""), "markup is text like any other"


def test_a_parquet_table_that_lies_about_its_length_is_refused():
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    out = io.BytesIO()
    parquet.write_table(arrow.table({"step": [1, 2, 3], "loss": [0.5, None, 0.25]}), out, compression="none")
    data = out.getvalue()
    footer = data.rindex(b"\x16\x06\x19")  # field 3 of the metadata: three rows, zigzag, before the list of row groups
    damaged = data[: footer + 1] + b"\x15" + data[footer + 2 :]
    with pytest.raises(UnreadableLogError, match=r"run\.parquet"):
        list(PARQUET.read(Source("run.parquet", data=damaged)))


@pytest.mark.parametrize(
    "name", ["loss" + " " * 20_000 + "x", "(" * 20_000, "rewards/" * 2_500, "eval_" * 4_000, "Aa" * 10_000]
)
def test_a_name_of_20_000_characters_is_kept_and_means_nothing(name, tmp_path):
    path = tmp_path / "run.jsonl"
    path.write_text("".join(json.dumps({"step": i, "loss": i / 4, name: 0.5}) + "\n" for i in range(1, 9)))
    (run,) = load([path]).runs
    assert run.unknown[name].values.tolist() == [0.5] * 8
    assert list(run.series) == ["loss", "step"]
