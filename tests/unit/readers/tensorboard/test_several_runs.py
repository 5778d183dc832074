"""What one run taught saves time in the next one, and changes nothing of what is read."""

import pytest

from holter.readers.tensorboard import gathered, stream
from tests.unit.readers.tensorboard import writing as w
from tests.unit.readers.tensorboard.reading import everything, read, steps

TAGS = [f"train/metric_{k}" for k in range(20)]
REGULAR = w.scalars([(s, {tag: s + k / 8 for k, tag in enumerate(TAGS)}) for s in range(50)])


@pytest.fixture(autouse=True)
def nothing_learned():
    gathered._spare.clear()


def test_a_second_run_with_the_same_tags_is_read_by_template_but_for_step_0(monkeypatch):
    first = read(REGULAR)
    one_by_one = []
    usual = stream.EventStream._record
    monkeypatch.setattr(
        stream.EventStream, "_record", lambda self, *args, **named: one_by_one.append(1) or usual(self, *args, **named)
    )
    second = read(REGULAR)
    assert everything(second) == everything(first)
    assert list(second.columns) == list(first.columns)
    assert len(one_by_one) < 2 * len(TAGS)


def test_a_tag_that_is_no_scalar_in_the_next_run_is_left_aside_there():
    curve = w.part(9, w.part(1, w.part(1, b"pr_curves")))
    rows = [w.record(w.event(0, w.simple(TAGS[0], 1.0) + curve))]
    rows += [w.record(w.event(s, w.simple(TAGS[0], 1.0), w.simple("loss", 0.5))) for s in range(1, 5)]
    rows += [w.record(w.event(s, w.simple(TAGS[0], 1.0))) for s in range(5, 9)]
    alone = read(b"".join(rows))
    read(REGULAR)
    after = read(b"".join(rows))
    assert TAGS[0] not in alone.columns
    assert everything(after) == everything(alone)
    assert after.notes == alone.notes


def test_a_run_of_other_layouts_is_learned_anew_whatever_came_before(monkeypatch):
    for k in range(40):
        read(w.scalars([(s, {f"{k}/{tag}": 1.0 for tag in TAGS[: 1 + k % 9]}) for s in range(4)]))
    one_by_one = []
    usual = stream.EventStream._record
    monkeypatch.setattr(
        stream.EventStream, "_record", lambda self, *args, **named: one_by_one.append(1) or usual(self, *args, **named)
    )
    assert steps(read(REGULAR)) == list(range(50))
    assert len(one_by_one) < 200
