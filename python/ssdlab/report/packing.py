"""Columns of a time series inside the page: exact, and small enough for one row a second over 24 h.

Values become unsigned 32-bit integers, split into four planes (all low bytes first), compressed with
gzip, in base64. The planes of slowly varying values compress far better than whole integers.
`web/src/unpack.ts` is the way back.
"""

from __future__ import annotations

import base64
import gzip
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

LARGEST = 2**32 - 1


def pack(values: npt.NDArray[Any], finest: float) -> tuple[str, float]:
    """Pack values of 0 and above as whole multiples of a unit, and return text and unit.

    The unit is `finest`, or the smallest power of ten times it with which the greatest value fits into 32
    bits: a latency is kept to the nanosecond up to 4.29 s, and to ten nanoseconds beyond.

    Raises
    ------
    ValueError
        When a value is negative or not a number.
    """
    column = np.asarray(values, dtype=np.float64)
    if column.size and not (np.isfinite(column).all() and column.min() >= 0):
        raise ValueError("a column of a time series holds values that are negative or not numbers")
    unit = finest
    while column.size and column.max() / unit > LARGEST:
        unit *= 10
    planes = np.rint(column / unit).astype("<u4").view(np.uint8).reshape(-1, 4).T
    # A fixed time stamp: equal runs give equal pages.
    return base64.b64encode(gzip.compress(planes.tobytes(), mtime=0)).decode("ascii"), unit


def unpack(packed: str, unit: float) -> npt.NDArray[np.float64]:
    """Give back the values of `pack`, each to the nearest multiple of the unit."""
    planes = np.frombuffer(gzip.decompress(base64.b64decode(packed)), dtype=np.uint8).reshape(4, -1)
    return np.ascontiguousarray(planes.T).view("<u4").reshape(-1) * unit
