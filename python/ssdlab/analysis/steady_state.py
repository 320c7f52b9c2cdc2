"""Steady state as SNIA defines it: rounds, the rule over five of them, and a forecast of when it holds.

A fresh or idle drive is faster than one that has written for hours, as spare blocks are used up first. Before
its throughput has settled, a figure shows how long the drive had been written, not how fast it is. SNIA's
rule judges a window of five consecutive rounds by two limits. The range of the values must be at most 20 % of
their mean. The straight line fitted to them must rise or fall by at most 10 % of the mean over the window.
Both are judged at full precision. Reports draw lines at 90 and 110 % only as a visual aid: the first limit is
a range, not a band around the mean.

Source: SNIA, Solid State Storage Performance Test Specification 2.0.2, section 2.1.24.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import correlation, fmean, linear_regression
from typing import TYPE_CHECKING, Any

from ssdlab.model.units import NS_PER_S

if TYPE_CHECKING:
    import numpy.typing as npt

WINDOW = 5
"""Number of consecutive rounds that the rule judges together."""
MAX_RANGE = 0.20
"""Largest difference between two values of a window, as a share of their mean."""
MAX_RISE = 0.10
"""Largest rise or fall of the fitted line over the window, as a share of the mean."""
ROUND_SHARE = 0.009
"""Share of the flash written by a round after one random pass: five rounds write less than a twentieth of
it."""
MIN_CAPACITIES = 1.0
"""Times that the span must be overwritten before a window is accepted. A drive that still has fresh blocks is
fast and even, so five values can be steady long before garbage collection begins."""


@dataclass(frozen=True)
class Window:
    """Five consecutive values, judged by the rule.

    Attributes
    ----------
    first
        Index of the first value in the series, from 0.
    mean
        Mean in the unit of the values.
    range_share
        Largest minus smallest value, divided by the mean.
    rise_share
        Absolute rise of the fitted line from the first value to the last, divided by the mean.
    slope, intercept
        Fitted line, with x = 0 at the window's first value.
    correlation
        Pearson's correlation of value and index; None if all values are equal.
    """

    first: int
    mean: float
    range_share: float
    rise_share: float
    slope: float
    intercept: float
    correlation: float | None = None

    @property
    def steady(self) -> bool:
        return self.mean > 0 and self.range_share <= MAX_RANGE and self.rise_share <= MAX_RISE


def judge_window(values: Sequence[float], first: int = 0) -> Window:
    """Judge one window.

    Parameters
    ----------
    values
        Exactly `WINDOW` values in any one unit.
    first
        Index at which the window begins in its series.

    Raises
    ------
    ValueError
        There are more or fewer values.
    """
    if len(values) != WINDOW:
        raise ValueError(f"a window has {WINDOW} values, not {len(values)}")
    mean = fmean(values)
    line = linear_regression(range(WINDOW), values)
    scale = mean if mean > 0 else float("inf")
    return Window(
        first=first,
        mean=mean,
        range_share=(max(values) - min(values)) / scale,
        rise_share=abs(line.slope) * (WINDOW - 1) / scale,
        slope=line.slope,
        intercept=line.intercept,
        correlation=correlation(range(WINDOW), values) if max(values) > min(values) else None,
    )


def first_steady(series: Iterable[Sequence[float]]) -> int | None:
    """Find the first window in which every tracked variable is steady at once.

    Parameters
    ----------
    series
        One sequence of round values for each tracked variable, all of the same length.

    Returns
    -------
    int or None
        Index of the first round of that window, from 0; None if there is none.
    """
    tracked = [list(values) for values in series]
    rounds = min((len(values) for values in tracked), default=0)
    for first in range(rounds - WINDOW + 1):
        if all(judge_window(values[first : first + WINDOW], first).steady for values in tracked):
            return first
    return None


def left(mean: float, later: Iterable[float]) -> bool:
    """Return whether a later value is further from a window's mean than two values in a window may differ."""
    return any(abs(value - mean) > MAX_RANGE * mean for value in later)


def first_lasting(series: Iterable[Sequence[float]]) -> int | None:
    """Find the first steady window, as `first_steady` does, whose range no later value leaves.

    A series that was steady and then fell was not in steady state: the drive was still fresh.
    """
    tracked = [list(values) for values in series]
    rounds = min((len(values) for values in tracked), default=0)
    for first in range(rounds - WINDOW + 1):
        windows = [judge_window(values[first : first + WINDOW], first) for values in tracked]
        kept = zip(windows, tracked, strict=True)
        if all(each.steady and not left(each.mean, values[first + WINDOW :]) for each, values in kept):
            return first
    return None


# Rounds: interval rows summed up to equal periods, which SNIA's steady-state rule judges.
#
# Rows are shorter than rounds. They come one by one while the drive is written, or all together afterwards.
# An incomplete round at the end of a run does not count.


class RunningRounds:
    """Sums the closed rows of one attempt of one step up to rounds of equal length, as the rows come."""

    def __init__(self, round_ns: int) -> None:
        self._round_ns = round_ns
        self._seen = 0
        self._bytes = 0.0
        self.total_bytes = 0
        self.ended_ns = 0
        self.mb_s: list[float] = []

    def take(self, rows: Sequence[Any]) -> bool:
        """Add the rows that are new in `rows`; return whether a round ended with them."""
        before = len(self.mb_s)
        for row in rows[self._seen :]:
            self._bytes += row.bytes
            self.total_bytes += row.bytes
            self.ended_ns = row.end_ns
            if row.end_ns >= (len(self.mb_s) + 1) * self._round_ns:
                self.mb_s.append(self._bytes / self._round_ns * NS_PER_S / 1e6)
                self._bytes = 0.0
        self._seen = len(rows)
        return len(self.mb_s) > before


def round_speeds(ends_ns: npt.NDArray[Any], moved: npt.NDArray[Any], round_seconds: float) -> list[float]:
    """Return the mean throughput of each whole round, in MB/s.

    Parameters
    ----------
    ends_ns, moved
        End of each row, and the bytes completed in it.
    """
    import numpy as np

    ends_s = ends_ns.astype(np.float64) / NS_PER_S
    if not ends_s.size:
        return []
    number = np.ceil(ends_s / round_seconds - 1e-9).astype(np.int64) - 1
    whole = int(ends_s.max() / round_seconds + 1e-9)
    written = np.bincount(number, weights=moved.astype(np.float64), minlength=whole)
    return [float(each) / round_seconds / 1e6 for each in written[:whole]]


# Forecast of the round in which steady state is reached, from the rounds so far.
#
# The throughput of a settling drive approaches its plateau by a constant factor each round, so the
# differences between rounds shrink geometrically: d, r d, r2 d ... The ratio r is estimated by least squares
# over the last differences: a line without intercept through the pairs of neighbours. The series is continued
# with this ratio (Aitken's extrapolation). SNIA's rule is then applied to the measured and the expected
# rounds together. If r is negative, the series oscillates; at -1 it never settles, and no round is named.
#
# The forecast is only for people who wait; nothing depends on it.
#
# Source: A. C. Aitken, On Bernoulli's numerical solution of algebraic equations (1926), for the
# extrapolation; SNIA SSS PTS 2.0.2, section 2.1.24, for the rule.

MIN_ROUNDS = 3
"""Three rounds give two differences, and thus one ratio."""
DIFFERENCES = 4
"""Number of last differences from which the ratio is estimated: as many as a window has."""
SLOWEST = 0.98
"""Largest ratio. With 1 or more a series never settles, but such an estimate may only mean slow settling."""


@dataclass(frozen=True)
class Forecast:
    """Expected end of the wait for steady state.

    Attributes
    ----------
    round
        Number of the round, from 1, after which steady state is likely to be proven; None if not by the last.
    last
        Index of the variable that settles last; None if no round is named, or several variables settle last.
    """

    round: int | None
    last: int | None


def forecast(series: Sequence[Sequence[float]], max_rounds: int) -> Forecast | None:
    """Return in which round all tracked variables are likely to be steady at once.

    Parameters
    ----------
    series
        The rounds so far of each tracked variable, all of the same number.
    max_rounds
        Number of rounds after which the test ends.

    Returns
    -------
    Forecast or None
        None if there are too few rounds.
    """
    rounds = min((len(values) for values in series), default=0)
    if rounds < MIN_ROUNDS:
        return None
    expected = [continued(values, max_rounds) for values in series]
    first = first_steady(expected)
    if first is None:
        return Forecast(None, None)
    alone = [first_steady([values]) or 0 for values in expected]
    latest = [place for place, of in enumerate(alone) if of == max(alone)]
    return Forecast(first + WINDOW, latest[0] if len(latest) == 1 else None)


def continued(values: Sequence[float], count: int) -> list[float]:
    """Return the values, continued with expected ones up to `count`."""
    found = list(values)
    steps = [later - earlier for earlier, later in pairwise(found)][-DIFFERENCES:]
    step = steps[-1]
    ratio = _ratio(steps)
    while len(found) < count:
        step *= ratio
        found.append(found[-1] + step)
    return found


def _ratio(steps: Sequence[float]) -> float:
    weight = sum(step * step for step in steps[:-1])
    if weight == 0:
        return 0.0
    slope = sum(earlier * later for earlier, later in pairwise(steps)) / weight
    return max(-1.0, min(SLOWEST, slope))
