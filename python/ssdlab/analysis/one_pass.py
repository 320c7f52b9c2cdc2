"""The spare area that one random pass over a purged drive reveals, and write amplification by theory.

A random pass fills the flash without garbage collection, at the speed of fresh flash, until no fresh flash is
left. From then on each write waits for garbage collection. At the drop in speed the flash is full, and its
spare share is the part beyond the user data.

A pass made for the wrong spare leaves a state that looks steady for one turn of the flash. The drop reveals
the error at once. With more than half of the flash spare, garbage collection finds almost empty blocks and
hardly any drop shows. A pass without a drop is then sufficient: less spare would have shown a drop, and more
spare is no slower.

Source: the valid shares after such a pass are derived in `crates/workload/src/pattern/one_pass.rs`.
"""

from __future__ import annotations

from math import expm1
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from ssdlab.model.units import NS_PER_S

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

# Write amplification of random writes, by theory.
#
# Source: P. Desnoyers, "Analytic Modeling of SSD Write Performance", SYSTOR 2012: uniform random writes, the
# oldest of many superblocks collected first.

_MAX_AGE = 700.0
"""Upper bound of a superblock's age when it is collected, in user capacities written. At that age nothing in
it is valid any more."""


def steady_amplification(spare: float) -> float:
    """Return the write amplification of uniform random writes in steady state.

    A superblock is collected at an age `a`, in user capacities written; the share exp(-a) of it is still
    valid then. The shares over all ages up to `a` make up the user data. In closed form the amplification is
    alpha / (alpha + W0(-alpha exp(-alpha))) with alpha = 1 / (1 - spare).

    Parameters
    ----------
    spare
        Share of the flash without user data, above 0 and below 1.

    >>> round(steady_amplification(1 - 1 / 1.3), 2), round(steady_amplification(0.8), 2)
    (2.36, 1.01)
    """
    low, high = 0.0, _MAX_AGE
    for _ in range(80):
        age = (low + high) / 2
        low, high = (age, high) if -expm1(-age) / age > 1 - spare else (low, age)
    return -1 / expm1(-(low + high) / 2)


PIECES = 1000
"""Pieces of a pass whose speeds are compared: the drop is found to a thousandth of the flash."""
MIN_FALL = 1.2
"""Minimum ratio of fresh speed to steady speed for a drop. Below it flash does not limit the speed, and the
spare cannot be found."""
SPARE_TOLERANCE = 0.08
"""Relative error allowed for the spare share. Write amplification is about inverse to the spare, and the
speed must be right to 10 %."""


def speeds_over_bytes(
    ends_ns: npt.NDArray[np.float64], moved: npt.NDArray[np.float64], piece: float
) -> list[float]:
    """Return the speed of each whole piece of `piece` bytes, in MB/s.

    Parameters
    ----------
    ends_ns, moved
        End of each interval row, and the bytes completed in it.
    """
    written = np.concatenate(([0.0], np.cumsum(moved, dtype=np.float64)))
    times = np.concatenate(([0.0], np.asarray(ends_ns, np.float64)))
    edges = np.arange(int(written[-1] / piece + 1e-9) + 1) * piece
    took_s = np.diff(np.interp(edges, written, times)) / NS_PER_S
    return [float(piece / seconds / 1e6) for seconds in np.maximum(took_s, 1e-9)]


def fall_bytes(
    speeds: Sequence[float], piece: float, steady: float, *, fresh_pieces: int = PIECES // 2
) -> float | None:
    """Return how many bytes were written when the speed fell for good; None if it did not fall.

    Parameters
    ----------
    speeds
        Speed of each piece since the purge, in any one unit.
    piece
        Bytes of a piece.
    steady
        Speed reached at the end, in the same unit.
    fresh_pieces
        The first pieces, which are certain to lie on fresh flash.
    """
    fresh = median(speeds[:fresh_pieces])
    if steady <= 0 or fresh < MIN_FALL * steady:
        return None
    middle = (fresh + steady) / 2
    return (max(at for at, speed in enumerate(speeds) if speed >= middle) + 1) * piece


def spare_of_fall(data_bytes: int, fell_at: float | None) -> float | None:
    """Return the spare share of the flash from the bytes written at the drop; None if that is not known.

    >>> spare_of_fall(875, 1000.0)
    0.125
    """
    return None if not fell_at or fell_at <= data_bytes else 1 - data_bytes / fell_at


def may_show_no_fall(spare: float) -> bool:
    """Return whether, with this spare share, the speed may fall by less than `MIN_FALL`."""
    return steady_amplification(spare) < MIN_FALL


def agrees(asked: float, found: float | None) -> bool:
    return found is not None and abs(found - asked) <= SPARE_TOLERANCE * asked
