"""The forecast of the round in which steady state is likely, on series whose end is known."""

from __future__ import annotations

import pytest

from ssdlab.analysis.steady_state import WINDOW, Forecast, first_steady, forecast


def settling(plateau: float, above: float, ratio: float, rounds: int) -> list[float]:
    """Return a series whose distance to its plateau shrinks by a like share each round."""
    return [plateau + above * ratio**number for number in range(rounds)]


@pytest.mark.parametrize("ratio", [0.3, 0.5, 0.7, 0.8, 0.9])
@pytest.mark.parametrize("seen", [3, 5, 7])
def test_a_series_that_settles_is_foreseen_to_the_round(ratio: float, seen: int) -> None:
    series = settling(1000.0, 4000.0, ratio, 100)
    first = first_steady([series])
    assert first is not None
    assert forecast([series[:seen]], 100) == Forecast(first + WINDOW, 0)


def test_the_variable_that_settles_last_is_named_and_decides() -> None:
    early, late = settling(500.0, 100.0, 0.2, 40), settling(900.0, 5000.0, 0.75, 40)
    first = first_steady([early, late])
    assert first is not None
    assert forecast([early[:5], late[:5]], 40) == Forecast(first + WINDOW, 1)


def test_what_does_not_settle_in_time_or_swings_has_no_round() -> None:
    assert forecast([settling(1000.0, 9000.0, 0.97, 6)], 12) == Forecast(None, None)
    assert forecast([[100.0, 200.0, 100.0, 200.0, 100.0]], 25) == Forecast(None, None)


def test_a_series_steady_from_the_beginning_is_proven_in_round_five() -> None:
    assert forecast([[7.0, 7.0, 7.0], [9.0, 9.0, 9.0]], 25) == Forecast(5, None)


def test_two_rounds_are_too_few_to_say() -> None:
    assert forecast([[7.0, 8.0]], 25) is None
    assert forecast([], 25) is None


def test_a_window_already_steady_is_the_answer() -> None:
    series = [*settling(1000.0, 4000.0, 0.3, 9)]
    first = first_steady([series])
    assert first is not None and first + WINDOW <= 9
    assert forecast([series], 25) == Forecast(first + WINDOW, 0)
