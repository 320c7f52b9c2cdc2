"""Every number in every table of a page, walked: it is in the manifest or journal of its run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

import duckdb
import pytest

from report.conftest import METHODS, invented
from ssdlab.cli import main
from ssdlab.model import units
from ssdlab.report import page, source
from ssdlab.report.runs import shown
from ssdlab.results import cells
from ssdlab.results.run_folder import RunFolder
from ssdlab.results.schema import Child
from ssdlab.results.store import find_run

pytestmark = pytest.mark.long

DRIVES = ("sim:tiny-test,scale=4", "sim:nvme-tlc-client,scale=64")
REVIEW = """
schema = "ssdlab.review/1"
name = "tables"
title = "Tables"

[[part]]
method = "peak-random-read"
begins = "written"
set = { fill = true, depths = [1, 8], seconds = 0.2, ramp_seconds = 0 }

[[part]]
method = "consistency"
begins = "fresh"
set = { seconds = 2, spares = [0, 25] }

[[part]]
method = "mixed-random"

[part.set]
depths = [8]
seconds = 0.2
ramp_seconds = 0
overwrites = 0.5
least_seconds = 0.2
most_seconds = 20
round_seconds = 0.2
"""
OF_TELEMETRY = "Changes of the drive's counters"
"""The one table that is made of another file: tests/telemetry holds it."""
INTERVALS = """
    WITH whole AS (
        SELECT ordinal, stream, direction, ios * 1e9 / (end_ns - start_ns) AS iops, response_max_ns AS longest
        FROM read_parquet('{}') WHERE NOT ramp AND NOT partial
    )
    SELECT count(*), min(iops), quantile_cont(iops, 0.01), median(iops), avg(iops), max(iops),
        stddev_pop(iops) / nullif(avg(iops), 0), count(*) FILTER (iops = 0), max(longest)
    FROM whole GROUP BY ordinal, stream, direction
"""
FORMS = (
    cells.count,
    cells.iops,
    cells.throughput,
    cells.latency,
    cells.plain,
    cells.share,
    cells.seconds,
)
"""How a number is written; `data-value` holds it as it is."""


@dataclass
class Cell:
    """A cell of the body of a table: its text, and the exact value behind it."""

    text: str = ""
    value: str | None = None
    numeric: bool = False


@dataclass
class Tables(HTMLParser):
    """The rows of all tables of a page, each with the name of the table."""

    rows: list[tuple[str, list[Cell]]] = field(default_factory=list)
    _name: str = ""
    _row: list[Cell] | None = None
    _at: str = ""

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if tag == "caption":
            self._name, self._at = "", tag
        elif tag == "tr":
            self._row = []
        elif tag in ("td", "th") and self._row is not None:
            numeric = tag == "td" and ("data-value" in found or found.get("class") == "n")
            self._row.append(Cell(value=found.get("data-value"), numeric=numeric))
            self._at = tag

    def handle_endtag(self, tag: str) -> None:
        if tag == self._at:
            self._at = ""
        elif tag == "tr" and self._row is not None:
            self.rows.append((self._name, self._row))
            self._row = None

    def handle_data(self, data: str) -> None:
        if self._at == "caption":
            self._name += data
        elif self._at and self._row:
            self._row[-1].text += data


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Folders of the runs of three methods on two simulated drives."""
    folder = tmp_path_factory.mktemp("tables")
    (folder / "tables.toml").write_text(REVIEW)
    assert main(["run", str(folder / "tables.toml"), *DRIVES, "--library", str(folder / "library")]) == 0
    suites = [folder / "library" / each.run_id for each in children(find_run("last", folder / "library"))]
    return [suite.parent / each.run_id for suite in suites for each in children(suite)]


@pytest.fixture(scope="module")
def made_up(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Folders of invented runs of three other methods, of two drives."""
    folder = tmp_path_factory.mktemp("made-up")
    return [
        invented(folder / f"{at}-{method}", method, seed=at, drive={"id": f"S{at}", "name": name})
        for at, name in ((1, "Elm E8"), (2, "Elm E9"))
        for method in METHODS
    ]


@pytest.mark.parametrize("of", ["compared", "made_up"])
def test_every_number_is_one_of_the_run_that_its_row_names(of: str, request: pytest.FixtureRequest) -> None:
    folders: list[Path] = request.getfixturevalue(of)
    runs = [source.read_run(folder) for folder in folders]
    of_label: dict[str, set[str]] = {}
    for one, folder in zip(shown(runs), folders, strict=True):
        of_label.setdefault(one.label, set()).update(known(folder))
    everything = set().union(*of_label.values())
    walked, wrong = 0, []
    for name, row in rows(page.render(runs)):
        label = next((cell.text.strip() for cell in row if cell.text.strip() in of_label), None)
        held = everything if label is None else of_label[label]
        for cell in row:
            if not cell.numeric or cell.text.strip() in ("", cells.NOTHING) or name == OF_TELEMETRY:
                continue
            walked += 1
            value = number(cell)
            if value is None or f"{value:.9g}" not in held or not is_written(cell, value):
                wrong.append((name, label, cell))
    assert walked > 200
    assert wrong == [], f"{len(wrong)}: {wrong[:20]}"


def test_every_point_of_every_manifest_is_in_a_table(made_up: list[Path]) -> None:
    runs = [source.read_run(folder) for folder in made_up]
    found = {number(cell) for _, row in rows(page.render(runs)) for cell in row if cell.numeric}
    points = [point for run in runs for point in getattr(run.result, "points", ())]
    assert len(points) > 20
    for point in points:
        assert {point.iops, point.mb_s, (point.service_ns or {})["mean"]} <= found, point.label


def rows(html: str) -> list[tuple[str, list[Cell]]]:
    """Return the rows of all tables of a page."""
    tables = Tables()
    tables.feed(html)
    return tables.rows


def children(folder: Path) -> tuple[Child, ...]:
    """Return the runs that a comparison or a suite is of."""
    return RunFolder(folder).manifest.children


def number(cell: Cell) -> float | None:
    """Return the exact number of a cell; None where it has none."""
    try:
        return float(cell.text.replace(cells.THIN_SPACE, "") if cell.value is None else cell.value)
    except ValueError:
        return None


def is_written(cell: Cell, value: float) -> bool:
    """Say whether the text of a cell is that of its value, in some unit."""
    text = cell.text.strip()
    whole = int(value) if value == int(value) else None
    made = [form(whole if form is cells.count else value).text for form in FORMS]
    made += [] if whole is None else [str(whole), units.block_text(whole), units.capacity_text(whole)]
    return text in made


def known(folder: Path) -> set[str]:
    """Return every number of a run's manifest, journal and intervals, to nine digits: sums are rounded."""
    texts = [(folder / "manifest.json").read_text()]
    texts += (folder / "journal.jsonl").read_text().splitlines()
    found = {value for text in texts for value in flat(json.loads(text))}
    with duckdb.connect() as connection:
        rows = connection.execute(INTERVALS.format(folder / "series.parquet")).fetchall()
    found |= {float(value) for row in rows for value in row if value is not None}
    return {f"{value:.9g}" for value in found}


def flat(content: object) -> Iterator[float]:
    """Yield every number within a document, and the ratios that pages print."""
    if isinstance(content, int | float):
        yield float(content)
    elif isinstance(content, list):
        for each in content:
            yield from flat(each)
    elif isinstance(content, dict):
        if watts := content.get("mean_w"):
            yield from (content.get("mb_s", 0) / watts, content.get("iops", 0) / 1e3 / watts)
        if cores := content.get("cores"):
            yield content.get("threads", 0) / cores
        for each in content.values():
            yield from flat(each)
