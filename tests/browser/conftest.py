"""One Chromium a module; every page in a context of its own, with everything it says on the console kept."""

import json
import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from holter.dashboard import fleet

ROOT = Path(__file__).parents[2]
AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PATIENCE = 120_000
"""Milliseconds after which what did not come will not come."""


@pytest.fixture(autouse=True)
def restless(monkeypatch):
    """A log that changed is read again at once: a machine that took long over it is no reason to let it rest."""
    monkeypatch.setattr(fleet, "READING_REST", 0.0)


def executable() -> str | None:
    named = os.environ.get("HOLTER_CHROMIUM")
    return named or next((path for name in NAMES if (path := shutil.which(name))), None)


@pytest.fixture(scope="module")
def chromium():
    # No longer than a module: while Playwright is open its event loop runs, and no other test of this process may start one.
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = executable()
    if path is None:
        pytest.skip("no Chromium here; tests/browser/install.sh installs one for root, or set HOLTER_CHROMIUM to one")
    with sync_api.sync_playwright() as playwright:
        sync_api.expect.set_options(timeout=PATIENCE)
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"], timeout=PATIENCE)
        yield browser
        browser.close()


@pytest.fixture
def new_context(chromium):
    """Makes a context: what a person's browser keeps. It is closed with the test."""
    contexts = []

    def make(**options):
        contexts.append(chromium.new_context(**options))
        contexts[-1].set_default_timeout(PATIENCE)
        return contexts[-1]

    yield make
    for context in contexts:
        context.close()


@dataclass
class Opened:
    """A page, and what it said and asked for."""

    page: object
    home: str
    console: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)


@pytest.fixture
def open_page(new_context):
    """Opens a file or an address at a width and in a colour scheme; at the end nothing may have gone wrong in it."""
    opened = []

    def open_(
        at: Path | str, *, width: int = 1280, height: int = 900, scheme: str = "light", wait: str = ".page h1"
    ) -> Opened:
        page = new_context(viewport={"width": width, "height": height}, color_scheme=scheme).new_page()
        out = Opened(
            page, "file://" if isinstance(at, Path) else at.split("/", 3)[0] + "//" + at.split("/", 3)[2] + "/"
        )
        opened.append(out)
        page.on("console", lambda m: out.console.append(f"{m.type}: {m.text}"))
        page.on("pageerror", lambda e: out.errors.append(str(e)))
        page.on("request", lambda r: out.requests.append(r.url))
        page.on("dialog", lambda d: (out.dialogs.append(d.message), d.dismiss()))
        page.goto(at.as_uri() if isinstance(at, Path) else at)
        page.wait_for_selector(wait)
        return out

    yield open_
    for each in opened:
        assert each.console == []
        assert each.errors == []
        assert each.dialogs == []
        assert [r for r in each.requests if not r.startswith((each.home, "data:"))] == []


@pytest.fixture(scope="session")
def axe():
    """Says what axe-core finds wrong with a page, one line a place."""
    if not AXE.exists():
        pytest.skip("axe-core is not installed; tests/browser/install.sh installs it")
    source = AXE.read_text(encoding="utf-8")

    def violations(page) -> list[str]:
        # The page's own policy lets no script in, so axe runs in an isolated world of the debugger.
        session = page.context.new_cdp_session(page)
        tree = session.send("Page.getFrameTree")["frameTree"]["frame"]["id"]
        world = session.send("Page.createIsolatedWorld", {"frameId": tree, "worldName": "axe"})["executionContextId"]
        session.send("Runtime.evaluate", {"expression": source, "contextId": world})
        answer = session.send(
            "Runtime.evaluate",
            {
                "expression": "axe.run(document, {resultTypes: ['violations']}).then((r) => JSON.stringify(r.violations.map("
                "(v) => [v.id, v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160) + ' ' + n.failureSummary)])))",
                "contextId": world,
                "awaitPromise": True,
                "returnByValue": True,
            },
        )
        found = json.loads(answer["result"]["value"])
        return [f"{rule}: {node}" for rule, nodes in found for node in nodes]

    return violations
