"""`ssdlab export`: what stands in a spreadsheet is what the run holds, and nothing is lost on the way."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import openpyxl
import pyarrow.parquet
import pytest

from lab.synthetic import edited
from methods.quick_runs import QuickRun
from report.conftest import invented
from ssdlab.cli import main
from ssdlab.host.output_files import HEAD_BYTES
from ssdlab.lab.outcome import read_result
from ssdlab.lab.suites.suite import Part
from ssdlab.report import sheet_files
from ssdlab.report.runs import called
from ssdlab.report.sheets import FIRST, NAMES
from ssdlab.results.qualifiers import CATALOGUE
from ssdlab.results.run_folder import RunFolder
from suites.made import run as run_suite
from suites.made import suite

METHODS = ("mixed-random", "peak-random-read")
BRIEF = {"fill": "true", "depths": "1,8", "seconds": "0.2", "ramp_seconds": "0"}
pytestmark = pytest.mark.long

CMD = '=cmd|" /C calc"!A0'


def export(*words: object) -> int:
    return main(["export", *map(str, words)])


def sheet(book: Any, name: str) -> list[dict[str, Any]]:
    """The rows of a sheet, each by its headings."""
    heads, *rows = book[name].iter_rows(values_only=True)
    return [dict(zip(heads, row, strict=True)) for row in rows]


@pytest.fixture(scope="module")
def runs(quick_run: QuickRun) -> list[RunFolder]:
    return [quick_run(method) for method in METHODS]


@pytest.fixture(scope="module")
def book(runs: list[RunFolder], tmp_path_factory: pytest.TempPathFactory) -> Any:
    file = tmp_path_factory.mktemp("book") / "x.xlsx"
    assert export(*(run.path for run in runs), "-o", file) == 0
    return openpyxl.load_workbook(file)


def test_a_workbook_has_every_figure_as_the_result_has_it(runs: list[RunFolder], book: Any) -> None:
    assert book.sheetnames == list(NAMES)
    rows = sheet(book, "figures")
    (drive,) = {called(run.manifest.drive).name for run in runs}
    found = {(each["method"], each["name"]): each for each in rows}
    figures = {(run.manifest.method.name, each.name): each for run in runs for each in _scalars(run)}
    assert found.keys() == figures.keys() and len(rows) == len(figures) > 6
    for key, figure in figures.items():
        told = found[key]
        assert (told["label"], told["unit"], told["better"]) == (figure.label, figure.unit, figure.better)
        assert told[drive] == figure.value
        assert (told[f"{drive}: qualifiers"] or "") == figure.state
    kinds = {own.kind for each in figures.values() for own in each.qualifiers}
    told = sheet(book, "qualifiers")
    assert {each["label"]: each["sentence"] for each in told} == {each.label: each.sentence for each in kinds}
    assert all((each["forbids"] or "").split(", ") for each in told) and told


def _scalars(run: RunFolder) -> tuple[Any, ...]:
    result = read_result(run)
    assert result is not None
    return result.scalars


def test_rows_and_buckets_add_up_to_what_was_measured(runs: list[RunFolder], book: Any) -> None:
    series, histograms = sheet(book, "series"), sheet(book, "histograms")
    measured = 0
    for run in runs:
        for step in run.steps():
            if step.result.measurement is None:
                continue
            of = {"run": run.path.name, "step": step.ordinal + 1, "step_label": step.label}
            rows = [each for each in series if each.items() >= of.items() and not each["ramp"]]
            for direction in ("read", "write"):
                total = step.result.measurement[direction]
                if total is None:
                    continue
                own = [each for each in rows if each["direction"] == direction]
                assert sum(each["ios"] for each in own) == total["ios"]
                assert sum(each["bytes"] for each in own) == total["bytes"]
                for clock in ("service", "response"):
                    key = (of | {"direction": direction, "clock": clock}).items()
                    buckets = [each for each in histograms if each.items() >= key]
                    assert sum(each["count"] for each in buckets) == total["ios"]
                    low, high = (
                        min(each["low_ns"] for each in buckets),
                        max(each["high_ns"] for each in buckets),
                    )
                    assert low <= total[f"{clock}_ns"]["min"] <= total[f"{clock}_ns"]["max"] <= high
                measured += 1
    assert measured > 20


def test_a_step_is_what_it_measured(runs: list[RunFolder], book: Any) -> None:
    rows, power = sheet(book, "steps"), sheet(book, "power")
    told = {(each["run"], each["step"], each["direction"]): each for each in rows}
    expected = {
        (run.path.name, step.ordinal + 1, direction): (step.result.measurement[direction], step.measured)
        for run in runs
        for step in run.steps()
        if step.result.measurement is not None
        for direction in step.measured.sides
    }
    assert told.keys() == expected.keys() and len(told) == len(rows)
    for key, (side, summary) in expected.items():
        row = told[key]
        assert (row["ios"], row["bytes"]) == (side["ios"], side["bytes"])
        assert row["response_p99_ns"] == side["response_ns"]["p99"]
        assert row["service_mean_ns"] == pytest.approx(side["service_ns"]["mean"])
        assert row["mean_w"] == pytest.approx(summary.mean_w)
        seconds = [each for each in power if (each["run"], each["step"]) == key[:2]]
        assert seconds and {each["step_label"] for each in seconds} == {row["step_label"]}


def test_times_are_seconds_of_the_step(runs: list[RunFolder], book: Any) -> None:
    run = runs[0]
    step = next(step for step in run.steps() if step.result.measurement is not None)
    told = [
        each
        for each in sheet(book, "series")
        if (each["run"], each["step"]) == (run.path.name, 1 + step.ordinal)
    ]
    rows = run.rows(step.ordinal)
    assert [round(each["start_s"] * 1e9) for each in told] == rows["start_ns"].tolist()
    assert [round(each["end_s"] * 1e9) for each in told] == rows["end_ns"].tolist()
    assert [each["service_p99_ns"] for each in told] == rows["service_p99_ns"].tolist()


@pytest.mark.parametrize("table", NAMES)
def test_csv_and_parquet_have_what_the_workbook_has(
    runs: list[RunFolder], book: Any, tmp_path: Path, table: str
) -> None:
    paths = [run.path for run in runs]
    for name in ("x.csv", "x.parquet"):
        assert export(*paths, "-o", tmp_path / name, "--table", table) == 0
    expected = sheet(book, table)
    found = pyarrow.parquet.read_table(tmp_path / "x.parquet")
    assert [
        {name: None if value == "" else value for name, value in row.items()} for row in found.to_pylist()
    ] == expected
    numbers = {field.name for field in found.schema if str(field.type) in ("double", "int32", "int64")}
    assert {name for name, kind in FIRST[table].items() if kind in ("DOUBLE", "BIGINT", "INTEGER")} <= numbers
    with (tmp_path / "x.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [list(row) for row in rows] == [list(row) for row in expected]
    for row, known in zip(rows, expected, strict=True):
        for name, text in row.items():
            value = known[name]
            assert (float(text) == value) if name in numbers and text else text == _as_csv(value)


def _as_csv(value: object) -> str:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def test_each_drive_has_its_columns_and_a_withheld_figure_is_empty(tmp_path: Path) -> None:
    other = {"id": "S2", "name": "Other S2"}
    first, second = invented(tmp_path / "a"), invented(tmp_path / "b", seed=9, latency_ns=9e4, drive=other)
    result = RunFolder(second).manifest.result
    assert result is not None
    withheld = result["scalars"][0] | {
        "value": None,
        "qualifiers": [{"code": "throttled", "why": "it was hot"}],
    }
    edited(second, result=result | {"scalars": [withheld, *result["scalars"][1:]]})
    assert export(first, second, "-o", tmp_path / "x.xlsx") == 0
    book = openpyxl.load_workbook(tmp_path / "x.xlsx")
    row = sheet(book, "figures")[0]
    assert row["name"] == "random_read_iops"
    assert isinstance(row["Synthetic S1 <1 & 2>"], float)
    assert (row["Other S2"], row["Other S2: qualifiers"]) == (None, CATALOGUE["throttled"].label)
    (told,) = sheet(book, "qualifiers")
    assert told["why"] == "it was hot" and told["forbids"] == "claims, ranking, ratings"
    (of_first, of_second) = sheet(book, "runs")
    assert (of_first["serial"], of_first["firmware"], of_second["drive"]) == ("SYNTH-1", "1.0", "Other S2")
    assert json.loads(of_first["parameters"]) == {"seconds": 60}


@pytest.mark.parametrize("name", [CMD, "+1+1", "-2", "@SUM(A1)", "#N/A"])
def test_what_a_drive_is_called_is_never_a_formula(tmp_path: Path, name: str) -> None:
    run = invented(tmp_path / "a", drive={"name": name, "id": name})
    for table in ("figures", "runs"):
        assert export(run, "-o", tmp_path / f"{table}.xlsx", "--table", table) == 0
        with ZipFile(tmp_path / f"{table}.xlsx") as archive:
            content = archive.read("xl/worksheets/sheet1.xml").decode()
        assert "<f>" not in content and 't="e"' not in content
    assert name in sheet(openpyxl.load_workbook(tmp_path / "figures.xlsx"), "figures")[0]
    (row,) = sheet(openpyxl.load_workbook(tmp_path / "runs.xlsx"), "runs")
    assert row["drive_name"] == name
    assert export(run, "-o", tmp_path / "x.csv", "--table", "runs") == 0
    (row,) = csv.DictReader((tmp_path / "x.csv").read_text(encoding="utf-8-sig").splitlines())
    assert row["drive_name"] == (name if name[0] == "#" else f"'{name}")


@pytest.mark.parametrize("kind", sheet_files.FORMATS)
def test_an_older_export_is_replaced_and_nothing_else(tmp_path: Path, kind: str) -> None:
    run, other = invented(tmp_path / "a"), invented(tmp_path / "b", seed=8)
    file = tmp_path / f"x.{kind}"
    assert export(run, "-o", file) == 0
    first = file.read_bytes()
    assert export(run, other, "-o", file) == 0
    assert file.read_bytes() != first
    foreign = {
        "xlsx": b"PK\x03\x04 a holiday",
        "csv": b"method,name\n",
        "parquet": b"PAR1 a holiday PAR1",
        "jsonl": b'{"schemaVersion": {"major": 2, "minor": 0}}\n',
    }[kind]
    file.write_bytes(foreign)
    assert export(run, "-o", file) == 2
    assert file.read_bytes() == foreign
    assert {each.name for each in tmp_path.iterdir()} == {"a", "b", file.name}


def test_a_workbook_that_was_worked_on_is_kept(tmp_path: Path) -> None:
    run, file = invented(tmp_path / "a"), tmp_path / "x.xlsx"
    assert export(run, "-o", file) == 0
    book = openpyxl.load_workbook(file)
    book["figures"]["A99"] = "mine"
    book.save(file)
    assert export(run, "-o", file) == 2
    assert openpyxl.load_workbook(file)["figures"]["A99"].value == "mine"


def test_a_large_parquet_is_known_by_its_end(quick_run: QuickRun, tmp_path: Path) -> None:
    run, file = quick_run("mixed-random"), tmp_path / "x.parquet"
    for _ in range(2):
        assert export(run.path, "-o", file, "--table", "histograms") == 0
    assert file.stat().st_size > 2 * HEAD_BYTES
    assert b"ssdlab.export" not in file.read_bytes()[:HEAD_BYTES]


def test_a_table_that_is_longer_than_a_sheet_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = invented(tmp_path / "a")
    monkeypatch.setattr(sheet_files, "SHEET_ROWS", 601)
    assert export(run, "-o", tmp_path / "x.xlsx", "--json") == 0
    told = {each["name"]: each for each in json.loads(capsys.readouterr().out)["tables"]}
    assert [name for name in NAMES if not told[name]["written"]] == ["histograms"]
    assert told["series"]["rows"] == 600
    ((cell,),) = openpyxl.load_workbook(tmp_path / "x.xlsx")["histograms"].iter_rows(values_only=True)
    assert export(run, "-o", tmp_path / "x.xlsx") == 0
    assert f"note: {cell}" in capsys.readouterr().out
    assert f"{told['histograms']['rows']:,} rows" in cell and "--table histograms" in cell


def test_a_text_that_no_cell_holds_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = invented(tmp_path / "a", params={"seconds": 60, "list": "x" * 40_000})
    assert export(run, "-o", tmp_path / "x.xlsx") == 2
    assert "32,767" in capsys.readouterr().err.splitlines()[0]
    assert not (tmp_path / "x.xlsx").exists()
    assert export(run, "-o", tmp_path / "x.csv", "--table", "runs") == 0


@pytest.mark.parametrize(
    ("name", "words", "told"),
    [
        ("x.ods", (), ".xlsx (a workbook), .csv or .parquet"),
        ("x", (), ".xlsx (a workbook), .csv or .parquet"),
        ("x.csv", ("--table", "figure"), "figures"),
        ("x.csv", None, "ssdlab export RUN -o"),
    ],
)
def test_bad_input_says_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, words: tuple[str, ...] | None, told: str
) -> None:
    named = () if words is None else (invented(tmp_path / "a"), *words)
    assert export(*named, "-o", tmp_path / name) == 2
    assert told in capsys.readouterr().err
    assert not (tmp_path / name).exists()


def test_without_the_extra_a_workbook_is_refused_and_csv_is_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sheet_files, "find_spec", lambda name: None)
    run = invented(tmp_path / "a")
    assert export(run, "-o", tmp_path / "x.xlsx") == 2
    assert "pip install 'ssdlab[xlsx]'" in capsys.readouterr().err
    assert export(run, "-o", tmp_path / "x.csv") == 0


def test_a_suite_brings_all_its_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parts = (Part("peak-random-read", "written"), Part("low-depths", "written"))
    made = run_suite(suite(*parts), tmp_path / "library", BRIEF)
    assert export(made.path, "-o", tmp_path / "x.xlsx", "--json") == 0
    assert json.loads(capsys.readouterr().out)["runs"] == [made.manifest.run_id]
    rows = sheet(openpyxl.load_workbook(tmp_path / "x.xlsx"), "runs")
    assert {each["run"] for each in rows} == {each.run_id for each in made.manifest.children}
    assert {each["review"] for each in rows} == {made.manifest.run_id}
