"""A user's own sentences with the figure and the bound that each rests on: `claims.toml`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, ClassVar, Self

from pydantic import Field, StringConstraints, model_validator

from ssdlab.host.documents import read_toml, with_name
from ssdlab.model.errors import UsageError
from ssdlab.model.frozen import Frozen

if TYPE_CHECKING:
    from pathlib import Path

_BOUND = re.compile(r"(at least|at most|under|over)\s+(-?\d[\d_]*(?:\.\d+)?)\s*([kM]?)")
_TIMES = {"": 1.0, "k": 1e3, "M": 1e6}
Line = Annotated[str, StringConstraints(min_length=1, max_length=1000)]


class UserClaim(Frozen):
    """One `[[claim]]`."""

    noun: ClassVar[str] = "key of a claim"

    sentence: Line = Field(description="your own words")
    figure: Line = Field(description="name of a headline figure, such as peak_random_read_iops")
    bound: Line = Field(description="at least, at most, under or over a number: at least 90k")
    drive: str | None = Field(None, description="part of a drive's name; by default the first of the page")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if _BOUND.fullmatch(self.bound.strip()) is None:
            raise UsageError(
                f"the bound {self.bound!r} is not understood",
                "write at least, at most, under or over and a number, such as: at least 90k",
            )
        return self

    def keeps(self, value: float) -> bool:
        """Whether a figure keeps the bound, in the unit that results have it in."""
        found = _BOUND.fullmatch(self.bound.strip())
        assert found is not None  # `_check`
        limit = float(found[2]) * _TIMES[found[3]]
        return {
            "at least": value >= limit,
            "at most": value <= limit,
            "under": value < limit,
            "over": value > limit,
        }[found[1]]


class _File(Frozen):
    noun: ClassVar[str] = "key of a file of claims"

    claim: tuple[UserClaim, ...] = Field(min_length=1, max_length=500, description="each as [[claim]]")


def read_claims(path: Path) -> tuple[UserClaim, ...]:
    """Read a file of claims.

    Raises
    ------
    UsageError, HostError
        It cannot be read, or says what it must not; with its name.
    """
    content = read_toml(path, "file of claims", "see docs/report.md")
    try:
        return _File.model_validate(content).claim
    except UsageError as error:
        raise with_name(error, path) from None
