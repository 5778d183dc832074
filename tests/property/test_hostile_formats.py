"""What holds for the readers of consoles, notebooks, databases and W&B files, on damaged logs of their own."""

import json
import random
import sqlite3

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holter.readers.base import Source
from holter.readers.console.grammar import Standing, all_grammars
from holter.readers.console.reader import CONSOLE
from holter.readers.notebook import NOTEBOOK
from holter.readers.stores.database import TRACKER_DATABASE
from holter.readers.wandb.reader import WANDB
from tests.property.test_readers import survives
from tests.unit.readers.console.samples import SAMPLES
from tests.unit.readers.wandb import files

MANY = settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
CONSOLES = [s.text for s in SAMPLES] + [
    "\r 5%|#| 5/100 [00:10<00:50]",
    "(TaskRunner pid=7) ",
    "\x1b[36m",
    "[rank1]: ",
    "{'loss': ",
]
WANDB_FILE = files.framed(
    [
        files.run(1, "x", {"beta": 0.5}),
        *(files.history(i, {"train/loss": i / 7, "n": "NaN", "_step": i, ("a", "b"): 1}) for i in range(700)),
    ]
)
OUTPUTS = [
    {"output_type": "stream", "text": [s.text for s in SAMPLES[:5]]},
    {
        "data": {
            "text/html": "<table><tr><th>step</th><th>loss</th></tr>"
            + "<tr><td>1</td><td>0.5</td></tr>" * 9
            + "</table>"
        }
    },
]
NOTEBOOK_FILE = json.dumps({"cells": [{"outputs": [o]} for o in OUTPUTS], "nbformat": 4}).encode()


def database():
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE metrics (run_name TEXT, step INTEGER, metrics TEXT)")
    connection.executemany(
        "INSERT INTO metrics VALUES ('r', ?, ?)", [(i, f'{{"loss": {i}.5, "kl": "NaN"}}') for i in range(50)]
    )
    connection.commit()
    return connection.serialize()


def damaged(data, seed, pieces):
    chance = random.Random(seed)
    data = bytearray(data)
    for _ in range(chance.choice((1, 2, 5, 20))):
        at = chance.randrange(len(data) + 1)
        match chance.randrange(4):
            case 0:
                data[at : at + 1] = bytes([chance.randrange(256)])
            case 1:
                del data[at : at + chance.choice((1, 5, 50, 5000))]
            case 2:
                data[at:at] = data[max(0, at - chance.choice((3, 30, 300))) : at]
            case _:
                data[at:at] = chance.choice(pieces)
    return bytes(data)


@given(
    st.lists(st.sampled_from(CONSOLES) | st.text(alphabet="{}'\"│|•=:- \r\n0.5e\x1bnaStep ", max_size=40), max_size=12),
    st.integers(0, 2**32),
)
@MANY
def test_any_mixture_of_console_lines_is_read_or_refused(pieces, seed):
    text = "".join(pieces).encode("utf-8", "surrogatepass")
    survives(CONSOLE, "run.log", damaged(text, seed, [s.encode() for s in CONSOLES]))


@pytest.mark.parametrize(
    ("reader", "name", "data"),
    [
        (WANDB, "run.wandb", WANDB_FILE),
        (NOTEBOOK, "run.ipynb", NOTEBOOK_FILE),
        (TRACKER_DATABASE, "lab.db", database()),
    ],
    ids=["wandb", "notebook", "database"],
)
@given(st.integers(0, 2**32))
@MANY
def test_a_damaged_file_is_read_or_refused(reader, name, data, seed):
    survives(reader, name, damaged(data, seed, [b"\0" * 50, b"\xff" * 9, data[:60]]))


LONG = 20_000


@pytest.mark.parametrize(
    "unit",
    [
        "{'a",
        "{'loss': ",
        " - a:",
        "A",
        "A ",
        "a=",
        "step 5 ",
        "│ a ",
        "| a/ |",
        "x/y",
        " 1,",
        "(pid=1",
        "\x1b[1",
        "5%|",
    ],
)
def test_no_line_costs_more_than_its_length(unit):
    """A pattern that goes back over what it has seen would not come to an end here."""
    line = (unit * LONG)[: 4 * LONG]
    for grammar in all_grammars().values():
        for prefix in (
            grammar.hint,
            "Step 5 | 1s | Loss ",
            "step:5 - ",
            "PPO Global Step: |",
            "Train epoch [1/1] [",
            "Global step 5: ",
        ):
            text = f"{prefix}{line}\n"
            survives(CONSOLE, "run.log", text.encode()) if grammar.standing is Standing.ANY else list(
                grammar.first_lines(text)
            )
            for first in grammar.first_lines(text):
                try:
                    grammar.row(first, first["body"])
                except ValueError:
                    continue


@given(st.integers(0, 4000))
@settings(max_examples=60, deadline=None)
def test_a_console_cut_at_any_byte_says_nothing_that_the_whole_does_not(cut):
    rows = [f"step:{i} - actor/pg_loss:{i / 7!r} - critic/score/mean:{i / 3!r} - actor/lr:1.5e-06\n" for i in range(40)]
    text = "".join(rows).encode()

    def found(data, path=None):
        (log,) = CONSOLE.read(Source("run.log", data=data))
        return {
            (row, key): v
            for key, c in log.columns.items()
            for row, v in zip(c.at.tolist(), c.values.tolist(), strict=True)
        }

    if text[:cut].count(b"\n") < 3:
        return
    whole = found(text)
    assert found(text[:cut]).items() <= whole.items()
