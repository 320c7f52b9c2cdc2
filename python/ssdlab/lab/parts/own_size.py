"""What a method has in seconds or bytes of its own, and what a drive made smaller makes of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from ssdlab.lab.method import Remarks, RunData, RunFacts
from ssdlab.model.warnings import judge_scale
from ssdlab.results.schema import Warned

if TYPE_CHECKING:
    from collections.abc import Callable

ParamsT = TypeVar("ParamsT")


def scale_of(data: RunData) -> int:
    """Return how many times smaller than the real drive the measured one was; 1 of a real one.

    A measurement tells it of its drive; of a run that measured nothing it is 1.
    """
    measured = (step.summary for step in data.steps if step.summary is not None)
    scales = (summary.drive.scale for summary in measured if summary.drive is not None)
    return next((round(scale) for scale in scales if scale is not None), 1)


def size_warnings(facts: RunFacts, what: str) -> tuple[Warned, ...]:
    """Return the warning that `what` is as on a drive of full size, while the drive was made smaller."""
    warned = judge_scale(what, scale_of(facts.data))
    return tuple(Warned(code=each.code, what=each.what, advice=each.advice) for each in warned)


def remarks_of_size(
    what: str, beside: Callable[[RunFacts, ParamsT], Remarks] | None = None
) -> Callable[[RunFacts, ParamsT], Remarks]:
    """Return the remarks of a method of which `what` is as long or large on any drive, and those beside."""

    def remarks(facts: RunFacts, params: ParamsT) -> Remarks:
        found = Remarks() if beside is None else beside(facts, params)
        return replace(found, warnings=(*found.warnings, *size_warnings(facts, what)))

    return remarks
