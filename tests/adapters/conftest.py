"""Adapters are tried in the test's own folder, and with the frameworks' own code where that is installed."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import sys
from pathlib import Path

import orjson
import pytest


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RANK", raising=False)


@pytest.fixture
def rows():
    """The rows of a run folder, without their clock."""

    def read(folder: Path) -> list[dict]:
        lines = (folder / "metrics-0.jsonl").read_bytes().splitlines()
        return [{k: v for k, v in orjson.loads(line).items() if k != "time"} for line in lines]

    return read


@pytest.fixture
def module_of(monkeypatch):
    """One module of a package that may be installed without what it needs: loaded from its file, by itself."""

    def load(package: str, path: str):
        try:
            found = importlib.metadata.distribution(package)
        except importlib.metadata.PackageNotFoundError:
            pytest.skip(f"{package} is not installed")
        name = path.removesuffix(".py").replace("/", ".")
        spec = importlib.util.spec_from_file_location(name, Path(found.locate_file(path)))
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, module)
        spec.loader.exec_module(module)
        return module

    return load
