"""The language Holter speaks: every text for people goes through here.

Texts stand in the code in English; the catalogues in ``locale/<language>/LC_MESSAGES`` hold them in the others, compiled when
the package is built. What a log wrote (names of metrics, configuration, completions) is quoted, never translated. What programs
read (JSON, SARIF, ``findings.jsonl``) is English in every language.

========================  ==================================================================================================
what is at hand           what to write
========================  ==================================================================================================
shown here and now        ``told("No run below {folder}.", folder=folder)``: a string in the language spoken
told later, or elsewhere  ``said("{metric} is {value:g}", metric=..., value=...)``: findings, notes, errors
a string that is a text   ``phrase(finding.title)``: as a value in a sentence it is told, too; a plain string is quoted
several parts             ``listed(names)`` in one sentence, ``sentences(parts)`` one after the other
an error                  ``raise SettingsError("PPOConfig:", said(...))``, and ``reason(error)``, see `holter.errors`
a line of `logging`       ``log.warning(told("{file} cannot be written now ({why})", file=..., why=...))``
========================  ==================================================================================================

What is spoken is what ``--lang`` says, else ``HOLTER_LANG``, else the locale; a request to the dashboard, and whoever uses
`speaking`, has a language of its own.
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

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

SOURCE = "en"
LANGUAGES: Mapping[str, str] = {SOURCE: "English", "zh": "中文"}
"""Languages by code, each by its own name."""
FOLDER = Path(__file__).parent / "locale"
VARIABLE = "HOLTER_LANG"
_LOCALE = ("LC_ALL", "LC_MESSAGES", "LANG")
_spoken: ContextVar[str | None] = ContextVar("holter_language", default=None)


def of_environment(environment: Mapping[str, str] = os.environ) -> str:
    """The language that `HOLTER_LANG` names, else the locale; English where it is not spoken.

    What runs in a training never fails of a language, so a name that is none is no error here.
    """
    named = next((environment[name] for name in (VARIABLE, *_LOCALE) if environment.get(name)), "")
    return language_of(named) or SOURCE


def language_of(locale: str) -> str | None:
    """The language of a locale's name, ``zh`` of ``zh_CN.UTF-8`` and of ``zh-Hans``; None where it is not spoken."""
    code = locale.replace("-", "_").split(".")[0].split("_")[0].lower()
    return code if code in LANGUAGES else SOURCE if code in ("c", "posix") else None


@contextmanager
def speaking(language: str | None) -> Iterator[None]:
    """Speak `language`, a key of `LANGUAGES`, in this context (a thread, a task, a request) until the block ends.

    None speaks the environment's.
    """
    before = _spoken.set(language)
    try:
        yield
    finally:
        _spoken.reset(before)


def spoken() -> str:
    """The language spoken in this context."""
    return _spoken.get() or of_environment()


def told(sentence: str, /, **values: object) -> str:
    """A text of Holter's in the language spoken; itself where no catalogue holds it.

    Args:
        sentence: A text, a `Said`, or a template.
        **values: What stands in the template, as `said` takes it.
    """
    return translated(sentence, spoken(), **values)


def translated(sentence: str, language: str, /, **values: object) -> str:
    """A text in `language`, a key of `LANGUAGES`, as `told` says it in the one spoken."""
    if isinstance(sentence, Said):
        if language == SOURCE:
            return str(sentence)
        return _filled(translated(sentence.template, language), sentence.values, language)
    # The empty text stands for the catalogue's own head.
    text = str(sentence) if language == SOURCE or not sentence else _catalogue(language).gettext(sentence)
    return _filled(text, values, language) if values else text


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


def some(parts: Sequence[str], most: int) -> str:
    """The first `most` parts one after the other, and how many more there are."""
    shown, more = listed(parts[:most]), len(parts) - most
    return said("{names} and {n} more", names=shown, n=more) if more > 0 else shown


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


def _filled(text: str, values: Mapping[str, object], language: str) -> str:
    return text.format(
        **{name: translated(v, language) if isinstance(v, Said | StrEnum) else v for name, v in values.items()}
    )


@cache
def _catalogue(language: str) -> gettext.NullTranslations:
    """All catalogues of a language as one; a text stands in one of them. Without any, English is spoken, and that is said."""
    whole = gettext.NullTranslations()
    compiled = sorted((FOLDER / language / "LC_MESSAGES").glob("*.mo"))
    if not compiled:
        # Only then, because a command answers before this module would be loaded.
        import logging

        logging.getLogger(__name__).warning(
            "the texts in %s were not compiled, so English is spoken; `pip install .` in Holter's source does it",
            LANGUAGES.get(language, language),
        )
    for path in compiled:
        with path.open("rb") as stream:
            whole.add_fallback(gettext.GNUTranslations(stream))
    return whole
