"""The texts of findings as they stand in the detectors' code, found by following what reaches a person back to its literals.

A text is the title, the evidence, the advice, an alternative, a reason for not looking, or what a `Need` asks for. Where one is
put together in a way that no catalogue can hold (an f-string, `+`, `join`), `GluedTextError` names the line.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import holter.detectors

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(holter.detectors.__file__).parent
PACKAGE = holter.detectors.__name__
PLACES = {
    "finding": {2: "title"},
    "unchecked": {0: "why"},
    "quote": {2: "says"},
    "Alternative": {},
    "Need": {},
    "replace": {},
}
"""Calls that make something a person reads, and which of their positional arguments are texts."""
OF_THE_REWARD = ("kl", "reward", "group", "evaluation", "statistics", "numerics", "registry.py")
"""Folders and modules whose texts `findings.po` holds; `findings_text.po` holds the others'."""
FIELDS = ("title", "says", "advice", "check", "against", "why", "log")
"""Keyword arguments of those calls that are texts."""
PASSED_ON = ("tuple", "list", "sorted", "phrase", "told", "text")
"""Calls that hand their first argument on."""


class GluedTextError(AssertionError):
    """A text is put together in the code, so that no catalogue can hold it."""


@dataclass(frozen=True)
class Module:
    """One module of the detectors."""

    path: Path
    tree: ast.Module
    parents: dict[ast.AST, ast.AST]

    @property
    def name(self) -> str:
        """As its detector is called."""
        return self.path.stem.replace("_", "-")

    def inside(self, node: ast.AST) -> Iterator[ast.FunctionDef | ast.ClassDef]:
        """Functions and classes around a node, the innermost first."""
        while (node := self.parents.get(node)) is not None:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                yield node


@cache
def modules() -> tuple[Module, ...]:
    """All modules of the detectors."""
    return tuple(module_of(p, ast.parse(p.read_text(encoding="utf-8"))) for p in sorted(ROOT.rglob("*.py")))


def module_of(path: Path, tree: ast.Module) -> Module:
    """A module, and what stands around each of its nodes."""
    return Module(path, tree, {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)})


@dataclass(frozen=True)
class Index:
    """What the modules hold, by name."""

    calls: defaultdict[str, list[tuple[Module, ast.Call]]] = field(default_factory=lambda: defaultdict(list))
    functions: defaultdict[str, list[tuple[Module, ast.FunctionDef]]] = field(default_factory=lambda: defaultdict(list))
    classes: dict[str, ast.ClassDef] = field(default_factory=dict)


@cache
def index() -> Index:
    """Calls, functions and classes of all modules."""
    made = Index()
    for module in modules():
        for node in ast.walk(module.tree):
            match node:
                case ast.Call():
                    made.calls[called(node)].append((module, node))
                case ast.FunctionDef(name=name):
                    made.functions[name].append((module, node))
                case ast.ClassDef(name=name):
                    made.classes[name] = node
    return made


def finding_texts() -> dict[str, str]:
    """Every text of a finding, and where it stands first."""
    return reward_texts() | other_texts()


def reward_texts() -> dict[str, str]:
    """Those of `OF_THE_REWARD`."""
    return _texts_of(m for m in modules() if m.path.relative_to(ROOT).parts[0] in OF_THE_REWARD)


def other_texts() -> dict[str, str]:
    """Those of everything else."""
    return _texts_of(m for m in modules() if m.path.relative_to(ROOT).parts[0] not in OF_THE_REWARD)


def _texts_of(wanted: Iterable[Module]) -> dict[str, str]:
    found: dict[str, str] = {}
    for module in wanted:
        for text, place in texts(module):
            found.setdefault(text, f"{module.name} {place}")
    return found


def texts(module: Module) -> Iterator[tuple[str, str]]:
    """The texts of a module and the fields they fill, then the sentences that are put into others."""
    rest: list[ast.Call] = []
    for node in ast.walk(module.tree):
        if isinstance(node, ast.AnnAssign) and _is_says(module, node):
            assert node.value is not None
            yield from ((t, "says") for t in literals(module, node.value))
        elif isinstance(node, ast.Call) and (name := called(node)) in PLACES:
            wanted = [(a, PLACES[name][i]) for i, a in enumerate(node.args) if i in PLACES[name]]
            wanted += [(k.value, k.arg) for k in node.keywords if k.arg in FIELDS]
            yield from ((t, place) for value, place in wanted for t in literals(module, value))
        elif isinstance(node, ast.Call) and called(node) in ("said", "listed"):
            rest.append(node)
    for node in rest:
        yield from ((t, "part") for t in _template(module, node))
        if called(node) == "said" and (words := [w for k in node.keywords for w in _words(module, k.value)]):
            raise GluedTextError(
                f"{module.path}:{node.lineno}: {words} is put in as a name would be; `said` makes it a text"
            )


def literals(module: Module, node: ast.expr, seen: frozenset[ast.AST] = frozenset()) -> Iterator[str]:
    """The literals that an expression can be.

    Args:
        module: Where it stands.
        node: The expression.
        seen: What led to it, so that a loop in the code is no loop here.

    Raises:
        GluedTextError: When one of them is put together.
    """
    if node in seen:
        return
    seen |= {node}
    match node:
        case ast.Constant(value=str(text)):
            if text:
                yield text
        case ast.JoinedStr() | ast.Call(func=ast.Attribute(attr="join" | "format")):
            raise GluedTextError(f"{module.path}:{node.lineno}: {ast.unparse(node)}")
        case ast.BinOp(left=left, right=right) if any(_is_text(module, n) for n in (left, right)):
            raise GluedTextError(f"{module.path}:{node.lineno}: {ast.unparse(node)}")
        case ast.Call():
            yield from _of_call(module, node, seen)
        case _:
            for where, part in _parts(module, node):
                yield from literals(where, part, seen)


def _parts(module: Module, node: ast.expr) -> Iterator[tuple[Module, ast.expr]]:
    """What an expression that is no literal and no call takes its value from."""
    match node:
        case ast.IfExp(body=body, orelse=orelse):
            yield from ((module, n) for n in (body, orelse))
        case ast.BinOp(left=left, right=right):  # of lists
            yield from ((module, n) for n in (left, right))
        case ast.BoolOp(values=values) | ast.Tuple(elts=values) | ast.List(elts=values) | ast.Dict(values=values):
            yield from ((module, n) for n in values)
        case ast.Starred(value=value) | ast.Subscript(value=value):
            yield module, value
        case ast.GeneratorExp(elt=elt) | ast.ListComp(elt=elt):
            yield module, elt
        case ast.Name(id=name):
            yield from _of_name(module, node, name)
        case ast.Attribute(attr=attr):
            yield from _of_field(attr)


def _of_call(module: Module, node: ast.Call, seen: frozenset[ast.AST]) -> Iterator[str]:
    name = called(node)
    if name in ("said", "listed"):
        yield from _template(module, node)
    elif name in PASSED_ON and node.args:
        yield from literals(module, node.args[0], seen)
    else:
        for where, function in index().functions[name]:
            for value in _returned(function):
                yield from literals(where, value, seen)


def _template(module: Module, node: ast.Call) -> Iterator[str]:
    """The template of a `said`, the separator of a `listed`."""
    if called(node) == "listed":
        yield from literals(module, node.args[1]) if len(node.args) > 1 else (", ",)
    else:
        yield from literals(module, node.args[0])


def _words(module: Module, node: ast.expr) -> Iterator[str]:
    """Words of Holter's own that a value of a sentence can be, as it stands or by a name of the function around it."""
    match node:
        case ast.Constant(value=str(text)) if re.search(r"[a-z]{2}", text):
            yield text
        case ast.JoinedStr(values=values):
            yield from (w for v in values for w in _words(module, v))
        case ast.IfExp(body=body, orelse=orelse):
            yield from (w for n in (body, orelse) for w in _words(module, n))
        case ast.Name(id=name):
            functions = [f for f in module.inside(node) if isinstance(f, ast.FunctionDef)]
            yield from (
                w for f in functions for n in ast.walk(f) for v in _assigned(n, name) for w in _words(module, v)
            )


def _is_text(module: Module, node: ast.expr) -> bool:
    """Whether an expression is a text, and no list of them, as far as the function around it tells."""
    match node:
        case ast.Constant(value=str()) | ast.JoinedStr() | ast.Call(func=ast.Name(id="said")):
            return True
        case ast.IfExp(body=body, orelse=orelse):
            return _is_text(module, body) or _is_text(module, orelse)
        case ast.Name(id=name):
            functions = [f for f in module.inside(node) if isinstance(f, ast.FunctionDef)]
            values = [v for f in functions for n in ast.walk(f) for v in _assigned(n, name)]
            return any(_is_text(module, v) for v in values if not isinstance(v, ast.BinOp))
    return False


def _of_name(module: Module, node: ast.expr, name: str) -> Iterator[tuple[Module, ast.expr]]:
    """What was assigned to a name in the function around it, what its callers give, or the constant of that name."""
    for around in module.inside(node):
        if isinstance(around, ast.ClassDef):
            continue
        if values := [v for n in ast.walk(around) for v in _assigned(n, name)]:
            yield from ((module, v) for v in values)
            return
        if any(a.arg == name for a in (*around.args.posonlyargs, *around.args.args, *around.args.kwonlyargs)):
            yield from _given(around, name)
            return
    for where in (module, *(m for m in modules() if m is not module and _imports(module, m, name))):
        yield from ((where, v) for n in where.tree.body for v in _assigned(n, name))


def _assigned(node: ast.AST, name: str) -> Iterator[ast.expr]:
    """The values that a statement assigns to a name."""
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
            yield from (v for n, v in zip(names, values, strict=False) if isinstance(n, ast.Name) and n.id == name)
        case ast.Assign(targets=[ast.Name(id=found)], value=value) if found == name:
            yield value
        case ast.AnnAssign(target=ast.Name(id=found), value=ast.expr() as value) if found == name:
            yield value
        case ast.AugAssign(target=ast.Name(id=found) as target, op=op, value=value) if found == name:
            yield ast.copy_location(ast.BinOp(target, op, value), node)
        case ast.For(target=ast.Name(id=found), iter=ast.Tuple() | ast.List() as value) if found == name:
            yield value


def _given(function: ast.FunctionDef, name: str) -> Iterator[tuple[Module, ast.expr]]:
    """What the callers of a function give for a parameter."""
    positional = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
    if positional[:1] == ["self"]:
        del positional[0]
    for where, node in index().calls[function.name]:
        yield from ((where, v) for v in _argument(node, positional, name))


def _of_field(attr: str) -> Iterator[tuple[Module, ast.expr]]:
    """What the package's own dataclasses are given for a field of this name."""
    for owner in index().classes.values():
        order = [s.target.id for s in owner.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)]
        if attr in order:
            for where, node in index().calls[owner.name]:
                yield from ((where, v) for v in _argument(node, order, attr))


def _argument(node: ast.Call, order: list[str], name: str) -> Iterator[ast.expr]:
    """What a call gives for a parameter, by its place or by its name."""
    yield from (v for n, v in zip(order, node.args, strict=False) if n == name)
    yield from (k.value for k in node.keywords if k.arg == name)


def _returned(function: ast.FunctionDef) -> Iterator[ast.expr]:
    for node in ast.walk(function):
        if isinstance(node, ast.Return | ast.Yield | ast.YieldFrom) and node.value is not None:
            yield node.value


def _imports(module: Module, other: Module, name: str) -> bool:
    dotted = ".".join((PACKAGE, *other.path.relative_to(ROOT).with_suffix("").parts))
    return any(
        isinstance(n, ast.ImportFrom) and n.module == dotted and any(a.name == name for a in n.names)
        for n in module.tree.body
    )


def _is_says(module: Module, node: ast.AnnAssign) -> bool:
    """Whether a statement gives a detector its plain clause."""
    owner = module.parents.get(node)
    return (
        isinstance(owner, ast.ClassDef)
        and isinstance(node.target, ast.Name)
        and node.target.id == "says"
        and bool(node.value)
    )


def called(node: ast.Call) -> str:
    """Name of what is called, without what it belongs to."""
    match node.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""
