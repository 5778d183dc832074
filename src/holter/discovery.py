"""Finds every member of a kind: the modules of a package, then the entry points other packages offer.

Nothing lists detectors, signals, readers or dialects by hand: a new file is found because it is there.
The walk imports only Holter's own modules, none of which imports an optional dependency.
"""

from __future__ import annotations

import importlib
import pkgutil
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, TypeVar

from holter.errors import DeclarationError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
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
            owner = point.dist.name if point.dist else "an unknown package"
            raise DeclarationError(
                f"entry point {point.name!r} of group holter.{group} (offered by {owner}) cannot be loaded: {error}. "
                f"Mend or uninstall {owner}."
            ) from error
        if hasattr(loaded, "__path__"):
            for module in modules(loaded):
                yield from vars(module).values()
        elif hasattr(loaded, "__loader__"):
            yield from vars(loaded).values()
        else:
            yield loaded


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
            raise DeclarationError(f"{group}: {name!r} is declared twice: {found[name]!r} and {value!r}")
    return dict(sorted(found.items()))
