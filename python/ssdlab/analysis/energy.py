"""Energy over a window from a meter's samples, and the share of the window that samples cover: pure.

Each sample covers the time half-way to its neighbours. A series of means over equal bins, timed at the
middles of the bins, is thus integrated exactly. If the next sample is more than `GAP_PERIODS` periods away,
the time between is a gap. Gaps are left out of the mean, and reduce the covered share.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]

GAP_PERIODS = 5.0
"""Median periods without a sample beyond which the time is a gap: a poller is never that late."""
MIN_COVERED = 0.99
"""Minimum covered share of a window for a figure. The uncovered time then shifts the mean by about 1 %."""
MIN_BOUNDS = 10
"""Minimum length of a window, in bounds of the clock's error. In a shorter one the edges are over 10 % of
it."""


@dataclass(frozen=True)
class Drawn:
    """Power and energy drawn in a window.

    Attributes
    ----------
    mean_w
        Mean power over the covered time, in W.
    energy_j
        Mean power times the whole window, in J.
    covered
        Share of the window that samples cover, 0 to 1.
    """

    mean_w: float
    energy_j: float
    covered: float


@dataclass(frozen=True)
class PowerTrace:
    """Power over time: sample i is the mean in W from `start_ns[i]` to `end_ns[i]`, a column per rail."""

    start_ns: Array
    end_ns: Array
    watts: Array

    @classmethod
    def of_points(cls, time_ns: Array, watts: Array) -> Self:
        """Return the trace of samples at rising times.

        `watts` has the shape (n,) or (n, rails). Fewer than two samples give an empty trace.
        """
        times = np.asarray(time_ns, dtype=np.int64)
        shaped = np.asarray(watts, dtype=np.float64)
        shaped = shaped[:, None] if shaped.ndim == 1 else shaped
        if len(times) < 2:
            return cls(times[:0], times[:0], shaped[:0])
        steps = np.diff(times)
        half = max(int(np.median(steps)) // 2, 1)
        gap = steps > GAP_PERIODS * 2 * half
        start, end = times.copy(), times.copy()
        start[0] -= half
        end[-1] += half
        end[:-1] += np.where(gap, half, steps // 2)
        start[1:] = np.where(gap, times[1:] - half, end[:-1])
        return cls(start, end, shaped)

    def window(self, start_ns: int, end_ns: int) -> Self:
        """Return the samples that overlap a window, uncut."""
        first = int(np.searchsorted(self.end_ns, start_ns, side="right"))
        last = int(np.searchsorted(self.start_ns, end_ns, side="left"))
        return type(self)(self.start_ns[first:last], self.end_ns[first:last], self.watts[first:last])

    def drawn(self, start_ns: int, end_ns: int) -> Drawn | None:
        """Return power and energy of a window, all rails together; None if no sample covers any of it.

        >>> trace = PowerTrace.of_points(np.arange(10) * 100, np.full(10, 3.0))
        >>> trace.drawn(0, 900).mean_w
        3.0
        """
        part = self.window(start_ns, end_ns)
        length = np.minimum(part.end_ns, end_ns) - np.maximum(part.start_ns, start_ns)
        covered_ns = int(length.sum())
        if covered_ns <= 0:
            return None
        mean_w = float((part.watts.sum(axis=1) * length).sum() / covered_ns)
        return Drawn(mean_w, mean_w * (end_ns - start_ns) / 1e9, covered_ns / (end_ns - start_ns))
