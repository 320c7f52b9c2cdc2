"""The end of a cache is found where it was put, and none is found where there is none."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssdlab.analysis.over_position import MIN_POINTS, find_drop


@given(
    at=st.integers(MIN_POINTS, 60),
    after=st.integers(MIN_POINTS, 60),
    fast=st.floats(500, 5000),
    factor=st.floats(2, 20),
    seed=st.integers(0, 1000),
)
def test_the_drop_is_where_it_was_put(at: int, after: int, fast: float, factor: float, seed: int) -> None:
    noise = random.Random(seed)
    plateaus = [fast] * at + [fast / factor] * after
    drop = find_drop([speed * noise.uniform(0.95, 1.05) for speed in plateaus])
    assert drop is not None
    assert drop.at == at
    assert drop.before / drop.after == pytest.approx(factor, rel=0.1)


@given(st.integers(2, 100), st.integers(0, 1000))
def test_an_even_drive_has_none(points: int, seed: int) -> None:
    noise = random.Random(seed)
    assert find_drop([1000 * noise.uniform(0.92, 1.08) for _ in range(points)]) is None


def test_a_drive_that_becomes_faster_has_none() -> None:
    assert find_drop([100.0] * 10 + [500.0] * 10) is None


def test_a_drive_that_throttles_again_and_again_has_none() -> None:
    hot, cool = [947.0], [1530.0]
    speeds = hot * 17 + (cool * 36 + hot * 50) * 5 + cool * 36 + hot * 33
    assert find_drop(speeds) is None


def test_a_cache_before_a_drive_that_collects_in_waves_is_found() -> None:
    drop = find_drop([2000.0] * 30 + ([400.0] * 9 + [900.0]) * 20)
    assert drop is not None
    assert drop.at == 30


def test_a_speed_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="above 0"):
        find_drop([1.0, 0.0, 1.0, 1.0, 1.0, 1.0])
