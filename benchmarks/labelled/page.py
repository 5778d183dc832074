"""The record of a measurement as Markdown: the tables that are printed, and `docs/accuracy.md` around them."""

from __future__ import annotations

from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

from holter.detectors.measured import Rate

from .made import FIRST_SEED
from .study import MADE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

FRAME = Path(__file__).with_name("frame.md")
WEAK = 0.9
"""Recall below which a made fault counts as a weak spot."""


def document(record: Mapping[str, Any]) -> str:
    """`docs/accuracy.md`: the prose of `frame.md` with the tables in it."""
    frame = Template(FRAME.read_text(encoding="utf-8"))
    made = record["made"]
    return frame.substitute(
        version=record["version"],
        first_seed=f"{FIRST_SEED:,}",
        healthy=f"{made['healthy']:,}",
        sick=f"{made['sick']:,}",
        detectors_number=len(record["detectors"]),
        sets=sets(record),
        courses=courses(record),
        faults=faults(record),
        families=families(record),
        watched=watched(record),
        detectors=detectors(record),
        sound=sound(record),
        weak=weak(record),
        missed=missed(record),
    )


def tables(record: Mapping[str, Any]) -> str:
    """What the benchmark prints."""
    parts = {
        "Sets": sets,
        "Made faults by how they begin": courses,
        "Made faults": faults,
        "Healthy made runs": families,
        "Healthy made runs, watched": watched,
        "Detectors": detectors,
        "Labelled healthy logs that were accused": sound,
        "Labelled sick logs that were missed": missed,
        "Weak spots": weak,
    }
    return "\n\n".join(f"## {title}\n\n{made(record)}" for title, made in parts.items())


def sets(record: Mapping[str, Any]) -> str:
    """One row a set."""
    rows = []
    for name, found in record["sets"].items():
        if found is None:
            rows.append([name, "absent", *[""] * 10])
            continue
        right, flagged = Rate(*found["right"]), Rate(*found["flagged"])
        early = found["early"]
        rows.append(
            [
                "made runs" if name == MADE else f"`{name}`",
                f"{found['runs']:,}",
                f"{right.of:,}",
                str(right),
                f"{flagged.of:,}",
                str(flagged),
                f"{right.share - flagged.share:+.2f}" if right.of and flagged.of else "-",
                _spread(found["onset"]),
                _spread(found["delay"]),
                f"{early[0]} of {early[1]:,}" if early[1] else "-",
                f"{found['contradicted']}, {found['errors']}",
                f"{found['seconds']:.3f}",
            ]
        )
    head = (
        "set",
        "runs",
        "sick",
        "right",
        "healthy",
        "flagged",
        "J",
        "onset error",
        "delay",
        "early",
        "contradicted, errors",
        "s/run",
    )
    return _table(head, rows)


def courses(record: Mapping[str, Any]) -> str:
    """Onset error and delay by how the fault unfolds."""
    words = {"jump": "at once", "ramp": "over some rows", "start": "from the first step on"}
    found = record["courses"]
    rows = [[words[c], _spread(found[c]["onset"]), _spread(found[c]["delay"])] for c in words if c in found]
    return _table(("the fault is there", "onset error", "delay"), rows)


def faults(record: Mapping[str, Any]) -> str:
    """One row a fault and algorithm."""
    rows = []
    for name, found in record["faults"].items():
        fault, algorithm = name.split("/")
        instead = ", ".join(f"{detector} {count}" for detector, count in found["instead"])
        right = Rate(*found["right"])
        rows.append([fault, algorithm, right.of, str(right), _spread(found["onset"]), _spread(found["delay"]), instead])
    return _table(
        ("fault", "algorithm", "runs", "rightly named", "onset error", "delay", "said instead, runs"), rows, "llrrrrl"
    )


def families(record: Mapping[str, Any]) -> str:
    """False alarms by family, algorithm and whether the log holds its configuration; and by family, those while it went on."""
    ever = record["ever"]
    rows = [[f, _counts(Rate(*c)), _counts(Rate(*ever["families"][f]))] for f, c in record["families"].items()]
    rows += [[f"all of {a.upper()}", _counts(Rate(*counts)), ""] for a, counts in record["algorithms"].items()]
    rows += [
        [f"all {said} configuration", _counts(Rate(*c["accused"])), ""] for said, c in record["configured"].items()
    ]
    rows.append(["**all**", _counts(Rate(*record["sets"][MADE]["flagged"])), _counts(Rate(*ever["all"]))])
    return _table(("healthy made runs", "accused at the end", "accused at any time"), rows)


def watched(record: Mapping[str, Any]) -> str:
    """Which detectors warned of healthy made runs while they went on, the most often first."""
    rate = Rate(*record["ever"]["all"])
    by = ", ".join(f"`{name}` in {count}" for name, count in record["ever"]["detectors"].items())
    return f"{rate.hits} of {rate.of:,} were accused at some time: {rate}" + (f"; by {by}." if by else ".")


def detectors(record: Mapping[str, Any]) -> str:
    """One row a detector."""
    rows = []
    for name, found in record["detectors"].items():
        accused, named, flagged = Rate(*found["accused"]), Rate(*found["named"]), Rate(*found["flagged"])
        low, high = accused.interval
        recall = ", ".join(f"{fault} {_recall(*counts)}" for fault, counts in found["recall"].items())
        rows.append(
            [
                f"`{name}`",
                f"{1000 * accused.share:.1f} ({1000 * low:.1f}-{1000 * high:.1f})" if accused.of else "-",
                f"{accused.of:,}",
                recall or "-",
                _spread(found["onset"]),
                _spread(found["delay"]),
                f"{named.hits} of {named.of}" if named.of else "-",
                f"{flagged.hits} of {flagged.of}" if flagged.of else "-",
            ]
        )
    head = (
        "detector",
        "false alarms per 1,000 healthy made runs",
        "could look",
        "recall by the made faults on which its name is right",
        "onset error",
        "delay",
        "labelled sick, its name right",
        "labelled healthy, accused",
    )
    return _table(head, rows, "lrrlrrrr")


def sound(record: Mapping[str, Any]) -> str:
    """Where detectors accused labelled healthy logs."""
    rows = [[f"`{s}/{i}`", ", ".join(names)] for s, f in _labelled(record) for i, names in f["accused"]]
    return _table(("log", "said"), rows) if rows else "None was accused."


def missed(record: Mapping[str, Any]) -> str:
    """Labelled sick logs that were not given a right name."""
    rows = [
        [f"`{s}/{i}`", label, ", ".join(names) or "nothing"]
        for s, f in _labelled(record)
        for i, label, names in f["missed"]
    ]
    return _table(("log", "label", "said at warning or above"), rows) if rows else "None was missed."


def weak(record: Mapping[str, Any]) -> str:
    """What to be careful with, in words, the worst first."""
    out = []
    dull = sorted((Rate(*found["right"]).share, name) for name, found in record["faults"].items())
    for share, name in dull:
        if share < WEAK:
            fault, algorithm = name.split("/")
            found = record["faults"][name]
            right = Rate(*found["right"])
            hinted = f"; {found['hinted']} of the {right.of - right.hits} missed as an info" if found["hinted"] else ""
            out.append(f"- {fault} in {algorithm.upper()} is rightly named in {right} only{hinted}.")
    loud = sorted(((Rate(*f["accused"]), n) for n, f in record["detectors"].items()), key=lambda x: (-x[0].hits, x[1]))
    out += [f"- `{name}` accuses healthy made runs: {rate.per_thousand()}." for rate, name in loud if rate.hits]
    noisy = sorted(((Rate(*c), n) for n, c in record["families"].items()), key=lambda x: (-x[0].hits, x[1]))
    out += [f"- Healthy runs of the family {n}: {r.hits} of {r.of} accused." for r, n in noisy if r.share > 0.03]
    out.append(f"- Of healthy made runs that were watched, {watched(record)}")
    for name, found in _labelled(record):
        early, planted = found["early"]
        if early:
            by = ", ".join(f"`{detector}` in {count}" for detector, count in found["early_by"])
            out.append(
                f"- In {early} of {planted} sick runs of `{name}` a warning came before the planted onset: {by}."
            )
    unproven = [f"`{n}`" for n, f in record["detectors"].items() if not f["recall"] and not f["named"][1]]
    if unproven:
        out.append(
            f"- No run, made or labelled, carries the trouble of {', '.join(unproven)}: their recall is not measured. "
            "Those of code HLT95x never warn: they explain what looks alarming and is not."
        )
    if blind := [f"`{n}`" for n, f in record["detectors"].items() if not f["accused"][1]]:
        out.append(
            f"- No healthy made run holds what {' and '.join(blind)} looks at: "
            "false alarms of that are not measured on made runs."
        )
    return "\n".join(out) if out else "None."


def _labelled(record: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    return [(name, found) for name, found in record["sets"].items() if name != MADE and found is not None]


def _counts(rate: Rate) -> str:
    return f"{rate.hits} of {rate.of:,}: {rate}" if rate.of else "none made"


def _recall(hits: int, runs: int, looked: int) -> str:
    """The rate over all runs, and in how many of them the log held what the detector needs, where that is not all."""
    return f"{Rate(hits, runs)}" + (f" [could look in {looked} of {runs}]" if looked < runs else "")


def _spread(pair: Sequence[float] | None) -> str:
    return "-" if pair is None else f"{pair[0]:g} / {pair[1]:g}"


def _table(head: Sequence[str], rows: Iterable[Sequence[object]], align: str = "") -> str:
    marks = {"l": "---", "r": "---:"}
    sides = align or "l" + "r" * (len(head) - 1)
    lines = [head, [marks[s] for s in sides], *rows]
    return "\n".join(f"| {' | '.join(str(cell) for cell in line)} |" for line in lines)
