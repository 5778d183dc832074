"""Files that no template covers for long: every value must come out of the other way of reading them as well."""

from __future__ import annotations

import random
import tracemalloc

import pytest

from holter.readers.tensorboard import stream, template, templates
from tests.unit.readers.tensorboard import writing as w
from tests.unit.readers.tensorboard.reading import read, series, steps

TAGS = [f"metric/{k}" for k in range(6)]


def shuffled(rng: random.Random, step: int) -> list[tuple[str, int]]:
    return [(tag, step) for tag in rng.sample(TAGS, len(TAGS))]


def with_gaps(rng: random.Random, step: int) -> list[tuple[str, int]]:
    return [(tag, step) for tag in TAGS if rng.random() < 0.7]


def with_evaluation(_: random.Random, step: int) -> list[tuple[str, int]]:
    return [(tag, step) for tag in (TAGS if step % 5 == 0 else TAGS[:4])]


def own_clocks(_: random.Random, step: int) -> list[tuple[str, int]]:
    return [(tag, step * 10 + n) for n, tag in enumerate(TAGS)]


def alternating(_: random.Random, step: int) -> list[tuple[str, int]]:
    return [(TAGS[step % 2], step)]


@pytest.mark.parametrize("pattern", [shuffled, with_gaps, with_evaluation, own_clocks, alternating])
def test_every_point_of_an_irregular_file_is_read(pattern):
    rng = random.Random(5)
    points = [(tag, step, float(rng.randrange(1000))) for s in range(400) for tag, step in pattern(rng, s)]
    log = read(b"".join(w.record(w.event(s, w.simple(t, v))) for t, s, v in points))
    for tag in {t for t, _, _ in points}:
        assert series(log, tag) == [(s, v) for t, s, v in points if t == tag]
    assert steps(log) == sorted({s for _, s, _ in points})


def test_layouts_that_never_end_are_not_learned_without_end(monkeypatch):
    learned = []
    whole = templates.Template.__init__
    monkeypatch.setattr(templates.Template, "__init__", lambda self, *args: learned.append(1) or whole(self, *args))
    rng = random.Random(5)
    layouts = [rng.sample(TAGS, 4) for _ in range(60)]
    rows = [(s, dict.fromkeys(layouts[s % 60], 1.0)) for s in range(600)]
    assert steps(read(w.scalars(rows))) == list(range(600))
    assert 1 <= len(learned) <= templates.MOST + 1


def test_a_regular_file_is_read_by_template(monkeypatch):
    """The way record by record is as right as the other, so only a count can tell that the fast way was taken."""
    one_by_one = []
    usual = stream.EventStream._record
    monkeypatch.setattr(
        stream.EventStream, "_record", lambda self, *args, **named: one_by_one.append(1) or usual(self, *args, **named)
    )
    rows = [(s, dict.fromkeys(TAGS, 1.0)) for s in range(1000)]
    assert steps(read(w.scalars(rows))) == list(range(1000))
    assert len(one_by_one) < 100


def test_records_that_are_long_for_their_number_need_no_tables_of_their_length():
    described = [w.simple("loss", float(s)) + w.part(9, w.part(3, b"x" * 20_000)) for s in range(40)]
    tracemalloc.start()
    try:
        log = read(b"".join(w.record(w.event(s, value)) for s, value in enumerate(described)))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert series(log, "loss") == [(s, float(s)) for s in range(40)]
    assert peak < 10 << 20


def test_steps_too_long_for_a_template_are_read(monkeypatch):
    monkeypatch.setattr(template, "_LONGEST_STEP", 200)
    rows = [(s, dict.fromkeys(TAGS, float(s))) for s in range(100)]
    log = read(w.scalars(rows))
    assert series(log, TAGS[-1]) == [(s, float(s)) for s in range(100)]
