"""The templates of one run, learned as its files are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holter.readers.tensorboard.event import event
from holter.readers.tensorboard.framing import HEADER
from holter.readers.tensorboard.template import Placed, Template

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST = 16
"""Templates kept: training and evaluation rows, each with a few widths of the step."""
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
        self._by_header: dict[bytes, list[Template]] = {}
        self._known: dict[Signature, Template | None] = {}
        self._stretch: list[tuple[int, int, tuple[str, ...]]] | None = None
        self._learned = 0
        self._records = 0

    def find(self, data: bytes, view: NDArray[np.uint8], at: int) -> Template | None:
        """The template that the bytes at a position follow."""
        candidates = self._by_header.get(data[at : at + HEADER], ())
        return next((template for template in candidates if template.begins(view, at)), None)

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
        if signature not in self._known:
            self._remember(signature, None)
            return
        if self._known[signature] is not None or self._learned >= MOST + self._records // _RECORDS_PER_LESSON:
            return
        records = [
            Placed(at, length, event(data[at + HEADER : at + HEADER + length], plugins)) for at, length, _ in stretch
        ]
        if all(record.fits for record in records):
            self._learned += 1
            self._remember(signature, Template(data, records))

    def _remember(self, signature: Signature, template: Template | None) -> None:
        self._known.pop(signature, None)
        self._known[signature] = template
        learned = [key for key, known in self._known.items() if known is not None]
        for oldest in [*learned[:-MOST], *(list(self._known)[:1] if len(self._known) > MOST * MOST else [])]:
            self._known.pop(oldest, None)
        if template is not None:
            self._arrange()

    def _arrange(self) -> None:
        kept = [template for template in self._known.values() if template is not None]
        self.longest = max(template.length for template in kept)
        self._by_header = {}
        # A short template may be the beginning of a long one, and would leave the rest of every step to be read one by one.
        for template in sorted(kept, key=lambda template: -template.length):
            self._by_header.setdefault(template.header, []).append(template)
