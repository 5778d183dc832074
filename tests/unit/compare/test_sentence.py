"""Sentences in other languages: templates and phrases are translated, what a log says is quoted."""

from __future__ import annotations

from holter.compare import Sentence

GERMAN = {
    "{name} at {place}": "{name} bei {place}",
    "step {step}": "Schritt {step}",
    "First {what}.": "Zuerst {what}.",
    "reward": "Lohn",
    ", ": " und ",
}


def test_a_sentence_is_said_in_a_language_down_to_its_parts() -> None:
    parts = [
        Sentence("{name} at {place}", {"name": n}, {"place": Sentence("step {step}", {"step": "7"})}) for n in "ab"
    ]
    said = Sentence("First {what}.", phrases={"what": parts})
    assert str(said) == "First a at step 7, b at step 7."
    assert said.said_by(lambda m: GERMAN.get(m, m)) == "Zuerst a bei Schritt 7 und b bei Schritt 7."


def test_names_of_a_log_are_quoted_though_they_are_words_and_hold_braces() -> None:
    said = Sentence("{name} at {place}", {"name": "reward", "place": "{name}"})
    assert said.said_by(lambda m: GERMAN.get(m, m)) == "reward bei {name}"
