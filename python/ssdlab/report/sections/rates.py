"""Shows throughput in the unit of its workload (IOPS or MB/s), and a run's figures as bars."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ssdlab.report.charts import Axis, Bar, BarGroup, Quantity
from ssdlab.results.cells import of_unit
from ssdlab.results.drive_states import moved
from ssdlab.results.evidence import qualified
from ssdlab.results.metric import Metric, labels
from ssdlab.results.schema import ResultBase

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Literal

    from ssdlab.report.runs import Shown
    from ssdlab.results.drive_states import StateCheck
    from ssdlab.results.schema import Point

_OF_STATE = ("state-unproven", "state-moved")
WORDS: dict[Quantity, str] = {"iops": "IOPS", "mb_s": "MB/s"}


def units(pattern: str) -> tuple[Quantity, Quantity]:
    """Return both units of throughput, the usual one of the pattern first."""
    return ("iops", "mb_s") if pattern == "random" else ("mb_s", "iops")


def rate(point: Point, unit: Quantity) -> float | None:
    """Return the throughput of a point in IOPS or MB/s."""
    return point.iops if unit == "iops" else point.mb_s


def of_iops(point: Point, iops: float | None, unit: Quantity) -> float | None:
    """Convert an IOPS figure of a point to the unit; all I/Os of a point have the same size."""
    return iops if iops is None or unit == "iops" else iops * point.block_bytes / 1e6


def spread(point: Point, unit: Quantity) -> tuple[float | None, float | None]:
    """Return the throughput of the slowest and the fastest interval of a point."""
    found = point.spread_iops
    return (
        (None, None) if found is None else (of_iops(point, found.min, unit), of_iops(point, found.max, unit))
    )


def format_rate(point: Point) -> str:
    """Return the throughput of a point as text, in the unit of its pattern."""
    unit = units(point.pattern)[0]
    return of_unit(rate(point, unit), WORDS[unit])


@dataclass(frozen=True)
class Drawn:
    """A bar with the figure that it shows, if any."""

    shown: Shown
    group: str
    bar: Bar
    figure: Metric | None = None

    @property
    def withheld(self) -> bool:
        """Whether the figure has no value; its row then says why."""
        return self.figure is not None and self.figure.value is None


def marked(bar: Bar, figure: Metric | None) -> Bar:
    """Return a bar with the labels of its figure; it is grey if the figure is not ranked."""
    if figure is None:
        return bar
    note = ", ".join(filter(None, (bar.note, figure.state)))
    return replace(bar, note=note, unranked=bar.withheld or bool(figure.unfit("ranking")) or None)


def groups(found: Iterable[Drawn], better: Literal["higher", "lower"] = "higher") -> tuple[BarGroup, ...]:
    """Return marked bars by group: ranked bars first, from the best, then the others in order.

    Withheld figures have a row without a bar.
    """
    of_group: dict[str, list[Bar]] = {}
    for each in found:
        bar = Bar(each.bar.run, 0.0, "", withheld=True) if each.withheld else each.bar
        of_group.setdefault(each.group, []).append(marked(bar, each.figure))
    return tuple(BarGroup(name, ranked(bars, better)) for name, bars in of_group.items())


def ranked(bars: Iterable[Bar], better: Literal["higher", "lower"] = "higher") -> tuple[Bar, ...]:
    """Return marked bars of one group: ranked bars first, from the best, then the others in order."""
    sign = -1.0 if better == "higher" else 1.0
    return tuple(sorted(bars, key=lambda bar: (True, 0.0) if bar.unranked else (False, sign * bar.value)))


def figure_of(shown: Shown, ordinal: int | None, unit: str = "") -> Metric | None:
    """Return the figure that a step's mark represents, if possible in `unit`; None without a step.

    It is the step's own figure. A step that only helped to choose the reported step gets the reported figure
    with its own qualifiers. Any other step gets a figure made from it alone.
    """
    if ordinal is None:
        return None
    figures = shown.run.result.scalars
    if own := [each for each in figures if ordinal in each.steps]:
        return _best_of(own, unit)
    alone = _of_step(shown, ordinal)
    if among := [each for each in figures if ordinal in each.chosen_among]:
        return _best_of(among, unit).qualified(alone.qualifiers)
    return alone


def unproven(shown: Shown, ordinal: int | None, unit: str = "") -> str:
    """Return the labels that forbid ranking a step's figure; empty if none do.

    If no figure of the run proves the drive's state, it is unproven at all steps.
    """
    figure = figure_of(shown, ordinal, unit)
    own = () if figure is None else figure.unfit("ranking")
    every = shown.run.result.scalars
    of_state = [each for each in every[0].qualifiers if each.code in _OF_STATE] if every else []
    common = [each for each in of_state if all(each.code in figure.codes for figure in every)]
    return labels((*common, *own))


def hollow(found: Iterable[str]) -> str:
    """Return a sentence on the labels that make points hollow; empty without labels."""
    texts = dict.fromkeys(filter(None, found))
    return f" Hollow, on a thin line: {'; '.join(texts)}." if texts else ""


def figure_of_unit(shown: Shown, unit: str) -> Metric | None:
    """Return the first figure of a run in this unit; None if there is none."""
    return next((each for each in shown.run.result.scalars if each.unit == unit), None)


def _best_of(found: Sequence[Metric], unit: str) -> Metric:
    return next((each for each in found if each.unit == unit), found[0])


def _of_step(shown: Shown, ordinal: int) -> Metric:
    """Return a figure of one step with its qualifiers; withheld if the drive's state changed."""
    checks: tuple[StateCheck, ...] = getattr(shown.run.result, "checks", ())
    own = [each for each in checks if ordinal in each.ordinals]
    figure = Metric.more("", "", 0.0, "", steps=(ordinal,)).withheld(moved(own))
    (found,) = qualified(ResultBase(kind="", quick=False, scalars=(figure,)), shown.run.steps).scalars
    return found


def axis(unit: Quantity, *, log: bool = False) -> Axis:
    """Return the axis of a throughput; `log` makes it logarithmic."""
    title = "IOPS" if unit == "iops" else "MB/s (decimal)"
    return Axis(f"{title}, log", unit, "log") if log else Axis(title, unit)
