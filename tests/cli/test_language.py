"""Every command in every language: its help, its errors, what it prints; nothing of it left in English but names."""

import re
import unicodedata

import click
import pytest
from click.testing import CliRunner

from holter import language
from holter.cli import holter, main
from holter.cli._speaking import asked_for
from holter.errors import HolterError
from holter.language import said

HEALTHY, SICK = "examples/runs/healthy-grpo/trainer_state.json", "examples/runs/hacked-ppo/log.jsonl"
ENGLISH = re.compile(r"(?<![\w/.`'=-])[A-Za-z][a-z]+(?: [a-z]{2,}){2,}")
"""Three English words or more, one after the other."""
NAMES = re.compile(r"`[^`]*`|\[[A-Z]+\]|'holter [^']*'|^ *(?:用法：)?holter .*$", re.MULTILINE)
"""What is the same in every language: code and commands."""


def commands(command=holter, name=()):
    """Every command by the words that ask for it."""
    yield name
    if isinstance(command, click.Group):
        context = click.Context(command)
        for each in command.list_commands(context):
            yield from commands(command.get_command(context, each), (*name, each))


def asked(*arguments, **environment):
    return CliRunner().invoke(holter, arguments, env={"HOLTER_LANG": "zh", **environment}, catch_exceptions=False)


def english(text):
    return [m[0] for m in ENGLISH.finditer(NAMES.sub(" ", text))]


def test_three_english_words_are_noticed():
    assert english("第 3 步 where the log ends") == ["where the log ends"]
    assert not english("第 3 步：`where the log ends`，reward 上升")


@pytest.mark.parametrize("words", [w for w in commands() if w[:1] != ("train",)], ids=" ".join)
def test_help_is_in_the_language_that_is_spoken_and_no_wider_than_the_terminal(words):
    result = asked(*words, "--help", COLUMNS="80")
    assert result.exit_code == 0
    assert not english(result.output)
    assert re.search(r"[\u4e00-\u9fff]", result.output)
    widths = [
        sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line) for line in result.output.splitlines()
    ]
    assert max(widths) <= 80
    assert "\ue000" not in result.output


@pytest.mark.parametrize("words", [w for w in commands() if w[:1] != ("train",)], ids=" ".join)
def test_help_in_english_is_not_touched_by_another_language_before_it(words):
    asked(*words, "--help")
    assert "Show this message and exit." in asked(*words, "--help", HOLTER_LANG="en").output


def test_no_line_begins_with_what_closes_a_sentence():
    for words in commands():
        if words[:1] != ("train",):
            for columns in ("60", "72", "80"):
                lines = asked(*words, "--help", COLUMNS=columns).output.splitlines()
                assert not [line for line in lines if line.strip()[:1] in {*"，。、；：）？"} - {""}]


@pytest.mark.parametrize(
    "arguments",
    [
        ["check"],
        ["check", "--foo", "x"],
        ["chek"],
        ["check", "x", "--config", "nowhere.toml"],
        ["check", "x", "--ignore", "kl-off"],
        ["list", "colours"],
        ["explain"],
        ["watch", "-"],
        ["simulate", "--rows", "0"],
        ["simulate", "--algorithm", "dpo"],
        ["simulate"],
        ["compare"],
    ],
    ids=" ".join,
)
def test_a_wrong_use_is_told_in_the_language(arguments):
    result = asked(*arguments)
    assert result.exit_code == 2
    assert re.search(r"[\u4e00-\u9fff]", result.output)
    assert not english(result.output)


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", SICK],
        ["check", "--verbose", SICK],
        ["check", HEALTHY],
        ["check", "--verbose", HEALTHY],
        ["watch", "--once", SICK],
        ["watch", "--once", HEALTHY],
        ["report", "--format", "markdown", SICK, HEALTHY],
        ["compare", SICK, HEALTHY],
        ["compare", "--format", "markdown", SICK, HEALTHY],
        ["keys", SICK],
        ["rules", "test", SICK, HEALTHY],
        ["simulate", "--list"],
        ["list", "signals"],
        ["list", "detectors"],
        ["list", "readers"],
        ["list", "dialects"],
    ],
    ids=" ".join,
)
def test_no_english_sentence_is_left_in_what_a_command_prints(arguments):
    result = asked(*arguments, COLUMNS="200")
    assert result.exit_code in (0, 1)
    assert re.search(r"[\u4e00-\u9fff]", result.output)
    assert not english(result.output)


@pytest.mark.parametrize("form", ["json", "sarif"])
def test_what_programs_read_is_the_same_in_every_language(form):
    arguments = ["report", "--format", form, SICK]
    assert asked(*arguments).output == asked(*arguments, HOLTER_LANG="en").output


@pytest.mark.parametrize("arguments", [["--lang", "zh", "check", "--help"], ["check", "--help", "--lang=zh"]])
def test_the_language_is_heard_wherever_it_stands(arguments):
    before = language.spoken()
    assert "显示此帮助后退出" in asked(*arguments, HOLTER_LANG="en").output
    assert language.spoken() == before


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (["check", "--lang", "zh"], "zh"),
        (["--lang=zh", "check", "--lang", "en"], "en"),
        (["check", "--", "--lang", "zh"], None),
        (["check", "--lang"], None),
        ([], None),
    ],
)
def test_the_last_word_on_the_language_counts(arguments, found):
    assert asked_for(arguments) == found


def test_an_error_is_one_line_in_the_language(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["holter", "check", "nowhere.jsonl", "--lang", "zh"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert told.startswith("holter: nowhere.jsonl")
    assert told.count("\n") == 1
    assert not english(told)


def test_without_compiled_catalogues_english_is_spoken_and_that_is_said(monkeypatch, capsys, caplog, tmp_path):
    monkeypatch.setattr("sys.argv", ["holter", "check", "nowhere.jsonl"])
    monkeypatch.setenv("HOLTER_LANG", "zh")
    monkeypatch.setattr(language, "FOLDER", tmp_path)
    monkeypatch.setattr(language, "_catalogue", language._catalogue.__wrapped__)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("holter: nowhere.jsonl: there is no such file or folder.")
    assert "the texts in 中文 were not compiled" in caplog.text


def test_a_language_nobody_speaks_is_an_error_in_one_that_somebody_does(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["holter", "check", "x", "--lang", "fr"])
    with pytest.raises(SystemExit):
        main()
    assert "--lang fr" in capsys.readouterr().err


def test_a_sentence_as_an_errors_message_is_told_when_it_is_printed(monkeypatch, capsys):
    def raise_it(*_, **__):
        raise HolterError(said("{file}: it cannot be written ({why}).", file="a.html", why="x"))

    monkeypatch.setattr("sys.argv", ["holter", "--lang", "zh", "list", "signals"])
    monkeypatch.setattr("holter.reports.lookup.members", raise_it)
    with pytest.raises(SystemExit):
        main()
    assert capsys.readouterr().err == "holter: a.html：无法写入（x）。\n"
