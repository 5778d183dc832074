"""No control character of a log reaches a terminal."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from holter.reports.safe_text import safe


def test_escape_sequences_are_written_out():
    assert safe("a\x1b[31mb") == "a\\x1b[31mb"
    assert safe("\u202egpj.exe") == "\\u202egpj.exe"
    assert safe("奖励 reward/mean") == "奖励 reward/mean"


@given(st.text())
def test_what_is_left_is_printable(text):
    assert not {unicodedata.category(c) for c in safe(text)} & {"Cc", "Cf", "Cs", "Zl", "Zp"}


@given(st.text(alphabet=st.characters(categories=["L", "N", "P", "S"])))
def test_ordinary_text_is_left_alone(text):
    assert safe(text) == text
