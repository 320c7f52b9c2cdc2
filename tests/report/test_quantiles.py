"""Quantiles: numpy's, to the bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssdlab.analysis.quantiles import median, quantile

VALUES = st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=300)


@pytest.mark.parametrize(
    ("share", "found"), [(0.0, 10.0), (0.25, 17.5), (0.5, 25.0), (0.9, 37.0), (1.0, 40.0)]
)
def test_what_lies_between_two_values_is_by_their_distance(share: float, found: float) -> None:
    assert quantile(np.array([40.0, 10.0, 30.0, 20.0]), share) == pytest.approx(found, rel=1e-15)


@pytest.mark.parametrize(
    ("values", "found"), [([3.0, 1.0, 2.0], 2.0), ([4.0, 1.0, 2.0, 3.0], 2.5), ([5.0], 5.0)]
)
def test_a_median_is_the_middle_or_the_mean_of_two(values: list[float], found: float) -> None:
    assert median(np.array(values)) == found


def test_one_value_is_every_quantile_and_the_row_stays_as_it_is() -> None:
    assert quantile(np.array([7.0]), 0.01) == 7.0
    row = np.array([3.0, 1.0, 2.0])
    quantile(row, 0.5)
    assert row.tolist() == [3.0, 1.0, 2.0]


@given(VALUES, st.floats(0, 1))
def test_they_are_the_numbers_that_numpy_gives(values: list[float], share: float) -> None:
    assert quantile(np.array(values), share) == float(np.quantile(np.array(values), share))
    assert median(np.array(values)) == float(np.median(np.array(values)))
