"""`OnePass`: a purged drive written once over at random, as long random writing would have left it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

from ssdlab.lab.verbs.verb import StateRole
from ssdlab.lab.verbs.workload_verb import WorkloadVerb
from ssdlab.model.units import share_text
from ssdlab.results.schema import Departure

if TYPE_CHECKING:
    from ssdlab.lab.verbs.context import StepContext
    from ssdlab.model.workload import Workload
    from ssdlab.results.records import StepResult


class OnePass(WorkloadVerb):
    """Prepares steady state by one pass, which is no preconditioning of SNIA's."""

    verb: ClassVar[str] = "one-pass"
    state: ClassVar[StateRole] = "prepares"

    spare: float
    """Share of the flash that the pass takes for spare."""
    spare_from: str
    """Who says so."""

    @classmethod
    def laid(cls, workload: Workload, *, spare: float, spare_from: str) -> Self:
        """Make the step."""
        facts: dict[str, Any] = {"spare": spare, "spare_from": spare_from}
        return cls.of(workload, **facts)

    def do(self, at: StepContext) -> StepResult:
        """Write the pass; that it stands for SNIA's procedure is a departure."""
        result = super().do(at)
        departure = Departure(
            code="one-pass",
            what=f"steady state was prepared by one random pass, for a spare of {share_text(self.spare)} "
            f"({self.spare_from}), in place of SNIA's preconditioning",
            why="it was asked for in place of the full procedure, which writes the drive several times",
        )
        return result.model_copy(update={"facts": {**result.facts, "departures": [departure.model_dump()]}})
