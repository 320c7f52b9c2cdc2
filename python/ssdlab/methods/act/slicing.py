"""The slices of a test of ACT: slow reads by both rules, and how much of the load was done. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdlab.analysis import act_verdict
from ssdlab.analysis.act_backlog import least_done
from ssdlab.methods.act.arrivals import burst_ios
from ssdlab.methods.act.ending import ran_s, workload_of
from ssdlab.methods.results.act import RULES, ActSlice, Rule
from ssdlab.model.units import NS_PER_S

if TYPE_CHECKING:
    from ssdlab.methods.act.params import LoadParams
    from ssdlab.methods.steps import Tables
    from ssdlab.model.workload import Workload
    from ssdlab.results.run_folder import Step
    from ssdlab.results.tables import Columns


def slices_of(data: Tables, step: Step, p: LoadParams) -> tuple[ActSlice, ...]:
    """Return the slices of a test by both rules, each with what was done of its load."""
    rows, buckets, load = data.rows(step), data.row_buckets(step), workload_of(step)
    ended = rows["end_ns"] <= p.test_duration_sec * NS_PER_S
    whole = rows["row"][ended & ~rows["partial"]]
    count = int(whole.max()) + 1 if whole.size else 0
    found = {rule: _judged(buckets, p, rule, count) for rule in RULES}
    done = _done(rows, p)
    return tuple(
        _slice({rule: slices[at] for rule, slices in found.items()}, _given(load, done, at + 1, p))
        for at in range(len(found["6.x"]))
    )


def _slice(by_rule: Mapping[Rule, act_verdict.Slice], given: dict[str, Any]) -> ActSlice:
    return ActSlice(
        number=by_rule["6.x"].number,
        ios={rule: each.ios for rule, each in by_rule.items()},
        rates={rule: each.rate for rule, each in by_rule.items()},
        response=_told(by_rule["2019"].over),
        service=_told(by_rule["6.x"].over),
        passed={rule: each.passes and not given["short"] for rule, each in by_rule.items()},
        **given,
    )


def part_of(data: Tables, step: Step, p: LoadParams, rule: Rule) -> dict[str, float]:
    """Return the shares of slow reads over all that ran, where no slice is whole."""
    (part,) = _judged(data.row_buckets(step), p, rule, None)
    return _told(part.over)


def done_shares(data: Tables, step: Step, p: LoadParams) -> dict[str, float]:
    """Return how much of what was due of each stream was done, over the time that a test ran."""
    rows, seconds = data.rows(step), ran_s(step, p)
    ended = rows["end_ns"] <= p.test_duration_sec * NS_PER_S
    counted = np.where(ended, rows["ios"] + rows["failed"], 0)
    return {
        each.name: float(counted[rows["stream"] == each.name].sum()) / (float(each.requested_iops) * seconds)
        for each in workload_of(step).streams
        if each.requested_iops
    }


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


def _told(over: Mapping[int, float]) -> dict[str, float]:
    return {str(ms): share for ms, share in over.items()}
