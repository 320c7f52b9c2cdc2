"""What axe-core finds on pages: nothing serious, on any kind of page, in either theme."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from report.browser import Browser
from report.conftest import METHODS, invented
from ssdlab.cli import main
from ssdlab.results.store import find_run

pytestmark = pytest.mark.outside

AXE = Path(__file__).parents[2] / "web/node_modules/axe-core/axe.min.js"
GRAVE = ("serious", "critical")
FOUND = """(only) => axe.run(document, { resultTypes: ["violations"], ...only && { runOnly: only } })
  .then((found) => [found.passes.map((each) => each.id), found.violations.map((each) =>
    [each.impact, each.id, each.nodes.slice(0, 3).map((node) => node.html.slice(0, 200))])])"""
DARK = ["color-contrast"]
"""The rules that a theme can break: the dark page is the same but for its colours."""
SUITE = """
schema = "ssdlab.review/1"
name = "read"
title = "Reads"
tiles = ["peak_random_read_iops"]

[[chapter]]
title = "Peaks"
text = "A sentence."

[[part]]
method = "peak-random-read"
begins = "written"
chapter = "Peaks"
set = { fill = true, depths = [1, 8], seconds = 0.2, ramp_seconds = 0 }

[[part]]
method = "consistency"
begins = "fresh"
chapter = "Peaks"
set = { seconds = 2, spares = [0] }
"""


@pytest.fixture(scope="module")
def pages(built: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A page of each kind."""
    folder = tmp_path_factory.mktemp("kinds")
    library = str(folder / "library")
    (folder / "read.toml").write_text(SUITE)
    assert main(["run", str(folder / "read.toml"), "sim:tiny-test,scale=4", "--library", library]) == 0
    suite = folder / "suite.html"
    assert main(["report", str(find_run("last", Path(library))), "-o", str(suite)]) == 0
    runs = [
        invented(
            folder / f"{at}-{method}",
            method,
            seed=at,
            seconds=2,
            drive={"id": f"S{at}", "name": f"Elm E{at}"},
        )
        for at in range(3)
        for method in METHODS
    ]
    run = folder / "run.html"
    assert main(["report", str(runs[0]), "-o", str(run)]) == 0
    overview = folder / "overview.html"
    assert main(["report", *map(str, runs), "--overview", "-o", str(overview)]) == 0
    return {"run": run, "comparison": built, "suite": suite, "overview": overview}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", ["run", "comparison", "suite", "overview"])
def test_nothing_serious_is_found(
    web_browser: Browser, pages: dict[str, Path], kind: str, scheme: str
) -> None:
    violations = examined(web_browser, pages[kind], scheme)
    assert [each for each in violations if each[0] in GRAVE] == []


def test_something_serious_would_be_found(
    web_browser: Browser, pages: dict[str, Path], tmp_path: Path
) -> None:
    before, end, after = pages["run"].read_text().rpartition("</main>")
    (tmp_path / "spoilt.html").write_text(before + "<button></button><img src='data:,'>" + end + after)
    grave = {name for impact, name, _ in examined(web_browser, tmp_path / "spoilt.html") if impact in GRAVE}
    assert {"button-name", "image-alt"} <= grave


def examined(browser: Browser, page: Path, scheme: str = "light") -> list[list[object]]:
    """Return the impact, rule and places of each violation, with every closed part opened."""
    if not AXE.exists():
        pytest.skip("axe-core is not installed (make setup)")
    browser.open(page, width=1400, scheme=scheme)
    browser.drawn()
    browser.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    browser.run(AXE.read_text())
    passed, violations = browser.run(f"({FOUND})({json.dumps(DARK if scheme == 'dark' else None)})")
    assert "color-contrast" in passed
    return violations
