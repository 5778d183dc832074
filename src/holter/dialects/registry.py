"""Every dialect, which of them a log speaks, and what a raw name means in it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from holter import dialects, discovery
from holter.dialects.base import Dialect, Fit, Name
from holter.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

GENERIC = "generic"
_ALWAYS_IGNORED = re.compile(
    r"step|_step|global_step|_runtime|_timestamp|timestamp|time|wall_time|recorded_at|_wandb(/.*)?"
)
_SIGNS = re.compile(r"[^0-9A-Za-z\u00c0-\uffff]+")


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a raw name means.

    Attributes:
        name: The table's entry.
        key: Canonical key with its labels filled in, without an ``eval/`` of its own.
        evaluation: Whether the raw name is an evaluation's.
    """

    name: Name
    key: str
    evaluation: bool


@cache
def all_dialects() -> dict[str, Dialect]:
    """All dialects by name."""
    return discovery.members(dialects, "dialects", lambda value: isinstance(value, Dialect), lambda d: d.name)


def dialect(name: str) -> Dialect:
    """The dialect called `name`.

    Raises:
        UnknownNameError: With the nearest known names.
    """
    try:
        return all_dialects()[name]
    except KeyError:
        raise UnknownNameError.of("dialect", name, all_dialects()) from None


def lineage(spoken: Dialect) -> Iterator[Dialect]:
    """The dialect, then those it inherits from."""
    current: Dialect | None = spoken
    while current is not None:
        yield current
        current = dialect(current.inherits) if current.inherits else None


def detect(names: Collection[str]) -> Dialect:
    """The dialect that a log with these raw names speaks; the generic one when no signature fits.

    Names whose separators an exporter flattened (``actor_ppo_kl``) are recognised by the same signatures.
    """
    ordered = sorted(all_dialects().values(), key=lambda d: (d.priority, d.name))
    for spoken in ordered:
        if any(s.matches(names) for s in spoken.signatures):
            return spoken
    return dialect(GENERIC)


def _snake(name: str) -> str:
    return _SIGNS.sub("_", name).strip("_").lower()


@cache
def _flattened(spoken_name: str) -> dict[str, str]:
    """Exact raw names of a lineage by their flattened form; a form that two names share is left out."""
    forms: dict[str, set[str]] = {}
    for table in lineage(dialect(spoken_name)):
        for name in table.names:
            if not name.pattern:
                forms.setdefault(_snake(name.raw), set()).add(name.raw)
    return {form: raws.pop() for form, raws in forms.items() if len(raws) == 1}


def _without_prefix(spoken: Dialect, raw: str) -> Iterator[tuple[str, bool]]:
    """The name as it is and without the prefixes the lineage knows, with whether it is an evaluation's."""
    for table in lineage(spoken):
        for prefix in table.eval_prefixes:
            if raw.startswith(prefix) and len(raw) > len(prefix):
                yield raw[len(prefix) :], True
    yield raw, False
    for table in lineage(spoken):
        for prefix in table.prefixes:
            if raw.startswith(prefix) and len(raw) > len(prefix):
                yield raw[len(prefix) :], False


def meaning(spoken: Dialect, raw: str) -> Meaning | None:
    """What `raw` means in a dialect, or None when the dialect does not know it.

    A name written with an evaluation prefix is looked up as it stands first: a framework's own ``eval/accuracy`` entry
    wins over "accuracy, evaluated".
    """
    for table in lineage(spoken):
        direct = table.own(_snake(raw) if table.snake else raw)
        if direct is not None:
            return Meaning(direct[0], direct[1], evaluation=False)
    for bare, evaluation in _without_prefix(spoken, raw):
        for table in lineage(spoken):
            found = table.own(_snake(bare) if table.snake else bare)
            if found is not None:
                return Meaning(found[0], found[1], evaluation)
    for bare, evaluation in _without_prefix(spoken, raw):
        exact = _flattened(spoken.name).get(_snake(bare))
        if exact is not None:
            for table in lineage(spoken):
                found = table.own(exact)
                if found is not None:
                    return Meaning(found[0], found[1], evaluation)
    return _evaluation(spoken, raw)


def _evaluation(spoken: Dialect, raw: str) -> Meaning | None:
    """An evaluation metric that the framework's own table does not name: a known quantity, or a score of that name."""
    for bare, evaluation in _without_prefix(spoken, raw):
        if not evaluation or is_ignored(spoken, raw):
            continue
        found = dialect(GENERIC).own(_snake(bare))
        if found is not None:
            return Meaning(found[0], found[1], evaluation=True)
        return Meaning(Name(raw, f"eval/{bare}", fit=Fit.CLOSE), f"eval/{bare}", evaluation=True)
    return None


def is_ignored(spoken: Dialect, raw: str) -> bool:
    """Whether the dialect knows `raw` as a name that carries no signal."""
    if _ALWAYS_IGNORED.fullmatch(raw):
        return True
    return any(table.ignores(bare) for bare, _ in _without_prefix(spoken, raw) for table in lineage(spoken))
