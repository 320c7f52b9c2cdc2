"""`lab.find`: something worked out from the tables of finished steps, in mid-run."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

from pydantic import ConfigDict, Field, SkipValidation

from ssdlab.lab.steps import Finding
from ssdlab.lab.verbs.verb import Verb
from ssdlab.results.records import StepResult

if TYPE_CHECKING:
    from ssdlab.lab.verbs.context import StepContext


class Find(Verb):
    """Works something out; further arguments are the finding's own."""

    model_config = ConfigDict(extra="allow")
    verb: ClassVar[str] = "find"

    name: str
    finding: SkipValidation[Finding | None] = Field(default=None, exclude=True)
    """How, which no journal can hold."""

    @classmethod
    def of(cls, finding: Finding) -> Self:
        """Make the step."""
        return cls.model_validate({"name": finding.name, **finding.args, "finding": finding})

    def do(self, at: StepContext) -> StepResult:
        """Work it out."""
        assert self.finding is not None  # the lab made the step
        return StepResult(seconds=0.0, facts=self.finding.value(at.tables()))
