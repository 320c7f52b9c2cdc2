"""`lab.fill`: the whole span written in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pydantic import JsonValue

from ssdlab.lab.verbs.workload_verb import WorkloadVerb
from ssdlab.results.records import StepResult

if TYPE_CHECKING:
    from ssdlab.lab.verbs.context import StepContext
    from ssdlab.results.records import Policy


class Fill(WorkloadVerb):
    """Writes the whole span sequentially, with data that does not compress."""

    verb: ClassVar[str] = "fill"
    policy: ClassVar[Policy] = "continue"

    passes: int
    """How often."""
    unless_written: bool = False
    """Leave it out where the drive can prove that every byte was written."""

    @property
    def optional(self) -> bool:
        """Whether the drive may prove that it is not needed."""
        return self.unless_written

    def do(self, at: StepContext) -> StepResult:
        """Write what is left, unless all is known to be written."""
        if not at.parts and self._needless(at):
            facts: dict[str, JsonValue] = {"already_written": True}
            if at.written_by is not None:
                facts["written_by"] = at.written_by
            return StepResult(seconds=0.0, facts=facts)
        return super().do(at)

    def redo(self, at: StepContext) -> None:
        """Write it again, unless all is known to be written."""
        if not self._needless(at):
            super().redo(at)

    def _needless(self, at: StepContext) -> bool:
        if not self.unless_written:
            return False
        if at.written_by is not None:
            return True
        size = at.drive.capacity_bytes, at.drive.logical_block_bytes
        spans = [stream.span_bytes(*size) for stream in self.workload.streams]
        return all(at.drive.written(start, length) is True for start, length in spans)
