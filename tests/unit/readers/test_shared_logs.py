"""Every log of the shared collections is read, or refused with a reason; as it was normalised by hand, where it was."""

import json
import math
from pathlib import Path

import pytest

from holter.readers.base import Source
from holter.readers.registry import read
from holter.runs.load import load

SHARED = Path(__file__).parents[4] / "shared"
LOGS = sorted([*SHARED.glob("runs/*/*/log.jsonl"), *SHARED.glob("cases/*/log.jsonl")])
RAW = sorted(p for p in SHARED.glob("runs/*/*/*") if p.name not in ("log.jsonl", "meta.json"))
FOLDERS = sorted({p.parent for p in LOGS})
pytestmark = pytest.mark.skipif(not LOGS, reason="the shared logs are not here")


def short(path):
    return "/".join(path.parts[-2:])


@pytest.mark.parametrize("path", LOGS, ids=short)
def test_every_normalised_log_is_read_number_by_number(path):
    (log,) = read(Source.of(path))
    assert not log.skipped
    found = {
        (int(log.lines[row]), key): v
        for key, c in log.columns.items()
        for row, v in zip(c.at.tolist(), c.values.tolist(), strict=True)
    }
    missing = 0
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            record = json.loads(line)
            held_out = "eval_loss" in record or record.get("log_type") == "eval"
            for key, value in record.items():
                if isinstance(value, bool | int | float) or value in ("NaN", "Infinity", "-Infinity"):
                    value = float(value)
                    seen = found.get((number, key), found.get((number, f"eval_{key}")) if held_out else None)
                    summary = "train_runtime" in record and key.startswith("train_")
                    missing += seen is None and not summary
                    assert seen is None or seen == value or (math.isnan(seen) and math.isnan(value)), (number, key)
    assert missing == 0


@pytest.mark.parametrize("path", RAW, ids=short)
def test_every_raw_file_is_read(path):
    logs = read(Source.of(path))
    assert sum(log.rows for log in logs) > 0
    assert sum(len(log.columns) for log in logs) > 1


@pytest.mark.parametrize("folder", FOLDERS, ids=short)
def test_every_folder_gives_its_run_once(folder):
    loaded = load([folder])
    assert loaded.runs
    assert not loaded.refused
    assert len({run.path for run in loaded.runs}) == 1
