"""Every error Holter raises.

* HolterError
  - UnreadableLogError   a file that no reader can make rows of
  - UnknownNameError     no such detector, signal, reader or dialect
  - SettingsError        a setting that does not exist or is out of its range
  - DeclarationError     a plug-in (detector, signal, reader, dialect) that is declared wrongly

Each is also the standard error a caller would expect, and each message says what was asked, what was seen and the way out.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class HolterError(Exception):
    """Base of every error raised on purpose. Catch this one at the edge of a program."""


class UnreadableLogError(HolterError, ValueError):
    """A file that cannot be read as a training log."""

    @classmethod
    def of(cls, file: str, why: str, way_out: str = "", line: int | None = None) -> UnreadableLogError:
        """Name the file (and the line where known), what was seen, and what to do instead."""
        where = f"{file}:{line}" if line is not None else file
        return cls(f"{where}: {why}" + (f" {way_out}" if way_out else ""))


class UnknownNameError(HolterError, KeyError):
    """A name that is not in a registry."""

    @classmethod
    def of(cls, kind: str, name: str, known: Iterable[str]) -> UnknownNameError:
        """Say what was asked, the nearest known names, and how to list them all."""
        near = difflib.get_close_matches(name, list(known), n=3, cutoff=0.5)
        hint = f" Did you mean {', '.join(near)}?" if near else ""
        return cls(f"Unknown {kind} {name!r}.{hint} `holter list {kind}s` shows them all.")

    def __str__(self) -> str:
        """Undo KeyError's habit of printing the repr of its message."""
        return str(self.args[0])


class SettingsError(HolterError, ValueError):
    """A setting that does not exist, has the wrong type or lies outside its range."""


class DeclarationError(HolterError, TypeError):
    """A detector, signal, reader or dialect whose declaration breaks the rules of its kind."""
