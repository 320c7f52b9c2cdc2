"""Pages of invented runs, and a browser to look at them."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lab.synthetic import edited, make_finished_run
from report import browser
from ssdlab.report import page, source
from ssdlab.results.lines import journal_bytes, parse_journal
from ssdlab.results.schema import Manifest
from ssdlab.results.store import write_manifest

METHODS = ("qd1", "peak-random-read", "peak-sequential-read")
MEAN_NAME = (
    'Mean & "lean" </script><script>document.title = "taken over"</script> <img src=x onerror=alert(1)>'
)
FIGURES = ("seed", "seconds", "latency_ns", "cap_iops")


def invented(place: Path, method: str = "peak-random-read", **changes: object) -> Path:
    """Make a finished run in an empty folder and change its manifest: `drive={"id": ...}, engine="uring"`."""
    figures = {key: changes.pop(key) for key in FIGURES if key in changes}
    run = make_finished_run(place, method, **figures)
    manifest = json.loads((run / "manifest.json").read_text())
    manifest["run_id"] += f"-{place.name}"
    manifest["drive"] |= changes.pop("drive", {})
    manifest |= changes
    if "engine" in changes:
        result = manifest["result"]
        result["engine"] = changes["engine"]
        for key in ("points", "corners", "block_sizes"):
            for point in result.get(key, ()):
                point["engine"] = changes["engine"]
    journal = run / "journal.jsonl"
    records = parse_journal(journal.read_bytes(), journal, run.name).records
    journal.write_bytes(journal_bytes(records, manifest["run_id"]))
    del manifest["seal"], manifest["sealed"]
    schema = manifest["schema"]
    write_manifest(run, Manifest.model_validate(manifest))
    edited(run, schema=schema)
    return run


@pytest.fixture
def make_run(tmp_path: Path) -> Callable[..., Path]:
    """`invented` in a new folder each time."""
    made: list[Path] = []

    def make(method: str = "peak-random-read", **changes: object) -> Path:
        made.append(invented(tmp_path / f"runs{len(made)}", method, **changes))
        return made[-1]

    return make


@pytest.fixture
def html() -> Callable[..., str]:
    """The page of run folders."""
    return lambda *folders: page.render([source.read_run(folder) for folder in folders])


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of all methods, of two drives and both engines, with a name that tries to break out."""
    folder = tmp_path_factory.mktemp("built")
    hazel = {"id": "S9", "name": MEAN_NAME, "kind": "block"}
    runs = [invented(folder / f"a{method}", method) for method in METHODS]
    runs += [invented(folder / f"b{method}", method, drive=hazel, seed=9) for method in METHODS]
    runs.append(invented(folder / "c", "peak-random-read", engine="uring", seed=11))
    page.write([source.read_run(run) for run in runs], folder / "page.html")
    return folder / "page.html"


@pytest.fixture(scope="module")
def browsers() -> Iterator[Callable[[str], browser.Browser]]:
    """Starts a browser when it is first asked for, and ends it after the last test of the module."""
    with contextlib.ExitStack() as stack:
        running: dict[str, browser.Browser] = {}

        def get(program: str) -> browser.Browser:
            if program not in running:
                running[program] = stack.enter_context(browser.started(program))
            return running[program]

        yield get


@pytest.fixture
def web_browser(chromium: str, browsers: Callable[[str], browser.Browser]) -> browser.Browser:
    return browsers(chromium)
