"""The shift between two sets against every permutation counted, and over a thousand seeded gates."""

from __future__ import annotations

import itertools
import math
import random
import statistics

import pytest

from ssdlab.analysis import shift
from ssdlab.analysis.shift import REPEATS_MIN, SIGNIFICANCE, p_of_higher, shift_of
from ssdlab.library.comparing import judge, rule_of
from ssdlab.library.comparison import Compared


def counted_p(one: list[float], other: list[float]) -> float:
    """Share of all ways to part the values in which the other is at least as high: U by comparing pairs."""

    def u(first: list[float], second: list[float]) -> float:
        return sum((b > a) + (a == b) / 2 for a in first for b in second)

    both = [*one, *other]
    found, away, parts = u(one, other), 0, 0
    for chosen in itertools.combinations(range(len(both)), len(one)):
        first = [both[i] for i in chosen]
        second = [both[i] for i in range(len(both)) if i not in chosen]
        away += u(first, second) >= found - 1e-9
        parts += 1
    return away / parts


@pytest.mark.parametrize("seed", range(12))
def test_p_is_that_of_every_permutation_with_ties_and_without(seed: int) -> None:
    draw = random.Random(seed)
    many = (lambda: float(draw.randint(1, 4))) if seed % 2 else draw.random
    one, other = [many() for _ in range(3 + seed % 3)], [many() + seed / 20 for _ in range(5)]
    assert p_of_higher(one, other) == pytest.approx(counted_p(one, other), abs=1e-12)
    assert p_of_higher(other, one) == pytest.approx(counted_p(other, one), abs=1e-12)


def test_values_of_a_published_table() -> None:
    """One-sided critical values of U at 0.01 (Milton, JASA 59, 1964)."""
    for n, critical in ((5, 1), (8, 9), (16, 66)):
        for u, refuted in ((critical, True), (critical + 1, False)):
            # The one set is 0 to n-1 in steps of two; `u` pairs of n x n have the other below.
            other = [float(n + k) for k in range(n)]
            one = [float(k) for k in range(n)]
            left = u
            for index in range(n):
                below = min(left, n)
                one[-1 - index] = n + below - 0.5 if below else one[-1 - index]
                left -= below
            assert (p_of_higher(one, other) <= SIGNIFICANCE) is refuted, (n, u)


def test_the_normal_form_agrees_with_the_exact_one(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(3)
    one = [float(draw.randint(0, 60)) for _ in range(45)]
    other = [float(draw.randint(3, 64)) for _ in range(50)]
    exact = shift_of([v + 1 for v in one], [v + 1 for v in other])
    monkeypatch.setattr(shift, "EXACT", 0)
    normal = shift_of([v + 1 for v in one], [v + 1 for v in other])
    assert normal.p_higher == pytest.approx(exact.p_higher, rel=0.05)
    assert normal.p_lower == pytest.approx(exact.p_lower, rel=0.05)
    assert normal.low == pytest.approx(exact.low, abs=0.02) and normal.high == pytest.approx(
        exact.high, abs=0.02
    )


@pytest.mark.parametrize("seed", range(40))
def test_the_estimate_is_the_median_ratio_and_the_interval_what_the_test_allows(seed: int) -> None:
    draw = random.Random(seed)
    n = draw.randint(5, 12)
    one = [draw.lognormvariate(0, 0.2) for _ in range(n)]
    other = [draw.lognormvariate(0.25, 0.2) for _ in range(draw.randint(5, 12))]
    found = shift_of(one, other)
    ratios = [b / a for a in one for b in other]
    assert math.log1p(found.share) == pytest.approx(statistics.median(map(math.log, ratios)))
    assert found.low is not None and found.high is not None and found.low <= found.share <= found.high
    for by, refuted in ((1.0001, False), (0.9999, True)):
        assert (p_of_higher(one, [v / (1 + found.low) / by for v in other]) <= SIGNIFICANCE) is refuted
        assert (p_of_higher([v / (1 + found.high) * by for v in other], one) <= SIGNIFICANCE) is refuted
    shown = found.p_higher <= SIGNIFICANCE or found.p_lower <= SIGNIFICANCE
    assert shown is not (found.low <= 0 <= found.high)


def test_too_few_values_have_no_interval_and_odd_ones_are_refused() -> None:
    assert shift_of([1.0, 2.0, 3.0], [5.0, 6.0, 7.0]).low is None
    for n in (REPEATS_MIN - 1, REPEATS_MIN):  # four each can never show a shift
        apart = [float(k) for k in range(1, n + 1)], [float(k) for k in range(11, n + 11)]
        assert (shift_of(*apart).p_higher <= SIGNIFICANCE) is (n == REPEATS_MIN)
    for bad in ([], [0.0], [-1.0], [math.nan], [math.inf]):
        with pytest.raises(ValueError):
            shift_of(bad, [1.0])


def noisy(draw: random.Random, n: int, factor: float = 1.0, slower: float = 0.3) -> list[float]:
    """Repeats with 5 % noise, of which 8 % are slow outliers, by anything up to `slower`."""
    values = []
    for _ in range(n):
        slow = 1 + draw.uniform(0, slower) if draw.random() < 0.08 else 1.0
        values.append(factor * slow * draw.gauss(100, 5))
    return values


def outcomes(factor: float, seeds: range, n: int = 16, slower: float = 0.3) -> dict[str, int]:
    rule, found = rule_of("p99 > +5%"), {"passed": 0, "failed": 0, "undecidable": 0}
    for seed in seeds:
        draw = random.Random(seed)
        one, other = noisy(draw, n, 1.0, slower), noisy(draw, n, factor, slower)
        compared = Compared("p99", "", "", "lower", 0.0, 0.0, n, n, shift_of(one, other))
        found[judge(rule, compared).outcome] += 1
    return found


def test_a_thousand_gates_cry_wolf_rarely_and_miss_little() -> None:
    """1,000 repeats of both, from these seeds; the bounds are those that the gate is published with."""
    flat, planted = outcomes(1.0, range(1000)), outcomes(1.10, range(1000, 2000))
    print(f"false: {flat['failed']} of 1000; a planted 10 %: {planted['failed']} of 1000")
    assert flat["failed"] <= 20
    assert planted["failed"] >= 950
    assert flat["undecidable"] == planted["undecidable"] == 0


def test_outliers_far_out_cost_power_and_no_false_alarms() -> None:
    """However far out 8 % of the values lie, ranks are what they are: at most three times as slow, here."""
    flat, planted = outcomes(1.0, range(1000), slower=2), outcomes(1.10, range(1000, 2000), slower=2)
    print(f"false: {flat['failed']} of 1000; a planted 10 %: {planted['failed']} of 1000")
    assert flat["failed"] <= 20
    assert planted["failed"] >= 900


def test_with_fewer_than_five_nothing_is_decided() -> None:
    assert outcomes(2.0, range(20), n=4)["undecidable"] == 20
