"""The policy's entropy, per token where that can be had.

TRL's PPO logs ``objective/entropy``, the surprisal of whole completions: it halves when completions get half as long, with no
change of the policy. Divided by their mean length it can be read like an entropy per token.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from holter.signals.base import Unit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from holter.runs.run import Run, Series


@dataclass(frozen=True, slots=True, eq=False)
class Entropy:
    """Finite values of the policy's entropy.

    Attributes:
        series: The series as logged, finite values only.
        values: Nats a token where `per_token`, else nats a sequence. Shape ``(n,)``.
        per_token: Whether the values are per token.
        empty: Rows at which nothing was measured: entropy and everything beside it exactly zero, or entropy zero on all
            rows so far. Shape ``(n,)``.
    """

    series: Series
    values: NDArray[np.float64]
    per_token: bool
    empty: NDArray[np.bool_]

    @classmethod
    def of(cls, run: Run) -> Entropy | None:
        """Entropy of a run's policy; None where it is not logged."""
        found = run.all("entropy")
        if not found:
            return None
        token = [s for s in found if s.unit == Unit.NATS_PER_TOKEN]
        # The one that begins first: a better one that begins later would take back what was said of it.
        series = min(token or found, key=lambda s: int(s.at[0])).finite()
        values, per_token = series.values, bool(token)
        if not token:
            length = run.get("length")
            length = length.finite() if length is not None else None
            if length is not None and len(length) and len(series):
                i = length.upto(series.at)
                if (i >= 0).all():
                    values, per_token = series.values / np.maximum(length.values[i], 1.0), True
        return cls(series, values, per_token, _nothing_counted(run, series))

    @property
    def unit(self) -> Unit:
        """Unit of `values`."""
        return Unit.NATS_PER_TOKEN if self.per_token else Unit.NATS_PER_SEQUENCE


def _nothing_counted(run: Run, series: Series) -> NDArray[np.bool_]:
    """Rows where entropy is exactly zero and so is every other mean over tokens, or where it never was anything else."""
    out = series.values == 0.0
    never: NDArray[np.bool_] = np.logical_and.accumulate(out)
    beside = [s.finite() for c in ("ref_kl", "total_loss", "grad_norm", "policy_kl") for s in run.all(c)[:1]]
    beside = [s for s in beside if len(s)]
    if not beside or not out.any():
        return never
    for other in beside:
        i = other.upto(series.at)
        out = out & np.where(i >= 0, other.values[np.maximum(i, 0)] == 0.0, False)
    either: NDArray[np.bool_] = out | never
    return either
