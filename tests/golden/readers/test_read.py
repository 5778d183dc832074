"""Small logs, one for every oddity, and exactly what is read of them; ``HOLTER_UPDATE_GOLDEN=1`` rewrites what is expected."""

import json
import math
import os
from pathlib import Path

import pytest

from holter.errors import UnreadableLogError
from holter.readers.base import Source
from holter.readers.registry import read

LOGS = sorted((Path(__file__).parent / "logs").iterdir())
EXPECTED = Path(__file__).parent / "expected.json"


def shown(value, null):
    return "null" if null else value if math.isfinite(value) else str(value)


def said(path):
    """What is read of a log, as JSON: values by row and name, in words where they are no finite number."""
    try:
        logs = read(Source(path.name, path=path))
    except UnreadableLogError as error:
        return str(error)
    out = []
    for log in logs:
        rows = [{} for _ in range(log.rows)]
        for name, column in log.columns.items():
            nulls = [False] * len(column.at) if column.null is None else column.null.tolist()
            for row, value, null in zip(column.at.tolist(), column.values.tolist(), nulls, strict=True):
                rows[row][name] = shown(value, null)
        one = {"name": log.name, "reader": log.reader, "rows": rows}
        one |= {"lines": log.lines.tolist()} if log.lines is not None else {}
        one |= {"config": dict(log.config)} if log.config else {}
        one |= {"skipped": list(map(str, log.skipped))} if log.skipped else {}
        one |= {"notes": list(log.notes)} if log.notes else {}
        out.append(one)
    return out


def pretty(everything):
    """JSON with one row of a log a line, so that a difference can be read."""

    def of(value, depth):
        if isinstance(value, str) or not value or depth > 3:
            return json.dumps(value, ensure_ascii=False)
        inner = " " * (depth + 1)
        if isinstance(value, dict):
            items = [f"{inner}{json.dumps(k, ensure_ascii=False)}: {of(v, depth + 1)}" for k, v in value.items()]
            return "{\n" + ",\n".join(items) + "\n" + inner[1:] + "}"
        if isinstance(value[0], int):
            return json.dumps(value)
        return "[\n" + ",\n".join(inner + of(v, depth + 1) for v in value) + "\n" + inner[1:] + "]"

    return of(everything, 0) + "\n"


@pytest.mark.parametrize("path", LOGS, ids=lambda p: p.name)
def test_reads_exactly_what_the_log_says(path):
    if os.environ.get("HOLTER_UPDATE_GOLDEN"):
        everything = {p.name: said(p) for p in LOGS}
        EXPECTED.write_text(pretty(everything), encoding="utf-8")
    assert said(path) == json.loads(EXPECTED.read_text(encoding="utf-8"))[path.name]


def test_every_expectation_has_its_log():
    assert list(json.loads(EXPECTED.read_text(encoding="utf-8"))) == [p.name for p in LOGS]
