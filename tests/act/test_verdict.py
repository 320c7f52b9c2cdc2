"""ACT's slices, limits and table, from histograms of known latencies."""

from __future__ import annotations

import numpy as np
import pytest

from ssdlab.analysis.act import Slice, share_over, slices


def test_latencies_of_exactly_a_millisecond_count_as_over() -> None:
    low = np.array([999_424, 1_015_808, 8_000_000])
    high = np.array([1_015_808, 1_032_192, 8_100_000])
    count = np.array([0, 30, 70])
    assert share_over(low, high, count, 1_000_000) == 1.0
    assert share_over(low, high, count, 8_000_000) == pytest.approx(0.7)
    assert share_over(low, high, count, 64_000_000) == 0.0


def test_a_cut_bucket_counts_by_its_part_above() -> None:
    low, high, count = np.array([900_000]), np.array([1_100_000]), np.array([1000])
    assert share_over(low, high, count, 1_000_000) == pytest.approx(0.5)


def test_slices_are_cut_by_rows_and_the_rest_is_dropped() -> None:
    row = np.array([0, 1, 2, 3, 4, 5, 6])
    low = np.array([10, 10, 2_000_000, 10, 10, 10, 10])
    found = slices(row, (low, low + 1, np.full(7, 100)), 7, 3, 3.0)
    assert [each.ios for each in found] == [300, 300]
    assert found[0].over[1] == pytest.approx(1 / 3) and found[1].over[1] == 0
    assert found[0].rate == 100.0
    assert [each.passes for each in found] == [False, True]


@pytest.mark.parametrize(
    ("ms", "share", "good"),
    [(1, 0.0499, True), (1, 0.05, False), (8, 0.0099, True), (8, 0.01, False), (64, 0.001, False)],
)
def test_limits_are_fewer_than(ms: int, share: float, good: bool) -> None:
    over = {each: 0.0 for each in (1, 2, 4, 8, 16, 32, 64)} | {ms: share}
    assert Slice(1, 1000, 1.0, over).passes is good
