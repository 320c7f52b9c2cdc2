"""What a quick run says of itself: what took less than the method asks for, and only that."""

from __future__ import annotations

from pathlib import Path

import pytest

from methods.quick_runs import QuickResult
from ssdlab.methods import find_method
from ssdlab.methods.parts.steady import writes_less
from ssdlab.methods.results.outcome import read_result
from ssdlab.methods.results.paced import BURST_BYTES, SPAN_BYTES, PacedBurstResult
from ssdlab.methods.results.quick import ROUGH_TAILS, Cut, quick_claims
from ssdlab.methods.results.trim import quick_reason
from ssdlab.results.claim import clauses
from ssdlab.results.run_folder import RunFolder
from ssdlab.runs.order import Order
from ssdlab.runs.session import start

DRIVE = "sim:tiny-test,scale=4"
TELLING = {
    "rate-limit": {"seconds": "30", "ramp_seconds": "2"},
    "peak-random-read": {"seconds": "60", "ramp_seconds": "2"},
    "low-depths": {"seconds": "60", "rest_seconds": "60"},
}
"""Methods that tell of these parameters when they are quick, each with its default."""


def quick_caveats(name: str, library: Path, **settings: str) -> list[str]:
    method = find_method(name)
    params = method.params.build(settings, quick=True)
    run = start(Order(method, params, DRIVE, destroy=DRIVE, seed=1, quick=True), library)
    result = read_result(RunFolder(run))
    assert result is not None
    return [each for each in result.caveats if each.startswith("quick: ")]


def test_each_length_that_is_shorter_is_told_with_what_it_should_be() -> None:
    cuts = (Cut(0.5, 120.0, "s", "at each cell"), Cut(10.0, 10.0, "s", "of ramp"), Cut(5, 9, "reads"))
    (said,) = clauses(quick_claims(True, ROUGH_TAILS, *cuts))
    assert said == (
        "quick: 0.5 s at each cell instead of 120 s and 5 reads instead of 9, so tails are rough; a run "
        "without --quick takes the time"
    )


def test_nothing_is_said_where_nothing_is_shorter() -> None:
    alike, longer = Cut(60.0, 60.0, "s"), Cut(90.0, 60.0, "s")
    assert not list(quick_claims(True, ROUGH_TAILS, alike, longer))
    assert not list(quick_claims(False, ROUGH_TAILS, Cut(1.0, 60.0, "s")))


@pytest.mark.parametrize("name", TELLING)
@pytest.mark.long
def test_a_quick_run_with_all_its_time_has_no_caveat_of_it(name: str, tmp_path: Path) -> None:
    """It said "60 s at each depth instead of 60 s, so the spread between runs is wider"."""
    few = {"rate-limit": {"most": "1000"}, "low-depths": {"depths": "1", "most_bytes": "1MiB"}}
    own = few.get(name, {"depths": "1"})
    assert len(quick_caveats(name, tmp_path / "short", **own)) == 1
    assert quick_caveats(name, tmp_path / "full", **own, **TELLING[name]) == []


def test_reads_under_writes_say_that_their_tails_are_rough(tmp_path: Path) -> None:
    (said,) = quick_caveats("read-under-writes", tmp_path, read_shares="25", write_shares="0")
    assert said.startswith(
        "quick: 0.5 s at each cell instead of 120 s and 0.1 s of ramp before it instead of 10 s, so tails"
    )


def test_bursts_of_full_size_are_no_quick_ones(quick_result: QuickResult) -> None:
    """A span and a burst are cut to whole blocks: 40 MB is no multiple of 4 KiB."""
    small = quick_result("paced-burst")
    assert isinstance(small, PacedBurstResult) and small.quick and small.is_cut
    sizes = {"span_bytes": SPAN_BYTES // 4096 * 4096, "burst_bytes": BURST_BYTES // 4096 * 4096}
    full = small.model_copy(update=sizes)
    assert not full.is_cut
    assert not any("quick" in each.says for each in full.limits())
    assert all(full.unshown(each) != "not shown beyond a cache" for each in full.scalars)


def test_trim_is_judged_by_a_quick_run_with_all_its_time() -> None:
    assert "random writes, and these took 2.00 s" in quick_reason(2.0, 600.0)
    assert "sequential writes, and those compared took 1.00 s" in quick_reason(3600.0, 1.0)
    assert quick_reason(3599.9, 600.0) == ""


def test_a_longer_run_is_advised_only_where_the_writing_before_was_shorter() -> None:
    params = find_method("steady-random-write").params
    assert writes_less(params.build({}, quick=True))
    own = {"overwrites": "2", "least_seconds": "3600", "most_seconds": "86400"}
    assert not writes_less(params.build(own, quick=True))
    assert not writes_less(find_method("peak-random-read").params.build({}, quick=True))
