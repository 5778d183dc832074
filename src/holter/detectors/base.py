"""What a detector is: a frozen dataclass of limits with one pure method.

``check`` is a pure function of the run so far, and causal: what it says of a step depends on values up to that step only.
So watching a live run is checking a longer and longer prefix, and live and afterwards are one code path.
"""

from __future__ import annotations

import dataclasses
import inspect
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from holter.findings.finding import Alternative, Confidence, Evidence, Finding, Severity, Unchecked
from holter.language import told

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from holter.runs.run import Run, Series

HEADINGS = ("Why it matters", "When it fires", "What to do", "When it is wrong", "References")
"""Sections of every detector's page, in order."""


def limit(default: float, *, unit: str, help: str, low: float = float("-inf"), high: float = float("inf")) -> Any:  # noqa: ANN401
    """A tunable number of a detector.

    Args:
        default: Value used when the settings say nothing.
        unit: Unit shown beside it: ``x``, ``nats/token``, ``logged points``.
        help: One line: what a larger value does.
        low: Least value the settings may give.
        high: Greatest value the settings may give.
    """
    return field(default=default, metadata={"unit": unit, "help": help, "low": low, "high": high})


@dataclass(frozen=True, kw_only=True)
class Need:
    """Something a detector cannot do without: a series of one of these concepts.

    Attributes:
        concepts: Any one of them will do; the first is the one to name to the user.
        points: Least number of logged values, NaN included.
        split: ``train``, ``eval`` or ``any``.
        log: What to log to enable the check, in the user's words.
    """

    concepts: tuple[str, ...]
    points: int = 1
    split: str = "train"
    log: str = ""


@dataclass(frozen=True, kw_only=True)
class Detector:
    """Reads a run and says what it finds. Holds limits, never state.

    Subclasses set the class variables and implement `check`. Their module's docstring is their page, with the headings of
    `HEADINGS`; beside the module lies a Markdown file of tables and the exact findings they must give.

    Attributes:
        name: Kebab-case, says what is wrong and not the cure: ``kl-runaway``. The module is called the same in snake case.
        code: Stable code, ``HLT201``. The hundred is the vital sign.
        since: Version that brought it.
        needs: Series without which it reports itself unchecked.
        uses: Further concepts it looks at when they are there.
        says: The trouble in a plain clause without numbers, as the verdict joins it to others: "the policy runs away from
            the reference". Empty: the finding's title is used.
        explains: Detectors whose findings this one's can be the cause of. The order of onsets decides.
        explained_by: The same seen from the other side, so that a new detector need not touch an old one.
    """

    name: ClassVar[str]
    code: ClassVar[str]
    since: ClassVar[str]
    needs: ClassVar[tuple[Need, ...]] = ()
    uses: ClassVar[tuple[str, ...]] = ()
    says: ClassVar[str] = ""
    explains: ClassVar[tuple[str, ...]] = ()
    explained_by: ClassVar[tuple[str, ...]] = ()

    def check(self, run: Run) -> Iterator[Finding | Unchecked]:
        """Yield what `run` shows. Every series in `needs` is present and long enough."""
        raise NotImplementedError

    def finding(
        self,
        severity: Severity,
        confidence: Confidence,
        title: str,
        *,
        run: Run,
        first: int,
        last: int,
        raised: int | None = None,
        onset: tuple[int, int] | None = None,
        active: bool | None = None,
        evidence: Sequence[Evidence],
        advice: Sequence[str] = (),
        alternatives: Sequence[Alternative] = (),
        against: Sequence[str] = (),
    ) -> Finding:
        """A finding signed with this detector's name and code. Rows are positions in ``run.steps``.

        Args:
            severity: How much the run is at stake.
            confidence: How sure the statement is.
            title: The statement in one line, naming the metric as the log names it.
            run: The run it is about.
            first: Row where it began; from values up to `raised` only, so that live and afterwards agree.
            last: Last row that shows it.
            raised: Row at which it could first be said. Default: `first`.
            onset: Earliest and latest row where it may have begun. Default: `first` twice.
            active: Whether it still holds at the end. Default: whether `last` is the last row.
            evidence: The numbers it rests on.
            advice: What to try, most likely to help first.
            alternatives: What else it could be.
            against: Signals that speak against it, in words.
        """
        low, high = onset if onset is not None else (first, first)
        return Finding(
            detector=self.name,
            code=self.code,
            severity=severity,
            confidence=confidence,
            title=title,
            first_step=float(run.steps[first]),
            last_step=float(run.steps[last]),
            onset=(float(run.steps[low]), float(run.steps[high])),
            raised_step=float(run.steps[first if raised is None else raised]),
            active=bool(last == len(run) - 1 if active is None else active),
            evidence=tuple(evidence),
            advice=tuple(advice),
            alternatives=tuple(alternatives),
            against=tuple(against),
        )

    def unchecked(self, why: str, missing: Sequence[str] = ()) -> Unchecked:
        """This detector's statement that it could not look."""
        return Unchecked(detector=self.name, code=self.code, missing=tuple(missing), why=why)

    @classmethod
    def page(cls) -> str:
        """The detector's page in Markdown: its module's docstring, what it reads, its limits."""
        doc = inspect.cleandoc(inspect.getmodule(cls).__doc__ or "")
        reads = [
            told(
                "- needs {concepts} ({split}, {n} points or more)",
                concepts=told(" or ").join(f"`{c}`" for c in n.concepts),
                split=told(n.split),
                n=n.points,
            )
            for n in cls.needs
        ]
        reads += [told("- looks at `{concept}` where it is logged", concept=c) for c in cls.uses]
        rows = [
            f"| `{f.name}` | {f.default:g} | {f.metadata['unit']} | {f.metadata['help']} |"
            for f in dataclasses.fields(cls)
        ]
        parts = [f"# {cls.name} ({cls.code})", doc, "## Reads", "\n".join(reads) or told("- every series of the log")]
        if rows:
            parts += [
                "## Limits",
                "\n".join(["| limit | default | unit | a larger value |", "|---|---|---|---|", *rows]),
            ]
        return "\n\n".join(parts) + "\n"


def quote(series: Series, indices: NDArray[np.int64] | Sequence[int], says: str) -> Evidence:
    """Evidence that quotes values of a series exactly as the run holds them. `indices` are positions in the series."""
    picked = [int(i) for i in indices]
    return Evidence(
        metric=series.metric,
        key=series.key,
        steps=tuple(float(series.steps[i]) for i in picked),
        values=tuple(float(series.values[i]) for i in picked),
        unit=str(series.unit),
        says=says,
    )


def number(value: float) -> str:
    """A number as people write it in a sentence: four significant digits, no trailing zeros."""
    if value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    return f"{value:.4g}"
