"""A command that is run for every alert, with the finding as JSON on its standard input."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
from typing import TYPE_CHECKING

import orjson

from holter.alerts.alert import Alert, Notice
from holter.errors import SettingsError
from holter.language import said
from holter.reports.safe_text import safe

if TYPE_CHECKING:
    from collections.abc import Callable

TIMEOUT = 60.0
"""Seconds that a command may take."""
MOST_SAID = 200
"""Characters of what a failing command said that are passed on."""


class Command:
    """Runs one program. A channel of an `Audience`.

    There is no shell, and the arguments are those that the user typed: what a log says reaches the program on its standard
    input and nowhere else. A program that fails or takes too long is ended, with all that it started, and told of.
    """

    def __init__(self, words: str, tell: Callable[[str], None], *, timeout: float = TIMEOUT) -> None:
        """Find the program.

        Args:
            words: Program and arguments, quoted as in a shell.
            tell: Hears what went wrong, in one line.
            timeout: Seconds that it may take.

        Raises:
            SettingsError: When there is no such program, or a quotation is not closed.
        """
        try:
            arguments = shlex.split(words)
        except ValueError as error:
            raise SettingsError(said("--exec {words}: {why}", words=repr(words), why=str(error))) from error
        program = shutil.which(arguments[0]) if arguments else None
        if program is None:
            what = (
                said("there is no program {name}", name=repr(arguments[0]))
                if arguments
                else said("it names no program")
            )
            raise SettingsError(
                said("--exec: {what}. It is run without a shell: give 'sh -c \"...\"' for one.", what=what)
            )
        self._arguments = [program, *arguments[1:]]
        self._tell, self._timeout = tell, timeout
        self.name = os.path.basename(arguments[0])  # noqa: PTH119 - a word, not a path

    def __call__(self, news: object) -> None:
        """Run it once, to its end."""
        record = news.record() if isinstance(news, Alert | Notice) else {"text": str(news)}
        if isinstance(news, Alert):
            record = {"run": news.run, **record}
        try:
            process = subprocess.Popen(
                self._arguments,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            self._tell(said("{program} could not be run: {why}", program=self.name, why=error.strerror or str(error)))
            return
        with process:
            try:
                _, complaint = process.communicate(orjson.dumps(record) + b"\n", timeout=self._timeout)
            except subprocess.TimeoutExpired:
                _end(process)
                seconds = f"{self._timeout:g}"
                self._tell(said("{program} took longer than {n} s and was ended", program=self.name, n=seconds))
                return
        if process.returncode:
            last = complaint.decode(errors="replace").strip().splitlines()[-1:]
            failed = said("{program} failed with exit code {code}", program=self.name, code=process.returncode)
            why = safe(last[0])[:MOST_SAID] if last else ""
            self._tell(said("{failed}: {why}", failed=failed, why=why) if why else failed)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the program and what it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    # A grandchild that left the group may still hold the pipe.
    if process.stderr is not None:
        process.stderr.close()
    process.wait()
