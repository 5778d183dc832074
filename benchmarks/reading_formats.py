"""CPU time and peak memory of reading one table in every format that is made here: reading_formats.py [ROWS] [KEYS].

The peak is what was allocated at the most while reading, as a multiple of the columns that come out: values, and their rows.
trainer_state.json is also read by transformers, where that is installed, in turns.
"""

import importlib.util
import json
import sys
import tempfile
from pathlib import Path

import numpy as np

from holter.readers.base import Source
from holter.readers.registry import read
from stored_runs import mlflow, mlflow_files, swanlab, trackio
from turns import TURNS, in_turns, peak, seconds


def table(rows, keys):
    """Names and values; the first column is the step."""
    names = ["step", "loss", *(f"group_{i % 7}/metric_{i}/mean" for i in range(keys - 2))]
    values = np.random.default_rng(0).normal(size=(rows, keys - 1)).tolist()
    return names, [[step, *row] for step, row in enumerate(values, start=1)]


def jsonl(path, names, rows):
    path.write_text("".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows))


def trainer_state(path, names, rows, indent=2):
    history = [dict(zip(names, row, strict=True)) for row in rows]
    state = {"epoch": 1.0, "global_step": len(rows), "log_history": history, "max_steps": len(rows)}
    path.write_text(json.dumps({**state, "is_world_process_zero": True}, indent=indent) + "\n")


def compact_state(path, names, rows):
    trainer_state(path, names, rows, indent=None)


def records(path, names, rows):
    path.write_text(json.dumps([dict(zip(names, row, strict=True)) for row in rows]))


def by_name(path, names, rows):
    path.write_text(
        json.dumps({name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)})
    )


def markdown(path, names, rows):
    lines = [names, ["---"] * len(names), *(map(repr, row) for row in rows)]
    path.write_text("".join(f"| {' | '.join(cells)} |\n" for cells in lines))


def dictionaries(path, names, rows):
    path.write_text("".join(f"{dict(zip(names, row, strict=True))}\n" for row in rows))


def delimited(path, names, rows):
    path.write_text(",".join(names) + "\n" + "".join(",".join(map(repr, row)) + "\n" for row in rows))


def console(path, names, rows):
    line = " - ".join(f"{'' if name == 'step' else 'actor/'}{name}:%r" for name in names)
    path.write_text("".join(f"(TaskRunner pid=7) {line % tuple(row)}\n" for row in rows))


def parquet(path, names, rows):
    import pyarrow
    from pyarrow import parquet

    parquet.write_table(pyarrow.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))), path)


def notebook(path, output):
    cell = {
        "cell_type": "code",
        "execution_count": 1,
        "metadata": {},
        "outputs": [output],
        "source": ["trainer.train()"],
    }
    path.write_text(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1))


def shown(path, names, rows):
    lines = ['<table border="1" class="dataframe">\n', "  <thead>\n", *(f"      <th>{name}</th>\n" for name in names)]
    for row in rows:
        lines += ["    <tr>\n", *(f"      <td>{value!r}</td>\n" for value in row), "    </tr>\n"]
    lines += ["  </tbody>\n", "</table><p>"]
    notebook(
        path, {"output_type": "display_data", "metadata": {}, "data": {"text/html": lines, "text/plain": ["<table>"]}}
    )


def printed(path, names, rows):
    lines = [f"{dict(zip(names, row, strict=True))}\n" for row in rows]
    notebook(path, {"output_type": "stream", "name": "stdout", "text": lines})


FORMATS = {
    "log.jsonl": jsonl,
    "trainer_state.json": trainer_state,
    "trainer_state.json in one line": compact_state,
    "records.json": records,
    "columns.json": by_name,
    "log.csv": delimited,
    "verl.log": console,
    "printed.log": dictionaries,
    "table.md": markdown,
    "table.ipynb": shown,
    "printed.ipynb": printed,
    "trackio.db": trackio,
    "mlflow.db": mlflow,
    "mlruns/0/7/meta.yaml": mlflow_files,
    "run.swanlab": swanlab,
    **({"log.parquet": parquet} if importlib.util.find_spec("pyarrow") else {}),
}


def columns(path):
    (log,) = read(Source.of(path))
    return log.columns


def memory(path):
    """The peak as a multiple of what came out."""
    most, found = peak(columns, path)
    return most / (
        sum(c.values.nbytes for c in found.values()) + sum({id(c.at): c.at.nbytes for c in found.values()}.values())
    )


def against_transformers(path):
    """Median of the ratios, in turns."""
    from transformers.trainer_callback import TrainerState

    def peer(path):
        return TrainerState.load_from_json(str(path))

    assert len(peer(path).log_history) == len(columns(path)["step"].at)
    return in_turns(peer, columns, path)[2]


def main():
    given = [int(a) for a in sys.argv[1:]]
    rows, keys = [*given, *(10_000, 60)[len(given) :]]
    names, values = table(rows, keys)
    print("| format | CPU time | peak memory |")
    print("|---|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        for name, write in FORMATS.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            write(path, names, values)
            own = min(seconds(columns, path) for _ in range(TURNS))
            print(f"| {name} | {1e3 * own:.0f} ms | {memory(path):.1f}x |", flush=True)
        if importlib.util.find_spec("transformers"):
            ratio = against_transformers(Path(folder) / "trainer_state.json")
            print(f"trainer_state.json against TrainerState.load_from_json: {ratio:.2f}x (median of {TURNS} turns)")


if __name__ == "__main__":
    main()
