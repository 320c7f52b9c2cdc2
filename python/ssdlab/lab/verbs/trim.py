"""`lab.trim`: a span discarded, with its proof."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, ClassVar

from pydantic import BaseModel, ConfigDict, JsonValue

from ssdlab.lab.verbs.bounds import STEP_MAX_S, Bounds, Planned, Planning
from ssdlab.lab.verbs.verb import Facts, StateRole, Verb
from ssdlab.model.units import share_text
from ssdlab.results.records import StepResult
from ssdlab.results.schema import Departure

if TYPE_CHECKING:
    from ssdlab.lab.verbs.context import StepContext
    from ssdlab.results.run_folder import Step

TRIM_MAX_S_PER_TB = 120.0


class Trimmed(BaseModel):
    """A trim, as the journal keeps it; `ssdlab.drives.trim.trimming.TrimRecord` says what is in it."""

    model_config = ConfigDict(frozen=True, extra="allow")

    start: int
    length: int
    seconds: float
    reached_device: bool | None = None
    evidence: str | None = None
    discards: int | None = None
    discarded_bytes: int | None = None
    reads: str | None = None
    sample_bytes: int = 0
    blank_before: int = 0


class TrimFacts(Facts):
    """What came of a trim; None in a plan, and of a variant that frees nothing."""

    trim: Trimmed | None = None


class Trim(Verb):
    """Discards a span of the drive, and finds out what came of it."""

    verb: ClassVar[str] = "trim"
    state: ClassVar[StateRole] = "amends"

    start: int
    length: int

    def plan(self, planning: Planning) -> Planned:
        """Return bounds by the length."""
        del planning
        max_s = STEP_MAX_S + self.length / 1e12 * TRIM_MAX_S_PER_TB
        return Planned(Bounds(0.0, max_s), overhead_s=STEP_MAX_S)

    def effects(self) -> tuple[str, ...]:
        """Return what is discarded."""
        end = self.start + self.length
        return (f"discards bytes {self.start} to {end} (BLKDISCARD; punches holes into a file)",)

    def do(self, at: StepContext) -> StepResult:
        """Trim; one that did not reach the device is a departure."""
        from ssdlab.drives.trim.trimming import reach_text

        record = at.drive.trim(self.start, self.length, on_share=lambda share: at.look(share_text(share)))
        facts: dict[str, JsonValue] = {"trim": json.loads(json.dumps(record.as_dict()))}
        if record.reached_device is False:
            why = "a driver, a volume or a file system between did not pass it on"
            lost = Departure(code="trim-not-passed-on", what=reach_text(record), why=why)
            facts["departures"] = [lost.model_dump()]
        return StepResult(seconds=0.0, facts=facts)

    @classmethod
    def describe(cls, step: Step) -> str | None:
        """Return whether it reached the device, and what is read now."""
        return describe_trim(step.found(TrimFacts).trim)


def describe_trim(trim: Trimmed | None) -> str | None:
    """Return in words what came of a trim; None where there was none."""
    if trim is None:
        return None
    reached = {
        True: "reached the device",
        False: "did not reach the device",
        None: "not known to have reached it",
    }
    reads = "" if trim.reads is None else f", reads {trim.reads}"
    return f"{reached[trim.reached_device]}{reads}"
