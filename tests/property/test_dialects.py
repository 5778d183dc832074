"""Promises of every dialect over any names."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from holter.dialects.registry import all_dialects, detect, is_ignored, meaning
from holter.signals import catalog

DIALECTS = st.sampled_from(sorted(all_dialects().values(), key=lambda d: d.name))
ANY_NAME = st.text(max_size=30)
SPOKEN = st.sampled_from(sorted({raw for d in all_dialects().values() for raw in d.row}))
NAMES = st.lists(st.one_of(ANY_NAME, SPOKEN), max_size=15)


@given(DIALECTS, st.one_of(ANY_NAME, SPOKEN))
def test_any_name_is_understood_or_not_but_never_raises(spoken, raw):
    found = meaning(spoken, raw)
    is_ignored(spoken, raw)
    assert found is None or catalog.find(found.full_key) is not None


@given(NAMES, st.randoms(use_true_random=False))
def test_order_of_names_does_not_change_the_dialect(names, random):
    shuffled = list(names)
    random.shuffle(shuffled)
    assert detect(names) is detect(shuffled)


@given(DIALECTS, st.lists(st.from_regex(r"zz_[a-z]{1,8}", fullmatch=True), max_size=8))
def test_metrics_of_the_user_do_not_change_the_dialect(spoken, strange):
    assert detect([*spoken.row, *strange]) is detect(spoken.row)


@given(DIALECTS, st.from_regex(r"[a-z]{1,8}(/[a-z]{1,8})?", fullmatch=True))
def test_a_meaning_does_not_depend_on_what_was_asked_before(spoken, raw):
    first = meaning(spoken, raw)
    meaning(spoken, f"eval_{raw}")
    assert meaning(spoken, raw) == first
