"""When a test of ACT is given up: by what ACT allows, and by a trend that leads there."""

from __future__ import annotations

import pytest

from ssdlab.analysis.act import Backlog, GivenUp, Interval, Paced, forecast_s, min_done

READS = Paced("service", 2000.0, 10.0, overrun="fell behind")


def run(backlog: Backlog, done: list[int], dropped: int = 0) -> GivenUp | None:
    """Feed one row a second; the last may drop."""
    for second, ios in enumerate(done, 1):
        lost = {"service": dropped} if second == len(done) else {}
        if (found := backlog.add(Interval(float(second), {"service": ios}, lost, {}))) is not None:
            return found
    return None


def test_what_was_due_for_too_long_ends_a_test_and_what_is_left_at_its_end_does_not() -> None:
    found = run(Backlog([READS], 100.0), [2000] * 9, dropped=1)
    assert found is not None and not found.forecast
    assert (found.after_s, found.why) == (9.0, "service fell behind")
    assert run(Backlog([READS], 8.0), [2000] * 9, dropped=1) is None


def test_bursts_are_late_by_what_lies_beyond_their_own_time() -> None:
    cache = Paced("cache", 4000.0, 10.0, burst_s=0.4, overrun="fell behind")
    row = Interval(1.0, {"cache": 4000}, {}, {"cache": 10.3})
    assert Backlog([cache], 100.0).add(row) is None
    late = Interval(2.0, {"cache": 4000}, {}, {"cache": 10.5})
    assert Backlog([cache], 100.0).add(late) is not None


def test_a_queue_that_grows_is_given_up_as_soon_as_its_trend_leads_past_the_bound() -> None:
    """1 % too much is 36 s behind after an hour; seen once a second of load is undone, at 100 s."""
    found = run(Backlog([READS], 3600.0, trend_s=60.0), [1980] * 3600)
    assert found is not None and found.forecast
    assert found.after_s == pytest.approx(100, abs=2)
    assert "36 s at the end, with 10 s allowed" in found.why
    assert run(Backlog([READS], 3600.0), [1980] * 900) is None, "without a trend, only ACT's own rule"


def test_what_will_end_within_the_bound_goes_on() -> None:
    """0.2 % too much is 7.2 s after an hour: ACT lets it pass, and so does the trend."""
    assert run(Backlog([READS], 3600.0, trend_s=60.0), [1996] * 3600) is None


def test_a_stall_that_is_made_up_for_is_no_trend() -> None:
    stalled = [2000] * 100 + [0, 0, 0] + [2100] * 60 + [2000] * 100
    assert run(Backlog([READS], 3600.0, trend_s=60.0), stalled) is None


def test_a_forecast_needs_points_a_backlog_and_a_rise_in_every_quarter() -> None:
    def at(*behind_s: float) -> list[tuple[float, float]]:
        return [(float(second), undone) for second, undone in enumerate(behind_s, 1)]

    assert forecast_s(at(5, 6, 7, 8), 100.0) == 0, "too few"
    assert forecast_s(at(0.1, 0.2, 0.3, 0.4, 0.5), 100.0) == 0, "too little"
    assert forecast_s(at(5, 5, 5, 5, 5), 100.0) == 0
    assert forecast_s(at(0, 0, 0, 5, 9), 100.0) == 0, "a stall at the end"
    assert forecast_s(at(1, 2, 3, 4, 5), 10.0) == pytest.approx(10.0)
    assert forecast_s(at(1, 3, 4, 6, 8), 10.0) == pytest.approx(8 + 5), "as in the slowest quarter"


def test_of_an_hour_99_5_percent_must_be_done_of_a_second_what_can_be_in_flight_less() -> None:
    assert min_done(2000.0, 3600.0, 80, 0, 0.995) == 7_164_000 - 160
    assert min_done(23.53, 1.0, 1, 0, 0.995) == 22
    assert min_done(4000.0, 1.0, 8, 1600, 0.995) == 3980 - 16 - 1600
    assert min_done(1.0, 1.0, 80, 0, 0.995) == 0
