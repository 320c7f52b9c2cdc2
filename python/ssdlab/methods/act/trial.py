"""One run of ACT's load on a drive: preparation, load and stop conditions.

The interval rows of a run show whether it ended early, and which I/Os were not done.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdlab.analysis.act import QUANTILES, Backlog, GivenUp, Interval, SlowReads, slow_by_quantiles
from ssdlab.plugin import NS_PER_S, Block, Mix, Sequential, Stop, Stream, Tables, Until, Workload

from .load import due_until, paced
from .result import RULES, UNEXPLAINED

if TYPE_CHECKING:
    from pydantic import JsonValue

    from ssdlab.plugin import Columns, Lab, Step

    from .params import LoadParams


PREPARING_BLOCK_BYTES = 128 * 1024
PREPARING_THREADS = 8


def prepare(lab: Lab, *, when: str = "", certain: bool = True) -> None:
    """Write the whole span twice, first zeroes and then salt, as act_prep does."""
    for salt in (False, True):
        label = ("salt" if salt else "zero") + when
        lab.precondition(preparation(salt=salt), label=label, certain=certain)


def preparation(*, salt: bool) -> Workload:
    """Return one pass of act_prep over the whole span; each of 8 threads writes a contiguous part."""
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
    load: float,
    label: str,
    *,
    early: bool = False,
    certain: bool = True,
    overload: bool = False,
) -> Step:
    """Run the load until it ends, or until the drive lags by more than ACT allows.

    With `early`, the run also ends once a slice is certain to fail. `overload` marks a load that the drive
    may not sustain.
    """
    workload = p.workload(load, lab.logical_block_bytes)
    args: dict[str, JsonValue] = {"max_lag_sec": p.max_lag_sec, "early": early}
    until = Until("lag", args, Watch(workload, p, early=early))
    return lab.run(workload, label=label, until=until, certain=certain, overload=overload)


class Watch:
    """Checks each closed row of a test once, and decides when to end the test."""

    def __init__(self, workload: Workload, p: LoadParams, *, early: bool) -> None:
        self._made = workload, p, early
        self._seen = 0
        self._watched = Watched(*self._made)

    def __call__(self, rows: Sequence[Any]) -> bool:
        """Check the rows that are new, and return whether to end the test.

        Fewer rows than before mean that the step was attempted again, so the count starts over.
        """
        if len(rows) < self._seen:
            self._seen, self._watched = 0, Watched(*self._made)
        given_up: GivenUp | None = None
        for row in rows[self._seen :]:
            given_up = self._watched.add(self._watched.interval_of(row)) or given_up
        self._seen = len(rows)
        return given_up is not None


class Watched:
    """State of a running test: its lag and, if it may end early, its slow reads."""

    def __init__(self, workload: Workload, p: LoadParams, early: bool) -> None:
        self._backlog = Backlog(paced(workload, p.max_lag_sec), float(p.test_duration_sec))
        self._judged, self._clock = p.judged[p.rule], RULES[p.rule]
        judged = [each for each in workload.streams if each.name in self._judged and each.requested_iops]
        due = {each.name: due_until(each) for each in judged}
        self._slow = SlowReads(due, float(p.slice_sec), float(p.test_duration_sec)) if early else None

    def add(self, row: Interval) -> GivenUp | None:
        """Add the next row; return the reason to end the test after it, or None."""
        found = self._backlog.add(row)
        failed = None if self._slow is None else self._slow.add(row)
        return found or failed

    def interval_of(self, row: Any) -> Interval:  # noqa: ANN401 - a row of the native side
        """Return the totals of a closed live row over its streams."""
        account = _Account(self._judged)
        for cell in row.cells:
            account.add(
                cell.stream,
                (cell.ios, cell.failed, cell.dropped),
                cell.latency("response")["max_ns"] / NS_PER_S,
                cell.latency(self._clock) if cell.direction == "read" else None,
            )
        return account.interval(row.end_ns / NS_PER_S)

    def intervals(self, rows: Columns) -> Iterator[Interval]:
        """Yield the totals of each row of a stored table, in order."""
        order = np.argsort(rows["row"], kind="stable")
        parts = np.split(order, np.flatnonzero(np.diff(rows["row"][order])) + 1) if order.size else []
        for part in parts:
            account = _Account(self._judged)
            for at in part:
                figures = {name: _figure(rows, f"{self._clock}_{name}", at) for name in QUANTILES}
                account.add(
                    str(rows["stream"][at]),
                    (int(rows["ios"][at]), int(rows["failed"][at]), int(rows["dropped"][at])),
                    _figure(rows, "response_max_ns", at) / NS_PER_S,
                    figures if rows["direction"][at] == "read" else None,
                )
            yield account.interval(float(rows["end_ns"][part[0]]) / NS_PER_S)


class _Account:
    """Sums of one row over its streams."""

    def __init__(self, judged: Collection[str]) -> None:
        self._judged = judged
        self._done: dict[str, int] = {}
        self._dropped: dict[str, int] = {}
        self._slowest_s: dict[str, float] = {}
        self._reads: dict[str, int] = {}
        self._slow: dict[int, int] = {}

    def add(
        self, name: str, counts: tuple[int, int, int], slowest_s: float, reads: Mapping[str, float] | None
    ) -> None:
        """Add one direction of a stream: I/Os done, failed and dropped; for reads, also latency quantiles."""
        ios, failed, dropped = counts
        self._done[name] = self._done.get(name, 0) + ios + failed
        self._dropped[name] = self._dropped.get(name, 0) + dropped
        self._slowest_s[name] = max(self._slowest_s.get(name, 0.0), slowest_s)
        if reads is not None and name in self._judged:
            self._reads[name] = self._reads.get(name, 0) + ios
            for ms, count in slow_by_quantiles(ios, reads).items():
                self._slow[ms] = self._slow.get(ms, 0) + count

    def interval(self, end_s: float) -> Interval:
        return Interval(end_s, self._done, self._dropped, self._slowest_s, self._reads, self._slow)


def _figure(rows: Columns, name: str, at: int) -> float:
    """Return a figure from a table's row, with 0 instead of NaN, as live rows have it."""
    return float(np.nan_to_num(rows[name.replace("p99_9", "p999")][at]))


def workload_of(step: Step) -> Workload:
    return step.ran


def ran_s(step: Step, p: LoadParams) -> float:
    """Return how long a load ran, in seconds, without the final second that waits for late I/Os."""
    elapsed_s = float(step.measured.elapsed_s)
    return min(elapsed_s, float(p.test_duration_sec))


def given_up(data: Tables, step: Step, p: LoadParams, *, early: bool = False) -> GivenUp | None:
    """Return why a test ended early; None if it ran to its end."""
    watched = Watched(workload_of(step), p, early)
    for row in watched.intervals(data.rows(step)):
        if (found := watched.add(row)) is not None:
            return found
    ended_s = ran_s(step, p)
    return GivenUp(ended_s, UNEXPLAINED) if ended_s < 0.999 * p.test_duration_sec else None


def undone(data: Tables, step: Step, p: LoadParams) -> int:
    """Return the number of I/Os that were due by the end of the test and not done within a second of it."""
    rows = data.rows(step)
    return int(rows["dropped"][rows["end_ns"] > p.test_duration_sec * NS_PER_S].sum())
