"""A page counts drives: one that stands on it in several states is one."""

from __future__ import annotations

import pytest

from ssdlab.drives.simulated.drive import SimulatedText, identity_of
from ssdlab.report.runs import called
from ssdlab.report.sections.header import _plural, compared
from ssdlab.results.schema import DriveInfo, VariantInfo

PRO = "sim:samsung-950-pro-512gb"
TINY, TLC, QLC = "sim:tiny-test", "sim:nvme-tlc-client", "sim:nvme-qlc-client"


def simulated(text: str) -> DriveInfo:
    found = identity_of(SimulatedText.parse(text))
    stored = DriveInfo(
        text=text,
        kind="sim",
        id=found.consent_id,
        name=found.model or "",
        capacity_bytes=found.capacity_bytes,
        logical_block_bytes=found.logical_block_bytes,
        identity={"kind": "sim"},
    )
    return called(stored)


def real(serial: str, *words: str, **asked: str) -> DriveInfo:
    return DriveInfo(
        text=f"/dev/{serial}",
        kind="block",
        id=serial,
        name=", ".join((f"Elm {serial}", *words)),
        capacity_bytes=10**12,
        logical_block_bytes=512,
        variant=VariantInfo(asked=asked, words=words, made=False) if words else None,
    )


@pytest.mark.parametrize(
    ("drives", "title"),
    [
        (
            [real("A"), real("A", "10 W", power_limit="10W"), real("B")],
            "Elm A (also at 10 W) and Elm B",
        ),
        ([real("A"), real("A", "10 W", power_limit="10W")], "Elm A (also at 10 W)"),
        ([real("A"), real("B"), real("C")], "3 drives compared"),
        (
            [real("A"), real("A", "10 W", power_limit="10W"), real("B"), real("C")],
            "3 drives compared, one also at 10 W",
        ),
        (
            [
                real("A"),
                real("A", "10 W", power_limit="10W"),
                real("B"),
                real("B", "25 % spare", spare="25%"),
                real("C"),
            ],
            "3 drives compared, 2 of them in several states",
        ),
        (
            [*map(simulated, (TINY, f"{TINY},spare=0.25", f"{TINY},scale=4", TLC, QLC))],
            "3 drives compared, one also with 25 % spare and at 1/4 of its size",
        ),
        (
            [*map(simulated, (f"{TINY},spare=0.25", TINY))],
            "tiny-test, 25 % spare (also as it is)",
        ),
        (
            [real("A"), real("A", "25 % spare", "10 W", power_limit="10W", spare="25%")],
            "Elm A (also with 25 % spare, at 10 W)",
        ),
        (
            [*map(simulated, (f"{PRO},scale=64", PRO, f"{PRO},scale=64,write-cache=off"))],
            "Samsung 950 Pro 512 GB (also in full size and with write cache off)",
        ),
        # A name may say what it likes: what a state is, its variant tells.
        (
            [*map(simulated, (PRO, f"{PRO},power=4W"))],
            "Samsung 950 Pro 512 GB (also at 4 W)",
        ),
        (
            [real("A, half of its size", "10 W", power_limit="10W"), real("A, half of its size")],
            "Elm A, half of its size, 10 W (also as it is)",
        ),
        # Two of one model are two.
        ([*map(simulated, (TINY, f"{TINY},seed=2"))], "tiny-test and tiny-test"),
    ],
)
def test_states_of_a_drive_are_no_drives(drives: list[DriveInfo], title: str) -> None:
    assert compared(drives) == title


def test_a_simulated_drive_names_its_spare_in_percent() -> None:
    assert simulated(f"{TINY},spare=0.25").name == "tiny-test, 25 % spare"
    assert simulated(f"{TINY},spare=6.7%").name == "tiny-test, 6.7 % spare"


@pytest.mark.parametrize(
    ("kind", "several"),
    [
        ("Real drive", "Real drives"),
        ("File on a file system", "Files on a file system"),
        ("Drive of imported results", "Drives of imported results"),
        ("Array of drives", "Arrays of drives"),
        ("Device in memory (zram)", "Devices in memory (zram)"),
        ("Network block device", "Network block devices"),
    ],
)
def test_several_drives_of_a_kind_are_in_the_plural(kind: str, several: str) -> None:
    assert _plural(kind) == several
