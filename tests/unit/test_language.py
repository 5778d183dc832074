"""Which language is spoken, how sentences are put together in it, and that every catalogue says everything."""

import ast
import gettext
import pickle
import re
import threading
from enum import StrEnum
from pathlib import Path

import pytest

import holter
from holter import language
from holter.cli._speaking import UnknownLanguageError, all_speaking, choose
from holter.compare.curves import AXES
from holter.errors import reason
from holter.findings.diagnosis.verdict import WORDS
from holter.language import Said, listed, phrase, said, speaking, told
from holter.reports.html.page import own_texts
from holter.reports.html.payload import RULE
from holter.reports.html.vital_signs import VITAL_SIGNS
from holter.reports.words import HEADS, STATUSES
from holter.session.place import NoSuchRunError
from holter.session.recorded import Recorded
from holter.simulation.faults import FAULTS
from holter.trainers.names import ARGUMENTS, SETTINGS
from tests.unit.catalogues import (
    SOURCES,
    UPDATE,
    completed,
    example_texts,
    files,
    help_texts,
    messages,
    setting_texts,
    source_texts,
    written,
)
from tests.unit.unspoken import raised, unspoken

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
    assert choose(asked, environment) == spoken


@pytest.mark.parametrize(("asked", "environment"), [("fr", {}), (None, {"HOLTER_LANG": "klingon"})])
def test_a_language_nobody_speaks_is_an_error_that_names_those_that_are(asked, environment):
    with pytest.raises(UnknownLanguageError, match="en, zh"):
        choose(asked, environment)


@pytest.mark.parametrize("code", OTHERS)
def test_a_text_is_spoken_in_the_language_of_its_context(code):
    assert told("Findings") == "Findings"
    with speaking(code):
        assert told("Findings") == language.translated("Findings", code) != "Findings"
        assert told("") == ""
        assert told("nobody wrote this") == "nobody wrote this"


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
    with speaking("de"):
        yield


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


def test_a_template_is_told_at_once_with_its_parts_in_the_language(german):
    assert told("{name} at {place}", name="reward", place=said("step {step}", step=7)) == "bei Schritt 7: reward"
    assert told("{name} at {place}", name=phrase("reward"), place="{x}") == "bei {x}: Lohn"
    assert told("no {field} at all") == "no {field} at all"


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
    for named, spoken in (("zh", "zh"), ("en", "en"), ("klingon", "en")):
        monkeypatch.setenv(language.VARIABLE, named)
        assert language.spoken() == spoken
    with speaking("zh"):
        assert language.spoken() == "zh"
        with speaking(None):
            assert language.spoken() == "en"


def test_an_error_says_itself_in_the_language_in_which_it_is_read(tmp_path):
    with pytest.raises(NoSuchRunError) as raised_here:
        holter.init(tmp_path / "none", resume=True)
    error = raised_here.value
    assert str(error).startswith(f"no run to resume: {tmp_path / 'none'} is neither")
    with speaking("zh"):
        assert str(error).startswith(f"没有可以恢复的运行：{tmp_path / 'none'} 既不是")
        assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert str(reason(error)) == str(error)


def test_an_error_of_pythons_own_kind_is_raised_in_the_language():
    run = Recorded({"lr": 1}, print)
    with speaking("zh"), pytest.raises(AttributeError, match=r"^没有条目 'beta'；现有的是 lr$"):
        _ = run.beta
    with pytest.raises(AttributeError, match=r"^no entry 'beta'; there are lr$"):
        _ = run.beta


def test_a_line_of_logging_is_in_the_language_of_the_process(tmp_path, monkeypatch, caplog):
    run = holter.init(tmp_path / "run", monitor=False)
    monkeypatch.setenv(language.VARIABLE, "zh")
    run.log({"note": "a text"})
    run.finish()
    run.log({"loss": 1.0})
    assert caplog.messages == [
        "'note' 是文本（'a text'），不是数；各行中略去它（只说一次）",
        "在 finish() 之后调用了 log()：这些行不会记录；训练继续（只说一次）",
    ]


def test_threads_that_a_command_starts_speak_as_it_does():
    heard = []
    with all_speaking("zh"):
        thread = threading.Thread(target=lambda: heard.append(language.spoken()))
        thread.start()
        thread.join()
    assert heard == ["zh"]
    assert language.spoken() == language.SOURCE


@pytest.mark.parametrize("code", OTHERS)
def test_every_text_of_the_page_is_in_every_catalogue(code):
    missing = page_texts() - written(code).keys()
    assert not missing


NOTE = re.compile(r"^\s*(?://|\*|/\*).*$", re.MULTILINE)
TOLD = re.compile(r"(?<![\w.])t\(\s*\"(?:[^\"\\\\]|\\\\.)*\"")
SENTENCE = re.compile(r"[\"`]([A-Z][a-z]+[^\"`\n]* [^\"`\n]*[a-z]{2}[^\"`\n]*)[\"`]")
CHILD = re.compile(r"\}\s*,\s*\"([^\"\n]*[A-Za-z]{2}[^\"\n]*)\"")
ATTRIBUTE = re.compile(
    r"(?:\"aria-(?:label|description|valuetext)\"|\btitle|\bplaceholder|\balt): [\"`]([^\"`\n]*[A-Za-z]{2} [^\"`\n]*)[\"`]"
)
TO_DEVELOPERS = re.compile(r"new (?:Type)?Error\([^)]*\)")


def untold(source: str) -> list[str]:
    """Words that a script of the page puts on it past `t`: sentences, children of elements, attributes that are read out."""
    bare = TO_DEVELOPERS.sub("", TOLD.sub("t(", NOTE.sub("", source)))
    return [m[1] for each in (SENTENCE, CHILD, ATTRIBUTE) for m in each.finditer(bare) if m[1] not in ("Holter", "NaN")]


def test_the_scripts_of_the_page_say_nothing_past_the_language():
    scripts = sorted((Path(__file__).parents[2] / "web" / "src").glob("*.ts"))
    assert len(scripts) > 40
    found = {script.name: said for script in scripts if (said := untold(script.read_text(encoding="utf-8")))}
    assert not found


@pytest.mark.parametrize(
    "script",
    [
        'throw new Refusal(0, "The answer ended.")',
        'h("p", { class: "hint" }, "nothing here")',
        'h("button", { "aria-label": "zoom out" })',
        'h("i", { title: `${n} rows of it` })',
    ],
)
def test_words_past_the_language_are_found_in_a_script(script):
    assert untold(script)
    assert not untold('h("p", { class: "hint now" }, t("Nothing here"), told(x)); // A comment of words')


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


@pytest.mark.parametrize("code", OTHERS)
def test_every_text_that_an_error_is_raised_with_is_in_every_catalogue(code):
    missing = {where: m for m, where in raised().items() if m not in written(code)}
    assert not missing


def test_no_words_reach_a_person_past_the_language():
    assert not unspoken()


@pytest.mark.parametrize(
    "statement",
    [
        'raise SettingsError(f"no {name} is here")',
        'raise SettingsError("Config:", "no such %s" % name)',
        'raise ValueError("there is no " + name)',
        'log.warning("%s is not here", name)',
        'log.warning(f"{name} is not here")',
        'logging.getLogger("holter").error("it is not here")',
        'warnings.warn("it is old")',
        'click.echo("it is not here")',
        'table.add_column("at the end")',
        'Table(title=f"Step of {name}")',
        'print("it is", name)',
        'Text("it is" if name else name)',
    ],
)
def test_words_past_the_language_are_found(statement):
    assert unspoken([("here", ast.parse(statement))])


@pytest.mark.parametrize(
    "statement",
    [
        'raise SettingsError(f"{path}:", said("no {name} is here", name=name))',
        "raise SettingsError(f'{path}:', 'a literal is asked for in the catalogues')",
        'log.warning(told("it is not here"))',
        'log.error("%s: %s", name, why)',
        'Text(told("it is") + name, style="bold underline")',
        "raise AttributeError(f\"module 'holter' has no attribute {name!r}\")",
    ],
)
def test_what_is_told_is_no_word_past_the_language(statement):
    assert not unspoken([("here", ast.parse(statement))])


def test_a_literal_of_an_error_is_asked_for():
    tree = ast.parse('raise SettingsError("Config:", "there is no such run" if a else "there are two", said("no {x}"))')
    assert raised(modules=[("here", tree)]) == {"there is no such run": "here", "there are two": "here"}


def modules_of_no_package() -> dict[str, str]:
    return {m: where for m, where in source_texts().items() if "/" not in where}


def test_texts_are_looked_for_where_they_are():
    assert len(source_texts()) > 500
    assert len(source_texts("findings/")) > 20


def _words(message: str) -> str:
    """A template without its fields."""
    return re.sub(r"{\w+}", "", message)


RECORDING = ("session/", "recorder/", "sinks/", "signals/", "adapters/", "testing/", "callback", "__init__")
OWN = {
    "diagnosis": lambda: source_texts("findings/"),
    "live": lambda: said_in("monitor/", "alerts/", "reports/live_"),
    "recording": lambda: said_in(*RECORDING),
    "cli": lambda: {**help_texts(), **said_in("cli/")},
    "train": lambda: {**setting_texts(), **refusals(), **said_in("trainers/")},
    "demo": example_texts,
    "simulation": lambda: {fault.says: name for name, fault in FAULTS.items()},
}
"""What some catalogues hold."""


def said_in(*packages: str) -> dict[str, str]:
    """What these packages say, in errors too."""
    return source_texts(*packages) | raised(*packages)


def refusals() -> dict[str, str]:
    """Why a setting or an argument of TRL is not here."""
    return {e.why: f"names {name}" for each in (SETTINGS, ARGUMENTS) for name, e in each.items()}


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
