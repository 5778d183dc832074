"""The texts that say how a log was read (notes, reasons, what a step is), and those of errors elsewhere.

They are found as the literals with a blank in them, so that a new one is asked for wherever it stands; what a blank stands in for
another reason (patterns, SQL, names that logs write) is left out by the call or the module it belongs to.
"""

from __future__ import annotations

import ast
import errno
import os
import re
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

import holter
from holter.readers.tensorboard import event

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(holter.__file__).parent
READ = ("readers", "runs", "store")
REFUSING = (
    "language.py",
    "settings.py",
    "discovery.py",
    "compare/curves.py",
    "simulation/run.py",
    *sorted(f"export/{p.name}" for p in (ROOT / "export").glob("*.py")),
)
"""Modules whose texts are those of errors, and of what an export does not hold."""
KINDS = ("algorithm", "detector", "dialect", "estimator", "family", "fault", "signal", "tracker")
"""What has unknown names."""
SPOKEN = {"said", "told", "phrase", "listed"}
"""Calls whose literals are texts, with a blank or without."""
NO_TEXT = {"compile", "execute", "partition", "startswith", "frozenset", "Rule", "Literal"}
"""Calls whose literals are none."""
GRAMMARS = ROOT / "readers" / "console" / "grammars"
"""What frameworks print; only the errors in there are Holter's."""
SAME_EVERYWHERE = {
    "Wall time",
    "no log",
    "([ 0123456789",
    " at 0x",
    ", ...",
    "WHERE lifecycle_stage IS NOT 'deleted'",
    'kl-spike = { level = "info", reason = "why" }',
    "holter simulate --list",
}
"""What logs, settings, databases and commands write."""
WORDS = re.compile(r"[a-z]{2,}[,:;]? [a-z{]|[a-z]{2,} $|^ [a-z]{2,} ")
OF_NAMES = {
    " columns of ",
    " (run ",
    " of ",
    " (table in line ",
    " (cell ",
    "column ",
    "rank ",
    "tracker ",
    " and ",
    "--to ",
    "holter list ",
}
"""Pieces of commands and of the names of logs, columns and processes, which are the same in every language."""
NO_CATALOGUE = "the texts in "
"""What is said where there is no catalogue."""
SYSTEM = (
    errno.ENOENT,
    errno.EACCES,
    errno.EISDIR,
    errno.ENOTDIR,
    errno.ELOOP,
    errno.ENAMETOOLONG,
    errno.ENOSPC,
)
"""What the system says when a file cannot be opened, read or written."""

MALFORMED = (
    b"", b" ", b"{", b'{"a":}', b"{a:1}", b'{"a" 1}', b'{"a":1 "b":2}', b"[1 2]", b'{"a":1,}', b"1 2", b'"a\x01b"',
    b'"\\x"', b'"\\ud800"', b'"\\ud800\\u0041"', b'"\xff"', b"\xef\xbb\xbf{}", b"nulx", b"[trux]", b"[falsx]", b"01",
    b".5", b"[1.x]", b"[1ex]", b"1e999",
)  # fmt: skip
"""One line of each kind that the parser of JSON refuses in words of its own."""


def run_texts() -> dict[str, str]:
    """Every text of a reader, a run or a store that can reach a person, and where it stands first."""
    found = texts_of(*(path for part in READ for path in sorted((ROOT / part).rglob("*.py"))))
    kinds = {*event._ASIDE.values(), *event._KINDS.values(), *event._PLUGINS.values()}
    found |= dict.fromkeys(sorted(kinds), "event kind")
    found |= dict.fromkeys(("episode", "epoch"), "step_axis axis")
    found |= dict.fromkeys(_parsers_words(), "the parser")
    return found | {"null": "jsonl kind"} | dict.fromkeys(map(os.strerror, SYSTEM), "the system")


def _parsers_words() -> Iterator[str]:
    for line in MALFORMED:
        try:
            orjson.loads(line)
        except orjson.JSONDecodeError as error:
            yield error.msg.partition(": line ")[0].replace("{", "{{").replace("}", "}}")


def error_texts() -> dict[str, str]:
    """Every text of the modules in `REFUSING`, and where it stands first."""
    return texts_of(*(ROOT / part for part in REFUSING)) | dict.fromkeys(KINDS, "discovery")


def glued() -> list[str]:
    """Formatted strings of these modules that have words in them, which no catalogue could hold, and where they stand."""
    paths = [*(path for part in READ for path in sorted((ROOT / part).rglob("*.py"))), *(ROOT / p for p in REFUSING)]
    found = []
    for path in paths:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        above = _above(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                around = list(_around(node, above))
                pieces = [v.value for v in node.values if isinstance(v, ast.Constant)]
                no_text = any(isinstance(a, ast.Assert | ast.JoinedStr) or _called(a) in NO_TEXT for a in around)
                if not no_text and any(WORDS.search(p) for p in pieces if p not in OF_NAMES):
                    found.append(f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}")
    return found


def texts_of(*paths: Path) -> dict[str, str]:
    """The texts of some modules, and where they stand first."""
    found: dict[str, str] = {}
    for path in paths:
        for text in _texts(ast.parse(path.read_text(encoding="utf-8")), grammar=GRAMMARS in path.parents):
            if text not in SAME_EVERYWHERE and text.strip() and not text.startswith(("\0", NO_CATALOGUE)):
                found.setdefault(text, path.stem)
    return found


def _texts(tree: ast.Module, *, grammar: bool) -> Iterator[str]:
    above = _above(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            around = [node, *_around(node, above)]
            calls = {_called(a) for inner, a in pairwise(around) if _is_given(inner, a)}
            spoken = _called(around[1]) in SPOKEN and _is_given(node, around[1])
            text = " " in node.value.strip() and not _is_no_text(around) and not calls & NO_TEXT
            if (spoken or text) and (not grammar or calls & (SPOKEN | {"ValueError"})):
                yield node.value


def _above(tree: ast.Module) -> dict[ast.AST, ast.AST]:
    return {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}


def _around(node: ast.AST, above: dict[ast.AST, ast.AST]) -> Iterator[ast.AST]:
    while (node := above.get(node)) is not None:
        yield node


def _is_given(node: ast.AST, call: ast.AST) -> bool:
    return isinstance(call, ast.Call) and node is not call.func


def _called(node: ast.AST) -> str:
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name
    return ""


def _is_no_text(around: list[ast.AST]) -> bool:
    """A docstring, an assertion, a piece of something glued, a type, the title of a reader, the name of the standard input."""
    if isinstance(around[1], ast.Expr):
        return True
    for node in around:
        match node:
            case ast.Assert() | ast.JoinedStr():
                return True
            case ast.Assign(targets=[ast.Name(id="title" | "Part" | "STANDARD_INPUT")]):
                return True
            case ast.AnnAssign(target=ast.Name(id="title")):
                return True
    return False
