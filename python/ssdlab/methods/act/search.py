"""The highest ACT load that a drive passes.

Question
    How many times 2000 reads and 1000 writes per second a drive can serve before too many reads are slow:
    its score, N of Nx.

Procedure
    1. Prepare once, as in `act`.
    2. Coarse: start at a load that is too high, and go down by the coarse step until a load holds. If the
       first load holds already, go up instead.
    3. Fine: go by the fine step between the load that held and the lowest load that did not.
    4. Again, if the last load failed: run the loads that held once more, the highest first, and then lower
       ones by the coarse step, until one holds. If the drive is prepared before each load, this is left out.

    Each load runs for an hour. It ends early if the drive falls further behind than ACT allows: 100,000
    queued reads, or a large block 10 s late. It also ends early once too many reads were slow for the slice
    to pass, however fast the others are. A load holds if it passes every limit and if every slice completes
    99.5 % of it. `begin=below` starts from a load that is too low.

    Before each try the drive rests for two minutes (`between`), so that no backlog of writes is left over. A
    rest does not undo what was written: a prepared drive may hold a load for an hour that it no longer holds
    once garbage collection has begun. This is what step 4 is for.

Source
    The search is that of an enterprise review with ACT of 2019 (from 150x down in steps of 5x, then 1x).
    Load and limits are ACT's: see `act`. The rest is that of Aerospike's script for such a series
    (runact.sh). Step 4 is ssdlab's.

What it cannot show
    A certificate, which takes a day at the load: see `act`, with `certify`. A drive that passes a load and
    fails a lower one has no single score; the list of tries shows that.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from ssdlab.formats.act import thousandths
from ssdlab.plugin import (
    Finding,
    Method,
    Metric,
    Qualifier,
    RunData,
    Seconds,
    of_search,
    param,
    step_to_highest,
)

from . import ACT_SEARCH
from .load import Arrivals
from .params import StorageParams
from .result import JUDGED_S, UNJUDGED, ActSearchResult, ActTry, last_try
from .trial import offer, prepare
from .verdict import (
    VERDICT,
    VERSION,
    Passed,
    act_remarks,
    delivered_by,
    load_of,
    not_judged,
    tries_of,
    try_of,
)

if TYPE_CHECKING:
    from ssdlab.plugin import Lab


BETWEEN = {
    "nothing": "no pause or preparation between loads",
    "rest": "{rest:g} s of rest before each load, without new preparation",
    "prepare": "prepared again before each load, with zeroes and with salt",
}


class ActSearchParams(StorageParams):
    arrivals: Arrivals = param("act2019", "arrivals of small I/Os: see `act`")
    load: int = param(150, "N of Nx to begin with", quick=40, ge=1, le=10_000)
    coarse: int = param(5, "step between loads until one passes", unit="x", quick=10, ge=1, le=1000)
    fine: int = param(1, "step of the last loads", unit="x", quick=5, ge=1, le=1000)
    most: int = param(300, "highest load tried", unit="x", ge=1, le=10_000)
    begin: Literal["above", "below"] = param("above", "side from which the limit is approached")
    between: Literal["nothing", "rest", "prepare"] = param(
        "rest", "before each try: nothing, a rest, or (before each further one) zeroes and salt again"
    )
    rest_seconds: Seconds = param(120.0, "length of that rest", unit="s", quick=1.0, ge=0.1)
    test_duration_sec: int = param(3600, "length of each try", unit="s", quick=2, ge=1, le=31_536_000)
    slice_sec: int = param(3600, "length of a slice", unit="s", quick=2, ge=1, le=86_400)


def procedure(lab: Lab, p: ActSearchParams) -> None:
    lab.conditions(scheduler="none")
    if p.prepare:
        prepare(lab)
    search(lab, p)


def search(lab: Lab, p: ActSearchParams) -> int | None:
    """Try loads and return the highest that passed below the lowest failure; None if none passed.

    A plan has no results, and returns the highest load that it lists.
    """
    tried: dict[int, bool] = {}
    planned = False

    def holds(load: int, certain: bool) -> bool:
        named = thousandths(load * p.unit_load)
        again = " again" if load in tried else ""
        if p.between == "rest" and (tried or p.prepare):
            lab.idle(p.rest_seconds, label=f"rest before {named}x{again}", certain=certain)
        if not certain and p.between == "prepare":
            prepare(lab, when=f" before {named}x{again}", certain=False)
        step = offer(lab, p, load, load_of(named) + again, early=True, certain=certain, overload=True)
        finding = Finding(
            VERDICT,
            {"of": step.ordinal},
            lambda data: {"passed": try_of(data, step, load, p).held, "load": load},
        )
        found = lab.find(finding, label=f"verdict, {named}x{again}")
        nonlocal planned
        planned = not found.result.facts
        tried[load] = _assumed(load, tried, p) if planned else found.found(Passed).passed
        return tried[load]

    step_to_highest(
        p.load,
        p.coarse,
        p.fine,
        holds,
        maximum=p.most,
        upwards=p.begin == "below",
        again=p.between != "prepare",
    )
    if planned:
        return max(tried)
    lowest_failed = min((load for load, held in tried.items() if not held), default=None)
    return max(
        (n for n, held in tried.items() if held and (lowest_failed is None or n < lowest_failed)),
        default=None,
    )


def _assumed(load: int, tried: Mapping[int, bool], p: ActSearchParams) -> bool:
    """Return whether a load holds in a plan, which has no results and assumes the longest search.

    Its coarse steps go up to the highest load. Its fine steps all run, and the last one fails, so that all
    loads that held run again. They fail then, down to the lowest load. If the coarse steps do not end evenly
    at the highest or lowest load, another search may take a few tries more.
    """
    if all(tried.values()):
        return load < p.most
    held = max((each for each, found in tried.items() if found), default=load)
    if p.begin == "below" and load > held and load not in tried:
        return load < min(each for each, found in tried.items() if not found) - p.fine
    return load <= p.fine


def conclude(data: RunData, p: ActSearchParams) -> ActSearchResult:
    """Report every try; the score is the highest load that passed below the lowest failure."""
    return search_result(tries_of(data, p), p, quick=data.quick)


def search_result(tries: tuple[ActTry, ...], p: ActSearchParams, *, quick: bool) -> ActSearchResult:
    lowest_failed = min((each.load for each in tries if not each.held), default=None)
    passed = [each for each in tries if each.held and (lowest_failed is None or each.load < lowest_failed)]
    score = max((each.load for each in passed), default=None)
    best = last_try(tries, score)
    per_w = best.load / best.mean_w if best is not None and best.mean_w else None
    found = ActSearchResult(
        quick=quick,
        act_version=VERSION,
        arrivals=p.arrivals,
        service_threads=p.threads,
        rule=p.rule,
        changed=p.changed(1),
        slice_s=float(p.slice_sec),
        seconds=float(p.test_duration_sec),
        score=score,
        resolution=None if lowest_failed is None else thousandths(lowest_failed - (score or 0)),
        highest_completed=max((each.load for each in tries if each.completed), default=None),
        tries=tries,
        drive_state=BETWEEN[p.between].format(rest=p.rest_seconds),
        score_w=None if best is None else best.mean_w,
        score_per_w=per_w,
        unjudged="" if p.slice_sec == JUDGED_S <= p.test_duration_sec else UNJUDGED,
    )
    return found.model_copy(update={"scalars": tuple(_scalars(found, p))})


def _scalars(result: ActSearchResult, p: ActSearchParams) -> Iterator[Metric]:
    score = result.score
    own = Metric.more("act_score", f"score by {delivered_by(p)}", score, "x")
    yield _score(result, own, result.lowest_failed, [each for each in result.tries if not each.held])
    label = f"score by {delivered_by(p, ' alone')}"
    alone = Metric.more("act_score_by_rule", label, result.score_by_rule, "x")
    yield _score(result, alone, result.failed_by_rule, [each for each in result.tries if not each.passed])
    if result.score_per_w is not None:
        of = f" by {delivered_by(p)}" if p.changed(1) else ""
        steps = _ordinals(result, (last_try(result.tries, score),))
        evidence: dict[str, Any] = {
            "steps": steps,
            "qualifiers": (*not_judged(result, steps), *_ceiling(result, steps, result.lowest_failed)),
        }
        per_w, watts = f"ACT score per watt{of}", f"power at the ACT score{of}"
        yield Metric.more("act_score_per_w", per_w, result.score_per_w, "x/W", **evidence)
        yield Metric.less("act_score_w", watts, result.score_w, "W", **evidence)


def _score(
    result: ActSearchResult, found: Metric, failed: float | None, failures: Sequence[ActTry]
) -> Metric:
    """Attach the evidence to a score: the try that it is taken from, and the failures of the load above."""
    bounding = [each for each in failures if each.load == failed]
    steps = _ordinals(result, (last_try(result.tries, found.value), *bounding))
    ceiling = () if found.value is None else _ceiling(result, steps, failed)
    return found.resting(
        steps=steps,
        chosen_among=tuple(each.ordinal for each in result.tries) if found.value is None else (),
        bound="at least" if ceiling else None,
        varies=of_search(found.value, failed),
        qualifiers=(*not_judged(result, steps), *ceiling),
    )


def _ordinals(result: ActSearchResult, deciding: Collection[ActTry | None]) -> tuple[int, ...]:
    return tuple(each.ordinal for each in result.tries if each in deciding)


def _ceiling(result: ActSearchResult, steps: tuple[int, ...], failed: float | None) -> tuple[Qualifier, ...]:
    """Return the qualifier of a score that no load failed; empty if one did."""
    if failed is not None:
        return ()
    end = result.lowest_failed
    why = f"from {end}x on the load was not delivered, which ended the search" if end is not None else ""
    return (Qualifier(code="search-ceiling", steps=steps, why=why),)


METHOD = Method(
    name="act-search",
    version=4,
    title="Highest ACT load",
    params=ActSearchParams,
    procedure=procedure,
    conclude=conclude,
    remarks=act_remarks,
    result=ACT_SEARCH,
    writes=lambda p: True,
    needs=("prepared as act_prep does",),
    conditions={"scheduler": "none"},
)
