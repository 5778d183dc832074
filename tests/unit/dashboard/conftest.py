"""A log that changed is read again at once: a machine that took long over it is no reason to let it rest."""

import pytest

from holter.dashboard import fleet


@pytest.fixture(autouse=True)
def restless(monkeypatch):
    monkeypatch.setattr(fleet, "READING_REST", 0.0)
