"""The highest load of ACT at which a drive keeps the limits.

Question
    How many times 2000 reads and 1000 writes a second a drive can be given before too many reads are slow:
    its score, N of Nx.

Procedure
    The drive is prepared once as act_prep does. From a high load down by the coarse step, each load is run
    for an hour or until the drive falls behind by more than ACT allows (100,000 queued reads, or a large
    block 10 s late), until one passes every limit; then by the fine step between it and the lowest that
    failed. If the first load passes already, loads go up. `begin=below` comes from the other side. Between
    two tries the drive goes on in the state that the last one left.

Source
    The search of an enterprise review with ACT of 2019 (from 150x down in steps of 5x, then 1x); the load and
    the limits are ACT's, see `act`.

What it cannot show
    A certificate, for which a day at the load is needed: `act`, with `certify`. A drive whose verdict does
    not fall with the load has no one score; the trail shows that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, cast

from ssdlab.methods.act.load import Arrivals
from ssdlab.methods.act.storage import times
from ssdlab.methods.act.trial import (
    VERSION,
    LoadParams,
    offer,
    prepare,
    slices_of,
    verdict_of,
    why_stopped,
)
from ssdlab.methods.method import Method, RunData, param
from ssdlab.methods.points import mean_w_of
from ssdlab.methods.stepping import step_to_highest
from ssdlab.request import Finding
from ssdlab.results.act import ActSearchResult, ActTry
from ssdlab.results.schema import Scalar

if TYPE_CHECKING:
    from pydantic import JsonValue

    from ssdlab.lab import Lab
    from ssdlab.request import Tables
    from ssdlab.results.run_folder import Step

PREFIX = "load "
BETWEEN = "the drive went on from one load to the next without pause or preparation"


class ActSearchParams(LoadParams):
    """Of the search."""

    arrivals: Arrivals = param("act2019", "of small I/Os; see act")
    load: int = param(150, "N of Nx to begin with", quick=40, ge=1, le=10_000)
    coarse: int = param(5, "step between loads until one passes", unit="x", quick=10, ge=1, le=1000)
    fine: int = param(1, "step of the last loads", unit="x", quick=5, ge=1, le=1000)
    most: int = param(300, "highest load tried", unit="x", ge=1, le=10_000)
    begin: Literal["above", "below"] = param("above", "side from which the limit is approached")
    test_duration_sec: int = param(3600, "of each try", unit="s", quick=2, ge=1, le=31_536_000)
    slice_sec: int = param(3600, "of one slice", unit="s", quick=2, ge=1, le=86_400)


def procedure(lab: Lab, p: ActSearchParams) -> None:
    """Prepare, and try loads until the limit is known to the fine step."""
    lab.conditions(scheduler="none")
    prepare(lab, wanted=p.prepare)

    def holds(load: int, certain: bool) -> bool:
        step = offer(lab, p, load, f"{PREFIX}{load}x", certain=certain)
        finding = Finding("act-verdict", {"of": step.ordinal}, lambda data: _found(data, step, p))
        found = lab.find(finding, label=f"verdict, {load}x")
        # A plan finds nothing, and takes the longer way: up to the highest load, or down to the lowest.
        longest = load < p.most if p.most > 2 * p.load else load <= p.fine
        return bool(found.result.facts.get("passed", longest))

    step_to_highest(p.load, p.coarse, p.fine, holds, most=p.most, upwards=p.begin == "below")


def conclude(data: RunData, p: ActSearchParams) -> ActSearchResult:
    """Report the highest load that passed below the lowest that did not, and every try."""
    tries = tuple(_judge(data, step, p) for step in data.steps if step.label.startswith(PREFIX))
    lowest_failed = min((each.load for each in tries if not each.passed), default=None)
    passed = [each for each in tries if each.passed and (lowest_failed is None or each.load < lowest_failed)]
    best = max(passed, key=lambda each: each.load, default=None)
    score_per_w = best.load / best.mean_w if best is not None and best.mean_w else None
    scalars = [_scalar("act_score", f"ACT score ({p.rule} rule)", best.load if best else None, "x")]
    if score_per_w is not None:
        scalars.append(_scalar("act_score_per_w", "ACT score for each watt", score_per_w, "x/W"))
    return ActSearchResult(
        quick=data.quick,
        act_version=VERSION,
        arrivals=p.arrivals,
        rule=p.rule,
        slice_s=float(p.slice_sec),
        seconds=float(p.test_duration_sec),
        score=None if best is None else best.load,
        resolution=p.fine,
        highest_completed=max((each.load for each in tries if each.completed), default=None),
        tries=tries,
        drive_state=BETWEEN,
        score_per_w=score_per_w,
        caveats=tuple(_caveats(p, tries)),
        scalars=tuple(scalars),
    )


def _found(data: Tables, step: Step, p: ActSearchParams) -> dict[str, JsonValue]:
    judged = _judge(data, step, p)
    return {"passed": judged.passed, "why": judged.why}


def _judge(data: Tables, step: Step, p: ActSearchParams) -> ActTry:
    load = int(step.label.removeprefix(PREFIX).removesuffix("x"))
    stopped = why_stopped(step, p)
    summary = cast("dict[str, Any]", step.result.measurement)
    verdict = verdict_of(p.rule, slices_of(data, step, p, load), stopped)
    return ActTry(
        load=load,
        ordinal=step.ordinal,
        ran_s=float(summary["elapsed_s"]),
        completed=not stopped,
        passed=verdict.passed,
        why=verdict.why,
        worst=verdict.worst,
        mean_w=mean_w_of(summary),
    )


def _scalar(name: str, label: str, value: float | None, unit: str) -> Scalar:
    return Scalar(name=name, label=label, value=value, unit=unit, better="higher")


def _caveats(p: ActSearchParams, tries: tuple[ActTry, ...]) -> list[str]:
    found = []
    if tries and not any(each.passed for each in tries):
        found.append("no load passed: the lowest tried was too high for this drive")
    if tries and all(each.passed for each in tries):
        found.append("no load failed: the limit lies higher than the search went")
    if not times(p, 1):
        found.append("the rates at 1x are not ACT's 2000 and 1000, so that the score is none of ACT's")
    if p.test_duration_sec < 3600:
        found.append(f"each load ran for {p.test_duration_sec} s: reviews run an hour")
    return found


METHOD = Method(
    name="act-search",
    version=1,
    title="Highest ACT load",
    params=ActSearchParams,
    procedure=procedure,
    conclude=conclude,
    writes=lambda p: True,
    needs=("prepared as act_prep does",),
    conditions={"scheduler": "none"},
)
