"""Collects the samples of a power meter in a background thread during a run.

Samples of a meter faster than `KEPT_HZ` are averaged over bins of equal width. If a step has more than
`MAX_KEPT` bins, their width doubles, which bounds the memory.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import numpy as np

from ssdlab.analysis.energy import PowerTrace
from ssdlab.model.closing import Closing
from ssdlab.model.errors import HostError, LabError
from ssdlab.power.meter import Samples, in_order, silent

if TYPE_CHECKING:
    from ssdlab.analysis.energy import Array
    from ssdlab.power.meter import Meter, MeterInfo


class Bins:
    """Averages samples over bins of equal width; each bin is dated at its middle.

    Empty bins are left out.
    """

    def __init__(self, width_ns: int) -> None:
        self.width_ns = width_ns
        self._number: int | None = None
        self._sums: Array = np.zeros(0)
        self._count = 0

    def put(self, time_ns: Array, watts: Array) -> tuple[Array, Array]:
        """Add samples in time order, and return the bins that they complete.

        Times have shape (n,), power values (n, rails).
        """
        if not len(time_ns):
            return time_ns, watts
        numbers = time_ns // self.width_ns
        begin = np.flatnonzero(np.diff(numbers, prepend=numbers[0] - 1))
        found = numbers[begin]
        sums = np.add.reduceat(watts, begin, axis=0)
        counts = np.diff(np.append(begin, len(numbers)))
        if self._number is not None:
            if self._number == found[0]:
                sums[0] += self._sums
                counts[0] += self._count
            else:
                found = np.concatenate([[self._number], found])
                sums = np.concatenate([self._sums[None, :], sums])
                counts = np.concatenate([[self._count], counts])
        self._number, self._sums, self._count = int(found[-1]), sums[-1], int(counts[-1])
        middles = found[:-1] * self.width_ns + self.width_ns // 2
        return middles, sums[:-1] / counts[:-1, None]


def halved(time_ns: Array, watts: Array) -> tuple[Array, Array]:
    """Merge each pair of bins into one of twice the width; an unpaired last bin is dropped."""
    pairs = len(time_ns) // 2
    times = time_ns[: 2 * pairs].reshape(pairs, 2)
    return times[:, 0] + (times[:, 1] - times[:, 0]) // 2, watts[: 2 * pairs].reshape(pairs, 2, -1).mean(
        axis=1
    )


KEPT_HZ = 100.0
"""Samples kept per second. They resolve load steps and bursts of 100 ms, and take 2 MB an hour per rail."""
MAX_KEPT = 1 << 20
"""Maximum number of samples kept for one step: three hours at 100 Hz."""
_WAIT_S = 0.2
"""How long a read may block before the thread checks whether the run is over."""
SILENT_S = 5.0
"""A meter that sends nothing for this long counts as disconnected."""


def hangs(use: str) -> HostError:
    return silent(use, f"a reading did not finish within {SILENT_S:g} s")


def read_once(meter: Meter) -> Samples:
    """Read a meter once, waiting for at most `SILENT_S`.

    Raises
    ------
    HostError
        The reading does not finish in time.
    """
    found: list[Samples | Exception] = []

    def read() -> None:
        try:
            found.append(meter.read(1.0))
        except Exception as error:  # raised below, in the caller's thread
            found.append(error)

    reading = threading.Thread(target=read, daemon=True)
    reading.start()
    reading.join(SILENT_S)
    if not found:
        raise hangs(meter.info.use)
    if isinstance(found[0], Exception):
        raise found[0]
    return found[0]


class Collector(Closing):
    """Collects a meter's samples in a thread, from construction until `close`.

    Parameters
    ----------
    meter
        An open meter, which `close` closes as well.
    """

    def __init__(self, meter: Meter) -> None:
        self.info: MeterInfo = meter.info
        self.lost = 0
        """Number of lost samples."""
        self.disordered = 0
        """Number of out-of-order samples, which were left out."""
        self.died: LabError | None = None
        """Why it no longer answers."""
        self._meter = meter
        fast = self.info.rate_hz > KEPT_HZ
        self._bins = Bins(round(1e9 / KEPT_HZ)) if fast else None
        self._parts: list[tuple[Array, Array]] = []
        self._count = 0
        self._latest_ns = 0
        self._read_ns: int | None = None
        self._heard_ns = time.monotonic_ns()
        self._news = threading.Condition()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._work, name="meter", daemon=True)
        self._thread.start()

    @property
    def period_ns(self) -> int:
        """Time between two kept samples, before any widening of the bins."""
        return round(1e9 / min(self.info.rate_hz, KEPT_HZ))

    @property
    def drift_ppm(self) -> float:
        return self._meter.drift_ppm

    def trace(self, start_ns: int, end_ns: int) -> PowerTrace:
        """Return the samples between two times of CLOCK_MONOTONIC.

        The call waits for a sample after `end_ns`, for at most two periods and `_WAIT_S`.
        """
        limit = time.monotonic() + 2 * self.period_ns / 1e9 + _WAIT_S
        with self._news:
            while self._latest_ns < end_ns and self.died is None and not self._ended.is_set():
                if not self._news.wait(max(limit - time.monotonic(), 0)):
                    break
            times, watts = self._all()
        return PowerTrace.of_points(times, watts).window(start_ns, end_ns)

    def forget(self, before_ns: int) -> None:
        """Discard samples before a time, except the last two of them."""
        with self._news:
            times, watts = self._all()
            first = max(int(np.searchsorted(times, before_ns)) - 2, 0)
            self._parts = [(times[first:], watts[first:])]
            self._count = len(times) - first

    def close(self) -> None:
        """Stop the thread and close the meter; an error is kept in `died`, not raised."""
        self._ended.set()
        self._thread.join(SILENT_S)
        if self._thread.is_alive():  # a meter that hangs in a reading cannot be closed either
            self.died = self.died or hangs(self.info.use)
            return
        try:
            self._meter.close()
        except LabError as error:
            self.died = self.died or error

    def _all(self) -> tuple[Array, Array]:
        if not self._parts:
            return np.empty(0, dtype=np.int64), np.empty((0, len(self.info.rails)))
        if len(self._parts) > 1:
            times, watts = zip(*self._parts, strict=True)
            self._parts = [(np.concatenate(times), np.concatenate(watts))]
        return self._parts[0]

    def _work(self) -> None:
        try:
            if self.info.streamed:
                self._follow()
            else:
                self._poll()
        except LabError as error:
            with self._news:
                self.died = error
                self._news.notify_all()

    def _poll(self) -> None:
        """Read at a fixed rate; readings missed because of a late one are not made up for."""
        period = 1 / self.info.rate_hz
        due = time.monotonic()
        while not self._ended.wait(max(due - time.monotonic(), 0)):
            self._take(self._meter.read(period))
            due = max(due + period, time.monotonic())

    def _follow(self) -> None:
        while not self._ended.is_set():
            samples = self._meter.read(_WAIT_S)
            if len(samples.time_ns):
                self._heard_ns = time.monotonic_ns()
            elif time.monotonic_ns() - self._heard_ns > SILENT_S * 1e9:
                raise silent(self.info.use, f"it sent nothing for {SILENT_S:g} s")
            self._take(samples)

    def _take(self, samples: Samples) -> None:
        times, watts = samples.time_ns, samples.watts
        with self._news:
            self.lost += samples.lost
            self.disordered += samples.disordered
            times, watts = self._following(times, watts)
            if self._bins is not None:
                times, watts = self._bins.put(times, watts)
            if not len(times):
                return
            self._parts.append((times, watts))
            self._count += len(times)
            self._latest_ns = int(times[-1])
            if self._count > MAX_KEPT:
                self._widen()
            self._news.notify_all()

    def _following(self, times: Array, watts: Array) -> tuple[Array, Array]:
        """Leave out samples that are not later than an earlier sample.

        Only polled meters count them as disordered. A stream's clock offset shrinks when a shorter transfer
        delay is found, so its next samples may get earlier times.
        """
        if not len(times):
            return times, watts
        kept = in_order(times, self._read_ns)
        if not self.info.streamed:
            self.disordered += len(kept) - int(kept.sum())
        self._read_ns = max(int(times.max()), self._read_ns or 0)
        return (times, watts) if kept.all() else (times[kept], watts[kept])

    def _widen(self) -> None:
        """Double the width of the bins, for kept samples and for later ones."""
        times, watts = self._all()
        width_ns = self._bins.width_ns if self._bins is not None else int(np.median(np.diff(times)))
        self._bins = Bins(2 * width_ns)
        self._parts = [halved(times, watts)]
        self._count = len(self._parts[0][0])
