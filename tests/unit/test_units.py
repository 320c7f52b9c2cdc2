"""Sizes, shares, durations and rates: exact both ways, and errors that name the unit."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as some

from ssdlab.model import units
from ssdlab.model.errors import UsageError
from ssdlab.model.limits import DURATION_NS, SIZE_BYTES


@pytest.mark.parametrize(
    ("text", "size_bytes"),
    [
        ("4k", 4096),
        ("4K", 4096),
        ("4Ki", 4096),
        ("4KiB", 4096),
        ("4kib", 4096),
        ("4kB", 4000),
        ("1m", 1 << 20),
        ("1.5GiB", 3 << 29),
        ("480GB", 480 * 10**9),
        ("1tb", 10**12),
        ("512", 512),
        ("512B", 512),
        (" 8 MiB ", 8 << 20),
        ("1_000", 1000),
        ("0", 0),
    ],
)
def test_sizes_are_read_as_fio_reads_them(text: str, size_bytes: int) -> None:
    assert units.parse_bytes(text) == size_bytes


@given(some.integers(0, SIZE_BYTES))
def test_a_printed_size_is_read_back(size_bytes: int) -> None:
    assert units.parse_bytes(units.size_text(size_bytes)) == size_bytes


@given(some.integers(0, DURATION_NS))
def test_a_printed_duration_is_read_back(duration_ns: int) -> None:
    assert units.parse_duration(units.duration_text(duration_ns)) == duration_ns


@given(some.fractions(min_value=Fraction(1, 10**6), max_value=10**6, max_denominator=10**6))
def test_a_printed_rate_is_read_back_exactly(rate: Fraction) -> None:
    assert units.parse_rate(units.rate_text(rate)) == rate


@given(some.decimals(min_value=0, max_value=100, places=6))
def test_a_printed_percentage_is_read_back_exactly(percent: Decimal) -> None:
    share = Fraction(percent) / 100
    assert units.parse_percent(units.percent_text(share)) == share


@given(some.fractions(min_value=0, max_value=1, max_denominator=10**6))
def test_any_share_can_be_printed_and_read(share: Fraction) -> None:
    assert units.parse_percent(units.percent_text(share)) == share


@pytest.mark.parametrize(
    ("text", "duration_ns"),
    [
        ("90s", 90 * 10**9),
        ("10m", 600 * 10**9),
        ("1h", 3600 * 10**9),
        ("1h30m", 5400 * 10**9),
        ("1 h 30 min", 5400 * 10**9),
        ("500us", 500_000),
        ("500µs", 500_000),
        ("1.5ms", 1_500_000),
        ("2d", 172_800 * 10**9),
        ("5", 5 * 10**9),
        (0.1, 10**8),
        (2, 2 * 10**9),
        (Fraction(1, 8), 125_000_000),
    ],
)
def test_durations(text: str | float | Fraction, duration_ns: int) -> None:
    assert units.parse_duration(text) == duration_ns


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("2000", Fraction(2000)),
        ("23.53", Fraction(2353, 100)),
        ("60k", Fraction(60_000)),
        ("1.2M", Fraction(1_200_000)),
        ("400/17", Fraction(400, 17)),
        (23.53, Fraction(2353, 100)),
    ],
)
def test_rates_are_exact(text: str | float, rate: Fraction) -> None:
    assert units.parse_rate(text) == rate


@pytest.mark.parametrize(
    ("parse", "text", "said"),
    [
        (units.parse_bytes, "4kk", "did you mean k?"),
        (units.parse_bytes, "4GBB", "did you mean GB?"),
        (units.parse_bytes, "4 parsecs", "known: B, k, m"),
        (units.parse_duration, "5 sec", "did you mean s?"),
        (units.parse_duration, "5 mins", "did you mean min?"),
        (units.parse_rate, "5kk", "did you mean k?"),
    ],
)
def test_an_unknown_unit_is_named_with_the_nearest(parse: object, text: str, said: str) -> None:
    assert callable(parse)
    with pytest.raises(UsageError) as raised:
        parse(text)
    assert "is not known" in raised.value.what
    assert said in raised.value.advice


@pytest.mark.parametrize("text", ["", "k", "-4k", "4k4", "4 k k", "nan", "inf", "0x10", "1e999999", "4,5k"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        units.parse_bytes(text)


@pytest.mark.parametrize(
    "text", ["", "s", "-1s", "1s foo", "foo 1s", float("nan"), float("inf"), -1, "1h,5m"]
)
def test_what_is_no_duration_is_refused(text: str | float) -> None:
    with pytest.raises(UsageError):
        units.parse_duration(text)


@pytest.mark.parametrize("text", ["", "0", "-5", "1/0", "a/b", float("nan"), 0])
def test_what_is_no_rate_is_refused(text: str | float) -> None:
    with pytest.raises(UsageError):
        units.parse_rate(text)


@pytest.mark.parametrize("text", ["25", "101%", "-1%", "%", "1/0%"])
def test_what_is_no_percentage_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        units.parse_percent(text)


@pytest.mark.parametrize("text", ["30d", "90d", "2160h", "7776000"])
def test_a_month_is_a_time_that_may_be_measured(text: str) -> None:
    assert units.parse_duration(text) >= 30 * 86_400 * units.NS_PER_S


def test_part_of_a_byte_or_a_nanosecond_is_refused() -> None:
    with pytest.raises(UsageError, match=r"1\.5 bytes"):
        units.parse_bytes("1.5")
    with pytest.raises(UsageError, match="finer than a nanosecond"):
        units.parse_duration("0.5ns")
    with pytest.raises(UsageError, match="90 days"):
        units.parse_duration("999999d")


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        (units.count_text(64_321), "64.3k"),
        (units.count_text(1_050_000), "1.05M"),
        (units.count_text(388), "388"),
        (units.count_text(999.6), "1.00k"),
        (units.count_text(999.4), "999"),
        (units.count_text(0), "0"),
        (units.latency_text(388_000), "388 µs"),
        (units.latency_text(6_080_000), "6.08 ms"),
        (units.latency_text(1.2e9), "1.20 s"),
        (units.latency_text(999.7), "1.00 µs"),
        (units.latency_text(850), "850 ns"),
        (units.throughput_text(514), "514 MB/s"),
        (units.throughput_text(3214), "3.21 GB/s"),
        (units.capacity_text(480_103_981_056), "480 GB"),
        (units.capacity_text(3_840_755_982_336), "3.84 TB"),
        (units.block_text(4096), "4 KiB"),
        (units.block_text(1536), "1536 B"),
        (units.block_text(1 << 20), "1 MiB"),
        (units.span_text(0.31), "0.310 s"),
        (units.span_text(90), "90.0 s"),
        (units.span_text(270), "4 min 30 s"),
        (units.span_text(7500), "2 h 05 min"),
    ],
)
def test_numbers_are_printed_with_three_digits(printed: str, expected: str) -> None:
    assert printed == expected


@given(some.floats(min_value=1e-6, max_value=1e15))
def test_three_digits_are_within_half_a_unit_of_the_third(value: float) -> None:
    assert float(units.significant(value)) == pytest.approx(value, rel=5.001e-3)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("1000000001", "more than 1,000,000,000 a second"),
        ("1000000000000", "more than 1,000,000,000 a second"),
        ("1/7776001", "less than one per 90 days"),
        ("0.0000001", "less than one per 90 days"),
    ],
)
def test_a_rate_that_no_workload_can_have_is_refused_where_it_is_read(text: str, why: str) -> None:
    with pytest.raises(UsageError, match=f"rate {text} is {why}"):
        units.parse_rate(text)


def test_the_bounds_of_a_rate_are_rates() -> None:
    assert units.parse_rate("1000000000") == 10**9
    assert units.parse_rate("1/1000000") == Fraction(1, 10**6)


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.236, "23.6 %"),
        (1, "100 %"),
        (1.2, "120 %"),
        (0.9999, "99.99 %"),
        (0.99949, "99.9 %"),
        (0.0039, "0.390 %"),
        (1 - 2**-50, "100 %"),
        (0, "0 %"),
    ],
)
def test_a_share_is_the_whole_only_where_it_is(share: float, text: str) -> None:
    assert units.share_text(share) == text
    assert units.figure_text(100 * share, "%") == text


def test_a_chosen_share_is_printed_as_chosen_and_a_change_with_its_sign() -> None:
    assert [units.fixed_share_text(each) for each in (0.2, 0.07, 0.075)] == ["20 %", "7 %", "7.5 %"]
    assert [units.change_text(each) for each in (0.0321, -0.004, 0)] == ["+3.21 %", "-0.400 %", "0 %"]


def test_a_depth_is_a_whole_number() -> None:
    """A depth is set, not measured: `32.0 I/Os` had a digit that nothing can move."""
    texts = [units.figure_text(depth, "I/Os") for depth in (1.0, 32.0, 4096.0, 1.5)]
    assert texts == ["1 I/O", "32 I/Os", "4096 I/Os", "1.50 I/Os"]
