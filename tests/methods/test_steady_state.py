"""SNIA's steady-state rule on vectors whose verdict is known, and on series in which it is met late."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssdlab.analysis.steady_state import WINDOW, first_steady, judge_window


@pytest.mark.parametrize(
    ("values", "range_pct", "rise_pct", "steady"),
    [
        ([100, 98, 96, 94, 92], 8.33, 8.33, True),
        ([100, 97.5, 95, 92.5, 90], 10.53, 10.53, False),
        ([90, 110, 90, 110, 90], 20.41, 0.0, False),
        ([120, 100, 100, 100, 100], 19.23, 15.38, False),
        ([100, 100, 118, 100, 100], 17.37, 0.0, True),
        ([0.0200, 0.0209, 0.0218, 0.0226, 0.0235], 16.1, 15.99, False),
    ],
)
def test_known_windows(values: list[float], range_pct: float, rise_pct: float, steady: bool) -> None:
    window = judge_window(values)
    assert 100 * window.range_share == pytest.approx(range_pct, abs=0.05)
    assert 100 * window.rise_share == pytest.approx(rise_pct, abs=0.05)
    assert window.steady is steady


@given(st.lists(st.floats(1e-3, 1e6), min_size=WINDOW, max_size=WINDOW))
def test_the_rise_is_that_of_the_closed_form(values: list[float]) -> None:
    y1, y2, _, y4, y5 = values
    closed = 0.4 * abs(2 * (y5 - y1) + (y4 - y2))
    window = judge_window(values)
    assert window.rise_share * window.mean == pytest.approx(closed, rel=1e-6, abs=1e-9 * max(values))


def test_limits_are_included_and_nothing_written_is_not_steady() -> None:
    assert judge_window([90, 110, 100, 90, 110]).range_share == pytest.approx(0.2)
    assert not judge_window([0, 0, 0, 0, 0]).steady


def test_steady_from_the_seventh_round_ends_after_the_eleventh() -> None:
    series = [500, 420, 350, 290, 240, 180, 101, 100, 99, 100, 101, 100]
    first = first_steady([series])
    assert first == 6
    assert first + WINDOW == 11


def test_one_late_variable_holds_the_others_back() -> None:
    calm = [100.0] * 12
    late = [500, 400, 300, 200, 150, 130, 110, 100, 100, 100, 100, 100]
    assert first_steady([calm]) == 0
    held = first_steady([calm, late])
    assert held == first_steady([late])
    assert held is not None
    assert held > 0


def test_too_short_a_series_has_no_window() -> None:
    assert first_steady([[1.0] * (WINDOW - 1)]) is None
    assert first_steady([]) is None
    with pytest.raises(ValueError, match="5 values"):
        judge_window([1.0, 2.0])
