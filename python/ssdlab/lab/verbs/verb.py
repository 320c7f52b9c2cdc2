"""What a verb is: one class that says all there is to say of one kind of step.

Its fields are the arguments, as the journal keeps them and as `conclude` reads them back
(`Step.asked`). Its methods say what a step will take (`plan`), what of it reaches the drive (`effects`), how
it is done (`do`), how it is done once more for the state that it leaves (`redo`), what a later session owes
to it (`read_back`), and what an interruption of it means (`policy`, `keeps_parts`, `state`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, JsonValue

from ssdlab.lab.verbs.bounds import Planned, Planning
from ssdlab.model.frozen import Frozen
from ssdlab.results.records import StepResult
from ssdlab.results.schema import Departure

if TYPE_CHECKING:
    from ssdlab.lab.verbs.context import StepContext
    from ssdlab.model.workload import Workload
    from ssdlab.results.records import Policy
    from ssdlab.results.run_folder import Step

StateRole = Literal["uses", "prepares", "amends", "freshens", "begins"]
"""What a step is to the drive's state: it prepares it, amends what was prepared, makes the drive fresh, or
begins a stretch of steps that belong together."""


class Facts(BaseModel):
    """What a step found or set, beside what it measured, as it is read back from the journal.

    Any step may depart from what was asked. Fields that only a newer ssdlab has are kept.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    departures: tuple[Departure, ...] = ()


class Verb(Frozen):
    """A step, asked for: its arguments, and all that follows from what it does."""

    model_config = ConfigDict(extra="ignore")

    verb: ClassVar[str]
    """Its name, in journals and plans."""
    policy: ClassVar[Policy] = "restart"
    """What an interruption means, unless the procedure says otherwise."""
    state: ClassVar[StateRole] = "uses"
    planned_once: ClassVar[bool] = False
    """What it takes is only known by doing it: what the plan found out holds while the run goes on."""
    omitted: ClassVar[frozenset[str]] = frozenset()
    """Arguments that the journal leaves out where they are the default."""

    @property
    def work(self) -> Workload | None:
        """The workload that it runs; None of a step without."""
        return None

    @property
    def keeps_parts(self) -> bool:
        """Whether what an attempt cut short has done can be continued."""
        return self.work is not None

    @property
    def marks(self) -> bool:
        """Whether it keeps the drive's state for a step that `returns_to` it."""
        return False

    @property
    def returns_to(self) -> int | None:
        """Ordinal of the step whose state it brings the drive back to."""
        return None

    def stored(self) -> dict[str, JsonValue]:
        """Return the arguments as the journal keeps them."""
        plain: dict[str, JsonValue] = self.model_dump(mode="json")
        fields = type(self).model_fields
        return {
            name: value
            for name, value in plain.items()
            if name not in self.omitted or getattr(self, name) != fields[name].default
        }

    def check(self, policy: Policy) -> None:
        """Refuse a policy that could not be kept."""

    def plan(self, planning: Planning) -> Planned:
        """Return what the step will take; by default it only reads or writes a record."""
        del planning
        return Planned()

    def effects(self) -> tuple[str, ...]:
        """Return what reaches the drive, in phrases: ``flushes the drive's cache``."""
        return ()

    def do(self, at: StepContext) -> StepResult:
        """Do the step. Its `seconds` are set by who calls."""
        del at
        return StepResult(seconds=0.0)

    def redo(self, at: StepContext) -> None:
        """Do a finished step once more, for the state that it leaves."""
        self.do(at)

    def read_back(self, at: StepContext, result: StepResult) -> None:
        """Bring about, in a later session, what does not outlive the one that did the step."""

    @classmethod
    def describe(cls, step: Step) -> str | None:
        """Return in words what a finished step found; None where there is nothing to say."""
        del step
        return None
