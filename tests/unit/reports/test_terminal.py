"""The box of a verdict in the terminal."""

import io
import re
from dataclasses import replace

import pytest
from rich.cells import cell_len
from rich.console import Console

from holter.reports.terminal import print_diagnoses, render
from tests.unit.reports.diagnoses import healthy, sick

BLOCKS = re.compile("[▁▂▃▄▅▆▇█]+")


@pytest.mark.parametrize("name", ["runs/short", "a-long-way/" * 12 + "log.jsonl", "运行/" * 40 + "日志.jsonl"])
def test_the_edge_of_the_box_keeps_the_rows_whatever_the_path(name):
    diagnosis = sick()
    diagnosis = replace(diagnosis, run=replace(diagnosis.run, name=name))
    console = Console(width=70, file=io.StringIO(), color_system=None)
    console.print(render(diagnosis))
    (edge,) = [line for line in console.file.getvalue().splitlines() if line.startswith("╰")]
    assert "12 rows, steps 10-120 ─" in edge
    assert cell_len(edge) == 70
    shown = edge.removeprefix("╰─ ").split(" · ")[0]
    assert shown == name or (shown.startswith("…") and name.endswith(shown[1:]) and len(shown) > 5)


@pytest.mark.parametrize("width", [30, 44, 60, 80, 200])
def test_a_line_of_blocks_fits_its_terminal_and_is_never_cut(width):
    diagnosis = sick()
    console = Console(width=width, file=io.StringIO(), color_system=None)
    console.print(render(diagnosis))
    lines = [line for line in console.file.getvalue().splitlines() if "█" in line]
    assert lines
    for line in lines:
        blocks = line[line.index(BLOCKS.search(line)[0]) :].split(" ")[0]
        assert BLOCKS.fullmatch(blocks)
        assert 8 <= len(blocks) <= 12, "the run has twelve rows"
        assert (blocks + " ") in line


def test_below_several_runs_their_verdicts_stand_together_a_line_each():
    console = Console(width=70, file=io.StringIO(), color_system=None)
    print_diagnoses(console, [sick(), healthy()], verbose=False)
    title, *lines = [line.strip() for line in console.file.getvalue().rstrip().splitlines()[-3:]]
    assert title == "2 runs"
    assert [line.split()[:2] for line in lines] == [["✗", "CRITICAL"], ["✓", "HEALTHY"]]
    assert [line.split()[2][-4:] for line in lines] == [d.run.name[-4:] for d in (sick(), healthy())]
    assert len({re.match(r"\S+ \S+ +", line).end() for line in lines}) == 1, "the names stand under each other"


def test_one_run_is_not_listed():
    console = Console(width=70, file=io.StringIO(), color_system=None)
    print_diagnoses(console, [sick()], verbose=False)
    assert "runs\n" not in console.file.getvalue()
