#!/usr/bin/env python3
"""Make the pictures of docs/tutorial.md from its run, and that of README.md from `ssdlab demo`.

Run it again when the page looks different. It needs Chromium and the extra `figures`; it takes three minutes.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from ssdlab.report.paper import browser

DOCS = Path(__file__).parents[1] / "docs"
SIZE = {"width": 1000, "height": 660}
"""Of the page's top, in pixels: title, tiles and contents."""
REFUSED = 2
DEMO_WIDTH = 1000
DEMO_CHARTS = ("peak-random-read-throughput", "consistency-whole")
ONLY = """names => {
    for (const section of document.querySelectorAll("main > section:not(.tops)")) {
        const kept = names.map(name => section.querySelector(`#${name}`)).filter(each => each);
        section.replaceChildren(...kept);
        if (!kept.length) section.remove();
    }
    for (const figure of document.querySelectorAll("figure")) figure.style.marginTop = "40px";
    document.querySelector("footer")?.remove();
}"""
"""Leaves the top of a page and these charts."""


def main() -> int:
    """Do the tutorial in a folder of its own, and keep what its page and its chart look like."""
    with tempfile.TemporaryDirectory(prefix="ssdlab-tutorial-") as made:
        place = Path(made)
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        environment = os.environ | {"XDG_DATA_HOME": str(place / "data"), "PATH": path}
        for command in re.findall(
            r"^\$ (.*)", (DOCS / "tutorial.md").read_text(encoding="utf-8"), re.MULTILINE
        ):
            done = subprocess.run(command, shell=True, cwd=place, env=environment, check=False)
            if done.returncode not in (0, REFUSED):
                return done.returncode
        images = DOCS / "images"
        (chart,) = (place / "pictures").iterdir()
        shutil.copyfile(chart, images / "tutorial-chart.png")
        with sync_playwright() as playwright:
            chromium = playwright.chromium.launch(executable_path=browser(), args=["--no-sandbox"])
            page = chromium.new_page(viewport=SIZE, color_scheme="light")
            page.goto((place / "review.html").as_uri())
            page.wait_for_timeout(2000)  # charts are drawn as they come into sight
            page.screenshot(path=images / "tutorial-page.png")
            demo = [sys.executable, "-m", "ssdlab", "demo", "-o", str(place / "demo.html")]
            subprocess.run(demo, cwd=place, env=environment, check=True)
            page = chromium.new_page(viewport=SIZE | {"width": DEMO_WIDTH}, color_scheme="light")
            page.goto((place / "demo.html").as_uri())
            page.wait_for_timeout(2000)
            page.evaluate(ONLY, list(DEMO_CHARTS))
            page.wait_for_timeout(2000)
            page.screenshot(path=images / "report.png", full_page=True)
            chromium.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
