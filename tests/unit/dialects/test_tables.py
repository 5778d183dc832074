"""Rules that every dialect's table keeps, installed plug-ins included."""

from __future__ import annotations

import re
import re._constants as sre
import re._parser as sre_parser
import sys

import pytest

from holter.dialects.registry import all_dialects, detect, is_ignored, lineage, meaning
from holter.signals import catalog

DIALECTS = sorted(all_dialects().values(), key=lambda d: d.name)
EACH = pytest.mark.parametrize("spoken", DIALECTS, ids=lambda d: d.name)


def example(pattern: str) -> str:
    """A string that the pattern matches in full, for patterns as simple as the tables'."""

    def made(parts) -> str:
        out = ""
        for kind, what in parts:
            if kind is sre.LITERAL:
                out += chr(what)
            elif kind in (sre.ANY, sre.NOT_LITERAL):
                out += "x"
            elif kind is sre.IN:
                first, detail = what[0]
                if first is sre.LITERAL:
                    out += chr(detail)
                elif first is sre.RANGE:
                    out += chr(detail[0])
                else:
                    out += "7" if detail is sre.CATEGORY_DIGIT else "x"
            elif kind in (sre.MAX_REPEAT, sre.MIN_REPEAT):
                out += made(what[2]) * max(what[0], 1 if what[1] else 0)
            elif kind is sre.SUBPATTERN:
                out += made(what[3])
            elif kind is sre.BRANCH:
                out += made(what[1][0])
        return out

    return made(sre_parser.parse(pattern))


@EACH
def test_keys_are_signals_of_the_catalog(spoken):
    unknown = [n.key for n in spoken.names if catalog.find(n.key) is None]
    assert not unknown


@EACH
def test_labels_of_a_key_are_groups_of_its_pattern(spoken):
    for name in spoken.names:
        wanted = set(re.findall(r"\{(\w+)\}", name.key))
        groups = set(re.compile(name.raw).groupindex) if name.pattern else set()
        assert wanted <= groups, name.raw


@EACH
def test_never_names_concepts_that_the_table_does_not_give(spoken):
    assert set(spoken.never) <= set(catalog.concepts())
    given = {catalog.find(n.key)[0].concept for n in spoken.names}
    assert not given & set(spoken.never)


@EACH
def test_prose_is_in_sentences_and_says_where_it_was_read(spoken):
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", spoken.name)
    assert spoken.title
    assert spoken.spoken_by
    assert spoken.sources
    assert not spoken.note or spoken.note.endswith(".")
    assert all(n.note.endswith(".") for n in spoken.names if n.note)
    module = next(m for k, m in sys.modules.items() if k == f"holter.dialects.{spoken.name.replace('-', '_')}")
    assert module.__doc__
    assert module.__doc__.count("\n") <= 6


@EACH
def test_typical_row_is_known(spoken):
    assert spoken.row or not spoken.signatures
    unknown = [raw for raw in spoken.row if meaning(spoken, raw) is None and not is_ignored(spoken, raw)]
    assert not unknown


@pytest.mark.parametrize("spoken", [d for d in DIALECTS if d.signatures or d.name == "generic"], ids=lambda d: d.name)
def test_typical_row_is_recognised(spoken):
    assert detect(spoken.row) is spoken


@EACH
def test_no_name_is_listed_twice(spoken):
    raws = [(n.raw, n.pattern) for n in spoken.names]
    assert len(raws) == len(set(raws))


@EACH
def test_no_raw_key_reaches_two_signals(spoken):
    if spoken.snake:
        pytest.skip("the generic table is read in order, from the special to the general")
    own = {(n.raw, n.pattern) for n in spoken.names}
    inherited = [n for t in list(lineage(spoken))[1:] for n in t.names if (n.raw, n.pattern) not in own]
    names = [*spoken.names, *inherited]
    for name in names:
        probe = example(name.raw) if name.pattern else name.raw
        assert not name.pattern or re.fullmatch(name.raw, probe), f"no example for {name.raw}"
        for other in names:
            hit = re.fullmatch(other.raw, probe) if other.pattern else other.raw == probe
            assert not hit or other.key == name.key or name in inherited, (probe, name.key, other.key)


@EACH
def test_heirs_are_asked_before_their_parents(spoken):
    parents = list(lineage(spoken))[1:]
    with_signature = [p for p in parents if p.signatures and spoken.signatures]
    assert all(spoken.priority < p.priority for p in with_signature)
