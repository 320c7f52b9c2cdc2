"""A quick run of each method, made once for a whole run of the tests: for tests that only read it.

Whoever asks for one first makes it; tests that run beside each other share it.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ssdlab.lab.folders import REGISTRY
from ssdlab.lab.found import find_method
from ssdlab.lab.outcome import read_result
from ssdlab.results.run_folder import RunFolder
from ssdlab.runs.order import Order
from ssdlab.runs.session import start

QuickRun = Callable[[str], RunFolder]
QuickResult = Callable[[str], Any]

DRIVE = "sim:nvme-tlc-enterprise,scale=128"
SEED = 7
METHODS = tuple(name for name in REGISTRY if name not in ("job", "pts-iops"))
"""All but `job`, which asks for a file, and `pts-iops`, which takes as long as all others."""
_SHORTER = {"trace": {"seconds": "2"}}


def make(name: str, library: Path) -> Path:
    """Run a method with `--quick` into a library and return the folder of the run."""
    method = find_method(name)
    params = method.params.build(_SHORTER.get(name, {}), quick=True)
    return start(Order(method, params, DRIVE, quick=True, destroy=DRIVE, seed=SEED), library)


@pytest.fixture(scope="session")
def quick_run(tmp_path_factory: pytest.TempPathFactory) -> QuickRun:
    """Give the run of a method, by its name."""
    base = tmp_path_factory.getbasetemp()
    place = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "quick-runs"
    place.mkdir(exist_ok=True)

    def of(name: str) -> RunFolder:
        library = place / name
        with (place / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            found = sorted(library.glob("2*/manifest.json"))
            return RunFolder(found[0].parent if found else make(name, library))

    return of


@pytest.fixture(scope="session")
def quick_result(quick_run: QuickRun) -> QuickResult:
    """Give the result of that run."""
    return lambda name: read_result(quick_run(name))
