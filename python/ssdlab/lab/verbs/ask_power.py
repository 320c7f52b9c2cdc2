"""What the drive has for saving power, asked once."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ssdlab.lab.verbs.bounds import Planned, Planning
from ssdlab.lab.verbs.verb import Facts, Verb
from ssdlab.model.power_features import PowerFeatures, PowerState
from ssdlab.results.records import StepResult

if TYPE_CHECKING:
    from ssdlab.lab.verbs.context import StepContext

_USUAL = PowerFeatures(
    protocol="nvme",
    states=(
        *(PowerState(name=f"ps{number}", operational=True) for number in range(3)),
        *(PowerState(name=f"ps{number}") for number in (3, 4, 5)),
    ),
    saving="apst",
    values=("off", "on"),
    sent=True,
)
"""What most client drives have: a plan, which asks no drive, goes by it."""


class PowerFacts(Facts):
    """What it has."""

    features: PowerFeatures


class AskPower(Verb):
    """Reads what the drive has for saving power."""

    verb: ClassVar[str] = "power-features"

    def plan(self, planning: Planning) -> Planned:
        """Take the drive for a usual one, unless more is known of it."""
        features = planning.power_features() or _USUAL
        return Planned(facts=PowerFacts(features=features).model_dump(mode="json"))

    def effects(self) -> tuple[str, ...]:
        """Return what reaches the drive."""
        return ("reads the drive's power states, as far as it has any",)

    def do(self, at: StepContext) -> StepResult:
        """Ask."""
        facts = PowerFacts(features=at.drive.power_features())
        return StepResult(seconds=0.0, facts=facts.model_dump(mode="json"))

    def redo(self, at: StepContext) -> None:
        """Leave the drive as it is."""
