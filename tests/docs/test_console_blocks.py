"""Every ```console block of the documentation is run as a user would type it, and must print what it says.

``HOLTER_UPDATE_DOCS=1`` writes what the commands print now into the documents, for review in the diff.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import PATIENCE

ROOT = Path(__file__).parents[2]
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "README.zh.md",
    ROOT / "ARCHITECTURE.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
NOT_OURS = ("HOLTER_", "PYTEST_", "GITHUB_", "LANG", "LC_", "FORCE_COLOR", "TTY_")
"""Variables by which commands print something else on one machine than on another."""
BLOCK = re.compile(r"^(?P<fence>`{3,})console\n(?P<body>.*?)^(?P=fence)$", re.M | re.S)


def blocks() -> list[tuple[Path, int]]:
    return [
        (d, i) for d in DOCUMENTS if d.exists() for i, _ in enumerate(BLOCK.finditer(d.read_text(encoding="utf-8")))
    ]


def printed(command: str, language: str) -> str:
    scripts = Path(sys.executable).parent
    environment = {
        **{k: v for k, v in os.environ.items() if not k.startswith(NOT_OURS)},
        "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}",
        "HOLTER_LANG": language,
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "TERM": "dumb",
        "PYTHONIOENCODING": "utf-8",
    }
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )
    return "\n".join(line.rstrip() for line in (done.stdout + done.stderr).rstrip().splitlines()) + "\n"


def replayed(body: str, language: str) -> str:
    """The block with every command's output as it is now, in a language."""
    out = []
    for part in re.split(r"^(?=\$ )", body, flags=re.M):
        if not part.startswith("$ "):
            out.append(part)
            continue
        command = part.splitlines()[0][2:]
        blank = "\n" if part.endswith("\n\n") else ""
        said = printed(command, language)
        out.append(f"$ {command}\n" + (said if said.strip() else "") + blank)
    return "".join(out)


@pytest.mark.parametrize(("document", "number"), blocks(), ids=lambda v: v.name if isinstance(v, Path) else str(v))
def test_prints_what_the_document_says(document: Path, number: int):
    text = document.read_text(encoding="utf-8")
    block = list(BLOCK.finditer(text))[number]
    now = replayed(block["body"], "zh" if document.suffixes[-2:] == [".zh", ".md"] else "en")
    if os.environ.get("HOLTER_UPDATE_DOCS"):
        document.write_text(text[: block.start("body")] + now + text[block.end("body") :], encoding="utf-8")
        return
    assert now == block["body"]
