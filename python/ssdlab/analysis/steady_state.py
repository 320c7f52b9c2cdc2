"""Steady state as SNIA defines it: rounds, the rule over five of them, and a forecast of when it holds.

A fresh or idle drive is faster than one that has written for hours: spare blocks are used up first. Until
its throughput has settled, a figure says how long the drive had been written, and not how fast it is. SNIA's
rule looks at a window of five consecutive rounds: the values must lie within 20 % of their average of one
another, and the straight line fitted to them must not rise or fall by more than 10 % of it over the window.
Both are judged at full precision and with "at most". The lines at 90 and 110 % that reports draw are aids
for the eye: rule one is a range, not a band around the average.

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
"""Values judged together."""
MAX_RANGE = 0.20
"""Largest difference between two of them, as a share of their average."""
MAX_RISE = 0.10
"""Largest rise or fall of the fitted line over the window, as a share of the average."""
ROUND_SHARE = 0.009
"""Of the flash that a round writes after one random pass: five of them are less than a twentieth of it."""
MIN_CAPACITIES = 1.0
"""Spans to be written over before a window is believed. A drive that still has fresh blocks is fast and even:
five values can be so long before it has to collect."""


@dataclass(frozen=True)
class Window:
    """Five consecutive values and what the rule finds in them.

    Attributes
    ----------
    first
        Position of the first value in the series, from 0.
    mean
        In the unit of the values.
    range_share
        Largest minus smallest, divided by the mean.
    rise_share
        Rise of the fitted line from the first value's place to the last's, without its sign, divided by the
        mean.
    slope, intercept
        Of the fitted line, with x = 0 at the window's first value.
    correlation
        Pearson's, of value and place; None where all values are alike, which has none.
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
        """Whether both rules hold."""
        return self.mean > 0 and self.range_share <= MAX_RANGE and self.rise_share <= MAX_RISE


def judge_window(values: Sequence[float], first: int = 0) -> Window:
    """Judge one window.

    Parameters
    ----------
    values
        Exactly `WINDOW` values in any one unit.
    first
        Where the window begins in its series.

    Raises
    ------
    ValueError
        Another number of values.
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
        Position of that window's first round, from 0; None if there is none.
    """
    tracked = [list(values) for values in series]
    rounds = min((len(values) for values in tracked), default=0)
    for first in range(rounds - WINDOW + 1):
        if all(judge_window(values[first : first + WINDOW], first).steady for values in tracked):
            return first
    return None


def left(mean: float, later: Iterable[float]) -> bool:
    """Return whether a later value lies further from a window's mean than two within it may."""
    return any(abs(value - mean) > MAX_RANGE * mean for value in later)


def first_lasting(series: Iterable[Sequence[float]]) -> int | None:
    """Find the first window, as `first_steady` does, that no later value leaves in any variable.

    What was steady once and then fell was not yet in steady state: it was fresh.
    """
    tracked = [list(values) for values in series]
    rounds = min((len(values) for values in tracked), default=0)
    for first in range(rounds - WINDOW + 1):
        windows = [judge_window(values[first : first + WINDOW], first) for values in tracked]
        kept = zip(windows, tracked, strict=True)
        if all(each.steady and not left(each.mean, values[first + WINDOW :]) for each, values in kept):
            return first
    return None


# Throughput summed up to rounds of equal length, which SNIA's steady-state rule judges.
#
# Rows are shorter than rounds and come one by one while the drive is written; afterwards all of them are
# there. A round counts when its end was reached: the rest at the end of a run is none.


class RunningRounds:
    """Sums closed rows up to rounds of equal length, as they come; of one attempt of one step."""

    def __init__(self, round_ns: int) -> None:
        self._round_ns = round_ns
        self._seen = 0
        self._bytes = 0.0
        self.total_bytes = 0
        self.ended_ns = 0
        self.mb_s: list[float] = []

    def take(self, rows: Sequence[Any]) -> bool:
        """Take the rows not seen yet; returns whether a round ended with the last of them."""
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
        End of each row, and the bytes done in it.
    """
    import numpy as np

    ends_s = ends_ns.astype(np.float64) / NS_PER_S
    if not ends_s.size:
        return []
    number = np.ceil(ends_s / round_seconds - 1e-9).astype(np.int64) - 1
    whole = int(ends_s.max() / round_seconds + 1e-9)
    written = np.bincount(number, weights=moved.astype(np.float64), minlength=whole)
    return [float(each) / round_seconds / 1e6 for each in written[:whole]]


# In which round steady state is likely, from the rounds so far.
#
# A drive that settles approaches its plateau by a like share each round, so the differences of successive
# rounds shrink geometrically: d, r d, r2 d ... The ratio r is estimated by least squares over the last
# differences (of a line without intercept through the pairs of neighbours), the series is continued by it
# (Aitken's extrapolation), and SNIA's own rule is asked of what has been seen and what is expected
# together. A negative r is a series that swings; at -1 it swings for ever, and no round is named.
#
# It is a forecast for people who wait, and decides nothing.
#
# Source: A. C. Aitken, On Bernoulli's numerical solution of algebraic equations (1926), for the
# extrapolation; SNIA SSS PTS 2.0.2, section 2.1.24, for the rule.

MIN_ROUNDS = 3
"""Two differences, and so one ratio of them."""
DIFFERENCES = 4
"""Last differences that the ratio is estimated from: the steps of a window."""
SLOWEST = 0.98
"""Largest ratio: from 1 on a series would never settle, and what looks so may only be slow."""


@dataclass(frozen=True)
class Forecast:
    """What is expected.

    Attributes
    ----------
    round
        Number of the round, from 1, after which steady state is likely to be proven; None: not by the last.
    last
        Place of the variable that settles last; None where no round is named, or several do at once.
    """

    round: int | None
    last: int | None


def forecast(series: Sequence[Sequence[float]], max_rounds: int) -> Forecast | None:
    """Say in which round all tracked variables are likely to be steady at once.

    Parameters
    ----------
    series
        The rounds so far of each tracked variable, all of the same number.
    max_rounds
        After which the test ends.

    Returns
    -------
    Forecast or None
        None: too few rounds to say.
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
    """Return the values, and what is expected after them, up to that many."""
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
