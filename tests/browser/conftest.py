"""One Chromium for the whole session; every page in a context of its own, with everything it says on the console kept."""

import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def executable() -> str | None:
    named = os.environ.get("HOLTER_CHROMIUM")
    return named or next((path for name in NAMES if (path := shutil.which(name))), None)


@pytest.fixture(scope="session")
def chromium():
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = executable()
    if path is None:
        pytest.skip("no Chromium here; tests/browser/install.sh installs one for root, or set HOLTER_CHROMIUM to one")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@dataclass
class Opened:
    """A page, and what it said and asked for."""

    page: object
    console: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)


@pytest.fixture
def open_page(chromium):
    """Opens a file at a width and in a colour scheme; at the end nothing may have gone wrong in it."""
    contexts, opened = [], []

    def open_(file: Path, *, width: int = 1280, height: int = 900, scheme: str = "light") -> Opened:
        context = chromium.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        out = Opened(page)
        opened.append(out)
        page.on("console", lambda m: out.console.append(f"{m.type}: {m.text}"))
        page.on("pageerror", lambda e: out.errors.append(str(e)))
        page.on("request", lambda r: out.requests.append(r.url))
        page.on("dialog", lambda d: (out.dialogs.append(d.message), d.dismiss()))
        page.goto(file.as_uri())
        page.wait_for_selector(".page h1")
        return out

    yield open_
    for each in opened:
        assert each.console == []
        assert each.errors == []
        assert each.dialogs == []
        assert [r for r in each.requests if not r.startswith("file://")] == []
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def axe() -> str:
    if not AXE.exists():
        pytest.skip("axe-core is not installed; tests/browser/install.sh installs it")
    return AXE.read_text(encoding="utf-8")
