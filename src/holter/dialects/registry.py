"""Which dialect a log speaks; and, in one place, all that other packages ask of the dialects."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holter.dialects.lineage import GENERIC, all_dialects, dialect, lineage
from holter.dialects.meaning import ALWAYS_IGNORED, ANY_SCORE, Meaning, has_evaluation_form, is_ignored, meaning, tabled
from holter.dialects.names import LONGEST, plain
from holter.signals import catalog

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from holter.dialects.base import Dialect

__all__ = [
    "ANY_SCORE",
    "GENERIC",
    "Meaning",
    "all_dialects",
    "detect",
    "dialect",
    "is_ignored",
    "lineage",
    "meaning",
    "never",
]

ENOUGH = 0.5
"""Share of a log's names a dialect must know before it is believed of a log whose separators were rewritten..."""

FEW = 3
"""...or it must know more than twice what the generic table does, and this many more."""


def never(spoken: Dialect) -> tuple[str, ...]:
    """Concepts that no log of this dialect holds: its own list, and its ancestors' less what it adds to them."""
    out: list[str] = []
    added: set[str] = set()
    for table in lineage(spoken):
        out += [c for c in table.never if c not in added and c not in out]
        found = (catalog.find(re.sub(r"\{\w+\}", "x", n.key)) for n in table.names)
        added.update(f[0].concept for f in found if f is not None)
    return tuple(out)


def detect(names: Collection[str], among: Sequence[str] = ()) -> Dialect:
    """The dialect that a log with these raw names speaks; the generic one when no signature fits.

    A signature may hit by accident in a hand-written log, so a dialect is believed only if it knows at least as many of
    the names as the generic table does. Where no signature fits as it stands, each is tried again with free separators, for
    logs whose exporter flattened them (``actor_ppo_kl``); then the dialect must know half of the names, or many more than
    the generic table does.

    Args:
        names: Raw names of the log.
        among: Names of dialects of which it is one, as far as its format tells. Where the names tell of none of them, it is
            the one that all of them inherit from, if that one knows as many of the names as what they tell of.
    """
    plain_names = dict.fromkeys(plain(n) for n in names if len(n) <= LONGEST)
    said = [n for n in plain_names if not ALWAYS_IGNORED.fullmatch(n)]
    training = [n for n in said if not has_evaluation_form(dialect(GENERIC), n)]
    ordered = sorted(all_dialects().values(), key=lambda d: (d.priority, d.name))
    generic = dialect(GENERIC)
    anyway = _known(generic, training)
    found = _signed(ordered, said, training, generic, anyway)
    root = _root(among)
    if root is None or any(table.name in among for table in lineage(found)):
        return found
    return root if _known(root, training) >= _known(found, training) > 0 else found


def _root(among: Sequence[str]) -> Dialect | None:
    """That of some dialects from which all the others inherit; None where they are unrelated."""
    known = [dialect(name) for name in among if name in all_dialects() and name != GENERIC]
    return next((d for d in known if all(d in lineage(other) for other in known)), None)


def _signed(
    ordered: Sequence[Dialect], said: Sequence[str], training: Sequence[str], generic: Dialect, anyway: int
) -> Dialect:
    """The dialect that a log's names give away.

    Args:
        ordered: All dialects, the one to be asked first in front.
        said: The log's names, without what exports add.
        training: Those of them that are not an evaluation's.
        generic: The dialect of logs that no signature fits.
        anyway: How many of the training names that one knows.
    """
    for spoken in ordered:
        if any(s.matches(said) for s in spoken.signatures) and _known(spoken, training) >= anyway:
            return spoken
    best, most = generic, anyway
    for spoken in ordered:
        if any(s.matches(said, loose=True) for s in spoken.signatures):
            known = _known(spoken, training)
            if known > most and known >= min(ENOUGH * len(training), 2 * anyway + FEW):
                best, most = spoken, known
    return best


def _known(spoken: Dialect, names: Collection[str]) -> int:
    """How many of `names` a dialect's tables name, ignored ones included; guesses do not count."""
    return sum(tabled(spoken, n) is not None or is_ignored(spoken, n) for n in names)
