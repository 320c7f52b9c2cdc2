"""Small suites, and drives to run them on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lab.fake_drive import FakeDrive
from ssdlab.drives import Look
from ssdlab.lab.suites.suite import Part, Suite
from ssdlab.results.lease import RunLock
from ssdlab.results.run_folder import RunFolder
from ssdlab.results.schema import Child, Manifest, TableInfo
from ssdlab.results.store import write_manifest
from ssdlab.runs.order import Order
from ssdlab.runs.session import RunEnvironment
from ssdlab.runs.suites.ordering import SuiteOrder, suite_params
from ssdlab.runs.suites.session import start_suite

SMALL = "sim:tiny-test,scale=4"
BRIEF = {
    "round_seconds": "0.2",
    "least_seconds": "0.2",
    "overwrites": "0.5",
    "most_seconds": "20",
    "seconds": "0.2",
    "ramp_seconds": "0",
    "depths": "1,8",
}
"""Of steady-random-write and mixed-random: fractions of a second of a drive of 4 GiB."""


def reads_part(chapter: str) -> str:
    """The part of a review that reads at random for fractions of a second, as declared."""
    return f"""
[[part]]
method = "peak-random-read"
begins = "written"
chapter = "{chapter}"
set = {{ fill = true, depths = [1, 8], seconds = 0.2, ramp_seconds = 0 }}
"""


class Watcher:
    """Notes what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str]] = []

    def began(self, child: Child, number: int, total: int) -> Sequence[Any]:
        self.told.append(("began", child.part))
        return []

    def look(self, running: Mapping[str, Any]) -> None:
        pass

    def ended(self, child: Child, number: int, total: int, *, already_finished: bool) -> None:
        self.told.append(("found" if already_finished else "ended", child.part))


def suite(*parts: Part, **more: Any) -> Suite:
    return Suite(name="tried", version=1, title="Tried", prose="Tried.", parts=parts, **more)


def suite_order(
    made: Suite, drive: str, settings: Mapping[str, str], *, repeat: int = 1, **more: Any
) -> SuiteOrder:
    params = suite_params(made, settings, quick=False)
    first = made.parts[0]
    like = Order(made.method(first), params[first.label], drive, seed=more.pop("seed", 7), **more)
    return SuiteOrder(made, params, like, repeat)


def environment(drive: FakeDrive, **options: Any) -> RunEnvironment:
    """An environment that opens this drive; it writes no rows, so its tables are empty."""
    found = Look(drive.identity, True, None, None)

    def finish(folder: Path, manifest: Manifest, lock: RunLock) -> Manifest:
        done = manifest.model_copy(update={"tables": (TableInfo(name="series", rows=0, sha256=""),)})
        write_manifest(folder, done)
        return done

    return RunEnvironment(lambda text, **opened: drive, finish, lambda text, **asked: found, **options)


def run(
    made: Suite, library: Path, settings: Mapping[str, str], drive: str = SMALL, **more: Any
) -> RunFolder:
    """Run a suite on a simulated drive."""
    return RunFolder(start_suite(suite_order(made, drive, settings, **more), library, Watcher()))


def children(folder: RunFolder) -> dict[str, RunFolder]:
    """The runs of a finished suite, by their parts."""
    return {
        child.part: RunFolder(folder.path.parent / child.run_id)
        for child in folder.manifest.children
        if child.left_out is None
    }
