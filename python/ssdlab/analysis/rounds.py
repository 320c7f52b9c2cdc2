"""Throughput summed up to rounds of equal length, which SNIA's steady-state rule judges.

Rows are shorter than rounds and come one by one while the drive is written; afterwards all of them are there.
A round counts when its end was reached: the rest at the end of a run is none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ssdlab.model.units import NS_PER_S

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt


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
