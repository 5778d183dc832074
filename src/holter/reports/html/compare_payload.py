"""The payload ``holter.compare-page/1``: the contract ``holter.compare/1`` and the curves that a page draws of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from holter.compare.band import half_width, mean
from holter.compare.curves import curves
from holter.findings.finding import Severity
from holter.reports import comparison_json, json
from holter.reports.comparison_words import best, first_to_part, headline, is_worse, method
from holter.reports.html.columns import column
from holter.reports.html.payload import Axes, line, signal_page
from holter.reports.html.thinning import MOST
from holter.reports.html.vital_signs import OTHER, VITAL_SIGNS
from holter.reports.words import not_read
from holter.runs.run import Split

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from holter.compare import Compared, Comparison
    from holter.compare.curves import Curve
    from holter.findings.diagnosis import Diagnosis
    from holter.readers.base import Skipped
    from holter.runs.run import Run, Series

SCHEMA = "holter.compare-page/1"
BUDGET = 300_000
"""Values that the curves of a page may hold together, roughly: some two megabytes."""
LEAST = 120
"""Values of one curve that are carried however many there are."""
UNKNOWN = "unknown"
"""The sign of names that no dialect knows."""
_SIGN = {concept: sign.id for sign in VITAL_SIGNS for slot in sign.slots for concept in slot}
_ORDER = {concept: i for i, concept in enumerate(_SIGN)}


def payload(comparison: Comparison, refused: Sequence[Skipped]) -> dict[str, Any]:
    """The payload of a page over a comparison.

    Args:
        comparison: The comparison.
        refused: What could not be read.
    """
    said = comparison_json.compare(comparison, refused)
    axes = Axes()
    logged = [curves(run, comparison.axis) for run in comparison.runs]
    most = min(MOST, max(LEAST, BUDGET // max(1, sum(len(s.rows) for s in comparison.signals.values()))))
    told = {each["key"]: each for each in said["signals"]}
    return {
        **said,
        "schema": SCHEMA,
        "headline": headline(comparison),
        "worse": is_worse(comparison),
        "best": best(comparison),
        "method": method(comparison),
        "runs": [{**r, **_found(d)} for r, d in zip(said["runs"], comparison.diagnoses, strict=True)],
        "signs": [
            *({"id": s.id, "title": s.title} for s in VITAL_SIGNS),
            {"id": OTHER, "title": "Everything else"},
            {"id": UNKNOWN, "title": "Names nobody knows"},
        ],
        "signals": [
            _signal(comparison, each, told[each.key], logged, axes, most)
            for each in sorted(comparison.signals.values(), key=lambda s: _place(_series(comparison.runs, s.key)))
        ],
        "pages": _pages(comparison),
        "pairs": [
            {**told, "began": first_to_part(comparison, pair)}
            for told, pair in zip(said["pairs"], comparison.pairs, strict=True)
        ],
        "sweep": None if comparison.sweep is None else {**said["sweep"], **_swept(comparison)},
        "axes": axes.columns,
        "refused": [not_read(each) for each in refused],
    }


def _found(diagnosis: Diagnosis) -> dict[str, Any]:
    """What started in a run, without what followed from it."""
    roots = (f for f in diagnosis.findings if f.severity >= Severity.WARNING and f.caused_by is None)
    return {"found": list(dict.fromkeys(f.detector for f in roots))}


def _series(runs: Sequence[Run], key: str) -> Series | None:
    """The signal in the first run that knows it; None where no dialect does."""
    return next((run.series[key] for run in runs if key in run.series), None)


def _place(series: Series | None) -> tuple[bool, int, str]:
    """Vital signs in their order, then everything else, then what nobody knows."""
    return (True, 0, "") if series is None else (False, _ORDER.get(series.concept, len(_ORDER)), series.key)


def _signal(
    comparison: Comparison,
    signal: Compared,
    told: Mapping[str, Any],
    logged: Sequence[Mapping[str, Curve]],
    axes: Axes,
    most: int,
) -> dict[str, Any]:
    """One strip: each setting's mean with its band, and every run's own line."""
    series = _series(comparison.runs, signal.key)
    edges = signal.aligned.edges
    middles = axes.of((edges[:-1] + edges[1:]) / 2)
    own = [(r, logged[r][signal.key]) for r in signal.rows]
    return {
        **{k: v for k, v in told.items() if k not in {"edges", "means"}},
        "sign": UNKNOWN if series is None else _SIGN.get(series.concept, OTHER),
        "page": None if series is None else series.signal.key,
        "label": "" if series is None else next(iter(series.labels.values()), ""),
        "held_out": series is not None and series.split is Split.EVAL,
        "axis": middles,
        "groups": [_group(comparison, signal, group) for group in range(len(comparison.groups))],
        "lines": [{"run": r, **line(curve.metric, curve.x, curve.values, axes, most)} for r, curve in own],
    }


def _group(comparison: Comparison, signal: Compared, group: int) -> dict[str, Any] | None:
    """A setting's mean over its seeds in each stretch, and half its 95 % interval; None where it does not log the signal."""
    members = comparison.members(group)
    own = signal.aligned.means[[i for i, run in enumerate(signal.rows) if run in members]]
    if not len(own):
        return None
    half = half_width(own)
    return {"mean": column(mean(own)), "half": column(half) if np.isfinite(half).any() else None}


def _pages(comparison: Comparison) -> dict[str, Any]:
    """What a tooltip says of each metric that is compared."""
    known = (_series(comparison.runs, key) for key in comparison.signals)
    return {s.signal.key: signal_page(s.signal) for s in known if s is not None}


def _swept(comparison: Comparison) -> dict[str, Any]:
    """The axes of the parallel picture: what each run was set to, and where it ended."""
    assert comparison.sweep is not None
    return {
        "too_few": comparison.sweep.too_few,
        "settings": [
            {"name": s.name, "values": [json.finite(v) for v in s.numbers or ()]} for s in comparison.sweep.settings
        ],
        "ends": {
            key: [
                json.finite(dict(zip(signal.rows, signal.ends, strict=True)).get(r, float("nan")))
                for r in range(len(comparison.runs))
            ]
            for key, signal in comparison.signals.items()
        },
    }
