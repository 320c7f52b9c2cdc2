"""An ACT certificate from scratch: the highest load, a day at it, and a day at twice that load.

Question
    The highest load N of Nx that a drive passes for an hour, and whether the drive can be certified at it.

Procedure
    1. Search, as in `act-search`, in tries of an hour.
    2. Prepare again, then run the load that was found for 24 h. The drive must pass every limit, and each
       stream must complete 99.5 % of its load in every hour.
    3. If the drive passed, run twice the load for 24 h. This run only has to reach its end.

    If the first day fails, the second is not run. If no load passed in the search, neither day is run.

Source
    Aerospike ACT 6.6 (act_storage, README: certification), with the search of `act-search`.

What it cannot show
    Whether a lower load would pass the day, if the load of the search did not: run `act` with `certify` at a
    lower load. ACT's tests over all drives of a host.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.plugin import Method, RunData, param

from . import ACT
from .result import ActResult
from .search import ActSearchParams, search, search_result
from .storage import two_days
from .trial import prepare
from .verdict import TEST, act_remarks, act_result, tries_of

if TYPE_CHECKING:
    from ssdlab.plugin import Lab


class ActCertifyParams(ActSearchParams):
    day_sec: int = param(86_400, "length of each of the two tests after the search", unit="s", quick=4, ge=1)


def procedure(lab: Lab, p: ActCertifyParams) -> None:
    lab.conditions(scheduler="none")
    if p.prepare:
        prepare(lab)
    found = search(lab, p)
    if found is None:
        return
    if p.prepare:
        prepare(lab, when=" before the first day")
    two_days(lab, _of_the_day(p, found))


def conclude(data: RunData, p: ActCertifyParams) -> ActResult:
    """Judge the two days. If no load passed the search, judge the last try of the search instead."""
    tries = tries_of(data, p)
    score = search_result(tries, p, quick=data.quick).score
    if score is not None and data.step(TEST) is not None:
        return act_result(data, _of_the_day(p, round(score / p.unit_load)), tries=tries)
    last = tries[-1]
    step = next(each for each in data.steps if each.ordinal == last.ordinal)
    shown = act_result(data, p.model_copy(update={"load": round(last.load / p.unit_load)}), step, tries)
    return shown.model_copy(update={"certified": False})


def _of_the_day(p: ActCertifyParams, load: int) -> ActCertifyParams:
    return p.model_copy(update={"load": load, "test_duration_sec": p.day_sec})


METHOD = Method(
    name="act-certify",
    version=2,
    title="Aerospike certificate of a drive (ACT)",
    params=ActCertifyParams,
    procedure=procedure,
    conclude=conclude,
    remarks=act_remarks,
    result=ACT,
    writes=lambda p: True,
    needs=("prepared as act_prep does",),
    conditions={"scheduler": "none"},
)
