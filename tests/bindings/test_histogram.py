"""The histogram as Python sees it; its arithmetic is tested in the metrics crate."""

from __future__ import annotations

import numpy as np
import pytest

from ssdlab import _core


def histogram(*values_ns: int) -> _core.Histogram:
    """A histogram of exact values below 128 ns, which have a bucket each."""
    lows, counts = np.unique(np.array(values_ns, dtype=np.uint64), return_counts=True)
    return _core.Histogram.from_buckets(lows, counts.astype(np.uint64))


def test_known_values() -> None:
    known = histogram(*range(1, 101))
    assert known.count == 100
    assert known.sum_ns == 5050
    assert known.mean_ns == 50.5
    assert (known.min_ns, known.max_ns) == (1, 100)
    assert [known.quantile(q) for q in (0.0, 0.5, 0.99, 1.0)] == [1, 50, 99, 100]


def test_a_quantile_can_ask_for_samples_beyond_it() -> None:
    known = histogram(*range(1, 101))
    assert known.quantile(0.9, beyond=10) == 90
    assert known.quantile(0.91, beyond=10) is None


def test_an_empty_one_has_nothing_to_say() -> None:
    empty = _core.Histogram()
    assert empty.count == 0
    assert empty.min_ns is empty.max_ns is empty.mean_ns is empty.quantile(0.5) is None
    assert [len(column) for column in empty.buckets()] == [0, 0]


def test_merge_adds() -> None:
    both = histogram(1, 2, 3)
    both.merge(histogram(3, 4))
    lows, counts = both.buckets()
    assert lows.tolist() == [1, 2, 3, 4]
    assert counts.tolist() == [1, 1, 2, 1]
    both.merge(both)
    assert both.count == 10


@pytest.mark.parametrize("make", ["bytes", "buckets"])
def test_there_and_back(make: str) -> None:
    original = histogram(5, 5, 90, 127)
    if make == "bytes":
        back = _core.Histogram.from_bytes(original.to_bytes())
    else:
        back = _core.Histogram.from_buckets(
            *original.buckets(), sum_ns=original.sum_ns, min_ns=original.min_ns, max_ns=original.max_ns
        )
    assert back.to_bytes() == original.to_bytes()


def test_without_exact_moments_a_wide_bucket_counts_as_its_midpoint() -> None:
    low = 1 << 20
    guessed = _core.Histogram.from_buckets(np.array([low], dtype=np.uint64), np.array([3], dtype=np.uint64))
    width = low // 64
    assert guessed.min_ns == guessed.max_ns == low + (width - 1) // 2
    assert guessed.mean_ns == pytest.approx(low + width / 2, rel=1e-6)


def test_nonsense_is_refused() -> None:
    one = np.array([1], dtype=np.uint64)
    with pytest.raises(ValueError, match="different lengths"):
        _core.Histogram.from_buckets(one, np.array([], dtype=np.uint64))
    with pytest.raises(ValueError, match="do not belong together"):
        _core.Histogram.from_buckets(one, one, min_ns=50)
    with pytest.raises(ValueError, match="sparse encoding"):
        _core.Histogram.from_bytes(b"\xff\xff")
    with pytest.raises(ValueError, match="between 0 and 1"):
        histogram(1).quantile(1.5)
