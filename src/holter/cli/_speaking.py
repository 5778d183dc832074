"""Commands whose help is in the language spoken.

Help texts stand in the commands in English; paragraphs and the help of options are the keys in the catalogues. click's own words
go through `gettext`, which is given the catalogue ``click.po`` while a command runs.
"""

from __future__ import annotations

import contextlib
import copy
import difflib
import gettext
import inspect
import os
import re
import unicodedata
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import click

from holter.errors import HolterError
from holter.language import (
    FOLDER,
    LANGUAGES,
    SOURCE,
    VARIABLE,
    language_of,
    listed,
    of_environment,
    phrase,
    said,
    sentences,
    speaking,
    spoken,
    told,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

OPTION = "--lang"
DOMAIN = "click"
"""The catalogue of what click says."""
OF_GETTEXT = "LANGUAGE"
"""The variable by which `gettext` knows the language."""
EXAMPLE = r"\b"
"""Begins a paragraph whose lines stay as they are, as a raw docstring holds it."""
PLACEHOLDER = re.compile(r"[A-Z]{2,}(?: [A-Z]{2,})?")
"""What stands for a value in a usage line: ``LOG``, ``INTEGER RANGE``."""
_BESIDE = "\ue000"
"""Stands beside a character that is two columns wide and must not end a line, while lines are broken."""
_CLOSING, _OPENING = "，。、；：？！）》」』", "（《「『"


class UnknownLanguageError(HolterError, ValueError):
    """A language was asked for that Holter does not speak."""


def asked_for(arguments: Sequence[str]) -> str | None:
    """What ``--lang`` says among the arguments of a command, wherever it stands; known before they are looked at."""
    given = list(arguments)
    found = None
    for at, each in enumerate(given):
        if each == "--":
            break
        name, sign, value = each.partition("=")
        if name == OPTION:
            found = value if sign else next(iter(given[at + 1 :]), None)
    return found


def choose(asked: str | None = None, environment: Mapping[str, str] = os.environ) -> str:
    """The language to speak: the one asked for, else the environment's.

    Args:
        asked: What ``--lang`` said.
        environment: Environment variables.

    Raises:
        UnknownLanguageError: When the one asked for, or ``HOLTER_LANG``, is none of `LANGUAGES`.
    """
    for source, given in ((OPTION, asked), (VARIABLE, environment.get(VARIABLE))):
        if given:
            if (code := language_of(given)) is None:
                raise UnknownLanguageError(
                    said(
                        "{source} {given}: Holter speaks {languages}.",
                        source=source,
                        given=given,
                        languages=listed(LANGUAGES),
                    )
                )
            return code
    return of_environment(environment)


@contextlib.contextmanager
def all_speaking(language: str) -> Iterator[None]:
    """Speak `language` until the block ends: click, the threads and the processes that begin in it, too."""
    domain = gettext.textdomain()
    variables = {VARIABLE: language, **({OF_GETTEXT: language} if language != SOURCE else {})}
    before = {name: os.environ.get(name) for name in variables}
    if language != SOURCE:
        gettext.bindtextdomain(DOMAIN, str(FOLDER))
        gettext.textdomain(DOMAIN)
    os.environ.update(variables)
    try:
        with speaking(language):
            yield
    finally:
        gettext.textdomain(domain)
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


class Formatter(click.HelpFormatter):
    """Writes help in the language spoken, no wider than the terminal."""

    def __init__(self, *args: Any, **options: Any) -> None:  # noqa: ANN401 - click's signature
        """As `click.HelpFormatter`."""
        super().__init__(*args, **options)
        # A line may end in a character whose second column `_spread` makes a space, which is dropped there.
        self.width -= spoken() != SOURCE

    def write(self, string: str) -> None:
        """Write lines that are finished."""
        super().write(_closed(string))

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        """Write how the command is called."""
        super().write_usage(prog, _spread(args), prefix)

    def write_heading(self, heading: str) -> None:
        """Write the heading of a section."""
        self.write(" " * self.current_indent + told("{title}:", title=phrase(heading)) + "\n")

    def write_text(self, text: str) -> None:
        """Write paragraphs."""
        super().write_text(_spread("\n\n".join(map(_paragraph, text.split("\n\n")))))

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """Write two columns."""
        super().write_dl([(_spread(first), _spread(second)) for first, second in rows], col_max, col_spacing)


class Context(click.Context):
    """A context whose help is written by `Formatter`."""

    formatter_class = Formatter


class Command(click.Command):
    """A command with the option ``--lang``, which `speaking` obeys, and with help in the language spoken."""

    context_class = Context

    def __init__(self, *args: Any, **options: Any) -> None:  # noqa: ANN401 - click's signature
        """As `click.Command`."""
        super().__init__(*args, **options)
        for each in self.params:
            # What stands for a value is asked for in usage lines, help texts and errors.
            each.make_metavar = partial(_placeholder, each.make_metavar)  # type: ignore[method-assign]
        self.params.append(
            click.Option(
                [OPTION],
                metavar=f"[{'|'.join(LANGUAGES)}]",
                expose_value=False,
                help="Language.  [default: HOLTER_LANG, else the locale's]",
            )
        )

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """The option ``--help``, which click keeps in the language that it was first asked in."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.help = "Show this message and exit."
        return option

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """What stands for options and arguments behind the command."""
        return list(map(_words, super().collect_usage_pieces(ctx)))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """What each option does."""
        options = [p for p in self.get_params(ctx) if not isinstance(p, click.Argument)]
        records = [r for option in options if (r := _in_the_language(option).get_help_record(ctx)) is not None]
        with formatter.section("Options"):
            formatter.write_dl(records)

    def get_short_help_str(self, limit: int = 45) -> str:
        """The first sentence."""
        if self.short_help:
            return told(self.short_help)
        if spoken() == SOURCE or not self.help:
            return super().get_short_help_str(limit)
        return _paragraph(inspect.cleandoc(self.help).split("\n\n", 1)[0]).partition("。")[0]


class Group(Command, click.Group):
    """A group of such commands."""

    command_class = Command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first argument names.

        Raises:
            click.UsageError: When there is none, with those that are called nearly so.
        """
        near = difflib.get_close_matches(args[0], self.list_commands(ctx), n=3)
        if not near or near[0] == args[0]:
            return super().resolve_command(ctx, args)
        unknown = said("There is no command {name}.", name=args[0])
        meant = said("Did you mean {names}?", names=listed(near))
        raise click.UsageError(told(sentences([unknown, meant])), ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options, then the commands."""
        super().format_options(ctx, formatter)
        self.format_commands(ctx, formatter)


def _in_the_language(option: click.Parameter) -> click.Parameter:
    if not isinstance(option, click.Option) or not option.help:
        return option
    own = copy.copy(option)
    own.help = told(option.help)
    return own


def _placeholder(make_metavar: Callable[[click.Context], str], ctx: click.Context) -> str:
    return _words(make_metavar(ctx))


def _words(placeholder: str) -> str:
    """What stands for a value, in the language spoken: the words in capitals; what is typed as it stands has none."""
    return PLACEHOLDER.sub(lambda found: told(found[0]), placeholder)


def _paragraph(text: str) -> str:
    """A paragraph of a help text in the language spoken; an example is the same in all."""
    if text.startswith(EXAMPLE):
        return "\b" + text.removeprefix(EXAMPLE)
    return told(" ".join(text.split()))


def _spread(text: str) -> str:
    """A text in which every character is one column, for click, which counts characters and ends lines at spaces.

    A character that is two columns wide gets a space, at which the line may end, or where it may not, what is no space.
    """
    following = [*text[1:], ""]
    return "".join(
        c if not _is_wide(c) else f"{c}{_BESIDE}" if c in _OPENING or n in _CLOSING else f"{c} "
        for c, n in zip(text, following, strict=True)
    )


def _closed(text: str) -> str:
    """What `_spread` was given, in the lines that were made of it."""
    kept = (c for before, c in pairwise(f" {text}") if not (c == " " and _is_wide(before)))
    return "".join(kept).replace(_BESIDE, "")


def _is_wide(character: str) -> bool:
    return unicodedata.east_asian_width(character) in "WF"
