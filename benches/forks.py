"""What a sweep of forked points takes on one processor and on two, and that it gives the same.

Ten points of random writes, each from the same state of a simulated drive that was filled, as
`lab.sweep(..., forked=True)` does them: wall time, best of three rounds that take turns. A figure of a
machine that does nothing else.

    python benches/forks.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from ssdlab.lab.kinds import PointsResult
from ssdlab.lab.lab import Lab
from ssdlab.lab.method import Method, Params, RunData
from ssdlab.lab.parts.workloads import closed_loop
from ssdlab.model.workload import Workload
from ssdlab.results.run_folder import RunFolder
from ssdlab.runs import side_by_side
from ssdlab.runs.order import Order
from ssdlab.runs.session import start

DRIVE, POINTS, SECONDS, ROUNDS = "sim:nvme-tlc-enterprise,scale=16", 10, 60.0, 3
FASTER_AT_LEAST = 1.5


class NoParams(Params):
    """None."""


def procedure(lab: Lab, p: NoParams) -> None:
    """Fill the drive, and write from there at ten depths."""
    lab.fill(unless_written=True)

    def writes(depth: int) -> Workload:
        return closed_loop("random", "write", block_bytes=4096, in_flight=depth, seconds=SECONDS)

    lab.sweep("depth", range(32, 32 + POINTS), writes, forked=True)


def conclude(data: RunData, p: NoParams) -> PointsResult:
    """Conclude nothing: the time is what counts."""
    return PointsResult(quick=False, points=())


def swept(processors: int) -> tuple[float, list[Any]]:
    """Return the seconds that the points took, and what they gave."""
    side_by_side.processors = lambda: processors
    method = Method("forks", 1, "Forks", NoParams, procedure, conclude, writes=lambda p: True)
    with tempfile.TemporaryDirectory() as place:
        folder = start(Order(method, NoParams(), DRIVE, destroy=DRIVE, seed=1), Path(place))
        steps = [step for step in RunFolder(folder).steps() if step.label.startswith("depth")]
        took = sum(step.result.seconds for step in steps)
        return took, [(step.label, step.measured.iops) for step in steps]


def main() -> None:
    """Take turns, and print the best of each."""
    best, found = {1: float("inf"), 2: float("inf")}, {}
    for _ in range(ROUNDS):
        for processors in best:
            took, found[processors] = swept(processors)
            best[processors] = min(best[processors], took)
    assert found[1] == found[2], "side by side the points differ"
    ratio = best[1] / best[2]
    print(f"one processor {best[1]:.2f} s, two {best[2]:.2f} s: {ratio:.2f} times as fast", end="")
    print("" if ratio >= FASTER_AT_LEAST else f", below {FASTER_AT_LEAST}")


if __name__ == "__main__":
    main()
