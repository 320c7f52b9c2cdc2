"""Samples that come too fast to be kept, as means over equal bins; pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ssdlab.analysis.energy import Array


class Bins:
    """Means over bins of equal width, each dated at its middle; a bin without a sample is left out.

    Parameters
    ----------
    width_ns
        Of a bin.
    """

    def __init__(self, width_ns: int) -> None:
        self.width_ns = width_ns
        self._number: int | None = None
        self._sums: Array = np.zeros(0)
        self._count = 0

    def put(self, time_ns: Array, watts: Array) -> tuple[Array, Array]:
        """Take samples in order, shape (n,) and (n, rails), and return the bins that are complete now."""
        if not len(time_ns):
            return time_ns, watts
        numbers = time_ns // self.width_ns
        begin = np.flatnonzero(np.diff(numbers, prepend=numbers[0] - 1))
        found = numbers[begin]
        sums = np.add.reduceat(watts, begin, axis=0)
        counts = np.diff(np.append(begin, len(numbers)))
        if self._number is not None:
            if self._number == found[0]:
                sums[0] += self._sums
                counts[0] += self._count
            else:
                found = np.concatenate([[self._number], found])
                sums = np.concatenate([self._sums[None, :], sums])
                counts = np.concatenate([[self._count], counts])
        self._number, self._sums, self._count = int(found[-1]), sums[-1], int(counts[-1])
        middles = found[:-1] * self.width_ns + self.width_ns // 2
        return middles, sums[:-1] / counts[:-1, None]


def halved(time_ns: Array, watts: Array) -> tuple[Array, Array]:
    """Return equal bins as half as many of twice the width; an odd one at the end is left out."""
    pairs = len(time_ns) // 2
    times = time_ns[: 2 * pairs].reshape(pairs, 2)
    return times[:, 0] + (times[:, 1] - times[:, 0]) // 2, watts[: 2 * pairs].reshape(pairs, 2, -1).mean(
        axis=1
    )
