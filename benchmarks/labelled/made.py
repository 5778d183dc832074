"""Runs that are made on the spot: healthy ones of every family, and one planted fault each.

Half of them come with their configuration and half without, because half of what people bring does. Sick runs are made under
every family but ``short``: with fewer than 40 rows there is little to be seen, and recall would measure the families' lengths.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from holter.simulation.conditions import FAMILIES
from holter.simulation.faults import FAULTS
from holter.simulation.run import Simulated, simulate

from .logs import Label

if TYPE_CHECKING:
    from collections.abc import Iterator

LENGTHS = (60, 120, 200, 300)
"""Logged rows."""
ALGORITHMS = ("ppo", "grpo")
ONSETS = (0.2, 0.7)
"""Share of the run after which a fault begins."""
FIRST_SEED = 50_000
"""Where seeds begin that only measure; whoever builds detectors on what they showed moves it on."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """What to make: the arguments of `simulate`, and whether the log holds its configuration."""

    algorithm: str
    fault: str | None
    family: str
    rows: int
    seed: int
    configured: bool
    begins: float = 0.0
    jump: bool = False

    def make(self) -> Simulated:
        """The run; an onset is a share of its steps, whose number only the family knows."""
        arguments = {"family": self.family, "rows": self.rows, "seed": self.seed}
        if self.fault is None or FAULTS[self.fault].from_start:
            return simulate(self.algorithm, self.fault, **arguments)
        steps = int(simulate(self.algorithm, **arguments).rows[-1]["step"])
        onset = max(1, round(self.begins * steps))
        return simulate(self.algorithm, self.fault, onset=onset, ramp=0 if self.jump else None, **arguments)

    def course(self) -> str:
        """How the fault unfolds."""
        known = FAULTS[self.fault] if self.fault else None
        if known is None:
            return ""
        return "start" if known.from_start else "jump" if self.jump or not known.ramp else "ramp"


def healthy(runs: int) -> Iterator[Recipe]:
    """So many healthy runs, families, algorithms, lengths and configurations in turns."""
    families = list(FAMILIES)
    for i in range(runs):
        turn, family = divmod(i, len(families))
        yield Recipe(
            algorithm=ALGORITHMS[turn % 2],
            fault=None,
            family=families[family],
            rows=LENGTHS[turn // 2 % len(LENGTHS)],
            seed=FIRST_SEED + i,
            configured=turn // (2 * len(LENGTHS)) % 2 == 0,
        )


def sick(runs: int) -> Iterator[Recipe]:
    """So many runs of each fault under each algorithm in which it can happen."""
    families = [f for f in FAMILIES if f != "short"]
    for number, (fault, known) in enumerate(FAULTS.items()):
        for algorithm in known.algorithms:
            drawn = np.random.default_rng([FIRST_SEED, number, ALGORITHMS.index(algorithm)])
            for i in range(runs):
                yield Recipe(
                    algorithm=algorithm,
                    fault=fault,
                    family=families[int(drawn.integers(len(families)))],
                    rows=LENGTHS[i // 4 % len(LENGTHS)],
                    seed=FIRST_SEED + int(drawn.integers(1 << 30)),
                    configured=i % 2 == 0,
                    begins=float(drawn.uniform(*ONSETS)),
                    jump=i // 2 % 2 == 0,
                )


def written(made: Simulated, recipe: Recipe) -> tuple[Label, bytes]:
    """The label of a made run and its log as JSON lines."""
    rows = [{"config": made.meta["config"]}, *made.rows] if recipe.configured else made.rows
    text = "".join(json.dumps(row) + "\n" for row in rows)
    label = Label(
        set="made",
        id=f"{recipe.algorithm}-{recipe.fault or recipe.family}-{recipe.seed}",
        log=None,
        says=recipe.fault or "healthy",
        sick=recipe.fault is not None,
        healthy=recipe.fault is None,
        names=frozenset(made.meta["named_by"]),
        onset=made.meta["onset"],
        course=recipe.course(),
    )
    return label, text.encode()
