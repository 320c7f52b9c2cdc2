"""Drives in one chart: over one another or side by side, names at ends of lines, what is unproven."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from methods.on_simulated import run
from methods.quick_runs import QuickRun
from report.test_drawn import BARE, run_style, texts
from ssdlab.report import page, source
from ssdlab.report.charts import (
    Axis,
    Bar,
    BarGroup,
    BarsChart,
    BarsView,
    Choice,
    Dot,
    Line,
    Mark,
    MarksChart,
    MarksRow,
    MarksView,
    Measure,
    PackedColumn,
    SeriesChart,
    Track,
    Upright,
    XyChart,
    XyView,
    pack,
)
from ssdlab.report.looks import COLOURS
from ssdlab.report.pictures import Painter, Pressed, on_paper, pressings, telling
from ssdlab.report.theme import default_theme
from ssdlab.report.view import Figure
from ssdlab.results.metric import Qualifier

LIGHT = default_theme().light
PALETTE = [LIGHT[f"drive-{at}"] for at in range(COLOURS)]
DEPTHS = Axis("depth, log", "count", "log", tuple((float(2**at), str(2**at)) for at in range(10)))
IOPS = Axis("IOPS", "iops")


def track(run: int, name: str, level: float, count: int = 900) -> Track:
    values = np.full(count, level) + np.arange(count) % 7
    packed = {"end_s": pack(np.arange(count) + 1.0, 1e-3), "iops": pack(values, 1.0)}
    return Track(run, name, True, tuple(PackedColumn(key, *found) for key, found in packed.items()))


def compared(drives: int, count: int = 900, *, beside: bool = False) -> SeriesChart:
    """Two spare areas of each drive, and last of all drives and both."""
    own = tuple(
        Choice(f"{run}, {name}", (track(run, name, 1000.0 * (run + 1 + 10 * spare), count),))
        for run in range(drives)
        for spare, name in enumerate(("stock", "25 % spare"))
    )
    together = (
        Choice("stock", (), of=tuple(range(0, 2 * drives, 2)), beside=beside or None),
        Choice("both", (), of=tuple(range(2 * drives)), beside=beside or None),
    )
    return SeriesChart((Measure("iops", "IOPS", Axis("IOPS", "iops", "log")),), own + together)


def painter(runs: int) -> Painter:
    return Painter([run_style(at) for at in range(runs)])


def placed(svg: str) -> dict[str, tuple[float, float]]:
    """Return where texts stand: the last of each."""
    found = re.findall(r"<text[^>]*translate\(([\d.]+) ([\d.]+)\)[^>]*>([^<]*)</text>", svg)
    return {text: (float(x), float(y)) for x, y, text in found}


def strokes(svg: str) -> list[tuple[str, list[tuple[float, float]]]]:
    """Return colour and corners of every stroked path of straight lines."""
    found = []
    for path in re.findall(r"<path[^>]*>", svg):
        colour, line = re.search(r'stroke="([^"]+)"', path), re.search(r' d="(M[\d.\sLM-]+)"', path)
        if colour is not None and line is not None:
            corners = re.findall(r"([\d.-]+) ([\d.-]+)", line[1])
            found.append((colour[1], [(float(x), float(y)) for x, y in corners]))
    return found


@pytest.mark.parametrize("count", [60, 900])
def test_drives_over_one_another_have_their_colours_and_their_names(count: int) -> None:
    chart = compared(5, count)
    svg = painter(5).svg(chart, BARE, Pressed(choice=10))
    lines = {colour for colour, corners in strokes(svg) if len(corners) > 20}
    assert set(PALETTE[:5]) <= lines, "a line of each"
    assert all(texts(svg).count(f"Elm {run}") == 2 for run in range(5)), "in the legend, and at its line"


def test_spare_area_is_held_against_stock_in_the_colour_of_the_text() -> None:
    svg = painter(1).svg(compared(1), BARE, Pressed(choice=3))
    lines = {colour for colour, corners in strokes(svg) if len(corners) > 100}
    assert {PALETTE[0], LIGHT["text"]} <= lines
    assert {"stock", "25 % spare"} <= set(texts(svg))
    alone = painter(1).svg(compared(1), BARE, Pressed(choice=1))
    assert alone.count(f'fill="{PALETTE[0]}"') > 1, "alone it has the colour of its drive"


@pytest.mark.parametrize("size", [(1200, 675), (390, 700)])
def test_side_by_side_each_drive_has_its_plot_on_common_axes(size: tuple[int, int]) -> None:
    svg = painter(4).svg(compared(4, 60, beside=True), BARE, Pressed(choice=8), size)
    boxes = {}
    for colour, corners in strokes(svg):
        if colour in PALETTE[:4] and len(corners) > 20:
            (xs, ys) = zip(*corners, strict=True)
            boxes[colour] = (min(xs), max(xs), min(ys), max(ys))
    assert len(boxes) == 4
    widths = [right - left for left, right, _, _ in boxes.values()]
    assert max(widths) - min(widths) < 1, "one scale of time"
    for one in boxes.values():
        for other in boxes.values():
            apart = one[1] < other[0] or other[1] < one[0] or one[3] < other[2] or other[3] < one[2]
            assert one == other or apart


def test_on_paper_drives_over_one_another_have_its_width() -> None:
    assert on_paper(Figure("a", "", "", "", compared(2), (), ()), 6, [run_style(0), run_style(1)]) == 1


def test_what_is_compared_is_in_the_page_once() -> None:
    chart = compared(3)
    assert all(not choice.tracks for choice in chart.choices if choice.of is not None)
    assert [each.run for each in chart.tracks_of(chart.choices[-1])] == [0, 0, 1, 1, 2, 2]


def curve(run: int, values: dict[int, float], **more: bool) -> Line:
    return Line(run, "", False, tuple(Dot(float(x), y, **more) for x, y in values.items()))  # type: ignore[arg-type]


def xy(*lines: Line, uprights: tuple[Upright, ...] = ()) -> XyChart:
    return XyChart((XyView("", DEPTHS, IOPS, lines, uprights=uprights),))


def test_names_of_lines_that_end_in_one_place_do_not_stand_on_one_another() -> None:
    svg = painter(4).svg(xy(*(curve(run, {1: 10.0, 512: 100.0}) for run in range(4))), BARE)
    ends = re.findall(r"translate\(([\d.]+) ([\d.]+)\)[^>]*>(Elm \d)</text>", svg)
    heights = sorted(float(y) for x, y, _ in ends if float(x) > 600)
    assert len(heights) == 4
    assert min(below - above for above, below in pairwise(heights)) >= 12


def test_no_line_runs_through_a_name_at_the_end_of_another() -> None:
    short, long = curve(0, {1: 10.0, 8: 100.0}), curve(1, {1: 101.5, 512: 101.5})
    shown = texts(painter(2).svg(xy(short, long), BARE))
    assert shown.count("Elm 0") == 1, "in the legend alone"


def test_unproven_points_are_hollow_on_a_thin_line_and_said() -> None:
    proven = curve(0, {1: 10.0, 8: 100.0, 64: 120.0})
    unproven = curve(1, {1: 20.0, 8: 200.0, 64: 220.0}, unproven=True)
    svg = painter(2).svg(xy(proven, unproven), BARE)
    paper = LIGHT["paper"]
    hollow = re.findall(rf'<path[^>]*fill="{paper}"[^>]*stroke="(#\w+)"', svg)
    assert hollow.count(PALETTE[1]) == 3 and PALETTE[0] not in hollow
    thick = {
        colour
        for colour in PALETTE[:2]
        if re.search(rf'<path d="M[^"]*L[^>]*stroke="{colour}"[^>]*stroke-width="2"', svg)
    }
    assert thick == {PALETTE[0]}
    assert svg.count(", none proven") == 1


def test_an_upright_stands_at_its_place_with_its_words() -> None:
    chart = xy(curve(0, {1: 10.0, 512: 100.0}), uprights=(Upright(32.0, "SATA: 32 tags"),))
    svg = painter(1).svg(chart, BARE)
    at = placed(svg)
    assert at["SATA: 32 tags"][0] == pytest.approx(at["32"][0], abs=4)


@pytest.mark.parametrize("width", [900, 390])
@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_an_axis_of_latencies_is_no_longer_than_marks_and_labels_need(width: int, scale: float) -> None:
    """A chart of 83 to 115 µs had an axis from 1 µs to 1 ms."""
    rows = tuple(
        MarksRow(run, f"Elm {run}", "", (Mark("mean", 83e3 * scale), Mark("p99", 115e3 * scale + run)))
        for run in range(3)
    )
    far = MarksView("other", (MarksRow(0, "Elm 0", "", (Mark("mean", 1e3), Mark("p99", 1e9))),))
    chart = MarksChart(Axis("response time, log", "ns", "log"), (MarksView("one", rows), far))
    svg = painter(3).svg(chart, BARE, size=(width, 300))
    units = {"ns": 1.0, "µs": 1e3, "ms": 1e6}
    ticks = [float(n) * units[unit] for n, unit in re.findall(r">([\d.]+) (ns|µs|ms)</text>", svg)]
    assert ticks, "there are ticks"
    assert 83e3 * scale / 5 < min(ticks) and max(ticks) < 115e3 * scale * 5


def bars(*found: Bar) -> BarsChart:
    return BarsChart((BarsView("MB/s", Axis("MB/s", "mb_s"), "higher", (BarGroup("mix", found),)),))


def test_a_figure_without_a_value_has_a_row_that_says_why() -> None:
    chart = bars(Bar(0, 300.0, ""), Bar(1, 0.0, "state moved", unranked=True, withheld=True))
    shown = texts(painter(2).svg(chart, BARE))
    assert "—   state moved" in shown and {"Elm 0", "Elm 1"} <= set(shown)
    assert not any(text.startswith("0 MB/s   ") for text in shown)


def test_no_upright_line_runs_through_names_over_bars() -> None:
    runs = [
        replace(run_style(at), label="Kingston " * 4 + str(at), short="Kingston " * 4 + str(at))
        for at in (0, 1)
    ]
    svg = Painter(runs).svg(bars(Bar(0, 300.0, ""), Bar(1, 200.0, "")), BARE, size=(390, 400))
    grid = [corners for colour, corners in strokes(svg) if colour == LIGHT["grid"]]
    assert not grid


def test_paper_has_one_unit_of_a_chart_and_every_view_that_tells_more() -> None:
    iops = bars(Bar(0, 1000.0, ""), Bar(1, 500.0, "")).views[0]
    iops = replace(iops, axis=Axis("IOPS", "iops"))
    alike = bars(Bar(0, 4.096, ""), Bar(1, 2.048, "")).views[0]
    unlike = bars(Bar(0, 4.096, ""), Bar(1, 8.192, "")).views[0]
    chart = BarsChart((iops, alike, unlike))
    assert [each.view for each in telling(chart)] == [0, 2]
    assert [each.view for each in pressings(chart)] == [0, 1, 2]
    sizes = XyChart(
        (
            XyView("IOPS", DEPTHS, IOPS, (curve(0, {1: 100.0, 2: 90.0}),)),
            XyView("MB/s", DEPTHS, Axis("MB/s", "mb_s"), (curve(0, {1: 0.1, 2: 0.18}),)),
        )
    )
    assert [each.view for each in telling(sizes)] == [0, 1], "blocks of several sizes"


def test_paper_shows_drives_together_where_a_chart_can() -> None:
    alone = compared(2)
    assert len(list(telling(alone))) == len(alone.choices)
    first = replace(
        alone,
        choices=(Choice("all", (), of=(2, 3)), Choice("all", (), of=(3,)), *alone.choices[:2]),
        variants=2,
    )
    assert [each.choice for each in telling(first)] == [0, 1]


SATA, NVME = "sim:samsung-883-dct-960gb,scale=64", "sim:samsung-983-dct-960gb,scale=64"


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, int], source.Run]:
    folder = tmp_path_factory.mktemp("swept")
    settings = {"seconds": "0.1", "ramp_seconds": "0", "fill": "false"}
    return {
        (drive, deepest): source.read_run(
            run("peak-random-read", folder, drive, depths=f"1,{deepest}", **settings).path
        )
        for drive, deepest in ((SATA, 64), (SATA, 32), (NVME, 64))
    }


def curves(one: source.Run) -> list[tuple[str, XyChart]]:
    """Lead and chart of throughput over depth, and of latency over throughput."""
    _, (section, *_) = page.contents([one])
    found = [each for each in section.figures if each.id.endswith(("-throughput", "-latency"))]
    return [(each.lead, each.chart) for each in found if isinstance(each.chart, XyChart)]


@pytest.mark.long
def test_a_sweep_marks_what_a_sata_drive_holds_where_it_was_asked_for_more(
    swept: dict[tuple[str, int], source.Run],
) -> None:
    for (drive, deepest), one in swept.items():
        (_, chart), _ = curves(one)
        held = [upright.x for view in chart.views for upright in view.uprights]
        assert held == ([32.0] * len(chart.views) if (drive, deepest) == (SATA, 64) else [])


@pytest.mark.long
@pytest.mark.parametrize("unproven", [False, True])
def test_every_point_of_a_run_in_an_unproven_state_is_hollow(
    swept: dict[tuple[str, int], source.Run], *, unproven: bool
) -> None:
    one = swept[SATA, 32]
    own = [Qualifier(code="state-unproven")] if unproven else []
    scalars = tuple(each.qualified(own) for each in one.result.scalars)
    one = replace(one, result=one.result.model_copy(update={"scalars": scalars}))
    found = curves(one)
    assert len(found) == 2
    for lead, chart in found:
        dots = [dot for view in chart.views for line in view.lines for dot in line.points]
        assert {bool(dot.unproven) for dot in dots} == {unproven}
        assert ("Hollow" in lead) is unproven


@pytest.mark.long
def test_a_drive_whose_mixes_have_no_value_is_in_their_chart_with_the_reason(quick_run: QuickRun) -> None:
    """It was left out, and nothing said so."""
    one = source.read_run(quick_run("mixed-random").path)
    held = tuple(each.withheld([Qualifier(code="state-moved")]) for each in one.result.scalars)
    manifest = one.manifest
    drive = manifest.drive.model_copy(update={"id": "other", "name": "other"})
    other = replace(
        one,
        manifest=manifest.model_copy(update={"run_id": "other", "drive": drive}),
        result=one.result.model_copy(update={"scalars": held}),
    )
    for runs, drawn in (([one, other], [False, True]), ([other], None)):
        _, (section, *_) = page.contents(runs)
        found = [each.chart for each in section.figures if each.id == "mixed-random-bars"]
        assert bool(found) is (drawn is not None)
        for chart in found:
            assert isinstance(chart, BarsChart)
            for bars_of in (group.bars for view in chart.views for group in view.groups):
                assert [bool(bar.withheld) for bar in bars_of] == drawn
                assert "state moved" in bars_of[-1].note
