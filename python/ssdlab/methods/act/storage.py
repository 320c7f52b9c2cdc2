"""Aerospike's certification test of a drive: a fixed load for a day, and limits on how many reads are slow.

Question
    Whether a drive gives a database its reads in time while it is being written, at a load of N times 2000
    reads and 1000 writes a second.

Procedure
    The drive is written twice over, with zeroes and with salt (act_prep). Then, all at once and at fixed
    rates: small reads of one record each at random places; large-block reads and writes, as many as the
    writes of records and their collection make; with commit-to-device small writes too. Arrivals do not
    wait for the drive. The test ends after its time, or when I/Os are further behind than allowed. Each
    slice of an hour is judged: fewer than 5 % of its reads may take 1 ms or longer, fewer than 1 % 8 ms,
    fewer than 0.1 % 64 ms, and 99.5 % of what was asked must have been done. Both counts are kept: from
    when a read was due (the rule of 2019), and from when a thread issued it (6.x); ratings by the two are
    not comparable. To certify, a second test at twice the load only has to reach its end.

Source
    Aerospike ACT 6.6 (act_storage, act_prep, act_latency.py); for act2019, ACT 5.2.

What it cannot show
    A drive's limit: for that there is `act-search`. Loads that are not a database's. Under 24 h it certifies
    nothing: drives are known that fall off after 12 h of mixed load.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from ssdlab.methods.act.config import option_values
from ssdlab.methods.act.trial import (
    READS_1X,
    VERSION,
    WRITES_1X,
    LoadParams,
    offer,
    prepare,
    rates_of,
    slices_of,
    verdict_of,
    why_stopped,
)
from ssdlab.methods.method import Method, RunData, param
from ssdlab.methods.points import mean_w_of
from ssdlab.results.act import RULES, ActResult
from ssdlab.results.schema import Scalar

if TYPE_CHECKING:
    from ssdlab.lab import Lab

DAY_S = 86_400
LABEL = "test"
STRESS_LABEL = "stress, twice the load"


class ActParams(LoadParams):
    """Of the test."""

    certify: bool = param(False, "a second test at twice the load follows, which only has to finish")


def procedure(lab: Lab, p: ActParams) -> None:
    """Prepare, run the load, and for a certificate twice the load."""
    lab.conditions(scheduler="none")
    prepare(lab, wanted=p.prepare)
    offer(lab, p, p.load, LABEL)
    if p.certify:
        offer(lab, p, 2 * p.load, STRESS_LABEL)


def conclude(data: RunData, p: ActParams) -> ActResult:
    """Judge every slice by both rules."""
    step = data.step(LABEL)
    assert step is not None  # the procedure has no other
    summary = cast("dict[str, Any]", step.result.measurement)
    stopped = why_stopped(step, p)
    slices = slices_of(data, step, p)
    stress = data.step(STRESS_LABEL)
    verdicts = tuple(verdict_of(rule, slices, stopped) for rule in RULES)
    passed = next(each.passed for each in verdicts if each.rule == p.rule)
    load = times(p)
    return ActResult(
        quick=data.quick,
        act_version=VERSION,
        load=load,
        arrivals=p.arrivals,
        service_threads=64 if p.arrivals == "act2019" else p.service_threads,
        config=dict(option_values(p.act_config())),
        rates=rates_of(p),
        ordinal=step.ordinal,
        asked_s=float(p.test_duration_sec),
        ran_s=float(summary["elapsed_s"]),
        completed=not stopped,
        stopped=stopped,
        slice_s=float(p.slice_sec),
        slices=slices,
        verdicts=verdicts,
        rule=p.rule,
        mean_w=mean_w_of(summary),
        stress_completed=None if stress is None else not why_stopped(stress, p),
        caveats=tuple(_caveats(p)),
        scalars=(
            Scalar(
                name="act_load_passed",
                label=f"ACT load passed ({p.rule} rule)",
                value=float(load) if passed and load else None,
                unit="x",
                better="higher",
            ),
        ),
    )


def times(p: LoadParams, load: int | None = None) -> int:
    """Return N of Nx: of rates in another ratio there is none, and it is 0."""
    config = p.act_config(load)
    number, rest = divmod(config.read_reqs_per_sec, READS_1X)
    return number if not rest and config.write_reqs_per_sec == number * WRITES_1X else 0


def _caveats(p: LoadParams) -> list[str]:
    found = []
    if p.test_duration_sec < DAY_S:
        found.append(f"{p.test_duration_sec} s certify nothing: ACT asks for 24 h")
    if p.slice_sec != 3600:
        found.append(f"slices of {p.slice_sec} s: ACT judges hours")
    if not p.prepare:
        found.append("the drive was not prepared as act_prep does")
    return found


METHOD = Method(
    name="act",
    version=1,
    title="Aerospike certification test (ACT)",
    params=ActParams,
    procedure=procedure,
    conclude=conclude,
    writes=lambda p: True,
    needs=("prepared as act_prep does",),
    conditions={"scheduler": "none"},
)
