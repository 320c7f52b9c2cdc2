"""Cells of a round, and the figures of them that are tracked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ssdlab.methods.pts.params import PtsParams
from ssdlab.model.pattern import Sequential, Uniform
from ssdlab.model.units import NS_PER_S, block_text
from ssdlab.model.workload import Block, Mix, Stop, Stream, Workload

Value = Callable[[dict[str, Any]], float]
"""What is tracked of a cell: a figure of its journalled summary."""


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


def access(
    read_pct: int,
    block_bytes: int,
    p: PtsParams,
    *,
    random: bool = True,
    shape: tuple[int, int] | None = None,
    seconds: float | None = None,
) -> Workload:
    """Return one access pattern, by default at threads and depth of the setting for the time of a cell."""
    threads, depth = shape or p.shape
    length_ns = round((p.seconds if seconds is None else seconds) * NS_PER_S)
    stream = Stream(
        ops=Mix(read_pct=read_pct),
        block=(Block(bytes=block_bytes),),
        pattern=Uniform() if random else Sequential(),
        workers=threads,
        depth=depth,
        engine=engine_of(depth),
        stop=Stop(time_ns=length_ns),
    )
    return Workload.of(stream, interval_ns=max(1_000_000, min(NS_PER_S, length_ns // 10)))


def engine_of(depth: int) -> Any:  # noqa: ANN401 - the name of an engine
    """Return what issues the I/O of a thread: one at a time needs no ring."""
    return "sync" if depth == 1 else "uring"


def cell_label(read_pct: int, block_bytes: int) -> str:
    """Return a cell's name as the specification writes it: R/W mix and block."""
    return f"{read_pct}/{100 - read_pct} {block_text(block_bytes)}"


def needed(block_bytes: int, logical_block_bytes: int) -> str:
    """Return why a block cannot be asked of the drive; empty if it can."""
    if block_bytes % logical_block_bytes:
        return f"the drive's sectors are of {block_text(logical_block_bytes)}"
    return ""


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


def worst(summary: dict[str, Any], key: str) -> float | None:
    """Return a percentile or the maximum of the slower direction; None where too few I/Os were done."""
    sides = [side for name in ("read", "write") if (side := summary.get(name)) and side["ios"]]
    found = [value for side in sides if (value := side["response_ns"].get(key)) is not None]
    return max(found, default=None)
