"""What a page with a day of seconds costs: size, CPU time of making it, first paint, press of a button.

    python benches/page.py

One short run of a simulated drive gets 86,400 rows in the place of its own, through the product's own
tables, and stands for eight. An ordinary run is that run as it was. Its page is reading and rendering in a
process that has loaded what it loads at its start, the engine of the pictures with it; the command is all
of it, the interpreter and its modules too. A press is counted from the click until the frame after the new
drawing, in the tests' browser; on a busy machine all but CPU times are longer than a reader's.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

BENCHES = Path(__file__).resolve().parent
sys.path[:0] = [str(BENCHES), str(BENCHES.parent / "tests")]

from overview import PAINT, command, copied  # noqa: E402
from report.browser import Browser, started  # noqa: E402
from ssdlab.host.held_folder import HeldFolder  # noqa: E402
from ssdlab.results import tables  # noqa: E402
from ssdlab.results.schema import Manifest  # noqa: E402
from ssdlab.results.store import write_manifest  # noqa: E402

WORKLOAD = ("measure", "sim:tiny-test,scale=4", "--rw", "randwrite", "--seconds", "10")
ROWS, RUNS = 86_400, 8
PRESSES, PAINTS, PAGES = 12, 5, 5
PRESS_MS, ORDINARY_CPU_S = 500.0, 0.45
PAGE = """
import sys, time
from pathlib import Path
from ssdlab.report import page, source
begun = time.process_time()
Path(sys.argv[1]).write_text(page.render([source.read(Path(sys.argv[2]))]))
print(time.process_time() - begun)
"""


def lengthened(run: Path, folder: Path, number: int) -> Path:
    """Copy a run as one of another drive whose last step has a row for each second of a day, sealed."""
    copy = copied(run, folder, number)
    with HeldFolder(copy, writing=True) as held:
        data = day_of(tables.read(held, tables.SERIES, tables.SERIES_COLUMNS), number)
        rows = tables.write(held, tables.SERIES, data, tables.SERIES_COLUMNS, "ordinal, row")
    digest = hashlib.sha256((copy / tables.SERIES).read_bytes()).hexdigest()
    stored = json.loads((copy / "manifest.json").read_text())
    stored.pop("seal", None)
    for table in stored["tables"]:
        if table["name"] == tables.SERIES:
            table |= {"rows": rows, "sha256": digest}
    write_manifest(copy, Manifest.model_validate(stored))
    return copy


def day_of(data: tables.Columns, seed: int) -> tables.Columns:
    """Return the rows of the last step alone, a day of them, with figures that scatter as a drive's do."""
    chance = np.random.default_rng(seed)
    last = int(np.flatnonzero(~(data["ramp"] | data["partial"]))[-1])
    made = {name: np.repeat(column[last : last + 1], ROWS) for name, column in data.items()}
    at = np.arange(ROWS, dtype=np.int64)
    made |= {"row": at.astype(np.int32), "start_ns": at * 10**9, "end_ns": (at + 1) * 10**9}
    level = np.where(at % 600 < 40, 0.3, 1.0) * chance.lognormal(0.0, 0.2, ROWS)
    made["ios"] = np.rint(20_000 * level).astype(np.int64)
    made["ios"][:: ROWS // 20] = 0
    made["bytes"] = made["ios"] * 4096
    for column in ("p50", "p99", "p999", "max"):
        for clock in ("service", "response"):
            made[f"{clock}_{column}_ns"] = 1e6 / level * chance.lognormal(0.0, 0.5, ROWS)
    return made


FIGURE = "document.querySelector('figure[id$=over-time]')"
PRESS = """(async () => {
  const buttons = [...FIGURE.querySelectorAll('button[data-group=measure]')];
  const frame = () => new Promise((resume) => requestAnimationFrame(resume));
  await frame();
  const begun = performance.now();
  const drawn = new Promise((resume) => {
    const watch = new MutationObserver(() => { watch.disconnect(); resume(); });
    watch.observe(FIGURE, { attributeFilter: ['data-drawn'] });
  });
  buttons[NUMBER % buttons.length].click();
  await drawn;
  await frame();
  await frame();
  return performance.now() - begun;
})()"""


def presses_ms(browser: Browser, page: Path) -> Iterator[float]:
    """Yield the time of each press, of one measure after the other, in a page that has come to rest."""
    browser.open(page, width=1400)
    browser.drawn()
    browser.run("new Promise((resume) => setTimeout(() => requestIdleCallback(resume), 3000))")
    for number in range(1, PRESSES + 1):
        yield _press_ms(browser, number)


def first_presses_ms(browser: Browser, page: Path) -> Iterator[float]:
    """Yield the time of the first two presses in a page that was just drawn, of some openings."""
    for opening in range(PAINTS):
        browser.open(page, width=1400)
        browser.drawn()
        for number in (1, 2):
            yield _press_ms(browser, opening + number)


def _press_ms(browser: Browser, number: int) -> float:
    return float(browser.run(PRESS.replace("FIGURE", FIGURE).replace("NUMBER", str(number))))


def paints_ms(browser: Browser, page: Path) -> Iterator[float]:
    """Yield the time of the first paint of some openings."""
    for _ in range(PAINTS):
        browser.open(page, width=1400)
        browser.drawn()
        yield float(browser.run(PAINT))


def main() -> int:
    """Make the pages, print each figure beside its bound, and return 1 where one is missed."""
    missed = 0

    def tell(title: str, values: list[float], bound: float | None = None) -> None:
        nonlocal missed
        least, median = min(values), statistics.median(values)
        late = bound is not None and median > bound
        missed += late
        beside = "" if bound is None else f"   at most {bound:g}{'   MISSED' if late else ''}"
        print(f"{title:44} least {least:8.2f}   median {median:8.2f}{beside}", flush=True)

    with tempfile.TemporaryDirectory() as name, started(shutil.which("chromium") or "chromium") as browser:
        place = Path(name)
        command(*WORKLOAD, "--save", "--library", str(place / "made"))
        made = next(path.parent for path in (place / "made").glob("2*/manifest.json"))
        (place / "days").mkdir()
        days = [lengthened(made, place / "days", number) for number in range(RUNS)]
        for title, runs in (("one ordinary run", [made]), ("one day", days[:1]), ("eight days", days)):
            page = place / f"{len(runs)}.html"
            tell(f"{title}: CPU of the command, s", [command(*words(runs, page)) for _ in range(PAGES)])
            if runs == [made]:
                cpu_s = [page_cpu_s(made, page) for _ in range(PAGES)]
                tell(f"{title}: CPU of its page, s", cpu_s, ORDINARY_CPU_S)
            tell(f"{title}: size, MB", [page.stat().st_size / 1e6])
            tell(f"{title}: first paint, ms", list(paints_ms(browser, page)))
            if runs != [made]:
                tell(f"{title}: one of the first two, ms", list(first_presses_ms(browser, page)), PRESS_MS)
                tell(f"{title}: press of a button, ms", list(presses_ms(browser, page)), PRESS_MS)
    return int(missed > 0)


def page_cpu_s(run: Path, page: Path) -> float:
    """Return the CPU time of reading a run and writing its page, the engine's threads with it."""
    asked = [sys.executable, "-c", PAGE, str(page), str(run)]
    return float(subprocess.run(asked, check=True, capture_output=True, text=True).stdout)


def words(runs: list[Path], page: Path) -> tuple[str, ...]:
    """Return the words of the command that makes a page."""
    return ("report", *map(str, runs), "-o", str(page))


if __name__ == "__main__":
    sys.exit(main())
