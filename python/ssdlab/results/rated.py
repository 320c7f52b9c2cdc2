"""Rated values of a drive, as a manifest keeps them beside what was measured."""

from __future__ import annotations

from pydantic import Field

from ssdlab.model.stored import Stored


class Rated(Stored):
    """One figure that a drive is rated for."""

    metric: str = Field(description="what is rated, with its unit: see `ssdlab.drives.ratings.METRICS`")
    value: float
    state: str | None = Field(default=None, description="drive state it speaks of; None: not said")
    source: str = Field(description="who says so: data-sheet, measurement, recalled, drive record")
