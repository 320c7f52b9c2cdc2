"""What an overview of twenty drives by ten methods costs: size, CPU time of making it, first paint.

    python benches/overview.py

Ten quick runs of a simulated drive stand for all: each is copied under twenty names.
First paint is Chromium's own, the least of five; on a busy machine it is longer than a reader's.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from ssdlab.results.lines import journal_bytes, parse_journal
from ssdlab.results.schema import Manifest
from ssdlab.results.store import write_manifest

SIZE_BYTES, CPU_S, PAINT_MS = 3_000_000, 5.0, 1000.0
DRIVES, PAINTS = 20, 5
DRIVE = "sim:tiny-test,scale=4"
METHODS = (
    "qd1",
    "peak-random-read",
    "peak-sequential-read",
    "steady-random-write",
    "steady-sequential-write",
    "mixed-random",
    "read-under-writes",
    "low-depths",
    "whole-drive-fill",
    "consistency",
)


OVERVIEW = """
import sys
from pathlib import Path
from ssdlab.report.overview import overview_html
page, *runs = map(Path, sys.argv[1:])
page.write_text(overview_html(runs, page), encoding="utf-8")
"""
"""The overview alone, without the pages of its drives."""


PAINT = """new Promise((resume) => new PerformanceObserver((list) => {
  for (const entry of list.getEntriesByName('first-contentful-paint')) resume(entry.startTime);
}).observe({ type: 'paint', buffered: true }))"""
"""The time of the first paint, waited for: a page can be loaded before it."""


def command(*words: str, called: tuple[str, ...] = ("-m", "ssdlab")) -> float:
    """Run a command of ours, and return its CPU time."""
    quiet = subprocess.DEVNULL
    process = subprocess.Popen([sys.executable, *called, *words], stdout=quiet, stderr=quiet)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"ssdlab {' '.join(words[:2])} ended with status {process.returncode}")
    return used.ru_utime + used.ru_stime


def copied(run: Path, folder: Path, number: int) -> Path:
    """Copy a run as one of another drive, sealed as a run of its own."""
    copy = folder / f"{run.name}-{number:02d}"
    shutil.copytree(run, copy)
    stored = json.loads((copy / "manifest.json").read_text())
    stored["run_id"] = copy.name
    stored["drive"] |= {"id": f"sim:{number}", "name": f"Northwind Enterprise Series NX{4100 + 17 * number}"}
    for key in ("seal", "sealed"):
        stored.pop(key, None)
    journal = copy / "journal.jsonl"
    journal.write_bytes(
        journal_bytes(parse_journal(journal.read_bytes(), journal, run.name).records, copy.name)
    )
    write_manifest(copy, Manifest.model_validate(stored))
    return copy


def first_paint_ms(page: Path) -> float:
    """Return the least of several first paints of a page."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        found = []
        for _ in range(PAINTS):
            tab = browser.new_page(viewport={"width": 1400, "height": 1000})
            tab.goto(page.as_uri())
            found.append(tab.evaluate(PAINT))
            tab.close()
        browser.close()
    return float(min(found))


def main() -> int:
    """Make it, print each figure beside its bound, and return 1 where one is missed."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        for method in METHODS:
            command("run", method, DRIVE, "--quick", "--library", str(place / "made"))
        (place / "copies").mkdir()
        made = sorted(path.parent for path in (place / "made").glob("2*/manifest.json"))
        copies = [copied(run, place / "copies", number) for number in range(DRIVES) for run in made]
        page = place / "overview.html"
        cpu_s = command(str(page), *map(str, copies), called=("-c", OVERVIEW))
        figures = (
            ("size, MB", page.stat().st_size / 1e6, SIZE_BYTES / 1e6),
            ("CPU, s", cpu_s, CPU_S),
            ("first paint, ms", first_paint_ms(page), PAINT_MS),
        )
    print(f"{DRIVES} drives by {len(METHODS)} methods: {len(copies)} runs")
    for title, found, bound in figures:
        print(f"{title:16} {found:8.2f}   at most {bound:g}{'' if found <= bound else '   MISSED'}")
    return int(any(found > bound for _, found, bound in figures))


if __name__ == "__main__":
    sys.exit(main())
