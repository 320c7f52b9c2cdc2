"""Telemetry of a drive during a step: the protocols, and the sampling thread for a real drive."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any, Protocol

from ssdlab.drives.admin.fields import Malformed
from ssdlab.drives.telemetry.sources import HostCpu, Source
from ssdlab.model.errors import LabError
from ssdlab.model.telemetry import PERIOD_S, Mark, Sample

if TYPE_CHECKING:
    from ssdlab.model.telemetry import DriveHealth

    Keep = Callable[[Sample], None]


class Watch(Protocol):
    """Telemetry of one step."""

    @property
    def sources(self) -> tuple[str, ...]:
        """Names of the sources, for readers."""

    def end(self, measured: object) -> tuple[Sequence[Sample], Sequence[Mark]]:
        """Stop, and return the samples and the events of the step.

        Parameters
        ----------
        measured
            The step's measurement; None if the step was cut short.
        """


class Telemetry(Protocol):
    """Telemetry of one drive."""

    def clock_ns(self) -> int:
        """Return the time on the clock of the drive's steps."""

    def reading(self) -> DriveHealth | None:
        """Query the drive now; return None if it reports nothing.

        This must not be called during a step that leaves the drive alone.
        """

    def begin(self, keep: Keep | None = None) -> Watch:
        """Start to watch a step; `keep` receives each sample when it is taken, on another thread."""


class Silent:
    """Telemetry of a drive that reports nothing."""

    sources: tuple[str, ...] = ()

    def clock_ns(self) -> int:
        return time.monotonic_ns()

    def reading(self) -> None:
        return

    def begin(self, keep: Keep | None = None) -> Silent:
        del keep
        return self

    def end(self, measured: object) -> tuple[Sequence[Sample], Sequence[Mark]]:
        del measured
        return (), ()


_PATIENCE_S = 5.0
"""Seconds to wait for a reply that is pending when the step ends; a later reply is ignored."""


class HostTelemetry:
    """Telemetry of a real drive; implements `Telemetry`.

    Parameters
    ----------
    sources
        Sources to read in each period, besides the host's CPUs.
    ask
        Queries the drive; returns None if the drive reports nothing.
    period_s
        Seconds between two samples.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        ask: Callable[[], DriveHealth | None] = lambda: None,
        period_s: float = PERIOD_S,
    ) -> None:
        self._sources = (*sources, *(() if any(isinstance(s, HostCpu) for s in sources) else (HostCpu(),)))
        self._ask = ask
        self._period_s = period_s

    def clock_ns(self) -> int:
        return time.monotonic_ns()

    def reading(self) -> DriveHealth | None:
        """Query the drive; return None if it does not answer, or this user may not query it."""
        try:
            return self._ask()
        except (LabError, Malformed, OSError):
            return None

    def begin(self, keep: Keep | None = None) -> Sampler:
        return Sampler(self._sources, keep, self._period_s)


class Sampler:
    """Samples the sources during one step, in a thread."""

    def __init__(self, sources: Sequence[Source], keep: Keep | None, period_s: float) -> None:
        self._keep, self._period_s = keep, period_s
        self._samples: list[Sample] = []
        self._marks: list[Mark] = []
        self._lost: dict[str, str] = {}
        self._sources = [each for each in sources if self._begins(each)]
        self.sources = tuple(each.words for each in self._sources)
        self._zero_ns = time.monotonic_ns()
        self._ended = Event()
        self._answers = Lock()
        self._left = False
        """Whether the step is over: what is still being asked is no part of it."""
        self._thread = Thread(target=self._run, name="telemetry", daemon=True)
        self._thread.start()

    def end(self, measured: object) -> tuple[Sequence[Sample], Sequence[Mark]]:
        """Stop, and return samples and marks on the clock of the step's rows."""
        self._ended.set()
        self._thread.join(_PATIENCE_S)
        with self._answers:
            self._left = True
        if self._thread.is_alive():
            self._lost["the drive"] = "no answer in time"
        now_ns = time.monotonic_ns()
        self._look(now_ns)
        for source in self._sources:
            source.end()
        self.sources = tuple(each.words for each in self._sources)
        zero_ns = _zero_of(measured) or self._zero_ns
        marks = [self._unanswered(name, why, now_ns) for name, why in self._lost.items()]
        return (
            [_moved(sample, zero_ns) for sample in self._samples],
            [
                each.model_copy(update={"at_ns": max(0, each.at_ns - zero_ns)})
                for each in (*self._marks, *marks)
            ],
        )

    def _begins(self, source: Source) -> bool:
        try:
            source.begin()
        except OSError:
            return False  # this host lacks the source, or hides it from this user
        return True

    def _run(self) -> None:
        due = time.monotonic() + self._period_s
        while not self._ended.wait(max(0.0, due - time.monotonic())):
            self._take()
            now = time.monotonic()
            due += self._period_s * max(1, 1 + int((now - due) // self._period_s))

    def _take(self) -> None:
        figures: dict[str, Any] = {}
        failed: list[tuple[Source, str]] = []
        for source in list(self._sources):
            if self._left:
                return
            try:
                figures |= source.figures()
            except (LabError, Malformed, OSError) as error:
                failed.append((source, str(error).partition("\n")[0]))
        with self._answers:
            if not self._left:
                self._note(figures, failed)

    def _note(self, figures: dict[str, Any], failed: Sequence[tuple[Source, str]]) -> None:
        for source, why in failed:
            self._lost[source.words] = why
            self._sources.remove(source)
        now_ns = time.monotonic_ns()
        sample = Sample(now_ns, **figures)
        self._samples.append(sample)
        self._look(now_ns)
        if self._keep is not None:
            self._keep(_moved(sample, self._zero_ns))

    def _look(self, now_ns: int) -> None:
        for source in self._sources:
            self._marks += source.marks(now_ns)

    def _unanswered(self, name: str, why: str, now_ns: int) -> Mark:
        return Mark(code="unanswered", at_ns=now_ns, what=f"no more telemetry from {name}: {why}")


def _moved(sample: Sample, zero_ns: int) -> Sample:
    return replace(sample, at_ns=max(0, sample.at_ns - zero_ns))


def _zero_of(measured: object) -> int | None:
    """Return the monotonic time in ns at which a measurement started; None if unknown."""
    started = measured.as_dict().get("started") if hasattr(measured, "as_dict") else None
    return started.get("monotonic_ns") if isinstance(started, dict) else None
