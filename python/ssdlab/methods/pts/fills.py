"""How much of a drive was written: what a test of saturation or steady state is measured by. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from ssdlab.methods.method import RunData
    from ssdlab.results.run_folder import Step


def fills_until(data: RunData, ordinal: int) -> float:
    """Return the user capacities written from the last purge to the end of a step."""
    before = [step for step in data.steps if step.ordinal <= ordinal]
    purged = max((step.ordinal for step in before if step.verb == "purge"), default=-1)
    return written_bytes([step for step in before if step.ordinal > purged]) / data.capacity_bytes


def written_bytes(steps: Sequence[Step]) -> int:
    """Return what measured steps have written."""
    return sum(
        int((cast("dict[str, Any]", step.result.measurement).get("write") or {}).get("bytes", 0))
        for step in steps
        if step.result.measurement is not None
    )
