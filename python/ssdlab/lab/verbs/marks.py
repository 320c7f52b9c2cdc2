"""Load steps at an end of a run, by which the clock of a recording of power is found."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ssdlab.lab.verbs.bounds import STEP_MAX_S, Bounds, Planned, Planning
from ssdlab.lab.verbs.verb import Facts, Verb
from ssdlab.model.workload import Block, Mix, Stop, Stream, Workload
from ssdlab.results.journal import boot_id
from ssdlab.results.records import StepResult

if TYPE_CHECKING:
    from ssdlab.lab.verbs.context import StepContext

_BLOCK_BYTES = 128 * 1024
_WORKERS = 8
"""With 128 KiB each: near what a link carries, and so near what a drive draws, with threads alone."""


class MarksFacts(Facts):
    """When load was on, in ns of the drive's clock: CLOCK_MONOTONIC in a boot of the host, or its own."""

    on_ns: tuple[tuple[int, int], ...]
    boot_id: str | None = None


class PowerMarks(Verb):
    """Reads for a while and rests, again and again, for lengths that no other load has."""

    verb: ClassVar[str] = "marks"

    on_and_rest_s: tuple[tuple[float, float], ...]
    seed: int

    @property
    def seconds(self) -> float:
        """How long it takes."""
        return sum(on + rest for on, rest in self.on_and_rest_s)

    def plan(self, planning: Planning) -> Planned:
        """Return its time, which is known."""
        del planning
        return Planned(Bounds(0.0, self.seconds + STEP_MAX_S), overhead_s=STEP_MAX_S)

    def effects(self) -> tuple[str, ...]:
        """Return what reaches the drive."""
        return (f"reads at random, on and off, for {self.seconds:g} s: marks for the recording of power",)

    def do(self, at: StepContext) -> StepResult:
        """Give the marks; none where that would read what was never written."""
        on_ns = []
        clock_ns = at.drive.telemetry.clock_ns
        unwritten = at.drive.written(0, at.drive.capacity_bytes) is False
        for number, (on, rest) in enumerate(() if unwritten else self.on_and_rest_s):
            at.look(f"mark {number + 1} of {len(self.on_and_rest_s)}")
            began = clock_ns()
            at.run(self._reads(on, number), None)
            on_ns.append((began, clock_ns()))
            at.drive.idle(rest, on_look=at.look)
        boot = None if at.drive.capabilities.virtual_time else boot_id()
        facts = MarksFacts(on_ns=tuple(on_ns), boot_id=boot)
        return StepResult(seconds=0.0, facts=facts.model_dump(mode="json", exclude_defaults=True))

    def _reads(self, seconds: float, number: int) -> Workload:
        stream = Stream(
            ops=Mix(read_pct=100),
            block=(Block(bytes=_BLOCK_BYTES),),
            workers=_WORKERS,
            stop=Stop(time_ns=round(seconds * 1e9)),
        )
        return Workload.of(stream, seed=self.seed + number)
