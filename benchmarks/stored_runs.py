"""A table laid out as trackers store it, without the trackers."""

import json
import sqlite3
import struct
import zlib
from contextlib import closing

_BLOCK = 1 << 15
_HEADER = struct.Struct("<IHB")
_TRACKIO = (
    "CREATE TABLE metrics (id INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT NOT NULL, timestamp TEXT NOT NULL, "
    "run_name TEXT NOT NULL, step INTEGER NOT NULL, metrics TEXT NOT NULL, log_id TEXT, space_id TEXT)",
    "CREATE INDEX idx_metrics_run_id_step ON metrics(run_id, step)",
)
_MLFLOW = (
    "CREATE TABLE runs (run_uuid VARCHAR(32) PRIMARY KEY, name VARCHAR(250), lifecycle_stage VARCHAR(20))",
    "CREATE TABLE metrics (key VARCHAR(250) NOT NULL, value FLOAT NOT NULL, timestamp BIGINT NOT NULL, "
    "run_uuid VARCHAR(32) NOT NULL, step BIGINT NOT NULL, is_nan BOOLEAN NOT NULL, "
    "PRIMARY KEY (key, timestamp, step, run_uuid, value, is_nan))",
    "INSERT INTO runs VALUES ('7', 'grpo', 'active')",
)


def trackio(path, names, rows):
    """Trackio's database: a row of JSON for every step."""
    stored = (
        ("7", "2026-01-01T00:00:00", "grpo", step, json.dumps(dict(zip(names, row, strict=True))))
        for step, row in enumerate(rows)
    )
    _database(path, _TRACKIO, "INSERT INTO metrics VALUES (NULL, ?, ?, ?, ?, ?, NULL, NULL)", stored)


def mlflow(path, names, rows):
    """MLflow's database: a row for every number."""
    stored = (
        (name, value, 1_700_000_000_000 + row[0], "7", row[0])
        for row in rows
        for name, value in zip(names[1:], row[1:], strict=True)
    )
    _database(path, _MLFLOW, "INSERT INTO metrics VALUES (?, ?, ?, ?, ?, 0)", stored)


def _database(path, tables, insert, stored):
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in tables:
            connection.execute(statement)
        connection.executemany(insert, stored)


def mlflow_files(path, names, rows):
    """MLflow's folder of a run: a file for every metric; `path` is its ``meta.yaml``."""
    path.write_text("artifact_uri: artifacts\nlifecycle_stage: active\nrun_id: '7'\nrun_name: grpo\n")
    for index, name in enumerate(names[1:], start=1):
        metric = path.parent / "metrics" / name
        metric.parent.mkdir(parents=True, exist_ok=True)
        metric.write_text("".join(f"{1_700_000_000_000 + row[0]} {row[index]!r} {row[0]}\n" for row in rows))


def swanlab(path, names, rows):
    """SwanLab's run file: a record for every number, in blocks."""
    file = bytearray(b":SWL\0\0\0")
    for row in rows:
        for name, value in zip(names[1:], row[1:], strict=True):
            number = _field(5, b"\x09" + struct.pack("<d", value))
            _append(file, _field(13, _field(1, name.encode()) + b"\x10" + _varint(row[0]) + number))
    path.write_bytes(file)


def _append(file, record):
    """A record, cut into fragments where it does not fit into its block."""
    first = True
    while True:
        room = _BLOCK - len(file) % _BLOCK
        if room < _HEADER.size:
            file += bytes(room)
            room = _BLOCK
        part, record = record[: room - _HEADER.size], record[room - _HEADER.size :]
        kind = (1 if first else 4) if not record else (2 if first else 3)
        file += _HEADER.pack(zlib.crc32(part, zlib.crc32(bytes([kind]))), len(part), kind) + part
        if not record:
            return
        first = False


def _field(number, content):
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])
