"""What the tests of rounds conclude alike: groups, fills, the header's lines and headline figures. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from ssdlab.methods.pts.cells import Cell, Tracked
from ssdlab.methods.pts.collecting import collect
from ssdlab.methods.pts.fills import written_bytes
from ssdlab.methods.pts.params import SETTINGS, SPECIFICATION, RoundsParams
from ssdlab.methods.results.pts import PtsCell, PtsResult, PtsRounds, Stimulus
from ssdlab.model.units import block_text, significant
from ssdlab.results.schema import Scalar

if TYPE_CHECKING:
    from ssdlab.methods.method import RunData

Group = tuple[str, Sequence[Cell], Sequence[Tracked], Sequence[PtsCell]]
"""A group's name, cells in the written order, tracked variables, and cells that cannot be measured."""
Test = Literal["iops", "throughput", "latency"]
PATTERN = {"iops": "RND", "throughput": "SEQ", "latency": "RND"}


def conclude_rounds(
    data: RunData,
    p: RoundsParams,
    test: Test,
    groups: Sequence[Group],
    *,
    shape: tuple[int, int] | None = None,
) -> PtsResult:
    """Return the result of a test of rounds; `shape` is that of its cells, where not the parameters'."""
    found = tuple(
        collect(data, cells, tracked, missing, group=group, reported=p.reported, tails=test == "latency")
        for group, cells, tracked, missing in groups
    )
    threads, depth = shape or p.shape
    missing = [cell for group in found for cell in group.cells if cell.missing]
    return PtsResult(
        quick=data.quick,
        test=test,
        specification=SPECIFICATION,
        setting=SETTINGS[p.setting],
        threads=threads,
        depth=depth,
        active_range_pct=p.range_pct,
        seconds=p.seconds,
        groups=found,
        purged=was_purged(data),
        fills=written_bytes(data.steps) / data.capacity_bytes,
        preconditioning=tuple(_preconditioning(p, found, (threads, depth))),
        stimuli=tuple(_stimulus(p, test, each, (threads, depth)) for each in found),
        left_out=tuple(dict.fromkeys(block_text(cell.block_bytes) for cell in missing)),
        left_out_why=next((cell.missing or "" for cell in missing), ""),
        caveats=tuple(_caveats(found)),
        scalars=tuple(_scalars(test, found)),
    )


def was_purged(data: RunData) -> bool:
    """Return whether the drive was, by anything that counts as one."""
    return any(step.verb == "purge" and bool(step.result.facts.get("purged")) for step in data.steps)


def rounds_text(rounds: PtsRounds) -> str:
    """Return the verdict on steady state as the header of a page gives it."""
    if rounds.reported != (rounds.first, rounds.last):
        verdict = f"steady in {rounds.first} to {rounds.last}" if rounds.steady else "NOT ACHIEVED"
        return f"{verdict}; mean of rounds {rounds.reported[0]} to {rounds.reported[1]} of {rounds.rounds}"
    if rounds.steady:
        return f"steady state in rounds {rounds.first} to {rounds.last}"
    return f"NOT ACHIEVED in {rounds.rounds} rounds; rounds {rounds.first} to {rounds.last}"


def _preconditioning(
    p: RoundsParams, groups: Sequence[PtsRounds], shape: tuple[int, int]
) -> Iterator[Stimulus]:
    for group in groups:
        threads, depth = p.shape
        block = group.group or "128 KiB"
        if p.overwrites > 0:
            lasted = f"{significant(p.overwrites)} x {p.overwrites_of.replace('-', ' ')}"
            what = f"SEQ {block} write"
            yield Stimulus(group=group.group, what=what, threads=threads, depth=depth, lasted=lasted)
        yield Stimulus(
            group=group.group,
            dependent=True,
            what="the test's own loop",
            threads=shape[0],
            depth=shape[1],
            outcome=rounds_text(group),
        )


def _stimulus(p: RoundsParams, test: Test, group: PtsRounds, shape: tuple[int, int]) -> Stimulus:
    mixes = dict.fromkeys(f"{cell.read_pct}/{100 - cell.read_pct}" for cell in group.cells)
    blocks = dict.fromkeys(block_text(cell.block_bytes) for cell in group.cells)
    return Stimulus(
        group=group.group,
        what=f"{PATTERN[test]}, R/W {', '.join(mixes)} (outer) x {', '.join(blocks)} (inner)",
        threads=shape[0],
        depth=shape[1],
        lasted=f"{significant(p.seconds)} s a cell, {group.rounds} rounds",
        outcome=rounds_text(group),
    )


def _caveats(groups: Sequence[PtsRounds]) -> Iterator[str]:
    for group in groups:
        name = f"{group.group}: " if group.group else ""
        if not group.steady:
            yield f"{name}steady state was NOT ACHIEVED in {group.rounds} rounds"


def _scalars(test: Test, groups: Sequence[PtsRounds]) -> Iterator[Scalar]:
    """Yield what was tracked, as headline figures: the mean over the reported rounds."""
    for group in groups:
        for each in group.tracked:
            key = each.name.replace("/", "_").replace(" ", "_").lower()
            mean = group.of_window(each.values)
            value = mean if mean is None or test != "latency" else mean / 1000
            yield Scalar(
                name=f"pts_{test}_{key}",
                label=f"{each.name}{'' if group.steady else ' (not steady)'}",
                value=value,
                unit="µs" if test == "latency" else each.unit,
                better="lower" if test == "latency" else "higher",
            )
