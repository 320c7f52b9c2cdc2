"""The consistency section in a browser: buttons for drives and spare areas, on axes that stay."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from methods.on_simulated import run
from report.browser import Browser
from report.reading import Page
from ssdlab.methods.consistency.result import ConsistencyResult
from ssdlab.report import page, source
from ssdlab.report.charts import SeriesChart
from ssdlab.report.pictures import as_opened
from ssdlab.results import tables

SECONDS = 2000
GRAPHS = ("whole", "late", "steady")


def long_series(ordinal: int, level: float) -> tables.Columns:
    """Rows of a drive that falls from ten times its level to it within 100 s, and stalls once."""
    at = np.arange(SECONDS)
    ios = (level * np.where(at < 100, 10 - 9 * at / 100, 1 + 0.1 * np.sin(at))).astype(np.int64)
    ios[1500] = 0
    told = {
        "ordinal": ordinal,
        "attempt": 1,
        "row": at,
        "stream": "main",
        "direction": "write",
        "start_ns": at * 10**9,
        "end_ns": (at + 1) * 10**9,
        "ios": ios,
    }
    return {
        name: np.broadcast_to(np.asarray(told.get(name, 0), dtype=tables.dtype(kind)), (SECONDS,))
        for name, kind in tables.SERIES_COLUMNS.items()
    }


def lengthened(found: source.Run, levels: tuple[float, ...], *, drive: str, keep: int) -> source.Run:
    """A run of another drive whose entries ran for 2000 s, steady from 700 s on, and only so many of them."""
    result = found.result
    assert isinstance(result, ConsistencyResult)
    entries = [entry.model_copy(update={"steady_from_s": 700.0}) for entry in result.entries[:keep]]
    series = [long_series(entry.ordinal, level) for entry, level in zip(entries, levels, strict=True)]
    info = found.manifest.drive.model_copy(update={"id": drive, "name": drive})
    manifest = found.manifest.model_copy(update={"drive": info, "run_id": f"{found.manifest.run_id}-{drive}"})
    return dataclasses.replace(
        found,
        manifest=manifest,
        result=result.model_copy(update={"entries": tuple(entries)}),
        series=tables.concatenate(series, tables.SERIES_COLUMNS),
    )


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("consistency")
    short = run("consistency", folder, "sim:tiny-test,scale=4", seconds="6", round_seconds="1")
    found = source.read_run(short.path)
    elm = lengthened(found, (2e4, 6e4), drive="Elm", keep=2)
    fir = lengthened(found, (5e3,), drive="Fir", keep=1)
    page.write([elm, fir], folder / "page.html")
    return folder / "page.html"


def picture(graph: str, left: int, width: int) -> str:
    """JavaScript: a picture of a strip of the chart, from its left."""
    return (
        f"(() => {{ const c = document.querySelector('#consistency-{graph} canvas');"
        f" const strip = document.createElement('canvas'); strip.width = {width}; strip.height = c.height;"
        f" strip.getContext('2d').drawImage(c, {-left}, -30);"
        f" return strip.toDataURL() }})()"
    )


def press(browser: Browser, graph: str, group: str, index: int) -> None:
    button = (
        f"document.querySelector('#consistency-{graph} button[data-group={group}][data-index=\"{index}\"]')"
    )
    browser.run(f"{button}.click()")
    browser.until(f"{button}.getAttribute('aria-pressed') === 'true'")


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.long
def test_buttons_choose_drive_and_spare_area_and_the_axes_stay(
    web_browser: Browser, built: Path, graph: str
) -> None:
    web_browser.open(built)
    web_browser.drawn()
    axis, plot = picture(graph, 0, 30), picture(graph, 80, 900)
    labels, all_drives = web_browser.run(axis), web_browser.run(plot)
    assert labels != web_browser.run(picture(graph, 5000, 30)), "no labels in the strip"
    press(web_browser, graph, "view", 1)
    web_browser.until(f"{plot} !== {json.dumps(all_drives)}")
    seen = [web_browser.run(plot)]
    for group, index in (("variant", 1), ("variant", 0), ("view", 2)):
        before = web_browser.run(plot)
        press(web_browser, graph, group, index)
        web_browser.until(f"{plot} !== {json.dumps(before)}")
        assert web_browser.run(axis) == labels, "the axis moved"
        seen.append(web_browser.run(plot))
    assert seen[2] == seen[0], "back to the stock drive"
    assert len({all_drives, *seen}) == 4
    assert web_browser.complaints == []


def test_what_was_not_run_is_said_and_nothing_is_drawn(web_browser: Browser, built: Path) -> None:
    web_browser.open(built)
    web_browser.drawn()
    press(web_browser, "whole", "view", 2)
    press(web_browser, "whole", "variant", 1)
    charts = Page.of(built.read_text()).data["charts"]
    choice = next(
        each for each in charts["consistency-whole"]["choices"] if each["label"].startswith("Fir, 25")
    )
    assert choice == {"label": "Fir, 25 % spare", "tracks": [], "absent": "not run"}
    assert web_browser.complaints == []


def test_each_graph_begins_where_it_says(web_browser: Browser, built: Path) -> None:
    web_browser.open(built)
    web_browser.drawn()
    charts = Page.of(built.read_text()).data["charts"]
    windows = [charts[f"consistency-{graph}"]["window_s"] for graph in GRAPHS]
    assert windows == [[0.0, 2000.0], [1400.0, 2000.0], [700.0, 2000.0]]
    scales = [
        [measure["axis"]["scale"] for measure in charts[f"consistency-{g}"]["measures"]] for g in GRAPHS
    ]
    assert scales == [["log"], ["log", "linear"], ["log", "linear"]]
    pressed = (
        "[...document.querySelectorAll('#consistency-steady [aria-pressed=true]')].map(b => b.textContent)"
    )
    assert web_browser.run(pressed) == ["all drives", "stock", "linear"]


def test_a_page_opens_with_what_compares_and_holds_each_second_once(tmp_path: Path) -> None:
    short = source.read_run(
        run("consistency", tmp_path, "sim:tiny-test,scale=4", seconds="6", round_seconds="1").path
    )
    elm, fir = (
        lengthened(short, (2e4 + at, 6e4 + at), drive=name, keep=2) for at, name in enumerate(("Elm", "Fir"))
    )
    opened = {}
    for runs in ([elm], [elm, fir]):
        _, (section, *_) = page.contents(runs)
        chart, pressed = section.figures[0].chart, as_opened(section.figures[0])
        assert isinstance(chart, SeriesChart)
        drawn = chart.tracks_of(chart.choices[pressed.choice])
        opened[len(runs)] = [(track.run, track.name) for track in drawn]
        packed = [
            column.packed
            for each in chart.choices
            for track in each.tracks
            for column in track.columns
            if column.key == "iops"
        ]
        assert len(packed) == len(set(packed)) == 2 * len(runs)
    assert opened == {1: [(0, "stock"), (0, "25 % spare")], 2: [(0, "stock"), (1, "stock")]}


@pytest.mark.parametrize("graph", ["late", "steady"])
def test_scales_are_buttons_too(web_browser: Browser, built: Path, graph: str) -> None:
    web_browser.open(built)
    web_browser.drawn()
    strip = picture(graph, 0, 60)
    before = web_browser.run(strip)
    press(web_browser, graph, "measure", 1 if graph == "late" else 0)
    web_browser.until(f"{strip} !== {json.dumps(before)}")
