"""Runs that are recorded and watched in the test's own folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson
import pytest

import holter

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def heard():
    """What people were told."""
    return []


@pytest.fixture
def begin(tmp_path, monkeypatch, heard):
    """Begins a run in the test's folder; it is finished with the test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RANK", raising=False)
    runs = []

    def start(path="mine", **options):
        run = holter.init(path, **{"tell": heard.append, "monitor": False, **options})
        runs.append(run)
        return run

    yield start
    for run in runs:
        run.finish()


@pytest.fixture
def lines():
    """The lines of a file of a run folder."""

    def read(path: Path) -> list[dict]:
        return [orjson.loads(line) for line in path.read_bytes().splitlines()]

    return read
