"""Finds every member of a kind: the modules of a package, then the entry points other packages offer.

Nothing lists detectors, signals, readers or dialects by hand: a new file is found because it is there.
The walk imports only Holter's own modules, none of which imports an optional dependency.
"""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, TypeVar

from holter.errors import DeclarationError, UnknownNameError, reason
from holter.language import listed, phrase, said

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import ModuleType

T = TypeVar("T")


def modules(package: ModuleType) -> Iterator[ModuleType]:
    """Every module below `package`, in the order of their names, imported."""
    for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        yield importlib.import_module(info.name)


def plugins(group: str) -> Iterator[object]:
    """What installed packages offer under the entry point group ``holter.<group>``.

    A module stands for all its public members, anything else for itself.

    Raises:
        DeclarationError: When an entry point cannot be imported; the message names the package that offers it.
    """
    for point in entry_points(group=f"holter.{group}"):
        try:
            loaded = point.load()
        except Exception as error:
            # Importing a foreign package may raise anything.
            owner = point.dist.name if point.dist else said("an unknown package")
            why = said(
                "entry point {name!r} of group holter.{group} (offered by {owner}) cannot be loaded: {error}.",
                name=point.name,
                group=group,
                owner=owner,
                error=reason(error),
            )
            raise DeclarationError(why, said("Mend or uninstall {owner}.", owner=owner)) from error
        if hasattr(loaded, "__path__"):
            for module in modules(loaded):
                yield from vars(module).values()
        elif hasattr(loaded, "__loader__"):
            yield from vars(loaded).values()
        else:
            yield loaded


def unknown_name(kind: str, name: str, known: Iterable[str], *, listing: str | None = "") -> UnknownNameError:
    """That no member of a kind has this name: what was asked, the nearest known names, and what there is.

    Args:
        kind: What was asked for: ``detector``.
        name: Its name, as it was given.
        known: The names there are.
        listing: The command that lists them; ``holter list`` with the kind by default, None where no command does.
    """
    names = list(known)
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    hint = [said("Did you mean {names}?", names=listed(near))] if near else []
    unknown = said("Unknown {kind} {name!r}.", kind=phrase(kind), name=name)
    if listing is None:
        return UnknownNameError(unknown, *hint, said("There are {names}.", names=listed(names)))
    return UnknownNameError(
        unknown, *hint, said("`{command}` shows them all.", command=listing or f"holter list {kind}s")
    )


def members(
    package: ModuleType, group: str, is_member: Callable[[object], bool], name_of: Callable[[T], str]
) -> dict[str, T]:
    """All members of a kind by name.

    Args:
        package: Package whose modules are walked.
        group: Entry point group, without the ``holter.`` prefix.
        is_member: Whether a module attribute or plug-in is a member.
        name_of: Its name; two different members must not share one.

    Raises:
        DeclarationError: When one name is declared twice.
    """
    found: dict[str, T] = {}
    candidates = (value for module in modules(package) for value in vars(module).values())
    for value in [*candidates, *plugins(group)]:
        if not is_member(value):
            continue
        name = name_of(value)
        if found.setdefault(name, value) is not value:
            why = said(
                "{name!r} is declared twice: {first!r} and {second!r}", name=name, first=found[name], second=value
            )
            raise DeclarationError(f"{group}:", why)
    return dict(sorted(found.items()))
