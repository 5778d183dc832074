"""Names that could do something to a terminal or a page do nothing in what programs read."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from holter.cli import holter

NAMES = [
    "a\x1b[31mred",
    "\u202eback to front",
    "tab\tname",
    "<script>alert(1)</script>",
    "nul\x00",
    "line\nbreak",
    '"quoted"',
]


@pytest.mark.parametrize("command", ["check", "keys"])
def test_json_of_a_log_with_hostile_names_is_json_without_control_characters(tmp_path, command):
    log = tmp_path / "log.jsonl"
    rows = ({"step": s, "reward": s / 10, **dict.fromkeys(NAMES, float(s))} for s in range(1, 9))
    log.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    output = CliRunner().invoke(holter, [command, str(log), "--format", "json"], catch_exceptions=False).output
    said = json.dumps(json.loads(output), ensure_ascii=False)
    assert {c for c in output if not c.isprintable()} == {"\n"}
    assert "\\u0000" not in said
    assert all(text in said for text in ("[31mred", "back to front", "alert(1)", "nul", "break", "quoted"))
