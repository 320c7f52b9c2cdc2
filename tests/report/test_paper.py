"""`ssdlab report --pdf`: all that a page holds back on a screen is on paper."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from report.browser import Browser
from ssdlab.cli import main
from ssdlab.report import page, paper, source
from ssdlab.report.charts import SeriesChart
from ssdlab.report.pictures import pressings


def text_of(pdf: Path) -> str:
    """The letters of a PDF, in the order in which they were set."""
    program = shutil.which("pdftotext")
    if program is None:
        pytest.skip("pdftotext is not installed")
    found = subprocess.run([program, "-raw", pdf, "-"], capture_output=True, text=True, check=True).stdout
    return "".join(found.split())


def test_paper_has_every_view_table_and_closed_part(
    make_run: Callable[..., Path], tmp_path: Path, chromium: str
) -> None:
    runs = [source.read_run(make_run("peak-random-read"))]
    _, sections = page.contents(runs)
    html = page.render(runs, printed=True)
    figures = {part.split('"', 1)[0]: part for part in html.split('<figure id="')[1:]}
    for figure in (figure for section in sections for figure in section.figures):
        views = len(list(pressings(figure.chart)))
        assert figures[figure.id].count('<img class="still"') == views > 0
        assert views > 1 or not figure.buttons or isinstance(figure.chart, SeriesChart)
    assert "<script" not in html
    assert set(re.findall(r"<details(?! open)[^>]*>", html)) <= {
        '<details class="step">',
        '<details class="steps">',
        '<details class="points">',
    }
    file = tmp_path / "page.pdf"
    assert paper.write_pdf(runs, file) == file.stat().st_size
    words = text_of(file)
    for table in (table for section in sections for figure in section.figures for table in figure.tables):
        for row in table.rows:
            assert all("".join(cell.text.split()) in words for cell in row if cell.numeric), table.caption


def test_a_pdf_of_ours_is_replaced_and_nothing_else(
    make_run: Callable[..., Path], tmp_path: Path, chromium: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "render", lambda runs, claims, printed: "<!doctype html><title>x</title>")
    monkeypatch.setattr(paper, "render", page.render)
    line = ["report", str(make_run()), "--pdf", "-o", str(tmp_path / "page.pdf")]
    assert main(line) == 0
    assert main(line) == 0
    (tmp_path / "page.pdf").write_bytes(b"%PDF-1.4\n1 0 obj\n<</Creator (HeadlessChrome)>>")
    assert main(line) == 2


def test_without_chromium_it_is_refused_and_nothing_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paper, "find_program", lambda name: None)
    assert main(["report", "nothing", "--pdf", "-o", str(tmp_path / "page.pdf")]) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2
    assert "Chromium, which is not installed" in said[0]
    assert "install the package chromium" in said[1].lower()


@pytest.mark.browser
def test_what_is_closed_is_printed_from_a_browser_too(web_browser: Browser, built: Path) -> None:
    web_browser.open(built)
    web_browser.drawn()
    closed = "document.querySelectorAll('details:not([open]):not(.step, .steps, .points)').length"
    before = web_browser.run(closed)
    assert before > 5
    web_browser.run("window.dispatchEvent(new Event('beforeprint'))")
    assert web_browser.run(closed) == 0
    web_browser.run("window.dispatchEvent(new Event('afterprint'))")
    assert web_browser.run(closed) == before


@pytest.mark.parametrize(
    ("words", "name", "advice"),
    [(["--pdf"], "page.html", "page.pdf, or leave --pdf out"), ([], "page.PDF", "page.html, or add --pdf")],
)
def test_a_name_of_the_other_kind_is_refused(
    words: list[str], name: str, advice: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", "nothing", *words, "-o", str(tmp_path / name)]) == 2
    assert capsys.readouterr().err.rstrip().endswith(advice)
    assert not list(tmp_path.iterdir())
