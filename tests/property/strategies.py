"""Runs for property tests: a few rows of wild numbers in the columns that a detector reads, and made runs of the usual length."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from holter.readers.base import ColumnBuilder, RawLog
from holter.runs.build import run_of
from holter.runs.canonical import canonical
from holter.signals.catalog import concepts

if TYPE_CHECKING:
    from holter.detectors.base import Detector
    from holter.runs.run import Run
    from holter.simulation.run import Simulated

FAST = settings(
    max_examples=8,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
"""Few examples and no shrinking: every detector is drawn for, and shrinking a table takes minutes."""

MOST_ROWS = 14
ALWAYS = ("reward", "loss", "completions/mean_length", "kl")
TAME = [0.0, 0.0, 1.0, 1.0, 0.5, 0.25, 0.75, 0.3, 0.31, 0.9, 0.05, 0.001, 2.0, -0.1, 8.0, 40.0, 300.0]
WILD = [float("nan"), float("inf"), float("-inf"), -0.0, 1e308, -1e308, 1e-300, 5e-324, -1.0, 1e9, -1e9, 1.0000001]
CELL = st.sampled_from([*TAME, *TAME, *TAME, *WILD, None, None, None])
"""One choice a cell: a strategy of floats would spend most of the time on drawing."""
CONFIG = st.sampled_from(
    [
        {},
        {"num_generations": 4, "beta": 0.0, "max_completion_length": 64, "batch_size": 32},
        {"num_generations": 2, "beta": 0.04, "kl_target": 6.0, "learning_rate": 1e-6, "reward_weights": [1.0, 0.5]},
    ]
)


def keys_of(detector: type[Detector]) -> list[str]:
    """Keys of the signals that a detector needs and uses, two of a concept at most, labels filled in."""
    asked = [(c, need.split) for need in detector.needs for c in need.concepts] + [(c, "any") for c in detector.uses]
    keys = [*ALWAYS, "rewards/accuracy/mean", "rewards/format/mean"]
    for concept, split in asked:
        for signal in concepts().get(concept, ())[:2]:
            key = signal.key.replace("{name}", "made").replace("{k}", "4")
            bare = key.removeprefix("eval/")
            keys += [key] if split == "train" else [f"eval/{bare}"] if split == "eval" else [key, f"eval/{bare}"]
    return list(dict.fromkeys(k for k in keys if "{" not in k))


@st.composite
def runs(draw: st.DrawFn, detector: type[Detector]) -> Run:
    """A run of up to `MOST_ROWS` rows in the columns of `detector`; columns may repeat one value throughout."""
    keys = keys_of(detector)
    rows = draw(st.lists(st.tuples(*[CELL] * len(keys)), max_size=MOST_ROWS))
    columns = {k: [row[i] for row in rows] for i, k in enumerate(keys)}
    for key in draw(st.sets(st.sampled_from(keys), max_size=3)):
        columns[key] = [draw(CELL)] * len(rows)
    steps = [100.0 + 10 * i for i in range(len(rows))]
    return run_of(steps, columns, config=draw(CONFIG))


def run_from(made: Simulated) -> Run:
    """A made run as the reading half sees its log; the first run where a resume or restart makes several."""
    builder = ColumnBuilder()
    for number, row in enumerate(made.rows, start=1):
        builder.row(row.items(), number)
    config = made.meta["config"]
    assert isinstance(config, dict)
    log = RawLog(name="made", reader="made", rows=len(builder), columns=builder.columns(), config=config)
    return canonical(log)[0]
