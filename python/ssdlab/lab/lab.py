"""The verbs of a procedure: a method's only access to the drive.

A procedure is plain Python code that calls these verbs. Each verb is an object (`verbs.verb.Verb`). `do`
turns it into a `Request`, which is a numbered step, and passes the request to an `Executor`.
`runner.Runner` executes the step on a drive and journals it; `plan.Recorder` only counts it. Verbs without
a function here are called by `do`.

On resume, the procedure runs again from its first line. Finished steps are read back from the journal and
are not done twice. A procedure may therefore branch only on what a verb returned, on its parameters and on
facts of the drive.

Interruption policies of a step:

`continue`
    Work already done counts; the next attempt does what is left.
`restart`
    The attempt is voided and started again.
`re-precondition`
    The measurement depends on the drive's state, which a pause changes. The last `precondition` step is
    repeated first, with every trim after it, and then the interrupted step. Within a `group`, all its
    steps are repeated. Other finished steps are kept.
`from-purge`
    The drive's state depends on all steps since it was fresh. The last purge and every step after it are
    repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from ssdlab.lab.verbs.drive_state import (
    Back,
    Conditions,
    Flush,
    Fork,
    Purge,
    SettingsFacts,
    StepGroup,
    Trim,
    Variant,
)
from ssdlab.lab.verbs.record import Find, Health, Limit, Note
from ssdlab.lab.verbs.resting import Idle
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
    """The verbs that a procedure calls; see `LabBase` for the parameters."""

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
            Streams without a span use the lab's span. A workload without a seed uses the step's seed.
        label
            Name of the step in reports, such as "depth 8".
        until
            Condition that ends the step early.
        policy
            Interruption policy; a block of `on_interruption` overrides it.
        certain
            False for a step that a search may skip: a plan counts it in the upper bounds only.
        overload
            Whether overload is intended; it then raises no warning.
        tried
            The value that a search tries in this step, for `RunData.tried`.
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
        """Run a workload for each value, in steps labelled `name value`.

        With `forked`, each step starts in the drive's present state; see `fork`. See `run` for `policy` and
        `overload`.
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
        """Write the whole span sequentially, with incompressible data.

        Parameters
        ----------
        passes
            Number of times to write the span.
        block_bytes
            Block size; reduced to divide a very small span.
        depth
            I/Os in flight; io_uring is used above 1.
        unless_written
            Skip the fill if every byte is known to be written. A file can prove that; a device cannot.
        row_ns
            Length of an interval row. Choose a shorter one to see the speed over the position.
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
        """Bring the drive into the state that later steps need, and keep the figures of this step.

        See `run` for the parameters.
        """

        def step(laid: Workload) -> Precondition:
            return Precondition.of(laid, until, certain=certain)

        return self._work(workload, step, label, policy)

    def idle(self, seconds: float, *, label: str = "idle", certain: bool = True) -> Step:
        """Leave the drive idle; for `certain` see `run`."""
        if seconds < 0:
            raise UsageError(f"idle for {seconds} s is negative", "give a time of 0 s or more")
        return self.do(Idle(seconds=seconds, certain=certain), label=label)

    def prepare(self, workload: Workload, verb_of: Callable[[Workload], Verb], *, label: str) -> Step:
        """Run a workload that prepares the drive, by the given verb and with the seed for preparations."""
        return self._work(workload, verb_of, label, "restart")

    def trim(self, *, start: int = 0, length: int | None = None, label: str = "trim") -> Step:
        """Discard a span (by default the whole one), and check the effect.

        The step's facts hold a `ssdlab.drives.trim.trimming.TrimRecord` in ``trim``. Its ``reached_device``
        is True, False, or None if unknown, and ``evidence`` says how that is known. Its ``reads`` is what
        trimmed blocks return (`zeroes`, `unchanged`, ...); None if the samples were blank before.

        Parameters
        ----------
        start, length
            The span in bytes; without a length, it extends to the end of the part in use.
        label
            Name of the step in reports.
        """
        from ssdlab.drives.trim.trimming import check_range  # late: a plan without a trim needs no drives

        if length is None:
            length = self._usable_bytes - start
        check_range(start, length, self.capacity_bytes, self.logical_block_bytes)
        return self.do(Trim(start=start, length=length), label=label)

    def flush(self) -> Step:
        """Make all writes durable, including those in the drive's cache."""
        return self.do(Flush())

    def conditions(self, **required: str) -> Step:
        """Set conditions, read them back and record them; each failure becomes a departure.

        Names and values are those of `ssdlab.drives.settings.NAMES`: ``scheduler="none"``,
        ``write_cache="off"``. All settings are restored at the end of the run.

        Raises
        ------
        Unsupported, DriveError, HostError
            ``lba_format``, which loses the drive's data, could not be set. Other conditions raise no error.
        """
        step = self.do(Conditions(required=dict(sorted(required.items()))))
        self._reformatted(required.get("lba_format"), step)
        return step

    def variant(self, demands: Mapping[str, str], usable: Usable | None, label: str) -> Step:
        """Turn the drive into the variant under test, or fail; see `ssdlab.runs.conditions.variant`."""
        step = self.do(Variant(required=dict(sorted(demands.items())), usable=usable), label=label)
        self._reformatted(demands.get("lba_format"), step)
        if usable is not None:
            self._use(usable.length)
        return step

    def limit(self, usable_bytes: int) -> Step:
        """Use only the first bytes of the drive from now on; the rest is spare area."""
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
        """Add a remark to the journal."""
        return self.do(Note(text=text))

    def find(self, finding: Finding, *, label: str) -> Step:
        """Compute a result from the tables of finished steps, and keep it as a step's facts.

        Use it for values that a step's summary does not have. In a plan the facts are empty.
        """
        return self.do(Find.of(finding), label=label)

    def purge(
        self, *, if_able: bool = False, method: PurgeMethodName | None = None, label: str = "purge"
    ) -> Step:
        """Erase the drive to its fresh state, and check that it is fresh.

        The step's facts hold `purged`, and a `ssdlab.drives.purge.PurgeRecord` in `record`.

        Parameters
        ----------
        if_able
            If the drive has no purge method (a file has none), continue without a purge, which is a
            departure.
        method
            Purge method; by default the strongest that the drive supports.
        label
            Name of the step in reports.

        Raises
        ------
        DriveError
            The drive cannot be purged, the purge failed, or data survived it.
        Unsupported
            The drive lacks that method.
        """
        return self.do(Purge(if_able=if_able, method=method), label=label)

    def trace(self, source: Source, how: TraceMapping) -> Step:
        """Convert a trace into a recording for the part of the drive in use; the drive is not touched.

        `replay_of` makes the workload of the replay from the step's facts.
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
            The drive does not report its health to this user.
        """
        return self.do(Health())

    def group(self, *, label: str) -> Step:
        """Start a group of steps that an interruption voids together; the next group ends it.

        An interruption voids the finished steps of its group, so no group spans an interruption. Between
        groups, a run on a real drive can be continued in a later session. ``epoch`` in the step's facts
        (`StepGroupFacts`) numbers the epochs between interruptions that let the drive's state change. It does
        not change on a simulated drive, whose state is kept.
        """
        return self.do(StepGroup(), label=label, policy="re-precondition")

    @contextmanager
    def fork(self) -> Iterator[Callable[[], Step]]:
        """Keep the drive's present state, and yield a function that restores it.

        The state is also restored at the end of the block. A real drive cannot go back: its figures depend on
        the order of the steps in the block, which becomes a departure.
        """
        mark = self.do(Fork())

        def back(*, end: bool = False) -> Step:
            return self.do(Back(to=mark.ordinal, end=end), label="back to the fork")

        yield back
        back(end=True)

    def _side_by_side(self, points: Callable[[], list[Step]]) -> list[Step]:
        """Run the independent points of a fork, in parallel if the executor can."""
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
        """Use the block size and capacity that a format has given the drive."""
        if block is not None:
            self.logical_block_bytes = units.parse_bytes(block)
            made = step.found(SettingsFacts).capacity_bytes
            self._use(self.capacity_bytes if made is None else made)
