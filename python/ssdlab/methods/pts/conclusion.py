"""What the tests of rounds conclude alike: groups, fills, caveats and headline figures. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

from ssdlab.methods.pts.rounds import SETTINGS, SPECIFICATION, Cell, PtsParams, Tracked, collect
from ssdlab.results.pts import PtsCell, PtsResult, PtsRounds
from ssdlab.results.schema import Scalar
from ssdlab.units import block_text

if TYPE_CHECKING:
    from ssdlab.methods.method import RunData

Group = tuple[str, Sequence[Cell], Sequence[Tracked], Sequence[PtsCell]]
"""A group's name, cells in the written order, tracked variables, and cells that cannot be measured."""
Test = Literal["iops", "throughput", "latency"]
LEAST_FILLS = 2.0
"""Below, free blocks of the purge may be left: five rounds look steady before the drive is full."""


def needed(block_bytes: int, logical_block_bytes: int) -> str:
    """Return why a block cannot be asked of the drive; empty if it can."""
    if block_bytes % logical_block_bytes:
        return f"the drive's sectors are of {block_text(logical_block_bytes)}"
    return ""


def conclude_rounds(
    data: RunData, p: PtsParams, test: Test, groups: Sequence[Group], *, shape: tuple[int, int] | None = None
) -> PtsResult:
    """Return the result of a test of rounds."""
    found = tuple(
        collect(data, cells, tracked, missing, group=group) for group, cells, tracked, missing in groups
    )
    threads, depth = shape or p.shape
    fills = written_bytes(data) / data.capacity_bytes
    return PtsResult(
        quick=data.quick,
        test=test,
        specification=SPECIFICATION,
        setting=cast("Any", SETTINGS[p.setting]),
        threads=threads,
        depth=depth,
        active_range_pct=p.range_pct,
        seconds=p.seconds,
        groups=found,
        purged=was_purged(data),
        fills=fills,
        caveats=tuple(_caveats(data, p, found, fills)),
        scalars=tuple(_scalars(test, found)),
    )


def was_purged(data: RunData) -> bool:
    """Return whether the drive was, by anything that counts as one."""
    return any(step.verb == "purge" and bool(step.result.facts.get("purged")) for step in data.steps)


def written_bytes(data: RunData) -> int:
    """Return what all measured steps have written."""
    return sum(
        int((cast("dict[str, Any]", step.result.measurement).get("write") or {}).get("bytes", 0))
        for step in data.steps
        if step.result.measurement is not None
    )


def common_caveats(data: RunData, p: PtsParams, fills: float) -> Iterator[str]:
    """Say what every test of the specification would have otherwise."""
    if not was_purged(data):
        yield "the drive was not purged before, as the specification asks of every test"
    if p.seconds < 60:
        yield f"cells of {p.seconds:g} s: the specification asks for a minute"
    if fills < LEAST_FILLS:
        yield f"only {fills:.2f} user capacities were written: what looks steady may be a drive not full yet"


def _caveats(data: RunData, p: PtsParams, groups: Sequence[PtsRounds], fills: float) -> Iterator[str]:
    yield from common_caveats(data, p, fills)
    for group in groups:
        name = f"{group.group}: " if group.group else ""
        if not group.steady:
            yield f"{name}steady state was NOT ACHIEVED in {group.rounds} rounds"
    if p.overwrites < 2:
        yield f"{p.overwrites:g} capacities were written before the rounds: the specification asks for two"
    if p.fixed_rounds:
        yield f"{p.most_rounds} rounds were done whether steady or not, as reviews do"
    for why in dict.fromkeys(cell.missing for group in groups for cell in group.cells if cell.missing):
        sizes = sorted({c.block_bytes for group in groups for c in group.cells if c.missing == why})
        yield f"{', '.join(block_text(size) for size in sizes)} left empty: {why}"


def _scalars(test: Test, groups: Sequence[PtsRounds]) -> Iterator[Scalar]:
    """Yield what was tracked, as headline figures: the mean over the window."""
    for group in groups:
        for each in group.tracked:
            key = each.name.replace("/", "_").replace(" ", "_").lower()
            value = each.mean if each.mean is None or test != "latency" else each.mean / 1000
            yield Scalar(
                name=f"pts_{test}_{key}",
                label=f"{each.name}{'' if group.steady else ' (not steady)'}",
                value=value,
                unit="µs" if test == "latency" else each.unit,
                better="lower" if test == "latency" else "higher",
            )
