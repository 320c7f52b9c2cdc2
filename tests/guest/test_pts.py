"""SNIA's tests on a drive with a real driver: purged by a format, its cache off, every departure listed."""

from __future__ import annotations

import json

import pytest

from guest.machine import NVME_SERIAL

NVME = "/dev/nvme0n1"
SHORT = {"parameter-seconds", "parameter-most_rounds", "parameter-overwrites"}


@pytest.mark.parametrize(
    ("name", "cells"), [pytest.param("pts-iops", 56, marks=pytest.mark.slow), ("pts-latency", 9)]
)
def test_quick_on_an_nvme_drive(guest, name: str, cells: int) -> None:
    words = ["run", name, NVME, "--quick", "--set", "seconds=200ms", "--destroy", f"{NVME_SERIAL}/1"]
    if name == "pts-latency":
        words += ["--set", "histogram_seconds=200ms"]
    done = guest.ssdlab(*words, "--library", "/run/library", "--json", limit_s=1500)
    assert done.status == 0, done
    run = json.loads(done.out)
    departures = {each["code"]: each["what"] for each in run["manifest"]["departures"]}
    longer = {"parameter-histogram_seconds"} if name == "pts-latency" else set()
    assert set(departures) == SHORT | longer, departures
    by_label = {step["label"]: step for step in run["steps"]}
    set_to = {each["name"]: each["after"] for each in by_label["conditions"]["result"]["facts"]["set"]}
    assert set_to["write_cache"] == "off"
    assert by_label["purge"]["result"]["facts"]["record"]["method"].startswith("nvme-")
    (group,) = run["result"]["groups"]
    assert group["rounds"] == 5 and len(group["cells"]) == cells
    assert all(len(cell["iops"]) == 5 and min(cell["iops"]) > 0 for cell in group["cells"])
