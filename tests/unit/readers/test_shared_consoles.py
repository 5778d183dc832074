"""Public consoles, notebooks and W&B files give the rows that were taken from them by hand."""

import json
import math
from pathlib import Path

import pytest

from holter.readers.base import Source
from holter.readers.registry import read

PUBLIC = Path(__file__).parents[4] / "shared" / "runs" / "public"
FILES = sorted(p for s in ("log", "out", "md", "ipynb", "wandb") for p in PUBLIC.glob(f"*/*.{s}"))
READERS = {".ipynb": "notebook", ".wandb": "wandb"}

pytestmark = pytest.mark.skipif(not FILES, reason="the shared logs are not here")


def rows_of(path):
    (log,) = read(Source.of(path))
    assert log.reader == READERS.get(path.suffix, "console")
    rows = [{} for _ in range(log.rows)]
    for key, column in log.columns.items():
        for row, value in zip(column.at.tolist(), column.values.tolist(), strict=True):
            rows[row][key] = value
    return rows


def by_hand(path):
    with (path.parent / "log.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def is_value(key, value):
    """What is neither the row's number, nor the size of a picture, nor a summary over the whole run."""
    if key.startswith("val/generations."):
        return False
    return (
        isinstance(value, int | float)
        and key not in ("step", "train_loss")
        and not key.startswith(("train_runtime", "train_samples", "train_steps"))
    )


def same(found, expected):
    return found == expected or (found is not None and math.isnan(found) and math.isnan(expected))


def cut_by_wandb(path):
    """Names of the last values of lines that W&B cut: what was taken by hand from there is half of a number."""
    lines = path.read_bytes().split(b"\n") if path.name == "output.log" else []
    return {line.rsplit(b" - ", 1)[-1].split(b":")[0].decode() for line in lines if len(line) == 4096}


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.parent.name)
def test_every_number_that_was_taken_by_hand_is_read(path):
    rows, expected = rows_of(path), by_hand(path)
    aliases = {"loss", "reward", "value_loss"} if path.parent.name == "dschat-opt13b" else set()
    if path.suffix == ".wandb":
        found = {row["_step"]: row for row in rows}
        pairs = [(found[row["_step"]], row) for row in expected]
    elif "step" in rows[0] and json.loads((path.parent / "meta.json").read_text())["step_source"] == "as logged":
        found = {row["step"]: row for row in rows}
        pairs = [(found[row["step"]], row) for row in expected]
    else:
        assert len(rows) == len(expected)
        pairs = list(zip(rows, expected, strict=True))
    cut = cut_by_wandb(path)
    wrong = [
        (key, row.get(key), value)
        for row, hand in pairs
        for key, value in hand.items()
        if is_value(key, value) and key not in aliases and key not in cut and not same(row.get(key), value)
    ]
    assert not wrong


@pytest.mark.parametrize("path", [p for p in FILES if p.suffix in (".log", ".md", ".out")], ids=lambda p: p.parent.name)
def test_the_steps_are_those_of_the_trainer(path):
    rows = rows_of(path)
    steps = [row["step"] for row in rows if "step" in row]
    assert len(steps) in (0, len(rows))
    assert steps == sorted(steps)
