"""What drives are reached by, in words that a reader knows."""

from __future__ import annotations

from pathlib import Path

import pytest

import ssdlab
from ssdlab.report.links import link_of
from ssdlab.results.schema import DriveInfo

PROFILES = sorted(path.stem for path in (Path(ssdlab.__file__).parent / "profiles").glob("*.toml"))
AHCI = {"samsung-xp941-512gb", "kingston-hyperx-predator-480gb", "plextor-m6e-256gb"}


@pytest.mark.parametrize("name", PROFILES)
def test_every_profile_has_a_link_with_a_name(name: str) -> None:
    drive = DriveInfo.model_construct(text=f"sim:{name}", kind="sim", identity={"kind": "sim"})
    link = link_of(drive)
    assert link.interface in (("PCIe (AHCI)",) if name in AHCI else ("NVMe", "SATA"))
    assert link.mb_s is not None and link.mb_s > 0
