"""Pictures of charts as SVG, drawn by the page's own charts in an embedded V8: no browser and no Node.

What is drawn depends on the chart alone, so equal runs give equal bytes.
"""

from __future__ import annotations

import atexit
import json
import re
import weakref
from dataclasses import dataclass, replace
from importlib import resources
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from ssdlab.model.errors import HostError, UsageError
from ssdlab.report.charts import Head, RunStyle, SeriesChart, TimelineChart, plain
from ssdlab.report.packing import unpack

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ssdlab.report.charts import Chart, Track
    from ssdlab.report.view import Figure

SIZE = (1200, 675)
"""Width and height in pixels of a picture that is given away."""
STILL = (900, 480)
"""Of one that stands in the page."""
PRINTED = (560, 330)
"""Of one of several on paper, two abreast."""
FONT = "sans-serif"
_VARIABLES = ("text", "muted", "rule", "grid", "paper")
COLOURS = 8


@dataclass(frozen=True)
class Pressed:
    """Which buttons of a chart are pressed: the view, of a series the choice and the measure."""

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
        The front end was not built.
    """

    def __init__(self, runs: Sequence[RunStyle]) -> None:
        self._runs = [plain(each) for each in runs]
        self._theme = theme()
        self._engine = _engine()

    def svg(
        self,
        chart: Chart,
        head: Head,
        pressed: Pressed = Pressed(),
        size: tuple[int, int] = SIZE,
    ) -> str:
        """Return a picture of a chart, higher than `size` only where it would not be legible."""
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
        return str(self._engine.call("drawPicture", text))


def pressings(chart: Chart) -> Iterator[Pressed]:
    """Yield every combination of buttons of a chart, that of the page as it is opened first."""
    if isinstance(chart, SeriesChart):
        for measure in range(len(chart.measures)):
            for choice in range(len(chart.choices)):
                yield Pressed(choice // chart.variants, choice, measure)
    else:
        for view in range(len(chart.views)):
            yield Pressed(view)


def theme() -> dict[str, object]:
    """Return the colours of the light theme, as the style sheet of the page has them."""
    found: dict[str, str] = {}
    for name, value in re.findall(r"--([\w-]+):\s*([^;}]+)", static("report.css")):
        found.setdefault(name, value.strip())
    palette = [found[f"drive-{at}"] for at in range(COLOURS)]
    return {name: found[name] for name in _VARIABLES} | {"font": FONT, "palette": palette}


def static(name: str) -> str:
    """Return a file of the front end.

    Raises
    ------
    HostError
        It was not built.
    """
    file = resources.files("ssdlab.report").joinpath("static", name)
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise HostError(
            f"the front end of the report is not built: {name} is missing", "build it: make build", file=name
        ) from error


def stills(
    figures: Sequence[Figure], heads: Mapping[str, Head], runs: Sequence[RunStyle]
) -> dict[str, Markup]:
    """Return pictures of figures as they are when the page is opened, as addresses of images that hold them.

    Without the extra `figures` there are none: the tables of the page hold all that they show.
    """
    if not available() or not figures:
        return {}
    painter = Painter(runs)
    return {
        each.id: _address(painter.svg(each.chart, heads[each.id], as_opened(each), STILL)) for each in figures
    }


def as_opened(figure: Figure) -> Pressed:
    """Return which of its buttons are pressed when the page is opened."""
    pressed = {buttons.group: buttons.pressed for buttons in figure.buttons}
    view = pressed.get("view", 0)
    variants = figure.chart.variants if isinstance(figure.chart, SeriesChart) else 1
    return Pressed(view, view * variants + pressed.get("variant", 0), pressed.get("measure", 0))


def views(figures: Sequence[Figure], runs: Sequence[RunStyle]) -> dict[str, list[Markup]]:
    """Return pictures of every view of every figure, for paper, where no button can be pressed.

    Raises
    ------
    UsageError
        The extra `figures` is not installed.
    """
    painter = Painter(runs)
    bare = Head("", (), "")
    found = {}
    for each in figures:
        pressed = list(pressings(each.chart))
        size = PRINTED if len(pressed) > 1 else STILL
        found[each.id] = [_address(painter.svg(each.chart, bare, one, size)) for one in pressed]
    return found


def available() -> bool:
    """Whether the packages that draw pictures are installed."""
    return find_spec("py_mini_racer") is not None


def needed(package: str) -> None:
    """Refuse where a package that draws pictures is not installed.

    Raises
    ------
    UsageError
        So it is.
    """
    if find_spec(package) is None:
        raise UsageError(
            "pictures need the extra `figures`, which is not installed",
            "install it: pip install 'ssdlab[figures]'",
            package=package,
        )


def _address(svg: str) -> Markup:
    """Return an image as an address for an attribute in double quotes, as short as text can be."""
    single = svg.replace("'", "&#39;").replace('"', "'")
    escapes = {"%": "%25", "#": "%23", "&": "&amp;", "\n": " "}
    return Markup("data:image/svg+xml;charset=utf-8," + "".join(escapes.get(each, each) for each in single))


def _engine() -> Any:  # noqa: ANN401 - of a library without types for what is called
    """Return an engine with the charts loaded."""
    needed("py_mini_racer")
    from py_mini_racer import MiniRacer

    script = static("pictures.js")
    engine = MiniRacer()
    # An engine that an error's traceback holds until Python ends waits for its own thread for ever then.
    atexit.register(_close, weakref.ref(engine))
    engine.eval(script)
    return engine


def _close(engine: weakref.ref[Any]) -> None:
    if (held := engine()) is not None:
        held.close()


def _opened(chart: Chart, pressed: Pressed, columns: dict[str, list[float]]) -> Chart:
    """Return a chart with the columns shown, each a name under which `columns` has its values."""
    if isinstance(chart, SeriesChart):
        keys = {"end_s", chart.measures[pressed.measure].key}
        choices = tuple(
            replace(choice, tracks=_named(choice.tracks, keys, columns) if at == pressed.choice else ())
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
