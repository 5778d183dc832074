"""What every file of the project is held to."""

import ast
import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import holter
from holter.detectors.registry import all_detectors
from holter.dialects.registry import all_dialects
from holter.readers.registry import all_readers

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
FORBIDDEN_NAMES = {"utils", "helpers", "common", "manager", "misc", "core"}


def test_no_file_is_longer_than_500_lines():
    code = [*SOURCES, *(ROOT / "tests").rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py")]
    long = {str(p.relative_to(ROOT)): n for p in code if (n := len(p.read_text(encoding="utf-8").splitlines())) > 500}
    assert not long


def test_most_files_are_short():
    lengths = sorted(len(p.read_text(encoding="utf-8").splitlines()) for p in SOURCES)
    assert lengths[len(lengths) // 2] <= 150


def test_no_module_is_called_by_what_it_is_not():
    assert not {str(p) for p in SOURCES if p.stem in FORBIDDEN_NAMES or p.parent.name in FORBIDDEN_NAMES}


def test_every_public_name_has_a_docstring():
    bare = []
    for path in SOURCES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in [tree, *ast.walk(tree)]:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
                private_parent = any(
                    isinstance(p, ast.ClassDef) and p.name.startswith("_") and node in ast.walk(p)
                    for p in ast.walk(tree)
                )
                inside = any(
                    isinstance(p, ast.FunctionDef) and node is not p and node in ast.walk(p) for p in ast.walk(tree)
                )
                if not private_parent and not inside and not ast.get_docstring(node):
                    bare.append(f"{path.relative_to(ROOT)}:{node.lineno} {node.name}")
    assert not bare


def test_every_module_but_the_trainers_imports_without_optional_packages():
    names = [m.name for m in pkgutil.walk_packages(holter.__path__, "holter.") if "__main__" not in m.name]
    code = "; ".join(
        [
            "import sys",
            *(
                f"import {n}"
                for n in names
                if not n.startswith(("holter.trainers.", "holter.callback", "holter.adapters."))
            ),
            "bad = {'torch', 'transformers', 'wandb', 'tensorboard', 'trl', 'pandas'} & set(sys.modules)",
            "assert not bad, bad",
        ]
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_no_path_or_session_of_a_machine_is_named():
    pattern = re.compile(r"/(work|root|tmp)/[a-z]")
    texts = [
        p
        for folder in ("src", "tests", "docs", "examples", "benchmarks")
        for p in (ROOT / folder).rglob("*")
        if p.is_file()
    ]
    texts += [ROOT / n for n in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "Makefile", "pyproject.toml")]
    named = [
        str(p.relative_to(ROOT))
        for p in texts
        if p.suffix in {".py", ".md", ".toml", ".json", ".jsonl", ".txt", ".csv", ""}
        and p.name != Path(__file__).name
        and pattern.search(p.read_text(encoding="utf-8", errors="replace"))
    ]
    assert not named


@pytest.mark.parametrize("registry", [all_detectors, all_readers, all_dialects], ids=lambda r: r.__name__)
def test_names_are_kebab_case(registry):
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", n) for n in registry())


def test_version_is_the_package_version():
    from importlib.metadata import version

    assert importlib.import_module("holter").__version__ == version("holter")
