"""Work per watt: bars of efficiency, and mean power behind a button."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ssdlab.analysis.places import places
from ssdlab.model.units import and_listed, fixed_share_text
from ssdlab.report.charts import Axis, Bar, BarsChart, BarsView
from ssdlab.report.sections import rates
from ssdlab.report.view import Buttons, Exhibit, Figure
from ssdlab.results import cells
from ssdlab.results.cells import Table, of_unit
from ssdlab.results.metered import NOT_METERED, meter_of, meter_words
from ssdlab.results.metric import labels

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Literal

    from ssdlab.analysis.ratios import Efficiency
    from ssdlab.report.runs import Shown
    from ssdlab.report.view import Section
    from ssdlab.results.schema import Point


_OF_UNIT = {"kIOPS/W": "random", "MB/s/W": "sequential"}
"""The workloads whose efficiency is given in each unit."""


@dataclass(frozen=True)
class Worked:
    """Efficiency and power of one run in one workload."""

    shown: Shown
    group: str
    note: str
    """Text after the value, such as the depth."""
    found: Efficiency
    mean_w: float
    view: str = ""
    """The workload, if buttons choose it."""
    ordinal: int | None = None
    """The step; None: the figures cover the whole run."""

    def drawn(self, unit: str, value: float) -> rates.Drawn:
        """Return the bar in the unit of efficiency or in W."""
        own = (
            rates.figure_of_unit(self.shown, unit)
            if self.ordinal is None
            else rates.figure_of(self.shown, self.ordinal, unit)
        )
        return rates.Drawn(self.shown, self.group, Bar(self.shown.index, value, self.note), own)

    @property
    def both(self) -> tuple[rates.Drawn, rates.Drawn]:
        """The bars of efficiency and power."""
        return self.drawn(self.found.unit, self.found.value), self.drawn("W", self.mean_w)


def of_point(shown: Shown, group: str, note: str, point: Point, view: str = "") -> tuple[Worked, ...]:
    """Return the efficiency and power of a point; empty without a meter."""
    if point.efficiency is None or point.mean_w is None:
        return ()
    return (Worked(shown, group, note, point.efficiency, point.mean_w, view, point.ordinal),)


def figure(section: str, worked: Sequence[Worked]) -> Figure | None:
    """Return the chart of a section; None if no run was metered, or all values are withheld."""
    drawn = [each for each in worked if not all(one.withheld for one in each.both)]
    if not drawn:
        return None
    views = tuple(_views(worked))
    return Figure(
        id=f"{section}-efficiency",
        title="Efficiency and power",
        lead=" ".join(("Work per watt: higher is better. Power: lower is better.", *_ends(drawn))),
        described="; ".join(
            f"{each.shown.label}, {each.group}: {of_unit(each.found.value, each.found.unit)} "
            f"at {of_unit(each.mean_w, 'W')}"
            for each in drawn
        ),
        chart=BarsChart(views),
        tables=(_table(drawn),),
        measured=(
            "Mean power over the window of the throughput; a run without a meter has no bar.",
            "The power of a simulated drive comes from its model.",
            *_meters(drawn),
        ),
        buttons=(Buttons("view", "Unit", tuple(view.label for view in views)),),
        steps=tuple((each.shown.index, each.ordinal) for each in drawn if each.ordinal is not None),
    )


def _ends(worked: Sequence[Worked]) -> Iterable[str]:
    """Yield the best and the last drive for each workload of the first view.

    Workloads whose drives are all tied are skipped; figures without a rank are left out.
    """
    of_group: dict[tuple[str, str], list[Worked]] = {}
    for each in worked:
        figure = each.both[0].figure
        fit = figure is None or not (figure.value is None or figure.unfit("ranking"))
        if fit and each.view == worked[0].view:
            of_group.setdefault((each.group, each.found.unit), []).append(each)
    for (group, unit), own in of_group.items():
        own.sort(key=lambda each: -each.found.value)
        varies = [each.found.value * (error_share(each) or 0.0) for each in own]
        ranks = places([each.found.value for each in own], varies)
        if ranks and ranks[-1] > 1:
            best, last = (
                and_listed(
                    [one.shown.style.short for one, rank in zip(own, ranks, strict=True) if rank == at]
                )
                for at in (1, ranks[-1])
            )
            highest, lowest = (of_unit(own[at].found.value, unit) for at in (0, -1))
            yield f"{group[:1].upper()}{group[1:]}: best {best} ({highest}), last {last} ({lowest})."


def not_metered(sections: Sequence[Section], runs: Sequence[Shown]) -> list[Section]:
    """Return the sections; if no run of the page was metered, the first section gets a notice of it."""
    shown = any(figure.id.endswith("-efficiency") for section in sections for figure in section.figures)
    if shown or not sections or not all(meter_words(one.run.manifest) == NOT_METERED for one in runs):
        return list(sections)
    first, *others = sections
    exhibit = Exhibit(
        "Efficiency and power",
        "Not metered: no power meter in the drive's supply. Give one with --meter or in the rig file.",
        (),
    )
    return [replace(first, exhibits=(exhibit, *first.exhibits)), *others]


def error_share(each: Worked) -> float | None:
    """Return the relative error of an efficiency, which is that of its power; None if unknown."""
    meter = meter_of(each.shown.run.manifest)
    return None if meter is None else meter.error_share(each.mean_w)


def _meters(worked: Sequence[Worked]) -> Iterable[str]:
    for shown in {each.shown.index: each.shown for each in worked}.values():
        meter = meter_of(shown.run.manifest)
        if meter is not None and not meter.model:
            yield f"{shown.label}: {meter.words}. Efficiency has the relative error of its power."


def _views(worked: Sequence[Worked]) -> Iterable[BarsView]:
    """Yield the views of each workload that a button selects: efficiency by unit, and power."""
    for name in dict.fromkeys(each.view for each in worked):
        chosen = [each for each in worked if each.view == name]
        beginning = f"{name}, " if name else ""
        units = dict.fromkeys(each.found.unit for each in chosen)
        for unit in units:
            alike = [each for each in chosen if each.found.unit == unit]
            yield _view(beginning + unit, unit, "higher", [each.both[0] for each in alike])
            # Power covers the same workloads: a button changes the figure, but not the compared workloads.
            power = f"{beginning}W" if len(units) == 1 else f"{beginning}W ({_OF_UNIT.get(unit, unit)})"
            yield _view(power, "average power, W", "lower", [each.both[1] for each in alike])


def _view(
    label: str, title: str, better: Literal["higher", "lower"], drawn: Sequence[rates.Drawn]
) -> BarsView:
    return BarsView(label, Axis(title, "plain"), better, rates.groups(drawn, better))


def _state(worked: Worked) -> str:
    return labels(own for each in worked.both if each.figure is not None for own in each.figure.qualifiers)


def _table(worked: Sequence[Worked]) -> Table:
    errors = [error_share(each) for each in worked]
    known = any(error is not None for error in errors)
    stated = any(map(_state, worked))
    rows = tuple(
        (
            cells.of_run(each.shown.label, each.shown.index),
            cells.words(", ".join(filter(None, (each.view, each.group)))),
            cells.words(each.note),
            cells.plain(each.found.value),
            cells.words(each.found.unit),
            cells.plain(each.mean_w),
            *((cells.words(_state(each)),) if stated else ()),
            *((cells.words("not known" if error is None else fixed_share_text(error)),) if known else ()),
        )
        for each, error in zip(worked, errors, strict=True)
    )
    head = (
        "Run",
        "Workload",
        "",
        "Efficiency",
        "Unit",
        "W",
        *(("State",) if stated else ()),
        *(("Error",) if known else ()),
    )
    return Table("Efficiency and mean power", head, rows)
