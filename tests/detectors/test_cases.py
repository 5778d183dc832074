"""Every case of every detector; ``HOLTER_UPDATE_CASES=1`` rewrites the ```findings blocks, for review in the diff."""

import os

import pytest

from holter.detectors.base import HEADINGS
from holter.detectors.registry import all_detectors, detector, run_detectors
from holter.signals.catalog import concepts

from .cases import CASES, FENCE, Case


def said(case: Case) -> str:
    return "\n".join(map(str, run_detectors(case.run, [detector(case.detector)()])))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_case(case: Case):
    if os.environ.get("HOLTER_UPDATE_CASES"):
        text = case.file.read_text(encoding="utf-8")
        start = text.index(f"## {case.title}\n")
        block = FENCE.search(text, start)
        lines = said(case)
        text = text[: block.start()] + "```findings\n" + (lines + "\n" if lines else "") + "```" + text[block.end() :]
        case.file.write_text(text, encoding="utf-8")
        return
    assert said(case) == case.expected


@pytest.mark.parametrize("cls", all_detectors().values(), ids=lambda d: d.name)
def test_has_a_sick_a_healthy_and_a_silent_case(cls):
    mine = [c for c in CASES if c.detector == cls.name]
    lines = [c.expected.splitlines() for c in mine]
    assert any(line and "unchecked" not in line for ls in lines for line in ls), "no case where it fires"
    assert any(not ls for ls in lines), "no case where it stays silent"
    if cls.needs:
        assert any(" unchecked: " in line for ls in lines for line in ls), "no case where the log lacks the signal"


@pytest.mark.parametrize("cls", all_detectors().values(), ids=lambda d: d.name)
def test_page_has_every_heading(cls):
    page = cls.page()
    positions = [page.find(f"## {heading}") for heading in HEADINGS]
    assert all(p >= 0 for p in positions), [h for h, p in zip(HEADINGS, positions, strict=True) if p < 0]
    assert positions == sorted(positions)


@pytest.mark.parametrize("cls", all_detectors().values(), ids=lambda d: d.name)
def test_is_called_what_its_file_is_called(cls):
    assert cls.__module__.rsplit(".", 1)[1] == cls.name.replace("-", "_")


@pytest.mark.parametrize("cls", all_detectors().values(), ids=lambda d: d.name)
def test_asks_for_concepts_that_exist(cls):
    asked = {c for need in cls.needs for c in need.concepts} | set(cls.uses)
    assert asked <= set(concepts())


def test_codes_are_unique():
    codes = [d.code for d in all_detectors().values()]
    assert len(codes) == len(set(codes))
