"""Fill and rate limit on a simulated drive: what they find is what the drive is known to do another way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from methods.on_simulated import findings_of, run
from ssdlab.lab.outcome import read_result
from ssdlab.methods.rate_limit.result import RateLimitResult
from ssdlab.methods.sweeps.result import PeakResult
from ssdlab.methods.whole_drive_fill.result import FillResult


def test_a_fill_is_as_fast_as_its_steps_say_and_finds_no_cache_where_there_is_none(tmp_path: Path) -> None:
    folder = run("whole-drive-fill", tmp_path)
    result = read_result(folder)
    assert isinstance(result, FillResult)
    summary: Any = next(step for step in folder.steps() if step.verb == "run").result.measurement
    mean = len(result.parts_mb_s) / sum(1 / speed for speed in result.parts_mb_s)
    assert mean == pytest.approx(summary["mb_s"], rel=0.01)
    assert result.part_bytes * len(result.parts_mb_s) == pytest.approx(summary["write"]["bytes"])
    assert result.cache_bytes is None
    assert result.scalars and not any(each.qualifiers for each in result.scalars), "it was purged before"


@pytest.mark.long
def test_the_limit_of_a_loose_bound_is_the_peak_of_the_closed_loop(tmp_path: Path) -> None:
    """A queue that may be long is stable up to the drive's capacity c, and grows by r - c a second beyond it.

    After T s at rate r the wait is (r - c) T / c, so a bound b is passed at r / c = 1 + b / T: 1 % here.
    """
    peak = read_result(run("peak-random-read", tmp_path, depths="512", seconds="2", ramp_seconds="0"))
    assert isinstance(peak, PeakResult)
    settings = {"bound_ms": "20", "seconds": "2", "ramp_seconds": "0", "first": "100000", "threads": "512"}
    limit = read_result(run("rate-limit", tmp_path, **settings))
    assert isinstance(limit, RateLimitResult)
    assert limit.highest_held == pytest.approx(peak.sweep_max_iops, rel=0.05)
    assert limit.lowest_failed is not None
    assert limit.highest_held < limit.lowest_failed


@pytest.mark.long
def test_a_tighter_bound_allows_less(tmp_path: Path) -> None:
    settings = {"seconds": "0.5", "ramp_seconds": "0", "first": "50000", "resolution": "0.05"}
    held = []
    for bound in ("0.2", "0.5", "2"):
        result = read_result(run("rate-limit", tmp_path, bound_ms=bound, **settings))
        assert isinstance(result, RateLimitResult)
        assert result.highest_held is not None
        held.append(result.highest_held)
        for each in result.tries:
            assert each.held == (not each.why)
    assert held == sorted(held)
    assert held[0] < held[-1]


def test_a_bound_below_one_io_holds_nowhere(tmp_path: Path) -> None:
    settings = {"seconds": "1", "ramp_seconds": "0", "resolution": "0.5"}
    result = read_result(run("rate-limit", tmp_path, bound_ms="0.01", **settings))
    assert isinstance(result, RateLimitResult)
    assert result.highest_held is None
    assert any(each.startswith("No rate had") for each in findings_of(result))
