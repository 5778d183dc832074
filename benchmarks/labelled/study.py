"""From verdicts to rates: the measurement as one record, ready for JSON. Counts are kept, so that intervals follow from them."""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

import holter
from holter.detectors.registry import all_detectors

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from holter.detectors.base import Detector

    from .judged import Judged

SCHEMA = "holter.measured/1"
MADE = "made"


def study(sets: Mapping[str, Sequence[Judged] | None]) -> dict[str, Any]:
    """The record of a measurement.

    Args:
        sets: Verdicts by set, `MADE` among them; None for a set that is absent.
    """
    made = sets[MADE] or ()
    labelled = [v for name, verdicts in sets.items() if name != MADE for v in verdicts or ()]
    well, ill = [v for v in made if v.label.healthy], [v for v in made if v.label.sick]
    return {
        "schema": SCHEMA,
        "version": holter.__version__,
        "made": {"healthy": len(well), "sick": len(ill), "rows": sorted({v.rows for v in ill})},
        "sets": {name: None if verdicts is None else _set(verdicts) for name, verdicts in sets.items()},
        "faults": {
            fault: _fault(verdicts)
            for fault, verdicts in _by(ill, lambda v: f"{v.label.says}/{v.recipe.algorithm}").items()
        },
        "courses": {course: _timing(vs) for course, vs in _by(ill, lambda v: v.label.course).items()},
        "ever": {
            "all": _ever(well),
            "families": {f: _ever(vs) for f, vs in _by(well, lambda v: v.recipe.family).items()},
            "detectors": dict(Counter(name for v in well for name in v.ever).most_common()),
        },
        "families": {f: _accused(vs) for f, vs in _by(well, lambda v: v.recipe.family).items()},
        "algorithms": {a: _accused(vs) for a, vs in _by(well, lambda v: v.recipe.algorithm).items()},
        "configured": {
            said: {"accused": _accused(w), "right": _right(i)}
            for said, w, i in (
                ("with", [v for v in well if v.recipe.configured], [v for v in ill if v.recipe.configured]),
                ("without", [v for v in well if not v.recipe.configured], [v for v in ill if not v.recipe.configured]),
            )
        },
        "detectors": {name: _detector(cls, well, ill, labelled) for name, cls in all_detectors().items()},
    }


def _by(verdicts: Iterable[Judged], key: Any) -> dict[str, list[Judged]]:
    out: dict[str, list[Judged]] = {}
    for v in verdicts:
        out.setdefault(key(v), []).append(v)
    return out


def _set(verdicts: Sequence[Judged]) -> dict[str, Any]:
    """One row of the table of sets, and which runs were judged wrongly."""
    ill, well = [v for v in verdicts if v.label.sick], [v for v in verdicts if v.label.healthy]
    listed = verdicts[0].label.set != MADE if verdicts else False
    return {
        "runs": len(verdicts),
        "right": _right(ill),
        "flagged": _accused(well),
        "early": [sum(v.early for v in ill), sum(v.onset is not None for v in ill)],
        "early_by": Counter(name for v in ill for name in v.hasty()).most_common(3),
        "contradicted": sum(v.contradicted for v in verdicts),
        "errors": sum(bool(v.error) for v in verdicts),
        "seconds": round(float(np.median([v.seconds for v in verdicts])), 3) if verdicts else None,
        **_timing(ill),
        "missed": [[v.label.id, v.label.says, _names(v)] for v in ill if not v.right] if listed else [],
        "accused": [[v.label.id, _names(v)] for v in well if v.flagged] if listed else [],
    }


def _fault(verdicts: Sequence[Judged]) -> dict[str, Any]:
    missed = [v for v in verdicts if not v.right]
    instead = Counter(name for v in missed for name in _names(v))
    hinted = sum(
        any(s.detector in v.label.names and not s.warns and s.raised >= (v.onset or 0) for s in v.said) for v in missed
    )
    return {"right": _right(verdicts), "hinted": hinted, **_timing(verdicts), "instead": instead.most_common(3)}


def _timing(verdicts: Iterable[Judged], names: frozenset[str] | None = None) -> dict[str, Any]:
    """Onset error and delay: median and 90th percentile, logged rows."""
    seen = [v for v in verdicts if v.hits(names) and v.onset is not None]
    return {
        "onset": _spread([abs(v.misplaced(names) or 0) for v in seen]),
        "delay": _spread([v.delay(names) or 0 for v in seen]),
    }


def _spread(values: Sequence[int]) -> list[float] | None:
    return [round(float(q), 1) for q in np.quantile(values, [0.5, 0.9])] if values else None


def _right(verdicts: Sequence[Judged]) -> list[int]:
    return [sum(v.right for v in verdicts), len(verdicts)]


def _accused(verdicts: Sequence[Judged]) -> list[int]:
    return [sum(v.flagged for v in verdicts), len(verdicts)]


def _ever(verdicts: Sequence[Judged]) -> list[int]:
    return [sum(bool(v.ever) for v in verdicts), len(verdicts)]


def _names(verdict: Judged) -> list[str]:
    return sorted({s.detector for s in verdict.warnings()})


def _detector(
    cls: type[Detector], well: Sequence[Judged], ill: Sequence[Judged], labelled: Sequence[Judged]
) -> dict[str, Any]:
    name = cls.name
    own = frozenset({name})
    looked = [v for v in well if name not in v.blind]
    mine = [v for v in ill if name in v.label.names]
    sick = [v for v in labelled if v.label.sick and name in v.label.names]
    sound = [v for v in labelled if v.label.healthy and name not in v.blind]
    loud = [v for v in sound if name in _names(v)]
    others = [v for v in ill if name not in v.label.names and name in _names(v)]
    return {
        "limits": {f.name: f.default for f in dataclasses.fields(cls)},
        "accused": [sum(name in _names(v) for v in looked), len(looked)],
        "mentioned": sum(any(s.detector == name and not s.warns for s in v.said) for v in well),
        "recall": {
            fault: [sum(bool(v.hits(own)) for v in vs), len(vs), sum(name not in v.blind for v in vs)]
            for fault, vs in _by(mine, lambda v: v.label.says).items()
        },
        **_timing([v for v in mine if v.label.course != "start"], own),
        "named": [sum(bool(v.hits(own)) for v in sick), len(sick)],
        "flagged": [len(loud), len(sound)],
        "flagged_on": [f"{v.label.set}/{v.label.id}" for v in loud],
        "beside": Counter(v.label.says for v in others).most_common(3),
    }
