"""The Result of methods that need none of their own."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ssdlab.results.basis import Basis, points_basis
from ssdlab.results.drive_states import StateCheck
from ssdlab.results.schema import Point, ResultBase, Scalar


class PointsResult(ResultBase):
    """Measured points and the figures drawn from them: of methods that need no Result of their own."""

    kind: Literal["points"] = "points"
    points: tuple[Point, ...]
    checks: tuple[StateCheck, ...] = Field(
        default=(), description="whether the drive's state held while depths were swept"
    )

    def basis_of(self, figure: Scalar) -> Basis:
        """Return the points of the figure's order and direction, where its name has them."""
        own = [each for each in self.points if f"_{each.pattern}_{each.direction}_" in figure.name]
        return points_basis(figure, own)
