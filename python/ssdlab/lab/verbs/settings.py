"""Settings of drive and host: set, read back, restored when the run ends; and variants made from them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from pydantic import JsonValue

from ssdlab.lab.verbs.drive_state import TrimFacts, describe_trim
from ssdlab.lab.verbs.verb import Facts, Outcome, Verb
from ssdlab.model.errors import DriveError
from ssdlab.model.units import share_text
from ssdlab.results.schema import Departure, Usable

if TYPE_CHECKING:
    from ssdlab.lab.verbs.verb import StepContext
    from ssdlab.results.records import StepResult
    from ssdlab.results.run_folder import Step


class SettingsFacts(Facts):
    """The outcome of each setting; after a format, also the new geometry."""

    set: tuple[Outcome, ...] = ()
    capacity_bytes: int | None = None
    logical_block_bytes: int | None = None


class Conditions(Verb):
    """Sets conditions, reads them back and records them; those that fail become departures."""

    verb: ClassVar[str] = "conditions"

    required: dict[str, str]

    def effects(self) -> tuple[str, ...]:
        """Return what is set."""
        return describe_settings(self.required)

    def do(self, at: StepContext) -> StepResult:
        """Set them."""
        return at.settings.bring_about(self.required)

    def read_back(self, at: StepContext, result: StepResult) -> None:
        """Set them again, as they were restored when the session ended."""
        at.settings.again(SettingsFacts.model_validate(result.facts).set, firm=False)


def describe_settings(required: Mapping[str, str]) -> tuple[str, ...]:
    """Return in words what is set; without settings, that they are read."""
    if not required:
        return ("reads the drive's settings",)
    return tuple(f"sets {name.replace('_', ' ')} to {value}" for name, value in required.items())


class Variant(Verb):
    """Makes the drive the variant under test: its settings, and the unused part freed if allowed."""

    verb: ClassVar[str] = "variant"

    required: dict[str, str]
    usable: Usable | None

    def effects(self) -> tuple[str, ...]:
        """Return the settings and the freed part."""
        freed = () if self.usable is None or not self.usable.free else (_freed(self.usable),)
        return (*describe_settings(self.required), *freed)

    def do(self, at: StepContext) -> StepResult:
        """Set and free; an unused end that is not spare, or an incomparable share, is a departure."""
        result = at.settings.bring_about(self.required, firm=True)
        if self.usable is None:
            return result
        found: dict[str, JsonValue] = dict(result.facts)
        departures = list(SettingsFacts.model_validate(result.facts).departures)
        if self.usable.of == "user capacity":
            departures.append(share_of_user_capacity(self.usable.spare))
        why = "the run only reads, or the drive is a file"
        if self.usable.free:
            why, trimmed = self._free(at, self.usable.length)
            found |= trimmed
        if why:
            what = "the unused part was not trimmed: if it holds data, it is not spare area"
            departures.append(Departure(code="spare-not-free", what=what, why=why))
        found["departures"] = [each.model_dump() for each in departures]
        return result.model_copy(update={"facts": found})

    def read_back(self, at: StepContext, result: StepResult) -> None:
        """Set it again, as it was restored when the session ended."""
        at.settings.again(SettingsFacts.model_validate(result.facts).set, firm=True)

    @classmethod
    def describe(cls, step: Step) -> str | None:
        """Return the effect of the trim."""
        return describe_trim(step.found(TrimFacts).trim)

    def _free(self, at: StepContext, length: int) -> tuple[str, dict[str, JsonValue]]:
        """Trim what is not used; return why that may have failed, and the fact."""
        rest = at.drive.capacity_bytes - length
        if not rest:
            return "", {"trim": None}
        try:
            record = at.drive.trim(length, rest, on_share=lambda share: at.look(share_text(share)))
        except DriveError as error:
            return error.what, {}
        lost = "the trim did not reach the drive" if record.reached_device is False else ""
        return lost, {"trim": json.loads(json.dumps(record.as_dict()))}


def _freed(usable: Usable) -> str:
    return f"discards the unused part, from byte {usable.length} on"


def share_of_user_capacity(share: float) -> Departure:
    """Return the departure that a spare share is not of raw flash."""
    return Departure(
        code="spare-of-user-capacity",
        what=f"the spare of {share_text(share)} is a share of the user capacity",
        why="the raw capacity is unknown: add raw_bytes to the drive record",
    )
