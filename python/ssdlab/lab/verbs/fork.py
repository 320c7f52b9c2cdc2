"""`lab.fork`, first half: the drive's state kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pydantic import JsonValue

from ssdlab.lab.verbs.verb import Verb
from ssdlab.results.records import StepResult
from ssdlab.results.schema import Departure

if TYPE_CHECKING:
    from ssdlab.lab.verbs.context import StepContext


class Fork(Verb):
    """Keeps the drive's state; where that cannot be, the order of what follows tells."""

    verb: ClassVar[str] = "fork"

    @property
    def marks(self) -> bool:
        """It keeps the state for the steps that go back to it."""
        return True

    def do(self, at: StepContext) -> StepResult:
        """Keep the state."""
        if at.forks is None:
            facts: dict[str, JsonValue] = {"forked": False, "departures": [_order_effects().model_dump()]}
            return StepResult(seconds=0.0, facts=facts)
        at.forks.fork(at.ordinal)
        return StepResult(seconds=0.0, facts={"forked": True})


def _order_effects() -> Departure:
    return Departure(
        code="order-effects",
        what="each point began in the state in which the one before had left the drive",
        why="only a simulated drive can go back to the state that it was in before",
    )
