"""Everybody who hears of alerts."""

from __future__ import annotations

import contextvars
import logging
import threading
import time
from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Protocol, Self, runtime_checkable

from holter.alerts.services import services
from holter.alerts.trackers import worded
from holter.language import said, told

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

log = logging.getLogger("holter")

WAITING = 100
"""Alerts that wait for one channel; of a channel that hangs longer, the newest count."""
PATIENCE = 5.0
"""Seconds that the end of a run waits for channels that have not sent everything."""


@runtime_checkable
class Channel(Protocol):
    """Takes an alert, or a text that somebody else wrote, to people. May raise and may take its time.

    Attributes:
        name: What warnings call it; never an address.
    """

    name: str

    def __call__(self, said: object, /) -> None:
        """Pass on `said`; ``str(said)`` is one line in the language spoken."""
        ...


@runtime_checkable
class _HasAlerts(Protocol):
    def alert(self, title: str, text: str, level: str) -> None: ...


class Audience:
    """Passes alerts on to functions, called at once, and to channels, each in a thread of its own. Never raises.

    A thread starts with its channel's first alert and ends with the process. What a channel raises costs one warning, which
    names the channel and the kind of error and nothing else: errors of network libraries quote addresses, and addresses
    hold secrets.
    """

    def __init__(
        self,
        functions: Iterable[Callable[[object], None]] = (),
        channels: Iterable[Channel] = (),
        *,
        waiting: int = WAITING,
    ) -> None:
        """Begin; nothing is sent yet.

        Args:
            functions: Called by whoever has an alert, in order, one after the other.
            channels: Called in threads, in the context of whoever made this: some trackers know their run by it.
            waiting: Alerts that may wait for one channel.
        """
        self._functions = list(functions)
        self._mailboxes = [_Mailbox(channel, waiting) for channel in channels]
        self._warned: set[int] = set()

    @classmethod
    def of(
        cls,
        tell: Callable[[object], None] | Iterable[Callable[[object], None]] | None,
        *,
        among: Iterable[object] = (),
    ) -> Self:
        """Those who are to be told, the services of the environment, and the channels `among` other things.

        Args:
            tell: Functions and channels; None for silence, whatever else there is.
            among: Trackers, of which some have alerts of their own, and take them without delay.

        Raises:
            SettingsError: When the environment names a service that there is not.
        """
        if tell is None:
            return cls()
        asked = [tell] if callable(tell) else list(tell)
        own = [partial(_pass_on, tracker) for tracker in among if isinstance(tracker, _HasAlerts)]
        return cls(
            [*(each for each in asked if not isinstance(each, Channel)), *own],
            [*(each for each in asked if isinstance(each, Channel)), *services()],
        )

    def __bool__(self) -> bool:
        return bool(self._functions or self._mailboxes)

    def __call__(self, news: object) -> None:
        """Tell everybody."""
        for number, function in enumerate(self._functions):
            try:
                function(news)
            except Exception as error:
                if number not in self._warned:
                    self._warned.add(number)
                    name = getattr(function, "__name__", type(function).__name__)
                    why = said("an alert could not be sent ({kind})", kind=type(error).__name__)
                    _warn_of(name, why)
        for mailbox in self._mailboxes:
            mailbox.put(news)

    def close(self, patience: float = PATIENCE) -> bool:
        """Wait until everything is sent, at most `patience` seconds in all; False where that did not do."""
        until = time.monotonic() + patience
        drained = [mailbox.drained(until) for mailbox in self._mailboxes]
        return all(drained)


def _pass_on(tracker: _HasAlerts, news: object) -> None:
    tracker.alert(*worded(news))


def _warn_of(name: str, why: str) -> None:
    log.warning(told("{name}: {why}; training goes on (said once)", name=name, why=why))


class _Mailbox:
    """The alerts that wait for one channel, and the thread that passes them on."""

    def __init__(self, channel: Channel, waiting: int) -> None:
        self._channel = channel
        self._waiting: deque[object] = deque(maxlen=waiting)
        self._change = threading.Condition()
        self._busy = False
        self._context = contextvars.copy_context()
        self._thread: threading.Thread | None = None
        self._warned = False

    def put(self, news: object) -> None:
        """Take one; returns at once."""
        with self._change:
            full = len(self._waiting) == self._waiting.maxlen
            self._waiting.append(news)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name=f"holter-{self._channel.name}", daemon=True)
                self._thread.start()
            self._change.notify_all()
        if full:
            self._warn(said("does not answer, and older alerts are dropped"))

    def drained(self, until: float) -> bool:
        """Wait until all is sent, or until that moment of the monotonic clock."""
        with self._change:
            done = self._change.wait_for(lambda: not (self._waiting or self._busy), max(0.0, until - time.monotonic()))
            left = len(self._waiting) + self._busy
        if not done:
            log.warning(
                told(
                    "{name}: {n} alert not sent: it does not answer"
                    if left == 1
                    else "{name}: {n} alerts not sent: it does not answer",
                    name=self._channel.name,
                    n=left,
                )
            )
        return done

    def _work(self) -> None:
        while True:
            with self._change:
                while not self._waiting:
                    self._change.wait()
                news, self._busy = self._waiting.popleft(), True
            try:
                self._context.run(self._channel, news)
            except BaseException as error:
                # SystemExit of a foreign library, too, must not end the thread that sends.
                self._warn(said("an alert could not be sent ({kind})", kind=type(error).__name__))
            with self._change:
                self._busy = False
                self._change.notify_all()

    def _warn(self, why: str) -> None:
        if not self._warned:
            self._warned = True
            _warn_of(self._channel.name, why)
