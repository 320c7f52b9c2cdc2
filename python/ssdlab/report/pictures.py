"""Pictures of charts as SVG, and which charts share a row.

A picture depends only on its chart, so equal runs give equal bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from markupsafe import Markup

from ssdlab.model.errors import HostError
from ssdlab.report.charts import (
    BarsChart,
    BarsView,
    Head,
    MarksChart,
    RunStyle,
    SeriesChart,
    TimelineChart,
    XyChart,
    plain,
    unpack,
)
from ssdlab.report.engine import available, engine
from ssdlab.report.heads import heads_of
from ssdlab.report.theme import SIZE, Theme, default_theme

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future

    from ssdlab.report.charts import Chart, Quantity, Track, XyView
    from ssdlab.report.runs import Shown
    from ssdlab.report.view import Figure, Section

_MANY_BARS = 8
"""With more bars, a chart is as high as the screen and takes the full width."""
_LONG_NAME = 20
"""Letters of a row's name above which half a sheet of paper leaves too little space for its bar."""
_RATES = ("iops", "mb_s")
_EQUAL = 1e-6
"""Relative difference up to which ratios between values of two units count as equal, because of rounding."""
_MANY_VIEWS = 8
"""With more views, three of them share a row on paper."""


def full_width(figures: Sequence[Figure]) -> frozenset[str]:
    """Return the ids of a section's figures that take both columns.

    They are wide figures, high figures, and figures without a neighbour.
    """
    found: set[str] = set()
    left = ""
    for each in figures:
        if each.wide or _high(each.chart):
            found |= {each.id, left}
            left = ""
        else:
            left = "" if left else each.id
    return frozenset((found | {left}) - {""})


def on_paper(figure: Figure, views: int, runs: Sequence[RunStyle]) -> int:
    """Return how many views of a figure share a row on paper."""
    if (
        views == 1
        or _compares(figure.chart)
        or max(map(len, _row_names(figure.chart, runs)), default=0) > _LONG_NAME
    ):
        return 1
    return 3 if figure.id.endswith("-window") or views > _MANY_VIEWS else 2


def _compares(chart: Chart) -> bool:
    """Return whether a chart over time shows several drives together, with their names at its right."""
    return isinstance(chart, SeriesChart) and any(each.of is not None for each in chart.choices)


def _high(chart: Chart) -> bool:
    if not isinstance(chart, BarsChart):
        return False
    return (
        max((sum(len(group.bars) for group in view.groups) for view in chart.views), default=0) > _MANY_BARS
    )


def _row_names(chart: Chart, runs: Sequence[RunStyle]) -> Iterator[str]:
    if isinstance(chart, BarsChart):
        groups = [group for view in chart.views for group in view.groups]
        several = any(len(group.bars) > 1 for group in groups)
        for group in groups:
            yield from (runs[bar.run].short for bar in group.bars) if several else (group.name,)
    elif isinstance(chart, MarksChart):
        for view in chart.views:
            for row in view.rows:
                run = runs[row.run]
                yield run.short if row.name == run.label else row.name


STILL = (900, 480)
"""Size of a picture in the page."""
PRINTED = (560, 330)
"""Size on paper of a picture that shares its row with one or two others."""
PRINTED_ROWS = (900, 240)
"""Size on paper of one of several pictures if its names need the full width."""
PRINTED_SERIES = (900, 330)
"""Size on paper of one of several pictures of a time series."""
_ESCAPES = {"'": "&#39;", '"': "'", "%": "%25", "#": "%23", "&": "&amp;", "\n": " "}
"""Escapes for an image in a URL within an attribute. Order matters: the escapes contain characters that later
entries escape again."""


@dataclass(frozen=True)
class Pressed:
    """The pressed buttons of a chart: the view, and for a series the choice and the measure."""

    view: int = 0
    choice: int = 0
    measure: int = 0


class Painter:
    """Draws charts of the runs of one page.

    Raises
    ------
    UsageError
        The extra `figures` is not installed.
    HostError
        The front end is not built.
    """

    def __init__(self, runs: Sequence[RunStyle], theme: Mapping[str, object] | None = None) -> None:
        self._runs = [plain(each) for each in runs]
        self._theme = theme or default_theme().drawn()
        self._engine = engine()

    def svg(
        self,
        chart: Chart,
        head: Head,
        pressed: Pressed = Pressed(),
        size: tuple[int, int] = SIZE,
    ) -> str:
        """Return a picture of a chart; it is higher than `size` only if it would be illegible otherwise."""
        return self.begun(chart, head, pressed, size).result()

    def begun(
        self,
        chart: Chart,
        head: Head,
        pressed: Pressed = Pressed(),
        size: tuple[int, int] = SIZE,
    ) -> Future[str]:
        columns: dict[str, list[float]] = {}
        given = {
            "chart": plain(_opened(chart, pressed, columns)),
            "pressed": {"view": pressed.view, "choice": pressed.choice, "measure": pressed.measure},
            "head": plain(head),
            "runs": self._runs,
            "theme": self._theme,
            "width": size[0],
            "height": size[1],
            "columns": columns,
        }
        text = json.dumps(given, separators=(",", ":"))
        return self._engine.draw(text, head.title)


def pressings(chart: Chart) -> Iterator[Pressed]:
    """Yield every combination of a chart's buttons, the initial one first."""
    if isinstance(chart, SeriesChart):
        for measure in range(len(chart.measures)):
            for choice in range(len(chart.choices)):
                yield Pressed(choice // chart.variants, choice, measure)
    else:
        for view in range(len(chart.views)):
            yield Pressed(view)


def telling(chart: Chart) -> Iterator[Pressed]:
    """Yield the combinations of buttons that show something new.

    Of two views that differ only in unit, the first is kept; of a series, the choices that show all drives
    together.
    """
    if isinstance(chart, BarsChart | XyChart):
        rates: list[tuple[Quantity, dict[object, float]]] = []
        views: Sequence[BarsView | XyView] = chart.views
        for at, view in enumerate(views):
            own = _rates(view)
            if own is None or not any(_same(own, other) for other in rates):
                yield Pressed(at)
                rates += [] if own is None else [own]
    elif isinstance(chart, SeriesChart) and chart.choices[0].of is not None:
        yield from (each for each in pressings(chart) if each.view == 0)
    else:
        yield from pressings(chart)


def _rates(view: BarsView | XyView) -> tuple[Quantity, dict[object, float]] | None:
    """Return the quantity of a throughput view and its values by point; None for other views."""
    quantity = view.axis.quantity if isinstance(view, BarsView) else view.y.quantity
    if quantity not in _RATES:
        return None
    found: dict[object, float] = {}
    if isinstance(view, BarsView):
        for group in view.groups:
            found |= {(group.name, at, bar.run): bar.value for at, bar in enumerate(group.bars)}
    else:
        for number, line in enumerate(view.lines):
            found |= {(number, line.run, line.name, at, dot.x): dot.y for at, dot in enumerate(line.points)}
    return quantity, found


def _same(one: tuple[Quantity, dict[object, float]], other: tuple[Quantity, dict[object, float]]) -> bool:
    """Return whether two views show the same I/Os, all of one block size, in two units."""
    (unit, values), (other_unit, others) = one, other
    if unit == other_unit or values.keys() != others.keys():
        return False
    shares = [values[key] / others[key] for key in values if others[key]]
    zeros = all(bool(values[key]) == bool(others[key]) for key in values)
    return zeros and bool(shares) and max(shares) - min(shares) <= _EQUAL * max(shares)


class Stills(Mapping[str, Markup]):
    """Pictures of figures as the page opens, as data URLs; access waits until the picture is drawn.

    Without the extra `figures` the mapping is empty, and the page has only its tables.
    """

    def __init__(self, placed: Sequence[Shown], theme: Theme | None = None) -> None:
        self._placed = placed
        self._theme = theme
        self._begun: dict[str, Future[str]] = {}

    def begin(self, section: Section) -> None:
        """Start drawing the pictures of a section in the background."""
        if section.figures and (painter := self._painter) is not None:
            heads = heads_of([section], self._placed)
            self._begun |= {
                each.id: painter.begun(each.chart, heads[each.id], as_opened(each), STILL)
                for each in section.figures
            }

    @cached_property
    def _painter(self) -> Painter | None:
        try:
            theme = self._theme or default_theme()
            drawn = theme.drawn(theme.scheme)
            return Painter([one.style for one in self._placed], drawn) if available() else None
        except HostError:  # no process can be started
            return None

    def __getitem__(self, name: str) -> Markup:
        """Return the picture of a figure.

        Raises
        ------
        KeyError
            The picture could not be drawn: the drawing process has ended, and has reported why.
        """
        try:
            return _address(self._begun[name].result())
        except HostError as error:
            raise KeyError(name) from error

    def __iter__(self) -> Iterator[str]:
        return iter(self._begun)

    def __len__(self) -> int:
        return len(self._begun)


def as_opened(figure: Figure) -> Pressed:
    pressed = {buttons.group: buttons.pressed for buttons in figure.buttons}
    view = pressed.get("view", 0)
    variants = figure.chart.variants if isinstance(figure.chart, SeriesChart) else 1
    return Pressed(view, view * variants + pressed.get("variant", 0), pressed.get("measure", 0))


@dataclass(frozen=True)
class Printed:
    """The pictures of a figure on paper; `abreast` of them share a row."""

    pictures: tuple[Markup, ...]
    abreast: int


def views(
    figures: Sequence[Figure],
    runs: Sequence[RunStyle],
    theme: Theme,
    most: int | None = None,
    *,
    full: bool = True,
) -> dict[str, Printed]:
    """Return pictures of each figure's views for paper, at most `most` per figure.

    `full` draws every view; otherwise only the `telling` ones are drawn.

    Raises
    ------
    UsageError
        The extra `figures` is not installed.
    """
    painter = Painter(runs, theme.drawn(fonts=True))
    bare = Head("", (), "")
    found = {}
    for each in figures:
        pressed = list(pressings(each.chart) if full else telling(each.chart))[:most]
        abreast = on_paper(each, len(pressed), runs)
        wide = PRINTED_SERIES if _compares(each.chart) else PRINTED_ROWS
        size = STILL if len(pressed) == 1 else wide if abreast == 1 else PRINTED
        drawn = tuple(_address(painter.svg(each.chart, bare, one, size)) for one in pressed)
        found[each.id] = Printed(drawn, abreast)
    return found


def _address(svg: str) -> Markup:
    """Return an image as a data URL for an attribute in double quotes, as short as possible."""
    # Separate calls are 30 times as fast as `str.translate` with a table.
    for character, escape in _ESCAPES.items():
        svg = svg.replace(character, escape)
    return Markup("data:image/svg+xml;charset=utf-8," + svg)


def _opened(chart: Chart, pressed: Pressed, columns: dict[str, list[float]]) -> Chart:
    """Return a chart in which names replace the shown columns; `columns` receives the values by name."""
    if isinstance(chart, SeriesChart):
        keys = {"end_s", chart.measures[pressed.measure].key}
        needed = {pressed.choice, *(chart.choices[pressed.choice].of or ())}
        choices = tuple(
            replace(choice, tracks=_named(choice.tracks, keys, columns) if at in needed else ())
            for at, choice in enumerate(chart.choices)
        )
        return replace(chart, choices=choices)
    if isinstance(chart, TimelineChart):
        keys = {"end_s", *(panel.key for panel in chart.panels)}
        views = tuple(
            replace(view, tracks=_named(view.tracks, keys, columns) if at == pressed.view else ())
            for at, view in enumerate(chart.views)
        )
        return replace(chart, views=views)
    return chart


def _named(tracks: Sequence[Track], keys: set[str], columns: dict[str, list[float]]) -> tuple[Track, ...]:
    found = []
    for track in tracks:
        named = []
        for column in track.columns:
            if column.key in keys:
                name = f"#{len(columns)}"
                columns[name] = unpack(column.packed, column.unit).tolist()
                named.append(replace(column, packed=name))
        found.append(replace(track, columns=tuple(named)))
    return tuple(found)
