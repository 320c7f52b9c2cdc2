"""Adds the qualifiers of figures to findings of the same steps, for every method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ssdlab.results.claim import Amount, clause
from ssdlab.results.kind import loaded
from ssdlab.results.metric import labels, united
from ssdlab.results.schema import ResultBase

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ssdlab.results.claim import Claim
    from ssdlab.results.kind import ResultKind
    from ssdlab.results.metric import Metric, Qualifier

_OF_ONE = frozenset({"few-samples", "search-ceiling", "within-cache"})
"""Of the figure alone, and not of others that its steps show."""


def findings_of(kind: ResultKind[Any], result: ResultBase) -> tuple[Claim, ...]:
    """Return the findings of a result, with their qualifiers."""
    return marked(loaded(kind.findings)(result), result.scalars)


def marked(claims: Iterable[Claim], figures: Sequence[Metric]) -> tuple[Claim, ...]:
    """Return findings with the missing labels of figures from the same steps."""
    return tuple(_marked(each, figures) for each in claims)


def _marked(claim: Claim, figures: Sequence[Metric]) -> Claim:
    if not any(isinstance(each, Amount) for each in claim.amounts().values()) and claim.bound is None:
        return claim  # it tells no figure
    words = clause(claim)
    found = united(each for figure in figures for each in _qualifiers(claim, figure))
    missing = labels(each for each in found if each.label not in words)
    if not missing:
        return claim
    return replace(claim, says=f"{claim.says} ({{labels}})", others={**claim.others, "labels": missing})


def _qualifiers(claim: Claim, figure: Metric) -> Iterator[Qualifier]:
    """Yield what of a figure stands with a finding: all where it is the figure's own."""
    amount, steps = claim.figure, set(claim.evidence.steps)
    own = None if amount is None or amount.value is None else (amount.value, amount.unit)
    if own == (figure.value, figure.unit) and (not steps or steps.intersection(figure.steps)):
        yield from figure.qualifiers
    elif steps.intersection(figure.steps):
        whole = steps.issuperset(figure.steps)
        for each in figure.unfit("claims"):
            if each.code not in _OF_ONE and (whole or not each.steps or steps.intersection(each.steps)):
                yield each
