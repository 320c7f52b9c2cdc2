"""How far a suite is, for its observers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ssdlab.results.progress import Observer, Progress
    from ssdlab.results.schema import Child


class SuiteObserver(Protocol):
    """Observes the runs of a suite; it must not fail them."""

    def began(self, child: Child, number: int, total: int) -> Sequence[Observer]:
        """Take note that a run starts or is resumed; return its observer if the run is in this process."""

    def look(self, running: Mapping[str, Progress]) -> None:
        """Take a look at the runs that go on in other processes, by their parts."""

    def ended(self, child: Child, number: int, total: int, *, already_finished: bool) -> None:
        """Take note that a run is finished, or was found to be."""
