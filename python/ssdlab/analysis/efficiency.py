"""Work done for each watt: the throughput of a window divided by the mean power over the same window.

Random I/O is given in thousands of I/Os a second for each watt, sequential and mixed I/O in MB/s for each
watt, as the reviews do. Where nobody metered the drive there is no figure: a guess would be a rating.

Source: AnandTech, enterprise suite of 2018 to 2020, the toggles between efficiency and average power.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Unit = Literal["kIOPS/W", "MB/s/W", "x/W"]


@dataclass(frozen=True)
class Efficiency:
    """Work for each watt."""

    value: float
    unit: Unit


def efficiency(
    pattern: Literal["random", "sequential", "mixed"],
    iops: float | None,
    mb_s: float | None,
    mean_w: float | None,
) -> Efficiency | None:
    """Return the work for each watt of a window; None without a meter, or where it showed nothing.

    >>> efficiency("random", 90_000.0, 368.6, 4.5)
    Efficiency(value=20.0, unit='kIOPS/W')
    >>> efficiency("sequential", 4_000.0, 540.0, None) is None
    True
    """
    if mean_w is None or mean_w <= 0 or iops is None or mb_s is None:
        return None
    if pattern == "random":
        return Efficiency(iops / 1e3 / mean_w, "kIOPS/W")
    return Efficiency(mb_s / mean_w, "MB/s/W")
