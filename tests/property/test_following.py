"""A log that is followed says at every moment what reading it from the start says, however its bytes arrive."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holter.errors import UnreadableLogError
from holter.readers import growth
from holter.readers.base import Source
from holter.readers.registry import read
from holter.runs.follow import Followed
from tests.property.test_hostile_formats import WANDB_FILE
from tests.unit.readers.console.samples import SAMPLES as CONSOLES

GOLDEN = Path(__file__).parents[1] / "golden"
SOME = settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def records(count):
    rows = ({"step": i, "loss": i / 7, "kl": float("nan") if i % 9 == 3 else i * 1e-5} for i in range(count))
    return "".join(json.dumps({**r, **({"eval_loss": 0.5} if r["step"] % 10 == 0 else {})}) + "\n" for r in rows)


VERL = "".join(
    f"(TaskRunner pid=7) step:{i} - actor/pg_loss:{i / 7!r} - critic/score/mean:{i / 3!r}\nsome worker talks\n"
    for i in range(60)
)
LOGS = {
    "run.jsonl": records(60).encode(),
    "run.log": VERL.encode(),
    "run.csv": ("step,loss,kl\n" + "".join(f"{i},{i / 7!r},{i}.5\n" for i in range(300))).encode(),
    "semicolons.csv": ("step;loss\n" + "".join(f"{i};{i},25\n" for i in range(300))).encode(),
    "run.wandb": WANDB_FILE,
    "metrics-0.jsonl": "".join(f'{{"step":{i},"time":{i}.5,"loss":0.5}}\n' for i in range(40)).encode(),
    "trainer_state.json": json.dumps(
        {"global_step": 5, "log_history": [{"step": i, "loss": 0.5} for i in range(9)]}
    ).encode(),
    **{f"{i}.log": s.text.encode() for i, s in enumerate(CONSOLES)},
    **{p.name: p.read_bytes() for p in sorted((GOLDEN / "readers" / "logs").glob("*.jsonl"))},
    **{p.name: p.read_bytes() for p in sorted((GOLDEN / "readers" / "logs").glob("*.csv"))},
    **{p.name: p.read_bytes() for p in sorted((GOLDEN / "readers" / "logs").glob("*.log"))},
    **{f"{p.parent.name}.tfevents.1": p.read_bytes() for p in sorted((GOLDEN / "tensorboard").glob("*/events*.1.0"))},
}


@pytest.fixture
def at_once(monkeypatch):
    """Texts are read on, and not looked at from their beginning, from their first lines on."""
    monkeypatch.setattr(growth, "TOLD_BY", 200)
    monkeypatch.setattr(growth, "LONGEST_HEAD", 800)


def told(reading):
    """What a reading gives, or why it gives nothing, in a form that can be compared."""
    try:
        logs = reading()
    except UnreadableLogError as error:
        return str(error)
    return [
        (
            log.name,
            log.reader,
            log.rows,
            {k: (c.at.tolist(), [repr(v) for v in c.values.tolist()], None if c.null is None else c.null.tolist())
             for k, c in log.columns.items()},
            None if log.lines is None else log.lines.tolist(),
            dict(log.config),
            [str(s) for s in log.skipped],
            list(log.notes),
        )
        for log in logs
    ]  # fmt: skip


@pytest.mark.parametrize("name", LOGS)
@given(seed=st.integers(0, 2**32))
@SOME
def test_growth_at_any_byte_is_what_reading_once_is(name, seed, tmp_path_factory, at_once):
    chance = random.Random(seed)
    data = LOGS[name]
    path = tmp_path_factory.mktemp("growing") / name
    cuts = sorted(chance.randrange(len(data) + 1) for _ in range(chance.choice((1, 2, 5))))
    followed = Followed(Source.of(path))
    for begin, end in zip([0, *cuts], [*cuts, len(data)], strict=True):
        with path.open("ab") as file:
            file.write(data[begin:end])
        assert told(followed.logs) == told(lambda: read(Source.of(path)))


@pytest.mark.parametrize(
    "name", ["run.jsonl", "run.log", "run.csv", "run.wandb", "metrics-0.jsonl", "simple-values.tfevents.1"]
)
@given(seed=st.integers(0, 2**32))
@SOME
def test_new_rows_are_given_out_once_and_all_of_them(name, seed, tmp_path_factory, at_once):
    chance = random.Random(seed)
    data = LOGS[name]
    path = tmp_path_factory.mktemp("growing") / name
    cuts = sorted(chance.randrange(len(data) + 1) for _ in range(chance.choice((1, 2, 5))))
    followed = Followed(Source.of(path))
    found: dict[str, list[str]] = {}
    for begin, end in zip([0, *cuts], [*cuts, len(data)], strict=True):
        with path.open("ab") as file:
            file.write(data[begin:end])
        for log in followed.poll().rows:
            for key, column in log.columns.items():
                assert (np.diff(column.at) > 0).all()
                assert column.at[-1] < log.rows
                found.setdefault(key, []).extend(map(repr, column.values.tolist()))
    (log,) = read(Source.of(path))
    steps = {"step", "wall_time"}  # a step that goes on in an event file comes with what is new of it
    assert {k: v for k, v in found.items() if k not in steps} == {
        k: list(map(repr, c.values.tolist())) for k, c in log.columns.items() if k not in steps
    }
