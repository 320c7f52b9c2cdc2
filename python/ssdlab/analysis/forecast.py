"""In which round steady state is likely, from the rounds so far.

A drive that settles approaches its plateau by a like share each round, so the differences of successive
rounds shrink geometrically: d, r d, r2 d ... The ratio r is estimated by least squares over the last
differences (of a line without intercept through the pairs of neighbours), the series is continued by it
(Aitken's extrapolation), and SNIA's own rule is asked of what has been seen and what is expected together. A
negative r is a series that swings; at -1 it swings for ever, and no round is named.

It is a forecast for people who wait, and decides nothing.

Source: A. C. Aitken, On Bernoulli's numerical solution of algebraic equations (1926), for the extrapolation;
SNIA SSS PTS 2.0.2, section 2.1.24, for the rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ssdlab.analysis.steady_state import WINDOW, first_steady

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
