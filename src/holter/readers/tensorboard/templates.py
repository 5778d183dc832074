"""The templates of one run, learned as its files are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holter.readers.tensorboard.event import event
from holter.readers.tensorboard.framing import HEADER
from holter.readers.tensorboard.template import Placed, Template, learnable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST = 16
"""Templates kept: training and evaluation rows, each with a few widths of the step."""
_MOST_SEEN = 256
"""Layouts remembered until they come again."""
_RECORDS_PER_LESSON = 4096
"""Learning a template costs about as much as reading this many records one by one, so no more is spent on it than that."""

Signature = tuple[tuple[int, tuple[str, ...]], ...]


class Templates:
    """Learns the layout of a stretch of records when it comes the second time.

    Attributes:
        longest: Bytes of the longest template.
    """

    def __init__(self) -> None:
        self.longest = 0
        self._learned: dict[Signature, Template] = {}
        self._by_header: dict[bytes, list[Template]] = {}
        self._seen: dict[Signature, None] = {}
        self._stretch: list[tuple[int, int, tuple[str, ...]]] | None = None
        self._lessons = 0
        self._records = 0

    def go_on(self) -> None:
        """Another run begins: what was learned is kept, and as much may be learned again."""
        self._lessons = self._records = 0
        self._stretch = None

    def find(self, data: NDArray[np.uint8], at: int) -> Template | None:
        """The template that the bytes at a position follow."""
        candidates = self._by_header.get(data[at : at + HEADER].tobytes(), ()) if self._by_header else ()
        return next((template for template in candidates if template.begins(data, at)), None)

    def begin(self) -> None:
        """A stretch begins with the next record that is noted."""
        self._stretch = []

    def interrupt(self) -> None:
        """What was noted is no whole stretch: something else lies between its records, or its bytes are gone."""
        self._stretch = None

    def note(self, at: int, length: int, tags: tuple[str, ...]) -> None:
        """One more record of the stretch; `at` is the first byte of its frame."""
        if self._stretch is not None:
            self._stretch.append((at, length, tags))
        self._records += 1

    def end(self, data: bytes, plugins: dict[str, str]) -> None:
        """The stretch is complete. Its layout becomes a template if it was met before."""
        stretch, self._stretch = self._stretch, None
        if not stretch:
            return
        signature = tuple((length, tags) for _, length, tags in stretch)
        if signature in self._learned:
            return
        if signature not in self._seen:
            self._seen[signature] = None
            if len(self._seen) > _MOST_SEEN:
                del self._seen[next(iter(self._seen))]
            return
        if self._lessons >= MOST + self._records // _RECORDS_PER_LESSON:
            return
        records = [
            Placed(at, length, event(data[at + HEADER : at + HEADER + length], plugins)) for at, length, _ in stretch
        ]
        if learnable(records):
            self._keep(signature, Template(data, records))

    def _keep(self, signature: Signature, template: Template) -> None:
        self._lessons += 1
        self._learned[signature] = template
        if len(self._learned) > MOST:
            del self._learned[next(iter(self._learned))]
        self.longest = max(kept.length for kept in self._learned.values())
        self._by_header = {}
        # A short template may be the beginning of a long one, and would leave the rest of every step to be read one by one.
        for kept in sorted(self._learned.values(), key=lambda kept: -kept.length):
            self._by_header.setdefault(kept.header, []).append(kept)
