"""How far a run is, for its observers: the terminal, `live.json`, tests."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Protocol, Self

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ssdlab.results.run_folder import Step
    from ssdlab.results.schema import Status


@dataclass(frozen=True)
class Progress:
    """Progress of a run at one moment. Times in seconds; response times in ns, over the last interval row."""

    ordinal: int
    steps: int
    verb: str
    label: str
    phase: str
    step_elapsed_s: float
    step_least_s: float
    step_most_s: float
    run_elapsed_s: float
    remaining_least_s: float
    remaining_most_s: float
    iops: float | None = None
    mb_s: float | None = None
    p50_ns: int | None = None
    p99_ns: int | None = None
    p999_ns: int | None = None
    slowest_of: int = 1
    """Of how many streams and directions the percentiles are the slowest's: they cannot be added."""
    failed: int = 0
    own_steps: int = 0
    """Of the steps so many at the beginning are the run's own: a job's first is the second of the run."""
    outlook: str = ""
    """What the procedure expects beyond the step, such as when steady state is likely."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as `live.json` holds it."""
        return asdict(self)

    @classmethod
    def of(cls, live: Mapping[str, Any]) -> Self:
        """Return it from what `live.json` holds, with what else stands there."""
        known = {each.name for each in fields(cls)}
        return cls(**{name: value for name, value in live.items() if name in known})


class Observer(Protocol):
    """Observes a run; it must not fail the run and decides itself how often it shows something."""

    def began(self, progress: Progress) -> None:
        """Take note that a step starts."""

    def tick(self, progress: Progress) -> None:
        """Take a look, about every 50 ms while a step goes on."""

    def finished(self, step: Step, progress: Progress, *, read_back: bool) -> None:
        """Take note that a step is finished, or was read back from the journal."""

    def ended(self, status: Status) -> None:
        """Take note that the run ended, for good or for now."""
