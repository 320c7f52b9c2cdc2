"""The highest load of ACT at which a drive keeps the limits.

Question
    How many times 2000 reads and 1000 writes a second a drive can be given before too many reads are slow:
    its score, N of Nx.

Procedure
    The drive is prepared once as act_prep does. From a load that is too high, down by the coarse step: each
    load is run for an hour, or until the drive falls behind by more than ACT allows (100,000 queued reads,
    or a large block 10 s late), or until a minute's trend leads there before the hour ends. First a load
    runs to its end, then, further down, one passes every limit; then by the fine step between it and the
    lowest that failed. If the first load passes already, loads go up. `begin=below` comes from the other
    side. Between two tries the drive goes on in the state that the last one left, rests, or is prepared
    again.

Source
    The search of an enterprise review with ACT of 2019 (from 150x down in steps of 5x, then 1x); the load and
    the limits are ACT's, see `act`.

What it cannot show
    A certificate, for which a day at the load is needed: `act`, with `certify`. A drive whose verdict does
    not fall with the load has no one score; the trail shows that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ssdlab.methods.act.arrivals import Arrivals
from ssdlab.methods.act.programs import StorageParams
from ssdlab.methods.act.score import search_result
from ssdlab.methods.act.trail import load_of, tries_of, try_of
from ssdlab.methods.act.trial import offer, prepare
from ssdlab.methods.method import Method, RunData, Seconds, param
from ssdlab.methods.results.act import ActSearchResult
from ssdlab.methods.stepping import step_to_highest
from ssdlab.methods.steps import Finding

if TYPE_CHECKING:
    from ssdlab.methods.lab import Lab


class ActSearchParams(StorageParams):
    """Of the search."""

    arrivals: Arrivals = param("act2019", "of small I/Os; see act")
    load: int = param(150, "N of Nx to begin with", quick=40, ge=1, le=10_000)
    coarse: int = param(5, "step between loads until one passes", unit="x", quick=10, ge=1, le=1000)
    fine: int = param(1, "step of the last loads", unit="x", quick=5, ge=1, le=1000)
    most: int = param(300, "highest load tried", unit="x", ge=1, le=10_000)
    begin: Literal["above", "below"] = param("above", "side from which the limit is approached")
    between: Literal["nothing", "rest", "prepare"] = param(
        "nothing", "before each further try: nothing, a pause, or zeroes and salt again"
    )
    rest_seconds: Seconds = param(600.0, "length of that pause", unit="s", quick=1.0, ge=0.1)
    trend_seconds: Seconds = param(
        60.0, "of rows by whose trend a try is abandoned; 0: never before ACT itself would", unit="s", ge=0
    )
    test_duration_sec: int = param(3600, "of each try", unit="s", quick=2, ge=1, le=31_536_000)
    slice_sec: int = param(3600, "of one slice", unit="s", quick=2, ge=1, le=86_400)


def procedure(lab: Lab, p: ActSearchParams) -> None:
    """Prepare, and try loads until the limit is known to the fine step."""
    lab.conditions(scheduler="none")
    if p.prepare:
        prepare(lab)

    def holds(load: int, certain: bool) -> bool:
        if not certain and p.between == "rest":
            lab.idle(p.rest_seconds, label=f"rest before {load}x", certain=False)
        if not certain and p.between == "prepare":
            prepare(lab, when=f" before {load}x", certain=False)
        step = offer(lab, p, load, load_of(load), trend_s=p.trend_seconds, certain=certain, overload=True)
        finding = Finding(
            "act-verdict", {"of": step.ordinal}, lambda data: {"passed": try_of(data, step, p).passed}
        )
        found = lab.find(finding, label=f"verdict, {load}x")
        # A plan finds nothing, and takes the longer way: up to the highest load, or down to the lowest.
        longest = load < p.most if p.most > 2 * p.load else load <= p.fine
        return bool(found.result.facts.get("passed", longest))

    step_to_highest(p.load, p.coarse, p.fine, holds, most=p.most, upwards=p.begin == "below")


def conclude(data: RunData, p: ActSearchParams) -> ActSearchResult:
    """Report the highest load that passed below the lowest that did not, and every try."""
    return search_result(tries_of(data, p), p, quick=data.quick)


METHOD = Method(
    name="act-search",
    version=2,
    title="Highest ACT load",
    params=ActSearchParams,
    procedure=procedure,
    conclude=conclude,
    writes=lambda p: True,
    needs=("prepared as act_prep does",),
    conditions={"scheduler": "none"},
)
