"""From metrics at every step to the rows of a log: how often it was logged, smoothed, evaluated, resumed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from holter.simulation.grpo import OF_A_GENERATION

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from holter.simulation.conditions import Conditions
    from holter.simulation.latent import Latent

Row = dict[str, float | None]
LAST = ("grad_norm", "learning_rate", "lr", "num_tokens", "episode")
"""Metrics of which a row over several steps shows the last value instead of the mean."""
COUNTERS = ("learning_rate", "lr", "num_tokens", "episode", "step_time", "eps")
"""Metrics that no one smooths."""


def rows(columns: Mapping[str, NDArray[np.float64]], conditions: Conditions, *, masked: bool) -> list[Row]:
    """Training rows, in the order in which they were logged.

    Args:
        columns: Metrics at every step. Arrays of shape ``(n,)``.
        conditions: How it is logged.
        masked: Whether the trainer writes null for a metric that has no finite value (TRL's GRPO).
    """
    n = len(next(iter(columns.values())))
    every = conditions.every
    ends = np.arange(every - 1, n, every)
    shown = {k: _smoothed(_windows(k, v, ends, every), k, conditions.smoothing) for k, v in columns.items()}
    out: list[Row] = []
    for i, end in enumerate(ends.tolist()):
        row: Row = {}
        for key, values in shown.items():
            if every == 1 and end % conditions.iterations and key.startswith(OF_A_GENERATION):
                continue
            value = float(values[i])
            row[key] = None if masked and key == "kl" and value != value else value
        row["step"] = float(end + 1)
        out.append(row)
    return out


def _windows(key: str, values: NDArray[np.float64], ends: NDArray[np.int64], every: int) -> NDArray[np.float64]:
    if every == 1:
        return values
    if key in LAST:
        return values[ends]
    return np.asarray(values[: len(ends) * every].reshape(len(ends), every).mean(axis=1))


def _smoothed(values: NDArray[np.float64], key: str, weight: float) -> NDArray[np.float64]:
    if not weight or key in COUNTERS:
        return values
    out = values.copy()
    for i in range(1, len(out)):
        out[i] = weight * out[i - 1] + (1 - weight) * out[i]
    return out


def evaluations(rng: np.random.Generator, x: Latent, conditions: Conditions, algorithm: str) -> list[Row]:
    """Evaluation rows: a held-out score with its standard error, at step 1 too."""
    if not conditions.evaluate:
        return []
    out: list[Row] = []
    last = len(x) - len(x) % conditions.every
    for step in sorted({1, *range(conditions.evaluate, last + 1, conditions.evaluate)}):
        p = float(np.clip(x.skill[step - 1] + conditions.gap, 0.01, 0.99))
        score = float(rng.binomial(conditions.items, p)) / conditions.items
        error = float(np.sqrt(max(score * (1 - score), 1 / conditions.items) / conditions.items))
        row: Row = {"eval_score": score, "eval_score_stderr": error, "step": float(step)}
        if algorithm == "grpo":
            row["eval_reward"] = score + 0.2 * float(np.clip(0.6 + 0.5 * p, 0, 1))
        out.append(row)
    return out


def merged(training: list[Row], evaluated: list[Row]) -> list[Row]:
    """Training and evaluation rows by step, the training row of a step first."""
    return sorted([*training, *evaluated], key=lambda r: float(r["step"] or 0))


def resumed(first: list[Row], again: list[Row], rng: np.random.Generator, times: int) -> list[Row]:
    """The rows of a run that crashed and was resumed from an earlier step, so that some steps are logged twice.

    Args:
        first: Rows of the first attempt.
        again: The same steps as the resumed run logged them.
        rng: Source of randomness.
        times: Number of resumes.
    """
    out, n = list(first), len(first)
    for _ in range(times):
        if n < 12:
            break
        crash = int(rng.integers(n // 3, n - 2))
        back = max(1, crash - int(rng.integers(2, 6)))
        out = [*out[:crash], *again[back:]]
    return out


def doubled(one: list[Row], other: list[Row]) -> list[Row]:
    """The rows of two processes that write into one log; the second logs every other row."""
    return [row for i, pair in enumerate(zip(one, other, strict=False)) for row in pair[: 1 + i % 2]]
