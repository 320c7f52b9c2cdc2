"""What the specification's report asks for is on every page of each of its eight tests.

The lists are those of SNIA SSS PTS 2.0.2: the sample header, four columns of ten rows, and the common
reporting requirements of section 5. "unknown" is printed, and nothing is dropped.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ssdlab.lab.found import find_method
from ssdlab.methods.pts import demand_page as pts_demand
from ssdlab.methods.pts import page as pts
from ssdlab.methods.pts import recovery_page as pts_recovery
from ssdlab.methods.pts import saturation_page as pts_saturation
from ssdlab.methods.pts.header import optional_features, sheet
from ssdlab.report import source
from ssdlab.report.runs import Shown, shown
from ssdlab.report.view import Section
from ssdlab.results.schema import Manifest
from ssdlab.runs.order import Order
from ssdlab.runs.session import start

DRIVE = "sim:tiny-test,scale=4"
RIG = 'tested_by = "J. Doe"\naudited_by = "R. Roe, Other Lab"\nos_disk = "Example 850, ext4"\n'
ASKED = {
    "Test platform": {
        "Reference platform",
        "Motherboard",
        "CPU",
        "Memory",
        "OS, kernel",
        "Test software",
        "Its version",
        "Test id",
        "HBA, driver",
        "Slot, link",
        "Boot device",
    },
    "Device under test": {
        "Manufacturer",
        "Model no.",
        "Serial no.",
        "Firmware",
        "User capacity",
        "Interface, speed",
        "Form factor",
        "Media type",
        "Purge method",
        "Write cache",
        "Optional features",
    },
    "Set-up": {
        "Data pattern",
        "Active range",
        "AR segments, amount",
        "Pre-condition 1",
        "Pre-condition 2",
        "Notes",
    },
    "Test": {
        "Data pattern",
        "Active range",
        "Stimulus 1",
        "Steady state",
        "Stimulus 2, histogram",
        "Outcome",
        "File system",
    },
}
"""The columns of the sample header, and what section 5 asks for beside them: what is last in three."""
SHORT_S = {"seconds": "0.05", "cycle": "1"}
DEMAND = {
    **{"thread_counts": "1,2", "depths": "1,2", "seconds": "0.02", "cycle": "1", "most_samples": "5"},
    **{
        "most_rounds": "5",
        "pre_write_seconds": "0.02",
        "settle_seconds": "0.02",
        "histogram_seconds": "0.05",
    },
}
ROUNDS = {"seconds": "0.02", "overwrites": "1", "most_rounds": "5"}
TESTS: dict[str, tuple[Any, dict[str, str]]] = {
    "pts-iops": (pts.section, ROUNDS),
    "pts-throughput": (pts.section, ROUNDS),
    "pts-latency": (pts.section, {**ROUNDS, "histogram_seconds": "0.05"}),
    "pts-write-saturation": (
        pts_saturation.section,
        {**SHORT_S, "most_seconds": "0.5", "histogram_seconds": "0.1"},
    ),
    "pts-host-idle-recovery": (
        pts_recovery.idle_section,
        {**SHORT_S, "burst_seconds": "0.05", "bursts": "2", "return_seconds": "0.1", "most_rounds": "5"},
    ),
    "pts-cross-stimulus-recovery": (
        pts_recovery.cross_section,
        {"seconds": "0.05", "sequential_seconds": "0.1", "random_seconds": "0.1"},
    ),
    "pts-demand-intensity": (pts_demand.section, DEMAND),
    "pts-composite": (pts_demand.section, DEMAND),
}


def pages_of(name: str, library: Path) -> tuple[Shown, Section]:
    (library / "rig.toml").write_text(RIG)
    section, settings = TESTS[name]
    method = find_method(name)
    order = Order(method, method.params.build(settings), DRIVE, destroy=DRIVE, rig=library / "rig.toml")
    (found,) = shown([source.read_run(start(order, library))])
    return found, section([found])


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Shown:
    return pages_of("pts-cross-stimulus-recovery", tmp_path_factory.mktemp("one"))[0]


@pytest.mark.parametrize("name", TESTS)
@pytest.mark.long
def test_every_page_has_all_that_is_asked_for(name: str, tmp_path: Path) -> None:
    """And what a profile knows is not unknown: tiny-test names no NAND, but the bits of its cells."""
    _, section = pages_of(name, tmp_path)
    assert section.figures
    for figure in section.figures:
        (found,) = figure.sheets
        columns = {title: dict(rows) for title, rows in found.columns}
        assert all(value for rows in columns.values() for value in rows.values()), "unknown is printed"
        assert all(asked <= columns[title].keys() for title, asked in ASKED.items())
        assert all(len(rows) >= 10 for _, rows in found.columns)
        device, platform = columns["Device under test"], columns["Test platform"]
        assert (device["Interface, speed"], device["Media type"]) == ("NVMe, 3.50 GB/s", "TLC")
        assert (platform["Boot device"], columns["Test"]["File system"]) == ("Example 850, ext4", "none")
        assert "unknown" not in (platform["HBA, driver"], platform["Slot, link"])
        line = " ".join(found.line)
        people = ("tested by: J. Doe", "audited by: R. Roe, Other Lab")
        dates = ("started 20", "finished 20", "reported 20")
        assert all(word in line for word in ("PTS-E", "2.0.2", *people, *dates))


def other(manifest: Manifest, **drive: Any) -> Manifest:
    return manifest.model_copy(update={"drive": manifest.drive.model_copy(update=drive)})


@pytest.mark.parametrize(
    ("text", "link", "media"),
    [
        ("sim:sata-tlc-enterprise", "SATA, 560 MB/s", "64-layer TLC, BiCS"),
        ("sim:intel-p4800x-375gb", "NVMe, 2.45 GB/s", "3D XPoint"),
        ("sim:samsung-xp941-512gb", "PCIe (AHCI), 1.20 GB/s", "21 nm MLC, Samsung"),
    ],
)
def test_link_and_media_are_those_of_the_profile(one: Shown, text: str, link: str, media: str) -> None:
    manifest = other(one.run.manifest, text=text, kind="sim")
    result: Any = one.run.result
    run = replace(one, run=replace(one.run, manifest=manifest))
    device = dict(sheet(run, result, 1, 1).columns[1][1])
    assert (device["Interface, speed"], device["Media type"]) == (link, media)


def test_optional_features_are_by_record_profile_or_kernel(one: Shown) -> None:
    manifest = one.run.manifest
    of_client = optional_features(other(manifest, text="sim:dramless-client", kind="sim")) or ""
    assert all(word in of_client for word in ("NCQ", "32", "partial", "slumber", "devsleep"))
    noted = {**manifest.environment, "drive_record": {"model": "X", "optional_features": "dual port"}}
    assert optional_features(manifest.model_copy(update={"environment": noted})) == "dual port"
    conditions: Any = {"queue_depth": 31, "fua": True, "discard_max_bytes": 4096, "zoned": "none"}
    real = other(manifest, text="/dev/sdx", kind="block")
    told = {**manifest.environment, "storage": {"conditions": conditions}}
    found = optional_features(real.model_copy(update={"environment": told})) or ""
    assert "31 commands" in found and "forced unit access" in found and "TRIM" in found
    assert optional_features(real.model_copy(update={"environment": {}})) is None
