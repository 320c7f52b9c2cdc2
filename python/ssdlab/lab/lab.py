"""The verbs that a procedure may use: a method has no other access to the drive.

A procedure is straight-line code over these verbs. Each verb is an object (`verbs.verb.Verb`); `do` makes it
a `Request`, a step with an ordinal, and hands that to an `Executor`: `runner.Runner` does it on a drive and
journals it, `plan.Recorder` only counts it. Verbs without a function here are asked for by `do`. On resume
the procedure runs again from its first line; a finished step is read back from the journal and not done
twice. So a procedure may branch only on what a verb returned, on its parameters and on the facts of the
drive.

Interruption policies of a step:

`continue`
    What was done counts; the next attempt does the rest.
`restart`
    The attempt is voided and begun anew.
`re-precondition`
    The drive's state was part of the measurement and a pause has changed it: the last `precondition` step
    is done again first, and every trim after it, then the interrupted step; within a `stretch` all of that
    from its beginning. Other finished steps stay so.
`from-purge`
    The state is all that happened since the drive was fresh: the last purge and every step after it are done
    again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from ssdlab.lab.verbs.drive_state import Back, Flush, Fork, Purge, Stretch, Trim
from ssdlab.lab.verbs.record import Find, Health, Limit, Note
from ssdlab.lab.verbs.resting import Idle
from ssdlab.lab.verbs.settings import Conditions, SettingsFacts, Variant
from ssdlab.lab.verbs.steps import Finding, Foresighted, LabBase, Rehearsal, Until
from ssdlab.lab.verbs.workload import Fill, Precondition, Run
from ssdlab.model import units
from ssdlab.model.errors import UsageError
from ssdlab.model.workload import FILL_BLOCK_BYTES, Stop, Workload, fill_stream

if TYPE_CHECKING:
    from ssdlab.drives.purge import PurgeMethodName
    from ssdlab.formats.traces.reading import Source
    from ssdlab.lab.traces.mapping import TraceMapping
    from ssdlab.lab.verbs.verb import Verb
    from ssdlab.results.records import Policy, Tried
    from ssdlab.results.run_folder import Step
    from ssdlab.results.schema import Usable

T = TypeVar("T")


class Lab(LabBase):
    """What a procedure sees; made as `LabBase` says."""

    def run(
        self,
        workload: Workload,
        *,
        label: str,
        until: Until | None = None,
        policy: Policy = "restart",
        certain: bool = True,
        overload: bool = False,
        tried: Tried | None = None,
    ) -> Step:
        """Run a workload and measure it.

        Parameters
        ----------
        workload
            Streams without a span of their own get the lab's; without a seed of its own it gets the step's.
        label
            What the step is called in reports: "depth 8".
        until
            Ends it early.
        policy
            What an interruption means, unless a block says otherwise.
        certain
            False for a step of a search, which may end before it: a plan then counts it as at most.
        overload
            More may be asked for than the drive can do, and that is the finding: no warning about it.
        tried
            What a search tries in it; `RunData.tried` finds it again.
        """

        def step(laid: Workload) -> Run:
            return Run.of(laid, until, certain=certain, overload=overload)

        return self._work(workload, step, label, policy, prepares=False, tried=tried)

    def sweep(
        self,
        name: str,
        values: Iterable[T],
        workload_of: Callable[[T], Workload],
        *,
        label_of: Callable[[T], str] = str,
        policy: Policy = "restart",
        overload: bool = False,
        forked: bool = False,
    ) -> list[Step]:
        """Run one workload for each value, as steps of their own labelled `name value`.

        With `forked` each begins in the state that the drive is in now; see `fork`. `policy` and `overload`
        as of `run`.
        """

        def run(value: T) -> Step:
            label = f"{name} {label_of(value)}"
            return self.run(workload_of(value), label=label, policy=policy, overload=overload)

        listed = list(values)
        if not forked:
            return [run(value) for value in listed]
        with self.fork() as back:

            def points() -> list[Step]:
                steps = []
                for value in listed:
                    back()
                    steps.append(run(value))
                return steps

            return self._side_by_side(points)

    def fill(
        self,
        *,
        passes: int = 1,
        block_bytes: int = FILL_BLOCK_BYTES,
        depth: int = 1,
        unless_written: bool = False,
        row_ns: int = units.NS_PER_S,
    ) -> Step:
        """Write the whole span sequentially, with data that does not compress.

        Parameters
        ----------
        passes
            How often.
        block_bytes
            Block; cut down to what divides the span on a very small one.
        depth
            I/Os in flight; above 1 by io_uring.
        unless_written
            Leave it out where the drive can prove that every byte was written (a file can, a device cannot).
        row_ns
            Length of an interval row: shorter where the speed over the position is looked at.
        """
        if passes < 1:
            raise UsageError(f"a fill of {passes} passes writes nothing", "ask for 1 or more", passes=passes)
        unit = block_bytes
        while unit > self.logical_block_bytes and self._usable_bytes % unit:
            unit //= 2
        stream = fill_stream(unit, Stop(bytes=passes * (self._usable_bytes // unit) * unit), depth=depth)

        def step(laid: Workload) -> Fill:
            return Fill.of(laid, passes=passes, unless_written=unless_written)

        return self._work(Workload.of(stream, interval_ns=row_ns), step, f"fill, {passes} x", "continue")

    def precondition(
        self,
        workload: Workload,
        *,
        label: str = "precondition",
        until: Until | None = None,
        policy: Policy = "restart",
        certain: bool = True,
    ) -> Step:
        """Bring the drive into the state that the following steps measure; its own figures are kept too."""

        def step(laid: Workload) -> Precondition:
            return Precondition.of(laid, until, certain=certain)

        return self._work(workload, step, label, policy)

    def idle(self, seconds: float, *, label: str = "idle", certain: bool = True) -> Step:
        """Leave the drive alone; `certain` is that of `run`."""
        if seconds < 0:
            raise UsageError(f"idle for {seconds} s is negative", "give a time of 0 s or more")
        return self.do(Idle(seconds=seconds, certain=certain), label=label)

    def prepare(self, workload: Workload, verb_of: Callable[[Workload], Verb], *, label: str) -> Step:
        """Run a workload by a verb of its own that prepares the drive; its seed is that of preparations."""
        return self._work(workload, verb_of, label, "restart")

    def trim(self, *, start: int = 0, length: int | None = None, label: str = "trim") -> Step:
        """Discard a span, by default the whole one, and find out what came of it.

        The step's facts have in ``trim`` what `ssdlab.drives.trim.trimming.TrimRecord` says:
        ``reached_device`` (True, False, or None where nothing shows it), its ``evidence``, and what trimmed
        blocks ``reads`` (`zeroes`, `unchanged`, ...; None where the samples were blank before).

        Parameters
        ----------
        start, length
            The span in bytes; without a length, to the end of the part in use.
        label
            What the step is called in reports.
        """
        from ssdlab.drives.trim.trimming import check_range  # a plan of other steps needs no drives

        if length is None:
            length = self._usable_bytes - start
        check_range(start, length, self.capacity_bytes, self.logical_block_bytes)
        return self.do(Trim(start=start, length=length), label=label)

    def flush(self) -> Step:
        """Make everything written durable, the drive's cache included."""
        return self.do(Flush())

    def conditions(self, **required: str) -> Step:
        """Set what is required, read it back and record it; what cannot be had becomes a departure.

        Names and values are those of `ssdlab.drives.settings.NAMES`: ``scheduler="none"``,
        ``write_cache="off"``. All is put back at the end of the run.

        Raises
        ------
        Unsupported, DriveError, HostError
            Of ``lba_format`` alone, which loses the drive's data: it could not be set.
        """
        step = self.do(Conditions(required=dict(sorted(required.items()))))
        self._reformatted(required.get("lba_format"), step)
        return step

    def variant(self, demands: Mapping[str, str], usable: Usable | None, label: str) -> Step:
        """Make the drive the variant that is under test, or fail; see `ssdlab.runs.conditions.variant`."""
        step = self.do(Variant(required=dict(sorted(demands.items())), usable=usable), label=label)
        self._reformatted(demands.get("lba_format"), step)
        if usable is not None:
            self._use(usable.length)
        return step

    def limit(self, usable_bytes: int) -> Step:
        """Use only the first bytes of the drive from here on: spare area for the drive to work with."""
        unit = self.logical_block_bytes
        if not unit <= usable_bytes <= self.capacity_bytes or usable_bytes % unit:
            raise UsageError(
                f"a limit of {units.bytes_text(usable_bytes)} is not a part of this drive of "
                f"{units.bytes_text(self.capacity_bytes)}",
                f"give a multiple of {units.block_text(unit)} up to its capacity",
                usable_bytes=usable_bytes,
            )
        step = self.do(Limit(usable_bytes=usable_bytes))
        self._usable_bytes = usable_bytes
        return step

    def note(self, text: str) -> Step:
        """Put a remark into the record."""
        return self.do(Note(text=text))

    def find(self, finding: Finding, *, label: str) -> Step:
        """Work something out from the tables of finished steps; the step's facts hold it.

        A summary, which every measured step returns, says much already; this is for what only rows tell. In
        a plan the facts are empty.
        """
        return self.do(Find.of(finding), label=label)

    def purge(
        self, *, if_able: bool = False, method: PurgeMethodName | None = None, label: str = "purge"
    ) -> Step:
        """Erase the drive to its fresh state, and prove it.

        The step's facts have `purged`, and in `record` what `ssdlab.drives.purge.PurgeRecord` says.

        Parameters
        ----------
        if_able
            Where the drive has no purge method (a file has none), continue without; the step then says
            so, and the result departs from its method.
        method
            The way to use; by default the strongest that the drive supports.
        label
            What the step is called in reports.

        Raises
        ------
        DriveError
            It cannot be purged, failed in it, or was proven not to be purged.
        Unsupported
            The drive has no such way.
        """
        return self.do(Purge(if_able=if_able, method=method), label=label)

    def trace(self, source: Source, how: TraceMapping) -> Step:
        """Make a trace into a recording for the part of the drive in use; the drive is not touched.

        The facts of the step tell what became of it; `Recording` and `RecordedOps` are made of them.
        """
        from ssdlab.lab.verbs.trace import Trace

        asked = Trace(
            source=source,
            laying=how,
            usable_bytes=self._usable_bytes,
            logical_block_bytes=self.logical_block_bytes,
        )
        return self.do(asked, label="read the trace")

    def health(self) -> Step:
        """Read the drive's own health counters.

        Raises
        ------
        Unsupported
            Of a real drive nothing is read so far.
        """
        return self.do(Health())

    def stretch(self, *, label: str) -> Step:
        """Begin a stretch: the steps from here to the next one belong together, by `re-precondition`.

        An interruption voids what is finished of a stretch, too, so that no part of it is from before and
        another from after. Between stretches the run may go on in a later session on a real drive.

        The step's facts (`StretchFacts`) have in ``sitting`` a number that rises with every interruption that
        let the drive's state change: of a simulated drive, whose state is kept, none does.
        """
        return self.do(Stretch(), label=label, policy="re-precondition")

    @contextmanager
    def fork(self) -> Iterator[Callable[[], Step]]:
        """Let the parts of a block each begin in the state that the drive is in now.

        Yields what brings the drive back to it; that is done at the block's end too. A real drive cannot go
        back: what is measured then has the order of the parts in it, which becomes a departure.
        """
        mark = self.do(Fork())

        def back(*, end: bool = False) -> Step:
            return self.do(Back(to=mark.ordinal, end=end), label="back to the fork")

        yield back
        back(end=True)

    def _side_by_side(self, points: Callable[[], list[Step]]) -> list[Step]:
        """Do the points of a fork, none of which depends on another, on all processors where that can be."""
        executor = self._executor
        if not (self.forks and isinstance(executor, Foresighted)):
            return points()
        rehearsal = Rehearsal()
        with self._rehearsed(rehearsal):
            points()
        executor.expect(rehearsal.requests)
        try:
            return points()
        finally:
            executor.expect(())

    def _reformatted(self, block: str | None, step: Step) -> None:
        """Take the drive for what a format has made of it."""
        if block is not None:
            self.logical_block_bytes = units.parse_bytes(block)
            made = step.found(SettingsFacts).capacity_bytes
            self._use(self.capacity_bytes if made is None else made)
