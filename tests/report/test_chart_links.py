"""What leads from a figure in words to the chart and the button that show it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from methods.on_simulated import SMALL, run
from report.browser import Browser
from ssdlab.report import page, source
from ssdlab.report.body import body_of, placed_of
from ssdlab.report.chart_links import ChartLink, chart_links

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> source.Run:
    return source.read_run(
        run("qd1", tmp_path_factory.mktemp("links"), SMALL, steady="false", seconds="2").path
    )


def test_a_figure_leads_to_the_chart_and_button_that_draw_its_value(measured: source.Run) -> None:
    links = chart_links(body_of(placed_of([measured])).methods)
    assert links["qd1_random_read_iops"] == ChartLink("qd1-bars")
    assert links["qd1_sequential_read_mb_s"] == ChartLink("qd1-bars", "qd1-bars.view=2")
    assert links["qd1_random_read_mean_ns"] == ChartLink("qd1-qos")


@pytest.mark.outside
def test_the_title_of_a_figure_presses_the_button_that_shows_its_figure(
    web_browser: Browser, measured: source.Run, tmp_path: Path
) -> None:
    manifest = measured.manifest
    drive = manifest.drive.model_copy(update={"id": "other", "name": "other"})
    other = replace(measured, manifest=manifest.model_copy(update={"run_id": "other", "drive": drive}))
    page.write([measured, other], tmp_path / "page.html")
    web_browser.open(tmp_path / "page.html")
    web_browser.drawn()
    pressed = "document.querySelector('#qd1-bars button[data-group=view][aria-pressed=true]').textContent"
    assert web_browser.run(pressed) == "IOPS, 4 KiB"
    web_browser.run("document.querySelector('.top-chart a[data-figure=qd1_sequential_read_mb_s]').click()")
    web_browser.until(f"{pressed} === 'MB/s, 128 KiB'")
    web_browser.until("location.hash.startsWith('#qd1-bars;') && location.hash.endsWith('view=2')")
    assert not web_browser.complaints
