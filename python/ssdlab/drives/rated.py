"""What a drive is rated for: by its drive record, or by the ratings of a simulated drive's profile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from ssdlab.model.frozen import Stored

if TYPE_CHECKING:
    from ssdlab.drives.ratings import MetricName
    from ssdlab.host.identity import Identity

_OF_RECORD: dict[str, MetricName] = {
    "rated_read_iops": "random_read_iops",
    "rated_write_iops": "random_write_iops",
    "rated_read_mb_s": "sequential_read_mb_s",
    "rated_write_mb_s": "sequential_write_mb_s",
    "rated_idle_w": "idle_w",
}
"""Entries of a drive record, and what they rate. `rated_active_w` does not say in which direction."""


class Rated(Stored):
    """One figure that a drive is rated for."""

    metric: str = Field(description="what is rated, with its unit: see `ssdlab.drives.ratings.METRICS`")
    value: float
    state: str | None = Field(default=None, description="drive state it speaks of; None: not said")
    source: str = Field(description="who says so: data-sheet, measurement, recalled, drive record")


def rated_values(identity: Identity) -> tuple[Rated, ...]:
    """Return what a drive is rated for; nothing where nobody noted it.

    Raises
    ------
    UsageError
        The drive's record says what it must not.
    """
    return _of_profile(identity) if identity.kind == "sim" else _of_record(identity)


def _of_record(identity: Identity) -> tuple[Rated, ...]:
    from ssdlab.drives.drive_record import find_record

    record = find_record(identity.model, identity.serial)
    if record is None:
        return ()
    found = [(metric, getattr(record, name)) for name, metric in _OF_RECORD.items()]
    if record.rated_active_w is not None:
        # One figure for both directions: each is held against it.
        found += [(metric, record.rated_active_w) for metric in ("active_read_w", "active_write_w")]
    return tuple(
        Rated(metric=metric, value=float(value), source="drive record")
        for metric, value in found
        if value is not None
    )


def _of_profile(identity: Identity) -> tuple[Rated, ...]:
    from ssdlab.drives.ratings import Ratings
    from ssdlab.drives.simulated.profiles import shipped_ratings

    text = shipped_ratings().get(identity.name)
    if text is None:
        return ()
    return tuple(
        Rated(metric=each.metric, value=each.value, state=each.state, source=each.source)
        for each in Ratings.parse(text).rating
    )
