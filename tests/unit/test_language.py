"""Which language is spoken, how sentences are put together in it, and that every catalogue says everything."""

import gettext
import pickle
import re
from enum import StrEnum

import pytest

from holter import language
from holter.compare.curves import AXES
from holter.findings.diagnosis.verdict import WORDS
from holter.language import Said, listed, phrase, said, told
from holter.reports.html.page import own_texts
from holter.reports.html.payload import RULE
from holter.reports.html.vital_signs import VITAL_SIGNS
from holter.reports.words import HEADS, STATUSES
from holter.simulation.faults import FAULTS
from tests.unit.catalogues import (
    SOURCES,
    UPDATE,
    completed,
    files,
    help_texts,
    messages,
    setting_texts,
    source_texts,
    written,
)

PACKAGES = sorted({p.name for p in SOURCES.iterdir() if p.is_dir()} - {"__pycache__", "locale"})
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


@pytest.fixture
def german(monkeypatch):
    """A language with a few texts, spoken."""
    catalogue = gettext.NullTranslations()
    texts = {
        "{name} at {place}": "bei {place}: {name}",
        "step {step}": "Schritt {step}",
        "First {what}.": "Zuerst {what}.",
        "reward": "Lohn",
        ", ": " und ",
        "the policy stops": "die Strategie hält an",
        "nats": "Nat",
    }
    monkeypatch.setattr(catalogue, "gettext", lambda m: texts.get(m, m))
    monkeypatch.setattr(language, "_catalogue", lambda _: catalogue)
    language.speak("de")
    yield
    language.speak(language.SOURCE)


def test_a_sentence_is_told_down_to_its_parts(german):
    parts = [said("{name} at {place}", name=n, place=said("step {step}", step=7)) for n in "ab"]
    sentence = said("First {what}.", what=listed(parts))
    assert str(sentence) == "First a at step 7, b at step 7."
    assert told(sentence) == "Zuerst bei Schritt 7: a und bei Schritt 7: b."


def test_names_of_a_log_are_quoted_though_they_are_words_and_hold_braces(german):
    sentence = said("{name} at {place}", name="reward", place="{name}")
    assert sentence == "reward at {name}"
    assert told(sentence) == "bei {name}: reward"
    assert told(said("{name} at {place}", name=phrase("reward"), place="x")) == "bei x: Lohn"


def test_a_member_of_an_enumeration_of_texts_is_told(german):
    unit = StrEnum("Unit", {"NATS": "nats"})
    assert told(said("{name} at {place}", name=unit.NATS, place=1)) == "bei 1: Nat"


def test_what_is_worded_otherwise_in_english_is_told_by_its_template(german):
    sentence = said("{name} at {place}", name="kl", place=3).in_english("Kl at 3")
    assert sentence == "Kl at 3"
    assert told(sentence) == "bei 3: kl"
    assert told(phrase("the policy stops").in_english("stops")) == "die Strategie hält an"


def test_a_phrase_keeps_braces_and_a_sentence_is_one_already(german):
    assert told(phrase("{no field} at {0}")) == phrase("{no field} at {0}") == "{no field} at {0}"
    sentence = said("step {step}", step=1)
    assert phrase(sentence) is sentence


def test_one_part_is_no_list_and_none_is_empty():
    assert listed([]) == ""
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"], "; ") == "a; b; c"


def test_a_sentence_survives_another_process():
    sentence = said("{name} at {place}", name="kl", place=said("step {step}", step=3)).in_english("Kl at step 3")
    again = pickle.loads(pickle.dumps(sentence))
    assert isinstance(again, Said)
    assert (again, again.template, again.values) == (sentence, sentence.template, sentence.values)


def test_a_context_speaks_the_environments_language_until_it_is_told_another(monkeypatch):
    before = language.asked()
    try:
        language.speak(None)
        for named, spoken in (("zh", "zh"), ("en", "en"), ("klingon", "en")):
            monkeypatch.setenv(language.VARIABLE, named)
            assert language.spoken() == spoken
        language.speak("zh")
        assert language.spoken() == "zh"
    finally:
        language.speak(before)


@pytest.mark.parametrize("code", OTHERS)
def test_every_text_of_the_page_is_in_every_catalogue(code):
    missing = page_texts() - written(code).keys()
    assert not missing


def page_texts() -> set[str]:
    """What the front end says, and constants that reports look up by a name."""
    named = {"Everything else", "Names nobody knows", *(s.title for s in VITAL_SIGNS), *RULE, *AXES}
    own = {text for page in own_texts().values() for text in page}
    return {*own, *named, *WORDS.values(), *STATUSES.values(), *HEADS.values()}


@pytest.mark.parametrize("code", OTHERS)
@pytest.mark.parametrize("package", [*PACKAGES, ""])
def test_every_text_of_the_source_is_in_every_catalogue(code, package):
    wanted = source_texts(f"{package}/") if package else modules_of_no_package()
    missing = {where: m for m, where in wanted.items() if m not in written(code) and re.search(r"[A-Za-z]", _words(m))}
    assert not missing


def modules_of_no_package() -> dict[str, str]:
    return {m: where for m, where in source_texts().items() if "/" not in where}


def test_texts_are_looked_for_where_they_are():
    assert len(source_texts()) > 500
    assert len(source_texts("findings/")) > 20


def _words(message: str) -> str:
    """A template without its fields."""
    return re.sub(r"{\w+}", "", message)


OWN = {
    "diagnosis": lambda: source_texts("findings/"),
    "live": lambda: source_texts("monitor/", "alerts/", "reports/live_"),
    "cli": lambda: {**help_texts(), **source_texts("cli/")},
    "train": setting_texts,
    "simulation": lambda: {fault.says: name for name, fault in FAULTS.items()},
}
"""What some catalogues hold."""


@pytest.mark.parametrize("code", OTHERS)
@pytest.mark.parametrize("name", OWN)
def test_a_catalogue_holds_what_its_packages_say_and_nothing_that_is_gone(code, name):
    wanted = OWN[name]()
    held = completed(code, name, wanted)
    missing = {where: m for m, where in wanted.items() if m not in written(code) and re.search(r"[A-Za-z]", _words(m))}
    assert not missing, f"{UPDATE}=1 adds them, to be translated"
    left = held.keys() - wanted.keys()
    assert not left, f"{UPDATE}=1 takes them out"


@pytest.mark.parametrize("code", OTHERS)
@pytest.mark.parametrize("name", ["holter", "comparison", "dashboard"])
def test_the_catalogues_of_the_pages_hold_nothing_that_is_gone(code, name):
    left = messages(code, name).keys() - page_texts() - source_texts().keys()
    assert not left


@pytest.mark.parametrize("code", OTHERS)
def test_translations_keep_the_placeholders_and_the_compiled_catalogue_is_fresh(code):
    found = written(code).values()
    assert not [m.id for m in found if not m.string or m.fuzzy]
    for m in found:
        said, told = sorted(_placeholders(m.id)), sorted(_placeholders(m.string))
        # click puts English words of its own into some sentences; those are better left out.
        assert set(told) <= set(said) if m.id in messages(code, "click") else told == said, m.id
    stale = [m.id for m in found if language.translated(m.id, code) != m.string]
    assert not stale, "`python hatch_build.py` compiles them"


def _placeholders(text: str) -> list[str]:
    return [part.partition("}")[0] for part in text.split("{")[1:]]


@pytest.mark.parametrize("code", OTHERS)
def test_a_text_stands_in_one_catalogue(code):
    standing = [m for name in files(code) for m in messages(code, name)]
    assert len(standing) == len(set(standing))
