"""Steps that record something: a note, a limit, the drive's counters, or a finding."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

from pydantic import ConfigDict, Field, SkipValidation

from ssdlab.lab.verbs.steps import Finding
from ssdlab.lab.verbs.verb import Verb
from ssdlab.results.records import StepResult

if TYPE_CHECKING:
    from ssdlab.lab.verbs.verb import StepContext


class Note(Verb):
    """Adds a remark to the journal."""

    verb: ClassVar[str] = "note"

    text: str


class Limit(Verb):
    """Uses only the first bytes of the drive from now on; the drive is not told."""

    verb: ClassVar[str] = "limit"

    usable_bytes: int


class Health(Verb):
    """Reads the drive's own health counters."""

    verb: ClassVar[str] = "health"

    def effects(self) -> tuple[str, ...]:
        return ("reads the drive's health log",)

    def do(self, at: StepContext) -> StepResult:
        return StepResult(seconds=0.0, facts={"health": at.drive.health()})


class Find(Verb):
    """Computes a finding and records it; extra fields are the arguments of the finding."""

    model_config = ConfigDict(extra="allow")
    verb: ClassVar[str] = "find"

    name: str
    finding: SkipValidation[Finding | None] = Field(default=None, exclude=True)
    """The finding with its function, which the journal cannot store."""

    @classmethod
    def of(cls, finding: Finding) -> Self:
        return cls.model_validate({"name": finding.name, **finding.args, "finding": finding})

    def do(self, at: StepContext) -> StepResult:
        assert self.finding is not None  # the lab made the step
        return StepResult(seconds=0.0, facts=self.finding.value(at.tables()))
