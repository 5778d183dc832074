"""Runs to try a detector on: a few rows of wild numbers in the columns that it reads, and made runs of the usual length."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from holter.readers.base import ColumnBuilder, RawLog
from holter.runs.build import run_of
from holter.runs.canonical import canonical
from holter.signals.catalog import concepts
from holter.simulation.run import simulate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.detectors.base import Detector
    from holter.runs.run import Run
    from holter.simulation.run import Simulated

MOST_ROWS = 14
ALWAYS = ("reward", "loss", "completions/mean_length", "kl")
"""Columns that nearly every log has."""
TAME = (0.0, 0.0, 1.0, 1.0, 0.5, 0.25, 0.75, 0.3, 0.31, 0.9, 0.05, 0.001, 2.0, -0.1, 8.0, 40.0, 300.0)
WILD = (float("nan"), float("inf"), float("-inf"), -0.0, 1e308, -1e308, 1e-300, 5e-324, -1.0, 1e9, -1e9, 1.0000001)
CELLS: tuple[float | None, ...] = (*TAME, *TAME, *TAME, *WILD, None, None, None)
"""What a cell can hold; None is absent."""
CONFIGS: tuple[dict[str, object], ...] = (
    {},
    {"num_generations": 4, "beta": 0.0, "max_completion_length": 64, "batch_size": 32},
    {"num_generations": 2, "beta": 0.04, "kl_target": 6.0, "learning_rate": 1e-6, "reward_weights": [1.0, 0.5]},
)
MADE = (
    ("grpo", None, "off-policy"),
    ("grpo", None, "resumed"),
    ("ppo", None, "evaluated"),
    ("grpo", "kl-explosion", "plain"),
    ("grpo", "reward-hacking", "evaluated"),
    ("ppo", "truncation", "plain"),
    ("grpo", "length-collapse", "smoothed"),
    ("ppo", "value-divergence", "noisy"),
    ("grpo", "zero-variance", "plain"),
    ("grpo", "masked-nan", "plain"),
    ("ppo", "judge-outage", "plain"),
    ("grpo", "slow-down", "plain"),
)
"""Algorithm, fault and family of made runs that are long enough for every window."""


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


def wild_runs(detector: type[Detector], number: int, seed: int = 0) -> Iterator[Run]:
    """So many runs of up to `MOST_ROWS` rows in the columns of `detector`; some columns repeat one value throughout."""
    rng = np.random.default_rng(seed)
    keys = keys_of(detector)
    for _ in range(number):
        rows = int(rng.integers(0, MOST_ROWS + 1))
        columns = {k: [CELLS[i] for i in rng.integers(len(CELLS), size=rows)] for k in keys}
        for key in rng.choice(keys, size=int(rng.integers(0, 4))):
            columns[str(key)] = [CELLS[int(rng.integers(len(CELLS)))]] * rows
        config = CONFIGS[int(rng.integers(len(CONFIGS)))]
        yield run_of([100.0 + 10 * i for i in range(rows)], columns, config=config)


def made_runs(rows: int = 100, seed: int = 7) -> Iterator[Run]:
    """The runs of `MADE`."""
    for algorithm, fault, family in MADE:
        yield run_from(simulate(algorithm, fault, family=family, rows=rows, seed=seed))


def run_from(made: Simulated) -> Run:
    """A made run as the reading half sees its log; the first run where a resume or restart makes several."""
    builder = ColumnBuilder()
    for number, row in enumerate(made.rows, start=1):
        builder.row(row.items(), number)
    config = made.meta["config"]
    assert isinstance(config, dict)
    log = RawLog(name="made", reader="made", rows=len(builder), columns=builder.columns(), config=config)
    return canonical(log)[0]
