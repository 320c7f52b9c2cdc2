"""Runs of methods on a small simulated drive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.methods import find_method
from ssdlab.results.run_folder import RunFolder
from ssdlab.runs.order import Order
from ssdlab.runs.session import start

if TYPE_CHECKING:
    from pathlib import Path

SMALL = "sim:tiny-test,scale=4"


def run(
    name: str, library: Path, drive: str = SMALL, *, seed: int = 1, destroy: str = "", **settings: str
) -> RunFolder:
    """Run a method with these settings and return its folder; a simulated drive does the same for a seed."""
    method = find_method(name)
    params = method.params.build(settings)
    return RunFolder(start(Order(method, params, drive, destroy=destroy or drive, seed=seed), library))
