"""The files of the dashboard's page: a shell without script or style of its own, and the front end's bundle."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from holter.language import spoken, told
from holter.reports.html.page import asset

if TYPE_CHECKING:
    from collections.abc import Mapping

SHELL = """<!doctype html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>Holter</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/assets/dashboard.css">
<script src="/assets/dashboard.js" defer></script>
</head>
<body>
<noscript>{without_script}</noscript>
</body>
</html>
"""
BUNDLE = {"dashboard.js": "text/javascript", "dashboard.css": "text/css"}


def assets() -> Mapping[str, tuple[str, bytes]]:
    """Files by name: media type and bytes.

    Raises:
        MissingBundleError: When the front end was not built into this installation.
    """
    without_script = told("The dashboard draws with a script. `holter check` and `holter report` need none.")
    shell = SHELL.format(language=spoken(), without_script=escape(without_script))
    bundle = {name: (kind, asset(name).encode()) for name, kind in BUNDLE.items()}
    return {"index.html": ("text/html", shell.encode()), **bundle}
