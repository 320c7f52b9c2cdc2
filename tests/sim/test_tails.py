"""The tails of steady random writes, by class of drive.

The bounds are orders of magnitude of published figures: data sheets of drives sold for consistency (Intel
S3700, S4500, Samsung PM983) and measurements of others (Hao and others, "The Tail at Store", FAST 2016).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest

from sim.flash_drives import CLIENT, CONSISTENT, VALUE, settled, slow_but, write
from ssdlab.drives.ratings import Ratings
from ssdlab.drives.simulated.profiles import shipped_ratings
from ssdlab.model.measurement import Measurement

pytestmark = pytest.mark.long

IOS = 1_000_000
QUICK = ["samsung-983-dct-960gb", "samsung-860-dct-960gb", "samsung-840-pro-256gb"]
"""Of each class one."""
BOUNDS = {
    **dict.fromkeys(CONSISTENT, ((2, 12), (0.5, 1.05), (3, 60))),
    **dict.fromkeys(VALUE, ((3, 40), (0.2, 1.05), (5, 200))),
    **dict.fromkeys(CLIENT, ((5, 200), (0.02, 1.0), (20, 1e9))),
}
"""99.9 %, median and maximum, beside the mean."""


def saturated(name: str, seed: int, /, depth: int = 32, **settings: int) -> Measurement:
    drive = settled(name, seed, **settings)
    return write(drive, depth, seed, bytes=IOS * 4096)


def quantiles(found: Measurement, *shares: float) -> list[float]:
    waits = found.histogram("write", "response")
    return [waits.quantile(share) for share in shares]


def within(value: float, bounds: tuple[float, float]) -> bool:
    return bounds[0] <= value <= bounds[1]


@pytest.mark.parametrize("name", slow_but(QUICK, [*CONSISTENT, *VALUE, *CLIENT]))
def test_saturated_writes_wait_as_long_as_the_class_does(name: str) -> None:
    found = saturated(name, 1)
    times = found.summary().write.response_ns
    half, p99, p999, p9999 = quantiles(found, 0.5, 0.99, 0.999, 0.9999)
    of_mean = [each / times["mean"] for each in (p999, half, times["max"])]
    assert all(within(each, bounds) for each, bounds in zip(of_mean, BOUNDS[name], strict=True)), of_mean
    steps = [more / less for less, more in pairwise([p99, p999, p9999, times["max"]])]
    assert min(steps) >= 1.05 and times["max"] / p99 >= 1.5, steps


@pytest.mark.parametrize(
    "name", slow_but(QUICK[:1], [*CONSISTENT, "sata-tlc-enterprise", "kingston-dc500r-3.84tb"])
)
def test_a_protected_drive_that_is_not_saturated_is_mostly_fast(name: str) -> None:
    found = saturated(name, 1, depth=1)
    half, p999 = quantiles(found, 0.5, 0.999)
    assert within(p999 / half, (1.2, 15))
    assert within(found.summary().write.response_ns["max"] / half, (10, 300))


def alike(figures: Sequence[list[float]], *limits: float) -> bool:
    columns = zip(*figures, strict=True)
    return all(max(each) / min(each) <= 1 + limit for each, limit in zip(columns, limits, strict=True))


@pytest.mark.parametrize("name", slow_but(QUICK[1:2], QUICK))
def test_individuals_of_a_drive_have_tails_alike(name: str) -> None:
    found = [quantiles(saturated(name, seed, seed=seed), 0.99, 0.999) for seed in range(1, 6)]
    # A client drive stops some ten times meanwhile, and the longest of them are its p99.9.
    assert alike(found, 0.1, 0.5 if name in CLIENT else 0.25), found


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["samsung-983-dct-960gb", "samsung-860-dct-960gb", "memblaze-pblaze5-c900-4tb"]
)
def test_a_quarter_of_the_scale_changes_no_tail_by_a_quarter(name: str) -> None:
    found = [quantiles(saturated(name, 1, scale=scale), 0.99, 0.999) for scale in (32, 128)]
    assert alike(found, 0.25, 0.25), found


@pytest.mark.parametrize(
    "name", slow_but(QUICK[:2], [name for name in (*CONSISTENT, *VALUE) if name in shipped_ratings()])
)
def test_steady_writes_are_no_slower_than_a_sustained_rating_and_not_far_above(name: str) -> None:
    rated = [
        each.value
        for each in Ratings.parse(shipped_ratings()[name]).rating
        if (each.metric, each.state, each.span_gb) == ("random_write_iops", "steady", None)
    ]
    iops = saturated(name, 1).iops
    assert all(0.9 <= iops / each <= 2.3 for each in rated), (iops, rated)
