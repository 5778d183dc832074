"""The catalogues' sources as the tests read them, and what they have to hold of the code and of its registries."""

import ast
import inspect
import os
import re
from functools import cache
from pathlib import Path

import click
from babel.messages.pofile import read_po

import holter
from holter import language
from holter.cli import holter as command
from holter.cli._speaking import PLACEHOLDER
from holter.detectors.registry import all_detectors
from holter.dialects.registry import all_dialects
from holter.readers.registry import all_readers
from holter.reports.pages import described, sections, summary
from holter.signals.catalog import catalog
from holter.trainers.launch import PARTS

SIGNAL_TEXTS = ("title", "sign", "what", "healthy", "differs")
DETECTOR_SECTIONS = ("Why it matters", "When it fires", "What to do", "When it is wrong")
UPDATE = "HOLTER_UPDATE_CATALOGUES"
ENGLISH = re.compile(r"\b(?:and|or|of|in|its|to|until|unknown|longer)\b")
"""Words that no name of a framework has."""
SOURCES = Path(holter.__file__).parent
SPEAKING = ("said", "told", "phrase")
"""Functions of `holter.language` whose first argument is a text."""


def files(code: str) -> dict:
    """The sources of a language's catalogues by their name."""
    return {path.stem: path for path in sorted((language.FOLDER / code / "LC_MESSAGES").glob("*.po"))}


@cache
def messages(code: str, name: str) -> dict:
    """The messages of one catalogue's source by their English text, in the file's order; click has some with a plural."""
    with files(code)[name].open("rb") as stream:
        return {m.id: m for m in read_po(stream, abort_invalid=True) if m.id and not m.pluralizable}


def written(code: str) -> dict:
    """The messages of all catalogues of a language."""
    return {k: m for name in files(code) for k, m in messages(code, name).items()}


def source_texts(*below: str) -> dict:
    """Every literal that is given to a function of `holter.language` in the source, and where it stands.

    Args:
        *below: Only those of these packages and modules; all by default.
    """
    found: dict[str, str] = {}
    for path in sorted(SOURCES.rglob("*.py")):
        where = path.relative_to(SOURCES).with_suffix("").as_posix()
        if not below or where.startswith(below):
            for message in _literals(ast.parse(path.read_text(encoding="utf-8"))):
                found.setdefault(message, where)
    return found


def example_texts() -> dict[str, str]:
    """What `make demo` says."""
    demo = Path(__file__).parents[2] / "examples" / "demo.py"
    return dict.fromkeys(_literals(ast.parse(demo.read_text(encoding="utf-8"))), "demo")


def _literals(tree: ast.Module) -> list[str]:
    imports = [n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.module == "holter.language"]
    known = {a.name for n in imports for a in n.names}
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and getattr(n.func, "id", "") in known]
    given = [c.args[0] for c in calls if c.func.id in SPEAKING and c.args]
    given += [c.args[1] for c in calls if c.func.id == "listed" and len(c.args) > 1]
    constants = (n for arg in given if isinstance(arg, ast.Constant | ast.IfExp) for n in _ends(arg))
    return [c.value for c in constants if isinstance(c.value, str) and c.value]


def _ends(node: ast.expr) -> list[ast.Constant]:
    if isinstance(node, ast.IfExp):
        return [*_ends(node.body), *_ends(node.orelse)]
    return [node] if isinstance(node, ast.Constant) else []


def help_texts() -> dict:
    """What ``--help`` says of every command: usage, paragraphs, options; examples are the same in every language."""
    found: dict[str, str] = {}
    waiting: list[tuple[str, click.Command]] = [("holter", command)]
    for name, each in waiting:
        context = click.Context(each)
        said = [inspect.cleandoc(s) for s in (each.help, each.epilog) if s and not isinstance(s, language.Said)]
        paragraphs = [" ".join(p.split()) for s in said for p in s.split("\n\n") if not p.startswith(r"\b")]
        options = [p.help for p in each.params if isinstance(p, click.Option)]
        valued = [p for p in each.params if not getattr(p, "is_flag", False)]
        usage = [*each.collect_usage_pieces(context), *(p.make_metavar(context) for p in valued)]
        placeholders = [word for piece in usage for word in PLACEHOLDER.findall(piece)]
        for message in filter(None, [*paragraphs, *options, *placeholders]):
            found.setdefault(message, name)
        if isinstance(each, click.Group):
            known = ((n, each.get_command(context, n)) for n in each.list_commands(context))
            waiting += [(f"{name} {n}", c) for n, c in known if c is not None]
    return found


def setting_texts() -> dict:
    """What ``holter train --help`` says of the settings that are Holter's own, found without what training needs."""
    found = {said: f"part {name}" for name, said in PARTS.items()}
    for path in sorted((SOURCES / "trainers").glob("*config.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
                for said in _helps(node.value):
                    found.setdefault(" ".join(said.replace("%%", "%").split()), f"setting {node.target.id}")
    return found


def _helps(field: ast.expr) -> list[str]:
    pairs = [(k, v) for n in ast.walk(field) if isinstance(n, ast.Dict) for k, v in zip(n.keys, n.values, strict=True)]
    return [
        v.value for k, v in pairs if isinstance(k, ast.Constant) and k.value == "help" and isinstance(v, ast.Constant)
    ]


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
        for where, said in {"title": dialect.title, "versions": dialect.spoken_by}.items():
            if ENGLISH.search(said):
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
