"""Data that the front end draws; `scripts/chart_spec.py` writes its types as `web/src/spec.ts`.

A chart has quantities and values; the front end chooses colours, fonts and ticks. Values are in the unit of
the quantity: `iops`, `mb_s` (decimal megabytes a second), `ns`, `s` or `bytes`. For `plain` numbers, the
title of the axis names the unit.
"""

from __future__ import annotations

import base64
import gzip
from dataclasses import dataclass, fields
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ssdlab.results.cells import Quantity as Quantity

if TYPE_CHECKING:
    import numpy.typing as npt

Scale = Literal["linear", "log", "nines"]
Shape = Literal["circle", "rect", "triangle", "diamond"]


@dataclass(frozen=True)
class RunStyle:
    """Appearance of a run in every chart. The colour belongs to the drive and does not depend on its rank."""

    label: str
    short: str
    """The label without the words that all labels of the page share; different labels stay different."""
    colour: int
    """Index into the palette."""
    shape: Shape
    hollow: bool
    """Whether the marker is hollow and the line dotted: a second run of a drive that already has the filled
    marker."""
    interface: str | None = None
    link_mb_s: float | None = None
    """Throughput of the interface in one direction."""

    @property
    def symbol(self) -> str:
        """Id of the run's marker within the page, which defines each marker once."""
        return f"marker-{self.colour}-{self.shape}{'-hollow' if self.hollow else ''}"


@dataclass(frozen=True)
class Axis:
    """One axis; without `ticks` the front end chooses 1-2-5 steps (log) or round steps (linear)."""

    title: str
    quantity: Quantity
    scale: Scale = "linear"
    ticks: tuple[tuple[float, str], ...] | None = None
    range: tuple[float, float] | None = None
    """First and last value in every view, so that views can be compared; None: the range of the drawn values.
    A linear axis starts at zero unless the first value is greater."""


@dataclass(frozen=True)
class Dot:
    """One point of a line."""

    x: float
    y: float
    low: float | None = None
    """Value of the slowest interval; `high` is that of the fastest. Both bound a band."""
    high: float | None = None
    label: str | None = None
    chosen: bool | None = None
    """Whether it is the point that the method reports; drawn with a ring."""
    host: bool | None = None
    """Whether the host, not the drive, limited this point; drawn with a cross."""
    failed: bool | None = None
    """Whether the drive failed what was asked of it here, such as a rate; drawn with a cross."""
    quiet: bool | None = None
    """Whether the point is on the line but has no marker."""
    unproven: bool | None = None
    """Whether its figure is not ranked; the marker is hollow."""


@dataclass(frozen=True)
class Line:
    """A line of one run: solid for reads, dashed for writes. Its name, if any, is printed at its end."""

    run: int
    name: str
    dashed: bool
    points: tuple[Dot, ...]
    faint: bool | None = None
    """Whether it is secondary to another line of the same run, such as service time to response time."""
    plain: bool | None = None
    """Whether it is drawn in the text colour, as the reference for the run's other lines."""
    unproven: bool | None = None
    """For a line without markers: whether its figure is not ranked. It is drawn thin, as is a line with only
    hollow markers."""


@dataclass(frozen=True)
class Rule:
    """A horizontal line across the plot, such as 95 % of the best."""

    run: int
    y: float
    text: str


@dataclass(frozen=True)
class Upright:
    """A vertical line, such as the depth beyond which I/Os wait in the host."""

    x: float
    text: str


@dataclass(frozen=True)
class XyView:
    """One view of a chart of lines; a button switches between views."""

    label: str
    x: Axis
    y: Axis
    lines: tuple[Line, ...]
    rules: tuple[Rule, ...] = ()
    uprights: tuple[Upright, ...] = ()


@dataclass(frozen=True)
class XyChart:
    """Lines over two axes."""

    views: tuple[XyView, ...]
    kind: Literal["xy"] = "xy"


@dataclass(frozen=True)
class Bar:
    """One bar; `note` is printed after the value."""

    run: int
    value: float
    note: str
    low: float | None = None
    high: float | None = None
    rated: float | None = None
    """The drive's rating, drawn as a tick across the bar."""
    unranked: bool | None = None
    """Whether the bar is not ranked; it is grey and follows the ranked bars."""
    withheld: bool | None = None
    """Whether its value is not shown; the row has only the note."""


@dataclass(frozen=True)
class BarGroup:
    """Bars of the same workload, one for each run."""

    name: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class BarsView:
    """One view of a bar chart."""

    label: str
    axis: Axis
    better: Literal["higher", "lower"]
    groups: tuple[BarGroup, ...]


@dataclass(frozen=True)
class BarsChart:
    """Horizontal bars from zero."""

    views: tuple[BarsView, ...]
    kind: Literal["bars"] = "bars"


@dataclass(frozen=True)
class Mark:
    """One figure on a row of marks."""

    name: str
    value: float


@dataclass(frozen=True)
class MarksRow:
    """The figures of one run and workload on one line."""

    run: int
    name: str
    note: str
    marks: tuple[Mark, ...]


@dataclass(frozen=True)
class MarksView:
    """One view of a chart of marks."""

    label: str
    rows: tuple[MarksRow, ...]


@dataclass(frozen=True)
class MarksChart:
    """Several figures of each run on one axis, such as mean, p99 and p99.99."""

    axis: Axis
    views: tuple[MarksView, ...]
    kind: Literal["marks"] = "marks"


@dataclass(frozen=True)
class PackedColumn:
    """A column of a time series, packed by `pack`."""

    key: str
    """`end_s` (end of each row), or the key of a measure."""
    packed: str
    unit: float
    """Value of 1 in the stored whole numbers."""


@dataclass(frozen=True)
class Part:
    """First row of a step in a track of several steps."""

    row: int
    name: str


@dataclass(frozen=True)
class Track:
    """The interval rows of one step, stream and direction; in a time line, one figure over all steps."""

    run: int
    name: str
    dashed: bool
    columns: tuple[PackedColumn, ...]
    parts: tuple[Part, ...] | None = None
    """The steps of a time line, in order."""


@dataclass(frozen=True)
class Measure:
    """A quantity that a time series can show, with the key of its column."""

    key: str
    label: str
    axis: Axis
    pauses: bool | None = None
    """Whether intervals of zero are intended; they are then not marked as stalls."""


@dataclass(frozen=True)
class Spell:
    """An event in a time line: a period is drawn as a shaded area, a moment as a line."""

    from_s: float
    text: str
    until_s: float | None = None
    """End of the period; None for a moment."""


@dataclass(frozen=True)
class Choice:
    """The tracks that a button shows together."""

    label: str
    tracks: tuple[Track, ...]
    absent: str | None = None
    """Why there are no tracks."""
    spells: tuple[Spell, ...] | None = None
    """Events of the drive during the tracks."""
    of: tuple[int, ...] | None = None
    """Indices of other choices whose tracks this one also shows; the page stores each track once."""
    beside: bool | None = None
    """Whether each run has its own plot, all with the same axes."""


@dataclass(frozen=True)
class SeriesChart:
    """Interval rows over time, for a point chosen by buttons."""

    measures: tuple[Measure, ...]
    choices: tuple[Choice, ...]
    variants: int = 1
    """Number of variants of each view, chosen by a second group of buttons. Choices are ordered by view, then
    by variant."""
    window_s: tuple[float, float] | None = None
    """Seconds shown, the same for every choice; None: from 0 to the end of the tracks."""
    kind: Literal["series"] = "series"

    def tracks_of(self, choice: Choice) -> tuple[Track, ...]:
        """Return the tracks that a choice shows, including tracks of other choices."""
        return choice.tracks + tuple(track for at in choice.of or () for track in self.choices[at].tracks)


@dataclass(frozen=True)
class TimelineView:
    """The time line of one run; a button chooses the run."""

    label: str
    tracks: tuple[Track, ...]
    """One track for each figure; a track is drawn in the panel with the key of its column."""
    spells: tuple[Spell, ...]


@dataclass(frozen=True)
class TimelineChart:
    """Several figures of one run, stacked over one time axis."""

    panels: tuple[Measure, ...]
    views: tuple[TimelineView, ...]
    kind: Literal["timeline"] = "timeline"


@dataclass(frozen=True)
class HeatView:
    """One figure of a run, for every cell."""

    label: str
    run: int
    title: str
    quantity: Quantity
    values: tuple[tuple[float | None, ...], ...]
    """Values by row, then by column; None if not measured."""
    range: tuple[float, float]
    """Ends of the colour scale, the same in all views of one quantity, so that views can be compared."""
    better: Literal["higher", "lower"]
    absent: str | None = None
    """Why cells have no value."""
    row_ranges: tuple[tuple[float, float], ...] | None = None
    """Ends of a colour scale for each row; None: that of `range` for all."""
    bounds: tuple[tuple[bool, ...], ...] | None = None
    """Which values, by row and column, are lower bounds: shown with `≥`. None: none is."""


@dataclass(frozen=True)
class HeatChart:
    """Cells in rows and columns, each with its value; the colour depends on the logarithm of the value."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    across: str
    """Heading over the columns."""
    views: tuple[HeatView, ...]
    kind: Literal["heat"] = "heat"


Chart = XyChart | BarsChart | MarksChart | SeriesChart | TimelineChart | HeatChart


@dataclass(frozen=True)
class HeadNote:
    """A note on a picture."""

    runs: tuple[int, ...]
    """Runs that the note is about: their names get its mark, and a view without these runs omits it. Empty:
    the note is about the whole picture."""
    text: str


@dataclass(frozen=True)
class HeadPart:
    """The text of a picture that draws only these runs of its figure."""

    runs: tuple[int, ...]
    facts: tuple[str, ...]
    footer: str


@dataclass(frozen=True)
class Head:
    """The text that makes a picture understandable without its page."""

    title: str
    """A title that needs no context: what was measured, and what is shown."""
    facts: tuple[str, ...]
    """Method, block sizes and depth, and whether runs are quick or simulated."""
    footer: str
    """Version, dates and runs."""
    notes: tuple[HeadNote, ...] = ()
    """Qualifiers of the drawn figures, and which runs are left out and why."""
    parts: tuple[HeadPart, ...] = ()
    """Facts and footer of views that draw only some of the runs."""


@dataclass(frozen=True)
class Page:
    """All data that a page passes to the front end."""

    title: str
    runs: tuple[RunStyle, ...]
    heads: dict[str, Head]
    """Heads by the id of their figure."""
    charts: dict[str, Chart]
    """Charts by the id of their figure."""
    saved: tuple[int, int]
    """Width and height of a saved picture, in pixels."""


def plain(part: Chart | Page | Head | RunStyle) -> dict[str, Any]:
    """Return the front end's data as JSON values, without None."""
    cleaned = _without_none(part)
    assert isinstance(cleaned, dict)
    return cleaned


def _without_none(value: Any) -> Any:  # noqa: ANN401 - whatever JSON holds
    # `dataclasses.asdict` copies every text and number; a page has tens of thousands.
    if value is None or isinstance(value, str | float | int):  # None is a cell that was not measured
        return value
    if isinstance(value, list | tuple):
        return [_without_none(inner) for inner in value]
    named = value.items() if isinstance(value, dict) else _fields(value)
    return {name: _without_none(inner) for name, inner in named if inner is not None}


def _fields(value: Any) -> list[tuple[str, Any]]:  # noqa: ANN401 - any of the above
    return [(name, getattr(value, name)) for name in _names(value.__class__)]


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


# Columns of a time series inside the page: exact, and small enough for one row a second over 24 h.
#
# Values become unsigned 32-bit integers, split into four planes (all low bytes first), compressed with gzip
# and encoded in base64. The planes of slowly varying values compress far better than whole integers.
# `web/src/unpack.ts` decodes them.

LARGEST = 2**32 - 1


def pack(values: npt.NDArray[Any], finest: float) -> tuple[str, float]:
    """Pack values of at least 0 as whole multiples of a unit; return the text and the unit.

    The unit is `finest` times the smallest power of ten for which all values fit into 32 bits. Latencies up
    to 4.29 s are kept to 1 ns, and longer ones to 10 ns.

    Raises
    ------
    ValueError
        A value is negative or not a number.
    """
    column = np.asarray(values, dtype=np.float64)
    if column.size and not (np.isfinite(column).all() and column.min() >= 0):
        raise ValueError("a column of a time series has values that are negative or not numbers")
    unit = finest
    while column.size and column.max() / unit > LARGEST:
        unit *= 10
    planes = np.rint(column / unit).astype("<u4").view(np.uint8).reshape(-1, 4).T
    return packed(planes.tobytes()), unit


def packed(raw: bytes) -> str:
    """Return bytes as gzip in base64, without a time stamp, so that equal runs give equal pages."""
    return base64.b64encode(gzip.compress(raw, mtime=0)).decode("ascii")


def unpack(packed: str, unit: float) -> npt.NDArray[np.float64]:
    """Return the values packed by `pack`, each rounded to a multiple of the unit."""
    planes = np.frombuffer(gzip.decompress(base64.b64decode(packed)), dtype=np.uint8).reshape(4, -1)
    return np.ascontiguousarray(planes.T).view("<u4").reshape(-1) * unit
