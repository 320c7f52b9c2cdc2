"""Steady state as the SNIA standard defines it: five consecutive values that neither scatter nor drift.

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
from statistics import correlation, fmean, linear_regression

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
