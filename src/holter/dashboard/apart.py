"""Work in a process of its own, so that whoever answers browsers never waits for it."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
import traceback
from contextlib import suppress
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar, TypeVarTuple

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


class FarError(Exception):
    """An error of another process that cannot travel; its text names it."""


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
        # A signal's handler ends it in whatever the main thread does, another signal's handler too.
        self._lock = threading.RLock()
        self._process: SpawnProcess | None = None
        self._line: Connection | None = None
        self._ended = False

    def call(self, method: Callable[[T, *Args], R], *args: *Args) -> R:
        """Call a method.

        Raises:
            ProcessEndedError: When the process was killed, as where the memory did not do.
            FarError: For an error that is no pickle.
            OSError: When there can be no further process.
        """
        question = pickle.dumps((method, args))
        line = self._begun()
        try:
            line.send_bytes(question)
            packed = line.recv_bytes()
        except BaseException as error:
            # What is left of half an answer would be taken for the next one.
            lost = self._lost()
            if isinstance(error, EOFError | OSError):
                raise lost from error
            raise
        good, answer = pickle.loads(packed)
        if not good:
            raise answer
        found: R = answer
        return found

    def begin(self) -> None:
        """Begin the process, which takes a while until it answers."""
        # Where there can be none, the first call tells.
        with suppress(OSError):
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
                make = pickle.dumps(self._make)
                # No fork: other threads of this process may hold locks at that moment.
                context = multiprocessing.get_context("spawn")
                here, there = context.Pipe()
                process = context.Process(target=_serve, args=(there, self._nice), daemon=True)
                with there:
                    try:
                        process.start()
                    except BaseException:
                        here.close()
                        raise
                self._process, self._line = process, here
                # Where it died already, the first call tells.
                with suppress(OSError):
                    here.send_bytes(make)
            return self._line

    def _lost(self) -> ProcessEndedError:
        with self._lock:
            process, line, self._process, self._line = self._process, self._line, None, None
        assert process is not None
        assert line is not None
        line.close()
        process.kill()
        process.join()
        return ProcessEndedError(
            said("its process ended with exit code {code}; this machine may be short of memory.", code=process.exitcode)
        )


def _serve(line: Connection, nice: int) -> None:
    """Do what is asked for until nobody asks any more."""
    # Ctrl+C reaches every process of a terminal, and whoever asks ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with suppress(AttributeError, OSError):
        os.nice(nice)
    made: list[object] = []
    with suppress(EOFError, OSError):
        # What makes the object comes only now: loading what it needs is work, and waits for its turn.
        make = line.recv_bytes()

        def the() -> object:
            if not made:
                made.append(pickle.loads(make)())
            return made[0]

        # What fails now fails in the first call again, which tells.
        with suppress(Exception):
            the()
        while True:
            line.send_bytes(_answer(the, line.recv_bytes()))


def _end_with_parent() -> None:
    """Do not work on for a parent that was killed."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _answer(the: Callable[[], object], question: bytes) -> bytes:
    try:
        method, args = pickle.loads(question)
        return pickle.dumps((True, method(the(), *args)))
    except Exception as error:
        # A pickle keeps an error's notes, and not where it was raised.
        error.add_note("".join(traceback.format_exception(error)))
        return _packed(error)


def _packed(error: Exception) -> bytes:
    """An error as it travels: itself, where it comes back from a pickle, which not every class's own arguments allow."""
    packed = pickle.dumps((False, FarError("".join(traceback.format_exception_only(error)))))
    with suppress(Exception):
        itself = pickle.dumps((False, error))
        pickle.loads(itself)
        packed = itself
    return packed
