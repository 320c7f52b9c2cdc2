"""Tables on paper: none is wider than the sheet, and a part of one can be read by itself."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from report.browser import Browser
from report.conftest import METHODS, invented
from ssdlab.report import on_paper, page, source
from ssdlab.report.sections.specifications import text
from ssdlab.report.templating import SHEET, parts
from ssdlab.results.cells import Cell, Table, of_run, plain, words

SHEET_PX = 703
"""A sheet of A4 without its margins, 186 mm, in pixels of a style sheet."""


def shown(table: Table) -> list[list[str]]:
    return [[cell.text for cell in row] for row in table.rows]


def test_a_table_that_fits_is_left_as_it_is() -> None:
    table = Table("Small", ("Load", "W"), ((words("1x"), plain(3.0)),))
    assert parts(table, ()) == (table,)


def test_each_part_names_the_rows_and_no_column_is_lost_or_twice() -> None:
    head = ("", *(f"drive-{at}-of-twelve" for at in range(12)))
    table = Table(
        "Drives",
        head,
        tuple((words(f"row {row}"), *(words(f"{row}.{at}") for at in range(12))) for row in range(3)),
    )
    found = parts(table, ())
    assert len(found) > 1
    assert [each.caption for each in found] == [
        f"Drives, part {at} of {len(found)}" for at in range(1, len(found) + 1)
    ]
    assert [title for each in found for title in each.head[1:]] == list(head[1:])
    for at, row in enumerate(table.rows):
        assert all(each.rows[at][0] == row[0] for each in found)
        assert [cell for each in found for cell in each.rows[at][1:]] == list(row[1:])
    assert max(len(each.head) for each in found) - min(len(each.head) for each in found) <= 1


def test_rows_are_named_by_as_many_columns_as_tell_them_apart() -> None:
    rows = tuple(
        (of_run("", run), words(method), *(words("a rather long word" * 2) for _ in range(6)))
        for run in (0, 1)
        for method in ("read", "write")
    )
    found = parts(Table("Both", ("Run", "Method", *"abcdef"), rows), ("Elm", "Hazel"))
    assert len(found) > 1
    assert {each.head[:2] for each in found} == {("Run", "Method")}


def test_a_reason_stands_across_the_columns_of_each_part() -> None:
    rows = (
        (words("Elm"), *(words("x" * 20) for _ in range(8))),
        (words("Oak"), Cell("was left out", numeric=False, span=8)),
    )
    for each in parts(Table("T", ("Drive", *"abcdefgh"), rows), ()):
        assert [cell.text for cell in each.rows[1]] == ["Oak", "was left out"]
        assert each.rows[1][1].span == len(each.head) - 1


def test_whatever_the_table_its_columns_stand_once_in_order() -> None:
    draw = random.Random(5)
    for _ in range(200):
        columns = draw.randrange(2, 20)
        head = tuple(f"c{at}" for at in range(columns))
        rows = tuple(
            tuple(words("w" * draw.randrange(1, 60)) for _ in head) for _ in range(draw.randrange(1, 4))
        )
        found = parts(Table("T", head, rows), (), SHEET)
        keys = next(
            at
            for at in range(columns)
            if len(found) == 1 or found[0].head[: at + 1] != found[1].head[: at + 1]
        )
        assert [title for at, each in enumerate(found) for title in each.head[keys if at else 0 :]] == list(
            head
        )


def test_a_long_list_of_a_step_is_told_by_its_count_and_range() -> None:
    assert text([2801.65] * 500) == "500 values, 2801.65"
    assert text([3.5, *range(20)]) == "21 values, 0 to 19"
    assert text([str(at) for at in range(14)]) == "0, 1, 2, 3 and 10 more"
    assert text([1, 2, 3]) == "1, 2, 3"


@pytest.mark.outside
@pytest.mark.long
def test_nothing_on_paper_is_wider_than_the_sheet(
    web_browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seven drives with names as long as those of articles: every table of the page was cut at its right."""
    monkeypatch.setattr(on_paper, "FEW_RUNS", 100)  # every table stands on it
    runs = [
        invented(
            tmp_path / f"{at}-{method}",
            method,
            seed=at + 1,
            drive={
                "id": f"SN{at}" * 12,
                "name": f"northwind-enterprise-nx{4100 + 17 * at}-3.84tb",
                "kind": "block",
            },
        )
        for at in range(7)
        for method in METHODS
    ]
    file = tmp_path / "page.html"
    file.write_text(page.render([source.read_run(run) for run in runs], printed=True))
    web_browser.open(file, width=SHEET_PX, media="print")
    assert web_browser.run("document.querySelectorAll('table').length") > 20
    over = web_browser.run(
        "[...document.querySelectorAll('body *')].filter((one) => !one.closest('.unseen'))"
        ".filter((one) => one.getBoundingClientRect().right > document.documentElement.clientWidth + 1)"
        ".map((one) => `${one.tagName} ${one.closest('[aria-label]')?.ariaLabel}`)"
    )
    assert over == []
    assert web_browser.run("document.querySelectorAll('[aria-label*=\", part 2 of\"]').length") >= 2
