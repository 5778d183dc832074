"""A terminal that is taken over and given back as it was: keys without Enter, a screen of its own, painting without flicker."""

from __future__ import annotations

import contextlib
import os
import re
import select
import shutil
import signal
import sys
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import FrameType

try:
    import termios
    import tty

    available = True
except ModuleNotFoundError:
    available = False
"""Whether this system has terminals of that kind."""

ENTER = "\x1b[?1049h\x1b[?25l\x1b[?7l"
LEAVE = "\x1b[?7h\x1b[?25h\x1b[?1049l"
HOLD, SHOW = "\x1b[?2026h", "\x1b[?2026l"
"""Around a change of the picture: terminals that know it show the whole change at once; others ignore it."""
KEYS = {
    **dict.fromkeys(("\x1b[A", "\x1bOA"), "up"),
    **dict.fromkeys(("\x1b[B", "\x1bOB"), "down"),
    **dict.fromkeys(("\x1b[H", "\x1bOH", "\x1b[1~"), "home"),
    **dict.fromkeys(("\x1b[F", "\x1bOF", "\x1b[4~"), "end"),
    "\x1b[5~": "page-up",
    "\x1b[6~": "page-down",
    "\x1b[Z": "back-tab",
    "\t": "tab",
    "\x1b": "escape",
}
"""What terminals send for the keys that are no character."""

PRESSED = re.compile(r"\x1b\[[0-9;?]*[@-~]|\x1bO.|.", re.DOTALL)
"""One key: a sequence that begins with Escape, or a character."""


class FullScreen:
    """The terminal of this process. A context manager: it gives the terminal back however it is left.

    Stopping with Ctrl-Z gives it back, too, and going on takes it over again. A signal that ends the process, and a lost
    connection, end `pressed` with `KeyboardInterrupt`.
    """

    def __init__(self) -> None:
        self._in, self._out = sys.stdin.fileno(), sys.stdout.fileno()
        self._shown: list[str] = []
        self._size = (0, 0)
        self._wake = os.pipe()
        self._before: list[object] = []
        self._handlers: dict[int, object] = {}
        self._open = False

    @property
    def size(self) -> tuple[int, int]:
        """Columns and lines, now."""
        found = shutil.get_terminal_size()
        return max(found.columns, 1), max(found.lines, 1)

    def draw(self, lines: Sequence[str]) -> None:
        """Show these lines, no longer than the terminal is wide; writes only those that changed."""
        size = self.size
        if size != self._size:
            self._size, self._shown = size, []
        shown = list(lines[: size[1]])
        out = [] if self._shown else ["\x1b[2J"]
        for row in range(max(len(shown), len(self._shown))):
            line = shown[row] if row < len(shown) else ""
            if row >= len(self._shown) or self._shown[row] != line:
                # Cleared first: after a line that fills the terminal, clearing would take its last character.
                out.append(f"\x1b[{row + 1};1H\x1b[0m\x1b[K{line}\x1b[0m")
        self._shown = shown
        if out:
            self._write(HOLD + "".join(out) + SHOW)

    def wake(self) -> None:
        """Let `pressed` return; may be called from any thread."""
        with contextlib.suppress(OSError):
            if self._open:
                os.write(self._wake[1], b"!")

    def pressed(self, timeout: float | None = None) -> list[str]:
        """The keys that were pressed, by name or character; waits for one, for `wake`, a new size, or the time to pass.

        Raises:
            KeyboardInterrupt: When the process should end, or the terminal is gone.
        """
        ready, _, _ = select.select([self._in, self._wake[0]], [], [], timeout)
        if self._wake[0] in ready and b"q" in os.read(self._wake[0], 4096):
            raise KeyboardInterrupt
        if self._in not in ready:
            return []
        try:
            data = os.read(self._in, 4096)
        except OSError:
            data = b""
        if not data:
            raise KeyboardInterrupt
        return list(named(data.decode(errors="replace")))

    def __enter__(self) -> Self:
        for end in self._wake:
            os.set_blocking(end, False)
        self._before = termios.tcgetattr(self._in)
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            self._handlers[number] = signal.signal(number, self._ends)
        self._handlers[signal.SIGWINCH] = signal.signal(signal.SIGWINCH, self._resized)
        self._handlers[signal.SIGTSTP] = signal.signal(signal.SIGTSTP, self._stops)
        self._open = True
        self._take()
        return self

    def __exit__(self, *_: object) -> None:
        self._open = False
        for number, handler in self._handlers.items():
            signal.signal(number, handler)  # type: ignore[arg-type]  # what signal() itself returned
        # A terminal that is gone needs nothing given back.
        with contextlib.suppress(OSError, termios.error):
            self._give_back()
        for end in self._wake:
            os.close(end)

    def _take(self) -> None:
        tty.setcbreak(self._in, termios.TCSANOW)
        self._shown = []
        self._write(ENTER)

    def _give_back(self) -> None:
        self._write(LEAVE)
        termios.tcsetattr(self._in, termios.TCSADRAIN, self._before)  # type: ignore[arg-type]  # what tcgetattr gave

    def _ends(self, *_: object) -> None:
        with contextlib.suppress(BlockingIOError):
            os.write(self._wake[1], b"q")

    def _resized(self, *_: object) -> None:
        self.wake()

    def _stops(self, _number: int, _frame: FrameType | None) -> None:
        self._give_back()
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)
        # Here the process goes on again.
        signal.signal(signal.SIGTSTP, self._stops)
        self._take()
        self.wake()

    def _write(self, text: str) -> None:
        # As what is printed is: the command says there what stands for a sign that the terminal has not.
        data = text.encode(sys.stdout.encoding, sys.stdout.errors or "replace")
        while data:
            data = data[os.write(self._out, data) :]


def named(text: str) -> Iterator[str]:
    """The keys in what a terminal sent."""
    for each in PRESSED.findall(text):
        if each in KEYS:
            yield KEYS[each]
        elif each.isprintable():
            yield each
