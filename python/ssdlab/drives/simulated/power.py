"""What a drive drew in a stretch of time, by whatever meter."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Power:
    """Power over a stretch of time.

    Attributes
    ----------
    mean_w
        Mean power in W.
    energy_j
        Energy in J.
    source
        Who metered it; ``model`` is a simulated drive's own account.
    """

    mean_w: float
    energy_j: float
    source: str
