"""Energy from samples: against sums over a known course of power."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from ssdlab.analysis.energy import PowerTrace


def test_means_over_equal_bins_are_integrated_exactly() -> None:
    random = np.random.default_rng(5)
    watts = random.uniform(1, 9, 1000)
    middles = np.arange(1000) * 1_000_000 + 500_000
    trace = PowerTrace.of_points(middles, watts)
    found = trace.drawn(0, 1_000_000_000)
    assert found is not None
    assert found.covered == 1.0
    assert found.energy_j == pytest.approx(watts.sum() * 1e-3, rel=1e-12)
    part = trace.drawn(250_000_000, 250_500_000)
    assert part is not None
    assert part.mean_w == watts[250]


@pytest.mark.parametrize("seed", range(20))
def test_any_window_is_the_sum_of_its_parts(seed: int) -> None:
    random = np.random.default_rng(seed)
    times = np.cumsum(random.integers(900, 1100, 500))
    trace = PowerTrace.of_points(times, random.uniform(0, 5, (500, 2)))
    edges = np.sort(random.integers(times[0], times[-1], 6))
    whole = trace.drawn(int(edges[0]), int(edges[-1]))
    parts = [trace.drawn(int(a), int(b)) for a, b in itertools.pairwise(edges)]
    assert whole is not None
    assert whole.covered == pytest.approx(1.0)
    assert whole.energy_j == pytest.approx(sum(each.energy_j for each in parts if each), rel=1e-9)


def test_a_gap_stands_for_nothing() -> None:
    times = np.concatenate([np.arange(100), np.arange(200, 300)]) * 1_000_000
    watts = np.concatenate([np.full(100, 2.0), np.full(100, 4.0)])
    trace = PowerTrace.of_points(times, watts)
    found = trace.drawn(0, 300_000_000)
    assert found is not None
    assert found.covered == pytest.approx(200 / 300, abs=0.01)
    assert found.mean_w == pytest.approx(3.0, abs=0.01)
    assert trace.drawn(120_000_000, 180_000_000) is None


@pytest.mark.parametrize("rails", [(), (1,), (2,)])
def test_a_meter_that_said_nothing_has_a_trace(rails: tuple[int, ...]) -> None:
    trace = PowerTrace.of_points(np.empty(0), np.empty((0, *rails)))
    assert trace.watts.shape == (0, *(rails or (1,)))
    assert trace.drawn(0, 10) is None


def test_one_sample_is_no_time() -> None:
    assert PowerTrace.of_points(np.array([5]), np.array([1.0])).drawn(0, 10) is None
