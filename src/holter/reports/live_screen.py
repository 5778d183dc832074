"""The state of the page of ``holter watch``: which run it shows, how far it is scrolled, whether help lies over it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from holter.language import said, told
from holter.reports.live_page import body, gravest, head, help_page, lines_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from holter.findings.diagnosis import Diagnosis
    from holter.findings.finding import Finding

KEPT = 100
"""Changes that are kept."""


class LiveScreen:
    """Makes the lines of the page, and answers to keys. Draws nothing itself."""

    def __init__(self, size: tuple[int, int]) -> None:
        """Begin with a page on which nothing is known yet, of so many columns and lines."""
        self._size = size
        self._console: Console | None = None
        self._diagnoses: Sequence[Diagnosis] = ()
        self._pulses: Sequence[str] = ()
        self._lifeless: Sequence[Finding | None] = ()
        self._news: list[str] = []
        self._trouble: str = said("looking at the log ...")
        self._chosen: str | None = None
        self._top = self._most = 0
        self._help = False

    def show(
        self,
        diagnoses: Sequence[Diagnosis],
        pulses: Sequence[str],
        lifeless: Sequence[Finding | None],
        news: Iterable[str],
        trouble: str,
    ) -> None:
        """What is to be seen from now on.

        Args:
            diagnoses: One a run.
            pulses: Signs of life of each run, in words.
            lifeless: For each run, the finding that rows no longer come, where they do not.
            news: What changed since the last time.
            trouble: Why the logs could not be read; what was shown before stays.
        """
        if diagnoses or not trouble:
            self._diagnoses, self._pulses, self._lifeless = diagnoses, pulses, lifeless
        self._trouble = trouble
        self.add(news)

    def add(self, news: Iterable[str]) -> None:
        """More of what changed."""
        self._news = [*self._news, *news][-KEPT:]

    def press(self, key: str) -> bool:
        """Answer to a key; False when it asks to leave."""
        if key == "q":
            return False
        if key == "?" or (self._help and key == "escape"):
            self._help, self._top = not self._help, 0
        if key in ("tab", "back-tab") and len(self._diagnoses) > 1:
            step = 1 if key == "tab" else -1
            self._chosen = self._diagnoses[(self._shown() + step) % len(self._diagnoses)].run.name
            self._top = 0
        room = max(self._size[1] - 6, 1)
        moves = {"j": 1, "down": 1, "k": -1, "up": -1, " ": room, "page-down": room, "b": -room, "page-up": -room}
        ends = {"g": 0, "home": 0, "G": self._most, "end": self._most}
        self._top = min(max(ends.get(key, self._top + moves.get(key, 0)), 0), self._most)
        return True

    def lines(self, size: tuple[int, int]) -> list[str]:
        """The page as it is now, one text a line of the terminal, of so many columns and lines."""
        console = self._console_of(size)
        columns, rows = size
        above = lines_of(console, head(self._diagnoses, self._shown(), self._pulses, self._trouble))
        # Where many runs take the terminal, half of it is left to the one that is shown.
        above = above[-max(rows // 2, 1) :] if len(above) > rows // 2 else above
        room = max(rows - len(above) - 2, 1)
        whole = self._whole(console, columns)
        self._most = max(len(whole) - room, 0)
        self._top = min(self._top, self._most)
        part = whole[self._top : self._top + room]
        part += [""] * (room - len(part))
        return [*above, "", *part, self._foot(console, len(whole), room)][-rows:]

    def _whole(self, console: Console, columns: int) -> list[str]:
        if self._help:
            return lines_of(console, help_page())
        if not self._diagnoses:
            return []
        shown = self._shown()
        return lines_of(console, body(self._diagnoses[shown], self._news, columns, self._lifeless[shown]))

    def _foot(self, console: Console, count: int, room: int) -> str:
        below = count - self._top - room
        parts = [told("q leave · j k scroll · ? help")]
        if len(self._diagnoses) > 1:
            parts.append(told("Tab next run"))
        if below > 0:
            parts.append(told("1 more line below") if below == 1 else told("{n} more lines below", n=below))
        return lines_of(console, Text(" · ".join(parts), style="dim", no_wrap=True, overflow="ellipsis"))[0]

    def _shown(self) -> int:
        """Position of the run that is shown: the chosen one while it is there, else the one that is worst off."""
        names = [d.run.name for d in self._diagnoses]
        if self._chosen in names:
            return names.index(self._chosen)
        return gravest(self._diagnoses) if self._diagnoses else 0

    def _console_of(self, size: tuple[int, int]) -> Console:
        if self._console is None or size != self._size:
            self._size = size
            self._console = Console(
                width=size[0], height=size[1], highlight=False, force_terminal=True, legacy_windows=False
            )
        return self._console
