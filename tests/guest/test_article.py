"""One article of two drives of which the second is attached after the first is gone."""

from __future__ import annotations

import html
from pathlib import Path

import pytest

from guest.machine import NVME_SERIAL, Guest
from report.reading import Page
from ssdlab.cli import main
from ssdlab.results.run_folder import RunFolder
from ssdlab.results.store import find_run

SECOND = "GUEST-NVME-2"
DISK_BYTES = 64 << 20
LIBRARY = "/run/guest/library"
REVIEW = """
schema = "ssdlab.review/1"
name = "two-drives"
title = "Two drives, one slot"
tiles = ["peak_random_read_iops"]

[[part]]
method = "peak-random-read"
set = { depths = [1], seconds = 0.2, ramp_seconds = 0 }
"""


@pytest.mark.slow  # an article of two drives under emulation: up to three minutes
@pytest.mark.timeout(1000)
def test_the_second_drive_comes_when_the_first_is_gone(boot, tmp_path: Path) -> None:
    guest: Guest = boot(disk_bytes=DISK_BYTES)
    (guest.orders / "two.toml").write_text(REVIEW)
    done = guest.ssdlab("run", "/run/guest/two.toml", "/dev/nvme0n1", "--library", LIBRARY, limit_s=400)
    assert done.status == 0, done
    library = guest.orders / "library"
    first = RunFolder(find_run("last", library)).manifest.drive
    before = set(library.glob("2*"))

    guest.unplug()
    guest.await_unplugged()
    device = guest.plug("bay", SECOND, DISK_BYTES)
    assert NVME_SERIAL not in guest.must("cat /sys/class/nvme/*/serial")
    words = ["run", "/run/guest/two.toml", first.id, device, "--library", LIBRARY]
    done = guest.ssdlab(*words, limit_s=400)
    assert done.status == 0, done

    article = RunFolder(find_run("last", library))
    suites = [RunFolder(library / child.run_id) for child in article.manifest.children]
    assert [SECOND in each.manifest.drive.id for each in suites] == [False, True]
    assert suites[0].manifest.drive.id == first.id
    parts = [part for suite in suites for part in suite.manifest.children]
    assert [part.standing for part in parts] == [True, False], "what the first drive has is not done again"
    assert library / parts[0].run_id in before and library / parts[1].run_id not in before

    assert main(["report", str(article.path), "-o", str(tmp_path / "page.html")]) == 0
    page = Page.of((tmp_path / "page.html").read_text())
    for part in parts:
        (figure,) = (
            one
            for one in RunFolder(library / part.run_id).manifest.result["scalars"]
            if one["name"] == "peak_random_read_iops"
        )
        assert str(figure["value"]) in page.cells, html.unescape(part.run_id)
    assert NVME_SERIAL in page.text and SECOND in page.text
