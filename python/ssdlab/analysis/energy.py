"""Energy over a period from a meter's samples, and how much of the period they cover: pure.

Each sample stands for the time half-way to its neighbours, so that a series of means over equal bins, taken
at their middles, is integrated exactly. Where the next sample is further off than `GAP_PERIODS` periods the
meter said nothing: that time is left out, and counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]

GAP_PERIODS = 5.0
"""Median periods without a sample from which on time is not covered: more than a poller is ever late by."""
MIN_COVERED = 0.99
"""Share of a window that must be covered for a figure: what is missing then shifts the mean by about 1 %."""
MIN_BOUNDS = 10
"""Bounds of the clock's error that a window must have: with fewer, its edges alone are over 10 % of it."""


@dataclass(frozen=True)
class Drawn:
    """What was drawn in a window.

    Attributes
    ----------
    mean_w
        Mean over the time that is covered, in W.
    energy_j
        That mean over the whole window, in J.
    covered
        Share of the window that samples stand for, 0 to 1.
    """

    mean_w: float
    energy_j: float
    covered: float


@dataclass(frozen=True)
class PowerTrace:
    """Power over time: sample i is the mean from `start_ns[i]` to `end_ns[i]`, in W, a column a rail."""

    start_ns: Array
    end_ns: Array
    watts: Array

    @classmethod
    def of_points(cls, time_ns: Array, watts: Array) -> Self:
        """Return the trace of samples at rising times, shape (n,) and (n,) or (n, rails)."""
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
        """Return the samples that a window touches, whole."""
        first = int(np.searchsorted(self.end_ns, start_ns, side="right"))
        last = int(np.searchsorted(self.start_ns, end_ns, side="left"))
        return type(self)(self.start_ns[first:last], self.end_ns[first:last], self.watts[first:last])

    def drawn(self, start_ns: int, end_ns: int) -> Drawn | None:
        """Return what was drawn in a window, all rails together; None where no sample stands for any of it.

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
