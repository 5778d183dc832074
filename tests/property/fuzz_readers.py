"""Feeds every reader damaged logs until told to stop: fuzz_readers.py [--inputs N] [--seed S] [--only NAME,...] [--keep FOLDER].

    python -m tests.property.fuzz_readers --inputs 1000000

An input is a golden log, damaged in a way that its format makes likely: bytes, tokens, pieces of other logs; event files and
packed files also inside, with their checksums made true again, so that the damage reaches the code behind them. A reader must
give consistent logs that become runs, or refuse with a message that names the file, within `PATIENCE` seconds. What does
neither is printed once a place in the code, and kept in FOLDER. Exits with 1 when there was any.
"""

import argparse
import gzip
import io
import random
import signal
import struct
import sys
import tempfile
import time
import traceback
import warnings
import zlib
from collections import Counter
from pathlib import Path

from holter.errors import UnreadableLogError
from holter.readers.base import Source
from holter.readers.registry import all_readers
from holter.readers.tensorboard.crc32c import checksum, masked
from holter.runs.canonical import canonical
from tests.property.test_hostile_formats import NOTEBOOK_FILE, WANDB_FILE, database
from tests.property.test_readers import SAMPLES, consistent
from tests.unit.readers.console.samples import SAMPLES as CONSOLES

GOLDEN = Path(__file__).parents[1] / "golden"
LONGEST = 1 << 16
"""Bytes of the longest input: many short ones find more than few long ones."""
PATIENCE = 20
"""Seconds of CPU time."""
TOKENS = [
    *(b"NaN", b"nan", b"Infinity", b"-inf", b"1e999", b"-", b"null", b"None", b"true", b"0x1", b"1_0", b"9" * 400, b"1,234"),
    *(b"{", b"}", b"[", b"]", b'"', b"'", b",", b":", b";", b"|", b"\t", b"\\", b"#", b"%", b"=", b" - ", b"__MIN", b"5/10"),
    *(b"\n", b"\r", b"\r\n", b"\n\n", b"\x00", b"\xff", b"\xe6\xad", b"\xef\xbb\xbf", b"\xff\xfe", b"\x1b[31m", b"\x1b]0;x\x07"),
    *(b"tensor(", b"np.float64(", b"step", b"log_history", b"_type", b"config", b"eval_loss", b"train_runtime", b"data"),
    *(b"\xd9\xa3", b"--", b"mean|std", "│".encode(), b"epoch", b"pid=1) ", b"\\ud800", b"\x08\x01", b"\x12\x80\x80\x80\x80\x08"),
]  # fmt: skip
RUN_FOLDER = (
    b'{"step":1,"time":1.5,"loss":0.5,"kl":null}\n{"step":2,"time":2.5,"loss":NaN}\n'
    b'{"gap":{"lines":3,"why":"disk full"}}\n{"step":3,"time":3.5,"loss":1e-3,"objective/kl":0.25}\n'
)
MANIFEST = (
    b'{"format": "holter-run", "version": 1, "id": "x", "created": 1.5, "algorithm": "ppo", "name": "n", "processes": 1, '
    b'"config": {"beta": 0.1}, "seed": 1, "git": null, "packages": {}, "hardware": {}, "command": ["a"], '
    b'"parent": {"segment": 0, "step": 2}}'
)
MLFLOW = b"artifact_uri: a/b\nlifecycle_stage: active\nrun_id: x\nrun_name: 'y'\nstatus: 1\n"
MLFLOW_METRIC = b"1700000000000 0.5 1\n1700000001000 nan 2\n1700000002000 0.25 3\n"


class Slow(BaseException):
    """A reader took too long. No reader catches it."""


def parquet_file():
    """A small table, or nothing where pyarrow is not installed."""
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError:
        return None
    out = io.BytesIO()
    table = arrow.table({"step": [1, 2, 3], "loss": [0.5, None, 0.25], "note": ["a", "b", None]})
    parquet.write_table(table, out, compression="none")
    return out.getvalue()


def seeds():
    """By reader: names and bytes of logs that it reads, and of those that it must refuse."""
    found = {name: [] for name in all_readers()}
    everything = [(path.name, path.read_bytes()) for path in sorted((GOLDEN / "readers" / "logs").iterdir())]
    names = ("run.jsonl", "run.log", "trainer_state.json", "run.json", "run.json", "run.csv", "run.csv", "run.csv")
    everything += [(n, s.encode()) for n, s in zip((*names, "run.md", "run.txt", "run.txt"), SAMPLES, strict=True)]
    everything += [(p.name, p.read_bytes()) for p in sorted((GOLDEN / "tensorboard").glob("*/events*"))]
    everything += [(p.name, p.read_bytes()) for p in sorted((GOLDEN / "swanlab").glob("*/*.swanlab"))]
    everything += [("run.log", s.text.encode()) for s in CONSOLES]
    everything += [("run.wandb", WANDB_FILE[: 1 << 15]), ("run.ipynb", NOTEBOOK_FILE), ("lab.db", database())]
    everything += [("metrics-0.jsonl", RUN_FOLDER), ("meta.yaml", MLFLOW)]
    table = parquet_file()
    everything += [("run.parquet", table)] if table else []
    for name, data in everything:
        data = data[:LONGEST]
        plain = gzip.decompress(data) if name.endswith(".gz") else data
        for reader in all_readers().values():
            if reader.recognises(name, plain[:4096]):
                found[reader.name].append((name.removesuffix(".gz"), plain))
    return {name: some for name, some in found.items() if some}


def damaged(chance, data, others):
    """Bytes with some damage."""
    data = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 3, 5, 10))):
        at = chance.randrange(len(data) + 1)
        match chance.randrange(9):
            case 0:
                data[at : at + 1] = bytes([chance.randrange(256)])
            case 1 | 2:
                data[at:at] = chance.choice(TOKENS)
            case 3:
                del data[at : at + chance.choice((1, 5, 50, 500))]
            case 4:
                del data[at:]
            case 5:
                other = chance.choice(others)[1]
                begin = chance.randrange(len(other) + 1)
                data[at:at] = other[begin : begin + chance.choice((5, 50, 500))]
            case 6:
                data[at:at] = data[max(0, at - chance.choice((3, 30, 300))) : at]
            case 7:
                data = bytearray(
                    bytes(data).replace(chance.choice(TOKENS), chance.choice(TOKENS), chance.choice((1, 3, -1)))
                )
            case _:
                data[at:at] = chance.randbytes(chance.choice((1, 4, 40)))
        del data[LONGEST:]
    return bytes(data)


def reframed(chance, data, others):
    """An event file whose records are damaged inside, under checksums that hold."""
    out, at = bytearray(), 0
    while at + 12 <= len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        record = data[at + 12 : at + 12 + length]
        at += length + 16
        if chance.random() < 0.2:
            record = damaged(chance, record, others)[: 1 << 12]
        for _ in range(chance.choice((1, 1, 1, 1, 0, 2))):
            head = struct.pack("<Q", len(record))
            out += (
                head + struct.pack("<I", masked(checksum(head))) + record + struct.pack("<I", masked(checksum(record)))
            )
    return bytes(out)


def reframed_blocks(chance, data, others):
    """A W&B or SwanLab file whose records are damaged inside, under checksums that hold."""
    out, at = bytearray(data[:7]), 7
    while at + 7 <= len(data):
        _, length, kind = struct.unpack_from("<IHB", data, at)
        record = data[at + 7 : at + 7 + length]
        at += 7 + length
        if chance.random() < 0.1:
            record = damaged(chance, record, others)[: 1 << 12]
        if len(out) % (1 << 15) + 7 + len(record) > 1 << 15 or kind > 4:
            break
        out += struct.pack("<IHB", zlib.crc32(record, zlib.crc32(bytes([kind]))), len(record), kind) + record
    return bytes(out)


def packed(chance, data):
    """The bytes in gzip or Zstandard, in one or two members, often damaged."""
    cut = chance.randrange(len(data) + 1) if chance.random() < 0.3 else len(data)
    try:
        import zstandard
    except ImportError:
        zstandard = None
    if zstandard is not None and chance.random() < 0.5:
        pack = zstandard.ZstdCompressor(level=1).compress
    else:
        pack = lambda part: gzip.compress(part, 1)  # noqa: E731
    out = pack(data[:cut]) + (pack(data[cut:]) if cut < len(data) else b"")
    return damaged(chance, out, [("", data)]) if chance.random() < 0.7 else out


def source(chance, reader, name, data, folder):
    """The input as the reader gets it: some need the files around theirs."""
    if reader.name == "run-folder":
        path = folder / "metrics-0.jsonl"
        path.write_bytes(data)
        (folder / "run.json").write_bytes(
            damaged(chance, MANIFEST, [(name, data)]) if chance.random() < 0.3 else MANIFEST
        )
        second = folder / "metrics-1.jsonl"
        second.write_bytes(damaged(chance, RUN_FOLDER, [(name, data)]))
        return Source(str(folder), path=path, parts=(path, second) if chance.random() < 0.3 else ())
    if reader.name == "mlflow-files":
        (folder / "metrics" / "a").mkdir(parents=True, exist_ok=True)
        (folder / "metrics" / "a" / "loss").write_bytes(damaged(chance, MLFLOW_METRIC, [(name, data)]))
        (folder / "meta.yaml").write_bytes(data)
        return Source.of(folder / "meta.yaml")
    return Source(name, data=data)


def fault(reader, given, *, runs):
    """What went wrong with one input, as a short text for its place in the code; None where nothing did."""
    signal.setitimer(signal.ITIMER_PROF, PATIENCE)
    try:
        reader.recognises(given.name, given.head())
        for log in reader.read(given):
            consistent(log)
            if runs:
                canonical(log)
    except UnreadableLogError as error:
        # A reader of a folder names the folder.
        names = {given.name, str(given.path.parent)} if given.path is not None else {given.name}
        return None if any(name in str(error) for name in names) else f"{reader.name} names no file: {error}"[:300]
    except Slow:
        return f"{reader.name}: more than {PATIENCE} seconds"
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        return f"{reader.name}: {type(error).__name__} in {Path(last.filename).name}:{last.lineno}: {error}"[:300]
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return None


def _too_slow(signum, frame):
    raise Slow


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--inputs", type=int, default=100_000)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--only", default="")
    options.add_argument("--keep", type=Path)
    given = options.parse_args()
    warnings.simplefilter("error")
    signal.signal(signal.SIGPROF, _too_slow)
    chance, by_reader = random.Random(given.seed), seeds()
    names = [n for n in by_reader if not given.only or n in given.only.split(",")]
    others = [s for some in by_reader.values() for s in some]
    done: Counter[str] = Counter()
    met: Counter[str] = Counter()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        while done.total() < given.inputs:
            reader = all_readers()[names[done.total() % len(names)]]
            name, data = chance.choice(by_reader[reader.name] if chance.random() < 0.95 else others)
            inside = {"tensorboard": reframed, "wandb": reframed_blocks, "swanlab": reframed_blocks}.get(
                reader.name, damaged
            )
            data = (inside if chance.random() < 0.7 else damaged)(chance, data, others)
            if chance.random() < 0.05:
                data = packed(chance, data)
            done[reader.name] += 1
            if done.total() % 10_000 == 0:
                print(f"{done.total():,} inputs in {time.monotonic() - began:.0f} s", flush=True)
            place = fault(reader, source(chance, reader, name, data, Path(scratch)), runs=chance.random() < 0.1)
            if place is None:
                continue
            met[place] += 1
            if met[place] == 1:
                print(f"input {done.total()}: {place}", flush=True)
                if given.keep is not None:
                    given.keep.mkdir(parents=True, exist_ok=True)
                    (given.keep / f"{len(met)}-{reader.name}-{name}").write_bytes(data)
    for reader_name, count in sorted(done.items()):
        print(f"{count:10,} inputs for {reader_name}")
    print(f"{done.total():,} inputs in {time.monotonic() - began:.0f} s, {len(met)} kinds of faults")
    sys.exit(bool(met))


if __name__ == "__main__":
    main()
