"""The language Holter speaks: one function that every text for people goes through.

Texts stand in the code in English; the catalogues in ``locale/<language>/LC_MESSAGES`` hold them in the others, compiled when
the package is built. What a log wrote (names of metrics, configuration, completions) is quoted, never translated. What programs
read (JSON, SARIF, ``findings.jsonl``, log lines of `logging`) is English in every language.
"""

from __future__ import annotations

import gettext
import os
from contextlib import contextmanager
from contextvars import ContextVar
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from holter.errors import HolterError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

SOURCE = "en"
LANGUAGES: Mapping[str, str] = {SOURCE: "English", "zh": "中文"}
"""Languages by code, each by its own name."""
FOLDER = Path(__file__).parent / "locale"
VARIABLE = "HOLTER_LANG"
_LOCALE = ("LC_ALL", "LC_MESSAGES", "LANG")
_spoken: ContextVar[str | None] = ContextVar("holter_language", default=None)


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
    for source, given in (("--lang", asked), (VARIABLE, environment.get(VARIABLE))):
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
    given = next((environment[name] for name in _LOCALE if environment.get(name)), "")
    return language_of(given) or SOURCE


def language_of(locale: str) -> str | None:
    """The language of a locale's name, ``zh`` of ``zh_CN.UTF-8`` and of ``zh-Hans``; None where it is not spoken."""
    code = locale.replace("-", "_").split(".")[0].split("_")[0].lower()
    return code if code in LANGUAGES else SOURCE if code in ("c", "posix") else None


def speak(language: str | None) -> None:
    """Speak `language`, a key of `LANGUAGES`, from here on in this context (a thread, a task, a request); None: as before."""
    _spoken.set(language)


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Speak `language`, a key of `LANGUAGES`, until the block ends."""
    before = _spoken.set(language)
    try:
        yield
    finally:
        _spoken.reset(before)


def asked() -> str | None:
    """The language that this context was told to speak; None where it speaks the environment's."""
    return _spoken.get()


def spoken() -> str:
    """The language spoken in this context."""
    return _spoken.get() or _of_the_environment()


def text(message: str) -> str:
    """A text in the language spoken; itself where the catalogue does not hold it."""
    return translated(message, spoken())


def translated(message: str, language: str) -> str:
    """A text in `language`, a key of `LANGUAGES`; itself where the catalogue does not hold it.

    Args:
        message: A constant text, the template of a sentence, or a `Said`, whose values are put in.
        language: Its code.

    Raises:
        HolterError: When the catalogue of that language was not compiled.
    """
    if language == SOURCE:
        return str(message)
    if isinstance(message, Said):
        values = {name: _value(v, language) for name, v in message.values.items()}
        return translated(message.template, language).format(**values)
    # The empty text stands for the catalogue's own head.
    return _catalogue(language).gettext(message) if message else message


class Said(str):
    """A sentence with names and numbers in it that any language can say: in English it is a string like any other.

    Attributes:
        template: The sentence with fields in braces, in English; the key in the catalogues.
        values: What stands in the fields.
    """

    __slots__ = ("template", "values")
    template: str
    values: Mapping[str, object]

    def __new__(cls, template: str, values: Mapping[str, object], english: str | None = None) -> Said:
        """Fill the template in English, unless `english` is how it is said there."""
        self = super().__new__(cls, template.format(**values) if english is None else english)
        self.template, self.values = template, values
        return self

    def __reduce__(self) -> tuple[type[Said], tuple[str, Mapping[str, object], str]]:
        return Said, (self.template, self.values, str(self))

    def in_english(self, wording: str) -> Said:
        """The same sentence with another wording in English: a capital that Chinese has not, a subject said before."""
        return Said(self.template, self.values, wording)


def said(template: str, /, **values: object) -> Said:
    """A sentence that `told` can say in any language.

    Args:
        template: English, a literal, with the values' names in braces.
        **values: What stands in it. A log's names and numbers are quoted as they are; another `Said`, and a member of an
            enumeration of texts (a unit, a confidence), is told in the language, too.
    """
    return Said(template, values)


def phrase(constant: str) -> Said:
    """A text without values, to stand in a sentence in its language; a `Said` is one already."""
    if isinstance(constant, Said):
        return constant
    return Said(constant.replace("{", "{{").replace("}", "}}"), {})


def listed(parts: Iterable[str], separator: str = ", ") -> str:
    """Parts of a sentence one after the other; `separator` is a text of the catalogues, too."""
    held = {f"part{i}": part for i, part in enumerate(parts)}
    if len(held) < 2:
        return next(iter(held.values()), "")
    return Said("{between}".join(f"{{{name}}}" for name in held), {"between": said(separator), **held})


def sentences(parts: Iterable[str]) -> Said:
    """Sentences one after the other, with the blank between them that the language has, and one behind a place and its colon."""
    whole = phrase("")
    for part in map(phrase, parts):
        if not whole:
            whole = part
        elif whole.endswith(":"):
            whole = Said("{place} {why}", {"place": whole, "why": part})
        else:
            whole = said("{before} {after}", before=whole, after=part)
    return whole


def reason(error: Exception) -> Said:
    """What an error says, to stand in a sentence in its language: the system's words, or those it was raised with."""
    if isinstance(error, HolterError):
        return sentences(error.args)
    if isinstance(error, OSError) and error.strerror:
        return phrase(error.strerror)
    return phrase(error.args[0] if error.args and isinstance(error.args[0], Said) else str(error))


def told(sentence: str) -> str:
    """A text of Holter's in the language spoken: a `Said` with its values in place, another string as a whole."""
    return translated(sentence, spoken())


def _value(value: object, language: str) -> object:
    return translated(value, language) if isinstance(value, Said | StrEnum) else value


def _of_the_environment() -> str:
    """The environment's language; English where it names one that is not spoken: what runs in a training never fails of it."""
    try:
        return choose()
    except UnknownLanguageError:
        return SOURCE


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
