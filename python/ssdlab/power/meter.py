"""The interface of power meters: description, samples on the host's clock, and closing.

`MeterOfAPackage` wraps a meter of another package, and names that package when the meter fails or gives
invalid samples.
"""

from __future__ import annotations

import datetime
import time
import traceback
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self

import numpy as np

from ssdlab.model.closing import Closing
from ssdlab.model.errors import TRACEBACK_VARIABLE, HostError, LabError, Refused, unknown
from ssdlab.model.fitting import misfit

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.metadata import EntryPoint

    from pydantic import JsonValue

    from ssdlab.analysis.energy import Array
    from ssdlab.model.meter_text import MeterText


MAX_DRIFT_PPM = 500.0
"""Maximum clock drift, five times that of a cheap quartz. Beyond it, the sample rate is unreliable too."""
_EVER = -(1 << 62)
POLL_HZ = 10.0
"""Readings per second of a polled meter. They take at most half a per cent of a core, and suffice for windows
of 1 s."""


@dataclass(frozen=True)
class MeterInfo:
    """The description of a power meter.

    Attributes
    ----------
    use
        Kind and place, as in ``--meter``.
    name
        Name of the instrument, such as maker and model.
    rails
        Measured supplies of the drive; the drive's power is their sum.
    rate_hz
        Samples per second.
    streamed
        Whether the meter streams samples; otherwise it is polled.
    accuracy, offset_w
        Error as a share of the reading, plus a constant error in W; None: unknown.
    calibrated
        Day of the last calibration; None: unknown.
    bound_ns
        Maximum offset between the meter's clock and the run's.
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
        """Return the description with the calibration date, accuracy and offset that the user states.

        Raises
        ------
        Refused
            The calibration date is in the future.
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
        """Return the error of a mean power, in W; None: unknown."""
        if self.accuracy is None:
            return None
        return self.accuracy * mean_w + (self.offset_w or 0.0)

    def as_dict(self) -> dict[str, JsonValue]:
        """Return the description as a manifest stores it (`environment.meter`)."""
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
    """Samples from one read: times in ns of CLOCK_MONOTONIC, shape (n,), and W, shape (n, rails)."""

    time_ns: Array
    watts: Array
    lost: int = 0
    """Number of samples that the meter or its connection dropped since the previous read."""
    disordered: int = 0
    """Number of samples left out because, by the meter's clock, they were not later than an earlier one."""


def in_order(time_ns: Array, after_ns: int | None) -> Array:
    """Return a mask of the times that are later than `after_ns` and all times before them; shape (n,)."""
    before = np.maximum.accumulate(np.concatenate([[_EVER if after_ns is None else after_ns], time_ns]))
    found: Array = time_ns > before[:-1]
    return found


class Meter(Protocol):
    """An open power meter. Its calls raise `HostError` when it no longer answers."""

    @property
    def info(self) -> MeterInfo: ...

    @property
    def drift_ppm(self) -> float:
        """Drift of the meter's clock against the host's so far; times of samples are already corrected."""

    def read(self, timeout_s: float) -> Samples:
        """Return the available samples; a streaming meter waits for them for at most `timeout_s`."""

    def close(self) -> None:
        """Restore the meter's settings and close it."""


class Polled(Closing):
    """Base class of polled meters. The host dates each reading, so there is no clock drift."""

    drift_ppm = 0.0
    _info: MeterInfo

    @property
    def info(self) -> MeterInfo:
        return self._info

    def describe(self, text: MeterText, name: str, rails: tuple[str, ...], rate_hz: float) -> None:
        """Store the meter's description; the time error of a reading is at most one interval."""
        bound_ns = round(1e9 / rate_hz)
        info = MeterInfo(use=text.use, name=name, rails=rails, rate_hz=rate_hz, bound_ns=bound_ns)
        self._info = info.as_described(text)


def chosen_rails(text: MeterText, offered: tuple[str, ...]) -> tuple[int, ...]:
    """Return the indexes of the rails that the user chose among those of a meter; by default of all.

    Raises
    ------
    UsageError
        The meter lacks a chosen rail.
    Refused
        The meter has no rails.
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
    """Return the error for a meter that does not answer."""
    return HostError(
        f"the meter {use} does not answer: {why}",
        "check that it is on and connected; ssdlab meters lists the meters found",
        meter=use,
    )


_OURS = Path(__file__).parents[1]
_OFF_S = 60.0
"""Maximum offset of a new sample from CLOCK_MONOTONIC. Beyond it, the meter used another clock."""


class MeterOfAPackage(Closing):
    """An open meter from another package's entry point in the group `ssdlab.meters`.

    Raises
    ------
    HostError
        The package fails, on opening or in any call. A `LabError` of the package passes unchanged.
    """

    def __init__(self, entry: EntryPoint, package: str, text: MeterText) -> None:
        self._noun, self._package = f"meter {text.kind}", package
        with self._naming():
            self._meter: Meter = entry.load()(text)
            try:
                self.info = self._checked(self._meter.info)
            except BaseException:
                self._meter.close()
                raise

    @property
    def drift_ppm(self) -> float:
        with self._naming():
            return float(self._meter.drift_ppm)

    def read(self, timeout_s: float) -> Samples:
        """Return the available samples, after checking their types, shapes and times."""
        with self._naming():
            samples = self._meter.read(timeout_s)
            if not isinstance(samples, Samples):
                raise TypeError(f"read gave a {type(samples).__name__}, not Samples")
            times, watts = np.asarray(samples.time_ns), np.asarray(samples.watts, dtype=np.float64)
            if times.dtype != np.int64 or times.ndim != 1:
                raise TypeError(f"time_ns has shape {times.shape} of {times.dtype}, not (n,) of int64")
            if watts.shape != (len(times), len(self.info.rails)):
                raise TypeError(f"watts has shape {watts.shape}, not ({len(times)}, {len(self.info.rails)})")
            if not np.isfinite(watts).all():
                raise ValueError("watts has values that are not finite")
            if len(times) and abs(off_s := (int(times[-1]) - time.monotonic_ns()) / 1e9) > _OFF_S:
                raise ValueError(f"time_ns is {off_s:.3g} s off CLOCK_MONOTONIC (time.monotonic_ns)")
            return samples._replace(time_ns=times, watts=watts)

    def close(self) -> None:
        with self._naming():
            self._meter.close()

    def _checked(self, info: object) -> MeterInfo:
        if not isinstance(info, MeterInfo):
            raise TypeError(f"info is a {type(info).__name__}, not a MeterInfo")
        if not isinstance(info.rails, tuple) or not all(isinstance(rail, str) for rail in info.rails):
            raise TypeError(f"rails is {info.rails!r}, not a tuple of names")
        if not info.rails or len(set(info.rails)) != len(info.rails):
            raise ValueError(f"rails is {info.rails!r}: each rail needs a unique name")
        if fault := misfit(info.rate_hz, float, "rate_hz"):
            raise TypeError(fault)
        if info.rate_hz <= 0:
            raise ValueError(f"rate_hz is {info.rate_hz}, not above 0")
        return info

    @contextmanager
    def _naming(self) -> Iterator[None]:
        try:
            yield
        except (LabError, MemoryError):
            raise
        except (Exception, SystemExit) as error:
            frames = traceback.extract_tb(error.__traceback__)
            theirs = [each for each in frames if not Path(each.filename).is_relative_to(_OURS)]
            at = f" at {theirs[-1].filename}:{theirs[-1].lineno}" if theirs else ""
            line = str(error).strip().partition("\n")[0]
            raise HostError(
                f"{self._noun} of package {self._package} failed{at}: {type(error).__name__}: {line}",
                f"report it to the makers of that package, with the output under {TRACEBACK_VARIABLE}=1",
                reason="plugin",
                package=self._package,
            ) from error
