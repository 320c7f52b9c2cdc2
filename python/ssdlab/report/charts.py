"""What the front end draws; `scripts/chart_spec.py` writes it as `web/src/spec.ts`.

A chart names quantities and values; colours, fonts and ticks are the front end's. Values are in the unit of
the quantity: `iops`, `mb_s` (decimal megabytes a second), `ns`, `s`, `bytes`; of `plain` numbers the axis
names the unit.
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
    """The label without what all labels of the page share; still unique."""
    colour: int
    """Index into the palette."""
    shape: Shape
    hollow: bool
    """Drawn hollow and dotted: a second run of a drive that already has the filled marker."""
    interface: str | None = None
    """Interface of the drive, in words."""
    link_mb_s: float | None = None
    """Throughput of the interface in one direction."""

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
    """Positions and labels."""
    range: tuple[float, float] | None = None
    """First and last value in every view, so that views compare; None: of the drawn values. A linear axis
    starts at zero unless the first value is greater."""


@dataclass(frozen=True)
class Dot:
    """One point of a line."""

    x: float
    y: float
    low: float | None = None
    """Slowest interval; `high` is the fastest. Both are drawn as a band."""
    high: float | None = None
    label: str | None = None
    chosen: bool | None = None
    """Ringed: the point that the method reports."""
    host: bool | None = None
    """Crossed: the host, not the drive, was the limit here."""
    quiet: bool | None = None
    """On the line, but without a marker."""
    unproven: bool | None = None
    """Its figure is not ranked: its marker is hollow."""


@dataclass(frozen=True)
class Line:
    """A line of one run: solid for reads, dashed for writes, with its name, if any, at the end."""

    run: int
    name: str
    dashed: bool
    points: tuple[Dot, ...]
    faint: bool | None = None
    """Secondary to another line of the same run, such as service time to response time."""
    plain: bool | None = None
    """Drawn in the text colour: the reference for the other lines of the run."""
    unproven: bool | None = None
    """For a line without markers: its figure is not ranked. It is drawn thin, as is a line with only hollow
    markers."""


@dataclass(frozen=True)
class Rule:
    """A level across the plot, such as 95 % of the best."""

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
    """One bar; `note` is printed behind the value."""

    run: int
    value: float
    note: str
    low: float | None = None
    high: float | None = None
    rated: float | None = None
    """The drive's rating: a tick across the bar."""
    unranked: bool | None = None
    """Drawn grey, after the ranked ones."""
    withheld: bool | None = None
    """It has no value: its row shows only the note."""


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
    """`end_s` (of each row), or the key of a measure."""
    packed: str
    unit: float
    """Unit of a stored whole number."""


@dataclass(frozen=True)
class Part:
    """Where the rows of a step start in a track of several steps."""

    row: int
    name: str


@dataclass(frozen=True)
class Track:
    """The interval rows of one step, stream and direction; on a time line, one figure over all steps."""

    run: int
    name: str
    dashed: bool
    columns: tuple[PackedColumn, ...]
    parts: tuple[Part, ...] | None = None
    """The steps of a time line, in order."""


@dataclass(frozen=True)
class Measure:
    """A quantity that a time series can show, by the key of its column."""

    key: str
    label: str
    axis: Axis
    pauses: bool | None = None
    """Intervals of zero are intended, and not marked as stalls."""


@dataclass(frozen=True)
class Spell:
    """An event on a time line: a period is shaded, a moment is a line."""

    from_s: float
    text: str
    until_s: float | None = None
    """None: a moment."""


@dataclass(frozen=True)
class Choice:
    """The tracks that a button shows together."""

    label: str
    tracks: tuple[Track, ...]
    absent: str | None = None
    """Why there is none."""
    spells: tuple[Spell, ...] | None = None
    """Events of the drive meanwhile."""
    of: tuple[int, ...] | None = None
    """Indexes of other choices whose tracks it shows together; the page holds each track once."""
    beside: bool | None = None
    """Each run has its own plot, all with the same axes."""


@dataclass(frozen=True)
class SeriesChart:
    """Interval rows over time, for a point chosen by buttons."""

    measures: tuple[Measure, ...]
    choices: tuple[Choice, ...]
    variants: int = 1
    """Choices of each view where a second group of buttons selects one: by view, then by variant."""
    window_s: tuple[float, float] | None = None
    """Seconds shown, the same for every choice; None: from 0 to the end of the tracks."""
    kind: Literal["series"] = "series"

    def tracks_of(self, choice: Choice) -> tuple[Track, ...]:
        """Return the tracks that a choice shows, including tracks of other choices."""
        return choice.tracks + tuple(track for at in choice.of or () for track in self.choices[at].tracks)


@dataclass(frozen=True)
class TimelineView:
    """One run on its time line; a button chooses among runs."""

    label: str
    tracks: tuple[Track, ...]
    """One for each figure, in the panel with its column."""
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
    """By row, then by column; None where it was not measured."""
    range: tuple[float, float]
    """Ends of the colour scale, the same in all views of one quantity, so that views compare."""
    better: Literal["higher", "lower"]
    absent: str | None = None
    """Why cells have no value."""


@dataclass(frozen=True)
class HeatChart:
    """Cells in rows and columns, each with its value; the colour follows the logarithm."""

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
    """Runs that it is about: their names get its mark, and a view without them omits it. Empty: it is about
    the whole picture."""
    text: str


@dataclass(frozen=True)
class HeadPart:
    """The text of a picture that draws only these runs of its figure."""

    runs: tuple[int, ...]
    facts: tuple[str, ...]
    footer: str


@dataclass(frozen=True)
class Head:
    """The text that makes a picture self-contained."""

    title: str
    """A title that needs no context: what was measured, and what is shown."""
    facts: tuple[str, ...]
    """Method, blocks, depth, and whether quick or simulated."""
    footer: str
    """Version, dates and runs."""
    notes: tuple[HeadNote, ...] = ()
    """The page's qualifiers of the drawn figures, and which runs are left out and why."""
    parts: tuple[HeadPart, ...] = ()
    """Own facts and footer of views that draw only some of the runs."""


@dataclass(frozen=True)
class Page:
    """All data that a page passes to the front end."""

    title: str
    runs: tuple[RunStyle, ...]
    heads: dict[str, Head]
    """By the id of their figure."""
    charts: dict[str, Chart]
    """By the id of their figure."""
    saved: tuple[int, int]
    """Width and height of a saved picture, in pixels."""


def plain(part: Chart | Page | Head | RunStyle) -> dict[str, Any]:
    """Return the front end's data as JSON values, without None."""
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
    """Pack values of 0 and above as whole multiples of a unit; return text and unit.

    The unit is `finest` times the smallest power of ten with which all values fit into 32 bits: latencies
    keep 1 ns up to 4.29 s, and 10 ns beyond.

    Raises
    ------
    ValueError
        When a value is negative or not a number.
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
    """Return the values of `pack`, each to the nearest multiple of the unit."""
    planes = np.frombuffer(gzip.decompress(base64.b64decode(packed)), dtype=np.uint8).reshape(4, -1)
    return np.ascontiguousarray(planes.T).view("<u4").reshape(-1) * unit
