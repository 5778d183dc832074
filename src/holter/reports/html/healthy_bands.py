"""Where a signal may lie without a detector minding, for the units in which a detector has an absolute limit.

The limits are read off the detectors, so that the band on the page is the rule that was applied. Inside a band nothing is
proven: most detectors look at how a signal moves, and those have no band.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from holter.detectors.registry import all_detectors
from holter.runs.hyperparameters import kl_target
from holter.signals.base import Unit

if TYPE_CHECKING:
    from holter.runs.run import Run, Series


@dataclass(frozen=True, slots=True)
class Band:
    """A range of values.

    Attributes:
        low: Lower end; minus infinity where there is none.
        high: Upper end; infinity where there is none.
        rule: The detector whose limit it is.
    """

    low: float
    high: float
    rule: str


@dataclass(frozen=True, slots=True)
class _Rule:
    """How a band follows from a detector's limits: an end is a number or the name of a limit, `around` is its middle."""

    concept: str
    unit: Unit
    detector: str
    low: float | str = -math.inf
    high: float | str = math.inf
    around: float = 0.0


_RULES = (
    _Rule("clip_fraction", Unit.FRACTION, "clip-fraction-high", 0.0, "share"),
    _Rule("ratio", Unit.NUMBER, "ratio-off-one", "warn", "warn", 1.0),
    _Rule("policy_kl", Unit.NATS_PER_TOKEN, "policy-update-too-large", 0.0, "level"),
    _Rule("ref_kl", Unit.NATS_PER_TOKEN, "kl-above-budget", 0.0, "level_token"),
    _Rule("ref_kl", Unit.NATS_PER_SEQUENCE, "kl-above-budget", 0.0, "level_sequence"),
    _Rule("entropy", Unit.NATS_PER_TOKEN, "entropy-collapse", "floor"),
    _Rule("truncation", Unit.FRACTION, "truncation", 0.0, "level"),
    _Rule("zero_std_groups", Unit.FRACTION, "zero-variance-groups", 0.0, "share"),
    _Rule("explained_variance", Unit.NUMBER, "critic-useless", "explained", 1.0),
    _Rule("mismatch", Unit.NATS_PER_TOKEN, "sampler-mismatch", 0.0, "logp"),
    _Rule("mismatch_kl", Unit.NATS_PER_TOKEN, "sampler-mismatch", 0.0, "kl"),
    _Rule("mismatch_ess", Unit.FRACTION, "sampler-mismatch", "ess", 1.0),
)


def healthy_band(run: Run, series: Series) -> Band | None:
    """The band of a series; None where its unit allows none."""
    rule = next((r for r in _RULES if r.concept == series.concept and r.unit is series.unit), None)
    known = all_detectors()
    if rule is None or rule.detector not in known:
        return None
    limits = {f.name: float(f.default) for f in fields(known[rule.detector]) if isinstance(f.default, int | float)}
    low, high = (limits.get(end, math.nan) if isinstance(end, str) else end for end in (rule.low, rule.high))
    if rule.around:
        low, high = rule.around - low, rule.around + high
    if rule.concept == "ref_kl" and (target := kl_target(run)) is not None:
        high = target
    return None if math.isnan(low) or math.isnan(high) else Band(low, high, rule.detector)
