"""Aerospike's certification test: a fixed load for a day, with limits on slow reads.

Question
    Whether a drive serves a database's reads in time while it is being written. The load is N times 2000
    reads and 1000 writes per second.

Procedure
    1. Prepare: the drive is written twice, with zeroes and then with salt, as act_prep does.
    2. Load, all at once and at fixed rates: small reads of one record each at random places; large-block
       reads and writes, as many as record writes and their defragmentation need; with commit-to-device also
       small writes. Arrivals do not wait for the drive.
    3. End: after its time, or as soon as a thread is 10 s behind (before ACT 6: when 100,000 small I/Os
       wait).
    4. Judge each slice of an hour by its reads: fewer than 5 % may take 1 ms or longer, fewer than 1 % may
       take 8 ms or longer, and fewer than 0.1 % may take 64 ms or longer.
    5. Certify, with `--set certify=true` and if the test passed: run a second test of the same length at
       twice the load. It only has to reach its end.

    Slow reads are counted twice: from when a read was due (rule of 2019), and from when a thread issued it
    (rule of 6.x). Ratings by the two rules are not comparable. ssdlab adds a test of its own: each stream
    must complete 99.5 % of its load in every slice.

Source
    Aerospike ACT 6.6 (act_storage, act_prep, act_latency.py); for act2019, ACT 5.2.

What it cannot show
    The highest load that a drive passes: see `act-search`. Loads other than a database's. A test under 24 h
    certifies nothing: some drives slow down after 12 h of mixed load.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.plugin import Finding, Method, RunData, param

from . import ACT
from .params import LoadParams, StorageParams
from .result import ActResult
from .trial import offer, prepare
from .verdict import DAY_VERDICT, STRESS, TEST, VERDICT, Passed, act_remarks, act_result, day_passed

if TYPE_CHECKING:
    from ssdlab.plugin import Lab


class CertificationParams(LoadParams):
    certify: bool = param(
        False, "if the test passes, run a second one at twice the load, which only has to finish"
    )


def procedure(lab: Lab, p: CertificationParams) -> None:
    lab.conditions(scheduler="none")
    if p.prepare:
        prepare(lab)
    if p.certify:
        two_days(lab, p)
    else:
        offer(lab, p, p.load, TEST)


def two_days(lab: Lab, p: LoadParams) -> None:
    """Run the load for the length of a test and, if it passes, twice the load for as long."""
    step = offer(lab, p, p.load, TEST)
    judged = Finding(VERDICT, {"of": step.ordinal}, lambda data: {"passed": day_passed(data, step, p)})
    found = lab.find(judged, label=DAY_VERDICT)
    # A plan has no results: it includes the second day.
    if not found.result.facts or found.found(Passed).passed:
        offer(lab, p, 2 * p.load, STRESS, overload=True)


def conclude(data: RunData, p: CertificationParams) -> ActResult:
    return act_result(data, p)


class ActParams(CertificationParams, StorageParams): ...


METHOD = Method(
    name="act",
    version=3,
    title="Aerospike certification test (ACT)",
    params=ActParams,
    procedure=procedure,
    conclude=conclude,
    remarks=act_remarks,
    result=ACT,
    writes=lambda p: True,
    needs=("prepared as act_prep does",),
    conditions={"scheduler": "none"},
)
