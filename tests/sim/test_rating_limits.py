"""Closed forms of what the parts of a simulated drive allow, where its map lies in flash."""

from __future__ import annotations

import math
from copy import deepcopy

import pytest

from ssdlab.drives.simulated.profiles import check_profile
from ssdlab.host.documents import Document
from ssdlab.runs.rating_limits import UNIT_BYTES, Parts, part_times

MIB = 2**20
PAGES = 1024
"""Of the map of `of_pages`."""


def of_pages(changes_mib: float, when_full: str = "direct", **mapping: float) -> Document:
    """A drive whose map has 1,024 pages, with so much memory for changes."""
    made = deepcopy(check_profile("dramless-client"))
    made["profile"]["capacity_bytes"]["value"] = PAGES * 1024 * UNIT_BYTES
    made["profile"]["mapping"] |= {
        name: {"value": value}
        for name, value in {"cache_mib": 1.0, "changes_mib": changes_mib, **mapping}.items()
    }
    made["profile"]["slc_cache"]["when_full"]["value"] = when_full
    return made


def channel_units(made: Document, amplification: float, *, cached: bool = False, scattered: bool) -> float:
    """Units that cross the channels for one write."""
    parts = Parts(made)
    times = part_times(parts, UNIT_BYTES, amplification, cached=cached, scattered=scattered)
    return times["channels"] * parts.channels / parts.transfer_us


def test_changes_share_pages_and_pages_share_reads() -> None:
    # Room for one change a page: it has gathered two when it is written, and none with a probability of e^-2.
    written, read = Parts(of_pages(PAGES * 8 / MIB)).map_updates(100.0)
    assert written == pytest.approx(100 * (1 - math.exp(-2)) / 2)
    # Of eight pages that are read together hardly ever none has any.
    assert read == pytest.approx(100 / 16, rel=1e-6)
    # Without room each change is a page written.
    written, read = Parts(of_pages(1e-9)).map_updates(100.0)
    assert (written, read) == pytest.approx((100, 100), rel=1e-3)
    # A map of a quarter of the entries.
    quarter = Parts(of_pages(PAGES * 2 / MIB, unit_kib=16)).map_updates(100.0)
    assert quarter == pytest.approx(Parts(of_pages(PAGES * 8 / MIB)).map_updates(100.0))


def test_only_scattered_writes_change_pages_here_and_there() -> None:
    made = of_pages(PAGES * 8 / MIB)
    # What no writes go beyond is written where entries share their pages, or wait in memory.
    assert channel_units(made, 1.0, cached=True, scattered=False) == pytest.approx(1)
    pages = (1 - math.exp(-2)) / 2
    assert channel_units(made, 1.0, scattered=True) == pytest.approx(1 + 2 * pages)
    # Moves bring two units more each, and their entries change too.
    assert channel_units(made, 3.0, scattered=True) == pytest.approx(3 + 2 + 3 * 2 * pages)


def test_what_is_folded_changes_its_entry_twice() -> None:
    made = of_pages(PAGES * 8 / MIB, when_full="fold")
    pages = (1 - math.exp(-2)) / 2
    assert channel_units(made, 1.0, scattered=True) == pytest.approx(3 + 2 * 2 * pages)
