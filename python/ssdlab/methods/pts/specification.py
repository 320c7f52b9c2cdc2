"""What SNIA's specification requires of every test: settings, preparation before the rounds, and departures.

Each default is the value that the specification requires or recommends. Any other value is a departure,
except for choices that the specification leaves open. A run that follows a published practice is compared
with that practice (`followed`).

Before the rounds, a test sets the write cache, purges, limits the active range, and overwrites the drive.
Saturation and steady state are measured by the bytes written.

Departures are found from what a run did, not from what it intended. A test only has to name `pts_remarks` as
its method's `remarks`::

    METHOD = Method(..., remarks=pts_remarks)

The list then appears in the manifest, on the terminal, in `--json` and on every page. It holds the departures
that steps recorded: a purge left out or replaced by a discard, or another write cache setting. It also holds
those that this module finds:

- a target that is not a whole drive;
- an active range of another size, or one made by limiting the LBAs;
- block sizes that the sectors do not allow;
- another thread count, depth or engine;
- interruptions;
- every parameter that differs from the specification.

A parameter's default must therefore be the specification's value. `choices` holds the parameters that it
leaves open, and `allowed` the further values that it names. `recommended` is its thread count and depth. The
warning about steady state before the drive was full comes from the result's `windows`.

Source: SNIA SSS PTS 2.0.2, sections 2 (definitions), 2.1.18 (preconditioning) and 3 (settings and purge).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from math import isclose
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, cast

from pydantic import model_validator

from ssdlab.plugin import (
    SPAN_UNIT_BYTES,
    Block,
    Bytes,
    Departure,
    Mix,
    Params,
    Remarks,
    Seconds,
    Sequential,
    StepGroup,
    Stop,
    Stream,
    UsageError,
    Warned,
    Workload,
    block_text,
    capacity_text,
    judge_fills,
    param,
    scale_of,
    significant,
    written_by,
)

from .result import SPECIFICATION, PtsBase

if TYPE_CHECKING:
    from ssdlab.plugin import Lab, ParameterInfo, RunData, RunFacts


Setting = Literal["enterprise", "client"]
SETTINGS: dict[Setting, Literal["PTS-E", "PTS-C"]] = {"enterprise": "PTS-E", "client": "PTS-C"}
WRITE_CACHE = {"enterprise": "off", "client": "on"}
ACTIVE_RANGE_PCT = {"enterprise": 100, "client": 75}
RECOMMENDED_SHAPE = {"enterprise": (4, 32), "client": (2, 16)}
"""Thread count and depth by setting, for tests that leave them to the operator."""
REVIEW_PRACTICE = f"TheSSDReview's practice (2016) on {SPECIFICATION}"
KIB = 1024
MAX_SEGMENTS = 2048
"""Segments of an active range: the number in PTS-C 1.2."""
SECTOR_BYTES = 512
"""Smallest block size of the tests."""
_ROUND = re.compile(r"(.*\bround \d+), ")
"""Matches the round in the label of a cell's step."""


class PtsParams(Params):
    """Parameters of every test in the specification."""

    choices: ClassVar[frozenset[str]] = frozenset(
        {"setting", "threads", "depth", "active_range", "active_range_amount", "active_range_segments"}
    )
    """Parameters that may differ from their default without a departure. The specification leaves them to the
    operator, or another check judges them.
    """

    allowed: ClassVar[Mapping[str, frozenset[object]]] = {}
    """Further values, by parameter, that the specification names: they are no departures."""
    left_open: ClassVar[tuple[str, ...]] = ()
    """Points that the text leaves open, or whose text was not available, each with the choice made here. A
    subclass adds its own points to those of its bases.
    """
    left_open_client: ClassVar[tuple[str, ...]] = (
        "amounts and segments of the active range in PTS-C 1.2: here by active_range_amount and "
        "active_range_segments, by default the whole of the range in one",
    )
    """Points that are left open only under the setting PTS-C."""

    setting: Setting = param(
        "enterprise",
        "enterprise (PTS-E): write cache off, whole range; client (PTS-C): write cache on, 75 % of the range",
    )
    threads: int = param(
        0,
        "thread count (TC); 0: as the setting recommends, 4 (PTS-E) or 2 (PTS-C)",
        unit="threads",
        ge=0,
        le=512,
    )
    depth: int = param(
        0,
        "I/Os in flight per thread (QD); 0: as the setting recommends, 32 (PTS-E) or 16 (PTS-C)",
        ge=0,
        le=4096,
    )
    active_range: int = param(
        0, "share of the user capacity that is used; 0: as the setting says", unit="%", ge=0, le=100
    )
    active_range_amount: Bytes = param(
        0, "bytes of the active range that are used, from its first LBA on; 0: all of it", unit="B", ge=0
    )
    active_range_segments: int = param(
        1,
        "equal pieces of that amount, evenly spread over the active range; over 1 for random I/O only",
        ge=1,
        le=MAX_SEGMENTS,
    )
    seconds: Seconds = param(
        60.0, "length of a cell, a sample or a record", unit="s", quick=0.5, gt=0, le=3600
    )

    @model_validator(mode="after")
    def _amount_of_segments(self) -> Self:
        """Refuse segments without an amount.

        The check is made here and not in the plan, because a suite leaves out methods whose plan is refused.
        """
        if self.active_range_segments > 1 and not self.active_range_amount:
            raise UsageError(
                "segments of the active range need its amount",
                "also give active_range_amount: --set active_range_amount=16GiB",
            )
        return self

    @property
    def write_cache(self) -> str:
        return WRITE_CACHE[self.setting]

    @property
    def source(self) -> str:
        """The source that the run follows; differences from it are departures."""
        return SPECIFICATION

    @property
    def followed(self) -> Mapping[str, object]:
        """Parameter values of the source, if it is not the specification."""
        return {}

    @property
    def recommended(self) -> tuple[int, int] | None:
        """Thread count and depth that the specification names for the test; None: it leaves them open."""
        return RECOMMENDED_SHAPE[self.setting]

    @property
    def shape(self) -> tuple[int, int]:
        """Number of threads, and of I/Os in flight per thread."""
        threads, depth = self.recommended or RECOMMENDED_SHAPE[self.setting]
        return self.threads or threads, self.depth or depth

    @property
    def engine(self) -> Literal["sync", "uring"]:
        """I/O engine on a real drive; a single I/O in flight needs no io_uring."""
        return "sync" if self.shape[1] == 1 else "uring"

    @property
    def open_points(self) -> tuple[str, ...]:
        names = ("left_open", "left_open_client") if self.setting == "client" else ("left_open",)
        return tuple(
            each for name in names for kind in type(self).__mro__ for each in vars(kind).get(name, ())
        )

    @property
    def range_pct(self) -> int:
        """Share of the user capacity in use, in percent."""
        return self.active_range or ACTIVE_RANGE_PCT[self.setting]

    def range_bytes(self, capacity_bytes: int) -> int:
        """Return the bytes in use: the active range, or the requested amount of it."""
        whole = capacity_bytes * self.range_pct // 100
        return min(whole, self.active_range_amount) if self.active_range_amount else whole


class LoopParams(PtsParams):
    """Parameters of tests that run rounds until steady."""

    most_rounds: int = param(
        25, "maximum rounds, steady or not; the last five are then the window", quick=5, ge=5, le=1000
    )
    fixed_rounds: bool = param(False, "do all rounds, steady or not, as a published review does")


class RoundsParams(LoopParams):
    """Parameters of tests that write the whole drive before the rounds."""

    left_open_client: ClassVar[tuple[str, ...]] = (
        "whether PTS-C writes twice the user capacity or twice the active range before the rounds: here as "
        "overwrites_of says",
    )

    overwrites: float = param(
        2.0,
        "how often overwrites_of is written before the rounds (workload-independent preconditioning)",
        unit="times",
        quick=1.0,
        ge=0,
        le=20,
    )
    overwrites_of: Literal["user-capacity", "active-range"] = param(
        "user-capacity",
        "amount that is written so often into the active range; the text says user capacity, even if "
        "75 % of it are used; open implementations call that unclear",
    )
    reported: Literal["window", "four-after"] = param(
        "window",
        "rounds whose mean a cell reports. window: the five that prove steady state; four-after: the "
        "four after them, or the last four, as a published review does",
    )


def engine_of(depth: int) -> Any:  # noqa: ANN401 - the name of an engine
    """Return the engine for a thread's I/O; a single I/O in flight needs no io_uring."""
    return "sync" if depth == 1 else "uring"


def begin(lab: Lab, p: PtsParams, *, label: str = "purge") -> None:
    """Set the write cache as the test's setting requires, purge, and limit I/O to the active range."""
    lab.conditions(scheduler="none", write_cache=p.write_cache)
    lab.purge(if_able=True, label=label)
    unit = max(lab.logical_block_bytes, min(SPAN_UNIT_BYTES, lab.usable_bytes))
    spread = p.active_range_segments > 1
    asked = lab.capacity_bytes * p.range_pct // 100 if spread else p.range_bytes(lab.capacity_bytes)
    usable = asked // unit * unit
    if unit <= usable < lab.usable_bytes:
        lab.limit(usable)
    if spread:
        lab.scatter(p.active_range_segments, p.active_range_amount)


def precondition(lab: Lab, p: RoundsParams, block_bytes: int, *, label: str = "WIPC") -> None:
    """Write sequentially before the rounds, as many times as the specification requires.

    The threads and depth are those of the test. Each thread begins at its own part of the active range and
    continues into the next part, so that every block is written equally often. The whole active range is
    written, even if the test then uses only segments of it.
    """
    if p.overwrites <= 0:
        return
    threads, depth = p.shape
    unit = block_bytes
    while unit > lab.logical_block_bytes and lab.usable_bytes % unit:
        unit //= 2
    whole_bytes = lab.usable_bytes if p.overwrites_of == "active-range" else lab.capacity_bytes
    blocks = max(1, round(p.overwrites * whole_bytes / unit))
    stream = Stream(
        name="WIPC",
        ops=Mix(read_pct=0),
        block=(Block(bytes=unit),),
        pattern=Sequential(),
        workers=threads,
        depth=depth,
        engine=engine_of(depth),
        stop=Stop(bytes=blocks * unit),
    )
    if lab.scattered:
        stream = stream.model_copy(update={"span": lab.span})
    lab.precondition(Workload.of(stream), label=label)


def written_until(data: RunData, ordinal: int) -> int:
    """Return the bytes written from the last purge to the end of a step, including voided attempts.

    Without a purge, the count starts with the run.
    """
    return written_by(data.steps, data.capacity_bytes, data.voided)[ordinal].bytes


def pts_remarks(facts: RunFacts, p: PtsParams) -> Remarks:
    """Return a run's departures, and the warnings about its steady state."""
    result = cast("PtsBase", facts.result)
    found = (
        *_of_drive(facts),
        *_of_range(facts, p),
        *_of_cells(facts, result),
        *_of_load(facts, p),
        *_of_parameters(p, scale_of(facts.data)),
        *_of_interruptions(facts),
    )
    warned = [
        each for window in result.windows if window.steady for each in judge_fills(window.what, window.fills)
    ]
    return Remarks(found, tuple(Warned(code=w.code, what=w.what, advice=w.advice) for w in warned))


def _of_drive(facts: RunFacts) -> Iterator[Departure]:
    can = facts.manifest.drive.capabilities
    if can.made_to_order:
        yield Departure(
            code="simulated-drive",
            what="the drive is simulated: a model gives its purge, write cache and times",
            why="the specification covers solid-state storage devices",
        )
    elif can.on_file_system:
        yield Departure(
            code="file",
            what="a file was tested, not a drive: every figure includes its file system",
            why="the specification tests a device through its LBAs",
        )
    elif not can.whole:
        yield Departure(
            code="partition",
            what="a partition was tested, not the whole drive",
            why="user capacity means the capacity of the whole drive",
        )


def _of_range(facts: RunFacts, p: PtsParams) -> Iterator[Departure]:
    asked = ACTIVE_RANGE_PCT[p.setting]
    if p.range_pct != asked:
        yield Departure(
            code="active-range",
            what=f"the active range is {p.range_pct} % of the user capacity, not {asked} %",
            why="set by the user",
        )
    whole = facts.data.capacity_bytes * p.range_pct // 100
    if p.range_bytes(facts.data.capacity_bytes) < whole:
        pieces = p.active_range_segments
        yield Departure(
            code="active-range-amount",
            what=f"of the active range {capacity_text(p.active_range_amount)} are used, in "
            f"{'one segment' if pieces == 1 else f'{pieces} segments'}",
            why="set by the user"
            + ("" if pieces == MAX_SEGMENTS else f"; PTS-C 1.2 spreads it over {MAX_SEGMENTS} segments"),
        )
    drive = facts.manifest.drive
    usable = None if drive.variant is None else drive.variant.usable
    if usable is not None:
        share = 100 * usable.length / drive.capacity_bytes
        yield Departure(
            code="active-range-limited",
            what=f"AR(0:{significant(share)}): the tests used {capacity_text(usable.length)} of the LBAs; "
            "the drive still reports its whole capacity",
            why="spare area by another reported capacity (HPA, namespace) would be another drive under test",
        )


def _of_cells(facts: RunFacts, result: PtsBase) -> Iterator[Departure]:
    sector_bytes = facts.data.logical_block_bytes
    if sector_bytes > SECTOR_BYTES:
        yield Departure(
            code="sector-size",
            what=f"the drive has sectors of {block_text(sector_bytes)}: every access is aligned to them",
            why="the tests are written for sectors of 512 B",
        )
    if result.left_out:
        yield Departure(
            code="skipped-cells",
            what=f"not measured: {', '.join(result.left_out)}",
            why=result.left_out_why,
        )


def _of_load(facts: RunFacts, p: PtsParams) -> Iterator[Departure]:
    threads, depth = p.shape
    recommended = p.recommended
    if recommended is not None and (threads, depth) != recommended:
        yield Departure(
            code="shape",
            what=f"thread count {threads}, depth {depth}; recommended are {recommended[0]} and "
            f"{recommended[1]}",
            why="the operator chooses thread count and depth, and must report them",
        )
        if depth == 1 < recommended[1]:
            yield Departure(
                code="engine",
                what=f"{threads} threads with one synchronous I/O in flight each",
                why="the specification means asynchronous I/O by the depth of a thread",
            )
    if any(not stream.direct for stream in _streams(facts)):
        yield Departure(
            code="buffered",
            what="I/O went through the page cache of the host",
            why="the drive's own write cache is under test, not the host's memory",
        )


def _of_parameters(p: PtsParams, scale: int) -> Iterator[Departure]:
    for info in type(p).table():
        value = getattr(p, info.name)
        plain = list(value) if isinstance(value, tuple) else value
        asked = p.followed.get(info.name, info.default)
        if plain != asked and info.name not in p.choices and plain not in p.allowed.get(info.name, ()):
            scaled = info.unit == "s" and scale > 1 and isclose(float(str(value)) * scale, float(str(asked)))
            yield Departure(
                code=f"parameter-{info.name}",
                what=f"{info.name.replace('_', ' ')}: {_format_value(plain, info)}, "
                f"not {_format_value(asked, info)}"
                + (f", as the drive has 1/{scale:g} of its size" if scaled else ""),
                why=f"{info.reason}; so it writes the same share of the drive" if scaled else info.reason,
            )


def _of_interruptions(facts: RunFacts) -> Iterator[Departure]:
    """Yield a departure for a resumed run, unless the drive's state was kept over the interruption."""
    times = len(facts.manifest.sessions) - 1
    if times < 1 or facts.manifest.drive.capabilities.forks:
        return
    marks = {step.ordinal for step in facts.data.steps if step.verb == StepGroup.verb}
    # A round is repeated as a whole, so name the round instead of each cell.
    again = dict.fromkeys(
        label if (round_of := _ROUND.match(label)) is None else round_of[1]
        for label in (attempt.label for attempt in facts.voided if attempt.ordinal not in marks)
    )
    done = f"; done again: {', '.join(sorted(again))}" if again else ""
    yield Departure(
        code="interrupted",
        what=f"interrupted and resumed {times} time{'' if times == 1 else 's'}{done}",
        why="the drive rested between steps, which the specification does not allow",
    )


def _streams(facts: RunFacts) -> Iterator[Stream]:
    for step in facts.data.steps:
        workload = step.workload
        if workload is not None:
            yield from workload.streams


def _format_value(value: object, info: ParameterInfo) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        text = ", ".join(map(str, value))
    else:
        text = significant(value) if isinstance(value, float) else str(value)
    return f"{text} {info.unit_of(value)}".rstrip()
