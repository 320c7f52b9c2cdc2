"""The drives of one model compared by each figure, and their drift over repeats.

A drive's value is the median of its runs. Only comparable runs are combined: for each method the group with
the most drives counts, and the number of other drives is kept.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import combinations
from statistics import median, quantiles
from typing import TYPE_CHECKING, NamedTuple

from ssdlab.analysis.outliers import Spread, spread_of
from ssdlab.model.errors import UsageError, unknown
from ssdlab.results.kin import CHOSEN_UNIT, MARKS, OF_RUNS, UNFIT, counted_codes, counted_words, labels_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ssdlab.library.choosing import Choice
    from ssdlab.library.index import Index

FALSE_ALARMS = 0.01
"""Maximum probability that a page names an outlier if all drives have the same lognormal distribution."""
MIN_SIGMA = 0.005
"""Differences below half a per cent name no drive: histograms have a resolution of 1 %."""
WITHOUT_SHARE = 0.1
"""If a larger share of the drives gives no figure, the method demands too much, and no drive is named."""
_OF_RUNS = f"hash({', '.join(name for name in OF_RUNS if name != 'profile')})"
"""SQL for a hash over the properties that comparable runs have in common."""
CHOSEN_UNITS = {CHOSEN_UNIT, ""}
"""Units of chosen, not measured, quantities, such as the reported depth."""


@dataclass(frozen=True)
class Sample:
    """One drive: the values of its runs, oldest first, and their folders.

    `marks` counts the runs with a qualifier that does not forbid ranking, by the qualifier's code.
    """

    drive_id: str
    values: tuple[float, ...]
    folders: tuple[str, ...]
    marks: Mapping[str, int] = field(default_factory=dict)

    @property
    def marked(self) -> str:
        """The labels of its qualifiers in `marks`; empty if there are none."""
        return counted_words(self.marks, len(self.values))

    @property
    def value(self) -> float:
        return median(self.values)

    @property
    def typical_folder(self) -> str:
        """The run whose value is nearest the drive's."""
        return min(zip(self.values, self.folders, strict=True), key=lambda each: abs(each[0] - self.value))[1]


@dataclass(frozen=True)
class Population:
    """One figure of all drives of a model.

    Attributes
    ----------
    name, label, unit, better, method
        The figure, and the method that gave it.
    samples
        The drives, by rising value.
    spread
        Distribution of the logarithms of their values.
    left_out
        Number of other drives, which have this figure only from runs that are not comparable with these.
    """

    name: str
    label: str
    unit: str
    better: str
    method: str
    samples: tuple[Sample, ...]
    spread: Spread
    left_out: int
    unfit: str
    """Why these drives are not ranked; empty: they are ranked."""

    @property
    def marks(self) -> str:
        """Labels of qualifiers that do not forbid ranking, with the number of drives unless all."""
        counts = counted_codes(", ".join(each.marks) or None for each in self.samples)
        return counted_words(counts, len(self.samples), "drives")

    @property
    def middle(self) -> float:
        """The median of the drives."""
        return math.exp(self.spread.middle)

    def off(self, sample: Sample) -> float:
        """Return a drive's distance from the median, as a share of the median."""
        return sample.value / self.middle - 1

    @property
    def outliers(self) -> tuple[Sample, ...]:
        """The drives that are far from the median, the furthest first."""
        far = [each for each in self.samples if self.spread.is_far(math.log(each.value))]
        return tuple(sorted(far, key=lambda each: -abs(math.log(each.value) - self.spread.middle)))


@dataclass(frozen=True)
class Without:
    """A drive whose runs gave no figure in a proven state, although nearly all others have one."""

    drive_id: str
    folder: str
    method: str


def model_of(index: Index, choice: Choice, asked: str | None) -> str:
    """Return a model by its name or a part of it; without a name, the only model that there is.

    Raises
    ------
    UsageError
        No model fits, or several do.
    """
    where, values = choice.where()
    query = (
        f"SELECT drive_name, count(DISTINCT drive_id) FROM runs WHERE {where} GROUP BY ALL ORDER BY 2 DESC"
    )
    counts: dict[str, int] = dict(index.ask(query, values))
    if not counts:
        raise UsageError(
            "the library has no matching finished run", "list its runs: ssdlab runs --library DIR"
        )
    wanted = asked or ""
    fits = [name for name in counts if wanted.casefold() in name.casefold()]
    if wanted in counts:
        return wanted
    if not fits:
        raise unknown("model", wanted, list(counts))
    if len(fits) > 1:
        listed = ", ".join(f"{name} ({counts[name]})" for name in fits[:8])
        raise UsageError(f"{len(fits)} models match: {listed}", "name one: --model MODEL", models=fits)
    return fits[0]


class _Line(NamedTuple):
    """A figure from the comparable runs of one drive, as the catalogue has it."""

    name: str
    kin: int
    label: str
    unit: str
    better: str
    method: str
    unfit: str | None
    drive_id: str
    values: list[float]
    folders: list[str]
    marks: list[str | None]


def populations(index: Index, model: str, choice: Choice) -> tuple[Population, ...]:
    """Return every measured figure of the drives of a model, in the order of methods and figures."""
    where, values = choice.where()
    found = index.ask(
        "SELECT name, kin, any_value(label), any_value(unit), any_value(better), any_value(method), "
        f"any_value({UNFIT}), drive_id, list(value ORDER BY created, folder), "
        f"list(folder ORDER BY created, folder), list({MARKS} ORDER BY created, folder) "
        f"FROM entries WHERE drive_name = ? AND value > 0 AND isfinite(value) AND {where} "
        "GROUP BY name, kin, drive_id ORDER BY any_value(method), name, drive_id",
        [model, *values],
    )
    figures: dict[str, dict[int, list[_Line]]] = defaultdict(lambda: defaultdict(list))
    for each in found:
        line = _Line(*each)
        if line.unit not in CHOSEN_UNITS:
            figures[line.name][line.kin].append(line)
    alpha = FALSE_ALARMS / max(len(figures), 1)
    return tuple(_population(list(groups.values()), alpha) for groups in figures.values())


def _weight(lines: Sequence[_Line]) -> tuple[bool, int, int, str]:
    """Return the key by which a group of comparable runs is chosen.

    The newest run decides last, so that all figures of a page come from the same group.
    """
    runs = sum(len(line.values) for line in lines)
    return not lines[0].unfit, len(lines), runs, max(line.folders[-1] for line in lines)


def _population(groups: Sequence[Sequence[_Line]], alpha: float) -> Population:
    # Runs that heat or the host has disturbed do not represent the model, unless there are no others.
    ours = max(groups, key=_weight)
    others = {line.drive_id for lines in groups for line in lines} - {line.drive_id for line in ours}
    samples = sorted(
        (
            Sample(line.drive_id, tuple(line.values), tuple(line.folders), counted_codes(line.marks))
            for line in ours
        ),
        key=lambda each: each.value,
    )
    spread = spread_of([math.log(each.value) for each in samples], alpha, min_sigma=MIN_SIGMA)
    first = ours[0]
    return Population(
        first.name,
        first.label,
        first.unit,
        first.better,
        first.method,
        tuple(samples),
        spread,
        len(others),
        labels_of(first.unfit),
    )


def without_figures(
    index: Index, model: str, choice: Choice, found: Sequence[Population]
) -> tuple[Without, ...]:
    """Return the drives without a figure of a method: their state changed or was not verified."""
    where, values = choice.where()
    missing: list[Without] = []
    for method in dict.fromkeys(each.method for each in found):
        ours = [each for each in found if each.method == method]
        have = {sample.drive_id for each in ours for sample in each.samples}
        like = sorted({each.samples[0].folders[0] for each in ours})
        lines = index.ask(
            f"SELECT drive_id, arg_max(folder, created) FROM runs WHERE drive_name = ? AND {where} "
            f"AND {_OF_RUNS} IN (SELECT {_OF_RUNS} FROM runs WHERE list_contains(?, folder)) "
            "GROUP BY drive_id ORDER BY drive_id",
            [model, *values, like],
        )
        lacking = [Without(drive, folder, method) for drive, folder in lines if drive not in have]
        if len(lacking) <= WITHOUT_SHARE * len(lines):
            missing += lacking
    return tuple(missing)


REPEATS_MAX = 60
"""Number of newest repeats to consider: the time to compute slopes grows with its square."""


@dataclass(frozen=True)
class Level:
    """Quartiles over all drives at one repeat, as shares of each drive's first value."""

    repeat: int
    low: float
    middle: float
    high: float
    drives: int


@dataclass(frozen=True)
class Drift:
    """One figure over the repeats of all drives.

    Attributes
    ----------
    levels
        Quartiles from the first repeat on.
    slopes
        Drives with repeats, each with its growth per repeat, as a logarithm.
    spread
        Distribution of the slopes.
    """

    population: Population
    levels: tuple[Level, ...]
    slopes: tuple[tuple[Sample, float], ...]
    spread: Spread

    @property
    def outliers(self) -> tuple[tuple[Sample, float], ...]:
        """The drives whose growth per repeat is far from the median, with that growth."""
        return tuple(each for each in self.slopes if self.spread.is_far(each[1]))


def drifts(found: Sequence[Population]) -> tuple[Drift, ...]:
    """Return the drift of each figure that at least one drive has more than once."""
    repeated = [each for each in found if any(len(one.values) > 1 for one in each.samples)]
    return tuple(_drift(each, FALSE_ALARMS / len(repeated)) for each in repeated)


def _drift(population: Population, alpha: float) -> Drift:
    several = [each for each in population.samples if len(each.values) > 1]
    slopes = [(each, slope(each.values[-REPEATS_MAX:])) for each in several]
    longest = max(len(each.values) for each in several)
    levels = [
        _level(n, [e.values[n] / e.values[0] for e in several if len(e.values) > n]) for n in range(longest)
    ]
    spread = spread_of([each for _, each in slopes], alpha, min_sigma=MIN_SIGMA)
    return Drift(population, tuple(levels[:REPEATS_MAX]), tuple(slopes), spread)


def slope(values: Sequence[float]) -> float:
    """Return the growth per repeat, as a logarithm: the median over all pairs of repeats.

    Source: P. K. Sen, "Estimates of the regression coefficient based on Kendall's tau", JASA 63 (1968).

    >>> round(slope([100.0, 110.0, 121.0]), 4)
    0.0953
    """
    pairs = combinations(enumerate(map(math.log, values)), 2)
    return median((later - earlier) / (j - i) for (i, earlier), (j, later) in pairs)


def _level(number: int, shares: Sequence[float]) -> Level:
    low, middle, high = quantiles(shares, n=4, method="inclusive") if len(shares) > 1 else [*shares] * 3
    return Level(number + 1, low, middle, high, len(shares))
