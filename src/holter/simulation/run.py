"""`simulate`: a labelled run from an algorithm, a family of healthy conditions, and at most one fault."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from holter.discovery import unknown_name
from holter.language import listed, said
from holter.simulation import grpo, ppo
from holter.simulation.conditions import FAMILIES
from holter.simulation.course import Course
from holter.simulation.faults import FAULTS
from holter.simulation.latent import healthy
from holter.simulation.record import doubled, evaluations, merged, resumed
from holter.simulation.record import rows as rows_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from types import ModuleType

    from holter.simulation.conditions import Conditions
    from holter.simulation.latent import Latent
    from holter.simulation.record import Row

TRAINERS = {"grpo": grpo, "ppo": ppo}
MOST_KL = 20.0
"""Nats/sequence up to which healthy PPO runs were seen to drift."""
ONSET = 0.4
"""Share of the run after which a fault begins, unless the caller says."""


@dataclass(frozen=True, slots=True)
class Simulated:
    """A made run and the truth about it.

    Attributes:
        rows: Rows as TRL would log them; None is a null, NaN a logged NaN.
        meta: Fault, onset, family, seed, the detectors that name the fault rightly, and the configuration.
    """

    rows: list[Row]
    meta: Mapping[str, object]

    def files(self, folder: Path) -> dict[Path, str]:
        """What `write` writes into `folder`: the log, then the label beside it."""
        return {
            folder / "log.jsonl": "".join(json.dumps(row) + "\n" for row in self.rows),
            folder / "meta.json": json.dumps(self.meta, indent=1) + "\n",
        }

    def write(self, folder: Path) -> Path:
        """Write ``log.jsonl`` and ``meta.json`` into `folder`, which is made where it is missing; returns the log."""
        folder.mkdir(parents=True, exist_ok=True)
        files = self.files(folder)
        for path, content in files.items():
            path.write_text(content, encoding="utf-8")
        return next(iter(files))


def simulate(
    algorithm: str = "grpo",
    fault: str | None = None,
    *,
    onset: int | None = None,
    ramp: int | None = None,
    family: str = "plain",
    rows: int = 200,
    seed: int = 0,
) -> Simulated:
    """A made run.

    A sick run is its healthy twin, the run of the same arguments without a fault, to the last bit until the fault begins.

    Args:
        algorithm: ``ppo`` or ``grpo``: whose metrics are logged.
        fault: A key of `FAULTS`; None leaves the run healthy.
        onset: Optimizer step at which the fault begins, counted from 1.
        ramp: Steps until it is fully there; 0 for a jump. Default: as the fault is.
        family: A key of `FAMILIES`: the healthy conditions under which it happens.
        rows: Logged rows. Families that are about length may choose their own.
        seed: The same arguments give the same run.

    Raises:
        UnknownNameError: For an algorithm, fault or family that does not exist.
        ValueError: For a fault that cannot happen under the algorithm, or an onset outside the run.
    """
    for kind, name, known in (
        ("algorithm", algorithm, TRAINERS),
        ("family", family, FAMILIES),
        ("fault", fault, FAULTS),
    ):
        if name is not None and name not in known:
            raise unknown_name(kind, name, known, listing="holter simulate --list")
    trainer = TRAINERS[algorithm]
    salt = zlib.crc32(f"{algorithm}/{family}".encode())
    of_family, of_run, of_fault, rng = (np.random.default_rng([seed, salt, part]) for part in range(4))
    conditions = FAMILIES[family](of_family)
    if fault is not None:
        conditions = FAULTS[fault].under(conditions)
    if algorithm == "ppo":
        conditions = replace(
            conditions, drift=min(conditions.drift, MOST_KL / conditions.length / max(conditions.growth, 1))
        )
    n = (conditions.rows or max(rows, 1)) * conditions.every
    latent = healthy(of_run, n, conditions)
    begins = None
    if fault is not None:
        begins = _plant(latent, fault, algorithm, onset, ramp, conditions, of_fault)
    logged = _logged(rng, trainer, latent, conditions, algorithm)
    if conditions.resumes:
        again = _logged(rng, trainer, latent, conditions, algorithm)
        logged = resumed(logged, again, rng, conditions.resumes)
    if latent.notes.get("writers"):
        logged = doubled(logged, _logged(rng, trainer, latent, conditions, algorithm))
    return Simulated(
        logged,
        {
            "fault": fault or "healthy",
            "also": [],
            "algo": algorithm,
            "onset": begins,
            "note": FAULTS[fault].says if fault else "",
            "family": family,
            "seed": seed,
            "named_by": list(FAULTS[fault].named_by) if fault else [],
            "config": {**trainer.configuration(conditions), "max_steps": n},
            "set": "simulated",
            "log": "log.jsonl",
        },
    )


def _plant(
    latent: Latent,
    fault: str,
    algorithm: str,
    onset: int | None,
    ramp: int | None,
    conditions: Conditions,
    rng: np.random.Generator,
) -> int:
    """Let the fault happen; returns the step at which it begins."""
    known, n = FAULTS[fault], len(latent)
    if algorithm not in known.algorithms:
        raise ValueError(
            said(
                "{fault} cannot happen in {algorithm}; it can in {algorithms}.",
                fault=fault,
                algorithm=algorithm,
                algorithms=listed(known.algorithms, " and "),
            )
        )
    begins = 1 if known.from_start else onset if onset is not None else max(1, round(ONSET * n))
    if not 1 <= begins <= n:
        raise ValueError(said("onset {onset} is outside the run of {n} steps.", onset=begins, n=n))
    slow = round(known.ramp * (n - begins)) if ramp is None else ramp
    known.apply(latent, Course.of(n, begins - 1, slow), conditions, rng)
    return begins


def _logged(
    rng: np.random.Generator, trainer: ModuleType, latent: Latent, conditions: Conditions, algorithm: str
) -> list[Row]:
    training = rows_of(trainer.columns(rng, latent, conditions), conditions, masked=algorithm == "grpo")
    return merged(training, evaluations(rng, latent, conditions, algorithm))
