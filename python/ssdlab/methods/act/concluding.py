"""The result of a test at one load, of either program. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, cast

from ssdlab.formats.act.config import options
from ssdlab.formats.act.rates import derived
from ssdlab.methods.act.ending import given_up, ran_s, undone, workload_of
from ssdlab.methods.act.judging import VERSION, times_of, verdict_of
from ssdlab.methods.act.slicing import slices_of
from ssdlab.methods.points import mean_w_of
from ssdlab.methods.results.act import RULES, ActResult, ActVerdict
from ssdlab.results.schema import Scalar

if TYPE_CHECKING:
    from ssdlab.methods.act.params import LoadParams
    from ssdlab.methods.method import RunData

DAY_S = 86_400
HOUR_S = 3600
TEST = "test"
STRESS = "stress, twice the load"


def act_result(data: RunData, p: LoadParams) -> ActResult:
    """Judge every slice of the test by both rules, and whether a stress test reached its end."""
    step = data.step(TEST)
    assert step is not None  # the procedure has no other
    stopped, slices, config = given_up(data, step, p), slices_of(data, step, p), p.act_config()
    verdicts = tuple(verdict_of(data, step, p, rule, slices, stopped) for rule in RULES)
    passed = _passed(verdicts, p)
    load = times_of(config.read_reqs_per_sec, config.write_reqs_per_sec)
    stress = data.step(STRESS)
    overrun = None if stress is None else given_up(data, stress, p)
    streams = workload_of(step).streams
    completed = None if stress is None else overrun is None
    return ActResult(
        quick=data.quick,
        program=cast("Literal['act_storage', 'act_index']", config.program),
        act_version=VERSION,
        load=load,
        arrivals=p.arrivals,
        service_threads=p.threads,
        config={**options(config), "service_threads": p.threads},
        derived=derived(config),
        asked={each.name: float(each.requested_iops) for each in streams if each.requested_iops},
        ordinal=step.ordinal,
        asked_s=float(p.test_duration_sec),
        ran_s=ran_s(step, p),
        completed=stopped is None,
        stopped="" if stopped is None else f"{stopped.why}, after {stopped.after_s:.0f} s",
        undone=undone(data, step, p),
        slice_s=float(p.slice_sec),
        slices=slices,
        verdicts=verdicts,
        rule=p.rule,
        mean_w=mean_w_of(cast("dict[str, Any]", step.result.measurement)),
        stress_completed=completed,
        stress_stopped="" if overrun is None else f"{overrun.why}, after {overrun.after_s:.0f} s",
        certified=None if completed is None else passed and completed and not any(_short_of(p, load)),
        caveats=tuple(_short_of(p, load)),
        scalars=(_scalar(load if passed and load else None, p),),
    )


def _passed(verdicts: tuple[ActVerdict, ...], p: LoadParams) -> bool:
    return next(each.passed for each in verdicts if each.rule == p.rule)


def _scalar(load: int | None, p: LoadParams) -> Scalar:
    program = "act_index_load_passed" if p.program.program == "act_index" else "act_load_passed"
    return Scalar(
        name=program,
        label=f"ACT load passed ({p.rule} rule)",
        value=None if load is None else float(load),
        unit="x",
        better="higher",
    )


def _short_of(p: LoadParams, load: int) -> Iterator[str]:
    """Yield what keeps a test from being a certificate."""
    if p.test_duration_sec < DAY_S:
        yield f"{p.test_duration_sec} s certify nothing: ACT asks for 24 h"
    if p.slice_sec != HOUR_S:
        yield f"slices of {p.slice_sec} s: ACT judges hours"
    if not p.prepare:
        yield "the drive was not prepared as act_prep does"
    if not load:
        yield "reads and writes are in no ratio of ACT's, so that the load is no Nx"
