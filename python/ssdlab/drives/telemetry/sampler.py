"""How a drive is watched while it works: the protocol, and the thread that does it for a real one."""

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
    """The watching of one step."""

    @property
    def sources(self) -> tuple[str, ...]:
        """What is asked, in words."""

    def end(self, measured: object) -> tuple[Sequence[Sample], Sequence[Mark]]:
        """Stop, and return the samples of the step and what was seen beside them.

        Parameters
        ----------
        measured
            What the step measured; None where it was cut short.
        """


class Telemetry(Protocol):
    """What a drive tells of itself."""

    def clock_ns(self) -> int:
        """Return the time on the clock that its steps are on."""

    def reading(self) -> DriveHealth | None:
        """Ask the drive now. Never in a step in which it is to be left alone; None where it tells nothing."""

    def begin(self, keep: Keep | None = None) -> Watch:
        """Watch from now on; `keep` is given each sample as it is taken, on a thread of its own."""


class Silent:
    """Of a drive that tells nothing."""

    sources: tuple[str, ...] = ()

    def clock_ns(self) -> int:
        """Return the host's monotonic time."""
        return time.monotonic_ns()

    def reading(self) -> None:
        """Return None."""
        return

    def begin(self, keep: Keep | None = None) -> Silent:
        """Watch nothing."""
        del keep
        return self

    def end(self, measured: object) -> tuple[Sequence[Sample], Sequence[Mark]]:
        """Return nothing."""
        del measured
        return (), ()


_PATIENCE_S = 5.0
"""For a question that is being answered when the step ends; a drive that takes longer is left to itself."""


class HostTelemetry:
    """Implements `drives.telemetry.sampler.Telemetry` for a real drive.

    Parameters
    ----------
    sources
        What is asked once a second, beside the host's processors.
    ask
        Reads what the drive says of itself; None where it says nothing.
    period_s
        Between two samples.
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
        """Return the host's monotonic time."""
        return time.monotonic_ns()

    def reading(self) -> DriveHealth | None:
        """Ask the drive; None where it does not answer, or one may not ask."""
        try:
            return self._ask()
        except (LabError, Malformed, OSError):
            return None

    def begin(self, keep: Keep | None = None) -> Sampler:
        """Watch from now on."""
        return Sampler(self._sources, keep, self._period_s)


class Sampler:
    """One step that is being watched."""

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
        """Stop, and return what was seen, on the clock of the step's rows."""
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
            return False  # this host has no such thing, or does not show it to this user
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
    """Return the monotonic time at which a measurement started."""
    started = measured.as_dict().get("started") if hasattr(measured, "as_dict") else None
    return started.get("monotonic_ns") if isinstance(started, dict) else None
