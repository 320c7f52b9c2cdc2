#!/usr/bin/env python3
"""Make the pictures of docs/tutorial.md from the run that the tutorial does.

Run it again when the page looks different. It needs Chromium and the extra `figures`, and takes two minutes.
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
            chromium.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
