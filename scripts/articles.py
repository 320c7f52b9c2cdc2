"""Writes the five reviews on simulated drives: `make articles`, or some of them by their names.

Each is run over those of its review's own drives that there are profiles of; the others are named on the page
as absent. Nothing finished is done twice: what was cut short is resumed, and a page is written again in any
case. Times are shorter where a drive is made smaller, or where the review gives none; the page says so.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from ssdlab.lab.suites import find_suite

REVIEWS = ("review-dc500", "review-c916", "review-dc400", "review-xp941", "review-600p")


@dataclass(frozen=True)
class Made:
    """How a review is run here.

    Attributes
    ----------
    scale
        So many times smaller each drive is.
    settings
        Of `--set`: what is shorter than the method has it, where the review gives no time, or where a
        smaller drive is through with it sooner.
    """

    scale: int
    settings: tuple[str, ...]


_STEADY = ("precondition=one-pass", "round_seconds=10")
MADE = {
    "review-dc500": Made(
        64,
        (*_STEADY, "qd1.seconds=30", "steady-random-write.seconds=60", "steady-sequential-write.seconds=60"),
    ),
    "review-c916": Made(
        128,
        (
            *_STEADY,
            "mixed-random.seconds=10",
            "mixed-random.ramp_seconds=2",
            "mixed-random.least_seconds=60",
            "act-search.test_duration_sec=20",
            "act-search.slice_sec=20",
            "act-search.coarse=10",
            "act-search.fine=2",
        ),
    ),
    "review-dc400": Made(32, ()),
    "review-xp941": Made(1, ()),
    "review-600p": Made(1, ()),
}
"""At 1/64 of its size a drive of 960 GB is written over in as many seconds as in minutes."""


def main() -> int:
    """Run or resume the reviews that are asked for, and write their pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=REVIEWS, help="reviews; by default all five")
    parser.add_argument("--quick", action="store_true", help="the methods' quick presets: minutes for all")
    parser.add_argument("--folder", type=Path, default=Path("articles"), help="where runs and pages go")
    parser.add_argument("--trace", help="your own trace for review-xp941; else the made-up example")
    asked = parser.parse_args()
    for name in asked.names:
        if name not in MADE:
            parser.error(f"there is no review {name}: {', '.join(MADE)}")
    asked.folder.mkdir(exist_ok=True)
    for name in asked.names:
        status = write_article(name, asked.folder, quick=asked.quick, trace=asked.trace)
        if status not in (0, 1):  # 1: a verdict that is a fail, such as that TRIM does not work
            return status
    return 0


def write_article(name: str, folder: Path, *, quick: bool, trace: str | None) -> int:
    """Run or resume one review, write its page, and say what that took."""
    started, used = time.monotonic(), _cpu_s()
    library = folder / ("quick" if quick else "runs")
    words = ["--library", str(library)]
    found = _begun(library, name)
    if found is None:
        traced = ("--set", f"trace.file={trace}") if trace and name == "review-xp941" else ()
        status = _ssdlab("run", name, *drives(name, quick=quick), *_settings(name, quick), *traced, *words)
    elif found[1] != "finished":
        status = _ssdlab("resume", str(found[0]))
    else:
        status = 0
    found = _begun(library, name)
    if found is None or found[1] != "finished":
        return status or 3
    page = folder / f"{name}.html"
    written = _ssdlab("report", str(found[0]), "-o", str(page))
    took, cpu = time.monotonic() - started, _cpu_s() - used
    print(f"{page}: {took / 60:.1f} min, {cpu / 60:.1f} min of CPU", flush=True)
    return written or status


def drives(name: str, *, quick: bool) -> list[str]:
    """Return the review's own drives that there are profiles of, simulated."""
    suite = find_suite(name)
    assert suite is not None
    scale = max(MADE[name].scale, 16) if quick else MADE[name].scale
    made = "" if scale == 1 else f",scale={scale}"
    listed = suite.page["drives"]
    assert isinstance(listed, list)
    return [f"sim:{each['profile']}{made}" for each in listed if isinstance(each, dict) and "profile" in each]


def _settings(name: str, quick: bool) -> list[str]:
    if quick:
        return ["--quick"]
    return [word for setting in MADE[name].settings for word in ("--set", setting)]


def _begun(library: Path, name: str) -> tuple[Path, str] | None:
    """Return the newest comparison of that review and its status; None if it was never begun."""
    for folder in sorted(library.glob(f"*-{name}-*"), reverse=True):
        manifest = json.loads((folder / "manifest.json").read_text())
        if manifest.get("member") is None:
            return folder, manifest["status"]
    return None


def _ssdlab(*words: str) -> int:
    process = subprocess.Popen([sys.executable, "-m", "ssdlab", *words])
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:  # it was told too, and puts away what it has
            continue


def _cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    sys.exit(main())
