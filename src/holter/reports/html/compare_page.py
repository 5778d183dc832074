"""A comparison as one HTML file, made like the report's."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from holter.language import told
from holter.reports.comparison_words import DIFFERS, headline, interval
from holter.reports.html.compare_payload import payload
from holter.reports.html.page import document
from holter.reports.safe_text import safe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holter.compare import Comparison
    from holter.readers.base import Skipped

NAME = "compare"
"""The page of the front end that shows it."""


def page(comparison: Comparison, refused: Sequence[Skipped] = ()) -> str:
    """A comparison as one HTML file.

    Args:
        comparison: The comparison.
        refused: What could not be read.

    Raises:
        MissingBundleError: When the front end was not built.
    """
    said = payload(comparison, refused)
    return document(NAME, said, told(headline(comparison)), _without_script(comparison))


def _without_script(comparison: Comparison) -> str:
    """What a reader sees where scripts do not run."""
    parts = [f"<h1>{escape(told(headline(comparison)))}</h1>"]
    for pair in comparison.pairs:
        lines = [
            f"{comparison.signals[d.key].metric}: {interval(d.effect)}"
            for d in pair.differences
            if d.effect.verdict in DIFFERS
        ]
        lines += [told(r.says) for r in pair.regressions]
        items = "".join(f"<li>{escape(safe(line))}</li>" for line in lines)
        parts.append(f"<h2>{escape(safe(comparison.groups[pair.second].label))}</h2><ul>{items}</ul>")
    return "".join(parts)
