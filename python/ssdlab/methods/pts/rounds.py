"""The round loop of the specification: the same cells again and again, until what is tracked is steady.

A round is one pass over all cells in the written order. From the fifth round on the last five are judged by
SNIA's rule; all tracked variables have to be steady in the same window. What is reported of a cell is the
mean over the rounds of that window.

Source: SNIA SSS PTS 2.0.2, sections 2.1.13 (measurement window), 2.1.24 (steady state) and 3 (settings).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

from ssdlab.analysis.steady_state import WINDOW, first_steady, judge_window
from ssdlab.methods.method import Params, RunData, Seconds, param
from ssdlab.pattern import Sequential, Uniform
from ssdlab.results.pts import PtsCell, PtsRounds, TrackedVariable
from ssdlab.units import NS_PER_S, block_text
from ssdlab.workload import Block, Mix, Stop, Stream, Workload

if TYPE_CHECKING:
    from ssdlab.lab import Lab
    from ssdlab.results.run_folder import Step

Setting = Literal["enterprise", "client"]
SETTINGS = {"enterprise": "PTS-E", "client": "PTS-C"}
WRITE_CACHE = {"enterprise": "off", "client": "on"}
ACTIVE_RANGE_PCT = {"enterprise": 100, "client": 75}
SPECIFICATION = "SNIA SSS PTS 2.0.2"
KIB = 1024

Value = Callable[[dict[str, Any]], float]
"""What is tracked of a cell: a figure of its journalled summary."""


class PtsParams(Params):
    """Of every test of the specification."""

    setting: Setting = param(
        "enterprise",
        "PTS-E: write cache off, whole range; PTS-C (client): write cache on, 75 % of the range",
    )
    threads: int = param(
        0, "thread count (TC); 0: as the setting recommends, 4 (E) or 2 (C)", unit="threads", ge=0, le=512
    )
    depth: int = param(
        0, "I/Os in flight of each thread (QD); 0: as the setting recommends, 32 (E) or 16 (C)", ge=0, le=4096
    )
    active_range: int = param(
        0, "share of the user capacity that is used; 0: as the setting says", unit="%", ge=0, le=100
    )
    seconds: Seconds = param(60.0, "of a cell", unit="s", quick=0.5, gt=0, le=3600)
    most_rounds: int = param(
        25, "after which it ends, steady or not: the last five are the window then", quick=5, ge=5, le=1000
    )
    fixed_rounds: bool = param(
        False, "do all rounds whether steady or not, as a published review practice does"
    )
    overwrites: float = param(
        2.0,
        "written before the rounds (workload-independent preconditioning)",
        unit="user capacities",
        quick=1.0,
        ge=0,
        le=20,
    )

    @property
    def shape(self) -> tuple[int, int]:
        """Threads and depth of each."""
        threads, depth = (4, 32) if self.setting == "enterprise" else (2, 16)
        return self.threads or threads, self.depth or depth

    @property
    def range_pct(self) -> int:
        """Share of the user capacity in use, in percent."""
        return self.active_range or ACTIVE_RANGE_PCT[self.setting]


@dataclass(frozen=True, slots=True)
class Cell:
    """One access pattern of a round."""

    label: str
    read_pct: int
    block_bytes: int
    workload: Workload


@dataclass(frozen=True, slots=True)
class Tracked:
    """A variable that has to be steady: a figure of one cell."""

    name: str
    unit: str
    cell: str
    value: Value


def begin(lab: Lab, p: PtsParams, *, label: str = "purge") -> None:
    """Set the write cache as the setting says, purge, and keep to the active range."""
    lab.conditions(scheduler="none", write_cache=WRITE_CACHE[p.setting])
    lab.purge(if_able=True, label=label)
    unit = max(lab.logical_block_bytes, min(1 << 20, cast("int", lab.span.length)))
    usable = cast("int", lab.span.length) * p.range_pct // 100 // unit * unit
    if usable < cast("int", lab.span.length):
        lab.limit(usable)


def access(
    read_pct: int,
    block_bytes: int,
    p: PtsParams,
    *,
    random: bool = True,
    shape: tuple[int, int] | None = None,
) -> Workload:
    """Return one access pattern at thread count and depth of the setting, for the time of a cell."""
    threads, depth = shape or p.shape
    stream = Stream(
        ops=Mix(read_pct=read_pct),
        block=(Block(bytes=block_bytes),),
        pattern=Uniform() if random else Sequential(),
        workers=threads,
        depth=depth,
        engine="sync" if depth == 1 else "uring",
        stop=Stop(time_ns=round(p.seconds * NS_PER_S)),
    )
    row_ns = max(1_000_000, min(NS_PER_S, round(p.seconds * NS_PER_S) // 10))
    return Workload.of(stream, interval_ns=row_ns)


def precondition(lab: Lab, p: PtsParams, block_bytes: int, *, label: str = "WIPC") -> None:
    """Write sequentially, as often as the specification says, before the rounds."""
    if p.overwrites <= 0:
        return
    unit = block_bytes
    while unit > lab.logical_block_bytes and cast("int", lab.span.length) % unit:
        unit //= 2
    blocks = max(1, round(p.overwrites * cast("int", lab.span.length) / unit))
    stream = Stream(
        name="WIPC",
        ops=Mix(read_pct=0),
        block=(Block(bytes=unit),),
        pattern=Sequential(cursors=(0,)),
        depth=p.shape[1],
        engine="sync" if p.shape[1] == 1 else "uring",
        stop=Stop(bytes=blocks * unit),
    )
    lab.precondition(Workload.of(stream), label=label)


def run_rounds(
    lab: Lab, p: PtsParams, cells: Sequence[Cell], tracked: Sequence[Tracked], *, group: str = ""
) -> None:
    """Do rounds until all tracked variables are steady at once, or the most rounds are done."""
    series: list[list[float]] = [[] for _ in tracked]
    cursors: dict[str, int] = {}
    with lab.on_interruption("re-precondition"):
        for number in range(1, p.most_rounds + 1):
            certain = number <= WINDOW or p.fixed_rounds
            found = {}
            for cell in cells:
                workload = _from(cell.workload, cursors.get(cell.label))
                label = round_label(group, number, cell.label)
                found[cell.label] = step = lab.run(workload, label=label, certain=certain)
                cursors[cell.label] = _next_cursor(lab, step, cursors.get(cell.label, 0), cell.block_bytes)
            for values, variable in zip(series, tracked, strict=True):
                values += _value(found[variable.cell], variable)
            if not p.fixed_rounds and first_steady([values[-WINDOW:] for values in series]) is not None:
                return


def collect(
    data: RunData,
    cells: Sequence[Cell],
    tracked: Sequence[Tracked],
    missing: Sequence[PtsCell],
    *,
    group: str,
) -> PtsRounds:
    """Put the rounds of a group together: every cell's values, and the window that is judged."""
    rounds = 0
    while data.step(round_label(group, rounds + 1, cells[-1].label)) is not None:
        rounds += 1
    steps = {
        cell.label: [data.step(round_label(group, number, cell.label)) for number in range(1, rounds + 1)]
        for cell in cells
    }
    variables = [
        TrackedVariable(
            name=each.name,
            unit=each.unit,
            values=tuple(value for step in steps[each.cell] if step for value in _value(step, each)),
        )
        for each in tracked
    ]
    first = first_steady([each.values for each in variables])
    at = max(0, rounds - WINDOW) if first is None else first
    return PtsRounds(
        group=group,
        rounds=rounds,
        steady=first is not None,
        first=at + 1,
        last=min(rounds, at + WINDOW),
        tracked=tuple(_judged(each, at) for each in variables),
        cells=(*(_cell(cell, [s for s in steps[cell.label] if s]) for cell in cells), *missing),
    )


def round_label(group: str, number: int, cell: str) -> str:
    """Return the label of a cell's step in a round."""
    return f"{group}{', ' if group else ''}round {number}, {cell}"


def cell_label(read_pct: int, block_bytes: int) -> str:
    """Return a cell's name as the specification writes it: R/W mix and block."""
    return f"{read_pct}/{100 - read_pct} {block_text(block_bytes)}"


def iops(summary: dict[str, Any]) -> float:
    """Return reads and writes together, a second."""
    return float(summary["iops"])


def mb_s(summary: dict[str, Any]) -> float:
    """Return the throughput of both directions, decimal."""
    return float(summary["mb_s"])


def mean_ns(summary: dict[str, Any]) -> float:
    """Return the mean response time of both directions, weighted by their I/Os."""
    sides = [side for name in ("read", "write") if (side := summary.get(name)) and side["ios"]]
    done = sum(side["ios"] for side in sides)
    return sum(side["ios"] * side["response_ns"]["mean"] for side in sides) / done if done else 0.0


def _from(workload: Workload, cursor: int | None) -> Workload:
    """Let sequential I/O of one thread go on where it stopped; a minute must not begin at LBA 0 again."""
    (stream,) = workload.streams
    if cursor is None or not isinstance(stream.pattern, Sequential) or stream.workers > 1:
        return workload
    moved = stream.model_copy(update={"pattern": Sequential(cursors=(cursor,))})
    return workload.model_copy(update={"streams": (moved,)})


def _next_cursor(lab: Lab, step: Step, cursor: int, block_bytes: int) -> int:
    """Return where a sequential step stopped; it wraps at the end of the part in use."""
    summary = cast("dict[str, Any] | None", step.result.measurement) or {}
    moved = sum((summary.get(name) or {}).get("bytes", 0) for name in ("read", "write"))
    length = cast("int", lab.span.length) // block_bytes * block_bytes
    return int(cursor + moved) % length if length else 0


def _worst(summary: dict[str, Any], key: str) -> float | None:
    sides = [side for name in ("read", "write") if (side := summary.get(name)) and side["ios"]]
    found = [value for side in sides if (value := side["response_ns"].get(key)) is not None]
    return max(found, default=None)


def _value(step: Step, variable: Tracked) -> list[float]:
    """Return the tracked figure of a step; none of a planned one."""
    summary = cast("dict[str, Any] | None", step.result.measurement)
    return [] if summary is None else [variable.value(summary)]


def _cell(cell: Cell, steps: Sequence[Step]) -> PtsCell:
    summaries = [cast("dict[str, Any]", step.result.measurement) for step in steps]
    return PtsCell(
        read_pct=cell.read_pct,
        block_bytes=cell.block_bytes,
        ordinals=tuple(step.ordinal for step in steps),
        iops=tuple(iops(each) for each in summaries),
        mb_s=tuple(mb_s(each) for each in summaries),
        mean_ns=tuple(mean_ns(each) for each in summaries),
        five_nines_ns=tuple(_worst(each, "p99.999") for each in summaries),
        max_ns=tuple(_worst(each, "max") for each in summaries),
        written_bytes=tuple(int((each.get("write") or {}).get("bytes", 0)) for each in summaries),
    )


def _judged(variable: TrackedVariable, first: int) -> TrackedVariable:
    """Add what the rule finds in the window that begins there."""
    values = variable.values[first : first + WINDOW]
    if len(values) < WINDOW:
        return variable
    found = judge_window(values, first)
    return variable.model_copy(
        update={
            "mean": found.mean,
            "range_share": found.range_share,
            "rise_share": found.rise_share,
            "slope": found.slope,
            "intercept": found.intercept,
        }
    )
