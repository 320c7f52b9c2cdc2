"""Runs to be damaged, and what the commands make of them."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from ssdlab.cli import main
from ssdlab.lab.found import find_method
from ssdlab.results import store
from ssdlab.results.run_folder import (
    JOURNAL,
    MANIFEST,
    read_manifest,
)
from ssdlab.results.tables import HIST, SERIES
from ssdlab.runs.session import Order, start

DRIVE = "sim:tiny-test,scale=4"
SETTINGS = {"depths": "1,4,8", "seconds": "100ms", "ramp_seconds": "0"}
UNSEALED = Path(__file__).parent / "unsealed"
"""Folders that an ssdlab without seals made: a finished run, a saved measurement, a killed run."""
SEED = 20_261_122
REFUSED = 2


class Killer:
    """Ends its own process without warning when so many steps are finished."""

    def __init__(self, after: int) -> None:
        self.left = after

    def began(self, progress: object) -> None:
        pass

    def tick(self, progress: object) -> None:
        pass

    def finished(self, step: object, progress: object, *, read_back: bool) -> None:
        self.left -= 1
        if not self.left:
            os.kill(os.getpid(), signal.SIGKILL)

    def ended(self, status: object) -> None:
        pass


def sweep() -> Order:
    method = find_method("peak-random-read")
    return Order(method, method.params.build(SETTINGS), DRIVE, seed=SEED)


def make_runs(library: Path) -> dict[str, Path]:
    """A finished run, a saved measurement and a run that was killed after three of its steps."""
    finished = start(sweep(), library / "finished")
    words = [
        "--rw",
        "randread",
        "--bs",
        "4k",
        "--seconds",
        "200ms",
        "--save",
        "--library",
        str(library / "one"),
    ]
    assert main(["measure", DRIVE, *words]) == 0
    child = os.fork()
    if child == 0:
        try:
            start(sweep(), library / "killed", [Killer(3)])
        finally:
            os._exit(70)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    (killed,) = store.run_folders(library / "killed")
    (measured,) = store.run_folders(library / "one")
    return {"finished": finished, "measured": measured, "killed": killed}


class DamagedRun:
    """A copy of a run to be damaged, and what the commands make of it."""

    def __init__(self, run: Path, place: Path, capfd: pytest.CaptureFixture[str]) -> None:
        self.folder = Path(shutil.copytree(run, place / run.name))
        for path in self.folder.rglob("*"):
            path.chmod(path.stat().st_mode | 0o200)
        self._page = place / "page.html"
        self._capfd = capfd
        self.names = [name for name in (MANIFEST, JOURNAL, SERIES, HIST) if (self.folder / name).exists()]
        self.whole = {name: (self.folder / name).read_bytes() for name in self.names}

    def command(self, *words: str) -> tuple[int, str]:
        status = main(list(words))
        return status, self._capfd.readouterr().out

    def shown(self) -> tuple[int, str]:
        """Exit status and everything that a reader gets: `show --json`, and the page if that goes well."""
        status, out = self.command("show", str(self.folder), "--json")
        if status == 0:
            told = json.loads(out)
            told.pop("torn_bytes")
            self._page.unlink(missing_ok=True)
            made, _ = self.command("report", str(self.folder), "-o", str(self._page))
            assert made in (0, REFUSED)
            out = json.dumps(told) + (self._page.read_text() if made == 0 else "")
        return status, out

    def put(self, name: str, data: bytes) -> None:
        (self.folder / name).write_bytes(data)

    def restore(self) -> None:
        for name, data in self.whole.items():
            self.put(name, data)

    def flipped(self, name: str, bit: int) -> tuple[int, str]:
        data = bytearray(self.whole[name])
        data[bit // 8] ^= 1 << bit % 8
        self.put(name, bytes(data))
        found = self.shown()
        self.put(name, self.whole[name])
        return found

    def sample(self, count: int) -> Iterator[tuple[str, int]]:
        """Bits of all files, each as likely as any other."""
        draw = random.Random(SEED)
        sizes = [8 * len(data) for data in self.whole.values()]
        for bit in draw.sample(range(sum(sizes)), min(count, sum(sizes))):
            for name, size in zip(self.names, sizes, strict=True):
                if bit < size:
                    yield name, bit
                    break
                bit -= size

    def prefixes(self) -> set[str]:
        """What is shown of each prefix of the journal."""
        lines = self.whole[JOURNAL].splitlines(keepends=True)
        found = set()
        for count in range(len(lines) + 1):
            self.put(JOURNAL, b"".join(lines[:count]))
            status, out = self.shown()
            assert status == 0
            found.add(out)
        self.restore()
        return found


def campaign(damaged: DamagedRun, count: int) -> Counter[str]:
    """Flip so many bits, one at a time; return how many flips were refused and how many had no effect."""
    status, truth = damaged.shown()
    assert status == 0
    allowed = {truth} if read_manifest(damaged.folder).status == "finished" else damaged.prefixes()
    came_to: Counter[str] = Counter()
    for name, bit in damaged.sample(count):
        status, out = damaged.flipped(name, bit)
        where = f"bit {bit % 8} of byte {bit // 8} of {name}"
        assert status in (0, REFUSED), f"{where}: exit status {status}"
        assert status == REFUSED or out in allowed, f"{where}: accepted, and something else is shown"
        came_to["refused" if status else "same"] += 1
    assert damaged.shown() == (0, truth)
    return came_to
