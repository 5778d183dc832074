"""How fast JSON lines become columns, against `json` line by line, measured in turns: reading_jsonl.py [ROWS] [KEYS]."""

import json
import sys
import tempfile
from pathlib import Path

import numpy as np

from holter.readers.base import Source
from holter.readers.jsonl import JSONL
from turns import TURNS, in_turns, peak


def written(folder, rows, keys, *, every_row_has_nan=False):
    """A log of `rows` lines with `keys` numbers each, the first of them the step."""
    rng = np.random.default_rng(0)
    names = ["step", *(f"group_{i % 7}/metric_{i}/mean" for i in range(keys - 1))]
    path = Path(folder) / ("nan.jsonl" if every_row_has_nan else "log.jsonl")
    with path.open("w", encoding="utf-8") as out:
        for step in range(rows):
            values = rng.normal(size=keys - 1)
            if every_row_has_nan:
                values[rng.integers(keys - 1)] = np.nan
            out.write(json.dumps(dict(zip(names, [step, *values.tolist()], strict=True))) + "\n")
    return path


def by_json(path):
    """The plain way: `json.loads` a line, a list a name, an array at the end."""
    columns: dict[str, list[float]] = {}
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            for key, value in json.loads(line).items():
                columns.setdefault(key, []).append(value)
    return {key: np.asarray(values, np.float64) for key, values in columns.items()}


def by_holter(path):
    (log,) = JSONL.read(Source.of(path))
    return {key: column.values for key, column in log.columns.items()}


def main():
    rows, keys = (int(a) for a in (*sys.argv[1:], "10000", "60")[:2]) if len(sys.argv) != 2 else (int(sys.argv[1]), 60)
    with tempfile.TemporaryDirectory() as folder:
        for every_row_has_nan in (False, True):
            path = written(folder, rows, keys, every_row_has_nan=every_row_has_nan)
            plain, ours = by_json(path), by_holter(path)
            assert plain.keys() == ours.keys()
            assert all(np.array_equal(plain[k], ours[k], equal_nan=True) for k in plain)
            base, own, ratio = in_turns(by_json, by_holter, path)
            most, columns = peak(by_holter, path)
            size = sum(values.nbytes for values in columns.values())
            print(
                f"{rows} rows x {keys} keys{', NaN in every row' if every_row_has_nan else ''}: json {1e3 * base:.0f} ms, "
                f"holter {1e3 * own:.0f} ms of CPU time, {ratio:.2f}x (median of {TURNS} turns); "
                f"peak memory {most / size:.1f}x the columns"
            )


if __name__ == "__main__":
    main()
