"""Throughput in the unit of its workload, IOPS or MB/s, and the bars of whatever figures a run has."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ssdlab.report.charts import Axis, BarGroup, Quantity
from ssdlab.results.cells import of_unit
from ssdlab.results.drive_states import moved
from ssdlab.results.evidence import qualified
from ssdlab.results.metric import Metric, labelled
from ssdlab.results.schema import ResultBase

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Literal

    from ssdlab.report.charts import Bar
    from ssdlab.report.runs import Shown
    from ssdlab.results.drive_states import StateCheck
    from ssdlab.results.schema import Point

WORDS: dict[Quantity, str] = {"iops": "IOPS", "mb_s": "MB/s"}


def units(pattern: str) -> tuple[Quantity, Quantity]:
    """Return both units, the telling one first."""
    return ("iops", "mb_s") if pattern == "random" else ("mb_s", "iops")


def rate(point: Point, unit: Quantity) -> float | None:
    """Return the throughput of a point."""
    return point.iops if unit == "iops" else point.mb_s


def of_iops(point: Point, iops: float | None, unit: Quantity) -> float | None:
    """Return an IOPS figure of a point in the unit shown: all I/Os of a point have one size."""
    return iops if iops is None or unit == "iops" else iops * point.block_bytes / 1e6


def spread(point: Point, unit: Quantity) -> tuple[float | None, float | None]:
    """Return the slowest and the fastest interval of a point."""
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
    """A bar that may be drawn, and the figure that it stands for."""

    shown: Shown
    group: str
    bar: Bar
    figure: Metric | None = None

    @property
    def withheld(self) -> bool:
        """Whether its figure has no value, so that nothing is drawn of it."""
        return self.figure is not None and self.figure.value is None


def marked(bar: Bar, figure: Metric | None) -> Bar:
    """Return a bar with the labels of the figure that it shows, grey where that has no rank."""
    if figure is None:
        return bar
    note = ", ".join(filter(None, (bar.note, figure.state)))
    return replace(bar, note=note, unranked=bool(figure.unfit("ranking")) or None)


def groups(found: Iterable[Drawn], better: Literal["higher", "lower"] = "higher") -> tuple[BarGroup, ...]:
    """Return bars by their group, marked: the ranked best first, then the others as the drives were given.

    What is withheld is not drawn: `not_drawn` names it.
    """
    of_group: dict[str, list[Bar]] = {}
    for each in found:
        if not each.withheld:
            of_group.setdefault(each.group, []).append(marked(each.bar, each.figure))
    return tuple(BarGroup(name, ranked(bars, better)) for name, bars in of_group.items())


def ranked(bars: Iterable[Bar], better: Literal["higher", "lower"] = "higher") -> tuple[Bar, ...]:
    """Return marked bars of one group: the ranked best first, then the others in their order."""
    sign = -1.0 if better == "higher" else 1.0
    return tuple(sorted(bars, key=lambda bar: (True, 0.0) if bar.unranked else (False, sign * bar.value)))


def not_drawn(found: Iterable[Drawn]) -> str:
    """Name what is withheld, with its labels; empty: all is drawn."""
    by_run: dict[int, list[Drawn]] = {}
    for each in found:
        by_run.setdefault(each.shown.index, []).append(each)
    texts: dict[str, None] = {}
    for own in by_run.values():
        held = [each for each in own if each.withheld]
        for state in dict.fromkeys(each.figure.state for each in held if each.figure is not None):
            names = dict.fromkeys(each.group for each in held if each.figure and each.figure.state == state)
            of = "" if len(held) == len(own) else f", {', '.join(names)}"
            texts[labelled(f"{own[0].shown.style.short}{of}", state)] = None
    return f"Not drawn: {'; '.join(texts)}." if texts else ""


def beside(found: Sequence[Drawn]) -> tuple[str, ...]:
    """Return the same of runs of which other bars are drawn: a picture names the other runs itself."""
    drawn = {each.shown.index for each in found if not each.withheld}
    text = not_drawn(each for each in found if each.shown.index in drawn)
    return (text,) if text else ()


def figure_of(shown: Shown, ordinal: int | None, unit: str = "") -> Metric | None:
    """Return the figure that what is drawn of a step stands for, best of a unit; None: of no step.

    That is the step's own. Of a step that only helped to decide which step is reported it is that one, with
    what its own step shows; of any other step it is one that the step alone makes.
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


def figure_of_unit(shown: Shown, unit: str) -> Metric | None:
    """Return the first figure of a run in a unit."""
    return next((each for each in shown.run.result.scalars if each.unit == unit), None)


def _best_of(found: Sequence[Metric], unit: str) -> Metric:
    return next((each for each in found if each.unit == unit), found[0])


def _of_step(shown: Shown, ordinal: int) -> Metric:
    """Return a figure of one step, with what that shows; withheld where the drive's state moved in it."""
    checks: tuple[StateCheck, ...] = getattr(shown.run.result, "checks", ())
    own = [each for each in checks if ordinal in each.ordinals]
    figure = Metric.more("", "", 0.0, "", steps=(ordinal,)).withheld(moved(own))
    (found,) = qualified(ResultBase(kind="", quick=False, scalars=(figure,)), shown.run.steps).scalars
    return found


def axis(unit: Quantity, *, log: bool = False) -> Axis:
    """Return the axis of a throughput."""
    title = "IOPS" if unit == "iops" else "MB/s (decimal)"
    return Axis(f"{title}, log", unit, "log") if log else Axis(title, unit)
