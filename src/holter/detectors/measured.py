"""How often each detector is right and wrong, as last measured: the numbers behind "Measured" on its page.

`measured.json` beside this module holds the whole measurement. ``benchmarks/accuracy.py --write`` makes it and `docs/accuracy.md`
in one go, so the page in the terminal and the document cannot differ.
"""

from __future__ import annotations

import dataclasses
import json
import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holter.language import told

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holter.detectors.base import Detector

FILE = Path(__file__).with_suffix(".json")
DOCUMENT = "docs/accuracy.md"
Z95 = 1.959963984540054
"""Quantile of the standard normal distribution that leaves 2.5 % above it."""
MANY = 400
"""Runs from which a rate is shown in thousandths."""


@dataclass(frozen=True, slots=True)
class Rate:
    """So many of so many."""

    hits: int
    of: int

    @property
    def share(self) -> float:
        """The share; NaN of nothing."""
        return self.hits / self.of if self.of else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of the share, which stays within 0 to 1 and has a width even at 0 hits.

        Source: Wilson, "Probable Inference, the Law of Succession, and Statistical Inference" (1927).
        """
        if not self.of:
            return 0.0, 1.0
        n, p, z = self.of, self.share, Z95
        middle = (p + z * z / (2 * n)) / (1 + z * z / n)
        half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        return (0.0 if self.hits == 0 else middle - half), (1.0 if self.hits == n else middle + half)

    def per_thousand(self) -> str:
        """``2.0 per 1,000 (95 %: 0.5 to 7.2)``."""
        low, high = self.interval
        return told(
            "{share} per 1,000 (95 %: {low} to {high})",
            share=f"{1000 * self.share:.1f}",
            low=f"{1000 * low:.1f}",
            high=f"{1000 * high:.1f}",
        )

    def __str__(self) -> str:
        """``0.93 (0.88-0.96)``; a third digit where there are enough runs to know it."""
        if not self.of:
            return "-"
        low, high = self.interval
        digits = 3 if self.of >= MANY else 2
        return f"{self.share:.{digits}f} ({low:.{digits}f}-{high:.{digits}f})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What was measured of one detector. "Accused" is a finding of severity warning or above.

    Attributes:
        version: Version of Holter that was measured.
        limits: The detector's limits at that time.
        healthy: Healthy made runs of the measurement.
        accused: Those that it accused, of those that hold what it needs.
        mentioned: Healthy made runs of which it said something as an info.
        recall: By planted fault that it is one of the right names for: made runs in which it gave a warning after the onset.
        looked: By the same: how many of those runs hold what it needs.
        onset: Median and 90th percentile of the distance from the planted onset to where it says that the trouble began,
            logged rows; None where no fault with an onset is its own.
        delay: The same of the time from the onset to the first warning.
        named: Labelled sick runs on which its name is one of the right ones: those where it gave a warning.
        flagged: Labelled healthy runs that it accused, of those that hold what it needs.
        sets: The labelled sets.
    """

    version: str
    limits: Mapping[str, float]
    healthy: int
    accused: Rate
    mentioned: int
    recall: Mapping[str, Rate]
    looked: Mapping[str, int]
    onset: tuple[float, float] | None
    delay: tuple[float, float] | None
    named: Rate
    flagged: Rate
    sets: tuple[str, ...]


@cache
def measurement() -> Mapping[str, Any]:
    """The whole last measurement, as the benchmark wrote it."""
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def measured(name: str) -> Measured | None:
    """What was measured of the detector called `name`; None when it was not part of the measurement."""
    every = measurement()
    held = every["detectors"].get(name)
    if held is None:
        return None
    return Measured(
        version=every["version"],
        limits=held["limits"],
        healthy=every["made"]["healthy"],
        accused=Rate(*held["accused"]),
        mentioned=held["mentioned"],
        recall={fault: Rate(hits, runs) for fault, (hits, runs, _) in held["recall"].items()},
        looked={fault: looked for fault, (_, _, looked) in held["recall"].items()},
        onset=_pair(held["onset"]),
        delay=_pair(held["delay"]),
        named=Rate(*held["named"]),
        flagged=Rate(*held["flagged"]),
        sets=tuple(s for s, found in every["sets"].items() if s != "made" and found is not None),
    )


def section(detector: type[Detector]) -> str:
    """The section "Measured" of a detector's page, in Markdown and in the language spoken."""
    found = measured(detector.name)
    if found is None:
        unknown = told(
            "Not measured: how often it is right or wrong is unknown. "
            "A third-party detector is never part of Holter's own measurement."
        )
        return f"## {told('Measured')}\n\n{unknown}"
    lines = [told("- False alarms: {said}", said=_false_alarms(found))]
    lines += [told("- Recall: {said}", said=_recall(found))]
    if found.onset is not None and found.delay is not None:
        lines.append(
            told(
                "- Onset: off by {median} logged rows in the median, 90 % by at most {most}; "
                "the warning comes {delay} rows after the onset in the median, 90 % within {latest}.",
                median=f"{found.onset[0]:g}",
                most=f"{found.onset[1]:g}",
                delay=f"{found.delay[0]:g}",
                latest=f"{found.delay[1]:g}",
            )
        )
    if found.sets:
        lines.append(told("- Labelled logs ({sets}): {said}", sets=told(", ").join(found.sets), said=_labelled(found)))
    lines.append(
        told(
            "- Measured with Holter {version} on runs made by `holter simulate`, whose shapes are assumptions. "
            "`{document}` says how, and how far to trust it.",
            version=found.version,
            document=DOCUMENT,
        )
    )
    if changed := _changed(detector, found):
        lines.append(
            told("- Changed since it was measured: {changed}. The rates are those of the old limits.", changed=changed)
        )
    return "\n".join([f"## {told('Measured')}", "", *lines])


def _false_alarms(found: Measured) -> str:
    if not found.accused.of:
        return told(
            "not measured on made runs: none of the {n} healthy ones holds what it needs.", n=f"{found.healthy:,}"
        )
    said = told(
        "{hits} of {n} healthy made runs accused, {rate}",
        hits=found.accused.hits,
        n=f"{found.accused.of:,}",
        rate=found.accused.per_thousand(),
    )
    if unable := found.healthy - found.accused.of:
        said += told("; {n} more do not hold what it needs", n=f"{unable:,}")
    if found.mentioned:
        said += told("; of {n} it said something as an info", n=f"{found.mentioned:,}")
    return said + told(".")


def _recall(found: Measured) -> str:
    if not found.recall:
        return told("its kind of trouble is not among the made faults, so recall is not measured on them.")
    parts = []
    for fault, rate in found.recall.items():
        part = told("{fault} {rate}, {hits} of {n}", fault=fault, rate=rate, hits=rate.hits, n=rate.of)
        if unable := rate.of - found.looked[fault]:
            part += told(" ({n} do not hold what it needs)", n=unable)
        parts.append(part)
    return told("; ").join(parts) + told(". Other detectors may name the rest.")


def _labelled(found: Measured) -> str:
    sound = told(
        "accused {hits} of {n} healthy runs that hold what it needs", hits=found.flagged.hits, n=found.flagged.of
    )
    if not found.flagged.of:
        sound = told("no healthy run holds what it needs")
    if not found.named.of:
        return sound + told("; no sick run is labelled with its kind of trouble.")
    return sound + told(
        "; spoke on {hits} of {n} sick runs on which its name would be right.", hits=found.named.hits, n=found.named.of
    )


def _changed(detector: type[Detector], found: Measured) -> str:
    """Limits whose defaults are not those that were measured, in words."""
    now = {f.name: f.default for f in dataclasses.fields(detector)}
    names = sorted(now.keys() | found.limits.keys())
    return told(", ").join(
        told("{limit} was {old}, is {new}", limit=n, old=_shown(found.limits.get(n)), new=_shown(now.get(n)))
        for n in names
        if now.get(n) != found.limits.get(n)
    )


def _shown(value: object) -> str:
    return f"{value:g}" if isinstance(value, int | float) else told("no limit")


def _pair(value: list[float] | None) -> tuple[float, float] | None:
    return None if value is None else (value[0], value[1])
