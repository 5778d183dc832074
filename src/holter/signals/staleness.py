"""Signals of staleness."""

from __future__ import annotations

from holter.signals.base import Reduction, Signal, Unit

STALENESS_MEAN = Signal(
    key="staleness/mean",
    concept="staleness",
    title="Mean staleness of the samples",
    unit=Unit.VERSIONS,
    reduction=Reduction.BATCH,
    low=0.0,
    what="Policy versions between sampling and training.",
    healthy="",
)
STALENESS_MIN = Signal(
    key="staleness/min",
    concept="staleness_min",
    title="Smallest staleness of the samples",
    unit=Unit.VERSIONS,
    reduction=Reduction.MIN,
    low=0.0,
    what="Smallest.",
    healthy="",
)
STALENESS_MAX = Signal(
    key="staleness/max",
    concept="staleness_max",
    title="Largest staleness of the samples",
    unit=Unit.VERSIONS,
    reduction=Reduction.MAX,
    low=0.0,
    what="Largest.",
    healthy="",
)
STALENESS_DROPPED = Signal(
    key="staleness/dropped",
    concept="staleness_dropped",
    title="Number of samples dropped as stale",
    unit=Unit.COUNT,
    reduction=Reduction.SUM,
    low=0.0,
    what="Samples thrown away as too old.",
    healthy="",
)
STALENESS_QUEUE_SIZE = Signal(
    key="staleness/queue_size",
    concept="queue_size",
    title="Number of samples waiting",
    unit=Unit.COUNT,
    low=0.0,
    what="Samples waiting.",
    healthy="",
)
