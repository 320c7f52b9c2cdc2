"""What follows from physics alone, on the profiles that come along; no figure of a review is needed."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from methods.on_simulated import run
from ssdlab.drives.simulated.profiles import profile_text
from ssdlab.lab.outcome import read_result
from ssdlab.methods.mixed_random.result import MixedResult
from ssdlab.methods.paced_burst.result import PacedBurstResult

pytestmark = pytest.mark.slow

C916_IDLE_W = 7.0

BRIEF = {
    "round_seconds": "2",
    "least_seconds": "1",
    "overwrites": "2",
    "most_seconds": "600",
    "seconds": "0.5",
    "ramp_seconds": "0.2",
    "depths": "32",
}


def mixes(library: Path, drive: str, **settings: str) -> MixedResult:
    """Mixed random I/O of a drive, in steady state."""
    result = read_result(run("mixed-random", library, drive, **BRIEF | settings))
    assert isinstance(result, MixedResult)
    assert result.steady is not None
    assert result.steady.reached
    return result


def test_more_spare_area_makes_writes_faster_and_reads_no_slower(tmp_path: Path) -> None:
    little = mixes(tmp_path / "little", "sim:nvme-tlc-enterprise,scale=64,spare=12%")
    much = mixes(tmp_path / "much", "sim:nvme-tlc-enterprise,scale=64,spare=28%")
    for less, more in zip(little.points, much.points, strict=True):
        assert more.mb_s > 0.99 * less.mb_s, less.read_pct
        if less.read_pct <= 50:
            # Collection copies 1 / (share of a victim that is free): far less of it with more spare area.
            assert more.mb_s > 1.5 * less.mb_s, less.read_pct
    assert much.points[0].mb_s == pytest.approx(little.points[0].mb_s, rel=0.02)


def test_a_limit_of_10_w_holds_and_never_beats_the_drive_without_it(tmp_path: Path) -> None:
    drive = "sim:memblaze-pblaze5-c916-6.4tb,scale=128"
    # What fills its buffer of 128 MiB in one mix is programmed in the next, at that one's cost: a good part
    # of what the limit leaves in some seconds.
    long = {"ramp_seconds": "12", "seconds": "12"}
    free = mixes(tmp_path / "free", drive, **long)
    limited = mixes(tmp_path / "limited", f"{drive},power=10W", **long)
    for most, less in zip(free.points, limited.points, strict=True):
        assert less.mean_w is not None
        assert most.mean_w is not None
        assert less.mean_w <= 10.0 * 1.001, less.read_pct
        # Below the limit both do the same, each with a history of its own.
        assert less.mb_s <= 1.005 * most.mb_s, less.read_pct
    # Idle power is drawn anyway; the work is what the limit leaves of the rest.
    for most, less in zip(free.points, limited.points, strict=True):
        left = min(1.0, (10.0 - C916_IDLE_W) / ((most.mean_w or 0.0) - C916_IDLE_W))
        assert less.mb_s == pytest.approx(left * most.mb_s, rel=0.05), less.read_pct
    assert (free.points[-1].mean_w or 0.0) > 12.0, "of writes alone the limit takes much"


def test_a_medium_written_in_place_is_flat_over_the_mixes_and_flash_is_not(tmp_path: Path) -> None:
    def spread(result: MixedResult) -> float:
        speeds = [point.mb_s for point in result.points]
        return max(speeds) / min(speeds)

    assert spread(mixes(tmp_path / "xpoint", "sim:xpoint,scale=64")) < 1.1
    assert spread(mixes(tmp_path / "flash", "sim:nvme-tlc-enterprise,scale=64,spare=12%")) > 2.5


@pytest.mark.parametrize("seed", range(1, 6))
def test_an_slc_cache_is_good_at_bursts_and_no_help_when_saturated(tmp_path: Path, seed: int) -> None:
    """In full size, as the bursts are, and from the figures of the profile alone.

    The bursts and all that was written before them fit into the cache, even if the rests folded nothing: of a
    hundred writes 99 wait for less than a program of one bit a cell. A large read goes in front on dies and
    channels; what it holds up is over when it is. Without rests the large reads beside the writes
    never stop, so the buffer stays full, and writes wait for room in it. How much is written then is what the
    reads leave, less or more than the cache holds.
    """
    drive = "intel-600p-512gb"
    profile = tomllib.loads(profile_text(drive))
    cache_bytes = profile["slc_cache"]["size_gb"]["value"] * 1e9
    one_bit_ns = profile["slc_cache"]["program_us"]["value"] * 1e3

    settings = {"rest_seconds": "10", "rate_seconds": "1", "most": "40"}
    result = read_result(run("paced-burst", tmp_path, f"sim:{drive}", seed=seed, **settings))
    assert isinstance(result, PacedBurstResult)
    paced, saturated = (next(x for x in result.loads if x.name == name) for name in ("paced", "saturated"))
    bursts, flood, reads = paced.side("write"), saturated.side("write"), paced.side("read")
    assert bursts is not None and reads is not None
    assert flood is not None
    assert result.span_bytes + bursts.bytes < cache_bytes

    longest_ns, tail_ns, flood_tail_ns = bursts.by_count["max"], bursts.by_count["p99"], flood.by_count["p99"]
    assert longest_ns is not None and tail_ns is not None and flood_tail_ns is not None
    assert tail_ns < one_bit_ns
    assert longest_ns < result.read_bytes / reads.mb_s * 1e3, "as long as a large read takes"
    assert flood_tail_ns > 2 * tail_ns
    assert flood.mb_s < bursts.mb_s
