"""Pages of SNIA's tests: the standard's header on each, the map of cells, the window with its numbers."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from conftest import tool
from pts.scripted import Scripted
from report.reading import Page
from ssdlab.lab.found import find_method
from ssdlab.methods.pts import page as pts
from ssdlab.methods.pts.charts import Judged, window_view
from ssdlab.methods.pts.findings import IOPS, mix_text, tables
from ssdlab.methods.pts.page import furthest_apart, heat_map
from ssdlab.methods.pts.result import FiveNines, PtsHistogram, PtsResult, TrackedVariable
from ssdlab.model.units import block_text
from ssdlab.report import page, paper, source
from ssdlab.report.charts import HeatChart
from ssdlab.report.heads import title_of
from ssdlab.report.runs import shown
from ssdlab.report.view import Section
from ssdlab.runs.order import Order
from ssdlab.runs.session import start

DRIVE = "sim:tiny-test,scale=4"
RIG = 'name = "Rig A"\ntested_by = "J. Doe, Example Lab"\nboard = "Example B1"\n'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A latency test on a small simulated drive, on a rig that is described."""
    library = tmp_path_factory.mktemp("library")
    (library / "rig.toml").write_text(RIG)
    method = find_method("pts-latency")
    short = {"seconds": "0.02", "overwrites": "1", "histogram_seconds": "0.2"}
    return start(
        Order(method, method.params.build(short), DRIVE, destroy=DRIVE, rig=library / "rig.toml"), library
    )


@pytest.fixture(scope="module")
def section(folder: Path) -> Section:
    return pts.section(shown([source.read_run(folder)]))


@pytest.mark.long
def test_every_page_has_the_standards_header(section: Section) -> None:
    pages = len(section.figures)
    assert pages == 4
    for number, figure in enumerate(section.figures, start=1):
        (sheet,) = figure.sheets
        line = " | ".join(sheet.line)
        assert line.startswith(f"SNIA PTS: latency, page {number} of {pages} | PTS-E, SNIA SSS PTS 2.0.2 | ")
        assert "started 20" in line and "finished 20" in line and "tested by: J. Doe, Example Lab" in line
        assert [title for title, _ in sheet.columns] == [
            "Test platform",
            "Device under test",
            "Set-up",
            "Test",
        ]
        assert [len(rows) for _, rows in sheet.columns] == [11, 11, 10, 11], "section 5 below"
        assert all(name and found for _, rows in sheet.columns for name, found in rows)
        assert {code for code, _ in sheet.departures} == {
            "condition-write_cache",
            "simulated-drive",
            "parameter-seconds",
            "parameter-overwrites",
            "parameter-histogram_seconds",
        }


def test_what_is_known_is_filled_in_and_the_rest_is_said_to_be_unknown(section: Section) -> None:
    platform, device, setup, test = (dict(rows) for _, rows in section.figures[0].sheets[0].columns)
    assert (platform["Reference platform"], platform["Motherboard"]) == ("own: Rig A", "Example B1")
    assert (device["Serial no."], device["Firmware"], device["Form factor"]) == ("unknown",) * 3
    assert (device["Manufacturer"], device["Purge method"]) == ("simulated", "simulated")
    assert device["Write cache"].startswith("write cache is on; requested: off")
    assert (setup["Pre-condition 1"], setup["Amount"]) == ("SEQ 128 KiB write", "1.00 x user capacity")
    assert setup["Active range"] == "AR(0:100)"
    assert test["Stimulus 1"].startswith("RND, R/W 100/0, 65/35, 0/100 (outer) x 8 KiB, 4 KiB, 512 B (inner)")
    assert test["Stimulus 2, histogram"] == "RND 4 KiB 0/100, each I/O counted"
    assert test["Steady state"].startswith(("steady state in rounds ", "NOT ACHIEVED"))


def test_the_map_has_a_value_in_every_cell_that_was_measured(section: Section) -> None:
    chart = next(figure.chart for figure in section.figures if isinstance(figure.chart, HeatChart))
    assert (chart.rows, chart.columns) == (("512 B", "4 KiB", "8 KiB"), ("100/0", "65/35", "0/100"))
    assert [view.label for view in chart.views] == ["ART", "99.999 %", "MRT", "IOPS"]
    for view in chart.views:
        known = [value for row in view.values for value in row if value is not None]
        assert len(known) == 9, "five nines are never blank, however short the cells"
        assert view.range == (min(known), max(known))
        assert view.better == ("higher" if view.label == "IOPS" else "lower")
        assert view.row_ranges == tuple((min(row), max(row)) for row in view.values if None not in row)  # type: ignore[type-var]


def test_five_nines_of_few_ios_are_shown_as_a_lower_bound(folder: Path, section: Section) -> None:
    """Each cell lasts 0.02 s: its order statistic is the maximum, which is no 99.999 %."""
    result = source.read_run(folder).result
    assert isinstance(result, PtsResult)
    pooled = {
        (mix_text(cell.read_pct), block_text(cell.block_bytes)): cell.pooled
        for cell in result.groups[0].cells
    }
    chart = next(figure.chart for figure in section.figures if isinstance(figure.chart, HeatChart))
    for view in chart.views:
        bounds = view.bounds or ((False,) * 3,) * 3
        assert all(each == (view.label == "99.999 %") for row in bounds for each in row)
    (view,) = (each for each in chart.views if each.label == "99.999 %")
    for row, values in zip(chart.rows, view.values, strict=True):
        for column, value in zip(chart.columns, values, strict=True):
            found = pooled[column, row]
            assert found is not None and found.ios < 100_000 and value == found.low_ns
    (table,) = (each for each in tables(result) if "order statistic" in each.caption)
    assert all(row[2].text.startswith("≥ ") and row[2].value == "" for row in table.rows)


@pytest.mark.parametrize(("ios", "told"), [(99_999, False), (100_000, True)])
def test_five_nines_need_an_io_beyond(ios: int, told: bool) -> None:
    assert FiveNines(value_ns=2.0, ios=ios, low_ns=1.0, high_ns=None).is_exceeded is told
    count = (ios - 1, 1)
    levels = PtsHistogram(
        seconds=1, iops=1, mb_s=1, mean_ns=1, percentiles_ns={"99.9": 1.0, "99.999": 2.0}, max_ns=2,
        low_ns=(1, 2), high_ns=(2, 3), count=count,
    )  # fmt: skip
    assert levels.shown_ns == {"99.9": 1.0, "99.999": 2.0 if told else None}


def test_a_chart_of_several_drives_opens_where_they_differ_most() -> None:
    """Of ratios at each place: 1 and 1; 2 and 8, whose geometric mean is 4; 5 and 1, whose mean is 2.2."""
    views = [[[10.0, 10.0], [7.0, 7.0]], [[1.0, 2.0], [1.0, 8.0]], [[1.0, 5.0], [3.0, 3.0]]]
    assert furthest_apart(views) == 1
    assert furthest_apart([[[1.0]], [[2.0]]]) == 0, "one drive"
    assert furthest_apart([[[]], [[1.0, 2.0]]]) == 1, "nothing measured in the first"


def test_the_window_tells_allowed_and_measured_excursions(folder: Path) -> None:
    read = Page.of(page.render([source.read_run(folder)]))
    for head in ("Data excursion", "Allowed, 20 %", "Slope excursion", "Allowed, 10 %", "Correlation"):
        assert head in read.text
    assert read.text.count("page 1 of 4") == 1
    assert read.text.count("Page header") == 4


def test_the_window_has_all_of_its_fit_and_ticks_alone_have_the_unit_of_times() -> None:
    """Of values that fall steeply the fitted line ends below the last of them."""
    values = (100e3, 100e3, 100e3, 40e3, 40e3)
    variable = TrackedVariable(
        name="0/100 4 KiB", unit="ns", values=values, mean=76e3, slope=-18e3, intercept=112e3
    )
    run: Any = SimpleNamespace(index=0, label="Some drive")
    view = window_view(Judged(run, variable, "NOT ACHIEVED", 1, 5), "")
    assert view.y.title == "0/100 4 KiB, response time"
    assert view.y.range is not None
    assert view.y.range[0] <= 40e3 and view.y.range[1] >= 112e3
    assert view.lines[1].points[1].y == 40e3


def test_sectors_of_4_kib_leave_a_row_empty_with_the_reason() -> None:
    method = find_method("pts-iops")
    params = method.params()
    scripted = Scripted(lambda label: 1000.0)
    method.procedure(scripted.lab(4096), params)
    result = method.conclude(scripted.data(4096), params)
    assert isinstance(result, PtsResult)
    one: Any = (SimpleNamespace(index=0, label="Some drive"), result)
    figure = heat_map("iops", "IOPS", [one], [IOPS], "how")
    assert isinstance(figure.chart, HeatChart)
    (view,) = figure.chart.views
    assert view.values[0] == (None,) * 7 and view.values[1] == (1000.0,) * 7
    assert view.absent == "not measured: the drive's sectors are of 4 KiB"
    (table,) = figure.tables
    assert [cell.text for cell in table.rows[0]] == ["512 B", view.absent]
    assert table.rows[0][1].span == 7


def sheets_of_paper(folder: Path, place: Path) -> list[str]:
    """The letters on each sheet of the printed page."""
    program = tool("pdftotext", "poppler-utils")
    file = place / "page.pdf"
    paper.write_pdf([source.read_run(folder)], file)
    text = subprocess.run([program, "-raw", file, "-"], capture_output=True, text=True, check=True).stdout
    return ["".join(sheet.split()) for sheet in text.split("\f")]


@pytest.mark.long
def test_a_header_its_title_and_its_chart_share_a_sheet_of_paper(
    folder: Path, section: Section, tmp_path: Path, chromium: str
) -> None:
    """Each begins a sheet; how the chart was measured stands under it, so the chart is on the sheet too."""
    papers = sheets_of_paper(folder, tmp_path)
    for number, figure in enumerate(section.figures, start=1):
        own = [text for text in papers if f"page{number}of{len(section.figures)}" in text]
        assert len(own) == 1
        (sheet,) = figure.sheets
        assert number == 1 or own[0].startswith("".join(sheet.line[0].split()))
        rows = [value for _, column in sheet.columns for _, value in column]
        for line in (*sheet.line, *rows, title_of(section, figure), *figure.measured):
            assert "".join(line.split()) in own[0], line


@pytest.mark.long
def test_every_mandatory_line_is_on_paper(
    folder: Path, section: Section, tmp_path: Path, chromium: str
) -> None:
    """The header of every page: four columns of ten rows and more, found in the words of the PDF."""
    words = "".join(sheets_of_paper(folder, tmp_path))
    for figure in section.figures:
        (sheet,) = figure.sheets
        assert all("".join(line.split()) in words for line in sheet.line)
        for name, value in (row for _, rows in sheet.columns for row in rows):
            assert words.count("".join(name.split())) >= len(section.figures), name
            assert "".join(value.split()) in words, name
    assert {"Motherboard", "Firmware"} <= {
        name for _, rows in section.figures[0].sheets[0].columns for name, _ in rows
    }
