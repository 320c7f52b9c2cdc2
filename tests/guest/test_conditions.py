"""Conditions on drives with a real driver: caches, LBA format, and what the kernel believes meanwhile."""

from __future__ import annotations

import json
from typing import Any

from guest.machine import NVME_SERIAL, Done
from ssdlab.results.run_folder import RunFolder

NVME, SATA = "/dev/nvme0n1", "/dev/sda"
LIBRARY = ("--library", "/run/library", "--json")
RUN = """
# As `ssdlab job`, but for the tables at the end: a process that loads DuckDB takes half a minute here.
import sys
from pathlib import Path
from ssdlab.lab.found import find_method
from ssdlab.lab.job import read_job
from ssdlab.runs.order import Order
from ssdlab.runs.session import RunEnvironment, start
drive, text = sys.argv[1:]
order = Order(find_method("job"), read_job(text, "job"), drive)
environment = RunEnvironment(finish=lambda folder, manifest, lock: manifest)
start(order, Path("/run/guest/sata"), environment=environment)
"""
SATA_JOB = """
[[step]]
do = "conditions"
write-cache = "off"
[[step]]
do = "run"
rw = "randread"
seconds = "300ms"
"""


def shown(done: Done) -> dict[str, Any]:
    assert done.status == 0, done
    return json.loads(done.out)


def outcomes(run: dict[str, Any], step: int) -> dict[str, tuple[str, str, str | None]]:
    facts = run["steps"][step]["result"]["facts"]["set"]
    return {each["name"]: (each["before"], each["after"], each["remark"]) for each in facts}


def now(guest, drive: str) -> dict[str, str | None]:
    told = shown(guest.ssdlab("conditions", "show", drive, "--json", limit_s=120))
    return {name: setting["value"] for name, setting in told["settings"].items()}


def test_a_method_on_a_variant_with_other_blocks_and_no_cache(guest) -> None:
    """`peak-random-read --quick`: 4 KiB blocks, cache off, and all put back; the neighbour is untouched."""
    neighbour = guest.must("head -c 8M /dev/urandom | tee /dev/nvme0n2 | sha256sum")
    words = ["run", "peak-random-read", NVME, *LIBRARY]
    refused = guest.ssdlab(*words, "--power-limit", "10W", limit_s=300)
    assert refused.status == 2 and "ps0 up to 25 W" in json.loads(refused.out)["advice"]
    words += ["--quick", "--set", "depths=1,4", "--set", "seconds=500ms", "--set", "ramp_seconds=0"]
    words += ["--lba-format", "4k", "--write-cache", "off", "--destroy", f"{NVME_SERIAL}/1"]
    run = shown(guest.ssdlab(*words, limit_s=400, tables=False))
    found = outcomes(run, 0)
    assert found["lba_format"] == ("512", "4096", None)
    before, after, remark = found["write_cache"]
    assert (before, after) == ("on", "off") and "still takes it as on" in str(remark)
    assert run["manifest"]["drive"]["name"] == "QEMU NVMe Ctrl, write cache off, 4 KiB blocks"
    assert [point["workers"] for point in run["result"]["points"]] == [1, 4]
    assert [warned["code"] for warned in run["manifest"]["warnings"]].count("kernel-view") == 1
    settings = now(guest, NVME)
    assert (settings["lba_format"], settings["write_cache"]) == ("512", "on")
    assert guest.must("cat /sys/block/nvme0n1/queue/logical_block_size") == "512\n"
    assert guest.must("head -c 8M /dev/nvme0n2 | sha256sum") == neighbour


def test_sata_write_cache_and_back(guest) -> None:
    done = guest.python(RUN, SATA, SATA_JOB, limit_s=400)
    assert done.status == 0, done
    (folder,) = (guest.orders / "sata").glob("2*")
    run = RunFolder(folder)
    assert run.manifest.status == "finished"
    (found,) = run.steps()[1].result.facts["set"]
    # Of SATA drives the kernel asks again by itself.
    assert (found["before"], found["after"], found["remark"]) == ("on", "off", None)
    assert run.steps()[1].result.facts["found"]["write_cache"] == "write through"
    assert now(guest, SATA)["write_cache"] == "on"
