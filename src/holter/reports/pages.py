"""Pages about what Holter knows: a signal, a concept, a dialect, a detector, a reader.

A page is a name, its facts and its Markdown. The terminal, the website and ``--format json`` show the same page, so that what
is said of a metric is said once. Titles and Markdown are in the language spoken, facts are for scripts and stay in English.
"""

from __future__ import annotations

import inspect
import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from holter.detectors.measured import measurement
from holter.detectors.measured import section as measured_section
from holter.detectors.registry import all_detectors
from holter.dialects.base import Fit
from holter.dialects.registry import GENERIC, all_dialects, lineage, never
from holter.language import Said, listed, phrase, said, told
from holter.signals.base import Estimator, Reduction, Unit
from holter.signals.catalog import catalog, concepts, find

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from holter.detectors.base import Detector
    from holter.dialects.base import Dialect, Name
    from holter.dialects.registry import Meaning
    from holter.readers.base import Reader
    from holter.signals.base import Signal

ESTIMATORS = {
    Estimator.K1: "k1, the mean of d = log p - log q: unbiased, may be negative",
    Estimator.K2: "k2, half the mean of d^2: biased, never negative",
    Estimator.K3: "k3, the mean of exp(-d) - 1 + d: unbiased, never negative, with a heavy right tail",
    Estimator.ABS: "mean absolute difference",
    Estimator.EXACT: "exact, from the whole distribution over the vocabulary",
    Estimator.MONTE_CARLO: "one sample: -log p of the sampled token",
}
REDUCTIONS = {
    Reduction.TOKEN: "mean over all completion tokens of the batch",
    Reduction.SEQUENCE: "mean over sequences of their token means",
    Reduction.SEQUENCE_SUM: "mean over sequences of the sum over their tokens",
    Reduction.PADDED: "mean over the padded batch, padding counted",
    Reduction.MICRO_BATCH: "mean over micro-batches, each weighing the same",
    Reduction.BATCH: "mean over samples",
    Reduction.GROUP: "mean over prompt groups",
    Reduction.RANK: "the local process only",
    Reduction.LAST: "the last mini-batch or step only",
    Reduction.SUM: "sum",
    Reduction.MIN: "smallest of the batch",
    Reduction.MAX: "largest of the batch",
    Reduction.STD: "standard deviation",
    Reduction.COUNTER: "a running total or a position",
}
FITS = {
    Fit.CLOSE: "the same quantity by another estimator or reduction; compare within a run only",
    Fit.PROXY: "a related quantity; good for trends, not for limits",
}
_NAMED_GROUP = re.compile(r"\(\?P<(\w+)>")


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What is known of one thing.

    Attributes:
        kind: ``signal``, ``concept``, ``name``, ``dialect``, ``detector`` or ``reader``.
        name: What it is called.
        title: The same in words, one line.
        markdown: The page.
        facts: The same for scripts, ready for JSON.
    """

    kind: str
    name: str
    title: str
    markdown: str
    facts: Mapping[str, Any] = field(default_factory=dict)


def summary(detector: type[Detector]) -> str:
    """The first line of a detector's page."""
    return (inspect.getdoc(inspect.getmodule(detector)) or "").split("\n", 1)[0].strip()


def readable(name: Name) -> str:
    """A table's raw name as people would write it: labels in braces instead of groups of a regular expression."""
    if not name.pattern:
        return name.raw
    text = name.raw
    while (group := _NAMED_GROUP.search(text)) is not None:
        depth, end, quoted = 1, group.end(), False
        while end < len(text) and depth:
            if not quoted and text[end] in "()":
                depth += 1 if text[end] == "(" else -1
            quoted = text[end] == "\\" and not quoted
            end += 1
        text = f"{text[: group.start()]}{{{group[1]}}}{text[end:]}"
    return re.sub(r"\\([^\w\s])", r"\1", text)


def conversion(name: Name) -> str:
    """How the framework's number becomes the signal's: ``1 - raw``, ``raw^2``; empty where it is taken as it is."""
    raw = "raw" if name.power == 1.0 else f"raw^{name.power:.10g}"
    if name.scale == 1.0:
        scaled = raw
    else:
        scaled = f"-{raw}" if name.scale == -1.0 else f"{name.scale:.10g} * {raw}"
    if name.offset:
        sign = "-" if scaled.startswith("-") else "+"
        scaled = f"{name.offset:.10g} {sign} {scaled.removeprefix('-')}"
    return "" if scaled == "raw" else scaled


def sections(page: str) -> list[tuple[str, str]]:
    """Headings of the second level and what stands below them."""
    parts = (part.partition("\n") for part in page.split("\n## ")[1:])
    return [(title.strip(), body.strip()) for title, _, body in parts]


def unit_words(unit: Unit) -> str:
    """The unit as people read it, in English; a plain number has none."""
    return "no unit" if unit is Unit.NUMBER else str(unit)


def value_range(signal: Signal) -> str:
    """The values that make sense, in English words."""
    low, high = signal.low, signal.high
    if math.isinf(low) and math.isinf(high):
        return "any number"
    if math.isinf(high):
        return f"{low:g} or more"
    return f"{high:g} or less" if math.isinf(low) else f"{low:g} to {high:g}"


def signal_page(signal: Signal, asked: str = "") -> Page:
    """The page of a signal.

    Args:
        signal: The signal.
        asked: The key as the user wrote it, where labels are filled in: ``rewards/accuracy/mean``.
    """
    names = [(d, n) for d in _frameworks() for n in d.names if _is(n, signal)]
    kin = [s for s in concepts()[signal.concept] if s.key != signal.key]
    detectors = _readers_of(signal.concept)
    facts = {
        "key": signal.key,
        "concept": signal.concept,
        "unit": str(signal.unit),
        "estimator": _text(signal.estimator),
        "reduction": _text(signal.reduction),
        "low": None if math.isinf(signal.low) else signal.low,
        "high": None if math.isinf(signal.high) else signal.high,
        "what": signal.what,
        "formula": signal.formula,
        "sign": signal.sign,
        "healthy": signal.healthy,
        "differs": signal.differs,
        "moves_with": list(signal.moves_with),
        "same_concept": [s.key for s in kin],
        "detectors": [d.name for d in detectors],
        "names": [{"dialect": d.name, **_name_facts(n)} for d, n in names],
        "sources": list(signal.sources),
    }
    title = told(signal.title)
    parts = [f"# {title}", _identity(signal, asked), f"## {told('What it is')}", told(signal.what)]
    if signal.formula:
        parts.append(f"```text\n{signal.formula}\n```")
    if signal.sign:
        parts.append(told(signal.sign))
    parts += [f"## {told('In a healthy run')}", told(signal.healthy)]
    if signal.differs:
        parts += [f"## {told('Documentation and code')}", told(signal.differs)]
    parts += _section(told("Look at beside it"), [_link(catalog()[k]) for k in signal.moves_with if k in catalog()])
    parts += _section(told("The same quantity, measured otherwise"), [_link(s) for s in kin])
    parts += _section(told("Detectors that look at it"), [_detector_line(d) for d in detectors])
    parts += _section(
        told("What frameworks call it"),
        [told("- {what}: {says}", what=told(d.title), says=f"`{readable(n)}`{_remarks(n, signal)}") for d, n in names],
    )
    parts += _legend(n for _, n in names)
    parts += _section(told("Sources"), [f"- {s}" for s in signal.sources])
    return Page(kind="signal", name=asked or signal.key, title=title, markdown=_joined(parts), facts=facts)


def concept_page(concept: str) -> Page:
    """The page of a concept that several signals measure."""
    known = concepts()[concept]
    detectors = _readers_of(concept)
    title = told(known[0].title)
    measured = told(
        "`{concept}` is measured by {n} signals. Detectors take the first that a log holds, with its unit.",
        concept=concept,
        n=len(known),
    )
    parts = [f"# {title}", measured]
    parts += _section(told("Signals"), [told("- {what}: {says}", what=_named(s), says=told(s.what)) for s in known])
    parts += _section(told("Detectors that look at it"), [_detector_line(d) for d in detectors])
    parts.append(told("`holter explain {key}` says more of one of them.", key=known[0].key))
    facts = {"concept": concept, "signals": [s.key for s in known], "detectors": [d.name for d in detectors]}
    return Page(kind="concept", name=concept, title=title, markdown=_joined(parts), facts=facts)


def name_page(raw: str, meanings: Mapping[str, Meaning]) -> Page:
    """The page of a raw name, by what it means in each of the dialects that have it."""
    parts = [f"# {raw}"]
    lines, facts = [], []
    for name, found in meanings.items():
        looked_up = find(found.key)
        title = told(looked_up[0].title) if looked_up else found.key
        remarks = _remarks(found.name, looked_up[0] if looked_up else None)
        says = told("{key}, {title}", key=f"`{found.full_key}`", title=title) + remarks
        lines.append(told("- {what}: {says}", what=told(all_dialects()[name].title), says=says))
        facts.append({"dialect": name, "key": found.full_key, **_name_facts(found.name)})
    parts += [told("What frameworks mean by it:"), "\n".join(lines)]
    keys = dict.fromkeys(found.key for found in meanings.values())
    parts += [told("`holter explain {key}` says what it is, and what is healthy.", key=key) for key in keys]
    return Page(kind="name", name=raw, title=raw, markdown=_joined(parts), facts={"meanings": facts})


def dialect_page(spoken: Dialect) -> Page:
    """The page of a dialect: what the framework logs, what it never logs, its traps."""
    absent = never(spoken)
    parts = [
        f"# {told(spoken.title)}",
        "\n".join(
            [
                told("- dialect: {name}", name=f"`{spoken.name}`"),
                told("- checked against: {version}", version=spoken.spoken_by or told("no particular version")),
                told("- one step: {axis}", axis=told(spoken.axis)),
                told(
                    "- a null: {meaning}",
                    meaning=told("a NaN") if spoken.null == "nan" else told("not computed in that row"),
                ),
            ]
        ),
    ]
    if spoken.note:
        parts += [f"## {told('Traps')}", told(spoken.note)]
    tables = list(lineage(spoken))
    for table in tables:
        shared = told("What it shares with {title} (`{name}`)", title=told(table.title), name=table.name)
        title = told("What it logs") if table is spoken else shared
        parts += _section(title, [_entry(n) for n in table.names])
    parts += _legend(n for table in tables for n in table.names)
    parts += _section(told("What it never logs"), [f"- {_concept_words(c)}" for c in absent])
    facts = {
        "dialect": spoken.name,
        "versions": spoken.spoken_by,
        "axis": spoken.axis,
        "inherits": spoken.inherits,
        "null": str(spoken.null),
        "names": [{"dialect": t.name, "key": n.key, **_name_facts(n)} for t in tables for n in t.names],
        "never": list(absent),
        "note": spoken.note,
    }
    return Page(kind="dialect", name=spoken.name, title=told(spoken.title), markdown=_joined(parts), facts=facts)


def detector_page(detector: type[Detector]) -> Page:
    """The page of a detector: the docstring of its module, what it reads, its limits, how often it is right and wrong."""
    facts = {
        "code": detector.code,
        "since": detector.since,
        "needs": [list(need.concepts) for need in detector.needs],
        "uses": list(detector.uses),
        "measured": measurement()["detectors"].get(detector.name),
    }
    markdown = _joined([_in_language(detector.page()), measured_section(detector)])
    return Page(kind="detector", name=detector.name, title=told(summary(detector)), markdown=markdown, facts=facts)


def reader_page(reader: Reader) -> Page:
    """The page of a reader: what its class and its module say of the format."""
    title = told(reader.title)
    parts = [f"# {title}", told("- reader: {name}", name=f"`{reader.name}`"), *map(told, described(reader))]
    return Page(kind="reader", name=reader.name, title=title, markdown=_joined(parts))


def described(reader: Reader) -> list[str]:
    """What a reader's module and class say of the format, in English."""
    said = [inspect.getdoc(inspect.getmodule(type(reader))), type(reader).__doc__ and inspect.getdoc(type(reader))]
    return [each for each in said if each]


def _in_language(page: str) -> str:
    """A detector's page, each section in the language spoken where the catalogue holds it."""
    title, said = page.split("\n## ", 1)[0].strip().split("\n\n", 1)
    parts = (f"## {told(name)}\n\n{told(section(body))}" for name, body in sections(page))
    return "\n\n".join([title, told(said), *parts])


def section(body: str) -> str:
    """What stands below a heading of a detector's page, as `told` says it: a table cell by cell."""
    if not body.startswith("|"):
        return body
    rows = (row.removeprefix("| ").removesuffix(" |").split(" | ") for row in body.split("\n"))
    lines = (_row(cells) if len(cells) > 1 else cells[0] for cells in rows)
    return listed(lines, "\n")


def _row(cells: Sequence[str]) -> Said:
    return said("| {cells} |", cells=listed(map(phrase, cells), " | "))


def _frameworks() -> list[Dialect]:
    """The dialects that a framework speaks; the generic table holds guesses, not names."""
    return sorted((d for d in all_dialects().values() if d.name != GENERIC), key=lambda d: d.title.lower())


def _readers_of(concept: str) -> list[type[Detector]]:
    return [
        d for d in all_detectors().values() if concept in d.uses or any(concept in need.concepts for need in d.needs)
    ]


def _is(name: Name, signal: Signal) -> bool:
    """Whether a table's entry stands for this signal, labels written in or not."""
    if name.key == signal.key:
        return True
    found = find(re.sub(r"\{(\w+)\}", r"\1", name.key))
    return found is not None and found[0] is signal


def _identity(signal: Signal, asked: str) -> str:
    key = told("- key: {key}", key=f"`{signal.key}`")
    if asked and asked != signal.key:
        key += told(", asked as {name}", name=f"`{asked}`")
    lines = [
        key,
        told("- concept: {concept}", concept=f"`{signal.concept}`"),
        told("- unit: {unit}", unit=told(unit_words(signal.unit))),
        told("- range: {range}", range=told(value_range(signal))),
    ]
    if signal.estimator is not None:
        lines.append(told("- estimator: {estimator}", estimator=told(ESTIMATORS[signal.estimator])))
    if signal.reduction is not None:
        lines.append(told("- one value: {reduction}", reduction=told(REDUCTIONS[signal.reduction])))
    return "\n".join(lines)


def _entry(name: Name) -> str:
    """One line of a dialect's page."""
    looked_up = find(re.sub(r"\{(\w+)\}", r"\1", name.key))
    says = f"`{name.key}`{_remarks(name, looked_up[0] if looked_up else None)}"
    return told("- {what}: {says}", what=f"`{readable(name)}`", says=says)


def _remarks(name: Name, signal: Signal | None) -> str:
    """How a table's entry differs from the plain case, in brackets, and its note."""
    said = [told("value = {formula}", formula=converted)] if (converted := conversion(name)) else []
    if name.unit is not None and (signal is None or name.unit != signal.unit):
        said.append(told(unit_words(name.unit)))
    if name.estimator is not None and (signal is None or name.estimator != signal.estimator):
        said.append(str(name.estimator))
    if name.reduction is not None and (signal is None or name.reduction != signal.reduction):
        said.append(told(REDUCTIONS[name.reduction]))
    if name.since or name.until:
        said.append(_versions(name.since, name.until))
    if name.fit is not Fit.EXACT:
        said.append(told(str(name.fit)))
    aside = told(" ({remarks})", remarks=told("; ").join(said)) if said else ""
    return aside + (told(". {note}", note=told(name.note)) if name.note else "")


def _legend(names: Iterable[Name]) -> list[str]:
    """What the fits mean that a list of names mentions."""
    mentioned = {n.fit for n in names}
    words = [
        told("*{fit}*: {meaning}.", fit=told(str(fit)), meaning=told(meaning))
        for fit, meaning in FITS.items()
        if fit in mentioned
    ]
    return [" ".join(words)] if words else []


def _versions(since: str, until: str) -> str:
    if since and until:
        return f"{since} - {until}"
    return told("from {version}", version=since) if since else told("up to {version}", version=until)


def _name_facts(name: Name) -> dict[str, Any]:
    return {
        "raw": name.raw,
        "pattern": name.pattern,
        "scale": name.scale,
        "power": name.power,
        "offset": name.offset,
        "unit": _text(name.unit),
        "estimator": _text(name.estimator),
        "reduction": _text(name.reduction),
        "fit": str(name.fit),
        "since": name.since,
        "until": name.until,
        "note": name.note,
    }


def _text(value: object | None) -> str | None:
    return None if value is None else str(value)


def _concept_words(concept: str) -> str:
    known = concepts().get(concept)
    if not known:
        return concept
    return told("{title} ({aside})", title=told(known[0].phrase), aside=f"`{concept}`")


def _named(signal: Signal) -> str:
    """The key with its unit."""
    return told("{title} ({aside})", title=f"`{signal.key}`", aside=told(unit_words(signal.unit)))


def _link(signal: Signal) -> str:
    titled = told("{title} ({aside})", title=told(signal.phrase), aside=told(unit_words(signal.unit)))
    return told("- {what}: {says}", what=f"`{signal.key}`", says=titled)


def _detector_line(detector: type[Detector]) -> str:
    named = told("{title} ({aside})", title=f"`{detector.name}`", aside=detector.code)
    return told("- {what}: {says}", what=named, says=told(summary(detector)))


def _section(title: str, lines: Iterable[str]) -> list[str]:
    """Heading and list, or nothing when the list is empty."""
    listed = list(lines)
    return [f"## {title}", "\n".join(listed)] if listed else []


def _joined(parts: Iterable[str]) -> str:
    return "\n\n".join(parts) + "\n"
