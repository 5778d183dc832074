"""Case files: the Markdown beside a detector, whose tables are runs and whose fenced blocks are what must be found in them.

A section is one case: prose, a table whose header is ``step`` and canonical keys (``-`` = absent, ``NaN`` = logged NaN), an
optional ```config block of ``key = value`` lines (TOML), and a ```findings block with one line a finding, as ``str(finding)``.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from holter.errors import DeclarationError, reason
from holter.language import said
from holter.readers.base import ColumnBuilder, RawLog
from holter.runs.build import run_of
from holter.runs.canonical import canonical

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from holter.runs.run import Run

SECTION = re.compile(r"^## (?P<title>.+?)\n(?P<body>.*?)(?=^## |\Z)", re.M | re.S)
FENCE = re.compile(r"```findings\n(?P<lines>.*?)```", re.S)
CONFIG = re.compile(r"```config\n(?P<lines>.*?)```", re.S)
ABSENT = ("-", "")


@dataclass(frozen=True)
class Case:
    """One section of a case file.

    Attributes:
        file: The Markdown file.
        title: The section's heading.
        run: The run that its table holds.
        expected: The lines that the detector must say, joined by line ends.
    """

    file: Path
    title: str
    run: Run
    expected: str

    @property
    def detector(self) -> str:
        """Name of the detector that the file is about, as the file is called."""
        return self.file.stem.replace("_", "-")

    def __str__(self) -> str:
        return f"{self.detector}: {self.title}"


def cases_in(file: Path) -> list[Case]:
    """The cases of a file, in order.

    Raises:
        DeclarationError: For a section without a table or a ```findings block, or a cell that is no number.
    """
    return [
        _case(file, section["title"], section["body"]) for section in SECTION.finditer(file.read_text(encoding="utf-8"))
    ]


def _case(file: Path, title: str, body: str) -> Case:
    where = f"{file.name}: section {title!r}"
    fence = FENCE.search(body)
    if fence is None:
        raise DeclarationError(
            said("{where} has no ```findings block. Leave it empty where nothing must be found.", where=where)
        )
    lines = [line for line in body.splitlines() if line.startswith("|")]
    table = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]
    if not table or "step" not in table[0]:
        raise DeclarationError(said("{where} has no table with a `step` column.", where=where))
    head, rows = table[0], table[2:]
    try:
        columns = {
            key: [None if row[i] in ABSENT else float(row[i]) for row in rows]
            for i, key in enumerate(head)
            if key != "step"
        }
        steps = [float(row[head.index("step")]) for row in rows]
    except (ValueError, IndexError) as error:
        raise DeclarationError(
            said("{where}: a row of the table does not fit its header ({error}).", where=where, error=reason(error))
        ) from error
    config = CONFIG.search(body)
    run = _run(steps, columns, tomllib.loads(config["lines"]) if config else {})
    return Case(file, title, run, fence["lines"].strip())


def _run(steps: Sequence[float], columns: Mapping[str, Sequence[float | None]], config: Mapping[str, object]) -> Run:
    """Increasing steps are columns; steps that repeat or go back are read as the rows of a file, seams and all."""
    if all(a < b for a, b in pairwise(steps)):
        return run_of(steps, columns, config=config)
    builder = ColumnBuilder()
    for i, step in enumerate(steps):
        builder.row([("step", step), *((k, c[i]) for k, c in columns.items() if c[i] is not None)], i + 1)
    (run,) = canonical(RawLog(name="run", reader="case", rows=len(steps), columns=builder.columns(), config=config))
    return run
