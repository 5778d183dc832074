"""The box of a verdict in the terminal."""

import io
from dataclasses import replace

import pytest
from rich.cells import cell_len
from rich.console import Console

from holter.reports.terminal import render
from tests.unit.reports.diagnoses import sick


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
