"""Runs of methods on a small simulated drive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ssdlab.lab import outcome
from ssdlab.lab.found import find_method
from ssdlab.lab.kinds import KINDS
from ssdlab.results.claim import sentence
from ssdlab.results.drive_states import SteadyProof
from ssdlab.results.remarks import gathered_departures
from ssdlab.results.run_folder import RunFolder
from ssdlab.runs.order import Order
from ssdlab.runs.session import start

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ssdlab.results.metric import Metric
    from ssdlab.results.schema import ResultBase

SMALL = "sim:tiny-test,scale=4"


def run(
    name: str, library: Path, drive: str = SMALL, *, seed: int = 1, destroy: str = "", **settings: str
) -> RunFolder:
    """Run a method with these settings and return its folder; a simulated drive does the same for a seed."""
    method = find_method(name)
    params = method.params.build(settings)
    return RunFolder(start(Order(method, params, drive, destroy=destroy or drive, seed=seed), library))


def quick_run(name: str, library: Path, drive: str = SMALL) -> RunFolder:
    method = find_method(name)
    params = method.params.build(quick=True)
    return RunFolder(start(Order(method, params, drive, quick=True, destroy=drive, seed=1), library))


def proofs_of(result: Any) -> list[SteadyProof]:
    """How far the drive of a result was brought before."""
    found = getattr(result, "steady", None)
    return [
        each for each in (found if isinstance(found, tuple) else [found]) if isinstance(each, SteadyProof)
    ]


def rateable(result: ResultBase) -> list[Metric]:
    """The figures of a result that are held against ratings."""
    return [each for each in result.scalars if not each.unfit("ratings")]


def findings_of(result: ResultBase) -> list[str]:
    """What a result says of itself, each as a sentence."""
    return [sentence(claim) for claim in outcome.findings_of(KINDS[result.kind], result)]


def shorter_in(run: RunFolder) -> list[str]:
    """What is shorter in a run than its method asks for: of a quick run, or of one that was set so."""
    found = gathered_departures(run.manifest)
    return [each.what for each in found if each.code in ("quick", "shorter")]


def parts_of(value: Any) -> Iterator[dict[str, Any]]:
    """Every part of a result, as it is stored."""
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from parts_of(inner)
