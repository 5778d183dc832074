"""The page of coverage speaks of detectors and signals that exist, and leaves no trouble without an answer."""

import re
from pathlib import Path

import pytest

from holter.detectors.measured import measurement
from holter.detectors.registry import all_detectors
from holter.signals import catalog

TEXT = (Path(__file__).parents[2] / "docs" / "coverage.md").read_text(encoding="utf-8")
NAME = re.compile(r"`([^`]+)`")
SETTINGS = {"kl_target"}


def rows() -> list[list[str]]:
    lines = [line for line in TEXT.splitlines() if line.startswith("|") and not line.startswith("|---")]
    cells = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]
    return [row for row in cells if row[1] != "said by"]


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0])
def test_every_trouble_has_an_answer(row: list[str]):
    assert any(row[1:])
    assert all(name in all_detectors() for name in NAME.findall(row[1]))


@pytest.mark.parametrize("row", [r for r in rows() if len(r) > 2 and "`" in r[2]], ids=lambda row: row[0])
def test_what_is_to_be_logged_has_a_name(row: list[str]):
    for name in NAME.findall(row[2]):
        assert name in all_detectors() or name in SETTINGS or catalog.find(name) is not None, name


def test_every_measured_detector_covers_something():
    assert set(measurement()["detectors"]) <= set(NAME.findall(TEXT))
