"""Runs of methods on a small simulated drive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ssdlab.methods import find_method
from ssdlab.results.run_folder import RunFolder
from ssdlab.runs.order import Order
from ssdlab.runs.session import start

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SMALL = "sim:tiny-test,scale=4"


def run(
    name: str, library: Path, drive: str = SMALL, *, seed: int = 1, destroy: str = "", **settings: str
) -> RunFolder:
    """Run a method with these settings and return its folder; a simulated drive does the same for a seed."""
    method = find_method(name)
    params = method.params.build(settings)
    return RunFolder(start(Order(method, params, drive, destroy=destroy or drive, seed=seed), library))


def quick_run(name: str, library: Path) -> RunFolder:
    method = find_method(name)
    params = method.params.build(quick=True)
    return RunFolder(start(Order(method, params, SMALL, quick=True, destroy=SMALL, seed=1), library))


def parts_of(value: Any) -> Iterator[dict[str, Any]]:
    """Every part of a result, as it is stored."""
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from parts_of(inner)
