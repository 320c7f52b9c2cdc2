"""What a drive's counters have grown by over a run is what the run's steps moved."""

from __future__ import annotations

from pathlib import Path

import pytest

from methods.on_simulated import run
from ssdlab.results.time_line import changes_of

pytestmark = pytest.mark.long

SHORT = {"seconds": "0.5", "ramp_seconds": "0", "precondition": "analytic"}


def test_points_on_forks_of_a_drive_are_counted_each_by_itself(tmp_path: Path) -> None:
    """A drive that is brought back to a state has the counters of then, so reads would be counted off."""
    folder = run("read-under-writes", tmp_path, "sim:tiny-test,scale=4", **SHORT)
    steps = folder.steps()
    grown = changes_of(steps)
    sides = [step.measured.sides for step in steps if step.result.measurement is not None]
    assert len(sides) > 5
    for direction, name in (("read", "host_read_bytes"), ("write", "host_written_bytes")):
        moved = sum(each[direction].bytes for each in sides if direction in each)
        # What is in flight when a point ends is the drive's before it is the measurement's.
        assert grown[name] == pytest.approx(moved, rel=1e-3), direction
