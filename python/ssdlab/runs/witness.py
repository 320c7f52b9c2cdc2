"""Watches the drive while steps are measured, and asks it between them: the same for every drive.

Nothing is sent in a step in which the drive is left alone, nor before the step that follows has begun: the
drive is asked once a second from one second on, and at the end of what was measured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ssdlab.drives.telemetry.marks import marks_of
from ssdlab.model.telemetry import StepTelemetry, changes_between

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.drives.base import Drive
    from ssdlab.drives.telemetry.sampler import Watch
    from ssdlab.model.telemetry import Sample


class Witness:
    """Asks one drive; what it said last is what the next step's changes are counted from.

    Parameters
    ----------
    drive
        Held; asked at once, before anything is measured.
    """

    def __init__(self, drive: Drive) -> None:
        self._telemetry = drive.telemetry
        self._last, self._last_ns = self._telemetry.reading(), self._telemetry.clock_ns()

    def follow(self, last: StepTelemetry) -> None:
        """Count changes from the end of a step of an earlier session on."""
        self._last, self._last_ns = last.health or self._last, last.ended_ns

    @contextmanager
    def watching(self, keep: Callable[[Sample], None] | None = None) -> Iterator[Watched]:
        """Watch what is measured within the block, which is to call `ended` with it."""
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
    """One measurement that is being watched."""

    def __init__(self, witness: Witness, watch: Watch, began_ns: int) -> None:
        self._witness, self._watch, self._began_ns = witness, watch, began_ns
        self._running = True
        self.samples: Sequence[Sample] = ()
        self.telemetry: StepTelemetry | None = None

    def ended(self, measured: object) -> StepTelemetry | None:
        """Return what the drive told while it was measured; None of one that tells nothing."""
        self._running = False
        telemetry, self.samples = self._witness._step(self._watch, self._began_ns, measured)
        self.telemetry = telemetry if telemetry.sources else None
        return self.telemetry

    def stop(self) -> None:
        """End the watching, if what was measured did not come to its end."""
        if self._running:
            self._running = False
            self._watch.end(None)
