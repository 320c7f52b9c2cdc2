"""The library from Python: its tables hold what the manifests do."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from lab.synthetic import make_finished_run
from library.made import run
from ssdlab.library import frames
from ssdlab.results import catalogue, kin
from ssdlab.results.run_folder import RunFolder
from ssdlab.results.store import run_folders


@pytest.fixture
def library(tmp_path: Path) -> Path:
    for number in range(20):
        figures = {"a_iops": 100.0 + number, "b_iops": None, "c_p99_ns": 7.5 * number}
        catalogue.add(tmp_path, run(tmp_path, number, figures))
    catalogue.add(tmp_path, make_finished_run(tmp_path, seed=1, seconds=4))
    return tmp_path


def stated(library: Path) -> list[tuple[str, str, float]]:
    """Every figure that the manifests hold."""
    manifests = [RunFolder(folder).manifest for folder in run_folders(library)]
    return sorted(
        (manifest.run_id, figure["name"], figure["value"])
        for manifest in manifests
        for figure in (manifest.result or {})["scalars"]  # type: ignore[union-attr,index]
        if figure["value"] is not None
    )


def test_columns_hold_the_figures_of_the_manifests(library: Path) -> None:
    with ssdlab.library(library, form="numpy") as opened:
        found = opened.figures()
        lines = zip(found["folder"], found["name"], found["value"], strict=True)
        values = found["value"]
        missing = values.mask if hasattr(values, "mask") else [value != value for value in values]
        assert sum(bool(each) for each in missing) == 20
        known = [line for line, gone in zip(lines, missing, strict=True) if not gone]
        assert sorted((str(a), str(b), float(c)) for a, b, c in known) == stated(library)
        assert list(opened.figures("c_p99")["value"]) == [7.5 * number for number in range(20)]
        assert len(opened.runs()["folder"]) == 21
        catalogue.add(library, run(library, 30))
        assert len(opened.runs()["folder"]) == 22, "what is entered meanwhile is there"
        (count,) = opened.sql("SELECT count(*) AS n FROM runs WHERE engine = ?", "sync")["n"]
        assert count == 22


@pytest.mark.parametrize("form", ["pandas", "polars", "arrow"])
def test_each_form_holds_the_figures_of_the_manifests(library: Path, form: str) -> None:
    with ssdlab.library(library, form=form) as opened:
        found = opened.figures()
        assert type(found).__module__.partition(".")[0] == {"arrow": "pyarrow"}.get(form, form)
        columns = [list(_plain(found[name])) for name in ("folder", "name", "value")]
        lines = [line for line in zip(*columns, strict=True) if line[2] is not None and line[2] == line[2]]
        assert sorted(lines) == stated(library)
        assert len(_plain(opened.runs()["folder"])) == 21
        (folder,) = [each for each in run_folders(library) if "peak" in each.name]
        series = opened.series(folder.name)
        run_of = RunFolder(folder)
        told = [ios for step in run_of.steps() for ios in run_of.rows(step.ordinal)["ios"]]
        assert _plain(series["ios"]) == told
        (middle,) = _plain(
            opened.sql("SELECT median(value) AS m FROM entries WHERE name = ?", "c_p99_ns")["m"]
        )
        assert middle == 7.5 * 9.5


def _plain(column: Any) -> list:
    """A column of any package as a list of Python's own values."""
    return column.to_pylist() if hasattr(column, "to_pylist") else column.to_list()


def test_the_form_is_the_first_that_is_there(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = {"pandas", "polars", "pyarrow"}
    monkeypatch.setattr(frames, "find_spec", lambda name: name if name in there else None)
    for form, gone in (("pandas", "pandas"), ("polars", "polars"), ("arrow", "pyarrow"), ("numpy", None)):
        with ssdlab.library(library) as opened:
            assert opened.form == form
        if gone:
            there.remove(gone)
            with pytest.raises(ssdlab.HostError, match=f"{gone} is not installed"):
                ssdlab.library(library, form=form)


def test_a_closed_library_answers_nothing(library: Path) -> None:
    opened = ssdlab.library(library, form="numpy")
    opened.close()
    opened.close()
    for ask in (opened.runs, opened.figures, lambda: opened.sql("SELECT 1"), lambda: opened.rank("p99")):
        with pytest.raises(ssdlab.UsageError, match="closed"):
            ask()


def test_times_are_utc_whatever_the_zone_of_the_process(library: Path) -> None:
    script = "import pyarrow, ssdlab, sys; print(pyarrow.table(ssdlab.library(sys.argv[1])).schema)"
    said = subprocess.run(
        [sys.executable, "-c", script, library],
        env={**os.environ, "TZ": "Asia/Tokyo"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "tz=UTC" in said.stdout and "Tokyo" not in said.stdout


def test_series_are_those_of_the_run(library: Path) -> None:
    folder = next(folder for folder in run_folders(library) if "peak" in folder.name)
    with ssdlab.library(library, form="numpy") as opened:
        found = opened.series(folder.name)
    steps = RunFolder(folder).steps()
    assert len(found["ios"]) == 4 * len(steps)
    first = RunFolder(folder).rows(steps[0].ordinal)
    assert list(found["ios"][:4]) == list(first["ios"])


def test_wrong_names_are_refused(library: Path) -> None:
    with pytest.raises(ssdlab.UsageError, match="no table form"):
        ssdlab.library(library, form="excel")
    with ssdlab.library(library, form="numpy") as opened, pytest.raises(ssdlab.UsageError, match="a_iosp"):
        opened.figures("a_iosp")


def test_a_folder_that_is_not_there_is_no_empty_library(tmp_path: Path) -> None:
    with pytest.raises(ssdlab.UsageError, match="no library at"):
        ssdlab.library(tmp_path / "nosuch", form="numpy")


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM runs",
        "DROP VIEW runs",
        "CREATE TABLE mine AS SELECT 1",
        "UPDATE entries SET value = 1",
        "COPY runs TO '/dev/null'",
        "SELECT 1; DELETE FROM runs",
        "ATTACH ':memory:' AS other",
        "SET threads = 2",
    ],
)
@pytest.mark.long
def test_a_library_is_read_only(library: Path, statement: str) -> None:
    with ssdlab.library(library, form="numpy") as opened:
        with pytest.raises(ssdlab.UsageError, match="read-only"):
            opened.sql(statement)
        assert len(opened.runs()["folder"]) == 21


@pytest.mark.parametrize("question", ["FROM runs", "DESCRIBE runs", "EXPLAIN SELECT 1", "SUMMARIZE runs"])
def test_every_kind_of_question_is_answered(library: Path, question: str) -> None:
    with ssdlab.library(library, form="numpy") as opened:
        assert opened.sql(question)


PAGES = Path(__file__).parents[2] / "docs"


def test_the_page_says_what_columns_mean_that_no_reader_can_guess() -> None:
    rows = [line for line in (PAGES / "library.md").read_text().splitlines() if line.startswith("| `")]
    told = {name for line in rows for name in re.findall(r"`(\w+)`", line.split("|")[1])}
    assert {*kin.OF_FIGURES, kin.MARKS, kin.VARIES, "kin"} <= told


@pytest.mark.parametrize("page", ["library.md", "library.ipynb"])
def test_questions_in_the_documents_leave_out_what_no_ranking_shows(page: str) -> None:
    """A figure that is withheld from rankings, and one of another kind of runs, is the best of no example."""
    text = (PAGES / page).read_text()
    asked = re.findall(r"SELECT .+?ORDER BY name|SELECT .+?GROUP BY ALL", text, re.DOTALL)
    assert asked
    for query in asked:
        assert "unfit IS NULL" in query and "kin" in query


def test_the_documented_questions_name_no_forbidden_figure(tmp_path: Path) -> None:
    made: list[dict[str, Any]] = [
        {"drive_id": "GOOD"},
        {"drive_id": "HOT", "codes": ("throttled",)},
        {"drive_id": "QUICK", "quick": True},
        {"drive_id": "OTHER"},
    ]
    for number, (value, changes) in enumerate(zip((2.0, 9.0, 8.0, 1.0), made, strict=True)):
        catalogue.add(tmp_path, run(tmp_path, number, {"qd1_random_read_iops": value}, **changes))
    cells = json.loads((PAGES / "library.ipynb").read_text())["cells"]
    (source,) = ("".join(cell["source"]) for cell in cells if cell["id"] == "best")
    query = source.split('"""')[1]
    with ssdlab.library(tmp_path, form="numpy") as library:
        found = library.sql(query, ["qd1_random_read_iops"])
    assert (list(found["drive"]), list(found["best"])) == (["Model of GOOD"], [2.0])
