"""Makes the pictures of the README: ``make screenshots``. Needs a Chromium (``HOLTER_CHROMIUM`` names one) and playwright."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent
RUN = "examples/runs/hacked-ppo"
WIDTH, HEIGHT = 1280, 900
SHOTS = {"report-light.png": "light", "report-dark.png": "dark"}


def main() -> None:
    """Write a report of the example run and take its picture in both colour schemes."""
    browser = os.environ.get("HOLTER_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        sys.exit("no Chromium found; set HOLTER_CHROMIUM to one")
    (HERE / "images").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_file = Path(folder) / "run.html"
        command = [sys.executable, "-m", "holter", "report", RUN, "-o", str(page_file), "--lang", "en"]
        subprocess.run(command, check=True, cwd=HERE.parent)
        chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        for name, scheme in SHOTS.items():
            context = chromium.new_context(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=scheme)
            page = context.new_page()
            page.goto(page_file.as_uri())
            page.wait_for_selector("canvas")
            page.wait_for_timeout(500)  # fonts and canvases settle
            page.screenshot(path=HERE / "images" / name)
            context.close()
        chromium.close()


if __name__ == "__main__":
    main()
