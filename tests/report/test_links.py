"""What drives are reached by, in words that a reader knows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import ssdlab
from ssdlab.methods.sweeps.page import section
from ssdlab.methods.sweeps.result import PeakResult
from ssdlab.report import source
from ssdlab.report.links import attribution_of, link_of
from ssdlab.report.runs import shown
from ssdlab.report.sections import point_tables
from ssdlab.results.schema import Attribution, DriveInfo, Point

PROFILES = sorted(path.stem for path in (Path(ssdlab.__file__).parent / "profiles").glob("*.toml"))
AHCI = {"samsung-xp941-512gb", "kingston-hyperx-predator-480gb", "plextor-m6e-256gb"}


@pytest.mark.parametrize("name", PROFILES)
def test_every_profile_has_a_link_with_a_name(name: str) -> None:
    drive = DriveInfo.model_construct(text=f"sim:{name}", kind="sim", identity={"kind": "sim"})
    link = link_of(drive)
    assert link.interface in (("PCIe (AHCI)",) if name in AHCI else ("NVMe", "SATA"))
    assert link.mb_s is not None and link.mb_s > 0


@pytest.mark.parametrize(
    ("mb_s", "link_mb_s", "stored", "limit"),
    [
        (553.0, 560.0, "drive", "link"),
        (553.0, 600.0, "drive", "link"),
        (503.0, 560.0, "drive", "drive"),
        (553.0, 560.0, "unknown", "link"),
        (553.0, 560.0, "host", "host"),
        (553.0, None, "drive", "drive"),
    ],
)
def test_the_link_is_the_limit_where_it_carries_about_all_that_it_can(
    mb_s: float, link_mb_s: float | None, stored: str, limit: str
) -> None:
    point = Point.model_construct(mb_s=mb_s, attribution=Attribution.model_validate({"limit": stored}))
    found = attribution_of(point, link_mb_s)
    assert found is not None and found.limit == limit
    if limit == "link":
        assert found.reasons == (f"553 MB/s of the {link_mb_s:.0f} MB/s that the link carries",)


def test_a_card_and_the_table_of_the_host_tell_of_one_limit(make_run: Callable[..., Path]) -> None:
    run = source.read_run(make_run("peak-sequential-read"))
    (one,) = shown([run])
    result = run.result
    assert isinstance(result, PeakResult)
    chosen = result.points[result.chosen]
    assert chosen.mb_s is not None
    at_link = replace(one, style=replace(one.style, link_mb_s=chosen.mb_s / 0.95))
    assert "The limit at the reported depth: the link." in section([at_link]).figures[0].lead
    (exhibit,) = point_tables.host([(at_link, chosen)])
    assert exhibit.lead.startswith("Points by limit: link 1.")
    ((row,),) = (table.rows for table in exhibit.tables)
    assert "link" in {cell.text for cell in row}
