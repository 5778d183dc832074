"""How fast a ``.wandb`` file becomes columns, against W&B's own messages over the same blocks: reading_wandb.py [ROWS] [KEYS].

The peer is what W&B's client shipped until 0.30 (`wandb.sdk.internal.datastore`, one record at a time with its checksum) and its
protocol buffers, `json.loads` a value, a list a name. Needs the `wandb` package, for its messages. In turns, CPU time.
"""

import json
import random
import struct
import sys
import tempfile
import zlib
from pathlib import Path

import numpy as np
from wandb.proto import wandb_internal_pb2 as pb

from holter.readers.base import Source
from holter.readers.wandb.reader import WANDB
from turns import TURNS, in_turns, peak

BLOCK = 1 << 15


def framed(payloads):
    """The bytes of a file with these records."""
    out = bytearray(b":W&B" + struct.pack("<HB", 0xBEE1, 0))
    for payload in payloads:
        left = memoryview(payload)
        first = True
        while first or left:
            room = BLOCK - len(out) % BLOCK
            if room < 7:
                out += bytes(room)
                continue
            part, left = left[: room - 7], left[room - 7 :]
            kind = (1 if first else 4) if not left else (2 if first else 3)
            out += struct.pack("<IHB", zlib.crc32(part, zlib.crc32(bytes([kind]))), len(part), kind) + part
            first = False
    return bytes(out)


def written(folder, rows, keys):
    """A file as the client writes it: for each step a history in no order, and a summary of all its values."""
    rng, order = np.random.default_rng(0), random.Random(0)
    names = [f"group_{i % 7}/metric_{i}/mean" for i in range(keys - 1)]

    def payloads():
        for step in range(rows):
            row = {**dict(zip(names, rng.normal(size=keys - 1).tolist(), strict=True)), "train/global_step": step}
            row |= {"_step": step, "_runtime": 0.5 * step, "_timestamp": 1.7e9 + step}
            shuffled = list(row.items())
            order.shuffle(shuffled)
            record = pb.Record(num=2 * step + 1)
            for key, value in shuffled:
                record.history.item.add(nested_key=[key], value_json=json.dumps(value))
            record.history.step.num = step
            yield record.SerializeToString()
            record = pb.Record(num=2 * step + 2)
            for key, value in shuffled:
                record.summary.update.add(nested_key=[key], value_json=json.dumps(value))
            yield record.SerializeToString()

    path = Path(folder) / "run-abc.wandb"
    path.write_bytes(framed(payloads()))
    return path


def by_messages(path):
    columns: dict[str, list[float]] = {}
    data = path.read_bytes()
    at, parts = 7, []
    while at + 7 <= len(data):
        left = BLOCK - at % BLOCK
        if left < 7:
            at += left
            continue
        checksum, length, kind = struct.unpack_from("<IHB", data, at)
        content = data[at + 7 : at + 7 + length]
        assert zlib.crc32(content, zlib.crc32(bytes([kind]))) == checksum
        at += 7 + length
        parts = [*parts, content] if kind in (3, 4) else [content]
        if kind in (1, 4):
            record = pb.Record.FromString(b"".join(parts))
            if record.WhichOneof("record_type") == "history":
                for item in record.history.item:
                    columns.setdefault(item.key or "/".join(item.nested_key), []).append(json.loads(item.value_json))
    return {key: np.asarray(values, np.float64) for key, values in columns.items()}


def by_holter(path):
    (log,) = WANDB.read(Source.of(path))
    return {key: column.values for key, column in log.columns.items()}


def main():
    rows, keys = (int(a) for a in (*sys.argv[1:], "10000", "60")[:2]) if len(sys.argv) != 2 else (int(sys.argv[1]), 60)
    with tempfile.TemporaryDirectory() as folder:
        path = written(folder, rows, keys)
        theirs, ours = by_messages(path), by_holter(path)
        assert theirs.keys() == ours.keys()
        assert all(np.array_equal(theirs[k], ours[k]) for k in theirs)
        base, own, ratio = in_turns(by_messages, by_holter, path)
        most, columns = peak(by_holter, path)
        size = sum(values.nbytes for values in columns.values())
        print(
            f"{rows} rows x {keys} keys: messages {1e3 * base:.0f} ms, holter {1e3 * own:.0f} ms of CPU time, {ratio:.2f}x "
            f"(median of {TURNS} turns); peak memory {most / size:.1f}x the columns"
        )


if __name__ == "__main__":
    main()
