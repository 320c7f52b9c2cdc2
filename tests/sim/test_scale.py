"""Steady random writes of the shipped drives at several scales."""

from __future__ import annotations

import numpy as np
import pytest

from sim.flash_drives import FLASH, NS, fresh, slow_but, write
from ssdlab.drives.simulated.profiles import check_profile
from ssdlab.model.errors import UsageError

LARGE_BYTES = 70 << 30
"""Above that a drive is left out at a scale: what is left takes seconds."""


def written(name: str, scale: int) -> tuple[float, float]:
    """IOPS and p99 (ns) at depth 32 of a drive in steady state, whose dies have fallen apart.

    Of one that can be placed there over ten minutes; else over eight capacities, which are a whole cycle of
    a cache that is written anew when all in it was overwritten, and many swings of one that heat slows.
    """
    drive = fresh(name, scale)
    placed = drive.native.place_steady()
    capacities = (1 if placed else 8) * drive.capacity_bytes // 4096 * 4096
    write(drive, 32, 9, bytes=capacities)
    found = write(drive, 32, 1, **({"time_ns": 600 * NS} if placed else {"bytes": capacities}))
    writes = found.summary().write
    assert writes is not None
    p99 = writes.service_ns["p99"]
    assert p99 is not None
    return float(found.iops), p99


def scales(name: str) -> list[int]:
    """Of 16, 64 and 128 those that the geometry has, and at which the drive is small enough."""
    found = []
    for scale in (16, 64, 128):
        try:
            made = check_profile(name, scale=scale)
        except UsageError:
            continue
        if made["capacity_bytes"] < LARGE_BYTES:
            found.append(scale)
    return found


@pytest.mark.parametrize("name", slow_but([], [name for name in FLASH if len(scales(name)) > 1]))
def test_scales_are_alike(name: str) -> None:
    """IOPS within 1 % and p99 within 5 %."""
    at = [written(name, scale) for scale in scales(name)]
    iops, p99 = np.array(at).T
    assert iops.max() / iops.min() < 1.01, iops
    assert p99.max() / p99.min() < 1.05, p99
