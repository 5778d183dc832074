"""What the files of one run say, gathered while they are parsed."""

from __future__ import annotations

from collections import Counter, deque
from copy import deepcopy
from typing import TYPE_CHECKING

from holter.language import phrase, said
from holter.readers.base import Skipped
from holter.readers.tensorboard import hyperparameters
from holter.readers.tensorboard.layouts import Layouts
from holter.readers.tensorboard.rows import Stretches
from holter.readers.tensorboard.templates import Templates

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holter.readers.tensorboard.event import Event

_MOST_SKIPPED = 100
"""Damaged places that are listed one by one."""
_MOST_KEPT = 4096
"""Records whose layout is kept for the next run."""
_LONGEST_KEPT = 64 << 10
"""Bytes of the longest template that is kept for it."""
_spare: deque[tuple[Templates, Layouts]] = deque(maxlen=1)
"""What the newest run taught: the runs of one folder log the same tags. Taken out while it is used, so never shared."""


class Gathered:
    """What was read so far, and what was learned on the way.

    Attributes:
        stretches: The scalars.
        templates: Layouts of whole steps.
        layouts: Layouts of single records.
        plugins: Plug-in by tag.
        config: Hyper-parameters.
        aside: Values that are no scalars, counted by kind.
        records: Records that were understood.
        sessions: Records of the hparams plug-in that begin a session.
    """

    def __init__(self) -> None:
        self.stretches = Stretches()
        self.templates = Templates()
        self.layouts = Layouts()
        self.plugins: dict[str, str] = {}
        self.config: dict[str, object] = {}
        self.aside: Counter[str] = Counter()
        self.records = 0
        self.sessions = 0
        self._skipped: list[Skipped] = []
        self._more_skipped: Counter[str] = Counter()
        self._foreign: frozenset[str] = frozenset()

    @classmethod
    def as_before(cls) -> Gathered:
        """Nothing yet, with the layouts that the newest run had. They save time, and change nothing of what is read."""
        out = cls()
        try:
            out.templates, out.layouts = _spare.pop()
        except IndexError:
            return out
        out.templates.go_on()
        out._foreign = frozenset(out.layouts.tags)
        return out

    def pass_on(self) -> None:
        """Leave the layouts to the next run. This one reads no further."""
        if len(self.layouts.tags) <= _MOST_KEPT and self.templates.longest <= _LONGEST_KEPT:
            _spare.append((self.templates, self.layouts))

    def __deepcopy__(self, memo: dict[int, object]) -> Gathered:
        """What goes on by itself. What was learned for speed is left behind."""
        out = Gathered()
        memo[id(self)] = out
        out.stretches = deepcopy(self.stretches, memo)
        out.plugins, out.config, out.aside = dict(self.plugins), dict(self.config), self.aside.copy()
        out.records, out.sessions = self.records, self.sessions
        out._skipped, out._more_skipped = list(self._skipped), self._more_skipped.copy()
        return out

    def take(self, said: Event) -> None:
        """Everything of a record but its scalars."""
        if said.aside and not self._foreign.isdisjoint(value.tag for value in said.aside):
            # What was a scalar in the run before is something else in this one.
            self.templates, self.layouts, self._foreign = Templates(), Layouts(), frozenset()
        for value in said.aside:
            found: Mapping[str, object] = {}
            if value.kind == "text" and value.text is not None:
                found = hyperparameters.from_text(value.tag, value.text)
            elif value.tag == hyperparameters.SESSION_TAG:
                found = hyperparameters.from_session(value.plugin_content)
                self.sessions += 1
            self.config.update(found)
            if not found:
                self.aside[value.kind] += 1

    def skip(self, file: str, at: int, why: str) -> None:
        """A record that was not read, with the offset of its first byte."""
        if len(self._skipped) < _MOST_SKIPPED:
            self._skipped.append(Skipped(file, None, said("record at byte {at}: {why}.", at=at, why=phrase(why))))
        else:
            self._more_skipped[file] += 1

    def skipped(self) -> tuple[Skipped, ...]:
        """What was not read."""
        return *self._skipped, *(
            Skipped(f, None, said("and {n} more damaged places.", n=n)) for f, n in self._more_skipped.items()
        )
