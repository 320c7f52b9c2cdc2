"""The rounds of a finished run put together: every cell's values, and the window that is judged. Pure.

What is reported of a cell is its mean over the rounds of the window that proves steady state; where none
does, over the last five.

Source: SNIA SSS PTS 2.0.2, sections 2.1.13 and 2.1.24.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

from ssdlab.analysis.records import FIVE_NINES, merged
from ssdlab.analysis.steady_state import WINDOW, first_steady, judge_window
from ssdlab.methods.pts.cells import Cell, Tracked, iops, mb_s, mean_ns, worst
from ssdlab.methods.pts.fills import fills_until
from ssdlab.methods.pts.rounds import round_label, tracked_value
from ssdlab.methods.results.pts import PtsCell, PtsRounds, TrackedVariable

if TYPE_CHECKING:
    from ssdlab.methods.method import RunData
    from ssdlab.results.run_folder import Step


def collect(
    data: RunData,
    cells: Sequence[Cell],
    tracked: Sequence[Tracked],
    missing: Sequence[PtsCell],
    *,
    group: str,
    reported: Literal["window", "four-after"] = "window",
    tails: bool = False,
) -> PtsRounds:
    """Put the rounds of a group together: every cell's values, and the window that is judged.

    With `tails` the five nines of mixed cells are those of the merged histogram of reads and writes; without,
    for which no histogram has to be read, those of the slower direction.
    """
    rounds = 0
    while data.step(round_label(group, rounds + 1, cells[-1].label)) is not None:
        rounds += 1
    steps = {cell.label: _steps(data, group, cell, rounds) for cell in cells}
    variables = [_followed(each, steps[each.cell]) for each in tracked]
    first = first_steady([each.values for each in variables])
    at = max(0, rounds - WINDOW) if first is None else first
    last = min(rounds, at + WINDOW)
    return PtsRounds(
        group=group,
        rounds=rounds,
        steady=first is not None,
        first=at + 1,
        last=last,
        reported=(at + 1, last) if reported == "window" else _four_after(last, rounds),
        fills=fills_until(data, max(steps[cell.label][last - 1].ordinal for cell in cells)),
        tracked=tuple(judged(each, at) for each in variables),
        cells=(*(_cell(data, cell, steps[cell.label], tails=tails) for cell in cells), *missing),
    )


def _steps(data: RunData, group: str, cell: Cell, rounds: int) -> list[Step]:
    """Return a cell's steps, round by round."""
    found = (data.step(round_label(group, number, cell.label)) for number in range(1, rounds + 1))
    return [step for step in found if step is not None]


def _followed(variable: Tracked, steps: Sequence[Step]) -> TrackedVariable:
    """Return a tracked variable with its value of each round."""
    values = tuple(value for step in steps for value in tracked_value(step, variable))
    return TrackedVariable(name=variable.name, unit=variable.unit, values=values)


def _four_after(last: int, rounds: int) -> tuple[int, int]:
    """Return the first and the last of the four rounds after a window, or of the last four there are."""
    return (last + 1, last + 4) if last + 4 <= rounds else (max(1, rounds - 3), rounds)


def judged(variable: TrackedVariable, first: int) -> TrackedVariable:
    """Add what the rule finds in the window that begins at that position, from 0."""
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
            "correlation": found.correlation,
        }
    )


def _cell(data: RunData, cell: Cell, steps: Sequence[Step], *, tails: bool) -> PtsCell:
    summaries = [cast("dict[str, Any]", step.result.measurement) for step in steps]
    return PtsCell(
        read_pct=cell.read_pct,
        block_bytes=cell.block_bytes,
        ordinals=tuple(step.ordinal for step in steps),
        iops=tuple(iops(each) for each in summaries),
        mb_s=tuple(mb_s(each) for each in summaries),
        mean_ns=tuple(mean_ns(each) for each in summaries),
        five_nines_ns=tuple(_five_nines(data, step) for step in steps)
        if tails and 0 < cell.read_pct < 100
        else tuple(worst(each, "p99.999") for each in summaries),
        max_ns=tuple(worst(each, "max") for each in summaries),
        written_bytes=tuple(int((each.get("write") or {}).get("bytes", 0)) for each in summaries),
    )


def _five_nines(data: RunData, step: Step) -> float | None:
    """Return the 99.999 % response time of reads and writes together."""
    buckets = data.buckets(step)
    return merged(buckets, buckets["clock"] == "response").percentile(FIVE_NINES)
