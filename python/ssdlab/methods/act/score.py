"""What the tries of a search come to: the score, exact to the lowest load that did not pass. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from ssdlab.methods.act.judging import VERSION, times_of
from ssdlab.methods.results.act import ActSearchResult, ActTry
from ssdlab.results.schema import Scalar

if TYPE_CHECKING:
    from ssdlab.methods.act.search import ActSearchParams

HOUR_S = 3600
BETWEEN = {
    "nothing": "the drive went on from one load to the next without pause or preparation",
    "rest": "the drive rested for {rest:g} s before the next load, and was not prepared again",
    "prepare": "the drive was prepared again before each load, with zeroes and with salt",
}


def search_result(tries: tuple[ActTry, ...], p: ActSearchParams, *, quick: bool) -> ActSearchResult:
    """Return the score that the tries come to."""
    lowest_failed = min((each.load for each in tries if not each.passed), default=None)
    passed = [each for each in tries if each.passed and (lowest_failed is None or each.load < lowest_failed)]
    best = max(passed, key=lambda each: each.load, default=None)
    score = None if best is None else best.load
    per_w = best.load / best.mean_w if best is not None and best.mean_w else None
    return ActSearchResult(
        quick=quick,
        act_version=VERSION,
        arrivals=p.arrivals,
        service_threads=p.threads,
        rule=p.rule,
        slice_s=float(p.slice_sec),
        seconds=float(p.test_duration_sec),
        score=score,
        resolution=None if lowest_failed is None else lowest_failed - (score or 0),
        highest_completed=max((each.load for each in tries if each.completed), default=None),
        tries=tries,
        drive_state=BETWEEN[p.between].format(rest=p.rest_seconds),
        score_w=None if best is None else best.mean_w,
        score_per_w=per_w,
        caveats=tuple(_caveats(p, tries)),
        scalars=tuple(_scalars(score, best.mean_w if best else None, per_w, p.rule)),
    )


def _scalars(score: int | None, mean_w: float | None, per_w: float | None, rule: str) -> Iterator[Scalar]:
    yield _scalar("act_score", f"ACT score ({rule} rule)", score, "x", "higher")
    if per_w is not None:
        yield _scalar("act_score_per_w", "ACT score for each watt", per_w, "x/W", "higher")
        yield _scalar("act_score_w", "power at the ACT score", mean_w, "W", "lower")


def _scalar(
    name: str, label: str, value: float | None, unit: str, better: Literal["higher", "lower"]
) -> Scalar:
    return Scalar(name=name, label=label, value=value, unit=unit, better=better)


def _caveats(p: ActSearchParams, tries: tuple[ActTry, ...]) -> Iterator[str]:
    held = [each.load for each in tries if each.passed]
    failed = [each.load for each in tries if not each.passed]
    if not held:
        yield "no load passed: the lowest tried was too high for this drive"
    if not failed:
        yield "no load failed: the limit lies higher than the search went"
    if held and failed and max(held) > min(failed):
        yield (
            f"{max(held)}x passed although {min(failed)}x did not: the verdict does not depend on the load "
            "alone"
        )
    if not times_of(p.read_reqs_per_sec, p.write_reqs_per_sec):
        yield "the rates at 1x are in no ratio of ACT's, so that the score is none of ACT's"
    if p.test_duration_sec < HOUR_S:
        yield f"each load ran for {p.test_duration_sec} s: reviews run an hour"
