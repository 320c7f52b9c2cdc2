"""`lab.conditions`: settings of drive and host, set and read back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from ssdlab.lab.verbs.outcome import Outcome
from ssdlab.lab.verbs.verb import Facts, Verb

if TYPE_CHECKING:
    from ssdlab.lab.verbs.context import StepContext
    from ssdlab.results.records import StepResult


class SettingsFacts(Facts):
    """What became of each setting; after a format, the new geometry too."""

    set: tuple[Outcome, ...] = ()
    capacity_bytes: int | None = None
    logical_block_bytes: int | None = None


class Conditions(Verb):
    """Sets what is required, reads it back and records it; what cannot be had becomes a departure."""

    verb: ClassVar[str] = "conditions"

    required: dict[str, str]

    def effects(self) -> tuple[str, ...]:
        """Return what is set."""
        return describe_settings(self.required)

    def do(self, at: StepContext) -> StepResult:
        """Set them."""
        return at.settings.bring_about(self.required)

    def read_back(self, at: StepContext, result: StepResult) -> None:
        """Set them again: they were put back when the session ended."""
        at.settings.again(SettingsFacts.model_validate(result.facts).set, firm=False)


def describe_settings(required: Mapping[str, str]) -> tuple[str, ...]:
    """Return in words what is set; of nothing, that it is read."""
    if not required:
        return ("reads the drive's settings",)
    return tuple(f"sets {name.replace('_', ' ')} to {value}" for name, value in required.items())
