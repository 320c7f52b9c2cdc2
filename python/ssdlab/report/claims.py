"""Claims of a user (`claims.toml`): sentences, each with a figure and the bound it must keep."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import isclose
from typing import TYPE_CHECKING, Annotated, ClassVar, Self

from pydantic import Field, PrivateAttr, StringConstraints, model_validator

from ssdlab.host.documents import parse_toml, read_document, with_name
from ssdlab.model.errors import UsageError, excerpt
from ssdlab.model.frozen import Frozen
from ssdlab.model.units import DURATION_UNITS, SIZE_UNITS, figure_text
from ssdlab.results.claim import telling_digits

if TYPE_CHECKING:
    from pathlib import Path

_BOUND = re.compile(r"(at least|at most|under|over)\s+(-?\d[\d_]*(?:\.\d+)?)\s*(\D.*)?")
_TIMES = {"": 1.0, "k": 1e3, "M": 1e6}
_KINDS: tuple[dict[str, float], ...] = (
    {unit: float(ns) for unit, ns in DURATION_UNITS.items()},
    {f"{unit}/s": float(size) for unit, size in SIZE_UNITS.items() if unit.endswith("B")},
    {f"{times}IOPS": value for times, value in _TIMES.items()},
    {"W": 1.0, "mW": 1e-3},
    {"share": 1.0, "%": 1e-2},
)
"""Units of each kind of quantity: time, throughput, IOPS, power and share, with factors to convert them."""


@dataclass(frozen=True)
class Bound:
    """A limit for a figure.

    Attributes
    ----------
    verb
        "at least", "at most", "under" or "over".
    unit
        Unit as written, without blanks. If empty, k or M, the limit is in the figure's own unit, times 1,
        1000 or 1,000,000.
    """

    verb: str
    limit: float
    unit: str

    def keeps(self, value: float, unit: str) -> bool:
        """Return whether a figure keeps the bound.

        Raises
        ------
        UsageError
            The figure has a unit of another kind.
        """
        limit = self.limit * self._factor(unit)
        if isclose(value, limit, rel_tol=1e-12):  # converting units may round the number
            value = limit
        return {
            "at least": value >= limit,
            "at most": value <= limit,
            "under": value < limit,
            "over": value > limit,
        }[self.verb]

    def beside(self, value: float, unit: str) -> str:
        """Return a figure in words, with enough digits to show whether it keeps the bound."""
        return figure_text(value, unit, telling_digits(value, lambda shown: self.keeps(shown, unit)))

    def _factor(self, unit: str) -> float:
        """Return how many of a figure's units make one unit of the bound."""
        if self.unit in _TIMES:
            return _TIMES[self.unit]
        if self.unit == unit:
            return 1.0
        for kind in _KINDS:
            if unit in kind and self.unit in kind:
                return kind[self.unit] / kind[unit]
        raise UsageError(
            f"a bound in {self.unit} does not apply to a figure in {unit or 'plain numbers'}",
            "give a unit of the same kind, or none to use the figure's own",
        )


def parse_bound(text: str) -> Bound:
    """Read a bound: `at least 90k`, `under 0.5 ms`, `over 2 GB/s`.

    Raises
    ------
    UsageError
        The text is not a bound.
    """
    found = _BOUND.fullmatch(text.strip())
    if found is None:
        raise UsageError(
            f"the bound {text!r} is not understood",
            "begin with at least, at most, under or over, then give a number, with a unit or without: "
            "at least 90k, under 0.5ms, over 2GB/s",
        )
    return Bound(found[1], float(found[2]), "".join((found[3] or "").split()))


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
        """Return whether a figure keeps the bound.

        Raises
        ------
        UsageError
            The units of bound and figure are of different kinds; the error names file and line.
        """
        try:
            return parse_bound(self.bound).keeps(value, unit)
        except UsageError as error:
            error.what = f"{self._where}{self.figure}: {error.what}"
            raise

    def beside(self, value: float, unit: str) -> str:
        return parse_bound(self.bound).beside(value, unit)

    @property
    def where(self) -> str:
        """File and line of the claim, for errors; empty if it does not come from a file."""
        return self._where

    def at(self, where: str) -> Self:
        """Set the claim's file and line, for errors; return the claim."""
        self._where = where
        return self


MAX_CLAIMS = 500


def read_claims(path: Path) -> tuple[UserClaim, ...]:
    """Read a file of claims.

    Raises
    ------
    UsageError, HostError
        The file cannot be read, or is invalid; the error names file and line.
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
        # Claims in a list of inline tables have no line of their own.
        place = f"line {heads[number]}" if len(heads) == len(tables) else f"claim {number + 1}"
        if not isinstance(table, dict):
            raise UsageError(
                f"{path}, {place}: a claim is not a table: {excerpt(str(table))!r}",
                "write each as [[claim]] with sentence, figure and bound; see docs/report.md",
                path=str(path),
            )
        try:
            claims.append(UserClaim.model_validate(table).at(f"{path}, {place}: "))
        except UsageError as error:
            error.what = f"{place}: {error.what}"
            raise with_name(error, path) from None
    return tuple(claims)
