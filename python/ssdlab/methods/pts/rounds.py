"""The round loop of the specification: the same cells again and again, until what is tracked is steady.

A round is one pass over all cells in the written order. From the fifth round on the last five are judged by
SNIA's rule; all tracked variables have to be steady in the same window.

Source: SNIA SSS PTS 2.0.2, sections 2.1.13 (measurement window) and 2.1.24 (steady state).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from ssdlab.analysis.forecast import forecast
from ssdlab.analysis.steady_state import WINDOW, first_steady
from ssdlab.methods.pts.cells import Cell, Tracked
from ssdlab.methods.pts.params import LoopParams
from ssdlab.model.pattern import Sequential
from ssdlab.model.workload import Workload

if TYPE_CHECKING:
    from ssdlab.methods.lab import Lab
    from ssdlab.results.run_folder import Step


def run_rounds(
    lab: Lab, p: LoopParams, cells: Sequence[Cell], tracked: Sequence[Tracked], *, group: str = ""
) -> list[Step]:
    """Do rounds until all tracked variables are steady at once, or the most are done; returns their steps."""
    done: list[Step] = []
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
                done.append(step)
                cursors[cell.label] = _next_cursor(lab, step, cursors.get(cell.label, 0), cell.block_bytes)
            for values, variable in zip(series, tracked, strict=True):
                values += tracked_value(found[variable.cell], variable)
            lab.foresee(_outlook(series, tracked, p.most_rounds))
            if not p.fixed_rounds and first_steady([values[-WINDOW:] for values in series]) is not None:
                break
    lab.foresee("")
    return done


def _outlook(series: Sequence[Sequence[float]], tracked: Sequence[Tracked], most_rounds: int) -> str:
    """Say in which round steady state is likely; nothing while too few rounds are done."""
    expected = forecast(series, most_rounds)
    if expected is None:
        return ""
    if expected.round is None:
        return f"steady state is not likely by round {most_rounds}"
    several = expected.last is not None and len(tracked) > 1
    last = f", {tracked[expected.last or 0].name} last" if several else ""
    return f"steady state likely in round {expected.round}{last}"


def round_label(group: str, number: int, cell: str) -> str:
    """Return the label of a cell's step in a round."""
    return f"{group}{', ' if group else ''}round {number}, {cell}"


def tracked_value(step: Step, variable: Tracked) -> list[float]:
    """Return the tracked figure of a step; none of a planned one."""
    summary = cast("dict[str, Any] | None", step.result.measurement)
    return [] if summary is None else [variable.value(summary)]


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
