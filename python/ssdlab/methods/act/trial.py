"""One run of ACT's load on a drive: the drive's preparation, the load, and when it is given up.

How it ended is worked out from its rows, pure: at its time, or given up, and what it left undone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdlab.analysis.act import Backlog, GivenUp, Interval
from ssdlab.methods.act.load import paced
from ssdlab.methods.steps import Until
from ssdlab.methods.verbs.context import Tables
from ssdlab.model.pattern import Sequential
from ssdlab.model.units import NS_PER_S
from ssdlab.model.workload import Block, Mix, Stop, Stream, Workload

if TYPE_CHECKING:
    from pydantic import JsonValue

    from ssdlab.methods.act.params import LoadParams
    from ssdlab.methods.lab import Lab
    from ssdlab.methods.verbs.context import Tables
    from ssdlab.results.run_folder import Step
    from ssdlab.results.tables import Columns


PREPARING_BLOCK_BYTES = 128 * 1024
PREPARING_THREADS = 8


def prepare(lab: Lab, *, when: str = "", certain: bool = True) -> None:
    """Write the whole span twice, with zeroes and with salt, as act_prep does."""
    for salt in (False, True):
        label = ("salt" if salt else "zero") + when
        lab.precondition(preparation(salt=salt), label=label, certain=certain)


def preparation(*, salt: bool) -> Workload:
    """Return one pass of act_prep: the whole span, by 8 threads of a contiguous part each."""
    stream = Stream(
        name="salt" if salt else "zero",
        ops=Mix(read_pct=0),
        block=(Block(bytes=PREPARING_BLOCK_BYTES),),
        pattern=Sequential(),
        workers=PREPARING_THREADS,
        compressible_pct=0 if salt else 100,
        stop=Stop(span_once=True),
    )
    return Workload.of(stream)


def offer(
    lab: Lab,
    p: LoadParams,
    load: int,
    label: str,
    *,
    trend_s: float = 0.0,
    certain: bool = True,
    overload: bool = False,
) -> Step:
    """Run the load until its end, or until the drive falls behind by more than ACT allows.

    With `trend_s` it is given up as soon as the rows of so long lead there. An `overload` is one of which
    nobody knows whether the drive can do it.
    """
    workload = p.workload(load, lab.logical_block_bytes)
    args: dict[str, JsonValue] = {"max_lag_sec": p.max_lag_sec, "trend_s": trend_s}
    until = Until("lag", args, Watch(workload, p, trend_s))
    return lab.run(workload, label=label, until=until, certain=certain, overload=overload)


class Watch:
    """Looks at the closed rows of a test, each once, and says when to give it up."""

    def __init__(self, workload: Workload, p: LoadParams, trend_s: float) -> None:
        self._made = workload, p, trend_s
        self._seen = 0
        self._backlog = backlog_of(*self._made)

    def __call__(self, rows: Sequence[Any]) -> bool:
        """Look at the rows that are new; fewer than last time are those of another attempt."""
        if len(rows) < self._seen:
            self._seen, self._backlog = 0, backlog_of(*self._made)
        given_up: GivenUp | None = None
        for row in rows[self._seen :]:
            given_up = self._backlog.add(interval_of(row)) or given_up
        self._seen = len(rows)
        return given_up is not None


def backlog_of(workload: Workload, p: LoadParams, trend_s: float) -> Backlog:
    """Return what is watched of a test."""
    return Backlog(paced(workload, p.max_lag_sec), float(p.test_duration_sec), trend_s)


def interval_of(row: Any) -> Interval:  # noqa: ANN401 - a row of the native side
    """Return a closed row as the account of its streams."""
    done: dict[str, int] = {}
    dropped: dict[str, int] = {}
    slowest_s: dict[str, float] = {}
    for cell in row.cells:
        done[cell.stream] = done.get(cell.stream, 0) + cell.ios + cell.failed
        dropped[cell.stream] = dropped.get(cell.stream, 0) + cell.dropped
        slow_s = cell.latency("response")["max_ns"] / NS_PER_S
        slowest_s[cell.stream] = max(slowest_s.get(cell.stream, 0.0), slow_s)
    return Interval(row.end_ns / NS_PER_S, done, dropped, slowest_s)


def workload_of(step: Step) -> Workload:
    """Return the load that a step offered."""
    return step.ran


def ran_s(step: Step, p: LoadParams) -> float:
    """Return how long a load ran; what was due at its end may have taken a second more."""
    elapsed_s = float(step.measured.elapsed_s)
    return min(elapsed_s, float(p.test_duration_sec))


def given_up(data: Tables, step: Step, p: LoadParams, trend_s: float = 0.0) -> GivenUp | None:
    """Return why a test ended before its time; None if it did not."""
    watched = backlog_of(workload_of(step), p, trend_s)
    for row in _intervals(data.rows(step)):
        if (found := watched.add(row)) is not None:
            return found
    ended_s = ran_s(step, p)
    return GivenUp(ended_s, "it ended before its time") if ended_s < 0.999 * p.test_duration_sec else None


def undone(data: Tables, step: Step, p: LoadParams) -> int:
    """Return how many I/Os were due when the test ended and could not be done in the second after."""
    rows = data.rows(step)
    return int(rows["dropped"][rows["end_ns"] > p.test_duration_sec * NS_PER_S].sum())


def _intervals(rows: Columns) -> Iterator[Interval]:
    """Yield the rows of a table in order, each with all its streams."""
    order = np.argsort(rows["row"], kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(rows["row"][order])) + 1) if order.size else []
    for part in parts:
        done: dict[str, int] = {}
        dropped: dict[str, int] = {}
        slowest_s: dict[str, float] = {}
        for at in part:
            name = str(rows["stream"][at])
            done[name] = done.get(name, 0) + int(rows["ios"][at] + rows["failed"][at])
            dropped[name] = dropped.get(name, 0) + int(rows["dropped"][at])
            slow_s = float(np.nan_to_num(rows["response_max_ns"][at])) / NS_PER_S
            slowest_s[name] = max(slowest_s.get(name, 0.0), slow_s)
        yield Interval(float(rows["end_ns"][part[0]]) / NS_PER_S, done, dropped, slowest_s)
