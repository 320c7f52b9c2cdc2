"""What random writing costs the flash, by theory.

Source: P. Desnoyers, "Analytic Modeling of SSD Write Performance", SYSTOR 2012: uniform random writes, the
oldest of many superblocks collected first.
"""

from __future__ import annotations

from math import expm1

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
