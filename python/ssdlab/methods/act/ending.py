"""How a test of ACT ended: at its time, or given up, and what it left undone. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ssdlab.analysis.act_backlog import GivenUp, Interval
from ssdlab.methods.act.trial import backlog_of
from ssdlab.model.units import NS_PER_S
from ssdlab.model.workload import Workload

if TYPE_CHECKING:
    from ssdlab.methods.act.params import LoadParams
    from ssdlab.methods.steps import Tables
    from ssdlab.results.run_folder import Step
    from ssdlab.results.tables import Columns


def workload_of(step: Step) -> Workload:
    """Return the load that a step offered."""
    return Workload.model_validate(step.args["workload"])


def ran_s(step: Step, p: LoadParams) -> float:
    """Return how long a load ran; what was due at its end may have taken a second more."""
    elapsed_s = float(cast("dict[str, Any]", step.result.measurement)["elapsed_s"])
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
