"""What a quick run says of itself: what took less than the method asks for, and only that."""

from __future__ import annotations

from pathlib import Path

import pytest

from methods.on_simulated import SMALL, shorter_in
from methods.quick_runs import QuickResult
from ssdlab.lab.found import find_method
from ssdlab.methods.paced_burst.result import BURST_BYTES, SPAN_BYTES, PacedBurstResult
from ssdlab.methods.trim_validation.result import quick_reason
from ssdlab.results.remarks import is_shortened
from ssdlab.results.run_folder import RunFolder
from ssdlab.runs.order import Order
from ssdlab.runs.session import start

FULL = {
    "rate-limit": {"seconds": "30", "ramp_seconds": "2"},
    "peak-random-read": {"seconds": "60", "ramp_seconds": "2"},
    "low-depths": {"seconds": "60", "rest_seconds": "60"},
}
"""Methods that take less of these parameters when they are quick, each with its default."""


def quick(name: str, library: Path, **settings: str) -> list[str]:
    method = find_method(name)
    params = method.params.build(settings, quick=True)
    run = RunFolder(start(Order(method, params, SMALL, destroy=SMALL, seed=1, quick=True), library))
    assert run.manifest.quick and not is_shortened(run.manifest), "it is as short as --quick makes it"
    return shorter_in(run)


@pytest.mark.parametrize("name", FULL)
@pytest.mark.long
def test_a_quick_run_with_all_its_time_has_no_departure_of_it(name: str, tmp_path: Path) -> None:
    """It said "60 s at each depth instead of 60 s, so the spread between runs is wider"."""
    few = {"rate-limit": {"most": "1000"}, "low-depths": {"depths": "1", "most_bytes": "1MiB"}}
    own = few.get(name, {"depths": "1"})
    (said,) = quick(name, tmp_path / "short", **own)
    assert said.startswith("quick: ") and said.count(" instead of ") == len(FULL[name])
    assert quick(name, tmp_path / "full", **own, **FULL[name]) == []


def test_each_length_that_is_shorter_is_told_with_what_it_should_be(tmp_path: Path) -> None:
    (said,) = quick("read-under-writes", tmp_path, read_shares="25", write_shares="0", round_seconds="300")
    assert said.startswith(
        "quick: overwrites 0 spans instead of 2 spans, shortest time 2 s instead of 3600 s"
    )
    assert said.endswith(", time 0.5 s instead of 120 s, ramp time 0.1 s instead of 10 s")
    assert "round time" not in said, "it is as long as it should be"


def test_bursts_of_full_size_are_no_quick_ones(quick_result: QuickResult) -> None:
    """A span and a burst are cut to whole blocks: 40 MB is no multiple of 4 KiB."""
    small = quick_result("paced-burst")
    assert isinstance(small, PacedBurstResult) and small.quick and small.is_cut
    assert any("within-cache" in each.codes for each in small.scalars)
    sizes = {"span_bytes": SPAN_BYTES // 4096 * 4096, "burst_bytes": BURST_BYTES // 4096 * 4096}
    full = small.model_copy(update=sizes)
    assert not full.is_cut
    assert all("within-cache" not in each.codes for each in full._headlines())


def test_trim_is_judged_by_a_quick_run_with_all_its_time() -> None:
    assert "random writes, not 2.00 s" in quick_reason(2.0, 600.0)
    assert "sequential writes, not 1.00 s" in quick_reason(3600.0, 1.0)
    assert quick_reason(3599.9, 600.0) == ""
