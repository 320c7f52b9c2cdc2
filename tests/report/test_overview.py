"""An overview of many drives, and the pages that it leads to."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

import pytest

from report.browser import Browser
from report.conftest import METHODS, invented
from ssdlab.cli import main
from ssdlab.results.run_folder import read_manifest

DRIVES = 20
SERIES = "Northwind Enterprise Data Centre Series NX"
LARGEST = 3_000_000


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Twenty drives, each with one method; the first with three."""
    folder = tmp_path_factory.mktemp("runs")
    return [
        invented(
            folder / f"{at}-{method}",
            method,
            seed=at + 1,
            seconds=2,
            drive={"id": f"SN{at}", "name": f"{SERIES}{4100 + 17 * at}", "kind": "block"},
        )
        for at in range(DRIVES)
        for method in (METHODS if at == 0 else METHODS[1:2])
    ]


@pytest.fixture(scope="module")
def written(runs: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    page = tmp_path_factory.mktemp("pages") / "drives.html"
    assert main(["report", *map(str, runs), "--overview", "-o", str(page)]) == 0
    return page


@pytest.mark.long
def test_it_is_small_and_leads_to_a_page_of_each_drive(written: Path) -> None:
    html = written.read_text()
    assert len(html.encode()) < LARGEST
    links = re.findall(r'<a href="(drives/[^"]+)"', html)
    assert len(links) == len(set(links)) == DRIVES
    for link in links:
        own = (written.parent / unescape(link)).read_text()
        assert own.count('<figure id="peak-random-read-throughput"') == 1
        assert html.count(re.search("<h1>(.*?)</h1>", own)[1]) > 0


def test_bars_of_runs_that_are_not_alike_are_called_no_rank(written: Path, tmp_path: Path) -> None:
    drives = [{"id": name, "name": name, "kind": "block"} for name in ("Elm", "Hazel")]
    made = [
        invented(tmp_path / drive["id"], METHODS[1], seed=at + 1, seconds=2, drive=drive, quick=bool(at))
        for at, drive in enumerate(drives)
    ]
    path = tmp_path / "drives.html"
    assert main(["report", *map(str, made), "--overview", "-o", str(path)]) == 0
    assert "Not ranked: the runs are not comparable." in (html := path.read_text())
    assert html.count("Runs of one method differ: quick") == 1
    assert "Not ranked" not in written.read_text()


def test_its_tables_hold_every_headline_figure(written: Path, runs: list[Path]) -> None:
    html = written.read_text()
    for run in runs:
        result = read_manifest(run).result
        for scalar in result["scalars"]:
            assert f'data-value="{scalar["value"]}"' in html


def test_no_row_of_any_run_is_read_for_it(
    runs: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ssdlab.report import overview, source

    monkeypatch.setattr(source, "read_run", lambda folder: pytest.fail("a run was read in full"))
    assert "</html>" in overview.overview_html(runs, tmp_path / "drives.html")


@pytest.mark.outside
@pytest.mark.parametrize("width", [390, 1400])
@pytest.mark.long
def test_it_is_drawn_and_every_drive_has_its_own_label(
    web_browser: Browser, written: Path, width: int
) -> None:
    web_browser.open(written, width=width)
    web_browser.drawn()
    assert web_browser.complaints == []
    assert web_browser.requests == []
    for method, count in zip(METHODS, (1, DRIVES, 1), strict=True):
        told = web_browser.run(
            f"[...document.querySelectorAll('#overview-{method} .told li')].map((line) => line.textContent)"
        )
        assert len({line.partition(":")[0] for line in told}) == len(told) == count


def test_a_pdf_of_an_overview_is_refused(
    runs: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(runs[0]), "--overview", "--pdf", "-o", str(tmp_path / "x.pdf")]) == 2
    assert "cannot be a PDF" in capsys.readouterr().err


def test_what_was_written_is_told_as_json(
    runs: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "two.html"
    assert main(["report", *map(str, runs[:4]), "--overview", "-o", str(place), "--json"]) == 0
    pages = json.loads(capsys.readouterr().out)["pages"]
    assert [each["runs"] for each in pages] == [4, 3, 1]
    assert all(Path(each["path"]).stat().st_size == each["bytes"] for each in pages)


@pytest.mark.parametrize("taken", ["link", "dangling", "file"])
def test_a_folder_of_another_thing_is_refused_before_anything_is_written(
    runs: list[Path], tmp_path: Path, taken: str, capsys: pytest.CaptureFixture[str]
) -> None:
    elsewhere, page = tmp_path / "elsewhere", tmp_path / "two.html"
    beside = page.with_suffix("")
    if taken == "file":
        beside.write_text("mine")
    else:
        beside.symlink_to(elsewhere)
    if taken == "link":
        elsewhere.mkdir()
    assert main(["report", *map(str, runs[:4]), "--overview", "-o", str(page)]) == 2
    assert f"{beside} is not a plain folder" in capsys.readouterr().err
    assert not page.exists()
    assert not elsewhere.exists() or not list(elsewhere.iterdir())


def test_the_overview_is_written_when_all_that_it_leads_to_is_there(
    runs: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ssdlab.report import overview

    page = tmp_path / "two.html"
    assert [one.path == page for one in overview.write_overview(runs[:4], page)] == [False, False, True]
    page.unlink()
    monkeypatch.setattr(overview.source, "read_run", lambda folder: pytest.fail("it cannot be read"))
    with pytest.raises(pytest.fail.Exception):
        list(overview.write_overview(runs[:4], page))
    assert not page.exists()
