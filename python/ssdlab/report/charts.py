"""What the front end is asked to draw; `scripts/chart_spec.py` makes `web/src/spec.ts` of it.

A chart names quantities and values; colours, fonts and ticks are the front end's. Values are in the units
of the quantity: `iops` a second, `mb_s` decimal megabytes a second, `ns`, `s`, `bytes`; `plain` is a number
whose unit the axis names.
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
    """How one run looks in every chart: the colour belongs to the drive, never to its rank."""

    label: str
    short: str
    """The label without what all labels of the page have in common; as different as the label."""
    colour: int
    """Index into the palette."""
    shape: Shape
    hollow: bool
    """Drawn hollow and dotted: a second run of a drive that already has the filled marker."""
    interface: str | None = None
    """What the drive is reached by, in words."""
    link_mb_s: float | None = None
    """What that carries in one direction."""

    @property
    def symbol(self) -> str:
        """Id of its marker within the page, which draws each once."""
        return f"marker-{self.colour}-{self.shape}{'-hollow' if self.hollow else ''}"


@dataclass(frozen=True)
class Axis:
    """One axis; without `ticks` the front end sets 1-2-5 steps (log) or round ones (linear)."""

    title: str
    quantity: Quantity
    scale: Scale = "linear"
    ticks: tuple[tuple[float, str], ...] | None = None
    """Where, and what stands there."""
    range: tuple[float, float] | None = None
    """Values that it reaches from and to in every view, so that switching compares; None: those drawn. A
    linear axis begins at zero unless the first is greater."""


@dataclass(frozen=True)
class Dot:
    """One point of a line."""

    x: float
    y: float
    low: float | None = None
    """Slowest interval, as `high` is the fastest: drawn as a band."""
    high: float | None = None
    label: str | None = None
    chosen: bool | None = None
    """Ringed: the point that the method reports."""
    host: bool | None = None
    """Crossed: the host, not the drive, was the limit here."""
    quiet: bool | None = None
    """On the line, but without a marker."""
    unproven: bool | None = None
    """Its figure has no rank: its marker is hollow."""


@dataclass(frozen=True)
class Line:
    """A line of one run; reads are solid, writes dashed; its name, if any, stands at its end."""

    run: int
    name: str
    dashed: bool
    points: tuple[Dot, ...]
    faint: bool | None = None
    """Second to another line of the same run: service time beside response time."""
    plain: bool | None = None
    """In the colour of the text: what the other lines of the run are compared with."""
    unproven: bool | None = None
    """Of a line without markers: its figure has no rank. It is thin, as is one of which all are hollow."""


@dataclass(frozen=True)
class Rule:
    """A level across the plot, such as 95 % of the best."""

    run: int
    y: float
    text: str


@dataclass(frozen=True)
class Upright:
    """A line up through the plot, such as the depth beyond which I/Os wait in the host."""

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
    """One bar; `note` is printed behind the value."""

    run: int
    value: float
    note: str
    low: float | None = None
    high: float | None = None
    rated: float | None = None
    """What the drive is rated for: a tick across the bar."""
    unranked: bool | None = None
    """Drawn grey, behind those that are ranked."""
    withheld: bool | None = None
    """It has no value: its row has the note alone."""


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
    """Several figures of each run on one axis: mean, p99 and p99.99."""

    axis: Axis
    views: tuple[MarksView, ...]
    kind: Literal["marks"] = "marks"


@dataclass(frozen=True)
class PackedColumn:
    """A column of a time series, packed by `pack`."""

    key: str
    """`end_s` (of each row), or that of a measure."""
    packed: str
    unit: float
    """What a stored whole number stands for."""


@dataclass(frozen=True)
class Part:
    """Where the rows of a step begin in a track of several."""

    row: int
    name: str


@dataclass(frozen=True)
class Track:
    """The interval rows of one step, stream and direction; on a time line one figure of all steps."""

    run: int
    name: str
    dashed: bool
    columns: tuple[PackedColumn, ...]
    parts: tuple[Part, ...] | None = None
    """The steps of a time line, in order."""


@dataclass(frozen=True)
class Measure:
    """What a time series can show, by the key of its column."""

    key: str
    label: str
    axis: Axis
    pauses: bool | None = None
    """Intervals of zero were asked for, and are no stalls to be marked."""


@dataclass(frozen=True)
class Spell:
    """Something that happened on a time line: a stretch, which is shaded, or a moment, which is a line."""

    from_s: float
    text: str
    until_s: float | None = None
    """None: a moment."""


@dataclass(frozen=True)
class Choice:
    """The tracks shown together when a button is pressed."""

    label: str
    tracks: tuple[Track, ...]
    absent: str | None = None
    """Why there is none."""
    spells: tuple[Spell, ...] | None = None
    """What happened to the drive meanwhile."""
    of: tuple[int, ...] | None = None
    """Places of other choices whose tracks it shows together: the page holds each once."""
    beside: bool | None = None
    """Each run has a plot of its own, beside the others, on common axes."""


@dataclass(frozen=True)
class SeriesChart:
    """Interval rows over time, for a point chosen by buttons."""

    measures: tuple[Measure, ...]
    choices: tuple[Choice, ...]
    variants: int = 1
    """Choices of each view, where a second group of buttons chooses among them: by view, then by variant."""
    window_s: tuple[float, float] | None = None
    """Seconds that are shown, the same for every choice; None: from 0 to the end of what is shown."""
    kind: Literal["series"] = "series"

    def tracks_of(self, choice: Choice) -> tuple[Track, ...]:
        """Return the tracks that a choice shows, its own or those of others."""
        return choice.tracks + tuple(track for at in choice.of or () for track in self.choices[at].tracks)


@dataclass(frozen=True)
class TimelineView:
    """One run on its time line; a button chooses among runs."""

    label: str
    tracks: tuple[Track, ...]
    """Of each figure one: it stands in the panel whose column it has."""
    spells: tuple[Spell, ...]


@dataclass(frozen=True)
class TimelineChart:
    """Several figures of one run below one another, over one time."""

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
    """By row, then by column; None where it was not measured."""
    range: tuple[float, float]
    """Ends of the colour scale, the same in all views of one quantity, so that switching compares."""
    better: Literal["higher", "lower"]
    absent: str | None = None
    """Why cells have no value."""


@dataclass(frozen=True)
class HeatChart:
    """Cells in rows and columns, each with its value; colour goes with the logarithm."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    across: str
    """What stands over the columns."""
    views: tuple[HeatView, ...]
    kind: Literal["heat"] = "heat"


Chart = XyChart | BarsChart | MarksChart | SeriesChart | TimelineChart | HeatChart


@dataclass(frozen=True)
class HeadNote:
    """What is to be minded of a picture."""

    runs: tuple[int, ...]
    """Those that it is of: their names get its mark, and a view that draws none of them is without it. Of
    none, it is of the picture."""
    text: str


@dataclass(frozen=True)
class HeadPart:
    """What a picture says where it draws these runs alone of those of its figure."""

    runs: tuple[int, ...]
    facts: tuple[str, ...]
    footer: str


@dataclass(frozen=True)
class Head:
    """What makes a picture complete in itself."""

    title: str
    """Stands alone: what was measured, and what is shown of it."""
    facts: tuple[str, ...]
    """Method, blocks, depth, and whether quick or simulated."""
    footer: str
    """Version, dates and runs."""
    notes: tuple[HeadNote, ...] = ()
    """What the page says beside the figures of the runs that are drawn, and who is left out and why."""
    parts: tuple[HeadPart, ...] = ()
    """Of views that draw some of the runs: their own facts and footer."""


@dataclass(frozen=True)
class Page:
    """All that a page hands to the front end."""

    title: str
    runs: tuple[RunStyle, ...]
    heads: dict[str, Head]
    """By the id of their figure."""
    charts: dict[str, Chart]
    """By the id of their figure."""
    saved: tuple[int, int]
    """Width and height in pixels of a picture that is saved."""


def plain(part: Chart | Page | Head | RunStyle) -> dict[str, Any]:
    """Return what the front end is handed as JSON holds it; what is None is left out."""
    cleaned = _without_none(part)
    assert isinstance(cleaned, dict)
    return cleaned


def _without_none(value: Any) -> Any:  # noqa: ANN401 - whatever JSON holds
    # `dataclasses.asdict` copies every text and number, of which a page has ten thousands.
    if value is None or isinstance(value, str | float | int):  # None: a cell that was not measured
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
# Values become unsigned 32-bit integers, split into four planes (all low bytes first), compressed with
# gzip, in base64. The planes of slowly varying values compress far better than whole integers.
# `web/src/unpack.ts` is the way back.

LARGEST = 2**32 - 1


def pack(values: npt.NDArray[Any], finest: float) -> tuple[str, float]:
    """Pack values of 0 and above as whole multiples of a unit, and return text and unit.

    The unit is `finest`, or the smallest power of ten times it with which the greatest value fits into 32
    bits: a latency is kept to the nanosecond up to 4.29 s, and to ten nanoseconds beyond.

    Raises
    ------
    ValueError
        When a value is negative or not a number.
    """
    column = np.asarray(values, dtype=np.float64)
    if column.size and not (np.isfinite(column).all() and column.min() >= 0):
        raise ValueError("a column of a time series holds values that are negative or not numbers")
    unit = finest
    while column.size and column.max() / unit > LARGEST:
        unit *= 10
    planes = np.rint(column / unit).astype("<u4").view(np.uint8).reshape(-1, 4).T
    return packed(planes.tobytes()), unit


def packed(raw: bytes) -> str:
    """Return bytes compressed with gzip, in base64; without a time stamp: equal runs give equal pages."""
    return base64.b64encode(gzip.compress(raw, mtime=0)).decode("ascii")


def unpack(packed: str, unit: float) -> npt.NDArray[np.float64]:
    """Give back the values of `pack`, each to the nearest multiple of the unit."""
    planes = np.frombuffer(gzip.decompress(base64.b64decode(packed)), dtype=np.uint8).reshape(4, -1)
    return np.ascontiguousarray(planes.T).view("<u4").reshape(-1) * unit
