"""The catalogues' sources as the tests read them, and what they have to hold of the code's registries."""

import os
from functools import cache

from babel.messages.pofile import read_po

from holter import language
from holter.detectors.registry import all_detectors
from holter.dialects.registry import all_dialects
from holter.readers.registry import all_readers
from holter.reports.pages import described, sections, summary
from holter.signals.catalog import catalog

SIGNAL_TEXTS = ("title", "sign", "what", "healthy", "differs")
DETECTOR_SECTIONS = ("Why it matters", "When it fires", "What to do", "When it is wrong")
UPDATE = "HOLTER_UPDATE_CATALOGUES"


def files(code: str) -> dict:
    """The sources of a language's catalogues by their name."""
    return {path.stem: path for path in sorted((language.FOLDER / code / "LC_MESSAGES").glob("*.po"))}


@cache
def messages(code: str, name: str) -> dict:
    """The messages of one catalogue's source by their English text, in the file's order."""
    with files(code)[name].open("rb") as stream:
        return {m.id: m for m in read_po(stream, abort_invalid=True) if m.id}


def written(code: str) -> dict:
    """The messages of all catalogues of a language."""
    return {k: m for name in files(code) for k, m in messages(code, name).items()}


def signal_texts() -> dict:
    """Every text of every signal's page, and where it stands first; formulas and sources are the same in every language."""
    found: dict[str, str] = {}
    for key, signal in catalog().items():
        for field in SIGNAL_TEXTS:
            if said := getattr(signal, field):
                found.setdefault(said, f"{key} {field}")
    return found


def detector_texts() -> dict:
    """The first line and the fixed sections of every detector's page, and where they stand."""
    found: dict[str, str] = {}
    for name, detector in all_detectors().items():
        found.setdefault(summary(detector), f"{name} summary")
        for title, body in sections(detector.page()):
            if title in DETECTOR_SECTIONS:
                found.setdefault(body, f"{name} {title}")
    return found


def dialect_texts() -> dict:
    """The axis, the note and the notes on names of every dialect, and where they stand; a bare name is no text."""
    found: dict[str, str] = {}
    for name, dialect in all_dialects().items():
        told = {"axis": dialect.axis, "note": dialect.note, **{n.raw: n.note for n in dialect.names}}
        for where, said in told.items():
            if " " in said or said.endswith("."):
                found.setdefault(said, f"{name} {where}")
    return found


def reader_texts() -> dict:
    """The title of every reader and what it says of its format, and where they stand."""
    found: dict[str, str] = {}
    for name, reader in all_readers().items():
        found.setdefault(reader.title, f"{name} title")
        for i, said in enumerate(described(reader)):
            found.setdefault(said, f"{name} {i}")
    return found


def completed(code: str, name: str, wanted: dict) -> dict:
    """The messages of a catalogue that holds `wanted`, texts and where they stand.

    With `UPDATE` set the file is written anew before: in the order of `wanted`, untranslated texts empty, without those
    that are gone.
    """
    if os.environ.get(UPDATE):
        path = files(code)[name]
        held = messages(code, name)
        others = {k for other in files(code) if other != name for k in messages(code, other)}
        entries = [
            f"#. {where}\nmsgid {_quoted(said)}\nmsgstr {_quoted(held[said].string if said in held else '')}\n"
            for said, where in wanted.items()
            if said not in others
        ]
        head = path.read_text(encoding="utf-8").split("\n\n", 1)[0]
        path.write_text("\n".join([f"{head}\n", *entries]), encoding="utf-8", newline="\n")
        messages.cache_clear()
    return messages(code, name)


def _quoted(text: str) -> str:
    """A string of a catalogue, one line of the text a line."""
    lines = [line.replace("\\", "\\\\").replace('"', '\\"') for line in text.split("\n")]
    return (
        f'"{lines[0]}"' if len(lines) == 1 else "\n".join(['""', *(f'"{s}\\n"' for s in lines[:-1]), f'"{lines[-1]}"'])
    )
