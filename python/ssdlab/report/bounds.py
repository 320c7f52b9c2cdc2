"""Bounds in words, `at most 0.5ms`, and figures held against them whatever unit each is in."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import isclose

from ssdlab.model.errors import UsageError
from ssdlab.model.units import DURATION_UNITS, SIZE_UNITS, figure_text
from ssdlab.results.claim import telling_digits

_BOUND = re.compile(r"(at least|at most|under|over)\s+(-?\d[\d_]*(?:\.\d+)?)\s*(\D.*)?")
_TIMES = {"": 1.0, "k": 1e3, "M": 1e6}
_KINDS: tuple[dict[str, float], ...] = (
    {unit: float(ns) for unit, ns in DURATION_UNITS.items()},
    {f"{unit}/s": float(size) for unit, size in SIZE_UNITS.items() if unit.endswith("B")},
    {f"{times}IOPS": value for times, value in _TIMES.items()},
    {"W": 1.0, "mW": 1e-3},
    {"share": 1.0, "%": 1e-2},
)
"""Units of one kind: of time, of bytes a second, of I/Os a second, of power, of shares."""


@dataclass(frozen=True)
class Bound:
    """A bound.

    Attributes
    ----------
    verb
        at least, at most, under or over.
    limit
        The number.
    unit
        As it was written, without blanks; empty, k or M: in the unit of the figure, or so many of it.
    """

    verb: str
    limit: float
    unit: str

    def keeps(self, value: float, unit: str) -> bool:
        """Whether a figure keeps the bound.

        Raises
        ------
        UsageError
            The figure has a unit of another kind.
        """
        limit = self.limit * self._factor(unit)
        if isclose(value, limit, rel_tol=1e-12):  # what a unit's factor makes of a number
            value = limit
        return {
            "at least": value >= limit,
            "at most": value <= limit,
            "under": value < limit,
            "over": value > limit,
        }[self.verb]

    def beside(self, value: float, unit: str) -> str:
        """Return a figure in words, of as many digits as show whether it keeps the bound."""
        return figure_text(value, unit, telling_digits(value, lambda shown: self.keeps(shown, unit)))

    def _factor(self, unit: str) -> float:
        """Return how many of a figure's units one of the bound's is."""
        if self.unit in _TIMES:
            return _TIMES[self.unit]
        if self.unit == unit:
            return 1.0
        for kind in _KINDS:
            if unit in kind and self.unit in kind:
                return kind[self.unit] / kind[unit]
        raise UsageError(
            f"a bound in {self.unit} says nothing of a figure in {unit or 'plain numbers'}",
            "give a unit of the figure's kind, or none: the bound is then in the figure's own",
        )


def parse_bound(text: str) -> Bound:
    """Read a bound: `at least 90k`, `under 0.5 ms`, `over 2 GB/s`.

    Raises
    ------
    UsageError
        It is none.
    """
    found = _BOUND.fullmatch(text.strip())
    if found is None:
        raise UsageError(
            f"the bound {text!r} is not understood",
            "write at least, at most, under or over, a number and perhaps its unit, such as: at least 90k, "
            "under 0.5ms, over 2GB/s",
        )
    return Bound(found[1], float(found[2]), "".join((found[3] or "").split()))
