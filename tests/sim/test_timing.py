"""The timing of the shipped drives: who waits for how long, and what closed forms say of large reads."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from methods.on_simulated import run
from sim.flash_drives import CONSISTENT, FLASH, VALUE, slow_but
from ssdlab.drives.simulated.profiles import check_profile
from ssdlab.lab.outcome import read_result
from ssdlab.methods.read_under_writes.result import ReadUnderWritesResult
from ssdlab.runs.rating_check import scale_for

pytestmark = pytest.mark.long

LINKS = ["samsung-983-dct-960gb", "samsung-860-dct-960gb", "samsung-950-pro-512gb", "intel-p4510-8tb"]
"""Of each link and NAND one."""
UNIT, UNITS = 4096, 32


def side(name: str, direction: str, **options: Any) -> Any:
    return getattr(ssdlab.measure(f"sim:{name},scale=64", **options).summary(), direction)


class Parts:
    """Figures of a profile, in us."""

    def __init__(self, name: str) -> None:
        self.profile = check_profile(name)["profile"]
        self.page_units = int(self("flash", "page_kib") * self("flash", "planes")) // 4
        self.crossing_us = UNIT * (1 + self("flash", "bus_overhead_pct") / 100) / self("flash", "bus_mt_s")
        self.link_us = UNIT / self("link", "bandwidth_mb_s")
        self.turnaround_us = self("link", "turnaround_us")
        self.array_us = self("flash", "read_us")
        self.map_us = self.map_missed() * (
            sum(self.array_us) / len(self.array_us) + self("flash", "command_us") + self.crossing_us
        )

    def __call__(self, table: str, key: str) -> Any:
        found = self.profile[table].get(key)
        return 0.0 if found is None else found["value"]

    def map_missed(self) -> float:
        """The share of a map of 4 bytes for each unit that is not in memory; 0 if all of it is."""
        held_mib = (self.profile.get("mapping") or {}).get("cache_mib")
        if held_mib is None:
            return 0.0
        return float(1 - held_mib["value"] * 2**20 / (4 * self.profile["capacity_bytes"]["value"] / UNIT))

    def read_us(self, array_us: float, first: int, units: int = UNITS) -> float:
        """What a read takes of which the first page has so many units: pages side by side, then the link."""
        pages, left = [first], units - first
        while left:
            pages.append(min(left, self.page_units))
            left -= pages[-1]
        there = sorted(
            (array_us + self("flash", "command_us") + units * self.crossing_us, units) for units in pages
        )
        done = 0.0
        for at, units in there:
            done = max(done, at) + units * self.link_us
        fixed: float = (
            self("link", "command_us") + self("controller", "read_us") + self.turnaround_us + self.map_us
        )
        return fixed + done


@pytest.mark.parametrize("name", slow_but(LINKS, [name for name in FLASH if name != "tiny-test"]))
def test_large_reads_at_depth_1_against_their_closed_form(name: str) -> None:
    """Pages on several dies are read together; of a stream that was read ahead the link is what is left.

    Not of `tiny-test`, of whose four channels each carries two or three of the pages.
    """
    parts = Parts(name)
    common = {"bs": UNITS * UNIT, "threads": 1, "seconds": 0.2}
    alone = side(name, "read", rw="randread", **common).service_ns["mean"] / 1e3
    ahead = side(name, "read", rw="read", **common).service_ns["mean"] / 1e3
    # Of a drive as made a read begins with a page, of any of those of a cell.
    cases = [parts.read_us(us, parts.page_units) for us in parts.array_us]
    assert alone == pytest.approx(sum(cases) / len(cases), rel=0.05)
    assert UNITS * parts.link_us + parts.turnaround_us <= ahead <= alone / 1.1


@pytest.mark.parametrize("name", slow_but(LINKS, [name for name in FLASH if name != "tiny-test"]))
def test_a_page_of_a_drive_as_made_is_sensed_once(name: str) -> None:
    """Written once from end to end, whatever its capacity: a page of addresses is a page of the flash."""
    parts = Parts(name)
    page = parts.page_units
    found = side(name, "read", rw="randread", bs=page * UNIT, threads=1, seconds=0.2)
    cases = [parts.read_us(us, page, page) for us in parts.array_us]
    assert found.service_ns["mean"] / 1e3 == pytest.approx(sum(cases) / len(cases), rel=0.02)


@pytest.mark.parametrize("name", ["samsung-983-dct-960gb", "samsung-860-dct-960gb"])
def test_reads_wait_longer_the_more_is_written(name: str, tmp_path: Path) -> None:
    """Reads are in front, programs are suspended between two pulses: reads wait, but never for a program."""
    settings: dict[str, Any] = {
        "precondition": "analytic",
        "overwrites": "0",
        "least_seconds": "0.5",
        "round_seconds": "0.1",
        "ramp_seconds": "0.1",
        "seconds": "0.5",
        "read_shares": "5",
        "write_shares": "0,50,95",
    }
    result = read_result(run("read-under-writes", tmp_path, f"sim:{name},scale=128", **settings))
    assert isinstance(result, ReadUnderWritesResult)
    means = [cell.service_ns["mean"] or 0.0 for cell in result.cells]
    assert all(cell.held for cell in result.cells)
    assert means == sorted(means)
    # Near the peak a queue is as long as its burstiest part makes it: SATA has one for both.
    assert means[-2] < 1e6 and means[-1] < 1e7
    alone, *_, most = [cell.service_ns["p99"] or 0.0 for cell in result.cells]
    assert most > 1.3 * alone


def beside(name: str, library: Path) -> list[Any]:
    """Read latencies at 5 % of the peak beside more and more writes, also where these saturate the drive."""
    settings: dict[str, Any] = {
        "precondition": "analytic",
        "least_seconds": "2",
        "round_seconds": "2",
        "seconds": "10",
    }
    profile = check_profile(name)["profile"]
    if profile.get("slc_cache"):
        settings["precondition"] = "full"
        if profile["collection"].get("reads_at_once"):
            # Seconds of its waves are no steady rate: the method's own hour, and cells of two minutes.
            settings = {}
    shares = (0, 25, 50, 75, 95)
    settings |= {"read_shares": "5", "write_shares": ",".join(map(str, shares))}
    folder = run("read-under-writes", library, f"sim:{name},scale={scale_for(name, 4 << 30)}", **settings)
    steps: dict[str, Any] = {step.label: step for step in folder.steps()}
    return [steps[f"reads 5 %, writes {share} %"].measured.read.service_ns for share in shares]


@pytest.mark.parametrize(
    "name", slow_but(["tiny-test", "nvme-tlc-enterprise"], ["tiny-test", *CONSISTENT, *VALUE])
)
def test_reads_of_each_drive_wait_longer_the_more_is_written(name: str, tmp_path: Path) -> None:
    """In cells of 10 s or more, each after the method's own 10 s: with less, writes from before still wait.

    Means of 30,000 reads or more are known to 1 %; a 99th percentile to that and a step of its histogram.
    """
    found = beside(name, tmp_path)
    for key, noise in (("mean", 0.01), ("p99", 0.04)):
        figures = [each[key] for each in found]
        assert all(more > (1 - noise) * less for less, more in pairwise(figures)), (key, figures)
    assert found[-1]["p99"] >= 1.3 * found[0]["p99"]
    assert found[-2]["mean"] <= 1e6
