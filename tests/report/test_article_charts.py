"""What charts of several drives draw, read off their pictures: link lines, names of lines, marks of time."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from report.test_drawn import BARE, run_style, series, texts
from ssdlab.report.charts import (
    Axis,
    Bar,
    BarGroup,
    BarsChart,
    BarsView,
    Chart,
    Choice,
    Dot,
    Line,
    PackedColumn,
    Part,
    Spell,
    TimelineChart,
    TimelineView,
    Track,
    XyChart,
    XyView,
    pack,
)
from ssdlab.report.pictures import Painter, Pressed, as_opened
from ssdlab.report.view import Buttons, Figure

MIXED = (
    replace(run_style(0), interface="NVMe", link_mb_s=3200.0),
    replace(run_style(1), interface="SATA", link_mb_s=560.0),
    replace(run_style(2), interface="SATA", link_mb_s=560.0),
)


def bars(*values: float) -> BarsChart:
    group = BarGroup("70/30 mix", tuple(Bar(run, value, "") for run, value in enumerate(values)))
    return BarsChart((BarsView("MB/s", Axis("MB/s", "mb_s"), "higher", (group,)),))


def dashed(svg: str) -> list[tuple[float, float, float]]:
    """Return x, top and bottom of every dashed upright line."""
    found = []
    for path in re.findall(r"<path[^>]*stroke-dasharray[^>]*>", svg):
        points = re.search(r' d="M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)', path)
        if points is not None and float(points[1]) == pytest.approx(float(points[3]), abs=0.1):
            found.append((float(points[1]), *sorted((float(points[2]), float(points[4])))))
    return found


def height_of(text: str, svg: str) -> float:
    *_, found = re.findall(rf"<text([^>]*)>{re.escape(text)}</text>", svg)
    place = re.search(r'translate\([\d.]+ ([\d.]+)\)| y="([\d.]+)"', found)
    assert place is not None
    return float(place[1] or place[2])


def test_the_line_of_a_link_crosses_no_bar_of_another_interface() -> None:
    svg = Painter(MIXED).svg(bars(2500, 540, 530), BARE)
    (x, top, bottom), *others = sorted(dashed(svg))
    assert len(others) == 1, "one line for each link"
    fast, *slow = (height_of(f"Elm {at}   {name}", svg) for at, name in enumerate(("NVMe", "SATA", "SATA")))
    assert fast < top < slow[0] < slow[1] < bottom, "SATA's begins below the bar of NVMe"
    assert others[0][0] > x and others[0][2] < slow[0]
    assert sum("SATA link, 560 MB/s" in text for text in texts(svg)) == 1


def test_drives_of_one_interface_have_one_line_over_all() -> None:
    svg = Painter(MIXED[1:]).svg(bars(540, 530), BARE)
    ((_, top, bottom),) = dashed(svg)
    assert top < height_of("Elm 1", svg) < height_of("Elm 2", svg) < bottom


def test_links_of_one_interface_that_differ_have_no_words_on_one_another() -> None:
    unlike = (MIXED[0], replace(run_style(3), interface="NVMe", link_mb_s=2600.0), MIXED[1])
    svg = Painter(unlike).svg(bars(2500, 2400, 540), BARE)
    assert len(dashed(svg)) == 3
    assert [text for text in texts(svg) if " link" in text] == [
        "their NVMe links, 2.60 GB/s and 3.20 GB/s; SATA link, 560 MB/s"
    ]


def test_a_link_that_one_of_several_drives_has_is_no_line_over_all() -> None:
    """The first drive's link stood over the bars of five others, as if it were theirs."""
    unlike = [
        replace(run_style(at), interface="NVMe", link_mb_s=link)
        for at, link in enumerate((2450.0, 7900.0, 7900.0))
    ]
    svg = Painter(unlike).svg(bars(2280, 1750, 1620), BARE)
    ((_, top, bottom),) = dashed(svg)
    assert top < height_of("Elm 0", svg) < bottom < height_of("Elm 1", svg)
    assert [text for text in texts(svg) if " link" in text] == ["its NVMe link, 2.45 GB/s"]


def sizes(runs: int, names: tuple[str, str]) -> XyChart:
    drawn = tuple(
        Line(run, name, dashes, (Dot(1.0, 10.0 + run), Dot(2.0, 20.0 + run)))
        for run in range(runs)
        for name, dashes in zip(names, (False, names[1] == "write"), strict=True)
    )
    return XyChart((XyView("", Axis("block", "count"), Axis("IOPS", "iops"), drawn),))


def test_what_dashes_tell_stands_once_at_the_end_of_lines() -> None:
    found = texts(Painter([run_style(at) for at in range(5)]).svg(sizes(5, ("read", "write")), BARE))
    assert (found.count("read"), found.count("write")) == (1, 1)
    found = texts(Painter([run_style()]).svg(sizes(1, ("512 B", "4 KiB")), BARE))
    assert (found.count("512 B"), found.count("4 KiB")) == (1, 1)
    # Of several drives names that dashes do not tell apart stand at every line.
    found = texts(Painter([run_style(at) for at in range(2)]).svg(sizes(2, ("512 B", "4 KiB")), BARE))
    assert (found.count("512 B"), found.count("4 KiB")) == (2, 2)


def time_line(spells: int, rows: int = 20) -> TimelineChart:
    times = np.arange(rows, dtype=float) + 1
    columns = tuple(
        PackedColumn(key, *pack(values, 0.001)) for key, values in (("end_s", times), ("iops", times))
    )
    track = Track(0, "", False, columns, (Part(0, "fill"), Part(rows // 2, "read")))
    hot = tuple(Spell(at + 0.1, f"throttled at {70 + at} °C", at + 0.6) for at in range(spells))
    measure = series(0, 60, 2).measures[0]
    return TimelineChart((replace(measure, axis=Axis("IOPS", "iops")),), (TimelineView("", (track,), hot),))


def level_time_line(rows: int) -> TimelineChart:
    """A time line of rows that are all of one value."""
    chart, times = time_line(0, rows), pack(np.arange(rows, dtype=float) + 1, 0.001)
    level = pack(np.full(rows, 7.0), 0.001)
    columns = (PackedColumn("end_s", *times), PackedColumn("iops", *level))
    track = replace(chart.views[0].tracks[0], columns=columns)
    return replace(chart, views=(replace(chart.views[0], tracks=(track,)),))


@pytest.mark.parametrize(("spells", "worded"), [(2, 2), (3, 3), (15, 1)])
def test_words_of_many_marks_do_not_stand_one_on_the_other(spells: int, worded: int) -> None:
    found = texts(Painter([run_style()]).svg(time_line(spells), BARE))
    assert sum(text.startswith("throttled") for text in found) == worded


def test_a_figure_that_was_not_recorded_has_no_panel() -> None:
    """Of two runs one told of its heat: the time line of the other has no empty panel for it."""
    chart = time_line(0)
    hot = replace(chart.panels[0], key="temperature_c", label="°C", axis=Axis("temperature, °C", "plain"))
    (view,) = chart.views
    (track,) = view.tracks
    ends, values = track.columns
    warm = replace(track, columns=(ends, replace(values, key="temperature_c")))
    both = replace(chart, panels=(*chart.panels, hot), views=(view, replace(view, tracks=(track, warm))))
    painter = Painter([run_style()])
    for at, panels in enumerate((["IOPS"], ["IOPS", "temperature, °C"])):
        found = texts(painter.svg(both, BARE, Pressed(at)))
        assert [text for text in found if text in ("IOPS", "temperature, °C")] == panels


def test_nothing_is_drawn_across_the_pause_between_two_steps() -> None:
    svg = Painter([run_style()]).svg(time_line(0), BARE)
    (line,) = [d for d in re.findall(r' d="(M[^"]+)"', svg) if d.count("L") > 10 or d.count("M") == 2]
    assert line.count("M") == 2


@pytest.mark.parametrize("rows", [20, 300])
def test_the_dots_of_a_time_line_are_one_path(rows: int) -> None:
    """Each by itself is some 200 bytes, and they were the longest part of a page's pictures."""
    svg = Painter([run_style()]).svg(time_line(0, rows), BARE)
    (dots,) = [d for d in re.findall(r' d="(M[^"]+)"', svg) if "a" in d]
    assert dots.count("M") == rows


@pytest.mark.parametrize("drawn", [series(0, 60, 400, 1), level_time_line(100)])
def test_dots_stand_where_they_were_measured(drawn: Chart) -> None:
    """All of one value: a dot whose arcs were rounded stood up to its radius above or below."""
    svg = Painter([run_style()]).svg(drawn, BARE)
    (dots,) = [d for d in re.findall(r' d="(M[^"]+)"', svg) if "a" in d.lower()]
    found = re.findall(r"M(\S+) (\S+)a1.5 1.5 0 1 1 -3 0a1.5 1.5 0 1 1 3 0", dots)
    assert len(found) == dots.count("M") > 50
    assert len({y for _, y in found}) == 1
    steps = [float(after) - float(before) for (before, _), (after, _) in pairwise(found)]
    assert max(steps) - min(steps) < 0.21  # both ends rounded to tenths


def test_a_picture_shows_what_is_pressed_when_the_page_opens() -> None:
    empty, full = Choice("none", (), absent="not run"), series(0, 60, 50).choices[0]
    chart = replace(series(0, 60, 50), choices=(empty, empty, empty, full), variants=2)
    buttons = (
        Buttons("view", "Drive", ("a", "b"), 1),
        Buttons("variant", "Spare area", ("stock", "25 %"), 1),
    )
    figure = Figure("late", "Late", "", "", chart, (), (), buttons)
    opened = as_opened(figure)
    assert (opened.view, opened.choice, opened.measure) == (1, 3, 0)
    assert not any("not run" in text for text in texts(Painter([run_style()]).svg(chart, BARE, opened)))
