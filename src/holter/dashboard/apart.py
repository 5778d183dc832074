"""Work in a process of its own, so that whoever answers browsers never waits for it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import traceback
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, TypeVarTuple

from holter.errors import HolterError
from holter.language import said

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess

T = TypeVar("T")
Seen = TypeVar("Seen", covariant=True)
R = TypeVar("R")
Args = TypeVarTuple("Args")


class ProcessEndedError(HolterError):
    """A process ended in the middle of its work."""


class Worker(Protocol[Seen]):
    """Where an object lives whose methods do the work. One call at a time."""

    def call(self, method: Callable[[Seen, *Args], R], *args: *Args) -> R:
        """Call a method of the object, named as ``Class.method``; what it raises is raised here."""
        ...

    def begin(self) -> None:
        """Get ready, without waiting for it."""
        ...

    def end(self) -> None:
        """No further call; one under way is broken off where that is possible."""
        ...


class Here(Generic[T]):
    """An object in this process."""

    def __init__(self, make: Callable[[], T]) -> None:
        """Make the object."""
        self._object = make()

    def call(self, method: Callable[[T, *Args], R], *args: *Args) -> R:
        """Call a method."""
        return method(self._object, *args)

    def begin(self) -> None:
        """Nothing is to be begun."""

    def end(self) -> None:
        """Nothing is to be ended."""


class Apart(Generic[T]):
    """An object in a process of its own, which is begun at the first call at the latest and, where it died, at the next one."""

    def __init__(self, make: Callable[[], T], *, nice: int = 0) -> None:
        """Nothing is begun yet.

        Args:
            make: Makes the object, over there; it and all arguments and results travel as pickles.
            nice: How much lower than this process's its priority is, where the system knows that.
        """
        self._make, self._nice = make, nice
        self._lock = threading.Lock()
        self._process: SpawnProcess | None = None
        self._line: Connection | None = None
        self._ended = False

    def call(self, method: Callable[[T, *Args], R], *args: *Args) -> R:
        """Call a method.

        Raises:
            ProcessEndedError: When the process was killed, as where the memory did not do.
        """
        line = self._begun()
        try:
            line.send((method, args))
            good, answer = line.recv()
        except (EOFError, OSError) as error:
            raise self._lost() from error
        if not good:
            raise answer
        found: R = answer
        return found

    def begin(self) -> None:
        """Begin the process, which takes a while until it answers."""
        self._begun()

    def end(self) -> None:
        """Kill the process."""
        with self._lock:
            self._ended = True
            if self._process is not None:
                self._process.kill()

    def _begun(self) -> Connection:
        with self._lock:
            if self._ended:
                raise ProcessEndedError(said("The dashboard ends."))
            if self._line is None:
                # No fork: other threads of this process may hold locks at that moment.
                context = multiprocessing.get_context("spawn")
                self._line, there = context.Pipe()
                self._process = context.Process(target=_serve, args=(there, self._make, self._nice), daemon=True)
                self._process.start()
                there.close()
            return self._line

    def _lost(self) -> ProcessEndedError:
        with self._lock:
            process, self._process, self._line = self._process, None, None
        assert process is not None
        process.join()
        return ProcessEndedError(
            said("its process ended with exit code {code}; this machine may be short of memory.", code=process.exitcode)
        )


def _serve(line: Connection, make: Callable[[], object], nice: int) -> None:
    """Do what is asked for until nobody asks any more."""
    # Ctrl+C reaches every process of a terminal, and whoever asks ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(AttributeError, OSError):
        os.nice(nice)
    object_ = make()
    with suppress(EOFError, OSError):
        while True:
            method, args = line.recv()
            line.send(_answer(object_, method, args))


def _answer(object_: object, method: Callable[..., object], args: tuple[Any, ...]) -> tuple[bool, object]:
    try:
        return True, method(object_, *args)
    except Exception as error:
        # A pickle keeps an error's notes, and not where it was raised.
        error.add_note("".join(traceback.format_exception(error)))
        return False, error
