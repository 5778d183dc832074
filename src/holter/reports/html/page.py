"""The report: one HTML file that holds its data, its script and its style, and asks the network for nothing.

Everything from the log travels as JSON inside a data block and is put on the page as text. The Content-Security-Policy allows
the file's own script and style by their hashes and nothing else: no other script, no image, no request.
"""

from __future__ import annotations

import base64
import hashlib
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import orjson

from holter.compare.curves import place_on
from holter.errors import HolterError
from holter.language import LANGUAGES, SOURCE, Said, spoken, told, translated
from holter.reports.html.payload import payload
from holter.reports.safe_text import safe
from holter.reports.words import duration, not_read

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from holter.findings.diagnosis import Diagnosis
    from holter.readers.base import Skipped

ASSETS = "assets"
REPORT, MESSAGES = "report", "messages.json"


class MissingBundleError(HolterError, FileNotFoundError):
    """The front end was not built into this installation."""


def asset(name: str) -> str:
    """A file of the front end.

    Raises:
        MissingBundleError: When the package's build did not make it.
    """
    file = files("holter.reports") / ASSETS / name
    try:
        return file.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError) as error:
        raise MissingBundleError(
            told(
                "the page's {file} was not built into this installation. `pip install .` in Holter's source builds it "
                "(`pip install -e .` for an editable one).",
                file=name,
            )
        ) from error


def page(diagnoses: Sequence[Diagnosis], refused: Sequence[Skipped] = (), *, axis: str = "step") -> str:
    """The report over some runs as one HTML file.

    Args:
        diagnoses: One a run.
        refused: What could not be read.
        axis: What several runs are laid along at first, a key of `holter.compare.AXES`.

    Raises:
        AxisError: When a log does not count the axis.
        MissingBundleError: When the front end was not built.
    """
    for each in diagnoses:
        place_on(each.run, axis)
    title = ", ".join(safe(d.run.name) for d in diagnoses[:3]) + (" …" if len(diagnoses) > 3 else "")
    said = {**payload(diagnoses), "refused": [not_read(r) for r in refused], "along": axis}
    return document(REPORT, said, title, _without_script(diagnoses))


def document(name: str, said: Mapping[str, Any], title: str, without_script: str) -> str:
    """One HTML file that holds a page of the front end and its payload.

    Args:
        name: Which page; a script and a style sheet of that name.
        said: The payload; what the page says in every language is added to it.
        title: Title of the window.
        without_script: Markup that is shown where scripts do not run.

    Raises:
        MissingBundleError: When the front end was not built.
    """
    script, style = asset(f"{name}.js"), asset(f"{name}.css")
    whole = {**said, "language": spoken(), "languages": dict(LANGUAGES), "texts": texts(said, page=name)}
    policy = "; ".join(
        [
            "default-src 'none'",
            f"script-src '{_hash(script)}'",
            f"style-src '{_hash(style)}'",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    return f"""<!doctype html>
<html lang="{spoken()}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{escape(title)} · Holter</title>
<style>{style}</style>
</head>
<body>
<noscript>{without_script}</noscript>
<script type="application/json" id="holter-data">{embedded(whole)}</script>
<script>{script}</script>
</body>
</html>
"""


def texts(said: Any, *, page: str = "") -> dict[str, dict[str, str]]:  # noqa: ANN401 - anything that JSON holds
    """What a payload says, and a page by itself, in every language but English, as far as the catalogues hold it.

    Keys are what stands in the payload, sentences with their values among them.

    Args:
        said: The payload.
        page: The page of the front end whose own texts are among them; none by default.
    """
    wanted: dict[str, str] = {}
    for each in (*(own_texts()[page] if page else ()), *_strings(said)):
        if isinstance(each, Said) or each not in wanted:
            wanted[str(each)] = each
    others = [code for code in LANGUAGES if code != SOURCE]
    return {c: {m: other for m in sorted(wanted) if (other := translated(wanted[m], c)) != m} for c in others}


def own_texts() -> dict[str, list[str]]:
    """What every page of the front end says by itself, in English."""
    said: dict[str, list[str]] = orjson.loads(asset(MESSAGES))
    return said


def _strings(said: Any) -> Iterator[str]:  # noqa: ANN401
    if isinstance(said, str):
        yield said
    elif isinstance(said, dict | list | tuple):
        for each in said.values() if isinstance(said, dict) else said:
            yield from _strings(each)


def embedded(said: Any) -> str:  # noqa: ANN401 - anything that JSON holds
    """JSON that can stand between script tags: no ``<`` in it, so that nothing ends the block or opens another."""
    return (
        orjson.dumps(said)
        .decode("utf-8")
        .replace("<", "\\u003c")
        .replace("\u2028", "\\u2028")
        .replace("\u2029", "\\u2029")
    )


def _hash(source: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}"


def _without_script(diagnoses: Sequence[Diagnosis]) -> str:
    """What a reader sees where scripts do not run."""
    parts = []
    for each in diagnoses:
        lines = (f"{f.code} {f.detector}, {told(duration(f))}: {told(f.title)}" for f in each.findings)
        findings = "".join(f"<li>{escape(safe(line))}</li>" for line in lines)
        parts.append(
            f"<h1>{escape(safe(each.run.name))}: {escape(safe(told(each.verdict.title)))}</h1>"
            f"<p>{escape(safe(told(each.verdict.text)))}</p><ul>{findings}</ul>"
        )
    return "".join(parts)
