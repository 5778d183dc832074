"""That every finding says everything in every language, and quotes what the log wrote as it is."""

import ast
import dataclasses
import re

import pytest

from holter import language
from holter.detectors.registry import all_detectors
from holter.findings.diagnosis import FROM_THE_FIRST_ROW, diagnose
from holter.language import Said
from holter.runs.load import load
from holter.signals.catalog import catalog
from holter.simulation.faults import FAULTS
from holter.simulation.run import simulate
from tests.detectors.cases import CASES
from tests.unit import findings_texts
from tests.unit.catalogues import written

OTHERS = [code for code in language.LANGUAGES if code != language.SOURCE]
OF_THE_DIAGNOSIS = ("step {step}", FROM_THE_FIRST_ROW)
"""What the diagnosis puts into advice."""
HOSTILE = "{metric}{0}{x!r}{:d}%s"
"""A metric's name that a second formatting would fall over or swallow."""


def texts(run):
    """Everything that the detectors say of a run, and where it stands."""
    diagnosis = diagnose(run)
    for f in diagnosis.findings:
        yield f"{f.detector} title", f.title
        yield f"{f.detector} clause", all_detectors()[f.detector].says or f.title
        yield from ((f"{f.detector} evidence", e.says) for e in f.evidence)
        yield from ((f"{f.detector} advice", a) for a in f.advice)
        yield from ((f"{f.detector} against", a) for a in f.against)
        yield from ((f"{f.detector} alternative", t) for a in f.alternatives for t in (a.says, a.check))
    yield from ((f"{u.detector} unchecked", u.why) for u in diagnosis.unchecked)


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """The texts of the detectors' case tables and of a made run of every fault, each once, by where they stand and what the
    catalogues have to hold of them."""
    folder = tmp_path_factory.mktemp("made")
    made = [simulate(k.algorithms[0], f, seed=3, rows=100).write(folder / f) for f, k in FAULTS.items()]
    runs = [case.run for case in CASES] + [load([log]).runs[0] for log in made]
    return {(where, *catalogued(text)): text for run in runs for where, text in texts(run)}


def catalogued(text):
    """The texts that the catalogues have to hold for a text to be told: its template, and those that are put into it."""
    yield text.template if isinstance(text, Said) else text
    if isinstance(text, Said):
        yield from (part for v in text.values.values() if isinstance(v, Said) for part in catalogued(v))


def worded(text):
    """Whether a template has words of its own, or only fields."""
    return bool(re.search(r"[A-Za-z]{2}", re.sub(r"{[^}]*}", "", text)))


@pytest.mark.parametrize("code", OTHERS)
def test_every_detector_says_everything_it_finds_in_every_language(code, said):
    assert {where.split()[0] for where, *_ in said} == set(all_detectors())
    held = written(code).keys()
    assert not {(where, t) for where, *templates in said for t in templates if worded(t) and t not in held}
    told = {key: told_in(text, code) for key, text in said.items()}
    assert not {key: text for key, text in told.items() if not re.search("[\u4e00-\u9fff]", text)}


def test_the_source_was_searched_for_everything_that_the_detectors_say(said):
    """Else a text could be missing in a catalogue and nobody would know before it is said."""
    known = {*findings_texts.finding_texts(), *(s.title for s in catalog().values()), *OF_THE_DIAGNOSIS}
    assert not {(where, t) for where, *templates in said for t in templates if worded(t) and t not in known}


@pytest.mark.parametrize("code", OTHERS)
def test_a_name_with_braces_is_quoted_as_it_is(code):
    quoted = 0
    for case in CASES:
        named = {key: dataclasses.replace(s, metric=HOSTILE) for key, s in case.run.series.items()}
        for where, text in texts(dataclasses.replace(case.run, series=named)):
            assert told_in(text, code).count(HOSTILE) == text.count(HOSTILE), where
            quoted += text.count(HOSTILE)
    assert quoted > 1000


def told_in(text, code):
    return language.translated(text, code)


@pytest.mark.parametrize(
    "source",
    [
        'quote(kl, [0], f"{kl.metric} is high")',
        'quote(kl, [0], "{} is high".format(kl.metric))',
        'self.finding(severity, confidence, "kl is high" + ending, run=run)',
        'Alternative(says="it is young", check="the rows" if few else f"the {n} rows")',
        'def check():\n    what = "1 row"\n    if n > 1:\n        what = f"{n} rows"\n    quote(kl, [0], what)',
        'def check():\n    title = "1 row"\n    title += "; it came back"\n    self.finding(severity, confidence, title)',
        'said(f"{n} rows")',
        'said("{metric} {moves}", metric=kl.metric, moves="rises" if up else "falls")',
    ],
)
def test_a_text_that_no_catalogue_could_hold_is_found(source):
    module = findings_texts.module_of(findings_texts.ROOT / "kl/kl_runaway.py", ast.parse(source))
    with pytest.raises(findings_texts.GluedTextError, match="kl_runaway"):
        list(findings_texts.texts(module))
