"""Words in the source that reach a person past `holter.language`: in errors, lines of logging, warnings, tables, what is printed.

A literal there is looked for in the catalogues; one that is put together (an f-string, a sum, ``%``) could stand in none.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import holter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Module: TypeAlias = tuple[str, ast.Module]

ROOT = Path(holter.__file__).parent
LOGGERS = {"log", "logger"}
LEVELS = {"warning", "error", "info", "exception", "critical", "debug"}
PRINTING = {"echo", "secho", "print", "Text", "add_column", "add_row", "Table", "PlainTextResponse", "warn", "section"}
"""Calls whose strings a person sees as they are."""
LOOKS = {"style", "justify", "overflow", "header_style", "border_style"}
"""Arguments of such calls that are no texts."""
SPEAKING = {"told", "said", "phrase", "listed", "sentences", "translated", "reason"}
WORDS = re.compile(r"[A-Za-z]{2,}[,:;]? [A-Za-z{(]|^[A-Z][a-z]+ |[a-z]{2,} $|^ [a-z]{2,}")
"""What has words of a language in it, and is no name."""
NOT_OURS = ("module 'holter' has no attribute ", "module ", " has no attribute ", "holter ")
"""What Python says of a module in its own words, and commands."""
NO_CATALOGUE = "the texts in %s were not compiled"
"""What is said where there is none."""


def raised(*below: str, modules: Iterable[Module] | None = None) -> dict[str, str]:
    """Every literal with words in it that an error is raised with, and where it stands first.

    Args:
        *below: Only those of these packages and modules; all by default.
        modules: Instead of those of the source.
    """
    found: dict[str, str] = {}
    for where, tree in _modules(*below) if modules is None else modules:
        for node in ast.walk(tree):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and not _is_assertion(node.exc):
                for each in _outside_speech(node.exc):
                    if isinstance(each, ast.Constant) and any(map(WORDS.search, _pieces(each))):
                        found.setdefault(each.value, where)
    return found


def unspoken(modules: Iterable[Module] | None = None) -> list[str]:
    """Places where words go to a person in English whatever is spoken; in the source by default."""
    found = []
    for where, tree in _modules() if modules is None else modules:
        for node in ast.walk(tree):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and not _is_assertion(node.exc):
                # A literal alone is looked for in the catalogues.
                whole = {id(each) for each in ast.walk(node) if isinstance(each, ast.Constant)} - _summed(node.exc)
                call = node.exc
            elif isinstance(node, ast.Call) and (_logs(node) or _called(node) in PRINTING):
                whole, call = set(), node
            else:
                continue
            found += [
                f"{where}:{each.lineno}: {ast.unparse(each)}"
                for each in _outside_speech(call)
                if isinstance(each, ast.JoinedStr | ast.BinOp | ast.Constant)
                and id(each) not in whole
                and any(map(WORDS.search, _pieces(each)))
            ]
    return found


def _modules(*below: str) -> Iterator[Module]:
    for path in sorted(ROOT.rglob("*.py")):
        where = path.relative_to(ROOT).with_suffix("").as_posix()
        if not below or where.startswith(below):
            yield where, ast.parse(path.read_text(encoding="utf-8"))


def _outside_speech(call: ast.Call) -> Iterator[ast.expr]:
    """The expressions among a call's arguments that no function of the language is given."""
    waiting: list[ast.expr] = [*call.args, *(k.value for k in call.keywords if k.arg not in LOOKS)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Call) and _called(node) in SPEAKING:
            continue
        if isinstance(node, ast.IfExp):
            waiting += [node.body, node.orelse]
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            waiting += [node.left, node.right]
        elif isinstance(node, ast.Starred):
            waiting.append(node.value)
        elif isinstance(node, ast.List | ast.Tuple):
            waiting += node.elts
        else:
            yield node


def _summed(call: ast.Call) -> set[int]:
    """The operands of sums, by identity."""
    return {id(side) for n in ast.walk(call) if isinstance(n, ast.BinOp) for side in (n.left, n.right)}


def _pieces(node: ast.expr) -> list[str]:
    return [
        n.value
        for n in ast.walk(node)
        if isinstance(n, ast.Constant)
        and isinstance(n.value, str)
        and not n.value.startswith((*NOT_OURS, NO_CATALOGUE))
    ]


def _is_assertion(call: ast.Call) -> bool:
    return _called(call) in ("AssertionError", "NotImplementedError")


def _logs(call: ast.Call) -> bool:
    match call.func:
        case ast.Attribute(value=ast.Name(id=name), attr=level):
            return name in LOGGERS and level in LEVELS
        case ast.Attribute(value=ast.Call(func=ast.Attribute(attr="getLogger")), attr=level):
            return level in LEVELS
    return False


def _called(node: ast.Call) -> str:
    match node.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""
