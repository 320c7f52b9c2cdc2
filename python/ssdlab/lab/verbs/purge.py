"""`lab.purge`: the drive erased to its fresh state, with its proof."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, ClassVar

from pydantic import BaseModel, ConfigDict, JsonValue

from ssdlab.lab.verbs.bounds import Bounds, Planned, Planning
from ssdlab.lab.verbs.verb import Facts, StateRole, Verb
from ssdlab.model.errors import DriveError
from ssdlab.results.points import Qualifier
from ssdlab.results.records import StepResult
from ssdlab.results.schema import Departure

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ssdlab.lab.verbs.context import StepContext
    from ssdlab.results.run_folder import Step

PURGE_MAX_S = 24 * 3600.0
"""Where nothing is known: a sanitize that overwrites. A crypto erase takes seconds."""
QUICK_PURGE_MAX_S = 60.0
"""Of what is no device: a file has none at all, a simulated drive erases its blocks at once."""


class PurgeSampling(BaseModel):
    """What samples read back after a purge showed."""

    model_config = ConfigDict(frozen=True, extra="allow")

    marked: int


class Purged(BaseModel):
    """A purge, as the journal keeps it; `ssdlab.drives.purge.PurgeRecord` says what is in it."""

    model_config = ConfigDict(frozen=True, extra="allow")

    method: str
    substitute: bool = False
    sampling: PurgeSampling | None = None


class PurgeFacts(Facts):
    """Whether the drive was purged, and how."""

    purged: bool = False
    record: Purged | None = None


def not_fresh(purges: Iterable[Step]) -> tuple[Qualifier, ...]:
    """Return what stands with figures that begin with these steps; empty where each purged the drive."""
    missed = any(not step.found(PurgeFacts).purged for step in purges)
    return (Qualifier(code="not-fresh"),) if missed else ()


class Purge(Verb):
    """Erases the drive to its fresh state, and proves it."""

    verb: ClassVar[str] = "purge"
    state: ClassVar[StateRole] = "freshens"

    if_able: bool = False
    """Where the drive has no purge method (a file has none), continue without."""
    method: str | None = None
    """One of `drives.purge.METHODS`; by default the strongest that the drive supports."""

    def plan(self, planning: Planning) -> Planned:
        """Return bounds by what the drive is."""
        if planning.purges_at_once:
            return Planned(Bounds(0.0, QUICK_PURGE_MAX_S), overhead_s=QUICK_PURGE_MAX_S)
        return Planned(Bounds(0.0, planning.purge_max_s(self.method) or PURGE_MAX_S))

    def effects(self) -> tuple[str, ...]:
        """Return what is erased, and how."""
        how = self.method or "the strongest method that it supports"
        return (f"erases the whole drive: {how}",)

    def do(self, at: StepContext) -> StepResult:
        """Purge; continuing without, or with a substitute, is a departure."""
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
            why = "what the host cannot address is not touched by it"
            stand_in = Departure(code="purge-substitute", what=f"purged by {record.method}", why=why)
            facts["departures"] = [stand_in.model_dump()]
        return StepResult(seconds=0.0, facts=facts)

    @classmethod
    def describe(cls, step: Step) -> str | None:
        """Return by which method, and what proves it."""
        record = step.found(PurgeFacts).record
        if record is None:
            return "not purged"
        marked = None if record.sampling is None else record.sampling.marked
        proof = "" if marked is None else f", {marked} marks written before, none left"
        return f"{record.method}{proof}"
