"""Completions that a run logged, and those that show what a finding talks about."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holter.errors import UnreadableLogError
from holter.store.layout import is_run_folder
from holter.store.reading import lines, numbers, segments

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from holter.findings.finding import Finding
    from holter.runs.run import Run

PER_STEP = 3
"""Completions shown of one step: the least and the best rewarded, and the longest."""
LONGEST = 1200
"""Characters shown of one prompt or completion; the page says how many there were."""
MOST_STEPS = 16


@dataclass(frozen=True, slots=True)
class Sample:
    """One logged completion.

    Attributes:
        step: The step it was logged at.
        prompt: The prompt as text; empty where it was not logged.
        completion: The completion as text.
        numbers: What was logged beside it: rewards by function, advantage, length, group.
    """

    step: float
    prompt: str
    completion: str
    numbers: Mapping[str, float | None]

    @property
    def reward(self) -> float | None:
        """What the update saw, where it was logged."""
        return next((v for k in ("reward", "score") if (v := self.numbers.get(k)) is not None), None)


def folder_of(run: Run) -> Path | None:
    """The run folder that a run was read from; None where its log holds no completions."""
    path = Path(run.path)
    folder = path if path.is_dir() else path.parent
    try:
        return folder if path.exists() and is_run_folder(folder) else None
    except OSError:
        return None


def logged(folder: Path, *, steps: Collection[float] | None = None) -> Iterator[Sample]:
    """The completions in a run folder; where segments overlap, the newest one's.

    Args:
        folder: A run folder.
        steps: Only those of these steps; None for all.

    Raises:
        UnreadableLogError: When it is no run folder.
    """
    found = segments(folder)
    limits: list[float] = []
    limit = float("inf")
    for segment in reversed(found):
        limits.append(limit)
        limit = min(limit, next(_steps(segment.samples), limit))
    for segment, before in zip(found, reversed(limits), strict=True):
        for line in lines(segment.samples):
            step = _step(line.row)
            if line.row is not None and step is not None and step < before and (steps is None or step in steps):
                yield _sample(step, line.row)


def around(run: Run, findings: Iterable[Finding]) -> list[tuple[float, list[Sample]]]:
    """A few completions of the steps that findings are about: before each begins, where it begins, where it ends.

    Without findings: those of the first and of the last step that have any.
    """
    folder = folder_of(run)
    if folder is None:
        return []
    try:
        steps = sorted({s.step for s in logged(folder)})
        chosen = sorted(_chosen(steps, findings))
        by: dict[float, list[Sample]] = {s: [] for s in chosen}
        for sample in logged(folder, steps=frozenset(chosen)):
            by[sample.step].append(sample)
    except (UnreadableLogError, OSError):
        return []
    return [(step, _telling(rows)) for step, rows in by.items()]


def _chosen(steps: Sequence[float], findings: Iterable[Finding]) -> set[float]:
    if not steps:
        return set()
    out: dict[float, None] = {}
    for finding in findings:
        begins = bisect_left(steps, finding.first_step)
        ends = bisect_right(steps, finding.last_step) - 1
        for at in (begins - 1, begins, ends):
            if 0 <= at < len(steps) and len(out) < MOST_STEPS:
                out[steps[at]] = None
    return set(out) or {steps[0], steps[-1]}


def _telling(rows: list[Sample]) -> list[Sample]:
    """The least rewarded, the best rewarded and the longest completion, each once, in the order of the log."""
    rewarded = [i for i, r in enumerate(rows) if r.reward is not None]
    picked: list[int] = []
    if rewarded:
        picked += [
            min(rewarded, key=lambda i: rows[i].reward or 0.0),
            max(rewarded, key=lambda i: rows[i].reward or 0.0),
        ]
    picked.append(max(range(len(rows)), key=lambda i: len(rows[i].completion)))
    picked += range(PER_STEP)
    kept = list(dict.fromkeys(i for i in picked if i < len(rows)))[:PER_STEP]
    return [rows[i] for i in sorted(kept)]


def _steps(file: Path) -> Iterator[float]:
    return (step for line in lines(file) if (step := _step(line.row)) is not None)


def _step(row: Mapping[str, Any] | None) -> float | None:
    step = row.get("step") if row is not None else None
    return float(step) if isinstance(step, int | float) else None


def _sample(step: float, row: Mapping[str, Any]) -> Sample:
    told = {k: v for k, v in row.items() if k not in ("step", "prompt", "completion")}
    truth = {k: float(v) for k, v in told.items() if isinstance(v, bool)}
    return Sample(step, _text(row.get("prompt")), _text(row.get("completion")), {**numbers(told), **truth})


def _text(said: object) -> str:
    """A text, or a conversation as the texts of its messages."""
    if isinstance(said, str):
        return said
    if isinstance(said, list) and all(isinstance(m, dict) for m in said):
        return "\n".join(f"{m.get('role', '')}: {m.get('content', '')}" for m in said)
    return "" if said is None else str(said)
