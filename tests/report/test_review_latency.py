"""A review's latency beside SNIA's matrix: bars of means and maxima of all drives, and headline figures."""

from __future__ import annotations

from itertools import product
from math import log
from statistics import fmean

import pytest

from ssdlab.lab.found import find_method
from ssdlab.lab.suites import find_suite
from ssdlab.methods.pts import page as pts
from ssdlab.methods.pts.result import PtsResult
from ssdlab.report import source
from ssdlab.report.charts import BarsChart, BarsView, XyChart
from ssdlab.report.runs import Shown, shown
from ssdlab.report.view import Section
from ssdlab.runs.order import Order
from ssdlab.runs.session import start

pytestmark = pytest.mark.long

DRIVES = ("sim:tiny-test,scale=4,seed=1", "sim:tiny-test,scale=2,seed=2")
IN_FLIGHT = 32


@pytest.fixture(scope="module")
def placed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Shown, ...]:
    """The test on two small simulated drives."""
    library = tmp_path_factory.mktemp("library")
    method = find_method("latency-qd32")
    params = method.params.build({"seconds": "0.05", "overwrites": "1", "reported": "four-after"})
    folders = [start(Order(method, params, each, destroy=each), library) for each in DRIVES]
    return shown([source.read_run(folder) for folder in folders])


@pytest.fixture(scope="module")
def section(placed: tuple[Shown, ...]) -> Section:
    return pts.section(placed)


def result_of(one: Shown) -> PtsResult:
    assert isinstance(one.run.result, PtsResult)
    return one.run.result


def views_of(section: Section, name: str) -> tuple[BarsView, ...]:
    chart = next(each.chart for each in section.figures if each.id == name)
    assert isinstance(chart, BarsChart)
    return chart.views


def test_what_the_drives_do_comes_first_and_no_header_of_a_standard_stands_on_it(section: Section) -> None:
    assert [each.id for each in section.figures][:2] == ["latency-qd32-mean", "latency-qd32-max"]
    assert not any(each.sheets for each in section.figures)


def test_the_chart_of_all_rounds_encloses_the_window_and_the_reported_rounds(
    section: Section, placed: tuple[Shown, ...]
) -> None:
    chart = next(each.chart for each in section.figures if each.id == "latency-qd32-convergence")
    assert isinstance(chart, XyChart)
    for one in placed:
        (rounds,) = result_of(one).groups
        wanted = {rounds.first - 0.5, rounds.last + 0.5}
        if rounds.reported[0] > rounds.last:
            wanted.add(rounds.reported[1] + 0.5)
        views = [each for each in chart.views if {line.run for line in each.lines} == {one.index}]
        assert views
        for view in views:
            assert {each.x for each in view.uprights} == wanted
            assert view.x.range is not None and view.x.range[1] >= max(wanted)


@pytest.mark.parametrize("name", ["mean", "max"])
def test_each_mix_is_a_view_of_all_drives_at_every_size(
    section: Section, placed: tuple[Shown, ...], name: str
) -> None:
    views = views_of(section, f"latency-qd32-{name}")
    assert [view.label for view in views] == ["R/W 100/0", "R/W 65/35", "R/W 0/100"]
    for view, at in product(views, range(3)):
        group = view.groups[at]
        assert group.name == ("512 B", "4 KiB", "8 KiB")[at]
        for one in placed:
            (rounds,) = result_of(one).groups
            (cell,) = [
                each
                for each in rounds.cells
                if each.name == f"{view.label.removeprefix('R/W ')} {group.name}"
            ]
            first, last = rounds.reported
            own = (cell.mean_ns if name == "mean" else cell.max_ns)[first - 1 : last]
            (bar,) = [each for each in group.bars if each.run == one.index]
            assert bar.value == pytest.approx((fmean if name == "mean" else max)(own))  # type: ignore[operator]
        assert [bar.value for bar in group.bars if not bar.unranked] == sorted(
            bar.value for bar in group.bars if not bar.unranked
        )


def test_the_bars_open_on_the_mix_in_which_the_drives_differ_most(section: Section) -> None:
    for name in ("latency-qd32-mean", "latency-qd32-max"):
        figure = next(each for each in section.figures if each.id == name)
        apart = [
            fmean(log(max(own) / min(own)) for own in ([b.value for b in g.bars] for g in view.groups))
            for view in views_of(section, name)
        ]
        assert apart[figure.buttons[0].pressed] == pytest.approx(max(apart))


def test_means_are_those_of_littles_law(placed: tuple[Shown, ...]) -> None:
    """Mean latency is what is in flight by the rate; a short round is off by its first and last I/Os."""
    for one in placed:
        for cell in result_of(one).groups[0].cells:
            for iops, mean_ns in zip(cell.iops, cell.mean_ns, strict=True):
                assert iops * mean_ns / 1e9 == pytest.approx(IN_FLIGHT, rel=0.05)


def test_the_mix_has_its_mean_and_its_longest_as_headline_figures(placed: tuple[Shown, ...]) -> None:
    for one in placed:
        result = result_of(one)
        (rounds,) = result.groups
        (cell,) = [each for each in rounds.cells if each.name == "65/35 4 KiB"]
        first, last = rounds.reported
        found = {each.name: each for each in result.scalars}
        mean, longest = (found[f"pts_latency_65_35_4_kib{end}"] for end in ("", "_max"))
        assert mean.value == pytest.approx(fmean(cell.mean_ns[first - 1 : last]) / 1000)
        assert longest.value == pytest.approx(
            max(each or 0.0 for each in cell.max_ns[first - 1 : last]) / 1000
        )
        assert mean.steps == longest.steps == cell.ordinals[first - 1 : last]
        assert mean.value is not None and longest.value is not None and longest.value > mean.value
        assert {mean.better, longest.better} == {"lower"} and {mean.unit, longest.unit} == {"µs"}


def test_the_reviews_tiles_are_figures_that_its_methods_give(placed: tuple[Shown, ...]) -> None:
    suite = find_suite("review-dc400")
    assert suite is not None
    tiles = suite.page["tiles"]
    assert isinstance(tiles, list)
    given = {each.name for each in result_of(placed[0]).scalars}
    of_latency = [each for each in tiles if str(each).startswith("pts_latency")]
    assert len(of_latency) == 2 and given.issuperset(of_latency)
    # Those of the matrix have its mixes and sizes in their names.
    of_matrix = [each for each in tiles if each not in of_latency]
    assert of_matrix == [f"pts_iops_{mix}_4_kib" for mix in ("100_0", "50_50", "0_100")]
