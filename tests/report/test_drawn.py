"""What charts draw, read off their pictures: ticks, colours, what lies over what, small multiples."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from ssdlab.report.charts import (
    Axis,
    Choice,
    Dot,
    Head,
    HeatChart,
    HeatView,
    Line,
    Mark,
    MarksChart,
    MarksRow,
    MarksView,
    Measure,
    PackedColumn,
    RunStyle,
    SeriesChart,
    TimelineChart,
    TimelineView,
    Track,
    XyChart,
    XyView,
    pack,
    plain,
)
from ssdlab.report.pictures import Painter
from ssdlab.report.theme import default_theme

BARE = Head("", (), "")


def palette() -> list[str]:
    return [default_theme().light[f"drive-{at}"] for at in range(8)]


def run_style(at: int = 0) -> RunStyle:
    return RunStyle(f"Elm {at}", f"Elm {at}", at % 8, "circle", False)


def series(begin_s: float, end_s: float, count: int, levels: int = 97) -> SeriesChart:
    times = np.linspace(begin_s, end_s, count)
    packed = {"end_s": pack(times, 1e-3), "iops": pack(np.arange(count) % levels + 1000.0, 1.0)}
    columns = tuple(PackedColumn(key, text, unit) for key, (text, unit) in packed.items())
    return SeriesChart(
        (Measure("iops", "IOPS", Axis("IOPS", "iops", "log")),),
        (Choice("", (Track(0, "", True, columns),)),),
        window_s=(begin_s, end_s),
    )


def time_line(count: int) -> TimelineChart:
    drawn = series(0, 800, count, 3).choices[0].tracks[0]
    measure = Measure("iops", "IOPS", Axis("IOPS", "iops"))
    return TimelineChart((measure,), (TimelineView("", (drawn,), ()),))


def lines(runs: int, each: int) -> XyChart:
    axes = Axis("round", "count"), Axis("IOPS", "iops")
    drawn = tuple(
        Line(run, f"{2**at} KiB", True, (Dot(1.0, 100.0 + at + run), Dot(2.0, 110.0 + at + run)))
        for run in range(runs)
        for at in range(each)
    )
    return XyChart((XyView("", *axes, drawn),))


def texts(svg: str) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg)


@pytest.mark.parametrize(
    ("begin_s", "end_s"),
    [(0, 60), (1400, 2000), (1400, 1400.5), (1400, 1401.9), (0, 7201), (1400, 7205), (0, 86400)],
)
def test_a_time_axis_has_a_unit_and_repeats_no_tick(begin_s: float, end_s: float) -> None:
    found = texts(Painter([run_style()]).svg(series(begin_s, end_s, 50), BARE))
    (title,) = [text for text in found if "since the start" in text]
    assert title.startswith("h:min" if end_s > 7200 else "seconds")
    ticks = [text for text in found if re.fullmatch(r"[\d.:]+", text)]
    assert len(ticks) == len(set(ticks)) > 3


def test_the_median_covers_no_dot() -> None:
    svg = Painter([run_style()]).svg(series(0, 2000, 2000), BARE)
    colour = palette()[0]
    # Later in a picture is above; the legend's marker comes first of all.
    assert svg.index(f'fill="{colour}"') < svg.index('stroke-width="4"') < svg.rindex(f'fill="{colour}"')


@pytest.mark.parametrize("drawn", [series(0, 800, 20_000), time_line(20_000)])
def test_the_picture_of_a_long_run_is_thinned(drawn: SeriesChart | TimelineChart) -> None:
    """Each dot by itself is some 200 bytes: a page of a fill in rows of 50 ms was of 8 MB."""
    assert len(Painter([run_style()]).svg(drawn, BARE)) < 500_000


def test_eight_lines_of_one_run_have_eight_colours() -> None:
    svg = Painter([run_style()]).svg(lines(1, 8), BARE)
    assert {colour for colour in palette() if f'stroke="{colour}"' in svg} == set(palette())


@pytest.mark.parametrize(
    ("title", "shown"),
    [("time written", "time written, s"), ("seconds in flight", "seconds in flight"), ("time, s", "time, s")],
)
def test_an_axis_of_seconds_says_so(title: str, shown: str) -> None:
    dots = (Dot(1.0, 100.0), Dot(25.0, 110.0))
    view = XyView("", Axis(title, "s"), Axis("IOPS", "iops"), (Line(0, "", False, dots),))
    assert shown in texts(Painter([run_style()]).svg(XyChart((view,)), BARE))


def test_markers_of_points_in_one_place_stand_beside_each_other() -> None:
    """Four drives of one link were one green line."""
    level = (Dot(1.0, 100.0), Dot(2.0, 110.0), Dot(3.0, 300.0))
    axes = Axis("depth", "count"), Axis("IOPS", "iops")
    chart = XyChart((XyView("", *axes, tuple(Line(run, "", False, level) for run in range(4))),))
    svg = Painter([replace(run_style(at), shape="rect") for at in range(4)]).svg(chart, BARE)
    found = re.findall(r"matrix\(3\.5,0,0,3\.5,([\d.]+),", svg)
    by_point = [sorted(float(x) for x in found[at::3]) for at in range(3)]
    assert [len(each) for each in by_point] == [4, 4, 4]
    for places in by_point:
        assert [other - one for one, other in pairwise(places)] == pytest.approx([6, 6, 6], abs=0.1)


def test_lines_of_several_runs_keep_the_colours_of_these() -> None:
    svg = Painter([run_style(0), run_style(1)]).svg(lines(2, 3), BARE)
    found = {colour for colour in palette() if f'stroke="{colour}"' in svg}
    assert found == set(palette()[:2])


@pytest.mark.parametrize(("runs", "plots"), [(16, 1), (17, 17), (20, 20)])
def test_beyond_sixteen_runs_each_has_a_small_plot(runs: int, plots: int) -> None:
    svg = Painter([run_style(at) for at in range(runs)]).svg(lines(runs, 1), BARE)
    # Once in the legend, and over its own plot.
    assert sum(texts(svg).count(f"Elm {at}") == 2 for at in range(runs)) == (plots if plots > 1 else 0)


def test_a_name_that_several_lines_have_stands_once() -> None:
    drawn = series(0, 60, 50).choices[0].tracks[0]
    tracks = tuple(replace(drawn, run=run, name=name) for name in ("read", "write") for run in range(3))
    chart = series(0, 60, 50)
    chart = replace(chart, choices=(Choice("", tracks),))
    found = texts(Painter([run_style(at) for at in range(3)]).svg(chart, BARE))
    assert [found.count(name) for name in ("read", "write")] == [1, 1]


def test_the_name_of_each_line_of_a_run_has_its_colour_beside_it() -> None:
    """Three lines that end in one place: which is whose, only a colour beside the name can say."""
    ended = lines(1, 3).views[0]
    level = tuple(replace(line, points=(line.points[0], Dot(2.0, 110.0))) for line in ended.lines)
    svg = Painter([run_style()]).svg(XyChart((replace(ended, lines=level),)), BARE)
    beside = re.findall(r'fill="([^"]*)">●</text>\s*<text[^>]*>([^<]*)</text>', svg)
    strokes = re.findall(r'<path[^>]*stroke="([^"]*)"[^>]*stroke-dasharray', svg)
    assert [name for _, name in beside] == ["1 KiB", "2 KiB", "4 KiB"]
    assert [colour for colour, _ in beside] == strokes and len(set(strokes)) == 3


def test_lines_of_several_runs_have_names_alone() -> None:
    assert "●" not in texts(Painter([run_style(0), run_style(1)]).svg(lines(2, 3), BARE))


@pytest.mark.parametrize(
    ("name", "below"), [("Elm", False), ("Elm of a name as long as a phone is wide, 1/64", True)]
)
def test_a_note_behind_a_name_is_never_cut(name: str, below: bool) -> None:
    row = MarksRow(0, name, "4 KiB", (Mark("mean", 9e4), Mark("p99", 2e5)))
    chart = MarksChart(Axis("response time, log", "ns", "log"), (MarksView("", (row,)),))
    svg = Painter([RunStyle(name, name, 0, "circle", False)]).svg(chart, BARE, size=(390, 400))
    places = {
        text.strip(): (float(x or 0), float(y))
        for x, y, text in re.findall(r'<text[^>]*?(?: x="([^"]*)")? y="([^"]*)"[^>]*>([^<]*)</text>', svg)
    }
    assert (places["4 KiB"][1] > places[name][1]) is below
    assert (places["4 KiB"][0] > 0) is not below


def test_a_cell_that_was_not_measured_is_handed_over_as_such() -> None:
    view = HeatView("", 0, "IOPS", "iops", ((1e3, None),), (1e3, 1e3), "higher", absent="not measured")
    chart = HeatChart(("4 KiB",), ("100/0", "0/100"), "mix", (view,))
    (handed,) = plain(chart)["views"]
    assert handed["values"] == [[1e3, None]]
    assert "1.00k" in texts(Painter([run_style()]).svg(chart, BARE))


def test_a_row_of_a_map_has_its_own_scale_and_a_lower_bound_says_so() -> None:
    values, ranges = ((1e3, 4e3), (10.0, 40.0)), ((1e3, 4e3), (10.0, 40.0))
    view = HeatView(
        "", 0, "", "ns", values, (10.0, 4e3), "lower", None, ranges, ((False, True), (False, False))
    )
    chart = HeatChart(("4 KiB", "8 KiB"), ("100/0", "0/100"), "mix", (view,))
    svg = Painter([run_style()]).svg(chart, BARE)
    assert [text for text in texts(svg) if text.startswith("≥ ")] == ["≥ 4.00 µs"]
    fills = re.findall(r'fill="(rgb\([^"]*\))"', svg)
    assert len(fills) == 4 and fills[:2] == fills[2:] and fills[0] != fills[1]
