"""The language Holter speaks: one function that every text for people goes through.

Texts stand in the code in English; the catalogues in ``locale/<language>/LC_MESSAGES`` hold them in the others, compiled when
the package is built: ``holter.po`` the reports, ``explain.po`` the frame of what `holter explain` and `holter list` show, and
``signals.po``, ``detectors.po``, ``dialects.po`` and ``readers.po`` the pages themselves. What a log wrote (names of metrics,
configuration, completions) is quoted, never translated.
"""

from __future__ import annotations

import gettext
import os
from contextvars import ContextVar
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from holter.errors import HolterError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SOURCE = "en"
LANGUAGES: Mapping[str, str] = {SOURCE: "English", "zh": "中文"}
"""Languages by code, each by its own name."""
FOLDER = Path(__file__).parent / "locale"
VARIABLE = "HOLTER_LANG"
_LOCALE = ("LC_ALL", "LC_MESSAGES", "LANG")
_spoken: ContextVar[str] = ContextVar("holter_language", default=SOURCE)


class UnknownLanguageError(HolterError, ValueError):
    """A language was asked for that Holter does not speak."""


def choose(asked: str | None = None, environment: Mapping[str, str] | None = None) -> str:
    """The language to speak: the one asked for, else `HOLTER_LANG`, else the locale's, else English.

    Args:
        asked: What ``--lang`` said.
        environment: Environment variables; the process's own by default.

    Raises:
        UnknownLanguageError: When the one asked for, or ``HOLTER_LANG``, is none of `LANGUAGES`.
    """
    environment = os.environ if environment is None else environment
    for source, said in (("--lang", asked), (VARIABLE, environment.get(VARIABLE))):
        if said:
            if (code := _code(said)) is None:
                raise UnknownLanguageError(f"{source} {said}: Holter speaks {', '.join(LANGUAGES)}.")
            return code
    said = next((environment[name] for name in _LOCALE if environment.get(name)), "")
    return _code(said) or SOURCE


def speak(language: str) -> None:
    """Speak `language`, a key of `LANGUAGES`, from here on in this context (a thread, a task, a request)."""
    _spoken.set(language)


def spoken() -> str:
    """The language spoken in this context."""
    return _spoken.get()


def text(message: str) -> str:
    """A text in the language spoken; itself where the catalogue does not hold it."""
    return translated(message, spoken())


def translated(message: str, language: str) -> str:
    """A text in `language`, a key of `LANGUAGES`; itself where the catalogue does not hold it.

    Raises:
        HolterError: When the catalogue of that language was not compiled.
    """
    # The empty text stands for the catalogue's own head.
    return _catalogue(language).gettext(message) if message and language != SOURCE else message


class Said(str):
    """A sentence with names and numbers in it that any language can say: in English it is a string like any other.

    Attributes:
        template: The sentence with fields in braces, in English; the key in the catalogues.
        values: What stands in the fields.
    """

    __slots__ = ("template", "values")
    template: str
    values: Mapping[str, object]

    def __new__(cls, template: str, values: Mapping[str, object]) -> Said:
        """Fill the template in English."""
        self = super().__new__(cls, template.format(**values))
        self.template, self.values = template, values
        return self

    def __reduce__(self) -> tuple[type[Said], tuple[str, Mapping[str, object]]]:
        return Said, (self.template, self.values)


def said(template: str, /, **values: object) -> Said:
    """A sentence that `told` can say in any language.

    Args:
        template: English, a literal, with the values' names in braces.
        **values: What stands in it. A log's names and numbers are quoted as they are; another `Said`, and a member of an
            enumeration of texts (a unit, a confidence), is told in the language, too.
    """
    return Said(template, values)


def listed(parts: Iterable[str], separator: str = ", ") -> str:
    """Parts of a sentence one after the other; `separator` is a text of the catalogues, too."""
    held = {f"part{i}": part for i, part in enumerate(parts)}
    if len(held) < 2:
        return next(iter(held.values()), "")
    return Said("{between}".join(f"{{{name}}}" for name in held), {"between": said(separator), **held})


def told(sentence: str) -> str:
    """A text of Holter's in the language spoken: a `Said` with its values in place, another string as a whole."""
    if not isinstance(sentence, Said):
        return text(sentence)
    return text(sentence.template).format(**{name: _value(v) for name, v in sentence.values.items()})


def _value(value: object) -> object:
    return told(value) if isinstance(value, Said | StrEnum) else value


@cache
def _catalogue(language: str) -> gettext.NullTranslations:
    """All catalogues of a language as one; a text stands in one of them."""
    whole = gettext.NullTranslations()
    compiled = sorted((FOLDER / language / "LC_MESSAGES").glob("*.mo"))
    if not compiled:
        raise HolterError(
            f"the texts in {LANGUAGES.get(language, language)} were not compiled; `pip install .` in Holter's source does it"
        )
    for path in compiled:
        with path.open("rb") as stream:
            whole.add_fallback(gettext.GNUTranslations(stream))
    return whole


def _code(said: str) -> str | None:
    """``zh_CN.UTF-8`` is ``zh``."""
    code = said.replace("-", "_").split(".")[0].split("_")[0].lower()
    return code if code in LANGUAGES else SOURCE if code in ("c", "posix") else None
