"""The shipped drives of flash: which of them a test is run on each time, and how one gets into a state."""

from __future__ import annotations

import pytest

from ssdlab.drives.simulated.drive import SimulatedDrive, SimulatedText
from ssdlab.drives.simulated.profiles import check_profile, profiles
from ssdlab.model.measurement import Measurement
from ssdlab.model.workload import Mix, Stop, Stream, Workload
from ssdlab.runs.rating_check import scale_for

NS = 10**9
SMALL_BYTES = 3 << 30

FLASH = [name for name in profiles() if check_profile(name)["profile"].get("flash")]

CONSISTENT = [
    "intel-750-1.2tb",
    "intel-p4510-8tb",
    "kingston-dc500m-3.84tb",
    "memblaze-pblaze5-c900-4tb",
    "memblaze-pblaze5-c916-6.4tb",
    "nvme-tlc-enterprise",
    "samsung-883-dct-960gb",
    "samsung-983-dct-960gb",
]
"""Protected enterprise drives that are sold for consistency."""
VALUE = ["kingston-dc400-960gb", "kingston-dc500r-3.84tb", "samsung-860-dct-960gb", "sata-tlc-enterprise"]
"""Enterprise drives that are sold for their price, or do not protect what they buffer."""
CLIENT = sorted({*FLASH} - {*CONSISTENT, *VALUE, "tiny-test"})


def slow_but(quick: list[str], names: list[str]) -> list[object]:
    """These names, all but some of them in the slow suite."""
    return [name if name in quick else pytest.param(name, marks=pytest.mark.slow) for name in names]


def fresh(name: str, scale: int | None = None, **settings: object) -> SimulatedDrive:
    """Written once from end to end; small enough for many times that, if no scale is asked for."""
    scale = scale or scale_for(name, SMALL_BYTES)
    text = SimulatedText(name, scale=scale, **settings)  # type: ignore[arg-type]
    return SimulatedDrive(text, writing=True, allow_unwritten=True)


def write(drive: SimulatedDrive, depth: int, seed: int, *, interval_ns: int = NS, **stop: int) -> Measurement:
    """Random writes of 4 KiB until `stop`."""
    stream = Stream(ops=Mix(read_pct=0), engine="uring", depth=depth, stop=Stop(**stop))
    return drive.run(Workload(seed=seed, interval_ns=interval_ns, streams=(stream,)))


def settled(name: str, seed: int, /, **settings: object) -> SimulatedDrive:
    """In steady state, as warm as it gets; eight capacities are written where that cannot be placed."""
    drive = fresh(name, **settings)
    capacities = 1 if drive.native.place_steady() else 8
    write(drive, 32, 100 + seed, bytes=capacities * drive.capacity_bytes // 4096 * 4096)
    if name == "nvme-tlc-client":
        write(drive, 32, 200 + seed, time_ns=300 * NS)
    return drive
