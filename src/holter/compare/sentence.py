"""A sentence that can be said in any language: its template is translated, the names and numbers in it are quoted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence, or a part of one.

    Attributes:
        template: English, with the names of values in braces; the key in the catalogues.
        values: What stands in it as it is: a log's names, numbers.
        phrases: What stands in it in its language: a text, a part of its own, or several, which are listed.
    """

    template: str
    values: Mapping[str, str] = field(default_factory=dict)
    phrases: Mapping[str, str | Sentence | Sequence[Sentence]] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.said_by(str)

    def said_by(self, text: Callable[[str], str]) -> str:
        """The sentence in the language of `text`, which translates a template."""
        return text(self.template).format(**self.values, **{k: _said(v, text) for k, v in self.phrases.items()})


def _said(phrase: str | Sentence | Sequence[Sentence], text: Callable[[str], str]) -> str:
    if isinstance(phrase, str):
        return text(phrase)
    if isinstance(phrase, Sentence):
        return phrase.said_by(text)
    return text(", ").join(each.said_by(text) for each in phrase)
