"""Which charts stand two abreast, and which need the full width, on the page and on paper."""

from __future__ import annotations

from ssdlab.report.charts import Axis, Bar, BarGroup, BarsChart, BarsView, Chart, RunStyle, XyChart
from ssdlab.report.pictures import full_width, on_paper
from ssdlab.report.view import Figure

SHORT, LONG = (
    [RunStyle(name, name, at, "circle", False) for at, name in enumerate(names)]
    for names in (("Elm", "Oak"), ("kingston-dc500r-3.84tb", "oak"))
)


def bars(groups: int) -> BarsChart:
    found = tuple(BarGroup(f"QD {at}", (Bar(0, 1.0, ""), Bar(1, 2.0, ""))) for at in range(groups))
    return BarsChart((BarsView("", Axis("IOPS", "iops"), "higher", found),))


def figure(name: str, chart: Chart | None = None, *, wide: bool = False) -> Figure:
    return Figure(name, name, "", "", chart or XyChart(()), (), (), wide=wide)


def test_no_column_is_left_empty() -> None:
    abreast = [figure("a"), figure("b"), figure("c", wide=True), figure("d")]
    assert full_width(abreast) == {"c", "d"}
    assert full_width([figure("a"), figure("b", wide=True), figure("c"), figure("d")]) == {"a", "b"}
    assert full_width([figure("a"), figure("b")]) == frozenset()
    assert full_width([]) == frozenset()


def test_a_high_chart_stands_beside_none() -> None:
    assert full_width([figure("a", bars(4)), figure("b")]) == frozenset()
    assert full_width([figure("a", bars(5)), figure("b")]) == {"a", "b"}


def test_on_paper_long_names_have_the_width_that_they_need() -> None:
    chart = figure("mixed-random-bars", bars(1))
    assert on_paper(chart, 2, SHORT) == 2
    assert on_paper(chart, 2, LONG) == 1
    assert on_paper(chart, 1, SHORT) == 1
    assert on_paper(figure("curves"), 2, LONG) == 2
    assert on_paper(figure("curves"), 9, LONG) == 3
    assert on_paper(figure("iops-window"), 2, LONG) == 3
