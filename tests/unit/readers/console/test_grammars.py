"""Every grammar reads a row as its framework prints it."""

import pytest

from holter.dialects.registry import all_dialects, detect
from holter.readers.base import Source
from holter.readers.console.grammar import Standing, all_grammars
from holter.readers.console.reader import CONSOLE
from holter.runs.canonical import canonical
from tests.unit.readers.console.samples import SAMPLES

GRAMMARS = all_grammars()


def rows_of(text, name="run.log"):
    (log,) = CONSOLE.read(Source(name, data=text.encode()))
    rows = [{} for _ in range(log.rows)]
    for key, column in log.columns.items():
        for row, value in zip(column.at.tolist(), column.values.tolist(), strict=True):
            rows[row][key] = value
    return rows


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: s.name)
def test_a_row_is_read_as_the_console_shows_it(sample):
    (row,) = rows_of(sample.text)
    assert {key: row.get(key) for key in sample.expected} == pytest.approx(sample.expected, rel=1e-12)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: s.name)
def test_rows_are_found_among_other_output_with_colours_and_windows_line_ends(sample):
    noise = "INFO 03-24 18:52:55 loading shard 3/7\n{'model': 'x', 'tp': 2}\n\nstep by step: the answer is 42\n"
    coloured = "\n".join(f"\x1b[36m{line}\x1b[0m" for line in sample.text.rstrip("\n").split("\n"))
    text = f"{noise}{coloured}\n{noise}{sample.text.rstrip()}\n{noise}"
    rows = rows_of(text.replace("\n", "\r\n"))
    assert len(rows) == 2
    for row in rows:
        assert {key: row.get(key) for key in sample.expected} == pytest.approx(sample.expected, rel=1e-12)


@pytest.mark.parametrize("sample", [s for s in SAMPLES if s.dialect], ids=lambda s: s.name)
def test_the_framework_is_told_by_what_its_console_says(sample):
    (log,) = CONSOLE.read(Source("run.log", data=sample.text.encode()))
    (run,) = canonical(log)
    assert run.dialect == sample.dialect
    assert detect(log.columns.keys()).name == sample.dialect


def test_every_grammar_has_a_sample_and_frameworks_that_exist():
    framed = {n for n, g in GRAMMARS.items() if g.standing < Standing.ANY}
    assert {s.grammar for s in SAMPLES} == framed
    assert {f for g in GRAMMARS.values() for f in g.frameworks} <= set(all_dialects())


def test_first_lines_hold_their_hint():
    """What is passed over for want of a hint must be no row."""
    for sample in SAMPLES:
        grammar = GRAMMARS[sample.grammar]
        assert any(grammar.hint in line for line in sample.text.splitlines() if grammar.begins.search(line))


def test_forms_that_any_text_may_have_are_read_last():
    assert {g.name for g in GRAMMARS.values() if g.standing is Standing.ANY} == {
        *("any-line", "any-bar", "any-block", "any-dict", "spread-dict"),
        *("trl-ratio-warning", "trl-kl-warning"),
    }
