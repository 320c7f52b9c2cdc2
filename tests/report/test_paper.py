"""`ssdlab report --pdf`: all that a page holds back on a screen is on paper."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

from conftest import tool
from report.browser import Browser
from report.conftest import invented
from ssdlab.cli import main
from ssdlab.report import on_paper, page, paper, source
from ssdlab.report.charts import Axis, BarsChart, BarsView, SeriesChart
from ssdlab.report.edition import PLAIN
from ssdlab.report.engine import static
from ssdlab.report.on_paper import without_repetition
from ssdlab.report.outline import Chapter, Outline
from ssdlab.report.pictures import pressings
from ssdlab.report.runs import shown
from ssdlab.report.sections.provenance import AsBefore, Panel, PanelTable
from ssdlab.report.sections.top import Top
from ssdlab.report.view import Exhibit, Figure, Section
from ssdlab.results.cells import Table, words


def text_of(pdf: Path) -> str:
    """The letters of a PDF, in the order in which they were set."""
    program = tool("pdftotext", "poppler-utils")
    found = subprocess.run([program, "-raw", pdf, "-"], capture_output=True, text=True, check=True).stdout
    return "".join(found.split())


@pytest.mark.long
def test_paper_has_every_view_table_and_closed_part(
    make_run: Callable[..., Path], tmp_path: Path, chromium: str
) -> None:
    runs = [source.read_run(make_run("peak-random-read"))]
    _, sections = page.contents(runs)
    html = page.render(runs, replace(PLAIN, full=True), printed=True)
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
    monkeypatch.setattr(page, "render", lambda runs, edition, printed: "<!doctype html><title>x</title>")
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


@pytest.mark.outside
@pytest.mark.long
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


@pytest.mark.outside
@pytest.mark.long
def test_tables_of_hundreds_of_rows_are_not_printed_from_a_browser(
    web_browser: Browser, make_run: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_paper, "MAX_ROWS", 3)
    (tmp_path / "page.html").write_text(page.render([source.read_run(make_run())]))
    web_browser.open(tmp_path / "page.html")
    web_browser.drawn()
    web_browser.run("window.dispatchEvent(new Event('beforeprint'))")
    assert web_browser.run("document.querySelectorAll('details.vast').length") > 0
    assert web_browser.run("document.querySelectorAll('details.vast[open]').length") == 0


@pytest.mark.parametrize(
    ("words", "name", "advice"),
    [(["--pdf"], "page.html", "page.pdf, or leave out --pdf"), ([], "page.PDF", "page.html, or add --pdf")],
)
def test_a_name_of_the_other_kind_is_refused(
    words: list[str], name: str, advice: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", "nothing", *words, "-o", str(tmp_path / name)]) == 2
    assert capsys.readouterr().err.rstrip().endswith(advice)
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> list[source.Run]:
    """Two methods on four drives: more than a few runs."""
    folder = tmp_path_factory.mktemp("many")
    return [
        source.read_run(
            invented(
                folder / f"{at}-{method}", method, seed=at + 1, drive={"id": f"S{at}", "name": f"Elm {at}"}
            )
        )
        for at in range(4)
        for method in ("qd1", "peak-random-read")
    ]


@pytest.mark.long
def test_of_many_runs_long_tables_and_all_facts_stay_in_the_page(many: list[source.Run]) -> None:
    _, sections = page.contents(many)
    html = unescape(page.render(many, replace(PLAIN, full=True), printed=True))
    long = [
        (figure.id, table)
        for section in sections
        for figure in section.figures
        for table in figure.tables
        if len(table.rows) > on_paper.MAX_ROWS_OF_MANY
    ]
    assert long
    figures = {part.split('"', 1)[0]: part for part in html.split('<figure id="')[1:]}
    for figure, table in long:
        assert f"{table.caption}: {len(table.rows)} rows, only in the page on screen." in figures[figure]
        assert f"<caption>{table.caption}" not in figures[figure]
    panels = html[html.index('<section id="measured">') :]
    assert panels.count("<caption>Parameters</caption>") == 1, "those of all are alike"
    assert "Steps that count" in panels and "<caption>Steps that count" not in panels


def test_a_table_that_stood_before_is_referred_to() -> None:
    alike = Table("Rates", ("Run", "Rate"), ((words("Elm"), words("1")),))
    chart = BarsChart((BarsView("", Axis("IOPS", "iops"), "higher", ()),))
    first = Figure("a", "Depths", "", "", chart, (alike,), ())
    section = Section("s", "S", (), (0,), (first, replace(first, id="b", title="Bars")))
    chapters = (Chapter("", "", "", (section,)),)
    whole = Outline(Top((), (), (), Table("", (), ())), (), chapters, leading=frozenset({"a", "b"}))
    order = on_paper.on_paper(whole, 1, full=True)
    (one, other) = order.sections[0].figures
    assert (one.tables, one.left) == ((alike,), ())
    assert (other.tables, other.left) == ((), ("Rates: same as under Depths.",))


@pytest.mark.long
def test_paper_asks_for_no_click_and_its_first_sheet_is_full(
    many: list[source.Run], tmp_path: Path, chromium: str
) -> None:
    """Words of buttons were printed; and cards, higher than what the head leaves of it, began the next."""
    file = tmp_path / "many.pdf"
    paper.write_pdf(many, file)
    said = text_of(file)
    for asked in ("moreofit", "Dragtozoom", "Showthenumbers", "Resetzoom", "SaveCSV", "everybutton"):
        assert asked not in said
    assert "Numbers" in said
    program = shutil.which("pdftotext")
    assert program is not None
    first = subprocess.run([program, "-l", "1", file, "-"], capture_output=True, text=True, check=True).stdout
    assert "throughputatoneI/Oinflight" in "".join(first.split()), "the first chart is on it"


def test_paper_of_a_folded_page_tells_of_nothing_that_is_not_on_it() -> None:
    """ "40 rows, in the page on a screen" stood under each chart, and headings over closed tables alone."""
    long = Table("Rates", ("Run",), tuple((words(str(at)),) for at in range(200)))
    short = replace(long, rows=long.rows[:3])
    chart = BarsChart((BarsView("", Axis("IOPS", "iops"), "higher", ()),))
    figures = (Figure("a", "A", "", "", chart, (long,), ()), Figure("b", "B", "", "", chart, (long,), ()))
    exhibits = (
        Exhibit("Long", "", (long,)),
        Exhibit("Both", "", (short, long)),
        Exhibit("Words", "Said.", ()),
    )
    section = Section("s", "S", (), (0,), figures, exhibits)
    order = Outline(
        Top((), (), (), Table("", (), ())), (), (Chapter("", "", "", (section,)),), leading=frozenset({"a"})
    )
    (found,) = on_paper.on_paper(order, 8, full=False).sections
    assert not any(figure.left for figure in found.figures)
    assert [(each.title, each.tables) for each in found.exhibits] == [("Both", (short,)), ("Words", ())]
    whole = replace(order, leading=frozenset({"a", "b"}))
    assert on_paper.on_paper(whole, 8, full=False).sections[0].exhibits == exhibits


def panel(run: int, prose: str, **tables: dict[str, str]) -> Panel:
    made = tuple(
        PanelTable(
            caption,
            ("What", "Found"),
            tuple((words(key), words(value)) for key, value in rows.items()),
            name=caption,
            kept=caption == "Set",
        )
        for caption, rows in tables.items()
    )
    return Panel(run, f"Elm {run}", "QD 1", (), prose, made, (), ())


def test_what_runs_have_in_common_is_printed_once_and_nothing_is_lost() -> None:
    host = {"kernel": "6.18", "cpu": "E1", "load": "0.1"}
    panels = (
        panel(0, "One at a time.", Host=host, Steps={"1": "1 ms", "2": "2 ms"}),
        panel(1, "One at a time.", Host=host | {"load": "0.2"}, Steps={"1": "3 ms", "2": "4 ms"}),
        panel(2, "Another.", Host=host, Steps={"1": "1 ms"}),
        panel(3, "Another.", Host={"kernel": "6.18", "cpu": "E1"}),
    )
    first, second, third, fourth = without_repetition(panels)
    assert first == panels[0]
    assert second.prose == "" and second.as_before == (
        AsBefore("The method in full: same as for Elm 0: QD 1.", True),
    )
    assert [(each.caption, [[cell.text for cell in row] for row in each.rows]) for each in second.tables] == [
        ("Host, where it differs from that of Elm 0: QD 1", [["load", "0.2"]]),
        ("Steps", [["1", "3 ms"], ["2", "4 ms"]]),
    ]
    assert third.prose == "Another." and third.as_before == (
        AsBefore("Host: same as for Elm 0: QD 1.", False),
    )
    assert third.tables == panels[2].tables[1:]
    # A line that it lacks would be taken for one that is the same.
    assert fourth.tables == panels[3].tables


def test_paper_of_many_runs_keeps_tables_by_what_they_are_and_not_by_their_captions() -> None:
    """The method and what was set; of the rest what it is called, whatever its caption says beside it."""
    host = {"kernel": "6.18", "cpu": "E1, 8 cores", "load": "0.1"}
    panels = [
        panel(at, "One at a time.", Set={"depth": "1"}, Parameters={"x": "1"}, Host=host | {"load": f"{at}"})
        for at in range(on_paper.FEW_RUNS + 1)
    ]
    first, second, *_ = on_paper.shortened(without_repetition(panels))
    assert [table.caption for table in first.tables] == ["Set"]
    assert [each.line for each in first.as_before] == ["Parameters; Host: only in the page on screen."]
    assert second.tables == ()
    assert [each.line for each in second.as_before] == [
        "The method in full: same as for Elm 0: QD 1.",
        "Set: same as for Elm 0: QD 1.",
        "Host: only in the page on screen.",
    ]


def test_a_table_on_paper_names_a_run_so_that_its_row_is_one_line(make_run: Callable[..., Path]) -> None:
    """The whole name, in a narrow column of a wide table, made each row six lines high."""
    other = {"id": "S9", "name": "Hazel 9", "kind": "block"}
    folders = (make_run("peak-random-read"), make_run("peak-random-read", drive=other, seed=9))
    runs = [source.read_run(each) for each in folders]
    html = page.render(runs, printed=True)
    cells = re.findall(r'<td[^>]*><span class="run"[^>]*>.*?</svg>([^<]*)</span>', html)
    assert cells and set(map(unescape, cells)) == {one.style.short for one in shown(runs)}
    assert html.count("The method in full: same as for ") == 1


@pytest.mark.long
def test_no_row_of_a_table_stands_alone_on_a_sheet(tmp_path: Path, chromium: str) -> None:
    """Tables of 40 to 90 rows, each from the head of a sheet on: some would leave one row over."""
    tables = "".join(
        f"<h2 style='break-before: page'>{rows} rows</h2><table><tbody>"
        + "".join(f"<tr><td>row{at}</td></tr>" for at in range(rows))
        + "</tbody></table>"
        for rows in range(40, 91)
    )
    file = tmp_path / "rows.pdf"
    file.write_bytes(paper._printed(chromium, f"<style>{static('report.css')}</style>{tables}"))
    program = tool("pdftotext", "poppler-utils")
    sheets = subprocess.run([program, file, "-"], capture_output=True, text=True, check=True).stdout.split(
        "\f"
    )
    found = [len(re.findall(r"row\d+", sheet)) for sheet in sheets]
    assert 1 not in found and found.count(2) > 0, found
