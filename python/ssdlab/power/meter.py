"""A power meter as a run sees it: it describes itself, gives samples on the host's clock, and is closed."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self

import numpy as np

from ssdlab.model.closing import Closing
from ssdlab.model.errors import HostError, Refused, unknown

if TYPE_CHECKING:
    from pydantic import JsonValue

    from ssdlab.analysis.energy import Array
    from ssdlab.model.meter_text import MeterText

MAX_DRIFT_PPM = 500.0
"""Five times what a cheap quartz does: such a clock does not count its samples right either."""
_EVER = -(1 << 62)
POLL_HZ = 10.0
"""Readings a second of what has to be asked: half a per cent of a core at most, and windows of 1 s count."""


@dataclass(frozen=True)
class MeterInfo:
    """What a meter is.

    Attributes
    ----------
    use
        Kind and place, as in ``--meter``.
    name
        What it calls itself.
    rails
        Supplies that it meters and that feed the drive; their sum is the drive's power.
    rate_hz
        Samples a second.
    streamed
        It sends samples by itself; else it is asked for each.
    accuracy, offset_w
        Error as a share of the reading, and beside it in W; None is not known.
    calibrated
        Day of the last calibration; None is not known.
    bound_ns
        How far its clock may be off the run's.
    """

    use: str
    name: str
    rails: tuple[str, ...]
    rate_hz: float
    streamed: bool = False
    accuracy: float | None = None
    offset_w: float | None = None
    calibrated: datetime.date | None = None
    bound_ns: int = 0

    def as_described(self, text: MeterText, today: datetime.date | None = None) -> Self:
        """Return it with what its owner says of it.

        Raises
        ------
        Refused
            It was calibrated in the future.
        """
        calibrated = text.calibrated or self.calibrated
        if calibrated is not None and calibrated > (today or datetime.date.today()):
            raise Refused(
                f"{self.use} has the calibration date {calibrated}, which is in the future",
                "correct the date, or the clock of this host",
                calibrated=str(calibrated),
            )
        return replace(
            self,
            calibrated=calibrated,
            accuracy=self.accuracy if text.accuracy is None else text.accuracy,
            offset_w=self.offset_w if text.offset is None else text.offset,
        )

    def error_w(self, mean_w: float) -> float | None:
        """Return the meter's error of a mean, in W; None where its accuracy is not known."""
        if self.accuracy is None:
            return None
        return self.accuracy * mean_w + (self.offset_w or 0.0)

    def as_dict(self) -> dict[str, JsonValue]:
        """Return it as a manifest keeps it."""
        return {
            "use": self.use,
            "name": self.name,
            "rails": list(self.rails),
            "rate_hz": self.rate_hz,
            "accuracy": self.accuracy,
            "offset_w": self.offset_w,
            "calibrated": None if self.calibrated is None else str(self.calibrated),
            "clock_bound_s": self.bound_ns / 1e9,
        }


class Samples(NamedTuple):
    """Samples that came together: times in ns of CLOCK_MONOTONIC, shape (n,), and W, shape (n, rails)."""

    time_ns: Array
    watts: Array
    lost: int = 0
    """How many the meter, or the way to it, has dropped since the last ones."""
    disordered: int = 0
    """How many were no later than one before them by the meter's own clock, and were left out."""


def in_order(time_ns: Array, after_ns: int | None) -> Array:
    """Return which of some times, shape (n,), are later than a given one and than all of them before."""
    before = np.maximum.accumulate(np.concatenate([[_EVER if after_ns is None else after_ns], time_ns]))
    found: Array = time_ns > before[:-1]
    return found


class Meter(Protocol):
    """A meter that is open. What it raises is a `HostError`: it does not answer any more."""

    @property
    def info(self) -> MeterInfo:
        """What it is."""

    @property
    def drift_ppm(self) -> float:
        """How fast its clock runs away from the host's, so far; its samples are dated with that taken out."""

    def read(self, timeout_s: float) -> Samples:
        """Return what it says now; one that streams waits for samples for that time at most."""

    def close(self) -> None:
        """Leave it as it was."""


class Polled(Closing):
    """A meter that is asked for each reading: the host dates it, so that no clock runs away."""

    drift_ppm = 0.0
    _info: MeterInfo

    @property
    def info(self) -> MeterInfo:
        """What it is."""
        return self._info

    def describe(self, text: MeterText, name: str, rails: tuple[str, ...], rate_hz: float) -> None:
        """Keep what it is: a reading is off by the time between two at most."""
        bound_ns = round(1e9 / rate_hz)
        info = MeterInfo(use=text.use, name=name, rails=rails, rate_hz=rate_hz, bound_ns=bound_ns)
        self._info = info.as_described(text)


def chosen_rails(text: MeterText, offered: tuple[str, ...]) -> tuple[int, ...]:
    """Return the places of the rails that feed the drive among those that a meter offers.

    Raises
    ------
    UsageError
        It has no rail of that name.
    Refused
        It meters nothing.
    """
    if not offered:
        raise Refused(
            f"{text.use} measures no rail: there is no drive power to add up", "choose another meter"
        )
    for name in text.rails:
        if name not in offered:
            raise unknown(f"rail of {text.use}", name, offered)
    return tuple(at for at, name in enumerate(offered) if not text.rails or name in text.rails)


def silent(use: str, why: str) -> HostError:
    """Return the error of a meter that does not answer."""
    return HostError(
        f"the meter {use} does not answer: {why}",
        "check that it is on and connected; ssdlab meters lists the meters found",
        meter=use,
    )
