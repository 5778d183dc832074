"""Which language is spoken, and that every catalogue says everything."""

import ast
import json
from pathlib import Path

import pytest

from holter import language
from holter.findings.diagnosis.verdict import WORDS
from holter.reports.html.page import asset
from holter.reports.html.payload import RULE
from holter.reports.html.vital_signs import VITAL_SIGNS
from tests.unit.catalogues import files, messages, written

ROOT = Path(__file__).parents[2]
OTHERS = [code for code in language.LANGUAGES if code != language.SOURCE]


@pytest.mark.parametrize(
    ("asked", "environment", "spoken"),
    [
        (None, {}, "en"),
        ("zh", {"HOLTER_LANG": "en"}, "zh"),
        (None, {"HOLTER_LANG": "zh_CN", "LANG": "en_US.UTF-8"}, "zh"),
        (None, {"LC_ALL": "zh_CN.UTF-8", "LANG": "en_US.UTF-8"}, "zh"),
        (None, {"LC_ALL": "", "LANG": "zh_TW"}, "zh"),
        (None, {"LANG": "C.UTF-8"}, "en"),
        (None, {"LANG": "fr_FR.UTF-8"}, "en"),
        ("EN", {"LANG": "zh_CN"}, "en"),
    ],
)
def test_the_command_comes_before_the_variable_and_the_variable_before_the_locale(asked, environment, spoken):
    assert language.choose(asked, environment) == spoken


@pytest.mark.parametrize(("asked", "environment"), [("fr", {}), (None, {"HOLTER_LANG": "klingon"})])
def test_a_language_nobody_speaks_is_an_error_that_names_those_that_are(asked, environment):
    with pytest.raises(language.UnknownLanguageError, match="en, zh"):
        language.choose(asked, environment)


@pytest.mark.parametrize("code", OTHERS)
def test_a_text_is_spoken_in_the_language_of_its_context(code):
    assert language.text("Findings") == "Findings"
    language.speak(code)
    try:
        assert language.text("Findings") == language.translated("Findings", code) != "Findings"
        assert language.text("") == ""
        assert language.text("nobody wrote this") == "nobody wrote this"
    finally:
        language.speak(language.SOURCE)


@pytest.mark.parametrize("code", OTHERS)
def test_every_text_of_the_page_is_in_every_catalogue(code):
    wanted = {
        *json.loads(asset("messages.json")),
        *(s.title for s in VITAL_SIGNS),
        "Everything else",
        *(w for c, w in WORDS.items()),
        *RULE,
    }
    missing = wanted - written(code).keys()
    assert not missing


def spoken_in_the_source() -> set[str]:
    """Every literal given to `holter.language.text` by a module that imports it."""
    found = set()
    for path in sorted((ROOT / "src").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        imports = [n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.module == "holter.language"]
        if any(a.name == "text" for n in imports for a in n.names):
            calls = (n for n in ast.walk(tree) if isinstance(n, ast.Call) and getattr(n.func, "id", "") == "text")
            found |= {c.args[0].value for c in calls if isinstance(c.args[0], ast.Constant)}
    return found


@pytest.mark.parametrize("code", OTHERS)
def test_every_text_of_the_source_is_in_every_catalogue(code):
    wanted = spoken_in_the_source()
    assert len(wanted) > 10
    missing = wanted - written(code).keys()
    assert not missing


@pytest.mark.parametrize("code", OTHERS)
def test_translations_keep_the_placeholders_and_the_compiled_catalogue_is_fresh(code):
    found = written(code).values()
    assert not [m.id for m in found if not m.string or m.fuzzy]
    for m in found:
        assert sorted(_placeholders(m.id)) == sorted(_placeholders(m.string)), m.id
    stale = [m.id for m in found if language.translated(m.id, code) != m.string]
    assert not stale, "`python hatch_build.py` compiles them"


def _placeholders(text: str) -> list[str]:
    return [part.partition("}")[0] for part in text.split("{")[1:]]


@pytest.mark.parametrize("code", OTHERS)
def test_a_text_stands_in_one_catalogue(code):
    standing = [m for name in files(code) for m in messages(code, name)]
    assert len(standing) == len(set(standing))
