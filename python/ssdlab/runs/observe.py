"""Observes during a measurement: the host, the drive's telemetry, and pauses of ssdlab.

Nothing is sent in idle steps, nor before the next step has started: the drive is polled once a second, from
one second on, and at the end. From samples and readings follow the marks of a step: heat, errors, retraining
of the link, critical warnings and worn-out flash.
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
    """Polls one drive; changes of the next step count from the last reply.

    Parameters
    ----------
    drive
        Held; polled at once, before anything is measured.
    """

    def __init__(self, drive: Drive) -> None:
        self._telemetry = drive.telemetry
        self._last, self._last_ns = self._telemetry.reading(), self._telemetry.clock_ns()

    def follow(self, last: StepTelemetry) -> None:
        """Count changes from the end of an earlier session's step."""
        self._last, self._last_ns = last.health or self._last, last.ended_ns

    @contextmanager
    def watching(self, keep: Callable[[Sample], None] | None = None) -> Iterator[Watched]:
        """Watch the measurement in the block, which must call `ended` with it."""
        began_ns = self._telemetry.clock_ns()
        if began_ns < self._last_ns:  # a simulated drive that was brought back to a state, counters and all
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
    """One measurement under watch."""

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
        """Stop watching, if the measurement did not end."""
        if self._running:
            self._running = False
            self._watch.end(None)


class Heartbeat(Closing):
    """A thread that detects pauses from now on; closed with the run.

    Parameters
    ----------
    beats
        False if pauses do not matter, as in virtual time.

    Raises
    ------
    HostError
        No thread can be started.
    """

    def __init__(self, *, beats: bool = True) -> None:
        import ssdlab._core as _core

        self._native = _core.Heartbeat(PERIOD_S, MIN_PAUSE_S) if beats else None

    def pauses(self) -> tuple[Pause, ...]:
        """Return the pauses since the last call."""
        return () if self._native is None else pauses_in(Gap(*each) for each in self._native.gaps())

    def close(self) -> None:
        """Stop detecting pauses."""
        if self._native is not None:
            self._native.close()


_DEVICE_READING_S = 0.5
"""The kernel adds a request's time when it completes: over a shorter run the mean in flight is too rough."""


class Observation:
    """Reads the counters of host and device on creation, and again after the measurement.

    Parameters
    ----------
    drive
        The drive to measure.
    allow_unwritten
        As it was opened.
    written_unknown
        Whether it is unknown if blocks to read were ever written.
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
        """Return the host's state during the measurement that just ended, given its summary."""
        from ssdlab.host.cpus import busy_share, governors, read_cpu_times

        if self._drive.capabilities.virtual_time:
            # In virtual time the host's load changes how long a run takes and nothing that it gives.
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
        # Divided by the time of the run, not of the readings: threads start before it, memory is freed after.
        if self._device is None or later is None or total_s < _DEVICE_READING_S:
            return None
        return float(later.in_flight_ns - self._device.in_flight_ns) / (total_s * 1e9)


def _left_on(drive: Drive, conditions: Conditions | None) -> tuple[tuple[str, str], ...]:
    """Return what runs that died have left set on the disk of a real drive, or beneath a file."""
    from ssdlab.host.user_folders import ledger_paths

    if conditions is None or not ledger_paths():
        return ()
    from ssdlab.runs.conditions.leftovers import describe_leftovers, leftovers

    return describe_leftovers(*leftovers(conditions.device))


class Watcher(Protocol):
    """Observes a measurement."""

    def phase(self, name: str, *, duration_ns: int | None, size_bytes: int | None) -> None:
        """Note the start of a phase, and its length or bytes if known."""

    def tick(self, snapshot: _core.Snapshot) -> None:
        """Note the progress, about every 50 ms."""


class Silent:
    """A watcher that does nothing."""

    def phase(self, name: str, *, duration_ns: int | None, size_bytes: int | None) -> None:
        """Say nothing."""

    def tick(self, snapshot: _core.Snapshot) -> None:
        """Say nothing."""


_WORN_PCT = 100
"""Share of the rated endurance from which a drive is beyond what its maker answers for."""


def marks_of(
    samples: Sequence[Sample], before: DriveHealth | None, after: DriveHealth | None, end_ns: int
) -> tuple[Mark, ...]:
    """Return the marks of one step, in order of time; pure.

    Heat slowed the drive where a sample says so at that moment, or where its counters of that have grown
    since the one before.

    Parameters
    ----------
    samples
        Of the step, in order.
    before, after
        What the drive said of itself at the end of the step before, and of this one.
    end_ns
        The end of the step, on its own time.
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
    """Return a reading as the sample that came before the first."""
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
    """Yield each stretch in which heat slowed the drive, with the temperature that it began at."""
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
    """Yield what its counters of errors have grown by, at the sample that shows it."""
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
    """Leave out samples without these counters, so that growth between two that have them is seen."""
    return [each for each in samples if each.media_errors is not None or each.link_retrains is not None]


def _link_errors(before: DriveHealth | None, after: DriveHealth | None, end_ns: int) -> Iterator[Mark]:
    """Yield what the drive's own count of transfers that its link got wrong has grown by."""
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
