"""How much of its drive a run used, where a suite kept it to the first bytes, and how it says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.results.claim import Amount
from ssdlab.results.schema import Departure

if TYPE_CHECKING:
    from ssdlab.results.schema import Manifest

FIRST_BYTES = "first-bytes"
"""Code of the departure; the catalogue has the bytes themselves instead."""


def span_of(manifest: Manifest) -> int | None:
    """Return how many of the drive's first bytes a run was kept to; None: it had the whole drive."""
    asked = None if manifest.member is None else manifest.member.span_bytes
    return span_within(asked, manifest.drive.capacity_bytes)


def span_within(asked: int | None, capacity_bytes: int) -> int | None:
    """Return so many of the first bytes of a drive; None where that is all of them, or nothing was asked."""
    return None if asked is None or asked >= capacity_bytes else asked


def first_bytes(span_bytes: int | None) -> tuple[Departure, ...]:
    """Say of how much of the drive nothing is known; of a whole one there is nothing to say."""
    if span_bytes is None:
        return ()
    return (
        Departure(
            code=FIRST_BYTES,
            what=f"only the first {Amount(span_bytes, 'bytes')} of the drive were used",
            why="the rest is spare, and a cache may hold all that",
        ),
    )
