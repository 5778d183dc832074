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
from holter.language import Said, listed, phrase, said, text, told
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
    title = text(signal.title)
    parts = [f"# {title}", _identity(signal, asked), f"## {text('What it is')}", text(signal.what)]
    if signal.formula:
        parts.append(f"```text\n{signal.formula}\n```")
    if signal.sign:
        parts.append(text(signal.sign))
    parts += [f"## {text('In a healthy run')}", text(signal.healthy)]
    if signal.differs:
        parts += [f"## {text('Documentation and code')}", text(signal.differs)]
    parts += _section(text("Look at beside it"), [_link(catalog()[k]) for k in signal.moves_with if k in catalog()])
    parts += _section(text("The same quantity, measured otherwise"), [_link(s) for s in kin])
    parts += _section(text("Detectors that look at it"), [_detector_line(d) for d in detectors])
    parts += _section(
        text("What frameworks call it"),
        [
            text("- {what}: {says}").format(what=text(d.title), says=f"`{readable(n)}`{_remarks(n, signal)}")
            for d, n in names
        ],
    )
    parts += _legend(n for _, n in names)
    parts += _section(text("Sources"), [f"- {s}" for s in signal.sources])
    return Page(kind="signal", name=asked or signal.key, title=title, markdown=_joined(parts), facts=facts)


def concept_page(concept: str) -> Page:
    """The page of a concept that several signals measure."""
    known = concepts()[concept]
    detectors = _readers_of(concept)
    title = text(known[0].title)
    measured = text(
        "`{concept}` is measured by {n} signals. Detectors take the first that a log holds, with its unit."
    ).format(concept=concept, n=len(known))
    parts = [f"# {title}", measured]
    parts += _section(
        text("Signals"), [text("- {what}: {says}").format(what=_named(s), says=text(s.what)) for s in known]
    )
    parts += _section(text("Detectors that look at it"), [_detector_line(d) for d in detectors])
    parts.append(text("`holter explain {key}` says more of one of them.").format(key=known[0].key))
    facts = {"concept": concept, "signals": [s.key for s in known], "detectors": [d.name for d in detectors]}
    return Page(kind="concept", name=concept, title=title, markdown=_joined(parts), facts=facts)


def name_page(raw: str, meanings: Mapping[str, Meaning]) -> Page:
    """The page of a raw name, by what it means in each of the dialects that have it."""
    parts = [f"# {raw}"]
    lines, facts = [], []
    for name, found in meanings.items():
        looked_up = find(found.key)
        title = text(looked_up[0].title) if looked_up else found.key
        remarks = _remarks(found.name, looked_up[0] if looked_up else None)
        says = text("{key}, {title}").format(key=f"`{found.full_key}`", title=title) + remarks
        lines.append(text("- {what}: {says}").format(what=text(all_dialects()[name].title), says=says))
        facts.append({"dialect": name, "key": found.full_key, **_name_facts(found.name)})
    parts += [text("What frameworks mean by it:"), "\n".join(lines)]
    keys = dict.fromkeys(found.key for found in meanings.values())
    parts += [text("`holter explain {key}` says what it is, and what is healthy.").format(key=key) for key in keys]
    return Page(kind="name", name=raw, title=raw, markdown=_joined(parts), facts={"meanings": facts})


def dialect_page(spoken: Dialect) -> Page:
    """The page of a dialect: what the framework logs, what it never logs, its traps."""
    absent = never(spoken)
    parts = [
        f"# {text(spoken.title)}",
        "\n".join(
            [
                text("- dialect: {name}").format(name=f"`{spoken.name}`"),
                text("- checked against: {version}").format(version=spoken.spoken_by or text("no particular version")),
                text("- one step: {axis}").format(axis=text(spoken.axis)),
                text("- a null: {meaning}").format(
                    meaning=text("a NaN") if spoken.null == "nan" else text("not computed in that row")
                ),
            ]
        ),
    ]
    if spoken.note:
        parts += [f"## {text('Traps')}", text(spoken.note)]
    tables = list(lineage(spoken))
    for table in tables:
        shared = text("What it shares with {title} (`{name}`)").format(title=text(table.title), name=table.name)
        title = text("What it logs") if table is spoken else shared
        parts += _section(title, [_entry(n) for n in table.names])
    parts += _legend(n for table in tables for n in table.names)
    parts += _section(text("What it never logs"), [f"- {_concept_words(c)}" for c in absent])
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
    return Page(kind="dialect", name=spoken.name, title=text(spoken.title), markdown=_joined(parts), facts=facts)


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
    return Page(kind="detector", name=detector.name, title=text(summary(detector)), markdown=markdown, facts=facts)


def reader_page(reader: Reader) -> Page:
    """The page of a reader: what its class and its module say of the format."""
    title = text(reader.title)
    parts = [f"# {title}", text("- reader: {name}").format(name=f"`{reader.name}`"), *map(text, described(reader))]
    return Page(kind="reader", name=reader.name, title=title, markdown=_joined(parts))


def described(reader: Reader) -> list[str]:
    """What a reader's module and class say of the format, in English."""
    said = [inspect.getdoc(inspect.getmodule(type(reader))), type(reader).__doc__ and inspect.getdoc(type(reader))]
    return [each for each in said if each]


def _in_language(page: str) -> str:
    """A detector's page, each section in the language spoken where the catalogue holds it."""
    title, said = page.split("\n## ", 1)[0].strip().split("\n\n", 1)
    parts = (f"## {text(name)}\n\n{told(section(body))}" for name, body in sections(page))
    return "\n\n".join([title, text(said), *parts])


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
    key = text("- key: {key}").format(key=f"`{signal.key}`")
    if asked and asked != signal.key:
        key += text(", asked as {name}").format(name=f"`{asked}`")
    lines = [
        key,
        text("- concept: {concept}").format(concept=f"`{signal.concept}`"),
        text("- unit: {unit}").format(unit=text(unit_words(signal.unit))),
        text("- range: {range}").format(range=text(value_range(signal))),
    ]
    if signal.estimator is not None:
        lines.append(text("- estimator: {estimator}").format(estimator=text(ESTIMATORS[signal.estimator])))
    if signal.reduction is not None:
        lines.append(text("- one value: {reduction}").format(reduction=text(REDUCTIONS[signal.reduction])))
    return "\n".join(lines)


def _entry(name: Name) -> str:
    """One line of a dialect's page."""
    looked_up = find(re.sub(r"\{(\w+)\}", r"\1", name.key))
    says = f"`{name.key}`{_remarks(name, looked_up[0] if looked_up else None)}"
    return text("- {what}: {says}").format(what=f"`{readable(name)}`", says=says)


def _remarks(name: Name, signal: Signal | None) -> str:
    """How a table's entry differs from the plain case, in brackets, and its note."""
    said = [text("value = {formula}").format(formula=converted)] if (converted := conversion(name)) else []
    if name.unit is not None and (signal is None or name.unit != signal.unit):
        said.append(text(unit_words(name.unit)))
    if name.estimator is not None and (signal is None or name.estimator != signal.estimator):
        said.append(str(name.estimator))
    if name.reduction is not None and (signal is None or name.reduction != signal.reduction):
        said.append(text(REDUCTIONS[name.reduction]))
    if name.since or name.until:
        said.append(_versions(name.since, name.until))
    if name.fit is not Fit.EXACT:
        said.append(text(str(name.fit)))
    aside = text(" ({remarks})").format(remarks=text("; ").join(said)) if said else ""
    return aside + (text(". {note}").format(note=text(name.note)) if name.note else "")


def _legend(names: Iterable[Name]) -> list[str]:
    """What the fits mean that a list of names mentions."""
    mentioned = {n.fit for n in names}
    words = [
        text("*{fit}*: {meaning}.").format(fit=text(str(fit)), meaning=text(meaning))
        for fit, meaning in FITS.items()
        if fit in mentioned
    ]
    return [" ".join(words)] if words else []


def _versions(since: str, until: str) -> str:
    if since and until:
        return f"{since} - {until}"
    return text("from {version}").format(version=since) if since else text("up to {version}").format(version=until)


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
    return text("{title} ({aside})").format(title=told(known[0].phrase), aside=f"`{concept}`")


def _named(signal: Signal) -> str:
    """The key with its unit."""
    return text("{title} ({aside})").format(title=f"`{signal.key}`", aside=text(unit_words(signal.unit)))


def _link(signal: Signal) -> str:
    titled = text("{title} ({aside})").format(title=told(signal.phrase), aside=text(unit_words(signal.unit)))
    return text("- {what}: {says}").format(what=f"`{signal.key}`", says=titled)


def _detector_line(detector: type[Detector]) -> str:
    named = text("{title} ({aside})").format(title=f"`{detector.name}`", aside=detector.code)
    return text("- {what}: {says}").format(what=named, says=text(summary(detector)))


def _section(title: str, lines: Iterable[str]) -> list[str]:
    """Heading and list, or nothing when the list is empty."""
    listed = list(lines)
    return [f"## {title}", "\n".join(listed)] if listed else []


def _joined(parts: Iterable[str]) -> str:
    return "\n\n".join(parts) + "\n"
