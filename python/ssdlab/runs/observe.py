"""Observes during a measurement: the host, the drive's telemetry, and pauses of ssdlab.

The drive is polled once a second, first after one second, and at the end of the measurement. Nothing is sent
during idle steps or between steps. Samples and readings give the marks of a step: thermal throttling, media
errors, retraining of the link, critical warnings and worn-out flash.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

from ssdlab.model.closing import Closing
from ssdlab.model.host_load import HostContext
from ssdlab.model.summary import MIN_PAUSE_S, PERIOD_S, Gap, Pause, pauses_in
from ssdlab.model.telemetry import DriveHealth, Mark, Sample, StepTelemetry, changes_between

if TYPE_CHECKING:
    import ssdlab._core as _core
    from ssdlab.drives.base import Drive
    from ssdlab.drives.telemetry.sampler import Watch
    from ssdlab.model.host_load import Conditions
    from ssdlab.model.summary import Summary


class Witness:
    """Polls the telemetry of one drive; the changes of a step count from the last reading before it.

    Parameters
    ----------
    drive
        The open drive; its first reading is taken at once.
    """

    def __init__(self, drive: Drive) -> None:
        self._telemetry = drive.telemetry
        self._last, self._last_ns = self._telemetry.reading(), self._telemetry.clock_ns()

    def follow(self, last: StepTelemetry) -> None:
        """Count the next changes from the end of a step of an earlier session."""
        self._last, self._last_ns = last.health or self._last, last.ended_ns

    @contextmanager
    def watching(self, keep: Callable[[Sample], None] | None = None) -> Iterator[Watched]:
        """Watch a measurement during the block; the caller passes the measurement to `ended`."""
        began_ns = self._telemetry.clock_ns()
        if began_ns < self._last_ns:  # a simulated drive returned to an earlier state, including its counters
            self._last = self._telemetry.reading()
        watched = Watched(self, self._telemetry.begin(keep), began_ns)
        try:
            yield watched
        finally:
            watched.stop()

    def _step(self, watch: Watch, began_ns: int, measured: object) -> tuple[StepTelemetry, Sequence[Sample]]:
        samples, seen = watch.end(measured)
        before, after = self._last, self._telemetry.reading()
        ended_ns = self._telemetry.clock_ns()
        self._last, self._last_ns = after or before, ended_ns
        length_ns = max([ended_ns - began_ns, *(sample.at_ns for sample in samples)])
        marks = sorted([*marks_of(samples, before, after, length_ns), *seen], key=lambda mark: mark.at_ns)
        temperatures = [sample.temperature_c for sample in samples if sample.temperature_c is not None]
        telemetry = StepTelemetry(
            sources=watch.sources,
            samples=len(samples),
            began_ns=began_ns,
            ended_ns=ended_ns,
            hottest_c=max(temperatures, default=None),
            health=after,
            changes=changes_between(before, after),
            marks=tuple(marks),
        )
        return telemetry, samples


class Watched:
    """A measurement during which a drive's telemetry is polled."""

    def __init__(self, witness: Witness, watch: Watch, began_ns: int) -> None:
        self._witness, self._watch, self._began_ns = witness, watch, began_ns
        self._running = True
        self.samples: Sequence[Sample] = ()
        self.telemetry: StepTelemetry | None = None

    def ended(self, measured: object) -> StepTelemetry | None:
        """Return the drive's telemetry during the measurement; None if it reports nothing."""
        self._running = False
        telemetry, self.samples = self._witness._step(self._watch, self._began_ns, measured)
        self.telemetry = telemetry if telemetry.sources else None
        return self.telemetry

    def stop(self) -> None:
        """Stop polling, if the measurement did not end."""
        if self._running:
            self._running = False
            self._watch.end(None)


class Heartbeat(Closing):
    """A thread that detects when ssdlab is paused, until it is closed.

    Parameters
    ----------
    beats
        False if pauses do not matter, as in virtual time.

    Raises
    ------
    HostError
        The thread cannot be started.
    """

    def __init__(self, *, beats: bool = True) -> None:
        import ssdlab._core as _core

        self._native = _core.Heartbeat(PERIOD_S, MIN_PAUSE_S) if beats else None

    def pauses(self) -> tuple[Pause, ...]:
        """Return the pauses since the last call."""
        return () if self._native is None else pauses_in(Gap(*each) for each in self._native.gaps())

    def close(self) -> None:
        if self._native is not None:
            self._native.close()


_DEVICE_READING_S = 0.5
"""Minimum run time for the mean I/Os in flight: the kernel adds a request's time only when it completes."""


class Observation:
    """Reads the counters of host and device on creation, and again after the measurement.

    Parameters
    ----------
    drive
        The drive to measure.
    allow_unwritten
        Whether the drive was opened with this permission.
    written_unknown
        True if nobody knows whether the blocks to read were ever written.
    """

    def __init__(self, drive: Drive, *, allow_unwritten: bool = False, written_unknown: bool = False) -> None:
        from ssdlab.host.cpus import read_cpu_times

        self._drive = drive
        self._allow_unwritten, self._written_unknown = allow_unwritten, written_unknown
        self._conditions = drive.conditions()
        self._device = drive.counters()
        self._left = _left_on(drive, self._conditions)
        self._cpu = read_cpu_times()

    def around(self, summary: Summary) -> HostContext:
        """Return the host's state during the measurement that just ended, for its summary."""
        from ssdlab.host.cpus import busy_share, governors, read_cpu_times

        if self._drive.capabilities.virtual_time:
            # In virtual time the host's load affects how long a run takes, but not its figures.
            return HostContext(allow_unwritten=self._allow_unwritten, cores=len(os.sched_getaffinity(0)))
        busy = busy_share(self._cpu, read_cpu_times())
        device = self._drive.counters()
        return HostContext(
            conditions=self._conditions,
            is_file=self._drive.capabilities.on_file_system,
            allow_unwritten=self._allow_unwritten,
            written_unknown=self._written_unknown,
            cores=len(os.sched_getaffinity(0)),
            cpu_busy_share=busy,
            governors=governors(),
            device_in_flight=self._in_flight(device, float(summary.total_s or 0)),
            build_profile=None if summary.build is None else summary.build.profile,
            left=self._left,
            unseen=self._drive.unseen,
        )

    def _in_flight(self, later: Any, total_s: float) -> float | None:  # noqa: ANN401 - IoCounters or None
        # Not divided by the time between readings, which includes starting threads and freeing memory.
        if self._device is None or later is None or total_s < _DEVICE_READING_S:
            return None
        return float(later.in_flight_ns - self._device.in_flight_ns) / (total_s * 1e9)


def _left_on(drive: Drive, conditions: Conditions | None) -> tuple[tuple[str, str], ...]:
    """Return the settings that crashed runs left on the disk of a real drive or file, each with advice."""
    from ssdlab.host.user_folders import ledger_paths

    if conditions is None or not ledger_paths():
        return ()
    from ssdlab.runs.conditions.leftovers import describe_leftovers, leftovers

    return describe_leftovers(*leftovers(conditions.device))


class Watcher(Protocol):
    def phase(self, name: str, *, duration_ns: int | None, size_bytes: int | None) -> None:
        """Report the start of a phase, with its length or bytes if known."""

    def tick(self, snapshot: _core.Snapshot) -> None:
        """Report progress; called about every 50 ms."""


class Silent:
    """A watcher that ignores all reports."""

    def phase(self, name: str, *, duration_ns: int | None, size_bytes: int | None) -> None: ...

    def tick(self, snapshot: _core.Snapshot) -> None: ...


_WORN_PCT = 100
"""Percentage of the rated endurance from which a drive counts as worn out."""


def marks_of(
    samples: Sequence[Sample], before: DriveHealth | None, after: DriveHealth | None, end_ns: int
) -> tuple[Mark, ...]:
    """Return the marks of one step in time order; pure.

    A sample shows thermal throttling if it has a power limit, or if a throttling counter has grown since the
    sample before.

    Parameters
    ----------
    samples
        Samples of the step, in time order.
    before, after
        Health readings at the end of the previous step and of this step.
    end_ns
        End of the step, relative to its start.
    """
    first = _of_reading(before)
    found = [
        *_throttled(first, samples),
        *_errors(first, samples, after, end_ns),
        *_link_errors(before, after, end_ns),
        *_flags(before, after, end_ns),
    ]
    return tuple(sorted(found, key=lambda mark: mark.at_ns))


def _of_reading(before: DriveHealth | None) -> Sample:
    """Return a reading as a sample at time 0, before the first sample of the step."""
    if before is None:
        return Sample(0)
    return Sample(
        0,
        throttle_events=before.throttle_events,
        throttled_s=before.throttled_s,
        media_errors=before.media_errors,
        link_retrains=before.link_retrains,
    )


def _grown(name: str, then: Sample, now: Sample) -> float:
    old, new = getattr(then, name), getattr(now, name)
    return new - old if old is not None and new is not None and new > old else 0


def _throttled(first: Sample, samples: Sequence[Sample]) -> Iterator[Mark]:
    """Yield a mark for each period of thermal throttling, with the temperature at its start."""
    start: Sample | None = None
    began_ns = 0
    before = first
    for sample in samples:
        hot = (
            sample.limit_w is not None
            or _grown("throttle_events", before, sample) > 0
            or _grown("throttled_s", before, sample) > 0
        )
        if hot and start is None:
            start, began_ns = sample, before.at_ns
        elif not hot and start is not None:
            yield _stretch(start, began_ns, before.at_ns)
            start = None
        before = sample
    if start is not None:
        yield _stretch(start, began_ns, before.at_ns)


def _stretch(start: Sample, began_ns: int, until_ns: int) -> Mark:
    heat = start.temperature_c
    where = "" if heat is None else f" at {heat:.0f} °C"
    limit = "" if start.limit_w is None else f", limited to {start.limit_w:g} W"
    return Mark(
        code="throttled",
        at_ns=began_ns,
        until_ns=until_ns,
        what=f"thermal throttling{where}{limit}",
        temperature_c=heat,
    )


def _errors(
    first: Sample, samples: Sequence[Sample], after: DriveHealth | None, end_ns: int
) -> Iterator[Mark]:
    """Yield a mark for each growth of an error counter, at the sample that shows it."""
    last = _of_reading(after)
    ended = Sample(end_ns, media_errors=last.media_errors, link_retrains=last.link_retrains)
    for then, now in pairwise(_counted([first, *samples, ended])):
        if errors := _grown("media_errors", then, now):
            noun = "error" if errors == 1 else "errors"
            yield Mark(code="media-errors", at_ns=now.at_ns, what=f"{errors:g} media {noun}")
        if retrains := _grown("link_retrains", then, now):
            how = "once" if retrains == 1 else f"{retrains:g} times"
            yield Mark(code="link-changed", at_ns=now.at_ns, what=f"the link retrained {how}")


def _counted(samples: Sequence[Sample]) -> list[Sample]:
    """Return the samples with error counters, so that growth across samples without them is seen."""
    return [each for each in samples if each.media_errors is not None or each.link_retrains is not None]


def _link_errors(before: DriveHealth | None, after: DriveHealth | None, end_ns: int) -> Iterator[Mark]:
    grown = changes_between(before, after).get("link_errors", 0)
    if grown > 0:
        noun = "link error" if grown == 1 else "link errors"
        yield Mark(code="link-errors", at_ns=end_ns, what=f"{grown:g} {noun} counted by the drive")


def _flags(before: DriveHealth | None, after: DriveHealth | None, end_ns: int) -> Iterator[Mark]:
    if after is None:
        return
    if after.failing:
        since = "" if before is None or before.failing else " since this step"
        yield Mark(
            code="drive-failing",
            at_ns=end_ns,
            what=f"the drive raises a critical warning{since}: {'; '.join(after.failing)}",
        )
    if after.used_pct is not None and after.used_pct >= _WORN_PCT:
        yield Mark(code="worn-out", at_ns=end_ns, what=f"{after.used_pct} % of the rated endurance is used")
