"""`lab.trace`: converts a trace into a recording for the drive."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from pydantic import JsonValue

from ssdlab.formats.traces.reading import Source
from ssdlab.lab.traces.mapping import TraceMapping
from ssdlab.lab.traces.recording import record
from ssdlab.lab.verbs.verb import STEP_MAX_S, Bounds, Planned, Planning, Verb
from ssdlab.results.records import StepResult

if TYPE_CHECKING:
    from ssdlab.lab.verbs.verb import StepContext

TRACE_AGAIN_MAX = 10.0
"""Reading a trace again may take this many times as long as in the plan, which may have read it from
memory."""


class Trace(Verb):
    """Converts a trace into a recording for the part of the drive in use, without touching the drive."""

    verb: ClassVar[str] = "trace"
    planned_once: ClassVar[bool] = True

    source: Source
    laying: TraceMapping
    usable_bytes: int
    logical_block_bytes: int

    def plan(self, planning: Planning) -> Planned:
        """Read the trace, unless already done, as later steps depend on it."""
        began = time.monotonic()
        facts = {"file": "", **self._record()} if planning.known is None else planning.known.facts
        max_s = STEP_MAX_S + TRACE_AGAIN_MAX * (time.monotonic() - began)
        return replace(Planned(facts=facts), seconds=Bounds(0.0, max_s))

    def do(self, at: StepContext) -> StepResult:
        """Write the file of records to the run folder; workloads name it without the folder."""
        name = f"trace-{at.ordinal:04d}.records"
        with at.new_file(name) as made:
            return StepResult(seconds=0.0, facts={"file": name, **self._record(made, at.look)})

    def redo(self, at: StepContext) -> None:
        """Do nothing, as its file exists."""

    def _record(
        self, file: Path | None = None, look: Callable[[], None] = lambda: None
    ) -> dict[str, JsonValue]:

        return record(
            self.source,
            self.laying,
            usable_bytes=self.usable_bytes,
            logical_block_bytes=self.logical_block_bytes,
            file=file,
            look=look,
        )
