"""Whether a KL that says nothing of its unit is per token or per sequence.

The two differ by the length of a completion, a factor of 10 to 1000, so no limit may be applied before this is settled. The
name decides where it can (``KL (nats/token)``); otherwise the first values do, together with the company they keep: a PPO
trainer with a critic logs the sum over the sequence as a rule, and a mean per token hardly ever starts above 1. Only the
first values are looked at, so that a log that is still growing keeps its unit.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from holter.dialects.base import Fit
from holter.dialects.names import bracketed
from holter.dialects.registry import GENERIC
from holter.language import said
from holter.runs.run import signal_of
from holter.signals.base import Unit

if TYPE_CHECKING:
    from holter.dialects.base import Dialect
    from holter.runs.run import Run, Series

FIRST = 3
"""Number of values that decide: those that are finite and not 0, because a KL starts at 0 in either unit."""

PER_SEQUENCE = 1.0
"""A median of the first values above this, beside a value loss, is a sum over the sequence."""

_TOKEN = re.compile(r"tok", re.IGNORECASE)
_SEQUENCE = re.compile(r"seq|sample|response|completion|sum|episode", re.IGNORECASE)
_COMPANY = ("value_loss", "value_clip_fraction", "explained_variance")


def with_kl_unit(series: dict[str, Series], spoken: Dialect) -> tuple[dict[str, Series], str]:
    """The series with the KL under the key that tells its unit, and a sentence about it where it was inferred.

    Args:
        series: Series by canonical key.
        spoken: The dialect of the log; only the generic one leaves the unit open.
    """
    out, note = dict(series), ""
    for prefix in ("", "eval/"):
        token, total = f"{prefix}kl", f"{prefix}objective/kl"
        kl = out.get(token)
        if kl is None or kl.fit is not Fit.PROXY or spoken.name != GENERIC or total in out:
            continue
        per_sequence, why = _is_per_sequence(kl, series)
        note = said(
            "{metric} is read in nats per sequence: {why}."
            if per_sequence
            else "{metric} is read in nats per token: {why}.",
            metric=kl.metric,
            why=why,
        )
        if per_sequence:
            target = signal_of(total)
            assert target is not None, "objective/kl is in the catalog"
            moved = replace(kl, key=total, signal=target[0], unit=target[0].unit, reduction=target[0].reduction)
            out = {(total if key == token else key): (moved if key == token else s) for key, s in out.items()}
    return out, note


def is_open(run: Run, kl: Series) -> bool:
    """Whether a KL that is read in nats per token may as well be the sum over the sequence: neither framework nor name says."""
    return (
        run.dialect == GENERIC
        and kl.fit is Fit.PROXY
        and kl.unit != Unit.NATS_PER_SEQUENCE
        and not _TOKEN.search(bracketed(kl.metric))
    )


def _is_per_sequence(kl: Series, series: dict[str, Series]) -> tuple[bool, str]:
    hint = bracketed(kl.metric)
    if _TOKEN.search(hint):
        return False, said("its name says so")
    if _SEQUENCE.search(hint):
        return True, said("its name says so")
    first = np.abs(kl.values[np.isfinite(kl.values) & (kl.values != 0)][:FIRST])
    critic = next((s.metric for s in series.values() if s.concept in _COMPANY), "")
    if critic and len(first) and float(np.median(first)) > PER_SEQUENCE:
        return True, said(
            "it starts above {level:g} beside {critic}, as the sum over a sequence does",
            level=PER_SEQUENCE,
            critic=critic,
        )
    if not len(first):
        return False, said("the log has no value of it yet that could tell")
    if critic:
        return False, said("it starts below {level:g}", level=PER_SEQUENCE)
    return False, said("nothing beside it tells of a critic, and GRPO trainers log the mean per token")
