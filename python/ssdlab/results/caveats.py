"""Caveats that are added to a Result by what all methods have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.results.claim import Claim, clause

if TYPE_CHECKING:
    from ssdlab.results.schema import ResultBase


def with_caveat(result: ResultBase, claim: Claim) -> ResultBase:
    """Return a Result with one more caveat, behind those that its method found."""
    return result.model_copy(update={"caveats": (*result.caveats, clause(claim))})
