"""What a notebook shows, and what readers of Arrow take: the same figures, and every text only text."""

from __future__ import annotations

import re
import subprocess
import sys
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars
import pyarrow
import pytest

import ssdlab
from lab.synthetic import make_finished_run
from library.made import run
from ssdlab.library.ranking import Ranking
from ssdlab.model.measurement import Measurement
from ssdlab.model.notebook import ArrowColumns, table_html
from ssdlab.results import catalogue
from ssdlab.results.qualifiers import CATALOGUE

FIGURE = "qd1_random_read_iops"
HOSTILE = "<script>alert(1)</script> $x$ \u202e & 'D'"
READERS = {
    "polars": lambda table: polars.DataFrame(Stream(table)).to_dict(as_series=False),
    "pyarrow": lambda table: pyarrow.table(Stream(table)).to_pydict(),
    "duckdb": lambda table: _by_duckdb(Stream(table)),
}


class Stream:
    """A table that has nothing but Arrow's interface: a dictionary is taken for one otherwise."""

    def __init__(self, table: Any) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


def _by_duckdb(table: Stream) -> dict[str, list[Any]]:
    with duckdb.connect() as connection:
        connection.register("streamed", table)
        found = connection.sql("SELECT * FROM streamed")
        names, kinds = list(found.columns), [str(kind) for kind in found.types]
        # To fetch a time with its zone, duckdb wants one more package.
        asked = [
            f'"{name}"' if "ZONE" not in kind else "NULL" for name, kind in zip(names, kinds, strict=True)
        ]
        rows = connection.sql(f"SELECT {', '.join(asked)} FROM streamed").fetchall()
    return {name: [row[at] for row in rows] for at, name in enumerate(names)}


@pytest.fixture
def library(tmp_path: Path) -> Path:
    made: list[dict[str, Any]] = [
        {"drive_id": HOSTILE},
        {"drive_id": "WORN", "codes": ("not-fresh",)},
        {"drive_id": "HOT", "codes": ("throttled",)},
    ]
    for number, (value, changes) in enumerate(zip((3000.0, 2000.0, 9000.0), made, strict=True)):
        model = {"drive_id": changes.pop("model")} if "model" in changes else {}
        catalogue.add(
            tmp_path, run(tmp_path, number, {FIGURE: value, "b_iops": None}, **{**changes, **model})
        )
    catalogue.add(tmp_path, make_finished_run(tmp_path, seed=1, seconds=4))
    return tmp_path


class Page(HTMLParser):
    """The cells of a table, and the tags and attributes that it is made of."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.lines: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[tuple[str, str | None]] = set()
        self.inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= set(attrs)
        self.inside = tag
        if tag == "tr":
            self.rows.append([])
        elif tag in ("th", "td"):
            self.rows[-1].append("")
        elif tag == "p":
            self.lines.append("")

    def handle_endtag(self, tag: str) -> None:
        self.inside = ""

    def handle_data(self, data: str) -> None:
        if self.inside in ("th", "td"):
            self.rows[-1][-1] += data
        elif self.inside in ("p", "strong"):
            self.lines[-1] += data

    def column(self, name: str) -> list[str]:
        head, *rows = self.rows
        return [row[head.index(name)] for row in rows]


def page_of(shown: Any) -> Page:
    """What a notebook is given: nothing runs in it, and no colour is fixed."""
    text = shown._repr_html_()
    page = Page(text)
    assert page.tags <= {"div", "p", "strong", "table", "thead", "tbody", "tr", "th", "td"}
    assert {name for name, _ in page.attributes} <= {"class", "style"}
    styles = {value for name, value in page.attributes if name == "style"}
    assert styles <= {"text-align: left", "text-align: right"}
    assert len({len(row) for row in page.rows}) == 1
    assert "\u202e" not in text
    return page


def test_text_of_others_is_text_and_nothing_more() -> None:
    page = Page(table_html(HOSTILE, [HOSTILE], [HOSTILE, "n"], [[HOSTILE, "1"]], [HOSTILE]))
    shown = HOSTILE.replace("\u202e", r"\u202e")
    assert page.rows == [[shown, "n"], [shown, "1"]] and set(page.lines) == {shown}
    assert page.tags.isdisjoint({"script"})
    (classes,) = {value for name, value in page.attributes if name == "class"}
    assert {"tex2jax_ignore", "mathjax_ignore"} <= set(str(classes).split()), "dollars are no formula"


def test_a_ranking_shows_places_figures_and_what_is_the_matter(library: Path) -> None:
    with ssdlab.library(library, form="numpy") as opened:
        found = opened.rank("qd1_random_read")
    assert isinstance(found, Ranking) and [line.value for line in found.lines] == [3000.0, 2000.0]
    page = page_of(found)
    assert page.column("median") == ["3.00k IOPS", "2.00k IOPS"]
    assert page.column("qualifiers") == ["", CATALOGUE["not-fresh"].label]
    assert any(CATALOGUE["not-fresh"].sentence in line for line in page.lines)
    assert any(CATALOGUE["throttled"].label in line for line in page.lines), "and what was left out"


def test_a_comparison_shows_both_sides_and_the_verdict(library: Path) -> None:
    with ssdlab.library(library, form="numpy") as opened:
        fast, worn, hot = (each for each in opened.runs()["folder"] if "qd1" in each)
        found = opened.compare(fast, worn, f"{FIGURE} < -5%")
        page = page_of(found)
        assert (page.column("base")[0], page.column("new")[0]) == (
            "3.00k IOPS",
            f"2.00k IOPS ({CATALOGUE['not-fresh'].label})",
        )
        assert any(found.judged[0].outcome in line for line in page.lines)
        unfit = opened.compare(fast, hot)
        assert unfit.figures[0].shift is None and "shift" not in page_of(unfit).rows[0]
        with pytest.raises(ssdlab.UsageError):
            opened.compare(fast, worn, "p99")


def test_a_result_shows_the_figures_of_its_run(library: Path) -> None:
    with ssdlab.library(library, form="numpy") as opened:
        *_, hot, peak = opened.runs()["folder"]
        page = page_of(opened.result(hot))
        assert page.column("value")[0] == "9.00k IOPS"
        assert set(page.column("qualifiers")) == {CATALOGUE["throttled"].label}
        found = opened.result(peak)
        assert page_of(found).column("value") == [figure.words for _, figure in found.figures]
        with pytest.raises(ssdlab.UsageError):
            opened.result("nosuch")


@pytest.mark.parametrize("reader", READERS)
def test_a_library_is_a_table_of_its_figures(library: Path, reader: str) -> None:
    with ssdlab.library(library, form="numpy") as opened:
        stream = Stream(opened)
        held = stream.__arrow_c_stream__()  # one that nobody reads keeps nobody waiting
        known = opened.figures()
        found = READERS[reader](stream)
        del held
    assert list(found) == list(known)
    for name in ("folder", "name", "value", "unfit", "marks", "spare", "quick"):
        values = known[name]
        missing = (
            np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else [False] * len(values)
        )
        plain = [None if gone else value for value, gone in zip(values.tolist(), missing, strict=True)]
        assert found[name] == plain, name
    assert None in found["value"] and None in found["unfit"]
    assert [list(tags) for tags in found["tags"]] == [list(tags) for tags in known["tags"]]
    if reader != "duckdb":
        moments = [datetime.fromisoformat(str(each)) for each in known["created"]]
        assert [each.astimezone(UTC) for each in found["created"]] == moments
        assert all(each.tzinfo is not None for each in found["created"])


def test_a_stream_outlives_its_library(library: Path) -> None:
    with ssdlab.library(library, form="numpy") as opened:
        capsule = opened.__arrow_c_stream__()
        runs = opened.runs()

    class Held:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return capsule

    assert polars.DataFrame(Held()).height == 8
    assert polars.DataFrame(Stream(runs)).schema["variant"] == polars.String


def test_text_that_is_missing_everywhere_is_text_all_the_same() -> None:
    gone = np.ma.masked_all(3, dtype=object)
    found = polars.DataFrame(Stream(ArrowColumns({'a "b"': gone, "n": np.arange(3)}, {'a "b"': "VARCHAR"})))
    assert found.schema == {'a "b"': polars.String, "n": polars.Int64}


@pytest.mark.parametrize("table", ["series", "hist"])
def test_each_table_of_a_run_can_be_had(library: Path, table: Any) -> None:
    with ssdlab.library(library, form="polars") as opened:
        (run_name,) = (each for each in opened.runs()["folder"] if "peak" in each)
        found = opened.series(run_name, table)
        assert found.height > 0 and set(found["direction"]) == {"read"}
        with pytest.raises(ssdlab.UsageError, match="hist"):
            opened.series(run_name, "histo")  # type: ignore[arg-type]
        with pytest.raises(ssdlab.LabError):
            opened.series(run_name, "ios")  # none was logged


@pytest.fixture(scope="module")
def measured() -> Measurement:
    """Twenty intervals, some of which have no read or no write."""
    return ssdlab.measure(
        "sim:tiny-test,scale=4",
        rw="randrw",
        rate=3,
        seconds=2,
        interval="100ms",
        precondition="fill",
        fsync=1,
    )


@pytest.mark.parametrize("reader", READERS)
def test_a_measurement_is_a_table_of_its_intervals(measured: Measurement, reader: str) -> None:
    found = READERS[reader](measured)
    (stream,) = measured.streams
    for direction in ("read", "write"):
        at = [place for place, name in enumerate(found["direction"]) if name == direction]
        rows = measured.rows(stream, direction)
        assert list(found) == ["stream", "direction", *rows]
        for name, column in rows.items():
            latency = name.startswith(("service_", "response_"))
            plain = [None if latency and not value else value for value in column.tolist()]
            assert [found[name][place] for place in at] == plain, name
        assert None in [found["service_p99_ns"][place] for place in at]
    assert set(found["direction"]) == {"read", "write"}, "a flush is no I/O"


def test_histograms_hold_every_io_and_every_flush(measured: Measurement) -> None:
    summary = measured.summary()
    assert summary.flush is not None
    found = polars.DataFrame(Stream(measured.histograms()))
    counts = {
        (direction, clock): count
        for direction, clock, count in found.group_by("direction", "clock")
        .agg(polars.col("count").sum())
        .iter_rows()
    }
    assert counts == {
        **{
            (name, clock): side.ios
            for name, side in summary.sides.items()
            for clock in ("service", "response")
        },
        ("flush", "service"): summary.flush.flushes,
    }


def test_a_measurement_shows_itself(measured: Measurement) -> None:
    page = page_of(measured)
    summary = measured.summary()
    shown = [row for row in page.rows[1:] if row[0]]
    assert [row[0] for row in shown] == ["read", "write", "flush"]
    for row, side in zip(shown, summary.sides.values(), strict=False):
        assert int(re.sub(r"\D.*", "", row[3])) == side.ios
    text = " ".join(page.lines)
    assert all(each.what in text for each in summary.warnings or ())


@pytest.mark.long
def test_no_other_package_is_needed(library: Path) -> None:
    """Of a reader's own packages none is imported, even where they are there."""
    text = (
        "import sys\n"
        "for name in ('pyarrow', 'pandas', 'nanoarrow'): sys.modules[name] = None\n"
        "import polars, ssdlab\n"
        f"with ssdlab.library({str(library)!r}, form='polars') as opened:\n"
        "    assert polars.DataFrame(opened).height == opened.figures().height == 8\n"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
