"""From the steps of ACT's load to its slices and verdicts. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ssdlab.act.config import READS_1X, WRITES_1X
from ssdlab.analysis import act_verdict
from ssdlab.analysis.act_backlog import GivenUp, Interval, least_done
from ssdlab.methods.act.arrivals import burst_ios
from ssdlab.methods.act.trial import backlog_of
from ssdlab.results.act import RULES, ActSlice, ActVerdict, Rule
from ssdlab.units import NS_PER_S
from ssdlab.workload import Workload

if TYPE_CHECKING:
    from ssdlab.methods.act.params import LoadParams
    from ssdlab.request import Tables
    from ssdlab.results.run_folder import Step
    from ssdlab.results.tables import Columns

VERSION = "6.6"
"""Of ACT, whose definition of the load this is."""


def workload_of(step: Step) -> Workload:
    """Return the load that a step offered."""
    return Workload.model_validate(step.args["workload"])


def given_up(data: Tables, step: Step, p: LoadParams, trend_s: float = 0.0) -> GivenUp | None:
    """Return why a test ended before its time; None if it did not."""
    watched = backlog_of(workload_of(step), p, trend_s)
    for row in _intervals(data.rows(step)):
        if (found := watched.add(row)) is not None:
            return found
    ran_s = elapsed_s(step)
    return GivenUp(ran_s, "it ended before its time") if ran_s < 0.999 * p.test_duration_sec else None


def elapsed_s(step: Step) -> float:
    """Return how long a test ran."""
    return float(cast("dict[str, Any]", step.result.measurement)["elapsed_s"])


def done_shares(data: Tables, step: Step, p: LoadParams) -> dict[str, float]:
    """Return how much of what was due of each stream was done, over the time that a test ran."""
    rows, seconds = data.rows(step), min(elapsed_s(step), float(p.test_duration_sec))
    ended = rows["end_ns"] <= p.test_duration_sec * NS_PER_S
    counted = np.where(ended, rows["ios"] + rows["failed"], 0)
    return {
        each.name: float(counted[rows["stream"] == each.name].sum()) / (float(each.requested_iops) * seconds)
        for each in workload_of(step).streams
        if each.requested_iops
    }


def undone(data: Tables, step: Step, p: LoadParams) -> int:
    """Return how many I/Os were due when the test ended and could not be done in the second after."""
    rows = data.rows(step)
    return int(rows["dropped"][rows["end_ns"] > p.test_duration_sec * NS_PER_S].sum())


def slices_of(data: Tables, step: Step, p: LoadParams) -> tuple[ActSlice, ...]:
    """Return the slices of a test by both rules, each with what was done of its load."""
    rows, buckets, load = data.rows(step), data.row_buckets(step), workload_of(step)
    ended = rows["end_ns"] <= p.test_duration_sec * NS_PER_S
    whole = rows["row"][ended & ~rows["partial"]]
    count = int(whole.max()) + 1 if whole.size else 0
    found = {rule: _judged(buckets, p, rule, count) for rule in RULES}
    done = _done(rows, p)
    return tuple(
        ActSlice(
            number=number,
            ios={rule: found[rule][number - 1].ios for rule in RULES},
            rates={rule: found[rule][number - 1].rate for rule in RULES},
            response=_told(found["2019"][number - 1].over),
            service=_told(found["6.x"][number - 1].over),
            **_given(load, done, number, p),
        )
        for number in range(1, len(found["6.x"]) + 1)
    )


def verdict_of(
    data: Tables, step: Step, p: LoadParams, rule: Rule, slices: Sequence[ActSlice], stopped: GivenUp | None
) -> ActVerdict:
    """Judge all slices by one rule: each has to pass, and to have been given the load."""
    if slices:
        shares = [getattr(each, RULES[rule]) for each in slices]
    else:  # what ran of the first one
        shares = [_told(each.over) for each in _judged(data.row_buckets(step), p, rule, None)]
    worst = {str(ms): max(one[str(ms)] for one in shares) for ms in act_verdict.THRESHOLDS_MS}
    why = stopped.why if stopped is not None else next(_failures(rule, slices), "")
    if not why and not slices:
        why = "the test is shorter than one slice"
    if not why and not sum(each.ios[rule] for each in slices):
        why = "the load has no reads, and the limits are theirs"
    return ActVerdict(rule=rule, passed=not why, worst=worst, why=why)


def times_of(reads: int, writes: int) -> int:
    """Return N of Nx: of rates in another ratio there is none, and it is 0."""
    number, rest = divmod(reads, READS_1X)
    return number if not rest and writes == number * WRITES_1X else 0


def _failures(rule: Rule, slices: Sequence[ActSlice]) -> Iterator[str]:
    for each in slices:
        for name in each.short:
            yield f"slice {each.number}: {name} did only {each.given[name]:.1%} of what was due"
        for ms, limit in act_verdict.LIMITS.items():
            share = getattr(each, RULES[rule])[str(ms)]
            if share >= limit:
                yield (
                    f"slice {each.number}: {share:.2%} of the reads took {ms} ms or longer, "
                    f"not under {limit:.1%}"
                )


def _judged(buckets: Columns, p: LoadParams, rule: Rule, rows: int | None) -> list[act_verdict.Slice]:
    """Cut the reads that a rule counts into the whole slices of so many rows; None: all into one slice."""
    counted = np.isin(buckets["stream"], p.judged[rule])
    mine = (buckets["direction"] == "read") & counted & (buckets["clock"] == RULES[rule])
    row, parts = buckets["row"][mine], p.slice_sec // p.interval_s
    if rows is None:
        row, rows, parts = np.zeros_like(row), 1, 1
    edges = (buckets["low_ns"][mine], buckets["high_ns"][mine], buckets["count"][mine])
    return act_verdict.slices(row, edges, rows, parts, p.slice_sec)


def _done(rows: Columns, p: LoadParams) -> dict[tuple[str, int], int]:
    """Count the I/Os of each stream by slice, from 1."""
    done: dict[tuple[str, int], int] = {}
    counted = rows["ios"] + rows["failed"]
    for name, row, ios in zip(rows["stream"], rows["row"], counted, strict=True):
        at = (str(name), int(row) // (p.slice_sec // p.interval_s) + 1)
        done[at] = done.get(at, 0) + int(ios)
    return done


def _given(load: Workload, done: Mapping[tuple[str, int], int], number: int, p: LoadParams) -> dict[str, Any]:
    """Say of each stream how much of what was due in a slice was done, and of which it was too little."""
    given: dict[str, float] = {}
    short: list[str] = []
    for stream in load.streams:
        if stream.requested_iops is None:
            continue
        rate, ios = float(stream.requested_iops), done.get((stream.name, number), 0)
        given[stream.name] = ios / (rate * p.slice_sec)
        burst = burst_ios(stream)
        if ios < least_done(rate, p.slice_sec, stream.workers, burst, act_verdict.LEAST_DONE):
            short.append(stream.name)
    return {"given": given, "short": tuple(short)}


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


def _told(over: Mapping[int, float]) -> dict[str, float]:
    return {str(ms): share for ms, share in over.items()}
