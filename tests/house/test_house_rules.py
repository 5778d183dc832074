"""What every file of the project is held to."""

import ast
import importlib
import pkgutil
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import holter
from holter.detectors.registry import all_detectors
from holter.dialects.registry import all_dialects
from holter.readers.registry import all_readers
from tests.patience import PATIENCE

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
BEHIND_AN_EXTRA = (
    "holter.trainers.",
    "holter.callback",
    "holter.adapters.",
    *(f"holter.dashboard.{name}" for name in ("interpreter", "safety", "server")),
)
"""What only those import who installed it with the package that it is made for."""
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


def test_every_module_that_is_behind_no_extra_imports_without_optional_packages():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = {re.split(r"\W", package)[0] for extra in project["optional-dependencies"].values() for package in extra}
    # Whether they are installed here or not, and by the names that they are imported by.
    absent = extras - {"pyyaml"} | {"yaml", "wandb", "tensorboard", "trl", "pandas"}
    names = [m.name for m in pkgutil.walk_packages(holter.__path__, "holter.") if "__main__" not in m.name]
    code = f"import sys; sys.modules.update(dict.fromkeys({sorted(absent)}))\n" + "\n".join(
        f"import {n}" for n in names if not n.startswith(BEHIND_AN_EXTRA)
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=PATIENCE)


def test_every_module_of_the_front_end_stands_in_its_map():
    told = (ROOT / "web" / "README.md").read_text(encoding="utf-8")
    listed = re.findall(r"`(\w+\.ts)`", told[told.index("| module |") : told.index("Text reaches")])
    there = [p.name for p in (ROOT / "web" / "src").rglob("*.ts")]
    assert sorted(set(listed)) == sorted(there)


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
