"""When a test of ACT is given up: by what ACT allows, and when a slice has failed for certain."""

from __future__ import annotations

from ssdlab.analysis.act import Backlog, GivenUp, Interval, Paced, SlowReads, min_done, slow_by_quantiles

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
    assert found is not None and not found.certain
    assert (found.after_s, found.why) == (9.0, "service fell behind")
    assert run(Backlog([READS], 8.0), [2000] * 9, dropped=1) is None


def test_bursts_are_late_by_what_lies_beyond_their_own_time() -> None:
    cache = Paced("cache", 4000.0, 10.0, burst_s=0.4, overrun="fell behind")
    row = Interval(1.0, {"cache": 4000}, {}, {"cache": 10.3})
    assert Backlog([cache], 100.0).add(row) is None
    late = Interval(2.0, {"cache": 4000}, {}, {"cache": 10.5})
    assert Backlog([cache], 100.0).add(late) is not None


def test_a_load_that_falls_behind_is_not_given_up_before_act_would() -> None:
    """1 % too much is 36 s behind after an hour; but what is behind may be caught up."""
    assert run(Backlog([READS], 3600.0), [1980] * 3600) is None


def slow_reads(slow: list[int], *, done: int = 2000, ends_s: float = 3600.0) -> GivenUp | None:
    """Feed one row a second, with so many reads of 8 ms or longer in each."""
    watched = SlowReads({"service": lambda until_s: 2000.0 * until_s + 80}, 3600.0, ends_s)
    for second, count in enumerate(slow, 1):
        row = Interval(float(second), {"service": done}, {}, {}, {"service": done}, {8: count})
        if (found := watched.add(row)) is not None:
            return found
    return None


def test_a_slice_has_failed_when_too_many_reads_were_slow_even_if_all_others_are_fast() -> None:
    """1 % of 7.2 million is 72,000: by 100 a second after 720 s, and not a second earlier."""
    found = slow_reads([100] * 3600)
    assert found is not None and found.certain
    assert found.after_s == 721, "and the 80 that may be due beside them"
    assert "slice 1: at least 1.00 % of all its reads took 8 ms or longer already, not under 1 %" in found.why
    assert slow_reads([19] * 3600) is None, "0.95 %"
    assert slow_reads([2000] * 35 + [0] * 3565) is None, "35 s of 3600 are 0.97 %"
    assert slow_reads([2000] * 37) is not None, "37 s are 1.03 %"


def test_what_is_still_due_counts_as_fast_however_far_behind_it_is() -> None:
    assert slow_reads([10] * 3600, done=1000) is None, "1 % of what was done, and half is still due"
    assert slow_reads([21] * 3600, done=1000) is not None


def test_a_slice_that_the_test_does_not_end_is_not_judged() -> None:
    assert slow_reads([2000] * 1800, ends_s=1800.0) is None


def test_a_new_slice_begins_anew() -> None:
    watched = SlowReads({"service": lambda until_s: 10.0 * until_s}, 10.0, 20.0)
    for second in range(1, 21):
        slow = {1: 1} if second in (10, 11) else {}
        row = Interval(float(second), {"service": 10}, {}, {}, {"service": 10}, {1: 3 * slow.get(1, 0)})
        assert watched.add(row) is None


def test_quantiles_of_a_row_say_how_many_were_slow_at_least() -> None:
    def figures(p50: float, p99: float, p999: float) -> dict[str, float]:
        return {"p50_ns": p50 * 1e6, "p99_ns": p99 * 1e6, "p99_9_ns": p999 * 1e6}

    assert slow_by_quantiles(2000, figures(0.1, 0.2, 0.3)) == {1: 0, 8: 0, 64: 0}
    assert slow_by_quantiles(2000, figures(0.1, 9.0, 70.0)) == {1: 20, 8: 20, 64: 2}
    assert slow_by_quantiles(2000, figures(1.02, 8.1, 64.5)) == {1: 2 * 10, 8: 2, 64: 0}, (
        "a bucket's width is allowed"
    )
    assert slow_by_quantiles(50, figures(2.0, 100.0, 200.0)) == {1: 25, 8: 0, 64: 0}, (
        "one of 50 is no percent"
    )


def test_of_an_hour_99_5_percent_must_be_done_of_a_second_what_can_be_in_flight_less() -> None:
    assert min_done(2000.0, 3600.0, 80, 0, 0.995) == 7_164_000 - 160
    assert min_done(23.53, 1.0, 1, 0, 0.995) == 22
    assert min_done(4000.0, 1.0, 8, 1600, 0.995) == 3980 - 16 - 1600
    assert min_done(1.0, 1.0, 80, 0, 0.995) == 0
