"""Steps for the drive's state and settings: purge, trim, flush, fork, return to a fork, and variants.

Settings are read back when set, and restored when the run ends.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from ssdlab.lab.verbs.verb import STEP_MAX_S, Bounds, Facts, Outcome, Planned, Planning, StateRole, Verb
from ssdlab.model.errors import DriveError
from ssdlab.model.units import share_text
from ssdlab.results.metric import Qualifier
from ssdlab.results.records import StepResult
from ssdlab.results.schema import Departure, Usable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ssdlab.lab.verbs.verb import StepContext
    from ssdlab.results.run_folder import Step


class Fork(Verb):
    """Keeps the drive's state, so that later points can start in it whatever their order."""

    verb: ClassVar[str] = "fork"

    @property
    def marks(self) -> bool:
        return True

    def do(self, at: StepContext) -> StepResult:
        if at.forks is None:
            facts: dict[str, JsonValue] = {"forked": False, "departures": [_order_effects().model_dump()]}
            return StepResult(seconds=0.0, facts=facts)
        at.forks.fork(at.ordinal)
        return StepResult(seconds=0.0, facts={"forked": True})


def _order_effects() -> Departure:
    return Departure(
        code="order-effects",
        what="each point started in the drive state left by the previous one",
        why="only a simulated drive can be returned to an earlier state",
    )


class Back(Verb):
    """Returns the drive to the state of a fork, if possible."""

    verb: ClassVar[str] = "back"

    to: int
    end: bool

    @property
    def returns_to(self) -> int:
        return self.to

    def do(self, at: StepContext) -> StepResult:
        if at.forks is None:
            return StepResult(seconds=0.0, facts={"forked": False})
        at.forks.back(self.to, end=self.end)
        return StepResult(seconds=0.0, facts={"forked": True})


class StepGroupFacts(Facts):
    """Facts of a group of steps: the epoch in which it started."""

    model_config = ConfigDict(populate_by_name=True)

    epoch: int | None = Field(default=None, alias="sitting")  # the name in journals, which stay readable
    """Number of the epoch, as in `StepContext.epoch`; None in a plan."""


class StepGroup(Verb):
    """Starts a group of steps that an interruption voids together."""

    verb: ClassVar[str] = "stretch"  # the name in journals
    state: ClassVar[StateRole] = "begins"

    def do(self, at: StepContext) -> StepResult:
        return StepResult(seconds=0.0, facts={"sitting": at.epoch})


FLUSH_MAX_S = 60.0


class Flush(Verb):
    """Makes all writes durable, including those in the drive's cache."""

    verb: ClassVar[str] = "flush"

    def plan(self, planning: Planning) -> Planned:
        del planning
        return Planned(Bounds(0.0, FLUSH_MAX_S))

    def effects(self) -> tuple[str, ...]:
        return ("flushes the drive's cache (fsync)",)

    def do(self, at: StepContext) -> StepResult:
        at.drive.flush()
        return StepResult(seconds=0.0)


TRIM_MAX_S_PER_TB = 120.0


class Trimmed(BaseModel):
    """A trim in the journal; `ssdlab.drives.trim.trimming.TrimRecord` describes its fields."""

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
    """The effect of a trim; None in a plan, and for a variant that frees nothing."""

    trim: Trimmed | None = None


class Trim(Verb):
    """Discards a span of the drive, and checks the effect."""

    verb: ClassVar[str] = "trim"
    state: ClassVar[StateRole] = "amends"

    start: int
    length: int

    def plan(self, planning: Planning) -> Planned:
        del planning
        max_s = STEP_MAX_S + self.length / 1e12 * TRIM_MAX_S_PER_TB
        return Planned(Bounds(0.0, max_s), overhead_s=STEP_MAX_S)

    def effects(self) -> tuple[str, ...]:
        end = self.start + self.length
        return (f"discards bytes {self.start} to {end} (BLKDISCARD; punches holes into a file)",)

    def do(self, at: StepContext) -> StepResult:
        """Trim the span; a trim that did not reach the device is a departure."""
        from ssdlab.drives.trim.trimming import reach_text

        record = at.drive.trim(self.start, self.length, on_share=lambda share: at.look(share_text(share)))
        facts: dict[str, JsonValue] = {"trim": json.loads(json.dumps(record.as_dict()))}
        if record.reached_device is False:
            why = "a driver, volume or file system in between did not pass it on"
            lost = Departure(code="trim-not-passed-on", what=reach_text(record), why=why)
            facts["departures"] = [lost.model_dump()]
        return StepResult(seconds=0.0, facts=facts)

    @classmethod
    def describe(cls, step: Step) -> str | None:
        return describe_trim(step.found(TrimFacts).trim)


def describe_trim(trim: Trimmed | None) -> str | None:
    if trim is None:
        return None
    reached = {
        True: "reached the device",
        False: "did not reach the device",
        None: "not known to have reached it",
    }
    reads = "" if trim.reads is None else f", reads {trim.reads}"
    return f"{reached[trim.reached_device]}{reads}"


PURGE_MAX_S = 24 * 3600.0
"""Maximum time of a purge on an unknown drive: a sanitize by overwriting. A crypto erase takes seconds."""
QUICK_PURGE_MAX_S = 60.0
"""Maximum time without a device: files have no purge, and simulated drives erase at once."""


class PurgeSampling(BaseModel):
    """Samples read back after a purge."""

    model_config = ConfigDict(frozen=True, extra="allow")

    marked: int


class Purged(BaseModel):
    """A purge in the journal; `ssdlab.drives.purge.PurgeRecord` describes its fields."""

    model_config = ConfigDict(frozen=True, extra="allow")

    method: str
    substitute: bool = False
    sampling: PurgeSampling | None = None


class PurgeFacts(Facts):
    """Whether the drive was purged, and how."""

    purged: bool = False
    record: Purged | None = None


def not_fresh(purges: Iterable[Step]) -> tuple[Qualifier, ...]:
    """Return the qualifier `not-fresh` if one of these purge steps did not purge the drive, else nothing."""
    missed = any(not step.found(PurgeFacts).purged for step in purges)
    return (Qualifier(code="not-fresh"),) if missed else ()


class Purge(Verb):
    """Erases the drive to its fresh state, and checks that it is fresh."""

    verb: ClassVar[str] = "purge"
    state: ClassVar[StateRole] = "freshens"

    if_able: bool = False
    """If the drive has no purge method (a file has none), continue without a purge."""
    method: str | None = None
    """One of `drives.purge.METHODS`; by default the strongest that the drive supports."""

    def plan(self, planning: Planning) -> Planned:
        if planning.purges_at_once:
            return Planned(Bounds(0.0, QUICK_PURGE_MAX_S), overhead_s=QUICK_PURGE_MAX_S)
        return Planned(Bounds(0.0, planning.purge_max_s(self.method) or PURGE_MAX_S))

    def effects(self) -> tuple[str, ...]:
        how = self.method or "the strongest supported method"
        return (f"erases the whole drive: {how}",)

    def do(self, at: StepContext) -> StepResult:
        """Purge the drive; continuing without a purge, or with a substitute, is a departure."""
        from ssdlab.drives.purge import check_method

        method = None if self.method is None else check_method(self.method)
        try:
            record = at.drive.purge(method=method, on_progress=lambda progress: at.look(progress.text))
        except DriveError as error:
            if not self.if_able or error.facts.get("reason") != "no-purge":
                raise
            missed = Departure(code="not-purged", what="the drive was not purged", why=error.what)
            return StepResult(seconds=0.0, facts={"purged": False, "departures": [missed.model_dump()]})
        plain: JsonValue = json.loads(json.dumps(record.as_dict()))
        facts: dict[str, JsonValue] = {"purged": True, "record": plain}
        if record.substitute:
            why = "it does not reach blocks that the host cannot address"
            stand_in = Departure(code="purge-substitute", what=f"purged by {record.method}", why=why)
            facts["departures"] = [stand_in.model_dump()]
        return StepResult(seconds=0.0, facts=facts)

    @classmethod
    def describe(cls, step: Step) -> str | None:
        record = step.found(PurgeFacts).record
        if record is None:
            return "not purged"
        marked = None if record.sampling is None else record.sampling.marked
        proof = "" if marked is None else f", {marked} marks written before, none left"
        return f"{record.method}{proof}"


class SettingsFacts(Facts):
    """The outcome of each setting; after a format, also the new geometry."""

    set: tuple[Outcome, ...] = ()
    capacity_bytes: int | None = None
    logical_block_bytes: int | None = None


class Conditions(Verb):
    """Sets conditions, reads them back and records them; each failure becomes a departure."""

    verb: ClassVar[str] = "conditions"

    required: dict[str, str]

    def effects(self) -> tuple[str, ...]:
        return describe_settings(self.required)

    def do(self, at: StepContext) -> StepResult:
        return at.settings.bring_about(self.required)

    def read_back(self, at: StepContext, result: StepResult) -> None:
        """Set the conditions again: the settings were restored when the earlier session ended."""
        at.settings.again(SettingsFacts.model_validate(result.facts).set, firm=False)


def describe_settings(required: Mapping[str, str]) -> tuple[str, ...]:
    """Return the settings to be made, in words; if there are none, that settings are only read."""
    if not required:
        return ("reads the drive's settings",)
    return tuple(f"sets {name.replace('_', ' ')} to {value}" for name, value in required.items())


class Variant(Verb):
    """Turns the drive into the variant under test: makes its settings, and may free the unused part."""

    verb: ClassVar[str] = "variant"

    required: dict[str, str]
    usable: Usable | None

    def effects(self) -> tuple[str, ...]:
        freed = () if self.usable is None or not self.usable.free else (_freed(self.usable),)
        return (*describe_settings(self.required), *freed)

    def do(self, at: StepContext) -> StepResult:
        """Make the settings and free the unused part.

        Departures say if the unused part may not be spare, or if the spare is a share of user capacity.
        """
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
        """Make the settings again: they were restored when the earlier session ended."""
        at.settings.again(SettingsFacts.model_validate(result.facts).set, firm=True)

    @classmethod
    def describe(cls, step: Step) -> str | None:
        return describe_trim(step.found(TrimFacts).trim)

    def _free(self, at: StepContext, length: int) -> tuple[str, dict[str, JsonValue]]:
        """Trim the unused part; return why that may have failed (empty: it did not), and the trim's facts."""
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
    """Return the departure for a spare share of user capacity, as the raw capacity is unknown."""
    return Departure(
        code="spare-of-user-capacity",
        what=f"the spare of {share_text(share)} is a share of the user capacity",
        why="the raw capacity is unknown: add raw_bytes to the drive record",
    )
