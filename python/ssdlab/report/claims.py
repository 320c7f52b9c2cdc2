"""A user's own sentences with the figure and the bound that each rests on: `claims.toml`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, ClassVar, Self

from pydantic import Field, PrivateAttr, StringConstraints, model_validator

from ssdlab.host.documents import parse_toml, read_document, with_name
from ssdlab.model.errors import UsageError, excerpt
from ssdlab.model.frozen import Frozen
from ssdlab.report.bounds import parse_bound

if TYPE_CHECKING:
    from pathlib import Path

_HEAD = re.compile(r"^[ \t]*\[\[[ \t]*claim[ \t]*\]\]", re.MULTILINE)
Line = Annotated[str, StringConstraints(min_length=1, max_length=1000)]


class UserClaim(Frozen):
    """One `[[claim]]`."""

    noun: ClassVar[str] = "key of a claim"

    sentence: Line = Field(description="your own words")
    figure: Line = Field(description="name of a headline figure, such as peak_random_read_iops")
    bound: Line = Field(description="at least, at most, under or over a number: at least 90k, under 0.5ms")
    drive: str | None = Field(None, description="part of a drive's name; by default the first of the page")

    _where: str = PrivateAttr("")

    @model_validator(mode="after")
    def _check(self) -> Self:
        parse_bound(self.bound)
        return self

    def keeps(self, value: float, unit: str) -> bool:
        """Whether a figure keeps the bound.

        Raises
        ------
        UsageError
            The bound is of another kind of unit than the figure; with file and line.
        """
        try:
            return parse_bound(self.bound).keeps(value, unit)
        except UsageError as error:
            error.what = f"{self._where}{self.figure}: {error.what}"
            raise

    def beside(self, value: float, unit: str) -> str:
        """Return a figure in words, of as many digits as show whether it keeps the bound."""
        return parse_bound(self.bound).beside(value, unit)

    @property
    def where(self) -> str:
        """Its place, as errors about it begin; empty: it is of no file."""
        return self._where

    def at(self, where: str) -> Self:
        """Return the claim with the place that errors about it name."""
        self._where = where
        return self


MAX_CLAIMS = 500


def read_claims(path: Path) -> tuple[UserClaim, ...]:
    """Read a file of claims.

    Raises
    ------
    UsageError, HostError
        It cannot be read, or says what it must not; with its name and line.
    """
    text = read_document(path, "file of claims", "see docs/report.md")
    content = parse_toml(text, str(path))
    tables = content.pop("claim", None)
    if content or not isinstance(tables, list) or not 0 < len(tables) <= MAX_CLAIMS:
        raise UsageError(
            f"{path} must have 1 to {MAX_CLAIMS} claims, each as [[claim]], and nothing else",
            "write it as in docs/report.md",
            path=str(path),
        )
    heads = [text.count("\n", 0, head.start()) + 1 for head in _HEAD.finditer(text)]
    claims = []
    for number, table in enumerate(tables):
        # Written as a list of inline tables they have no line of their own.
        place = f"line {heads[number]}" if len(heads) == len(tables) else f"claim {number + 1}"
        if not isinstance(table, dict):
            raise UsageError(
                f"{path}, {place}: a claim is no table: {excerpt(str(table))!r}",
                "write each as [[claim]] with sentence, figure and bound; see docs/report.md",
                path=str(path),
            )
        try:
            claims.append(UserClaim.model_validate(table).at(f"{path}, {place}: "))
        except UsageError as error:
            error.what = f"{place}: {error.what}"
            raise with_name(error, path) from None
    return tuple(claims)
