"""Raw names as exporters and people rewrite them, brought back to the forms the tables hold.

W&B's CSV export puts ``<run> -`` before a name, trackers turn ``/`` into ``_``, notebooks write blanks around it, and people
write ``KL (nats)`` or ``AvgResponseLen``. Nothing here knows a framework.
"""

from __future__ import annotations

import re
import unicodedata

_SIGNS = re.compile(r"[\W_]+")
_UNIT = re.compile(r"[(\[][^()\[\]]*[)\]]\s*$")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_EXPORT = re.compile(r".*\S\s+-\s+(?=\S)")
LONGEST = 500
"""Characters of the longest name that may mean anything. Data may be longer, and the patterns of many tables take their time."""


def snake(name: str) -> str:
    """Letters and digits of any script in lower case, everything between them one ``_``."""
    return _SIGNS.sub("_", name).strip("_").lower()


def spoken_snake(name: str) -> str:
    """Snake case of a name that a person chose: a unit in brackets at the end is dropped, humps are split.

    ``KL (nats)`` is ``kl``, ``AvgResponseLen`` is ``avg_response_len``; full-width signs count as their plain twins.
    """
    normal = unicodedata.normalize("NFKC", name)
    return snake(_HUMP.sub("_", _UNIT.sub("", normal) or normal))


def bracketed(name: str) -> str:
    """What stands in brackets at the end of a name: ``nats`` of ``KL (nats)``; empty where there are none."""
    found = _UNIT.search(unicodedata.normalize("NFKC", name))
    return found.group().strip().strip("()[]").strip() if found else ""


def plain(name: str) -> str:
    """The name without what exports add: the run before it (``run-7 - loss``), blanks around its slashes."""
    exported = _EXPORT.match(name)
    return "/".join(part.strip() for part in name[exported.end() if exported else 0 :].split("/"))


def loosened(pattern: str) -> str:
    """A pattern whose ``/`` match any separator that an exporter may have put there instead."""
    return pattern.replace("[^/]", ".").replace("/", "[^0-9A-Za-z]+")
