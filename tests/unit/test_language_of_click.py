"""That what click says by itself, as it is pinned, is in every language."""

import ast
import importlib.metadata
import re
from pathlib import Path

import click
import pytest
from babel.messages.pofile import read_po

from holter import language
from tests.unit.catalogues import files

OTHERS = [code for code in language.LANGUAGES if code != language.SOURCE]
CONSTRAINTS = (Path(__file__).parents[2] / "constraints.txt").read_text(encoding="utf-8")
PINNED = re.search(r"^click==(\S+)$", CONSTRAINTS, re.MULTILINE)
MODULES = ("core", "decorators", "exceptions", "formatting", "parser", "types")
NEVER = re.compile(
    r"deprecat|UUID|defined twice|iterable|declaration|executable|start character|"
    r"^No options defined|^Boolean option|^Do you want|^Confirm|does not match the format|values are required|^Choice\("
)
"""What no command here can make it say: prompts, types that no option has, mistakes in the declaration of a command."""
KINDS_OF_PATH = {"file", "directory", "path"}
"""Left out of the sentences that they stand in."""


def texts_of_click():
    """The literals that click gives to gettext."""
    found = set()
    for module in MODULES:
        tree = ast.parse((Path(click.__file__).parent / f"{module}.py").read_text(encoding="utf-8"))
        calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
        given = [c.args[0] for c in calls if c.func.id in ("_", "ngettext") and c.args]
        found |= {g.value for g in given if isinstance(g, ast.Constant) and isinstance(g.value, str)}
    return found - KINDS_OF_PATH


@pytest.mark.skipif(
    PINNED is None or importlib.metadata.version("click") != PINNED[1],
    reason="the catalogue is that of the pinned click",
)
@pytest.mark.parametrize("code", OTHERS)
def test_what_click_says_is_translated(code):
    wanted = {text for text in texts_of_click() if not NEVER.search(text)}
    assert len(wanted) > 30
    with files(code)["click"].open("rb") as stream:
        held = {m.id if isinstance(m.id, str) else m.id[0] for m in read_po(stream) if m.string}
    assert not wanted - held
