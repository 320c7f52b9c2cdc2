"""What a method says of a finished run beside its result: departures from its source, and warnings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ssdlab.methods.method import RunData
    from ssdlab.results.run_folder import VoidedAttempt
    from ssdlab.results.schema import Departure, Manifest, ResultBase, Warned


@dataclass(frozen=True)
class RunFacts:
    """A finished run as its journal and manifest tell it.

    Attributes
    ----------
    manifest
        With drive, environment, variant and sessions; its result, departures and warnings are still to come.
    data
        The finished steps that count, and the drive as it was at the end.
    voided
        Attempts that were cut short, and preparations done again.
    result
        What the method concluded.
    """

    manifest: Manifest
    data: RunData
    voided: tuple[VoidedAttempt, ...]
    result: ResultBase


@dataclass(frozen=True)
class Remarks:
    """Where a run departs from its method, and what should be known before its figures are used."""

    departures: tuple[Departure, ...] = ()
    warnings: tuple[Warned, ...] = ()


def no_remarks(facts: RunFacts, params: Any) -> Remarks:  # noqa: ANN401 - the method's own Params
    """Remark nothing: what the steps recorded is all there is to say."""
    del facts, params
    return Remarks()
