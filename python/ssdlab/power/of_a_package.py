"""A meter from another package: its failures and invalid samples are reported as that package's."""

from __future__ import annotations

import time
import traceback
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ssdlab.model.closing import Closing
from ssdlab.model.errors import TRACEBACK_VARIABLE, HostError, LabError
from ssdlab.model.fitting import misfit
from ssdlab.power.meter import Meter, MeterInfo, Samples

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.metadata import EntryPoint

    from ssdlab.model.meter_text import MeterText

_OURS = Path(__file__).parents[1]
_OFF_S = 60.0
"""A clock so far off is another one: samples that late would be of a step before."""


class MeterOfAPackage(Closing):
    """The meter behind an entry point of the group `ssdlab.meters`, open.

    Raises
    ------
    HostError
        The package fails, here or in any call; its own `LabError` passes unchanged.
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
        """Drift of its clock against the host's, so far."""
        with self._naming():
            return float(self._meter.drift_ppm)

    def read(self, timeout_s: float) -> Samples:
        """Return its present samples."""
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
        """Leave it as it was."""
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
