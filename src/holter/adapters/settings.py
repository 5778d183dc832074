"""Frameworks' configuration objects as plain settings."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any


def plain(found: Any) -> Any:  # noqa: ANN401 - whatever a framework calls its configuration
    """Namespaces and mappings, nested, as mappings; anything else as it is."""
    if isinstance(found, Namespace | SimpleNamespace):
        found = vars(found)
    if isinstance(found, Mapping):
        return {str(k): plain(v) for k, v in found.items()}
    return found
