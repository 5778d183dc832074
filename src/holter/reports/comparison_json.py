"""The JSON contract ``holter.compare/1``. Strict JSON; non-finite numbers are strings, what is not known is null."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from holter.compare.groups import short_name
from holter.compare.settings_apart import as_text, seed_of
from holter.reports.json import finite

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holter.compare import Compared, Comparison, Difference, Level, Pair
    from holter.readers.base import Skipped

SCHEMA = "holter.compare/1"


def compare(comparison: Comparison, refused: Sequence[Skipped]) -> dict[str, Any]:
    """The whole answer of ``holter compare``."""
    return {
        "schema": SCHEMA,
        "axis": comparison.axis,
        "grouped": comparison.how,
        "groups": [
            {"label": group.label, "baseline": group.baseline, "runs": list(comparison.members(number))}
            for number, group in enumerate(comparison.groups)
        ],
        "runs": [
            {
                "name": run.name,
                "short_name": short_name(run),
                "path": run.path,
                "seed": _plain(seed_of(run)),
                "rows": len(run),
                "status": diagnosis.verdict.status,
                "title": diagnosis.verdict.title,
            }
            for run, diagnosis in zip(comparison.runs, comparison.diagnoses, strict=True)
        ],
        "settings": [
            {"name": s.name, "values": [None if v is None else as_text(v) for v in s.values]} for s in comparison.apart
        ],
        "signals": [_signal(s) for s in comparison.signals.values()],
        "pairs": [_pair(p) for p in comparison.pairs],
        "sweep": None
        if comparison.sweep is None
        else {
            "influences": [
                {"setting": i.setting, "signal": i.signal, "rho": finite(i.rho), "p": finite(i.p), "stands": i.stands}
                for i in comparison.sweep.influences
            ],
            "together": [list(names) for names in comparison.sweep.together],
        },
        "only_in": {key: list(labels) for key, labels in comparison.only.items()},
        "refused": [{"file": r.file, "line": r.line, "why": r.why} for r in refused],
    }


def _signal(signal: Compared) -> dict[str, Any]:
    return {
        "key": signal.key,
        "metric": signal.metric,
        "unit": signal.unit,
        "better": signal.better.name.lower(),
        "outcome": signal.outcome,
        "edges": [finite(float(e)) for e in signal.aligned.edges],
        "runs": list(signal.rows),
        "means": [[None if np.isnan(v) else finite(float(v)) for v in row] for row in signal.aligned.means],
        "levels": [None if level is None else _level(level) for level in signal.levels],
    }


def _level(level: Level) -> dict[str, Any]:
    return {
        "mean": _known(level.mean),
        "sd_between_seeds": _known(level.sd),
        "seeds": level.runs,
        "half_width": _known(level.half_width),
        "not_finite": level.not_finite,
    }


def _pair(pair: Pair) -> dict[str, Any]:
    return {
        "first": pair.first,
        "second": pair.second,
        "differences": [_difference(d) for d in pair.differences],
        "regressions": [{"group": r.group, "what": r.what, "says": r.says} for r in pair.regressions],
    }


def _difference(difference: Difference) -> dict[str, Any]:
    effect, parting = difference.effect, difference.parting
    return {
        "signal": difference.key,
        "verdict": str(effect.verdict),
        "difference": _known(effect.difference),
        "low": _known(effect.low),
        "high": _known(effect.high),
        "size": _known(effect.size),
        "p": _known(effect.p),
        "noise_from": str(effect.basis),
        "parts_at": None if parting is None else finite(parting.at),
        "times_noise": None if parting is None else finite(parting.times_noise),
    }


def _known(value: float) -> float | int | str | None:
    return None if math.isnan(value) else finite(value)


def _plain(value: object) -> object:
    return value if value is None or isinstance(value, str | int | float) else str(value)
