"""The page: complete, self-contained, and deaf to what drive names try."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest

from report.conftest import MEAN_NAME, METHODS
from report.reading import Page
from ssdlab.cli import main
from ssdlab.report import pictures
from ssdlab.results.run_folder import read_manifest

POINTS = ("points", "corners", "block_sizes")


def numbers_of(value: Any) -> Iterator[float]:
    """Every number inside nested JSON."""
    if isinstance(value, dict):
        for inner in value.values():
            yield from numbers_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from numbers_of(inner)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield value


@pytest.mark.parametrize("method", METHODS)
def test_every_number_of_every_point_stands_in_a_table(
    method: str, make_run: Callable[..., Path], html: Callable[..., str]
) -> None:
    folder = make_run(method)
    cells = Page.of(html(folder)).cells
    result = json.loads((folder / "manifest.json").read_text())["result"]
    points = [point for key in POINTS for point in result.get(key, ())]
    found = {str(int(cell)) if "." not in cell else repr(float(cell)) for cell in cells if is_number(cell)}
    # The ordinal only says where the rows are; an attribution has words, not numbers.
    wanted = [{key: value for key, value in point.items() if key != "ordinal"} for point in points]
    lacking = [
        value for value in numbers_of(wanted) if str(value) not in found and repr(float(value)) not in found
    ]
    assert len(list(numbers_of(wanted))) > 100
    assert lacking == []


def is_number(text: str) -> bool:
    return re.fullmatch(r"-?\d+(\.\d+)?(e[+-]?\d+)?", text) is not None and text != ""


def test_a_missing_point_is_a_row_with_its_reason(
    make_run: Callable[..., Path], html: Callable[..., str]
) -> None:
    page = Page.of(html(make_run("qd1")))
    assert "the drive's logical block is 4096 B" in page.cells


def test_provenance_is_complete(make_run: Callable[..., Path], html: Callable[..., str]) -> None:
    folder = make_run("peak-random-read")
    manifest = json.loads((folder / "manifest.json").read_text())
    page = Page.of(html(folder))
    for fact in (manifest["drive"]["id"], manifest["run_id"], "1.10 TB (1099511627776 B)", "threads (sync)"):
        assert fact in page.cells, fact
    assert "ssdlab 0.1.0, release build" in page.cells
    assert "peak-random-read, version 1" in page.cells
    assert manifest["warnings"][0]["what"] in page.text
    assert "interrupted at the first attempt" in page.text


def test_a_file_is_called_a_file(make_run: Callable[..., Path], html: Callable[..., str]) -> None:
    file = {"id": "/data/scratch.img", "name": "scratch.img", "kind": "file", "text": "/data/scratch.img"}
    text = Page.of(html(make_run(drive=file))).text
    assert "File on a file system" in text
    assert "File scratch.img" in text
    assert "Real drive" not in text


def test_nothing_is_asked_of_any_server(make_run: Callable[..., Path], html: Callable[..., str]) -> None:
    text = html(*(make_run(method) for method in METHODS))
    page = Page.of(text)
    assert page.policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "http" not in page.policy
    # What begins with # is on the page itself.
    assert {each.partition(",")[0] for each in page.addresses if not each.startswith("#")} == {
        "data:",
        "data:image/svg+xml;charset=utf-8",
    }
    assert not set(page.tags) & {"iframe", "object", "embed", "video", "audio", "form", "base"}
    style = text[text.index("<style>") : text.index("</style>")]
    assert "url(" not in style
    assert "@import" not in style


def test_a_drive_name_cannot_become_markup_or_script(
    make_run: Callable[..., Path], html: Callable[..., str]
) -> None:
    drive = {"name": MEAN_NAME, "id": MEAN_NAME, "text": MEAN_NAME}
    text = html(make_run(drive=drive), make_run("qd1", drive=drive))
    page = Page.of(text)
    assert MEAN_NAME in page.text
    assert [kind for kind, _ in page.scripts] == ["application/gzip"] * 3 + [""]
    for kind, script in page.scripts:
        if kind:
            json.loads(script)
    assert page.tags.count("img") == text.count('<noscript><img class="still"')
    assert "</script" not in page.scripts[-1][1]


def test_the_whole_run_is_inside_for_download(
    make_run: Callable[..., Path], html: Callable[..., str]
) -> None:
    folder = make_run("peak-random-read")
    page = Page.of(html(folder))
    embedded = [json.loads(script) for kind, script in page.scripts if kind]
    stored = json.loads((folder / "manifest.json").read_text())
    assert embedded[0]["result"] == stored["result"]
    assert embedded[0]["run_id"] == stored["run_id"]


def test_equal_runs_give_equal_pages(make_run: Callable[..., Path], html: Callable[..., str]) -> None:
    folder = make_run("peak-random-read")
    assert html(folder) == html(folder)


@pytest.mark.parametrize("method", ["qd1", "peak-random-read"])
def test_without_scripts_every_figure_has_a_picture(
    make_run: Callable[..., Path], html: Callable[..., str], method: str
) -> None:
    figures = html(make_run(method)).split("<figure ")[1:]
    assert len(figures) > 4
    for figure in figures:
        (picture,) = re.findall(
            r'<noscript><img class="still" [^>]*src="data:image/svg\+xml;charset=utf-8,([^"]*)"', figure
        )
        svg = ElementTree.fromstring(unquote(unescape(picture)))
        assert svg.find("{*}title").text
        assert len(svg.findall(".//{*}path")) > 3


def test_without_the_extra_for_pictures_the_page_has_its_tables(
    make_run: Callable[..., Path], html: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pictures, "available", lambda: False)
    text = html(make_run("peak-random-read"))
    assert '<img class="still"' not in text
    assert "Show the </span>numbers" in text


def test_the_size_of_a_page_is_that_of_the_library_and_little_more(
    make_run: Callable[..., Path], html: Callable[..., str]
) -> None:
    from importlib import resources

    library = len(resources.files("ssdlab.report").joinpath("static", "report.js").read_bytes())
    size = len(html(make_run("peak-random-read", seconds=2000)).encode())
    assert size - library < 400_000


@pytest.mark.long
def test_what_leads_a_page_are_figures_and_findings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], html: Callable[..., str]
) -> None:
    """Of a quick run, which departs in many parameters and warns of what a short run does not show."""
    drive = "sim:tiny-test,scale=4"
    words = ["run", "pts-throughput", drive, "--quick", "--seed", "3", "--library", str(tmp_path)]
    assert main(words) == 0
    (folder,) = (path.parent for path in tmp_path.glob("*/manifest.json"))
    capsys.readouterr()
    assert main(["show", str(folder), "--all"]) == 0
    out = capsys.readouterr().out
    shown = " ".join(out.split())
    manifest = read_manifest(folder)
    shorter = [each for each in manifest.departures if each.code.startswith("parameter-")]
    assert len(shorter) > 1 and manifest.warnings, "the scene is a run with much to mind"
    text = html(folder)
    chart, banner = text.index('class="top-chart'), text.index('class="banner')
    assert chart < banner < text.index("<h2>")
    assert shown.count("quick: ") == 1, "one sentence, not a line for each"
    assert all(each.what in shown for each in shorter)
    told = Page.of(text[: text.index("<h2>")]).text
    assert told.count("quick run") == 1 and not any(each.what in told for each in shorter)
    for each in shorter:
        name = each.code.removeprefix("parameter-")
        assert re.search(rf"<td[^>]*>{name}</td>", text), "it stands among the parameters, with its default"
    first = out[out.index("quick   ") :].split("\n\n")[1]
    assert first.startswith("Throughput by PTS-E")
    assert 0 < out.index(first) < out.index("departure:")
    assert manifest.departures[-1].code != "quick", "the manifest keeps each by itself"
