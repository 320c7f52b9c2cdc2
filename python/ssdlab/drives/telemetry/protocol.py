"""How a drive is watched while it works; no caller knows which kind of drive it has."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ssdlab.model.telemetry import DriveHealth, Mark, Sample

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
