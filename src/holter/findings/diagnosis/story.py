"""A story: one root finding with the findings it explains. What people read is stories, not findings."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from holter.detectors.registry import all_detectors
from holter.language import Said, phrase, said

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from holter.findings.finding import Confidence, Finding, Severity


@dataclass(frozen=True, slots=True)
class Story:
    """A root and its consequences.

    Attributes:
        root: The finding that no other explains.
        consequences: What it explains, directly or through another, in the order in which they began.
    """

    root: Finding
    consequences: tuple[Finding, ...]

    @property
    def members(self) -> tuple[Finding, ...]:
        """Root first."""
        return (self.root, *self.consequences)

    @property
    def severity(self) -> Severity:
        """The worst of its members: a consequence may weigh more than its cause."""
        return max(f.severity for f in self.members)

    @property
    def active(self) -> bool:
        """Whether any member of the worst severity still holds at the end."""
        worst = self.severity
        return any(f.active for f in self.members if f.severity == worst)

    @property
    def worst(self) -> Finding:
        """The member that weighs most: active, severe and sure before others."""
        return min(self.members, key=rank)

    @property
    def first_step(self) -> float:
        """Where the first of its members that matter began."""
        worst = self.severity
        return min(f.first_step for f in self.members if f.severity == worst or f is self.root)

    @property
    def last_step(self) -> float:
        """Where the last of its worst members ended."""
        worst = self.severity
        return max(f.last_step for f in self.members if f.severity == worst or f is self.root)

    @property
    def named(self) -> tuple[Finding, ...]:
        """What the story is called by: the root, and what weighs more than it."""
        graver = self.worst is not self.root and self.worst.severity > self.root.severity
        return (self.root, self.worst) if graver else (self.root,)

    @property
    def clause(self) -> Said:
        """The story in one clause."""
        return joined([plain(f) for f in self.named])

    @property
    def confidence(self) -> Confidence:
        """How sure the clause is: as sure as the least sure finding it names."""
        return max((f.confidence for f in self.named), key=lambda c: c.rank)


def stories(findings: Sequence[Finding]) -> list[Story]:
    """One story a root, the gravest first; `caused_by` must be filled in."""
    by_detector: dict[str, list[Finding]] = {}
    for finding in sorted(findings, key=lambda f: f.first_step):
        by_detector.setdefault(finding.detector, []).append(finding)
    explained: dict[int, list[Finding]] = {}
    for finding in findings:
        root = _root(finding, by_detector)
        if root is not finding:
            explained.setdefault(id(root), []).append(finding)
    out = [
        Story(root, tuple(sorted(explained.get(id(root), ()), key=lambda f: (f.first_step, f.code))))
        for root in findings
        if root.caused_by is None or id(root) in explained
    ]
    return sorted(out, key=lambda s: rank(s.worst))


def _root(finding: Finding, by_detector: Mapping[str, Sequence[Finding]]) -> Finding:
    """The finding at the beginning of the chain of causes: of a cause that was found several times, the newest before it.

    Where such a chain returns to itself, the first time that each cause was found decides.
    """
    for newest in (True, False):
        seen: set[int] = set()
        here = finding
        while here.caused_by is not None and here.caused_by in by_detector and id(here) not in seen:
            seen.add(id(here))
            causes = by_detector[here.caused_by]
            before = bisect_right(causes, here.first_step, key=lambda f: f.first_step) if newest else 0
            here = causes[max(before - 1, 0)]
        if here.caused_by is None:
            break
    return here


def rank(f: Finding) -> tuple[bool, int, bool, int, float, str]:
    """Order of weight: active before over, severe before mild, causes first, sure before unsure, early before late."""
    return (not f.active, -f.severity, f.caused_by is not None, f.confidence.rank, f.first_step, f.code)


def plain(finding: Finding) -> Said:
    """What a finding says in a plain clause."""
    known = all_detectors().get(finding.detector)
    return phrase(known.says if known is not None and known.says else finding.title)


def joined(clauses: Sequence[Said]) -> Said:
    """Clauses in one sentence; a subject that they share is said once."""
    out = clauses[0]
    for before, clause in pairwise(clauses):
        subject = next((s for s in SUBJECTS if before.startswith(s) and clause.startswith(s)), "")
        out = said("{first} and {second}", first=out, second=clause.in_english(clause.removeprefix(subject)))
    return out


SUBJECTS = ("the policy ", "the reward ", "the entropy ", "the gradient ", "completions ")
"""How plain clauses begin in English."""
