"""That what `holter explain` and findings say exists in every language, with the same names and numbers, and nothing else."""

import dataclasses
import json
import re
from collections import Counter

import pytest
from click.testing import CliRunner

from holter import language
from holter.cli import holter
from holter.detectors.registry import all_detectors
from holter.reports.pages import ESTIMATORS, FITS, REDUCTIONS, unit_words, value_range
from holter.signals.base import Unit
from holter.signals.catalog import catalog
from tests.unit import findings_texts, run_texts
from tests.unit.catalogues import (
    UPDATE,
    completed,
    detector_texts,
    dialect_texts,
    messages,
    reader_texts,
    signal_texts,
    written,
)

OTHERS = [code for code in language.LANGUAGES if code != language.SOURCE]
QUOTED = re.compile(r"`+[^`]+`+")
NUMBER = re.compile(r"\d+(?:[.,]\d+)*(?:e-?\d+)?")
LATIN = re.compile(r"[A-Za-z][A-Za-z0-9_/=.&^{}]*[A-Za-z0-9}]")
SYMBOL = re.compile(r".*/.*|s|GB")
"""Units that are written the same in every language, like the metre."""


def names(text):
    """Keys, settings, acronyms and names of projects: an underscore, a slash or two capitals is in them; LOGs are LOG."""
    words = [re.sub(r"(?<=[A-Z])s$", "", w) for w in LATIN.findall(text)]
    return {w for w in words if re.search(r"[_/=]", w) or sum(c.isupper() for c in w) > 1}


def spelt(text):
    """The parts of names with a slash, as far as they are names alone: a library's prose says "optimizer/scheduler"."""
    return {part for word in names(text) for part in word.split("/") if part in names(part)}


def numbers(text):
    """How often each number stands in a text, however a language counts the great ones."""
    text = re.sub(r"(\d+) million", lambda m: f"{m[1]}000000", text)
    text = re.sub(r"(\d+) 万", lambda m: f"{m[1]}0000", text)
    return Counter(NUMBER.findall(text))


@pytest.mark.parametrize("code", OTHERS)
@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("signals", signal_texts),
        ("detectors", detector_texts),
        ("dialects", dialect_texts),
        ("readers", reader_texts),
        ("findings", findings_texts.reward_texts),
        ("findings_text", findings_texts.other_texts),
        ("runs", run_texts.run_texts),
        ("errors", run_texts.error_texts),
    ],
)
def test_every_text_of_every_page_and_finding_is_translated_and_no_translation_is_left_over(code, name, texts):
    wanted = texts()
    held = completed(code, name, wanted)
    assert len(wanted) > 30
    missing = {where: said for said, where in wanted.items() if said not in written(code)}
    assert not missing, f"{UPDATE}=1 adds them, to be translated"
    left = held.keys() - wanted.keys()
    assert not left, f"{UPDATE}=1 takes them out"


def test_no_text_of_reading_or_of_an_error_is_put_together_where_no_catalogue_can_hold_it():
    assert not run_texts.glued()


@pytest.mark.parametrize("code", OTHERS)
def test_a_translation_keeps_quoted_names_numbers_and_keys(code):
    prose, clicks = messages(code, "transformers"), messages(code, "click")
    for said, message in written(code).items():
        assert sorted(QUOTED.findall(said)) == sorted(QUOTED.findall(message.string)), said
        assert numbers(said) == numbers(message.string), said
        known = spelt if said in prose else names
        # What is all in capitals is a word, said loudly, and so is what has an entry of its own.
        # click's fields are English words, some of them, and its sentences hold no other names.
        if not said.isupper() and said not in clicks:
            assert known(said) - written(code).keys() <= known(message.string), said
        assert said.count("\n- ") == message.string.count("\n- "), said


@pytest.mark.parametrize("code", OTHERS)
def test_what_has_words_is_not_left_in_english(code):
    untouched = {k for k, m in written(code).items() if m.string == k}
    assert not {k for k in untouched - {"NaN"} if re.search(r"[A-Za-z]{2}", re.sub(r"{\w+}", "", k))}


@pytest.mark.parametrize("code", OTHERS)
def test_every_unit_range_estimator_reduction_and_fit_is_translated(code):
    units = {unit_words(u) for u in Unit} - {str(u) for u in Unit if SYMBOL.fullmatch(u)}
    wanted = units | {value_range(s) for s in catalog().values()}
    wanted |= {*ESTIMATORS.values(), *REDUCTIONS.values(), *FITS.values(), *map(str, FITS)}
    missing = wanted - written(code).keys()
    assert not missing


@pytest.mark.parametrize("code", OTHERS)
def test_every_limit_of_a_detector_says_in_every_language_what_a_larger_value_does(code):
    limits = [f for d in all_detectors().values() for f in dataclasses.fields(d)]
    wanted = {f.metadata[said] for f in limits for said in ("help", "unit")}
    missing = {w for w in wanted - written(code).keys() if not SYMBOL.fullmatch(w) and w != str(Unit.NUMBER)}
    assert not missing


def said(*arguments, language="en"):
    result = CliRunner().invoke(holter, arguments, env={"HOLTER_LANG": language}, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize(
    "arguments", [("explain", "kl"), ("explain", "ref_kl"), ("explain", "trl-grpo"), ("list", "signals")]
)
def test_a_page_is_spoken_in_the_language_asked_for_or_set_and_in_english_again_after_it(arguments):
    english = said(*arguments)
    chinese = said(*arguments, "--lang", "zh")
    assert "KL 散度" in chinese
    assert "KL 散度" not in english
    assert said(*arguments, language="zh") == chinese
    assert said(*arguments, "--lang", "en", language="zh") == english == said(*arguments)


def test_facts_for_scripts_are_the_same_in_every_language():
    english, chinese = (json.loads(said("explain", "kl", "--format", "json", "--lang", code)) for code in ("en", "zh"))
    assert english["facts"] == chinese["facts"]
    assert english["page"] != chinese["page"]


@pytest.mark.parametrize("known", [catalog, all_detectors])
def test_a_heading_of_a_page_is_never_left_in_english(known):
    for name in known():
        headings = re.findall(r"^##.*$", said("explain", name, "--lang", "zh"), re.MULTILINE)
        assert len(headings) > 1
        assert all(re.search(r"[\u4e00-\u9fff]", h) for h in headings), (name, headings)
