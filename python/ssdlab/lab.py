"""The verbs a procedure may use, and nothing else: a method knows no drive.

A procedure is straight-line code over these verbs. Each verb makes a `Request`, a step with an ordinal, and
hands it to an `Executor`: `runner.Runner` does it on a drive and journals it, `plan.Recorder` only counts
it. On resume the procedure runs again from its first line; a finished step is read back from the journal
and not done twice. So a procedure may branch only on what a verb returned, on its parameters and on the
facts of the drive.

Interruption policies of a step:

`continue`
    What was done counts; the next attempt does the rest.
`restart`
    The attempt is voided and begun anew.
`re-precondition`
    The drive's state was part of the measurement and a pause has changed it: the last `precondition` step
    is done again first, and every trim after it, then the interrupted step. Other finished steps stay so.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from ssdlab import units
from ssdlab.errors import LabError, UsageError
from ssdlab.pattern import Sequential
from ssdlab.request import Executor, Finding, Request, Until
from ssdlab.span import Span
from ssdlab.workload import Block, Mix, Stop, Stream, Workload

if TYPE_CHECKING:
    from pydantic import JsonValue

    from ssdlab.drives.purge import PurgeMethod
    from ssdlab.results.run_folder import Step
    from ssdlab.results.schema import Policy
    from ssdlab.traces.laying import Laying
    from ssdlab.traces.reading import Source

T = TypeVar("T")

SPAN_UNIT_BYTES = 1 << 20
"""Capacities are rarely a multiple of the larger blocks. All steps alike leave out what lies beyond the last
whole MiB, so that what is read was written by a fill of any block size."""
SPAN_UNIT_FROM_BYTES = 1 << 30
"""Below, a MiB is no trifle: each stream leaves out only what its own block does not divide."""
FILL_BLOCK_BYTES = 128 * 1024
"""SNIA's block for sequential preconditioning."""


class Lab:
    """What a procedure sees.

    Parameters
    ----------
    executor
        Who does the steps.
    capacity_bytes, logical_block_bytes
        Facts of the drive.
    seed
        Seed of the run: each step draws its own from it and its ordinal.
    preparation_seed
        Seed of fills and preconditioning, where runs of a suite share them; by default that of the run.
    span_bytes
        Use no more of the drive than this, in whole blocks; None: all of it.
    forks
        Whether the drive can go back to a state; see `fork`.
    """

    def __init__(
        self,
        executor: Executor,
        *,
        capacity_bytes: int,
        logical_block_bytes: int,
        seed: int = 1,
        preparation_seed: int | None = None,
        span_bytes: int | None = None,
        forks: bool = False,
    ) -> None:
        self.capacity_bytes = capacity_bytes
        self.logical_block_bytes = logical_block_bytes
        self.forks = forks
        self._executor = executor
        self._seed = seed
        self._preparation_seed = seed if preparation_seed is None else preparation_seed
        self._ordinal = 0
        self._span_bytes = span_bytes
        self._use(capacity_bytes)
        self._policy: Policy | None = None

    @property
    def span(self) -> Span:
        """The part of the drive in use: all of it, in whole MiB, or what `limit` left."""
        return Span(start=0, length=self._usable_bytes)

    @contextmanager
    def on_interruption(self, policy: Policy) -> Iterator[None]:
        """Declare what an interruption means to every step of a block."""
        before, self._policy = self._policy, policy
        try:
            yield
        finally:
            self._policy = before

    def run(
        self,
        workload: Workload,
        *,
        label: str,
        until: Until | None = None,
        policy: Policy = "restart",
        certain: bool = True,
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
        """
        return self._work("run", workload, label, until, policy, None if certain else {"certain": False})

    def sweep(
        self,
        name: str,
        values: Iterable[T],
        workload_of: Callable[[T], Workload],
        *,
        label_of: Callable[[T], str] = str,
        policy: Policy = "restart",
        forked: bool = False,
    ) -> list[Step]:
        """Run one workload for each value, as steps of their own labelled `name value`.

        With `forked` each begins in the state that the drive is in now; see `fork`.
        """

        def run(value: T) -> Step:
            return self.run(workload_of(value), label=f"{name} {label_of(value)}", policy=policy)

        if not forked:
            return [run(value) for value in values]
        steps = []
        with self.fork() as back:
            for value in values:
                back()
                steps.append(run(value))
        return steps

    def fill(
        self,
        *,
        passes: int = 1,
        block_bytes: int = FILL_BLOCK_BYTES,
        depth: int = 1,
        unless_written: bool = False,
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
        """
        if passes < 1:
            raise UsageError(f"a fill of {passes} passes is none", "ask for 1 or more", passes=passes)
        unit = block_bytes
        while unit > self.logical_block_bytes and self._usable_bytes % unit:
            unit //= 2
        stream = Stream(
            name="fill",
            ops=Mix(read_pct=0),
            block=(Block(bytes=unit),),
            pattern=Sequential(),
            depth=depth,
            engine="sync" if depth == 1 else "uring",
            stop=Stop(bytes=passes * (self._usable_bytes // unit) * unit),
        )
        extra: dict[str, JsonValue] = {"passes": passes, "unless_written": unless_written}
        return self._work("fill", Workload.of(stream), f"fill, {passes} x", None, "continue", extra)

    def precondition(
        self,
        workload: Workload,
        *,
        label: str = "precondition",
        until: Until | None = None,
        policy: Policy = "restart",
    ) -> Step:
        """Bring the drive into the state that the following steps measure; its own figures are kept too."""
        return self._work("precondition", workload, label, until, policy)

    def idle(self, seconds: float, *, label: str = "idle", certain: bool = True) -> Step:
        """Leave the drive alone; `certain` is that of `run`."""
        if seconds < 0:
            raise UsageError(f"idle for {seconds} s is in the past", "give a time of 0 s or more")
        args: dict[str, JsonValue] = {"seconds": seconds, **({} if certain else {"certain": False})}
        return self._do("idle", label, args, "restart")

    def trim(self, *, start: int = 0, length: int | None = None, label: str = "trim") -> Step:
        """Discard a span, by default the whole one, and find out what came of it.

        The step's facts have in ``trim`` what `ssdlab.drives.trimming.TrimRecord` says: ``reached_device``
        (True, False, or None where nothing shows it), its ``evidence``, and what trimmed blocks ``reads``
        (`zeroes`, `unchanged`, ...; None where the samples were blank before).

        Parameters
        ----------
        start, length
            The span in bytes; without a length, to the end of the part in use.
        label
            What the step is called in reports.
        """
        from ssdlab.drives.trimming import check_range  # a plan of other steps needs no drives

        if length is None:
            length = self._usable_bytes - start
        check_range(start, length, self.capacity_bytes, self.logical_block_bytes)
        return self._do("trim", label, {"start": start, "length": length}, "restart")

    def flush(self) -> Step:
        """Make everything written durable, the drive's cache included."""
        return self._do("flush", "flush", {}, "restart")

    def conditions(self, **required: str) -> Step:
        """Set what is required, read it back and record it; what cannot be had becomes a departure.

        Names and values are those of `ssdlab.drives.settings.NAMES`: ``scheduler="none"``,
        ``write_cache="off"``. All is put back at the end of the run.

        Raises
        ------
        Unsupported, DriveError, HostError
            Of ``lba_format`` alone, which loses the drive's data: it could not be set.
        """
        args: dict[str, JsonValue] = {"required": dict(sorted(required.items()))}
        step = self._do("conditions", "conditions", args, "restart")
        self._reformatted(required.get("lba_format"), step)
        return step

    def variant(self, demands: Mapping[str, str], usable: Mapping[str, JsonValue] | None, label: str) -> Step:
        """Make the drive the variant that is under test, or fail; see `ssdlab.conditions.variant`."""
        args: dict[str, JsonValue] = {"required": dict(sorted(demands.items()))}
        args["usable"] = None if usable is None else dict(usable)
        step = self._do("variant", label, args, "restart")
        self._reformatted(demands.get("lba_format"), step)
        if usable is not None:
            self._use(int(str(usable["length"])))
        return step

    def limit(self, usable_bytes: int) -> Step:
        """Use only the first bytes of the drive from here on: spare area for the drive to work with."""
        unit = self.logical_block_bytes
        if not unit <= usable_bytes <= self.capacity_bytes or usable_bytes % unit:
            raise UsageError(
                f"a limit of {usable_bytes} bytes is not a part of this drive of {self.capacity_bytes}",
                f"give a multiple of {units.block_text(unit)} up to its capacity",
                usable_bytes=usable_bytes,
            )
        step = self._do("limit", "limit", {"usable_bytes": usable_bytes}, "restart")
        self._usable_bytes = usable_bytes
        return step

    def note(self, text: str) -> Step:
        """Put a remark into the record."""
        return self._do("note", "note", {"text": text}, "restart")

    def find(self, finding: Finding, *, label: str) -> Step:
        """Work something out from the tables of finished steps; the step's facts hold it.

        A summary, which every measured step returns, says much already; this is for what only rows tell. In
        a plan the facts are empty.
        """
        args: dict[str, JsonValue] = {"name": finding.name, **finding.args}
        return self._do("find", label, args, "restart", finding=finding)

    def purge(
        self, *, if_able: bool = False, method: PurgeMethod | None = None, label: str = "purge"
    ) -> Step:
        """Erase the drive to its fresh state, and prove it.

        The step's facts have `purged`, and in `record` what `ssdlab.drives.purge.PurgeRecord` says.

        Parameters
        ----------
        if_able
            Where the drive has no way to be purged (a file has none), go on without; the step then says
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
        return self._do("purge", label, {"if_able": if_able, "method": method}, "restart")

    def trace(self, source: Source, how: Laying) -> Step:
        """Make a trace into a recording for the part of the drive in use; the drive is not touched.

        The facts of the step tell what became of it; `Recording` and `RecordedOps` are made of them.
        """
        args: dict[str, JsonValue] = {
            "source": source.model_dump(mode="json"),
            "laying": how.model_dump(mode="json"),
            "usable_bytes": self._usable_bytes,
            "logical_block_bytes": self.logical_block_bytes,
        }
        return self._do("trace", "read the trace", args, "restart")

    def health(self) -> Step:
        """Read the drive's own health counters.

        Raises
        ------
        Unsupported
            Of a real drive nothing is read so far.
        """
        return self._do("health", "health", {}, "restart")

    @contextmanager
    def fork(self) -> Iterator[Callable[[], Step]]:
        """Let the parts of a block each begin in the state that the drive is in now.

        Yields what brings the drive back to it; that is done at the block's end too. A real drive cannot go
        back: what is measured then has the order of the parts in it, which becomes a departure.
        """
        mark = self._do("fork", "fork", {}, "restart")

        def back(*, end: bool = False) -> Step:
            return self._do("back", "back to the fork", {"to": mark.ordinal, "end": end}, "restart")

        yield back
        back(end=True)

    def _use(self, capacity_bytes: int) -> None:
        """Take the drive for one of that capacity."""
        self.capacity_bytes = capacity_bytes
        unit = SPAN_UNIT_BYTES if capacity_bytes >= SPAN_UNIT_FROM_BYTES else self.logical_block_bytes
        self._usable_bytes = min(capacity_bytes, self._span_bytes or capacity_bytes) // unit * unit

    def _reformatted(self, block: str | None, step: Step) -> None:
        if block is not None:
            self.logical_block_bytes = units.parse_bytes(block)
            self._use(int(str(step.result.facts.get("capacity_bytes", self.capacity_bytes))))

    def _work(
        self,
        verb: str,
        workload: Workload,
        label: str,
        until: Until | None,
        policy: Policy,
        extra: dict[str, JsonValue] | None = None,
    ) -> Step:
        if endless := next((s.name for s in workload.streams if not s.stop.ever), None):
            raise UsageError(
                f"stream {endless!r} of step {label!r} would never stop",
                "give it a time, bytes or I/Os to stop at",
            )
        workload = self._laid(workload, self._seed if verb == "run" else self._preparation_seed)
        try:  # in the plan already: what cannot be laid on this drive is refused before anything is done
            workload.resolve(self.capacity_bytes, self.logical_block_bytes)
        except LabError as error:
            error.what = f"{label}: {error.what}"
            raise
        args: dict[str, JsonValue] = {"workload": workload.model_dump(mode="json"), **(extra or {})}
        if until is not None:
            args["until"] = {"name": until.name, **until.args}
        return self._do(verb, label, args, policy, workload, until)

    def _do(
        self,
        verb: str,
        label: str,
        args: dict[str, JsonValue],
        policy: Policy,
        workload: Workload | None = None,
        until: Until | None = None,
        finding: Finding | None = None,
    ) -> Step:
        request = Request(self._ordinal, verb, label, args, self._policy or policy, workload, until, finding)
        if request.policy == "continue" and workload is not None:
            _check_continuable(workload)
        self._ordinal += 1
        return self._executor.perform(request)

    def _laid(self, workload: Workload, seed: int) -> Workload:
        """Give the workload a seed of the step and the lab's span where it has none of its own."""
        changes: dict[str, Any] = {}
        if "seed" not in workload.model_fields_set:
            changes["seed"] = derived_seed(seed, self._ordinal)
        streams = tuple(
            stream
            if "span" in stream.model_fields_set
            else stream.model_copy(update={"span": self._span_of(stream)})
            for stream in workload.streams
        )
        return workload.model_copy(update={**changes, "streams": streams})

    def _span_of(self, stream: Stream) -> Span:
        unit = min(block.bytes for block in stream.block)
        return Span(start=0, length=self._usable_bytes // unit * unit)


def derived_seed(seed: int, *path: int) -> int:
    """Derive a seed from another and a path of numbers (ordinal, segment): the same for the same."""
    text = ":".join(str(part) for part in (seed, *path))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")


def _check_continuable(workload: Workload) -> None:
    """Refuse a policy that could not be kept: after a kill the cursors of many workers are not known."""
    if len(workload.streams) > 1:
        raise UsageError(
            "a step of several streams cannot be continued after a kill", "declare restart or re-precondition"
        )
    stream = workload.streams[0]
    if isinstance(stream.pattern, Sequential) and stream.workers > 1:
        raise UsageError(
            f"a sequential step of {stream.workers} workers cannot be continued after a kill",
            "declare restart or re-precondition, or use one worker",
            workers=stream.workers,
        )
