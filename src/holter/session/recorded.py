"""Mappings of a run that are written down whenever they change: its configuration, its summary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holter.language import listed, said, told
from holter.store.manifest import settings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Recorded(dict[str, Any]):
    """A mapping that tells of every change. Its entries are attributes, too: ``run.config.lr`` is ``run.config["lr"]``."""

    def __init__(self, first: Mapping[str, Any], changed: Callable[[Mapping[str, Any]], None]) -> None:
        """Begin with `first`, of which nobody is told.

        Args:
            first: Entries at the start.
            changed: Called with the entries that are new or different, and must not raise.
        """
        super().__init__(first)
        object.__setattr__(self, "_changed", changed)

    def update(self, values: object = (), /, **more: object) -> None:
        """Set several entries, and tell of them once.

        Args:
            values: A mapping, a dataclass, an ``argparse.Namespace``, an object with ``to_dict``.
            more: Further entries; ``allow_val_change`` is another tracker's and means nothing here.
        """
        more.pop("allow_val_change", None)
        new = {**settings(dict(values) if isinstance(values, list | tuple) else values), **settings(more)}
        changed = {k: v for k, v in new.items() if k not in self or self[k] != v}
        super().update(changed)
        if changed:
            self._changed(changed)

    def setdefaults(self, values: object, /) -> None:
        """Set the entries that are not there yet."""
        self.update({k: v for k, v in settings(values).items() if k not in self})

    def __setitem__(self, name: str, value: object) -> None:
        self.update({name: value})

    def __setattr__(self, name: str, value: object) -> None:
        self.update({name: value})

    def __reduce__(self) -> tuple[type, tuple[dict[str, Any]]]:
        """A copy is a plain mapping: what is done to it is not recorded."""
        return dict, (dict(self),)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        try:
            return self[name]
        except KeyError:
            there = listed(map(str, self)) or said("none")
            raise AttributeError(told("no entry {name!r}; there are {names}", name=name, names=there)) from None
