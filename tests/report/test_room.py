"""Labels in charts have room: none on another, over an axis or under a line; whole ticks of counts."""

from __future__ import annotations

import re
from itertools import combinations, pairwise

import pytest

from report.test_drawn import BARE, run_style
from ssdlab.report.charts import (
    Axis,
    Bar,
    BarGroup,
    BarsChart,
    BarsView,
    Chart,
    Dot,
    Line,
    Rule,
    RunStyle,
    XyChart,
    XyView,
)
from ssdlab.report.pictures import Painter

_TEXT = re.compile(r"<text([^>]*)>([^<]*)</text>")
_PLACE = re.compile(r"translate\(([-\d.]+) ([-\d.]+)\)")
_OWN_PLACE = re.compile(r' x="([-\d.]+)" y="([-\d.]+)"')
_PLATE = re.compile(r'<path d="M([-\d.]+) ([-\d.]+)l([\d.]+) 0l0 ([\d.]+)l-[\d.]+ 0Z"([^>]*)fill="#ffffff"')
Box = tuple[float, float, float, float]


def boxes(svg: str, begin: str) -> dict[str, list[Box]]:
    """Where the texts that begin so stand: left, top, right and bottom, by text."""
    found: dict[str, list[Box]] = {}
    for how, text in _TEXT.findall(svg):
        place = _PLACE.search(how) or _OWN_PLACE.search(how)
        if place is None or not text.startswith(begin):
            continue
        x, y, wide = float(place[1]), float(place[2]), 6.5 * len(text)
        if "translate" in place[0] and (padded := re.search(r' x="([-\d.]+)"', how)):
            x += float(padded[1])
        left = x - wide * (1.0 if '"end"' in how else 0.5 if '"middle"' in how else 0.0)
        found.setdefault(text, []).append((left, y - 6, left + wide, y + 6))
    return found


def plates(svg: str) -> list[tuple[int, Box]]:
    """Paper behind texts: where in the drawing it is drawn, and its left, top, right and bottom."""
    found = []
    for plate in _PLATE.finditer(svg):
        x, y, wide, high = map(float, plate.groups()[:4])
        if moved := _PLACE.search(plate[5]):
            x, y = x + float(moved[1]), y + float(moved[2])
        found.append((plate.start(), (x, y, x + wide, y + high)))
    return found


def sweep(run: int, most: float, reported: int) -> Line:
    """Of a drive whose throughput doubles until it ends."""
    points = []
    for power in range(10):
        rate = min(10_000.0 * 2**power, most)
        points.append(
            Dot(rate, 2**power * 1e9 / rate, label=f"QD {2**power}", chosen=2**power == reported or None)
        )
    return Line(run, "", False, tuple(points))


def hockey_stick() -> XyChart:
    lines = (sweep(0, 99e3, 32), sweep(1, 98e3, 32), sweep(2, 1.07e6, 128))
    return XyChart((XyView("", Axis("IOPS", "iops"), Axis("mean, log", "ns", "log"), lines),))


def drawn(chart: Chart, runs: list[RunStyle], size: tuple[int, int] = (1200, 675)) -> str:
    return Painter(runs).svg(chart, BARE, size=size)


def test_labels_of_points_stand_alone_and_within_the_plot() -> None:
    for size in ((1200, 675), (400, 400)):
        svg = drawn(hockey_stick(), [run_style(at) for at in range(3)], size)
        found = [box for places in boxes(svg, "QD ").values() for box in places]
        for one, other in combinations(found, 2):
            assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1], (
                size,
                one,
                other,
            )
        ticks = [box for text in ("1 ms", "5 ms", "500 µs") for box in boxes(svg, text).get(text, [])]
        assert ticks
        assert all(box[0] >= max(tick[2] for tick in ticks) for box in found)


def test_no_line_strikes_through_the_label_of_a_point() -> None:
    """What runs behind it, a line of the grid or of a rule, is broken by paper."""
    svg = drawn(hockey_stick(), [run_style(at) for at in range(3)])
    paper = [plate for _, plate in plates(svg)]
    labels = [box for places in boxes(svg, "QD ").values() for box in places]
    assert len(labels) > 10
    for left, top, right, bottom in labels:
        x = (left + right) / 2
        assert any(one[0] < x < one[2] and one[1] < bottom and top < one[3] for one in paper), (left, top)


@pytest.mark.parametrize("most", [200e3, 375e3, 650e3])
def test_labels_of_markers_set_aside_stay_off_the_axis(most: float) -> None:
    """Of drives in one place the marker of the first is moved to the left, and its label went along."""
    lines = tuple(sweep(at, most, 32) for at, most in enumerate((most, most, most, most, most, 2.07e6)))
    chart = XyChart((XyView("", Axis("IOPS", "iops"), Axis("mean, log", "ns", "log"), lines),))
    svg = drawn(chart, [run_style(at) for at in range(6)], (500, 400))
    edge = max(box[2] for text in ("1 ms", "5 ms", "500 µs") for box in boxes(svg, text).get(text, []))
    assert all(box[0] >= edge for places in boxes(svg, "QD ").values() for box in places)


def test_what_is_reported_has_its_label_first_and_the_ends_next() -> None:
    found = boxes(drawn(hockey_stick(), [run_style(at) for at in range(3)]), "QD ")
    assert len(found["QD 32"]) >= 1
    assert len(found["QD 128"]) >= 1
    assert len(found["QD 512"]) == 2, "two drives that end in one place have one"


NAMED = (
    RunStyle(
        "Elm of a long name, with a heatsink",
        "Elm of a long name, heatsink",
        0,
        "circle",
        False,
        "NVMe",
        4000.0,
    ),
    RunStyle(
        "Oak of a long name, with a heatsink",
        "Oak of a long name, heatsink",
        1,
        "circle",
        False,
        "SATA",
        560.0,
    ),
)
_UPRIGHT = re.compile(r'<path d="M([\d.]+) ([\d.]+)L\1 ([\d.]+)"[^>]*stroke-dasharray')


def of_links(oak: float, size: tuple[int, int]) -> str:
    """One drive far below its link, and one whose link is somewhat beyond its bar."""
    group = BarGroup("mix", (Bar(0, 1810.0, "QD 32"), Bar(1, oak, "QD 32", rated=200.0)))
    view = BarsView("", Axis("MB/s (decimal)", "mb_s"), "higher", (group,))
    return drawn(BarsChart((view,)), list(NAMED), size)


@pytest.mark.parametrize("size", [(1200, 675), (390, 400)])
@pytest.mark.parametrize("oak", [340.0, 480.0, 555.0])
def test_the_line_of_a_link_strikes_through_no_value_and_no_name(oak: float, size: tuple[int, int]) -> None:
    """What it would run through has paper behind it, drawn after the line."""
    svg = of_links(oak, size)
    lines = list(_UPRIGHT.finditer(svg))
    texts = [next(iter(boxes(svg, text).values()))[-1] for text in (f"{oak:.0f} MB/s", "Oak")]
    assert lines
    for line in lines:
        x, top, bottom = map(float, line.groups())
        for left, above, right, below in texts:
            if left <= x <= right and top < below and above < bottom:
                assert any(
                    begin > line.start()
                    and one[0] <= x <= one[2]
                    and one[1] <= above + 3
                    and below - 3 <= one[3]
                    for begin, one in plates(svg)
                ), (oak, size, x)


def test_a_value_stands_at_the_end_of_its_bar_where_its_link_is_further_on() -> None:
    """It stood beyond the line, as if the drive were faster than its link."""
    svg = of_links(340.0, (1200, 675))
    (x,) = {float(found[1]) for found in _UPRIGHT.finditer(svg)}
    ((left, *_),) = boxes(svg, "340 MB/s")["340 MB/s   QD 32"]
    assert left < x


@pytest.mark.parametrize("wide", [320, 362, 1200])
def test_a_link_is_named_and_the_title_of_the_axis_whole(wide: int) -> None:
    svg = of_links(480.0, (wide, 400))
    found = boxes(svg, "SATA link, 560 MB/s") | boxes(svg, "GB/s (decimal)")
    assert set(found) == {"SATA link, 560 MB/s", "GB/s (decimal)   ( | rated )"}
    # A pixel, since a letter of a box is wider than most are.
    assert all(left >= -1 and right <= wide + 1 for ((left, _, right, _),) in found.values())


def test_links_are_named_in_short_where_their_throughputs_do_not_fit() -> None:
    """Of seven drives with three kinds of links the words were cut off at the edge of a phone."""
    links = (("NVMe", 2600.0), ("NVMe", 1900.0), ("PCIe (AHCI)", 1570.0), ("PCIe (AHCI)", 785.0))
    runs = [RunStyle(f"D{at}", f"D{at}", 0, "circle", False, *each) for at, each in enumerate(links)]
    group = BarGroup("read", tuple(Bar(at, link - 50.0, "") for at, (_, link) in enumerate(links)))
    chart = BarsChart((BarsView("", Axis("MB/s (decimal)", "mb_s"), "higher", (group,)),))
    assert boxes(drawn(chart, runs, (1200, 400)), "their NVMe links")
    assert boxes(drawn(chart, runs, (362, 400)), "dashed: the link of each drive")


@pytest.mark.parametrize("rated", [500.0, 540.0, 590.0, 620.0])
def test_the_tick_of_a_rating_strikes_through_no_value(rated: float) -> None:
    runs = [RunStyle("Elm", "Elm", 0, "circle", False), RunStyle("Oak", "Oak", 1, "circle", False)]
    group = BarGroup("read", (Bar(0, 1810.0, ""), Bar(1, 500.0, "QD 8", rated=rated)))
    svg = drawn(BarsChart((BarsView("", Axis("IOPS", "iops"), "higher", (group,)),)), runs)
    (tick,) = set(re.findall(r'<path d="M([\d.]+) [\d.]+L\1 [\d.]+"[^>]*stroke-width="2"', svg))
    (how,) = [how for how, text in _TEXT.findall(svg) if "QD 8" in text]
    place = _PLACE.search(how) or re.search(r'x="([\d.]+)"', how)
    assert place is not None
    left = float(place[1])
    assert not left - 3 < float(tick) < left + 80


def test_what_is_counted_has_whole_ticks() -> None:
    points = tuple(Dot(float(at), 500.0) for at in (1, 2))
    view = XyView("", Axis("burst", "count"), Axis("IOPS", "iops"), (Line(0, "", False, points),))
    below = [text for _, text in _TEXT.findall(drawn(XyChart((view,)), [run_style()]))]
    assert {"0", "1", "2"} <= set(below)
    assert not {"0.5", "1.5"} & set(below)


def test_rows_of_a_low_picture_never_touch() -> None:
    """On paper, under a legend of four lines, names of rows stood one on the other."""
    runs = [
        RunStyle(f"simulated Elm {at}" + ", long" * 10, f"Elm {at}", at, "circle", False) for at in range(6)
    ]
    group = BarGroup("70/30 mix", tuple(Bar(at, 1000.0 - at, "") for at in range(6)))
    view = BarsView("", Axis("IOPS", "iops"), "higher", (group,))
    svg = drawn(BarsChart((view,)), runs, size=(900, 240))
    rows = sorted({float(y) for how, text in _TEXT.findall(svg) if text.startswith("Elm") for y in _y(how)})
    assert len(rows) == 6
    assert min(other - one for one, other in pairwise(rows)) >= 16


def _y(how: str) -> list[str]:
    place = _PLACE.search(how)
    return [place[2]] if place is not None else re.findall(r'\by="([\d.]+)"', how)


def over_depth(reported: int) -> XyChart:
    """Throughput over the depth, which the last few depths do not raise; a level that it comes near."""
    dots = tuple(
        Dot(float(2**at), min(1e4 * 2**at, 100e3), label=f"QD {2**at}" if chosen else None, chosen=chosen)
        for at in range(10)
        for chosen in [2**at == reported or None]
    )
    depths = Axis("queue depth, log", "count", "log", tuple((float(2**at), str(2**at)) for at in range(10)))
    level = (Rule(0, 95e3, "95 % of the best"),)
    return XyChart((XyView("", depths, Axis("IOPS", "iops"), (Line(0, "", False, dots),), level),))


def rounds(*speeds: float, level: float, fit: tuple[float, float] | None = None, text: str) -> XyChart:
    """Rounds of which the last five are ringed, a level, and a line that is fitted to them."""
    dots = tuple(
        Dot(float(at), speed, chosen=(fit is None and at > len(speeds) - 5) or None)
        for at, speed in enumerate(speeds, 1)
    )
    lines = [Line(0, "", True, dots)]
    if fit is not None:
        ends = (Dot(1.0, fit[0], quiet=True), Dot(float(len(speeds)), fit[1], quiet=True))
        lines.append(Line(0, "fit", False, ends, plain=True))
    x, y = Axis("round", "count"), Axis("MB/s", "mb_s")
    return XyChart((XyView("", x, y, tuple(lines), (Rule(0, level, text),)),))


_RING = re.compile(r'<path d="M1 0a1 1[^>]*transform="matrix\(9,0,0,9,([\d.]+),([\d.]+)\)"')
LEVELS = {
    "beside what is reported": (over_depth(16), "95 %", "QD "),
    "beside what is reported early": (over_depth(1), "95 %", "QD "),
    "on rings": (rounds(300, 200, *([133] * 9), level=133, text="mean 133 MB/s"), "mean", "MB/s"),
    "on rings alone": (rounds(*([133] * 5), level=133, text="mean 133 MB/s"), "mean", "MB/s"),
    "at the end of a line": (
        rounds(150, 90, 95, 92, 85, level=90, fit=(130, 84), text="90 %"),
        "90 %",
        "fit",
    ),
}


@pytest.mark.parametrize("size", [(1200, 675), (362, 400), (340, 400)])
@pytest.mark.parametrize("name", LEVELS)
def test_the_label_of_a_level_stands_on_no_other_and_no_ring(name: str, size: tuple[int, int]) -> None:
    chart, text, other = LEVELS[name]
    svg = drawn(chart, [run_style()], size)
    (own,) = (box for places in boxes(svg, text).values() for box in places)
    assert own[0] >= 0 and own[2] <= size[0]
    others = [box for places in boxes(svg, other).values() for box in places if box != own]
    others += [(x - 10, y - 10, x + 10, y + 10) for x, y in (map(float, at) for at in _RING.findall(svg))]
    assert others
    for left, top, right, bottom in others:
        assert own[2] <= left or right <= own[0] or own[3] <= top or bottom <= own[1], (own, left, top)


@pytest.mark.parametrize("wide", [320, 362, 1200])
def test_labels_of_near_points_do_not_run_into_one_another(wide: int) -> None:
    """`QD 1` and `QD 2` of a slow drive lie side by side."""
    svg = drawn(
        XyChart((XyView("", Axis("IOPS", "iops"), Axis("mean, log", "ns", "log"), (sweep(0, 98e3, 32),)),)),
        [run_style()],
        (wide, 400),
    )
    found = [box for places in boxes(svg, "QD ").values() for box in places]
    for one, other in combinations(found, 2):
        apart = one[2] + 3 <= other[0] or other[2] + 3 <= one[0]
        assert apart or one[3] <= other[1] or other[3] <= one[1], (one, other)
