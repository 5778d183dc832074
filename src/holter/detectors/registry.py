"""Finds the detectors by walking this package and the entry points, and runs them; nothing else lists them."""

from __future__ import annotations

import traceback
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from holter import detectors, discovery
from holter.detectors.base import Detector
from holter.discovery import unknown_name
from holter.errors import reason
from holter.findings.finding import Finding
from holter.language import listed, phrase, said
from holter.runs.run import Split
from holter.signals.catalog import concepts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from holter.detectors.base import Need
    from holter.findings.finding import Unchecked
    from holter.language import Said
    from holter.runs.run import Run, Series


def _is_detector(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Detector) and value is not Detector and "name" in vars(value)


@cache
def all_detectors() -> dict[str, type[Detector]]:
    """All detectors by name, in the order of their codes."""
    found: dict[str, type[Detector]] = discovery.members(detectors, "detectors", _is_detector, lambda d: d.name)
    return dict(sorted(found.items(), key=lambda item: item[1].code))


def detector(code_or_name: str) -> type[Detector]:
    """The detector with this code or name.

    Raises:
        UnknownNameError: With the nearest known names.
    """
    for found in all_detectors().values():
        if code_or_name in (found.code, found.name):
            return found
    raise unknown_name("detector", code_or_name, [n for d in all_detectors().values() for n in (d.name, d.code)])


def run_detectors(
    run: Run, chosen: Iterable[Detector] | None = None, *, strict: bool = True
) -> Iterator[Finding | Unchecked]:
    """What the chosen detectors (all, unless given) say of a run, and which of them could not look.

    Args:
        run: The run.
        chosen: Detectors with their limits.
        strict: Let the error of a detector through, as its tests want it. Otherwise that detector is reported as failed, and
            nothing of what it had found is kept: a fault of one must not cost what the others see.
    """
    for each in chosen if chosen is not None else [d() for d in all_detectors().values()]:
        lacking = [need for need in each.needs if not _met(need, run)]
        if lacking:
            yield each.unchecked(_why(lacking, run), [need.concepts[0] for need in lacking])
        else:
            try:
                answers = _answers(each, run)
            except Exception as error:
                if strict:
                    raise
                answers = [replace(each.unchecked(_failure(each, error)), failed=True)]
            yield from answers


def _answers(each: Detector, run: Run) -> list[Finding | Unchecked]:
    # Absurd values overflow; what is then compared with inf or NaN is not found.
    with np.errstate(all="ignore"):
        found = list(each.check(run))
    since = _met_since(each.needs, run)
    return [
        replace(one, raised_step=since) if isinstance(one, Finding) and one.raised_step < since else one
        for one in found
    ]


def _failure(each: Detector, error: Exception) -> Said:
    """One sentence: what broke a detector, and where in its code."""
    frame, kind = traceback.extract_tb(error.__traceback__)[-1], type(error).__name__
    return said(
        "{detector} broke off with an error of its own, {error} ({where}): what it looks for was not checked.",
        detector=each.name,
        error=said("{kind}: {why}", kind=kind, why=reason(error)) if str(error) else kind,
        where=f"{Path(frame.filename).name}:{frame.lineno}",
    )


def _met(need: Need, run: Run) -> bool:
    return any(len(s) >= need.points for s in _candidates(need, run))


def _met_since(needs: Iterable[Need], run: Run) -> float:
    """First step at which the log held everything that a detector needs: before it, a detector could say nothing."""
    met = [min(float(s.steps[n.points - 1]) for s in _candidates(n, run) if len(s) >= n.points) for n in needs]
    return max(met, default=float("-inf"))


def _candidates(need: Need, run: Run) -> list[Series]:
    splits = [Split.TRAIN, Split.EVAL] if need.split == "any" else [Split(need.split)]
    return [s for split in splits for concept in need.concepts for s in run.all(concept, split)]


def _why(lacking: list[Need], run: Run) -> str:
    """One sentence: what is missing, whether the framework could log it, and what to log."""
    parts = []
    for need in lacking:
        known = concepts().get(need.concepts[0], ())
        signal = known[0].phrase if known else need.concepts[0].replace("_", " ")
        found = max((len(s) for s in _candidates(need, run)), default=0)
        if found:
            template = "{signal} has {found} logged points, {needed} are needed"
            if found == 1:
                template = "{signal} has 1 logged point, {needed} are needed"
        elif all(c in run.never for c in need.concepts):
            template = "{dialect} never logs {signal}"
        else:
            template = "no {signal} in this log"
        lack = said(template, signal=signal, found=found, needed=need.points, dialect=run.dialect)
        parts.append(said("{lack}; log {signal}", lack=lack, signal=phrase(need.log)) if need.log else lack)
    return said("{reasons}.", reasons=listed(parts, "; "))
