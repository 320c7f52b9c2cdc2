"""Finds the supply rails of one drive among the columns of a meter.

A rail is a column in W, or one in V and one in A. Columns with totals are left out. So are minimum and
maximum of a rail that also has a mean. If rails overlap or are incomplete, the meter is refused with the
names of the columns, and the user then names the drive's rails.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ssdlab.model.errors import LabError, Refused, unknown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ssdlab.analysis.energy import Array
    from ssdlab.model.meter_text import MeterText

AMOUNTS = {
    f"{prefix}{unit}": (unit, scale)
    for unit in "VAW"
    for prefix, scale in (
        ("", 1.0),
        ("k", 1e3),
        ("m", 1e-3),
        ("u", 1e-6),
        ("µ", 1e-6),
        ("μ", 1e-6),
        ("n", 1e-9),
    )
}
"""Quantity (V, A or W) and scale of each unit; micro is either of two characters."""
TOTAL_OFF = 0.02
"""Maximum deviation of a total from the sum of the rails, as a share, to allow for rounding."""

_WORDS = re.compile(r"[\s_/:;#-]+|(?<=[a-z])(?=[A-Z])")
_MEASURED = frozenset(
    (
        "voltage",
        "volt",
        "volts",
        "current",
        "amp",
        "amps",
        "ampere",
        "amperes",
        "power",
        "watt",
        "watts",
        *"vuip",
    )
)
_NUMBERED = re.compile(r"^[uvip](\d+)$", re.IGNORECASE)
"""Columns of a power analyser: U1, I1 and P1 belong to channel 1."""
_MEANS = frozenset(("avg", "average", "mean"))
_EXTREMES = frozenset(("min", "minimum", "max", "maximum", "peak", "pk", "std", "stddev", "sd"))
_TOTALS = frozenset(("total", "totals", "tot", "sum", "overall", "combined", "all"))
_SUPPLY = re.compile(r"(\d{1,2})(?:[.,](\d+))?V(\d+)?(aux)?", re.IGNORECASE)
_FOREIGN = frozenset(
    (
        *(
            "cpu",
            "gpu",
            "package",
            "dram",
            "ram",
            "system",
            "sys",
            "psys",
            "host",
            "pc",
            "wall",
            "mains",
            "ac",
        ),
        *("psu", "board", "motherboard", "fan", "fans", "pump"),
    )
)
"""Words for consumers other than a drive."""


class Column(NamedTuple):
    """A column with a unit: index, name without the unit, quantity (V, A or W), scale, heading."""

    at: int
    name: str
    sort: str
    scale: float
    head: str


class Rail(NamedTuple):
    """A supply rail: its power is the product of its columns and of `volts`.

    `volts` is the voltage that the user gave for a rail with amperes only, else 1.
    """

    name: str
    columns: tuple[Column, ...]
    volts: float = 1.0

    def watts(self, values: Array) -> Array:
        """Return the rail's power in W, shape (n,), from values of shape (n, columns)."""
        product = np.full(len(values), self.volts)
        for each in self.columns:
            product = product * values[:, each.at] * each.scale
        return product


class Rails(NamedTuple):
    """The rails of a drive, and the total that the meter measured, if any."""

    rails: tuple[Rail, ...]
    total: Rail | None

    def check_total(self, use: str, values: Array) -> None:
        """Check that the rails add up to the total that the meter measured.

        Raises
        ------
        Refused
            The sums differ: a rail is missing, or belongs to another consumer.
        """
        if self.total is None:
            return
        added = float(sum(each.watts(values).mean() for each in self.rails))
        total = float(self.total.watts(values).mean())
        if abs(added - total) > TOTAL_OFF * max(abs(added), abs(total)):
            heads = [each.head for rail in self.rails for each in rail.columns]
            raise _refused(
                use,
                f"{_listed(self.total.columns)} is {total:.3g} W on average, but "
                f"{', '.join(heads)} add up to {added:.3g} W",
                (*(each for rail in self.rails for each in rail.columns), *self.total.columns),
                self.total.name,
            )


class _Found:
    """The columns of one rail with the same statistic: value, mean, minimum or maximum, or total."""

    def __init__(self, column: Column) -> None:
        self.by_sort: dict[str, Column] = {}
        words = [word.strip("+") for word in _WORDS.split(re.sub(r"(\d)\s+V\b", r"\1V", column.name))]
        lower = [word.lower() for word in words]
        self.total = any(word in _TOTALS for word in lower)
        self.extreme = any(word in _EXTREMES for word in lower)
        self.statistic = " ".join(word for word in lower if word in _MEANS | _EXTREMES)
        self.foreign = any(word in _FOREIGN for word in lower)
        self.name = " ".join(
            _NUMBERED.sub(r"\1", word)
            for word in words
            if word and word.lower() not in _MEASURED | _MEANS | _EXTREMES
        )
        supply = _SUPPLY.fullmatch(self.name.replace(" ", ""))
        self.is_supply = supply is not None
        self.rail = (
            self.name.lower()
            if supply is None
            else f"{supply[1]}.{supply[2] or supply[3] or '0'}".rstrip("0") + (supply[4] or "").lower()
        )

    @property
    def key(self) -> tuple[str, str]:
        """Rail and statistic. Columns with the same key are quantities of one supply."""
        return self.rail, self.statistic

    @property
    def columns(self) -> tuple[Column, ...]:
        return tuple(self.by_sort.values())

    @property
    def used(self) -> tuple[Column, ...]:
        """The columns whose product is the power; empty if only volts are measured."""
        if "W" in self.by_sort:
            return (self.by_sort["W"],)
        if "A" in self.by_sort:
            return tuple(self.by_sort[sort] for sort in "VA" if sort in self.by_sort)
        return ()

    @property
    def amperes_alone(self) -> bool:
        return self.by_sort.keys() == {"A"}

    def named(self, name: str) -> bool:
        """Whether a name that the user gave means this rail or one of its columns."""
        return name in (self.name, *(each.name for each in self.columns))


def rails_of(text: MeterText, columns: Iterable[Column], *, of_one_drive: bool = False) -> Rails:
    """Return the rails that feed the drive.

    Parameters
    ----------
    text
        The meter, with the rails that the user chose, and the volts of rails with amperes only.
    columns
        The meter's columns in V, A or W.
    of_one_drive
        Whether the meter is in the supply of one drive, so that all its rails are the drive's.

    Raises
    ------
    UsageError
        The meter lacks a chosen rail.
    Refused
        The meter measures no power, or its rails overlap or are incomplete. The error names the columns.
    """
    found: dict[tuple[str, str], _Found] = {}
    for column in columns:
        new = _Found(column)
        each = found.setdefault(new.key, new)
        if column.sort in each.by_sort:
            heads = f"{each.by_sort[column.sort].head}, {column.head}"
            raise _refused(text.use, f"one rail is in two columns: {heads}", (*each.columns, column))
        each.by_sort[column.sort] = column
    every = list(found.values())
    total = None
    if text.rails:
        kept = _chosen(text, every)
    else:
        kept = [each for each in every if not each.total]
        totals = [each for each in every if each.total and each.used]
        kept, totals = _without_extremes(text, kept), _without_extremes(text, totals)
        if totals and not any(each.used for each in kept):
            kept = totals
        elif totals:
            total = totals[0]
        _check_disjoint(text, kept, of_one_drive=of_one_drive)
    if not kept:
        raise Refused(
            f"{text.use} measures no rail: there is no drive power to add up", "choose another meter"
        )
    volts = _volts(text, kept)
    rails = tuple(Rail(each.name or "power", each.used, volts.get(each.key, 1.0)) for each in kept)
    return Rails(rails, None if total is None or total.amperes_alone else Rail(total.name, total.used))


def _chosen(text: MeterText, every: Sequence[_Found]) -> list[_Found]:
    for name in text.rails:
        if not any(each.named(name) for each in every):
            offered = tuple(dict.fromkeys(each.name or each.columns[0].name for each in every))
            raise unknown(f"rail of {text.use}", name, offered)
    kept = [each for each in every if any(each.named(name) for name in text.rails)]
    rails = [each.rail for each in kept]
    if len(set(rails)) < len(rails) or (len(kept) > 1 and any(each.total for each in kept)):
        columns = tuple(column for each in kept for column in each.columns)
        raise _refused(text.use, f"the chosen rails overlap: {_listed(columns)}", columns)
    return kept


def _without_extremes(text: MeterText, every: Sequence[_Found]) -> list[_Found]:
    """Leave out minimum and maximum of each rail, which must have either a value or a mean."""
    kept = []
    for rail in dict.fromkeys(each.rail for each in every):
        of_rail = [each for each in every if each.rail == rail]
        values = [each for each in of_rail if not each.extreme]
        if len(values) != 1:
            columns = tuple(column for each in of_rail for column in each.columns)
            why = "has no mean" if not values else "has a value and a mean"
            name = of_rail[0].name or "power"
            raise _refused(text.use, f"the rail {name} {why}: {_listed(columns)}", columns)
        kept += values
    return kept


def _check_disjoint(text: MeterText, kept: Sequence[_Found], *, of_one_drive: bool) -> None:
    halves = [each for each in kept if not each.used or (each.amperes_alone and not text.volts)]
    if halves:
        columns = tuple(column for each in halves for column in each.columns)
        lacking = "volts but no amperes" if not halves[0].used else "amperes but no volts"
        whole = [each.name for each in kept if each not in halves]
        raise _refused(text.use, f"a rail has {lacking}: {_listed(columns)}", columns, *whole)
    if of_one_drive:
        return
    foreign = [each for each in kept if each.foreign or (len(kept) > 1 and not each.is_supply)]
    if foreign:
        columns = tuple(column for each in foreign for column in each.used)
        own = [each.name for each in kept if each not in foreign] or [foreign[0].name or columns[0].name]
        raise _refused(
            text.use, f"it does not name the consumer of this power: {_listed(columns)}", columns, *own
        )


def _volts(text: MeterText, kept: Sequence[_Found]) -> dict[tuple[str, str], float]:
    """Return the voltages that the user gave for rails with amperes only, by key."""
    alone = [each for each in kept if each.amperes_alone]
    if len(alone) != len(text.volts):
        heads = _listed(column for each in alone for column in each.columns) or "none"
        raise Refused(
            f"{text.use} has amperes without volts in {len(alone)} columns ({heads}), but "
            f"{len(text.volts)} voltages were given",
            f"give a voltage for each column, in order: {text.use},volts=12V+5V",
            columns=[column.head for each in alone for column in each.columns],
        )
    if not all(each.used for each in kept):
        columns = tuple(column for each in kept for column in each.columns if not each.used)
        raise _refused(text.use, f"a rail has volts but no amperes: {_listed(columns)}", columns)
    return {each.key: volts for each, volts in zip(alone, text.volts, strict=True)}


def _listed(columns: Iterable[Column]) -> str:
    return ", ".join(each.head for each in columns)


def _refused(use: str, why: str, columns: Sequence[Column], *rails: str) -> LabError:
    advice = "choose the rails that feed the drive and add up, or leave the columns out"
    if any(each.sort == "A" for each in columns) and "no volts" in why:
        advice = f"give the volts of the supply: {use},volts=5V"
    elif rails:
        advice = f"choose the rails that feed the drive and add up: {use},rails={'+'.join(rails)}"
    return Refused(f"{use}: {why}", advice, columns=[each.head for each in columns])
