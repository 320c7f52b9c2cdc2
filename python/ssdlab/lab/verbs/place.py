"""`Place`: the steady state of random writes placed into a simulated drive, without a write."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ssdlab.lab.verbs.verb import StateRole, Verb
from ssdlab.model.errors import Refused
from ssdlab.results.drive_states import PREPARED
from ssdlab.results.records import StepResult
from ssdlab.results.schema import Departure

if TYPE_CHECKING:
    from ssdlab.lab.verbs.context import StepContext
    from ssdlab.results.run_folder import Step


class Place(Verb):
    """Places the valid shares that theory has of steady state into the map of a simulated drive."""

    verb: ClassVar[str] = "place"
    state: ClassVar[StateRole] = "prepares"

    spare: float
    """Effective spare share of the drive."""

    def effects(self) -> tuple[str, ...]:
        """Return what is done to it."""
        return ("places the steady state of random writes into a simulated drive, without a write",)

    def do(self, at: StepContext) -> StepResult:
        """Place it; a real drive refuses."""
        if at.drive.state is None:
            raise Refused(
                "the steady state of a real drive cannot be placed: it has to be written",
                "write it by one pass, or in full",
                reason="not-simulated",
            )
        at.drive.state.place_steady()
        departure = Departure(
            code="analytic",
            what="steady state was prepared, not written: valid shares of superblocks were placed by theory",
            why="a simulated drive takes any state; SNIA's preconditioning writes it",
        )
        return StepResult(seconds=0.0, facts={"departures": [departure.model_dump()]})

    @classmethod
    def describe(cls, step: Step) -> str | None:
        """Return that it was not written."""
        del step
        return PREPARED
