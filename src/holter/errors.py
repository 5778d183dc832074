"""The errors that several parts of Holter raise.

* HolterError
  - UnreadableLogError   a file that no reader can make rows of
  - UnknownNameError     no such detector, signal, reader or dialect
  - SettingsError        a setting that does not exist or is out of its range
  - DeclarationError     a plug-in (detector, signal, reader, dialect) that is declared wrongly

An error of one part alone stands in that part, and is a `HolterError` too. Each is also the standard error a caller would
expect, and each message says what was asked, what was seen and the way out.

An error speaks the language of whoever reads it: its arguments are texts (literals, `holter.language.said`, a place such as
``run.jsonl:7:``), and `str` says them in the language spoken at that moment, in a traceback as on the command line. What must be
one of Python's own errors, as in ``__getattr__``, is raised with `holter.language.told`; what never leaves Holter is handed on by
`reason`.
"""

from __future__ import annotations

from holter.language import Said, phrase, sentences, told


class HolterError(Exception):
    """Base of every error raised on purpose. Catch this one at the edge of a program.

    Its arguments are the sentences of its message, each a text that `holter.language` can say in another language.
    """

    def __str__(self) -> str:
        return told(reason(self))


def reason(error: Exception) -> Said:
    """What an error says, to stand in a sentence in its language: the system's words, or those it was raised with."""
    if isinstance(error, HolterError):
        return sentences(a if isinstance(a, str) else str(a) for a in error.args)
    if isinstance(error, OSError) and error.strerror:
        return phrase(error.strerror)
    return phrase(error.args[0] if error.args and isinstance(error.args[0], Said) else str(error))


class UnreadableLogError(HolterError, ValueError):
    """A file that cannot be read as a training log."""

    @classmethod
    def of(cls, file: str, why: str, way_out: str = "", line: int | None = None) -> UnreadableLogError:
        """Name the file (and the line where known), what was seen, and what to do instead."""
        where = f"{place(file, line)}:"
        return cls(where, why, way_out) if way_out else cls(where, why)


def place(file: str, line: int | None = None) -> str:
    r"""A file, and a line of it where it is known, on one line whatever the file is called.

    >>> print(place("run.log", 7), place("two\nlines.log"))
    run.log:7 two\nlines.log
    """
    name = file.replace("\r", "\\r").replace("\n", "\\n")
    return name if line is None else f"{name}:{line}"


class UnknownNameError(HolterError, KeyError):
    """A name that is not in a registry; `holter.discovery.unknown_name` says what it could have been."""


class SettingsError(HolterError, ValueError):
    """A setting that does not exist, has the wrong type or lies outside its range."""


class DeclarationError(HolterError, TypeError):
    """A detector, signal, reader or dialect whose declaration breaks the rules of its kind."""
