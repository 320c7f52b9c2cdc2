"""How evenly a drive performs second by second: the floor and the spread, not only the mean.

An application that waits for its slowest I/O feels the worst second, which a mean hides. The reviews plot
one dot a second and read the lowest of them; later suites add the mean and the mean divided by the standard
deviation of the last 400 s.

Sources: AnandTech, review of the Samsung XP941 (2014), page "Performance Consistency" (one dot a second,
views from 1400 s); client suite of 2015/16, page "Steady-State 4KB Random Write" (last 400 s, mean divided
by deviation).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ssdlab.analysis.steady_state import first_lasting

if TYPE_CHECKING:
    import numpy.typing as npt

LATE_FROM_S = 1400.0
"""The reviews' second and third graph begin here, of 2000 s."""
LAST_S = 400.0
"""The stretch that later suites score."""


@dataclass(frozen=True)
class Stretch:
    """Throughput over a stretch of interval rows.

    Attributes
    ----------
    from_s, to_s
        Of the run.
    rows
        How many intervals.
    floor, p1, mean, deviation
        Lowest interval, 1 % quantile, mean and sample standard deviation, in the unit of the values.
    """

    from_s: float
    to_s: float
    rows: int
    floor: float
    p1: float
    mean: float
    deviation: float

    @property
    def evenness(self) -> float | None:
        """Mean divided by deviation; None where nothing deviates."""
        return self.mean / self.deviation if self.deviation > 0 else None


def stretch(ends_s: npt.NDArray[Any], values: npt.NDArray[Any], from_s: float, to_s: float) -> Stretch | None:
    """Summarise the intervals that end after `from_s` and not after `to_s`; None where there is none.

    Parameters
    ----------
    ends_s
        End of each interval in seconds of the run, rising.
    values
        Throughput of each, in any one unit.
    """
    import numpy as np  # a stored stretch is read without it

    kept = values[(ends_s > from_s) & (ends_s <= to_s)]
    if kept.size == 0:
        return None
    return Stretch(
        from_s=from_s,
        to_s=to_s,
        rows=int(kept.size),
        floor=float(kept.min()),
        p1=float(np.quantile(kept, 0.01)),
        mean=float(kept.mean()),
        deviation=float(kept.std(ddof=1)) if kept.size > 1 else 0.0,
    )


def steady_from(
    ends_s: npt.NDArray[Any], values: npt.NDArray[Any], rows: int, first_row: int = 0
) -> float | None:
    """Return when the first window begins that SNIA's rule calls steady and that no later round leaves.

    In seconds; None: there is none. Rounds count from `first_row` on, before which too little was written to
    tell.

    Parameters
    ----------
    ends_s, values
        As of `stretch`.
    rows
        Intervals of a round, whose mean the rule judges.
    """
    later = values[first_row:]
    rounds = later[: len(later) // rows * rows].reshape(-1, rows).mean(axis=1)
    first = first_lasting([rounds.tolist()])
    return None if first is None else float(ends_s[first_row + first * rows]) - float(ends_s[0])
