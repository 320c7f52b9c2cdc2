"""The arithmetic of reviews against known answers: the 95 % rule, Little's law, percentiles, attribution."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssdlab.analysis import percentiles, ratios
from ssdlab.analysis.saturation import saturation
from ssdlab.methods.paced_burst.result import busy_ns, spans_ns
from ssdlab.model.host_load import HostLoad
from ssdlab.results.points import attribute

DEPTHS = [1, 2, 4, 8, 16, 32]


@pytest.mark.parametrize(
    ("curve", "chosen", "best"),
    [
        ([10, 20, 40, 80, 96, 100], 4, 5),
        ([10, 20, 40, 80, 94.9, 100], 5, 5),
        ([10, 20, 40, 80, 95, 100], 4, 5),
        ([100, 100, 100, 100, 100, 100], 0, 0),
        ([10, 20, 100, 100, 90, 80], 2, 2),
        ([96, 50, 97, 40, 100, 30], 0, 4),
        ([0, 0, 0, 0, 0, 0], 0, 0),
        ([10, 20, 40, 80, 160, 320], 5, 5),
    ],
    ids=[
        "knee",
        "just under",
        "exactly 95 %",
        "flat",
        "falling",
        "not monotone",
        "nothing",
        "never saturates",
    ],
)
def test_the_lowest_depth_with_95_percent_of_the_best(curve: list[float], chosen: int, best: int) -> None:
    found = saturation(DEPTHS, curve)
    assert (found.chosen, found.best) == (chosen, best)
    assert found.threshold == 0.95 * max(curve)
    assert (found.lowest, found.highest) == (min(curve), max(curve))


def test_one_point_is_its_own_best() -> None:
    found = saturation([32], [7.0])
    assert (found.chosen, found.best, found.lowest, found.highest) == (0, 0, 7.0, 7.0)


@given(st.lists(st.floats(0, 1e7), min_size=1, max_size=20), st.floats(0.01, 1))
def test_the_chosen_depth_reaches_the_share_and_no_lower_one_does(curve: list[float], share: float) -> None:
    found = saturation(range(1, len(curve) + 1), curve, share)
    assert curve[found.chosen] >= share * max(curve)
    assert all(value < share * max(curve) for value in curve[: found.chosen])


@pytest.mark.parametrize(
    ("depths", "curve", "share"),
    [
        ([], [], 0.95),
        ([1, 2], [1.0], 0.95),
        ([2, 1], [1.0, 2.0], 0.95),
        ([1, 1], [1.0, 2.0], 0.95),
        ([1], [1.0], 0),
    ],
)
def test_what_is_no_curve_is_refused(depths: list[int], curve: list[float], share: float) -> None:
    with pytest.raises(ValueError):
        saturation(depths, curve, share)


def test_littles_law_of_a_queue_worked_by_hand() -> None:
    assert ratios.littles_ratio(100_000, 320_000, 32) == pytest.approx(1.0)
    assert ratios.littles_ratio(100_000, 160_000, 32) == pytest.approx(0.5)
    for nothing in ((0, 1.0, 1.0), (1.0, None, 1.0), (1.0, 1.0, None), (1.0, 1.0, 0.0)):
        assert ratios.littles_ratio(*nothing) is None
    assert ratios.consistent(None) and ratios.consistent(1.049) and not ratios.consistent(0.94)


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=300), st.integers(0, 100_000))
def test_percentiles_are_the_nearest_rank(samples: list[int], thousandths: int) -> None:
    percent = Fraction(thousandths, 1000)
    value = sorted(samples)[percentiles.rank(percent, len(samples)) - 1]
    assert value in samples
    at_most = sum(sample <= value for sample in samples)
    below = sum(sample < value for sample in samples)
    assert at_most * 100 >= percent * len(samples), "too few samples do not exceed it"
    assert below == 0 or below * 100 < percent * len(samples), "a smaller sample would have done"


def test_99_9_percent_is_exact() -> None:
    assert percentiles.rank("99.9", 1000) == 999
    assert percentiles.rank("99.9", 10_000) == 9990
    assert percentiles.rank(Fraction("99.99"), 10_000) == 9999
    assert percentiles.rank("0", 5) == 1 and percentiles.rank("100", 5) == 5
    with pytest.raises(ValueError):
        percentiles.rank("50", 0)
    with pytest.raises(ValueError):
        percentiles.rank("101", 5)


@pytest.mark.parametrize(
    ("percent", "lowest"), [("50", 20), ("99", 1000), ("99.9", 10_000), ("99.999", 1_000_000)]
)
def test_a_percentile_needs_ten_samples_beyond(percent: str, lowest: int) -> None:
    assert percentiles.sayable(percent, lowest)
    assert not percentiles.sayable(percent, lowest - 1)


@given(st.lists(st.integers(1, 10**9), min_size=1, max_size=400), st.sampled_from(["50", "90", "99", "99.9"]))
def test_buckets_are_off_by_less_than_their_width(samples: list[int], percent: str) -> None:
    from ssdlab import _core
    from ssdlab.results.compaction import bucket_width

    values = np.unique(np.array(samples, dtype=np.uint64))
    histogram = _core.Histogram()
    for value in values:
        one = np.array([value], dtype=np.uint64)
        histogram.merge(_core.Histogram.from_buckets(one, np.array([samples.count(value)], dtype=np.uint64)))
    low, count = histogram.buckets()
    high = low + bucket_width(low)
    exact = sorted(samples)[percentiles.rank(percent, len(samples)) - 1]
    assert percentiles.of_buckets(low, high, count, percent) == pytest.approx(exact, rel=1 / 64, abs=1)


def load(**figures: object) -> HostLoad:
    known = {"cores": 8, "threads": 4, "cpu_busy_share": 0.2, "run_queue_delay_share": 0.01}
    return HostLoad(**{**known, **figures})


@pytest.mark.parametrize(
    ("figures", "limit"),
    [
        ({}, "drive"),
        ({"threads": 512}, "drive"),
        ({"threads": 512, "cpu_busy_share": 0.7}, "host"),
        ({"threads": 8, "cpu_busy_share": 0.89}, "drive"),
        ({"cpu_busy_share": 0.9}, "host"),
        ({"run_queue_delay_share": 0.1}, "host"),
        ({"run_queue_delay_share": 0.099}, "drive"),
        ({"cpu_busy_share": None, "run_queue_delay_share": None}, "unknown"),
        ({"cpu_busy_share": None}, "drive"),
        ({"cpu_busy_share": None, "run_queue_delay_share": 0.5}, "host"),
    ],
)
def test_who_made_the_tail(figures: dict, limit: str) -> None:
    judged = attribute(load(**figures))
    assert judged.limit == limit
    assert bool(judged.reasons) is (limit != "drive")


def test_the_reasons_tell_their_figures() -> None:
    reasons = " ".join(attribute(load(cpu_busy_share=0.97, run_queue_delay_share=0.33)).reasons)
    assert "97.0 %" in reasons and "33.0 %" in reasons
    assert attribute(None).limit == "unknown"


@given(st.lists(st.tuples(st.integers(0, 200), st.integers(0, 60), st.integers(0, 9)), max_size=30))
def test_busy_time_and_bursts_against_every_nanosecond_counted_alone(ios: list[tuple[int, int, int]]) -> None:
    """Each I/O begins, takes its time, and was due at one of ten moments before all of them."""
    begin, took, due = np.array(ios, dtype=np.uint64).reshape(-1, 3).T
    end = begin + took
    assert busy_ns(begin, end) == len({ns for at, length, _ in ios for ns in range(at, at + length)})
    moments = sorted({group for *_, group in ios})
    last = [max(at + length for at, length, of in ios if of == group) for group in moments]
    expected = [10 + each - group for each, group in zip(last, moments, strict=True)]
    assert spans_ns(due, end + np.uint64(10)) == expected
