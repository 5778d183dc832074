"""The checks of one detector, ready for a test runner."""

from __future__ import annotations

import dataclasses
import inspect
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from holter.detectors.base import HEADINGS
from holter.detectors.registry import all_detectors, run_detectors
from holter.findings.finding import Severity
from holter.signals.catalog import concepts
from holter.simulation.conditions import FAMILIES
from holter.simulation.run import simulate
from holter.testing.case_files import cases_in
from holter.testing.drawn import made_runs, run_from, wild_runs
from holter.testing.properties import PROPERTIES, agrees_live, said

if TYPE_CHECKING:
    from collections.abc import Callable

    from holter.detectors.base import Detector
    from holter.testing.case_files import Case

WILD_RUNS = 40
HEALTHY_ROWS = 150
HEALTHY_ACCUSED = 1
"""Healthy made runs, one of each family and algorithm, that a detector may accuse: its rate should be far below 1 in 34."""
NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
CODE = re.compile(r"[A-Z]{2,8}\d{3,4}")


@dataclass(frozen=True)
class Check:
    """Something a detector is held to.

    Attributes:
        name: What it is, as a sentence about the detector.
        find: Looks, and returns the complaints.
    """

    name: str
    find: Callable[[], list[str]]

    def __call__(self) -> None:
        """Raise `AssertionError` with all complaints."""
        wrong = self.find()
        if wrong:
            raise AssertionError("\n".join(wrong[:20]))

    def __str__(self) -> str:
        return self.name


def checks(cls: type[Detector], case_file: Path | None = None) -> list[Check]:
    """Everything that Holter holds its own detectors to.

    Args:
        cls: The detector.
        case_file: Its case file. Default: the module's name with ``.md``, beside it.
    """
    file = case_file or Path(inspect.getfile(cls)).with_suffix(".md")
    found = [
        Check("is declared rightly", lambda: _declaration(cls)),
        Check("is found by discovery", lambda: _discovery(cls)),
        Check("seldom accuses healthy runs", lambda: _accusations(cls)),
        Check("has a case file with a sick, a healthy and a silent case", lambda: _case_file(cls, file)),
    ]
    found += [Check(_words(p), lambda p=p: _holds(cls, p)) for p in PROPERTIES]  # type: ignore[misc]
    cases = cases_in(file) if file.is_file() else []
    return found + [Check(f"case: {c.title}", lambda c=c: _gives(cls, c)) for c in cases]  # type: ignore[misc]


def _words(check: Callable[..., object]) -> str:
    return check.__name__.replace("_", " ")


def _holds(cls: type[Detector], check: Callable[..., list[str]]) -> list[str]:
    """Whether a property holds on wild and on made runs."""
    wrong = []
    for number, run in enumerate([*wild_runs(cls, WILD_RUNS), *made_runs()]):
        more = [run.steps[6::19].tolist()] if check is agrees_live and number >= WILD_RUNS else []
        try:
            wrong += check(cls, run, *more)
        except Exception as error:
            columns = {k: list(zip(s.steps.tolist(), s.values.tolist(), strict=True)) for k, s in run.series.items()}
            raise AssertionError(f"{cls.name} raises {error!r} on {columns}"[:2000]) from error
    return wrong


def _declaration(cls: type[Detector]) -> list[str]:
    wrong = []
    if not NAME.fullmatch(cls.name):
        wrong.append(f"name {cls.name!r} is not kebab-case")
    if not CODE.fullmatch(cls.code):
        wrong.append(f"code {cls.code!r} is not capitals and three or four digits")
    if "__dataclass_params__" not in vars(cls):
        wrong.append("it is not declared as @dataclass(frozen=True, kw_only=True), so its limits cannot be set")
    unknown = {c for need in cls.needs for c in need.concepts} | set(cls.uses)
    wrong += [f"no signal measures the concept {c!r}" for c in sorted(unknown - set(concepts()))]
    page = inspect.getdoc(inspect.getmodule(cls)) or ""
    places = [page.find(f"## {heading}") for heading in HEADINGS]
    if min(places) < 0 or places != sorted(places):
        wrong.append(f"the module's docstring lacks one of the headings {', '.join(HEADINGS)}, or their order")
    for f in dataclasses.fields(cls):
        if not {"unit", "help", "low", "high"} <= set(f.metadata):
            wrong.append(f"{f.name} is not declared by limit()")
        elif not f.metadata["low"] <= f.default <= f.metadata["high"]:
            wrong.append(f"{f.name} = {f.default:g} is outside {f.metadata['low']:g} to {f.metadata['high']:g}")
    return wrong


def _discovery(cls: type[Detector]) -> list[str]:
    others = [d for d in all_detectors().values() if d is not cls]
    wrong = [f"{d.name} has the code {cls.code} too" for d in others if d.code == cls.code]
    if all_detectors().get(cls.name) is not cls:
        wrong.append(f"no entry point of group holter.detectors leads to {cls.__module__}.{cls.__qualname__}")
    return wrong


def _accusations(cls: type[Detector]) -> list[str]:
    accused = []
    for number, family in enumerate(FAMILIES):
        for algorithm in ("ppo", "grpo"):
            run = run_from(simulate(algorithm, family=family, rows=HEALTHY_ROWS, seed=500 + number))
            hot = [f for f in said(cls, run) if f.severity >= Severity.WARNING]
            accused += [f"healthy {algorithm} run of the family {family}: {f}" for f in hot[:1]]
    return accused if len(accused) > HEALTHY_ACCUSED else []


def _case_file(cls: type[Detector], file: Path) -> list[str]:
    if not file.is_file():
        return [f"there is no case file {file.name} beside {Path(inspect.getfile(cls)).name}"]
    lines = [case.expected.splitlines() for case in cases_in(file)]
    wrong = []
    if not any(" unchecked: " not in line for said_lines in lines for line in said_lines):
        wrong.append("no case where it fires")
    if all(lines):
        wrong.append("no case where it stays silent")
    if cls.needs and not any(" unchecked: " in line for said_lines in lines for line in said_lines):
        wrong.append("no case where the log lacks the signal")
    return [f"{file.name}: {w}" for w in wrong]


def _gives(cls: type[Detector], case: Case) -> list[str]:
    says = "\n".join(map(str, run_detectors(case.run, [cls()])))
    return [] if says == case.expected else [f"{case}: expected\n{case.expected}\nand got\n{says}"]
