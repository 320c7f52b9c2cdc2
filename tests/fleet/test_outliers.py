"""The rule that names a drive: its bound on false alarms, and that outliers do not hide each other."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest

from ssdlab.analysis.outliers import MAD_OF_SIGMA, VALUES_MIN, far, spread_of


@pytest.mark.parametrize("count", [8, 12, 20, 50, 200, 1000])
@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_of_values_that_are_alike_any_is_named_as_seldom_as_stated(count: int, alpha: float) -> None:
    sets = 20_000 if count <= 200 else 4_000
    values = np.random.default_rng(count).standard_normal((sets, count))
    off = np.abs(values - np.median(values, axis=1, keepdims=True))
    sigma = np.median(off, axis=1) / MAD_OF_SIGMA
    named = float(np.mean(off.max(axis=1) / sigma > far(count, alpha)))
    # Three standard errors of the simulated share; and the bound is no empty one for many values.
    assert named <= alpha + 3 * math.sqrt(alpha / sets)
    assert count < 50 or named >= alpha / 4


def test_the_limit_is_that_of_the_normal_distribution_where_values_are_many() -> None:
    assert far(1_000_000, 0.01) == pytest.approx(NormalDist().inv_cdf(1 - 0.01 / 2e6), rel=1e-3)


def test_outliers_do_not_hide_each_other() -> None:
    rng = np.random.default_rng(7)
    values = [*rng.normal(0.0, 0.03, 17).tolist(), -0.5, -0.55, -0.45]
    found = spread_of(values, 0.01)
    assert [each for each in values if found.is_far(each)] == [-0.5, -0.55, -0.45]
    plain = np.std(values)
    assert abs(-0.5 - np.mean(values)) < far(20, 0.01) * plain, "mean and deviation would have hidden them"


def test_few_values_and_equal_ones_name_nobody() -> None:
    few = spread_of([1.0] * (VALUES_MIN - 2) + [9.0], 0.01)
    assert not few.is_far(9.0)
    alike = spread_of([0.0] * 20 + [0.004], 0.01, min_sigma=0.005)
    assert not alike.is_far(0.004)
    assert alike.is_far(0.5)
