"""Reads the Markdown beside each detector into cases: a table of steps and the findings it must give.

A section is one case: prose, a table whose header is ``step`` and canonical keys (``-`` = absent, ``NaN`` = logged NaN), an
optional ```config block of ``key = value`` lines (TOML), and a ```findings block with one line a finding, as ``str(finding)``.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import holter.detectors
from holter.readers.base import ColumnBuilder, RawLog
from holter.runs.build import run_of
from holter.runs.canonical import canonical

if TYPE_CHECKING:
    from holter.runs.run import Run

ROOT = Path(holter.detectors.__file__).parent
SECTION = re.compile(r"^## (?P<title>.+?)\n(?P<body>.*?)(?=^## |\Z)", re.M | re.S)
FENCE = re.compile(r"```findings\n(?P<lines>.*?)```", re.S)
CONFIG = re.compile(r"```config\n(?P<lines>.*?)```", re.S)


@dataclass(frozen=True)
class Case:
    file: Path
    title: str
    run: Run
    expected: str

    @property
    def detector(self) -> str:
        return self.file.stem.replace("_", "-")

    def __str__(self) -> str:
        return f"{self.detector}: {self.title}"


def parse(file: Path) -> list[Case]:
    cases = []
    for section in SECTION.finditer(file.read_text(encoding="utf-8")):
        body = section["body"]
        fence = FENCE.search(body)
        assert fence, f"{file.name}: section {section['title']!r} has no ```findings block"
        lines = [line for line in body.splitlines() if line.startswith("|")]
        table = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]
        head, rows = table[0], table[2:]
        columns = {
            key: [None if row[i] in ("-", "") else float(row[i]) for row in rows]
            for i, key in enumerate(head)
            if key != "step"
        }
        steps = [float(row[head.index("step")]) for row in rows]
        config = CONFIG.search(body)
        run = _run(steps, columns, tomllib.loads(config["lines"]) if config else {})
        cases.append(Case(file, section["title"], run, fence["lines"].strip()))
    return cases


def _run(steps: list[float], columns: dict[str, list[float | None]], config: dict[str, object]) -> Run:
    """Increasing steps are columns; steps that repeat or go back are read as the rows of a file, seams and all."""
    if all(a < b for a, b in pairwise(steps)):
        return run_of(steps, columns, config=config)
    builder = ColumnBuilder()
    for i, step in enumerate(steps):
        builder.row([("step", step), *((k, c[i]) for k, c in columns.items() if c[i] is not None)], i + 1)
    (run,) = canonical(RawLog(name="run", reader="case", rows=len(steps), columns=builder.columns(), config=config))
    return run


CASES = [case for file in sorted(ROOT.rglob("*.md")) for case in parse(file)]
