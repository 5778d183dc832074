"""`docs/accuracy.md` is the measurement that the package carries, and nothing else."""

import sys
from pathlib import Path

import pytest

from holter.detectors.measured import measurement

ROOT = Path(__file__).parents[2]


@pytest.fixture
def page(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    from labelled import page

    yield page
    for name in [n for n in sys.modules if n == "labelled" or n.startswith("labelled.")]:
        monkeypatch.delitem(sys.modules, name)


def test_the_document_says_what_was_measured(page):
    written = (ROOT / "docs" / "accuracy.md").read_text(encoding="utf-8")
    assert written == page.document(measurement()), "run `python benchmarks/accuracy.py --write`"
