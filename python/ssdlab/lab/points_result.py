"""The Result of methods that need none of their own."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ssdlab.results.drive_states import StateCheck
from ssdlab.results.schema import Point, ResultBase


class PointsResult(ResultBase):
    """Measured points and the figures drawn from them: of methods that need no Result of their own."""

    kind: Literal["points"] = "points"
    points: tuple[Point, ...]
    checks: tuple[StateCheck, ...] = Field(
        default=(), description="whether the drive's state held while depths were swept"
    )
