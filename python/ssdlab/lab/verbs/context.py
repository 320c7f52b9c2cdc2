"""What a verb has at hand when it is done: the drive, the run folder, and whoever watches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from ssdlab.drives.base import Drive
    from ssdlab.drives.base import Until as Ends
    from ssdlab.lab.verbs.outcome import Outcome
    from ssdlab.model.measurement import Measurement
    from ssdlab.model.pattern import Span
    from ssdlab.model.workload import Workload
    from ssdlab.results.records import PartRecord, StepResult
    from ssdlab.results.run_folder import Step
    from ssdlab.results.tables import Columns


class Tables(Protocol):
    """What the steps so far have measured, row by row; `methods.method.RunData` is one too."""

    @property
    def rows(self) -> Callable[[Step], Columns]:
        """Gives the interval rows of a finished step, as `results.tables.SERIES_COLUMNS`."""

    @property
    def row_buckets(self) -> Callable[[Step], Columns]:
        """Gives the histogram buckets of each of its rows, as `results.tables.HIST_COLUMNS`."""


class Settings(Protocol):
    """Sets what a step requires, and puts it back when the run ends."""

    def bring_about(self, required: Mapping[str, str], *, firm: bool = False) -> StepResult:
        """Set what is required and read it back; see `runs.conditions.keeper`."""

    def again(self, outcomes: Iterable[Outcome], *, firm: bool) -> None:
        """Bring about, in a later session, what a finished step had brought about."""


class Forks(Protocol):
    """Keeps states of the drive to go back to."""

    def fork(self, ordinal: int) -> None:
        """Keep the state for `back`."""

    def back(self, ordinal: int, *, end: bool) -> None:
        """Bring the drive back to the state of a fork; with `end` for the last time."""


class StepContext(Protocol):
    """One step that is being done."""

    @property
    def drive(self) -> Drive:
        """The drive under test, held by the run."""

    @property
    def span(self) -> Span:
        """The part of the drive in use: all of it, in whole MiB, or what `--usable` and `lab.limit` left."""

    @property
    def ordinal(self) -> int:
        """Number of the step in its run."""

    @property
    def seed(self) -> int:
        """Seed of the step, of its own."""

    @property
    def parts(self) -> Sequence[PartRecord]:
        """Attempts at the step that were cut short and count."""

    @property
    def written_by(self) -> str | None:
        """Run that has written the whole span before, which a device cannot tell."""

    @property
    def sitting(self) -> int:
        """How often the drive's state was at the mercy of an interruption: 1, and 1 more after each.

        Always 1 of a drive whose state is kept with the run: it goes on as if nothing had been.
        """

    @property
    def settings(self) -> Settings:
        """What sets the drive and its host."""

    @property
    def forks(self) -> Forks | None:
        """What keeps the drive's state; None where it cannot be kept."""

    def look(self, phase: str = "") -> None:
        """Report how far the step is.

        To be called about every 50 ms; it ends the step, by an exception, if that was asked for.
        """

    def tables(self) -> Tables:
        """Return what the steps so far have measured."""

    def new_file(self, name: str) -> AbstractContextManager[Path]:
        """Make a file of the run folder: whole at the end of the block, or not at all."""

    def run(self, workload: Workload, until: Ends | None) -> Measurement:
        """Run a workload for the state that it leaves, and keep nothing of it but what the verb keeps.

        Streams without a span of their own get `span`; without a seed of its own it gets the step's. So too
        `measure`.
        """

    def rest(self, seconds: float) -> StepResult:
        """Leave the drive alone for that time of its own clock, and return what it drew meanwhile."""

    def measure(self, workload: Workload, until: Ends | None, *, overload: bool) -> StepResult:
        """Run a workload, with the parts before it left out, and keep what was measured.

        Parameters
        ----------
        workload
            What is left to do.
        until
            Asked at each closed row; True ends the step.
        overload
            More may be asked for than the drive can do: no warning about that.
        """
