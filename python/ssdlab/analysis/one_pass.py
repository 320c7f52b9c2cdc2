"""What one random pass over a purged drive shows of its spare, and what random writing costs by theory.

A pass fills the flash without garbage collection, at the speed of fresh flash until none is left; then each
write waits for collection. At the drop, the flash is full: its spare share is the part beyond the user data.
A pass for the wrong spare leaves a state that looks steady for one turn of the flash; the drop reveals it at
once. With over half of the flash spare, collection finds almost empty blocks, and hardly any drop shows. That
is sufficient then: less spare would have shown a drop within the pass, and more is no slower.

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

# What random writing costs the flash, by theory.
#
# Source: P. Desnoyers, "Analytic Modeling of SSD Write Performance", SYSTOR 2012: uniform random writes, the
# oldest of many superblocks collected first.

_MAX_AGE = 700.0
"""Of a superblock when it is collected, in user capacities written: nothing in it is valid long before."""


def steady_amplification(spare: float) -> float:
    """Return how often uniform random writing writes each unit to the flash, once it is steady.

    A superblock is collected at an age `a`, in user capacities written, and the share exp(-a) of it is still
    valid then; over all ages up to `a` the shares make up the user data. In closed form it is
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
"""Of a pass, the pieces whose speeds are looked at: the fall is found to a thousandth of the flash."""
MIN_FALL = 1.2
"""Fresh speed over steady speed, from which on the fall stands out: below that the flash is not the limit,
and the spare cannot be told."""
SPARE_TOLERANCE = 0.08
"""Of the spare share: write amplification goes about inversely with it, and the rate is to be within 10 %."""


def speeds_over_bytes(
    ends_ns: npt.NDArray[np.float64], moved: npt.NDArray[np.float64], piece: float
) -> list[float]:
    """Return the speed of each whole piece of so many bytes, in MB/s.

    Parameters
    ----------
    ends_ns, moved
        End of each interval row, and the bytes done in it.
    """
    written = np.concatenate(([0.0], np.cumsum(moved, dtype=np.float64)))
    times = np.concatenate(([0.0], np.asarray(ends_ns, np.float64)))
    edges = np.arange(int(written[-1] / piece + 1e-9) + 1) * piece
    took_s = np.diff(np.interp(edges, written, times)) / NS_PER_S
    return [float(piece / seconds / 1e6) for seconds in np.maximum(took_s, 1e-9)]


def fall_bytes(
    speeds: Sequence[float], piece: float, steady: float, *, fresh_pieces: int = PIECES // 2
) -> float | None:
    """Return how much had been written where the speed fell for good; None where it did not fall.

    Parameters
    ----------
    speeds
        Of each piece since the purge.
    steady
        Speed that was reached in the end.
    fresh_pieces
        Of the first so many it is certain that they went to fresh flash.
    """
    fresh = median(speeds[:fresh_pieces])
    if steady <= 0 or fresh < MIN_FALL * steady:
        return None
    middle = (fresh + steady) / 2
    return (max(at for at, speed in enumerate(speeds) if speed >= middle) + 1) * piece


def spare_of_fall(data_bytes: int, fell_at: float | None) -> float | None:
    """Return the share of the flash that is spare, by where the speed fell; None where that is not known.

    >>> spare_of_fall(875, 1000.0)
    0.125
    """
    return None if not fell_at or fell_at <= data_bytes else 1 - data_bytes / fell_at


def may_show_no_fall(spare: float) -> bool:
    """Return whether with so much spare the speed need not fall as far as stands out."""
    return steady_amplification(spare) < MIN_FALL


def agrees(asked: float, found: float | None) -> bool:
    """Return whether the spare found is the one that the pass was made for."""
    return found is not None and abs(found - asked) <= SPARE_TOLERANCE * asked
