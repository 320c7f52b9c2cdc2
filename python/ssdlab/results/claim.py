"""A claim of a result: the figure, its bound and its evidence.

Methods return their findings and the reasons of their verdicts as `Claim` objects. Only `clause` turns a
claim into words. Results store the words of the reasons.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import isclose
from typing import Literal

from ssdlab.model.units import (
    SHARE_DIGITS,
    block_text,
    capacity_text,
    figure_text,
    share_text,
    significant,
)

Sense = Literal["at least", "at most", "under"]
_SECTOR = 512
_DIGITS = 3
_DIGITS_MAX = 13
_BLOCK_MAX = 1 << 20
"""Whole sectors up to this size are shown as a block, in binary units; any other size as a capacity, in
decimal units."""


@dataclass(frozen=True)
class Amount:
    """A value with its unit: `IOPS`, `MB/s`, `ns`, `s`, `bytes`, `%`, `x`, or any other word."""

    value: float | None
    unit: str = ""

    def __str__(self) -> str:
        """Return three digits and the unit, as on cards; bytes as a block size or a capacity."""
        if self.unit == "bytes" and self.value is not None:
            size = int(self.value)
            return block_text(size) if size <= _BLOCK_MAX and size % _SECTOR == 0 else capacity_text(size)
        return figure_text(self.value, self.unit)


@dataclass(frozen=True)
class Bound:
    """The limit that a figure must keep."""

    sense: Sense
    amount: Amount

    def __str__(self) -> str:
        """Return the bound in words: ``under 1 ms``."""
        return f"{self.sense} {self.amount}"

    def kept_by(self, figure: Amount) -> bool | None:
        """Whether a figure of the same unit keeps the bound; None: a value is missing."""
        if figure.value is None or self.amount.value is None:
            return None
        match self.sense:
            case "at least":
                return figure.value >= self.amount.value
            case "at most":
                return figure.value <= self.amount.value
            case "under":
                return figure.value < self.amount.value


@dataclass(frozen=True)
class Evidence:
    """Evidence of a claim: ordinals of steps, and rows of the result's own list (records, rounds).

    `rows` is the first and the last row, counted from 0; None: all rows.
    """

    steps: tuple[int, ...] = ()
    rows: tuple[int, int] | None = None


@dataclass(frozen=True)
class Claim:
    """One finding of a result.

    Attributes
    ----------
    says
        The sentence without its full stop. Placeholders are `{figure}`, `{bound}` and the names of `others`.
    figure, bound
        The amount that was found, and its limit.
    evidence
        Steps and rows that show it.
    others
        Further amounts and words for the sentence.
    columns
        Cells for a table of several runs, by heading, with placeholders as in `says`. Empty: such a table is
        replaced by the sentence.
    """

    says: str
    figure: Amount | None = None
    bound: Bound | None = None
    evidence: Evidence = field(default_factory=Evidence)
    others: Mapping[str, Amount | str] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check that each placeholder has a value.

        Raises
        ------
        ValueError
            A placeholder has no value; the error names it.
        """
        missing = [name for name in self.named() if name not in self.amounts()]
        if missing:
            raise ValueError(f"{self.says!r} names {missing[0]!r}, which the claim does not have")

    @property
    def holds(self) -> bool | None:
        """Whether the figure keeps the bound; None: the figure or the bound is missing."""
        if self.figure is None or self.bound is None:
            return None
        return self.bound.kept_by(self.figure)

    def named(self) -> tuple[str, ...]:
        texts = (self.says, *self.columns.values())
        parsed = (part for text in texts for part in string.Formatter().parse(text))
        return tuple(name for _, name, _, _ in parsed if name is not None)

    def amounts(self) -> dict[str, Amount | Bound | str]:
        found: dict[str, Amount | Bound | str] = dict(self.others)
        if self.figure is not None:
            found["figure"] = self.figure
        if self.bound is not None:
            found["bound"] = self.bound
        return found


def clause(claim: Claim) -> str:
    """Return a claim as words without a capital or a full stop, the form in which reasons are stored."""
    return _with_amounts(claim, claim.says)


def row(claim: Claim) -> dict[str, str]:
    """Return a claim's cells, by column heading."""
    return {heading: _with_amounts(claim, text) for heading, text in claim.columns.items()}


def _with_amounts(claim: Claim, text: str) -> str:
    words = {name: str(each) for name, each in claim.amounts().items()}
    if claim.figure is not None and claim.bound is not None:
        words["figure"] = _beside(claim.figure, claim.bound)
    return text.format_map(words)


def telling_digits(value: float, keeps: Callable[[float], bool], upper: int = _DIGITS_MAX) -> int:
    """Return how many digits, at least three, show on which side of a bound a value is.

    >>> telling_digits(489.975, lambda value: value >= 490), telling_digits(600.0, lambda value: value >= 490)
    (5, 3)
    """
    kept = keeps(value)
    telling = (digits for digits in range(_DIGITS, upper) if keeps(float(significant(value, digits))) == kept)
    return next(telling, _DIGITS)


def _beside(figure: Amount, bound: Bound) -> str:
    """Return a figure in words; a share with enough digits to show whether it keeps the bound."""
    value, limit = figure.value, bound.amount.value
    if figure.unit != "%" or value is None or limit is None or isclose(value, limit, rel_tol=1e-12):
        return str(figure)

    def keeps(shown: float) -> bool:
        return bound.kept_by(Amount(shown, figure.unit)) is True

    return share_text(value / 100, telling_digits(value, keeps, SHARE_DIGITS))


def sentence(claim: Claim) -> str:
    """Return a claim as a sentence, with a capital and a full stop."""
    return as_sentence(clause(claim))


def as_sentence(text: str) -> str:
    """Return words with a capital and a full stop; empty words stay empty."""
    return f"{text[:1].upper()}{text[1:]}." if text else ""
