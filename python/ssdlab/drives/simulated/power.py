"""What a drive drew in a stretch of time, by whatever meter, and what its heat did to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self


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


@dataclass(frozen=True, slots=True)
class Heat:
    """Limit and heat of a drive around a measurement.

    Attributes
    ----------
    power_cap_w
        Limit in force at the end, in W; None: there is none.
    temperature_c
        At the end, in degrees Celsius; None: it is not modelled.
    throttle_events
        How often a throttle point came into force during the measurement.
    throttled_to_w
        The least limit that heat was seen to set, at the beginning or the end; None: neither time.
    """

    power_cap_w: float | None
    temperature_c: float | None
    throttle_events: int
    throttled_to_w: float | None

    @classmethod
    def between(cls, before: Mapping[str, Any], after: Mapping[str, Any], asked_w: float | None) -> Self:
        """Return what two states of power (`_core.SimulatedDrive.power_state`) show.

        `asked_w` is the limit that the drive was given: a lower one is the work of heat.
        """
        limits = (before["power_cap_w"], after["power_cap_w"])
        hot = [each for each in limits if each is not None and (asked_w is None or each < asked_w)]
        return cls(
            power_cap_w=after["power_cap_w"],
            temperature_c=after["temperature_c"],
            throttle_events=after["throttle_events"] - before["throttle_events"],
            throttled_to_w=min(hot, default=None),
        )
